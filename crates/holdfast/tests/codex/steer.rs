//! Messages that are given to the running turn: taken up at once while the model talks, after a command
//! while one runs, and waiting at the queue's head where the turn was over.

use std::fs;

use holdfast_testkit::codex;
use holdfast_testkit::scripted::one_by_one;
use serde_json::json;

use crate::lab::{Lab, calls, open, turns};

#[test]
fn in_a_text_the_turn_takes_it_up_at_once() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
    let first = host.send(&chat, "[[say one]] [[hang 600]]");
    host.wait("the text", || host.said(&chat).ends_with("one"));
    let steer = host.steer(&chat, "[[say two]]");
    host.wait_message(&chat, &steer, "settled");
    host.wait_message(&chat, &first, "settled");
    assert_eq!(host.steered(&chat, &steer), "taken_up");
    assert_eq!(turns(&host, &chat), ["completed"], "one turn");
    assert_eq!(lab.told(), ["[[say one]] [[hang 600]]", "[[say two]]"]);
    assert_eq!(lab.model.turns().len(), 2);
    assert!(host.said(&chat).ends_with("two"));
    assert!(host.stop().success());
    assert_eq!(lab.place.processes(), [0; 0]);
}

#[test]
fn in_a_command_the_turn_takes_it_up_after_that() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
    let run = codex::exec("until [ -e go ]; do sleep 0.05; done; echo ran");
    let first = host.send(&chat, &one_by_one(&[&run, "[[say not this]]"]));
    host.wait("the command", || !calls(&host, &chat).is_empty());
    let steer = host.steer(&chat, "[[say heard you]]");
    host.wait("it to be given", || host.steered(&chat, &steer) == "given");
    fs::write(lab.place.work_dir().join("go"), "").unwrap();
    host.wait_message(&chat, &steer, "settled");
    host.wait_message(&chat, &first, "settled");
    assert_eq!(host.steered(&chat, &steer), "taken_up");
    assert_eq!(turns(&host, &chat), ["completed"], "one turn");
    assert_eq!(host.said(&chat), "heard you");
    assert_eq!(lab.told().len(), 2, "{:?}", lab.told());
    assert_eq!(lab.model.turns().len(), 2);
    let _ = json!({});
    host.stop();
}
