//! Messages that are given to the running turn: taken up at once while the model talks, after a command
//! while one runs, and waiting at the queue's head where the turn was over.

use std::fs;

use holdfast_testkit::codex;
use holdfast_testkit::host::TestHost;
use holdfast_testkit::person::Person;
use holdfast_testkit::scenario;
use holdfast_testkit::scripted::one_by_one;
use serde_json::{Value, json};

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
    host.stop();
}

fn in_a_command(host: &TestHost<'_>, lab: &Lab) -> (String, String) {
    let chat = open(host, lab, "full-access");
    let run = codex::exec("until [ -e go ]; do sleep 0.05; done; echo ran");
    let first = host.send(&chat, &one_by_one(&[&run, "[[say not this]]"]));
    host.wait("the command", || !calls(host, &chat).is_empty());
    (chat, first)
}

/// How often the model was told this, in the last conversation that it was asked to go on.
fn heard(lab: &Lab, text: &str) -> usize {
    lab.told().iter().filter(|said| said.contains(text)).count()
}

#[test]
fn the_next_host_sees_it_taken_up() {
    let lab = Lab::new();
    let host = lab.place.start();
    let (chat, first) = in_a_command(&host, &lab);
    let steer = host.steer(&chat, "[[say heard you]]");
    host.wait("it to be given", || host.steered(&chat, &steer) == "given");
    host.kill();
    fs::write(lab.place.work_dir().join("go"), "").unwrap();
    let host = lab.place.start();
    host.wait_message(&chat, &steer, "settled");
    host.wait_message(&chat, &first, "settled");
    assert_eq!(host.steered(&chat, &steer), "taken_up");
    assert_eq!(turns(&host, &chat), ["completed"]);
    assert_eq!((heard(&lab, "heard you"), lab.model.turns().len()), (1, 2));
    host.stop();
}

#[test]
fn killed_with_everything_on_its_way_it_is_sent_once() {
    let lab = Lab::new();
    let host = lab.place.start();
    let (chat, first) = in_a_command(&host, &lab);
    let steer = host.steer(&chat, "[[say heard you]]");
    host.wait("it to be given", || host.steered(&chat, &steer) == "given");
    host.kill_everything();
    let host = lab.place.start();
    host.wait("the offer", || scenario::has_offer(&host, &chat));
    assert_eq!(lab.model.turns().len(), 1, "nothing was sent by itself");
    host.post("/offers/resume", &json!({ "chats": [chat] })).ok();
    host.wait("the offer's end", || !scenario::has_offer(&host, &chat));
    host.wait_message(&chat, &steer, "settled");
    host.wait_message(&chat, &first, "settled");
    host.wait_shown(&chat, "idle");
    assert_eq!(heard(&lab, "heard you"), 1, "{:?}", lab.told());
    host.stop();
}

#[test]
fn killed_with_everything_once_it_was_taken_up_it_is_not_sent_again() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
    let first = host.send(&chat, "[[say one]] [[hang 600]]");
    host.wait("the text", || host.said(&chat).ends_with("one"));
    let steer = host.steer(&chat, "heard you [[say two]] [[hang 600]]");
    host.wait("the answer to it", || host.said(&chat).ends_with("two"));
    assert_eq!(host.steered(&chat, &steer), "taken_up");
    host.kill_everything();
    let host = lab.place.start();
    host.wait("the offer", || scenario::has_offer(&host, &chat));
    host.post("/offers/resume", &json!({ "chats": [chat] })).ok();
    host.wait("the offer's end", || !scenario::has_offer(&host, &chat));
    host.wait_message(&chat, &steer, "settled");
    host.wait_message(&chat, &first, "settled");
    host.wait_shown(&chat, "idle");
    assert_eq!(heard(&lab, "heard you"), 1, "{:?}", lab.told());
    assert_eq!(turns(&host, &chat), ["lost", "completed"]);
    host.stop();
}

#[test]
fn a_stop_brings_back_what_was_not_taken_up() {
    let lab = Lab::new();
    let host = lab.place.start();
    let (chat, first) = in_a_command(&host, &lab);
    let steer = host.steer(&chat, "[[say heard you]]");
    host.wait("it to be with Codex", || host.steered(&chat, &steer) == "given" && written(&lab));
    host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
    host.wait_message(&chat, &first, "settled");
    host.wait("it to be back", || host.steered(&chat, &steer) == "returned");
    let queue = host.get(&format!("/chats/{chat}/queue"));
    assert_eq!(queue["items"][0]["message"], json!(steer), "{queue}");
    assert_eq!(queue["paused"], true, "it waits for the person");
    // Codex has let go of it: what comes next does not bring it along.
    let next = host.send(&chat, "[[say next]]");
    host.wait_message(&chat, &next, "settled");
    assert_eq!(heard(&lab, "heard you"), 0, "{:?}", lab.told());
    host.post(&format!("/chats/{chat}/queue/resume"), &json!({})).ok();
    host.wait_message(&chat, &steer, "settled");
    assert_eq!(heard(&lab, "heard you"), 1, "{:?}", lab.told());
    assert_eq!(turns(&host, &chat), ["interrupted", "completed", "completed"]);
    host.stop();
}

/// Whether Codex has read all that was written to it.
fn written(lab: &Lab) -> bool {
    crate::lives::unread(lab) == 0
}

#[test]
fn in_the_instant_of_the_end_none_is_lost_and_none_is_doubled() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
    let mut became = Vec::new();
    for n in 0..40 {
        let first = host.send(&chat, "[[say one]]");
        host.wait("the turn to begin", || {
            let items = host.items(&chat);
            let own = items.iter().find(|item| item["delivery"]["message"] == first.as_str());
            own.is_some_and(|own| own["delivery"]["state"] != "handed")
        });
        // Another instant each time: before the end, in it, and after it.
        (0..n).for_each(|_| drop(host.chat(&chat)));
        let body = json!({ "text": format!("<{n}> [[say two]]"), "delivery": "steer" });
        let sent = host.post(&format!("/chats/{chat}/messages"), &body).ok();
        let steer = sent["message"]["id"].as_str().unwrap().to_owned();
        host.wait_shown(&chat, "idle");
        host.wait_message(&chat, &steer, "settled");
        became.push(host.steered(&chat, &steer));
        assert_eq!(heard(&lab, &format!("<{n}>")), 1);
    }
    // Whichever of them it is, the transcript says so; a steer after the end is a message as any other.
    let known = [json!("taken_up"), json!("returned"), json!("own_turn"), Value::Null];
    assert!(became.iter().all(|steer| known.contains(steer)), "{became:?}");
    host.stop();
}

/// A person steers, and host or keeper dies around the frame that carries it: whatever was known then,
/// the model is told it once.
#[test]
fn a_death_at_any_boundary_of_its_frame_costs_nothing_and_doubles_nothing() {
    for point in [
        "host.frame.write.before",
        "host.frame.write.after",
        "keeper.frame.accepted",
        "keeper.frame.begin.before",
        "keeper.frame.begin.after",
        "keeper.frame.mid",
        "keeper.frame.done.before",
        "keeper.frame.done.after",
    ] {
        let mut lab = Lab::new();
        let mark = lab.place.root.join("died");
        // Four frames of the start, and that of the message which opens the turn, go before it.
        lab.place.env.insert("HOLDFAST_FAULT".to_owned(), format!("{point}:6"));
        lab.place.env.insert("HOLDFAST_FAULT_MARK".to_owned(), mark.display().to_string());
        let place = &lab.place;
        let mut person = Person::at(place);
        let body = json!({ "agent": "codex", "cwd": place.work_dir(), "mode": "full-access" });
        let row = person.write("POST", "/chats", &body).ok();
        let chat = row["id"].as_str().unwrap().to_owned();
        let run = codex::exec("until [ -e go ]; do sleep 0.05; done; echo ran");
        let first = person.send(&chat, &one_by_one(&[&run, "[[say not this]]"]));
        person.until("the command", |me| {
            me.items(&chat).iter().any(|item| item["kind"] == "tool_call")
        });
        assert!(!mark.exists(), "{point}: too early");
        let body = json!({ "text": "[[say heard you]]", "delivery": "steer" });
        let sent = person.write("POST", &format!("/chats/{chat}/messages"), &body).ok();
        let steer = sent["message"]["id"].as_str().unwrap().to_owned();
        person.until("the death", |_| mark.exists());
        fs::write(place.work_dir().join("go"), "").unwrap();
        person.settle(&chat);
        let items = person.items(&chat);
        for message in [&first, &steer] {
            let own = items.iter().find(|item| item["delivery"]["message"] == message.as_str());
            assert_eq!(own.unwrap()["delivery"]["state"], "settled", "{point}: {own:?}");
        }
        assert_eq!(heard(&lab, "heard you"), 1, "{point}: {:?}", lab.told());
        person.stop();
    }
}
