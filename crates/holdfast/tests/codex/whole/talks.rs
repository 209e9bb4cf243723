//! What is said, how it is stopped, and what waits meanwhile.

use std::fs;

use holdfast_testkit::codex;
use holdfast_testkit::scripted::{UNTIL_GO, one_by_one};
use serde_json::json;

use super::Whole;
use crate::lab::{Lab, calls, running};

#[test]
fn a_plain_turn_streamed() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "auto");
    let message = host.send(&whole.chat, "[[think hm]] [[say one two]] [[gate on]] [[say three]]");
    host.wait("the first words", || host.said(&whole.chat) == "one two");
    whole.look("in its middle");
    lab.model.open("on");
    whole.rests(&message);
    whole.is("plain");
    host.stop();
}

#[test]
fn a_stop_in_a_text() {
    let lab = Lab::new();
    let host = lab.place.start();
    let whole = Whole::open(&host, &lab, "auto");
    let message = host.send(&whole.chat, "[[say half]] [[hang 600]]");
    host.wait("the text", || host.said(&whole.chat) == "half");
    host.post(&whole.path("/interrupt"), &json!({})).ok();
    whole.rests(&message);
    whole.say("[[say still here]]");
    whole.is("stop-in-text");
    host.stop();
}

#[test]
fn a_stop_in_a_command() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "full-access");
    let message = host.send(&whole.chat, &codex::exec("sleep 4715; echo over"));
    host.wait("the command", || {
        running(&lab.place, "sleep 4715") > 0 && !calls(&host, &whole.chat).is_empty()
    });
    whole.look("while it runs");
    host.post(&whole.path("/interrupt"), &json!({})).ok();
    whole.rests(&message);
    host.wait("the end of the command", || running(&lab.place, "sleep 4715") == 0);
    whole.say("[[say still here]]");
    whole.is("stop-in-command");
    host.stop();
}

#[test]
fn a_message_in_a_text_waits() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "auto");
    let first = host.send(&whole.chat, "[[say one]] [[gate on]] [[say two]]");
    host.wait("the text", || host.said(&whole.chat) == "one");
    let second = host.send(&whole.chat, "[[say heard you]]");
    whole.look("while it waits");
    lab.model.open("on");
    host.wait_message(&whole.chat, &first, "settled");
    whole.rests(&second);
    whole.is("message-in-text");
    host.stop();
}

#[test]
fn a_message_in_a_loop_of_commands_waits() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "full-access");
    let run = [&codex::exec(UNTIL_GO), &codex::exec("echo two"), "[[say looped]]"];
    let first = host.send(&whole.chat, &one_by_one(&run));
    host.wait("the command", || !calls(&host, &whole.chat).is_empty());
    let second = host.send(&whole.chat, "[[say heard you]]");
    whole.look("while it waits");
    fs::write(lab.place.work_dir().join("go"), "").unwrap();
    host.wait_message(&whole.chat, &first, "settled");
    whole.rests(&second);
    whole.is("message-in-commands");
    host.stop();
}

#[test]
fn a_message_that_is_given_to_a_text() {
    let lab = Lab::new();
    let host = lab.place.start();
    let whole = Whole::open(&host, &lab, "auto");
    let first = host.send(&whole.chat, "[[say one]] [[hang 600]]");
    host.wait("the text", || host.said(&whole.chat) == "one");
    let second = host.steer(&whole.chat, "[[say two]]");
    host.wait_message(&whole.chat, &first, "settled");
    whole.rests(&second);
    whole.is("steer-in-text");
    host.stop();
}

#[test]
fn a_message_that_is_given_to_a_command() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "full-access");
    let run = [&codex::exec(UNTIL_GO), "[[say not this]]"];
    let first = host.send(&whole.chat, &one_by_one(&run));
    host.wait("the command", || !calls(&host, &whole.chat).is_empty());
    let second = host.steer(&whole.chat, "[[say heard you]]");
    host.wait("it to be given", || host.steered(&whole.chat, &second) == "given");
    whole.look("while it is given");
    fs::write(lab.place.work_dir().join("go"), "").unwrap();
    host.wait_message(&whole.chat, &first, "settled");
    whole.rests(&second);
    whole.is("steer-in-command");
    host.stop();
}
