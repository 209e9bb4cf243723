//! What became of a message: idempotency keys, doubt and its three choices, refusal, receipts,
//! interrupts, and what the agent's own store says after a death.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests, and what they stand on: what goes wrong has to fail them, with words"
)]

use std::os::unix::process::ExitStatusExt;
use std::sync::Barrier;

use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::proc;
use holdfast_testkit::scenario::agent_pid;
use rustix::process::Signal;
use serde_json::{Value, json};

const CONTINUATION: &str = "was stopped from outside";

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

fn messages(chat: &str) -> String {
    format!("/chats/{chat}/messages")
}

fn id(answer: &Value) -> String {
    answer["message"]["id"].as_str().unwrap().to_owned()
}

/// What the agents saw of persons' messages.
fn seen(place: &Place) -> Vec<String> {
    let prompts = place.evidence().prompts();
    prompts.into_iter().filter(|prompt| !prompt.contains(CONTINUATION)).collect()
}

#[test]
fn a_repeat_under_the_same_key_is_the_same_message_also_in_the_next_life() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let body = json!({ "text": "once" });
    let first = host.call_as("k-1", "POST", &messages(&chat), &body);
    assert_eq!(first.status, 202);
    let again = host.call_as("k-1", "POST", &messages(&chat), &body);
    assert_eq!((again.status, &again.body), (202, &first.body));
    let other = host.call_as("k-1", "POST", &messages(&chat), &json!({ "text": "twice" }));
    assert_eq!((other.status, &other.body["code"]), (409, &json!("operation_conflict")));
    host.wait_message(&chat, &id(&first.body), "settled");
    host.kill();

    let host = place.start();
    let again = host.call_as("k-1", "POST", &messages(&chat), &body);
    assert_eq!((again.status, &again.body), (202, &first.body), "the first answer again");
    let other = host.call_as("k-1", "POST", &messages(&chat), &json!({ "text": "twice" }));
    assert_eq!(other.body["code"], "operation_conflict");
    let next = host.send(&chat, "next");
    host.wait_message(&chat, &next, "settled");
    assert_eq!(place.evidence().prompts(), ["once", "next"]);
    assert_eq!(host.chat(&chat)["user_messages"], 2);
}

/// What a write answered first it answers for good, whatever has become of the chat since.
#[test]
fn a_repeat_is_the_first_answer_also_when_the_chat_has_changed_or_gone() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let open = json!({ "agent": "demo", "cwd": place.work_dir(), "title": "first",
        "message": "[[say hello]]" });
    let opened = host.call_as("open", "POST", "/chats", &open);
    assert_eq!(opened.status, 201);
    let path = format!("/chats/{}", opened.body["id"].as_str().unwrap());
    let title = json!({ "title": "second" });
    let titled = host.call_as("title", "PATCH", &path, &title);
    assert_eq!((titled.status, &titled.body["title"]), (200, &json!("second")));
    let looked = host.call_as("nothing", "PATCH", &path, &json!({}));
    host.post(&format!("{path}/close"), &json!({})).ok();
    let reopen = format!("{path}/reopen");
    let reopened = host.call_as("reopen", "POST", &reopen, &json!({}));
    assert_eq!((reopened.status, &reopened.body["state"]), (200, &json!("open")));
    host.request("PATCH", &path, Some(&json!({ "title": "third" }))).unwrap().ok();
    let same = |host: &TestHost<'_>| {
        for (key, method, path, body, first) in [
            ("open", "POST", "/chats", &open, &opened),
            ("title", "PATCH", path.as_str(), &title, &titled),
            ("nothing", "PATCH", path.as_str(), &json!({}), &looked),
            ("reopen", "POST", reopen.as_str(), &json!({}), &reopened),
        ] {
            let again = host.call_as(key, method, path, body);
            assert_eq!((again.status, &again.body), (first.status, &first.body), "{key}");
        }
        let other = host.call_as("nothing", "PATCH", &path, &title);
        assert_eq!((other.status, &other.body["code"]), (409, &json!("operation_conflict")));
    };
    same(&host);
    host.request("DELETE", &path, None).unwrap().ok();
    assert_eq!(host.request("GET", &path, None).unwrap().status, 404);
    same(&host);
    host.kill();

    let host = place.start();
    same(&host);
    assert_eq!(host.get("/chats?state=all")["items"], json!([]), "nothing was opened again");
}

#[test]
fn a_draft_is_a_write_like_any_other() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let path = format!("/chats/{chat}/draft");
    let (older, newer) = (json!({ "text": "older" }), json!({ "text": "newer" }));
    let first = host.call_as("k-1", "PUT", &path, &older);
    assert_eq!((first.status, &first.body["text"]), (200, &json!("older")));
    host.call_as("k-2", "PUT", &path, &newer).ok();
    host.kill();

    let host = place.start();
    let again = host.call_as("k-1", "PUT", &path, &older);
    assert_eq!((again.status, &again.body), (200, &first.body));
    let other = host.call_as("k-1", "PUT", &path, &newer);
    assert_eq!((other.status, &other.body["code"]), (409, &json!("operation_conflict")));
    assert_eq!(host.get(&path)["text"], "newer");
    // A grandchild that ignores the stop holds it up for seconds.
    host.send(&chat, "[[fork]] [[slow 600]]");
    host.wait("the grandchild", || place.processes().len() >= 2);
    host.request("PUT", &path, Some(&newer)).unwrap().ok();
    proc::signal(host.pid(), Signal::TERM).unwrap();
    host.wait("the stop to be under way", || host.chat(&chat)["status"]["process"] == "stopping");
    for answer in [
        host.call_as("k-3", "PUT", &path, &older),
        host.request("PUT", &path, Some(&older)).unwrap(),
        host.call_as("k-4", "PATCH", &format!("/chats/{chat}"), &json!({})),
        host.call_as("k-5", "POST", "/offers/dismiss", &json!({ "chats": "all" })),
    ] {
        assert_eq!((answer.status, &answer.body["code"]), (503, &json!("stopping")));
    }
    host.wait_end();

    let host = place.start();
    assert_eq!(host.get(&path)["text"], "newer");
    host.call_as("k-3", "PUT", &path, &older).ok();
    assert_eq!(host.get(&path)["text"], "older");
}

/// The host dies after the commit and before the answer: whoever asks again gets the one message.
#[test]
fn a_reply_that_was_lost_is_asked_for_again_and_makes_no_second_message() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir).env("HOLDFAST_FAULT", "host.reply.before:2");
    let host = place.start();
    let chat = host.open();
    let body = json!({ "text": "once" });
    let headers = [("idempotency-key", "k-1")];
    let lost = host.request_with("POST", &messages(&chat), Some(&body), &headers);
    assert!(lost.is_none(), "the reply is lost: {lost:?}");
    assert_eq!(host.wait_end().signal(), Some(9));

    place.env.clear();
    let host = place.start();
    let again = host.call_as("k-1", "POST", &messages(&chat), &body);
    assert_eq!(again.status, 202);
    host.wait_message(&chat, &id(&again.body), "settled");
    let other = host.call_as("k-1", "POST", &messages(&chat), &json!({ "text": "twice" }));
    assert_eq!(other.body["code"], "operation_conflict");
    assert_eq!(place.evidence().prompts(), ["once"]);
    assert_eq!(host.chat(&chat)["user_messages"], 1);
}

#[test]
fn concurrent_repeats_are_one_message() {
    const AT_ONCE: usize = 8;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    for round in 0..5 {
        let start = Barrier::new(AT_ONCE);
        let key = format!("k-{round}");
        let body = json!({ "text": format!("round {round}") });
        let answers: Vec<Value> = std::thread::scope(|scope| {
            let ask = || {
                let (client, headers) = (host.beside(), [("idempotency-key", key.as_str())]);
                start.wait();
                client.request_with("POST", &messages(&chat), Some(&body), &headers).unwrap().ok()
            };
            let asked: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(ask)).collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        host.wait_message(&chat, &id(&answers[0]), "settled");
    }
    let rounds: Vec<String> = (0..5).map(|round| format!("round {round}")).collect();
    assert_eq!(place.evidence().prompts(), rounds);
}

/// A write beside the chats is one write too, whoever asks for it at the same moment.
#[test]
fn concurrent_repeats_of_a_draft_are_one() {
    const AT_ONCE: usize = 8;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let path = format!("/chats/{}/draft", host.open());
    for round in 0..20 {
        let start = Barrier::new(AT_ONCE);
        let key = format!("k-{round}");
        let body = json!({ "text": format!("round {round}") });
        let answers: Vec<Value> = std::thread::scope(|scope| {
            let ask = || {
                let (client, headers) = (host.beside(), [("idempotency-key", key.as_str())]);
                start.wait();
                client.request_with("PUT", &path, Some(&body), &headers).unwrap().ok()
            };
            let asked: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(ask)).collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    }
}

/// A chat whose message is in doubt: its agent has it, died with it, and will not say.
fn in_doubt<'a>(place: &'a Place, text: &str) -> (TestHost<'a>, String, String) {
    let host = place.start();
    let chat = host.open();
    let before = host.send(&chat, "before");
    host.wait_message(&chat, &before, "settled");
    let message = host.send(&chat, text);
    host.wait_message(&chat, &message, "taken");
    proc::kill_9(agent_pid(place)).unwrap();
    let offer = host.wait_offer(&chat);
    assert_eq!(offer["cause"], "agent_died");
    (host, chat, message)
}

/// The demo agent refuses to load: the store cannot be asked.
fn mute(dir: &tempfile::TempDir) -> Place {
    place(dir).env("HOLDFAST_DEMO_REFUSE_LOAD", "1")
}

#[test]
fn until_the_agents_store_is_asked_a_message_is_in_doubt_and_then_it_is_settled() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let (host, chat, message) = in_doubt(&place, "doubted [[say on]] [[slow 600]]");
    let delivery = host.delivery(&chat, &message);
    assert_eq!((&delivery["state"], &delivery["asking"]), (&json!("unknown"), &json!(true)));
    assert_eq!(host.resume(&chat)["outcome"], "pending");
    host.wait_message(&chat, &message, "settled");
    host.wait_shown(&chat, "idle");
    assert_eq!(
        seen(&place),
        ["before", "doubted [[say on]] [[slow 600]]"],
        "named by the store, sent once"
    );
    let turns = host.get(&format!("/chats/{chat}/turns"));
    let states: Vec<&Value> =
        turns["items"].as_array().unwrap().iter().map(|t| &t["state"]).collect();
    assert_eq!(states.iter().filter(|state| **state == "lost").count(), 1, "{turns}");
    assert!(!states.contains(&&json!("running")), "{turns}");
}

/// The agent dies before it has written the message down: its store does not know it, and it is
/// sent again by the resume.
#[test]
fn what_the_agents_store_does_not_know_is_sent_by_the_resume() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let (host, chat, message) = in_doubt(&place, "forgotten [[say on]] [[slow 600]]");
    forget_last_message(&place);
    assert_eq!(host.resume(&chat)["outcome"], "pending");
    host.wait("the message to be sent", || {
        seen(&place).iter().filter(|text| text.starts_with("forgotten")).count() == 2
    });
    host.wait_message(&chat, &message, "taken");
    host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
    host.wait_message(&chat, &message, "settled");
    let prompts = place.evidence().prompts();
    assert!(prompts[2].contains(CONTINUATION), "the continuation goes first: {prompts:?}");
    let items = host.items(&chat);
    let rows = items.iter().filter(|item| item["delivery"]["message"] == message.as_str()).count();
    assert_eq!(rows, 1, "one row, however often it is sent");
}

/// Takes the last line with a user's message out of the demo agent's store.
fn forget_last_message(place: &Place) {
    let sessions = walk(&place.root.join("demo"));
    let mut forgotten = 0;
    for file in sessions {
        let text = std::fs::read_to_string(&file).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        if let Some(at) = lines.iter().rposition(|line| line.contains("forgotten")) {
            lines.remove(at);
            forgotten += 1;
            std::fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>())
                .unwrap();
        }
    }
    assert_eq!(forgotten, 1);
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files
}

/// Resumes a chat whose doubt nobody can settle but a person, up to where the person is asked.
fn until_a_choice_is_needed(host: &TestHost<'_>, chat: &str) {
    assert_eq!(host.resume(chat)["outcome"], "pending");
    host.wait("the failed start", || {
        let failures = host.get("/offers")["failures"].clone();
        failures.as_array().unwrap().iter().any(|failure| failure["chat"] == chat)
    });
}

#[test]
fn a_message_without_evidence_stays_in_doubt_and_a_failed_load_sends_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let place = mute(&dir);
    let (host, chat, message) = in_doubt(&place, "doubted [[say on]] [[slow 600]]");
    until_a_choice_is_needed(&host, &chat);
    assert_eq!(host.delivery(&chat, &message)["state"], "unknown");
    assert_eq!(seen(&place), ["before", "doubted [[say on]] [[slow 600]]"]);
    assert_eq!(host.get("/host")["counts"]["to_check"], 1);
    assert_eq!(host.get("/host")["counts"]["to_resume"], 1, "the offer stays beside the failure");
}

/// A person says what became of a message that its agent died with; then the agent's store can be
/// read again. Each choice, what the message is then, and how often the agent has seen it.
#[test]
fn a_choice_beside_an_offer_is_kept_and_ends_no_offer() {
    const SLOW: &str = "doubted [[say on]] [[slow 600]]";
    for (choice, state, times) in
        [("arrived", "settled", 1), ("discard", "withdrawn", 1), ("send_again", "queued", 2)]
    {
        let dir = tempfile::tempdir().unwrap();
        let mut place = mute(&dir);
        let (host, chat, message) = in_doubt(&place, SLOW);
        until_a_choice_is_needed(&host, &chat);
        let resolve = format!("/chats/{chat}/messages/{message}/resolve");
        let resolved = host.post(&resolve, &json!({ "choice": choice })).ok();
        assert_eq!(resolved["message"]["state"], state, "{choice}");
        assert_eq!(host.wait_offer(&chat)["needs_choice"], false, "{choice}");
        // The continuation of the resume that failed waits too.
        let waiting = host.queue(&chat);
        let waits = waiting.iter().filter(|text| !text.contains(CONTINUATION)).count();
        assert_eq!(waits, usize::from(choice == "send_again"), "{choice}: {waiting:?}");
        assert_eq!(host.held(&chat).as_deref(), Some("offer"), "{choice}");
        assert_eq!(seen(&place).len(), 2, "{choice}: the choice sends nothing");
        host.kill();

        place.env.clear();
        let host = place.start();
        assert_eq!(host.resume(&chat)["outcome"], "pending", "{choice}");
        if choice == "send_again" {
            host.wait_message(&chat, &message, "taken");
            host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
            host.wait_message(&chat, &message, "settled");
        }
        host.wait_shown(&chat, "idle");
        assert_eq!(place.evidence().seen(SLOW), times, "{choice}");
        let prompts = place.evidence().prompts();
        assert!(prompts[2].contains(CONTINUATION), "{choice}: {prompts:?}");
    }
}

/// Each choice where there is no offer, and how often the agent has seen the message in the end.
#[test]
fn each_of_the_three_choices_does_what_it_says() {
    for (choice, state, times) in
        [("arrived", "settled", 1), ("discard", "withdrawn", 1), ("send_again", "settled", 2)]
    {
        let dir = tempfile::tempdir().unwrap();
        let place = place(&dir);
        let host = place.start();
        let chat = host.open();
        // The agent answers with an error that proves neither taking nor refusal.
        let text = "[[error -32603]]";
        let message = host.send(&chat, text);
        host.wait_message(&chat, &message, "unknown");
        host.wait_shown(&chat, "to_check");
        let resolve = format!("/chats/{chat}/messages/{message}/resolve");
        let resolved = host.post(&resolve, &json!({ "choice": choice }));
        assert_eq!(resolved.status, 200, "{choice}: {}", resolved.body);
        if choice == "send_again" {
            host.wait("the second time", || place.evidence().seen(text) == 2);
            host.wait_message(&chat, &message, "unknown");
            host.post(&resolve, &json!({ "choice": "arrived" })).ok();
        }
        assert_eq!(host.delivery(&chat, &message)["state"], state, "{choice}");
        let next = host.send(&chat, "next");
        host.wait_message(&chat, &next, "settled");
        assert_eq!(place.evidence().seen(text), times, "{choice}");
        let late = host.post(&resolve, &json!({ "choice": "discard" }));
        assert_eq!((late.status, &late.body["code"]), (409, &json!("not_in_doubt")), "{choice}");
    }
}

#[test]
fn a_refused_message_is_sent_again_or_discarded_and_did_not_arrive() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let text = "[[error -32602]]";
    let message = host.send(&chat, text);
    host.wait_message(&chat, &message, "refused");
    let refused = host.delivery(&chat, &message)["refused"].clone();
    assert_eq!(refused["why"], "rejected");
    assert!(refused["text"].as_str().unwrap().contains("-32602"), "{refused}");
    let resolve = format!("/chats/{chat}/messages/{message}/resolve");
    let arrived = host.post(&resolve, &json!({ "choice": "arrived" }));
    assert_eq!((arrived.status, &arrived.body["code"]), (409, &json!("not_in_doubt")));
    host.post(&resolve, &json!({ "choice": "send_again" })).ok();
    host.wait("the second time", || place.evidence().seen(text) == 2);
    host.wait_message(&chat, &message, "refused");
    host.post(&resolve, &json!({ "choice": "discard" })).ok();
    host.wait_message(&chat, &message, "withdrawn");
    let next = host.send(&chat, "next");
    host.wait_message(&chat, &next, "settled");
    assert_eq!(place.evidence().prompts(), [text, text, "next"]);
    assert_eq!(host.chat(&chat)["user_messages"], 1, "what was discarded is not counted");
}

#[test]
fn an_error_after_the_take_up_is_a_failed_turn_and_no_refusal() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[say I began]] [[error -32603]]");
    host.wait_message(&chat, &message, "settled");
    let turns = host.get(&format!("/chats/{chat}/turns"));
    assert_eq!(turns["items"][0]["state"], "failed");
    let next = host.send(&chat, "next");
    host.wait_message(&chat, &next, "settled");
    assert_eq!(place.evidence().prompts().len(), 2);
}

#[test]
fn a_receipt_says_what_became_of_a_message() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let accepted = host.post(&messages(&chat), &json!({ "text": "m1 [[approve go]]" })).ok();
    let waiting = host.post(&messages(&chat), &json!({ "text": "m2" })).ok();
    let receipt = |accepted: &Value| {
        host.get(&format!("/receipts/{}", accepted["receipt"].as_str().unwrap()))
    };
    let gate = host.wait_prompts(&chat, 1).remove(0);
    let taken = receipt(&accepted);
    assert_eq!((&taken["kind"], &taken["state"]), (&json!("message"), &json!("taken")));
    assert_eq!(taken["message"], accepted["message"]["id"]);
    assert_eq!(receipt(&waiting)["state"], "queued");
    assert_eq!(receipt(&waiting)["turn"], Value::Null);
    host.call("DELETE", &format!("/chats/{chat}/queue/{}", id(&waiting)), &json!({})).ok();
    assert_eq!(receipt(&waiting)["state"], "withdrawn");

    let answered = host.answer(&chat, &gate, "allow-once").ok();
    host.wait("the answer to be taken", || {
        let receipt = receipt(&answered);
        (&receipt["kind"], &receipt["state"]) == (&json!("answer"), &json!("taken"))
    });
    host.wait("the message to be settled", || receipt(&accepted)["state"] == "settled");
    let turns = host.get(&format!("/chats/{chat}/turns"));
    assert_eq!(receipt(&accepted)["turn"], turns["items"][0]["id"]);
}

#[test]
fn an_interrupting_message_ends_the_turn_and_runs_next() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let slow = host.send(&chat, "m0 [[say on]] [[slow 600]]");
    host.wait_message(&chat, &slow, "taken");
    host.send(&chat, "queued");
    let body = json!({ "text": "at once", "delivery": "interrupt" });
    let urgent = id(&host.post(&messages(&chat), &body).ok());
    host.wait_message(&chat, &urgent, "settled");
    host.wait("the queue to go on", || place.evidence().prompts().len() == 3);
    assert_eq!(place.evidence().prompts(), ["m0 [[say on]] [[slow 600]]", "at once", "queued"]);
    host.wait_shown(&chat, "idle");
    let cancels = place.evidence().events();
    assert_eq!(cancels.iter().filter(|event| event.get("cancel").is_some()).count(), 1);
    assert_eq!(host.held(&chat), None, "it pauses nothing");
}

#[test]
fn an_agent_that_ignores_the_interrupt_is_stopped_by_a_person() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir).env("HOLDFAST_DEMO_IGNORE_CANCEL", "1");
    let host = place.start();
    let chat = host.open();
    let slow = host.send(&chat, "m0 [[say on]] [[slow 600]]");
    host.wait_message(&chat, &slow, "taken");
    let interrupt = format!("/chats/{chat}/interrupt");
    host.post(&interrupt, &json!({})).ok();
    host.wait("the agent to hear it", || {
        place.evidence().events().iter().any(|event| event.get("cancel").is_some())
    });
    assert_eq!(host.delivery(&chat, &slow)["state"], "taken");
    host.post(&interrupt, &json!({ "agent": "stop" })).ok();
    host.wait("the agent's end", || place.processes().is_empty());
    assert_eq!(host.get("/offers")["offers"], json!([]), "ordered for this chat: no offer");
    let next = host.send(&chat, "next");
    host.wait_message(&chat, &next, "settled");
    assert_eq!(place.evidence().prompts(), ["m0 [[say on]] [[slow 600]]", "next"]);
}

/// A place whose first keeper dies in the middle of this frame.
fn torn_at(dir: &tempfile::TempDir, frame: u32) -> Place {
    place(dir)
        .env("HOLDFAST_FAULT", format!("keeper.frame.mid:{frame}"))
        .env("HOLDFAST_FAULT_MARK", dir.path().join("mark").to_str().unwrap())
}

/// The line is cut in its middle by the death of its keeper, which cannot say so: the agent's store
/// is asked, does not know the message, and the resume sends it, once.
#[test]
fn a_line_that_was_cut_is_not_in_the_agents_store_and_is_sent_by_the_resume() {
    let dir = tempfile::tempdir().unwrap();
    let place = torn_at(&dir, 4);
    let host = place.start();
    let chat = host.open();
    let before = host.send(&chat, "before");
    host.wait_message(&chat, &before, "settled");
    let message = host.send(&chat, "torn");
    assert_eq!(host.wait_offer(&chat)["cause"], "keeper_lost");
    assert_eq!(seen(&place), ["before"], "half a line is no prompt");
    assert_eq!(host.delivery(&chat, &message)["asking"], true);
    assert_eq!(host.resume(&chat)["outcome"], "pending");
    host.wait_message(&chat, &message, "settled");
    assert_eq!(seen(&place), ["before", "torn"]);
}

/// A store that tells of no message at all proves nothing: a person is asked, and nothing is sent.
#[test]
fn an_empty_history_proves_nothing_and_a_person_chooses() {
    for (choice, state, times) in
        [("arrived", "settled", 0), ("discard", "withdrawn", 0), ("send_again", "settled", 1)]
    {
        let dir = tempfile::tempdir().unwrap();
        let place = torn_at(&dir, 3);
        let host = place.start();
        let chat = host.open();
        let message = host.send(&chat, "torn");
        host.wait_offer(&chat);
        assert_eq!(host.resume(&chat)["outcome"], "pending");
        host.wait("the question to the person", || host.wait_offer(&chat)["needs_choice"] == true);
        host.wait_shown(&chat, "to_check");
        assert!(place.evidence().prompts().is_empty(), "{choice}: nothing is sent unasked");
        let all = host.post("/offers/resume", &json!({ "chats": "all" })).ok();
        assert_eq!(all["results"][0]["outcome"], "refused", "{choice}: all passes it over: {all}");

        assert_eq!(host.resume_with(&chat, choice)["outcome"], "pending", "{choice}");
        host.wait_message(&chat, &message, state);
        host.wait_shown(&chat, "idle");
        assert_eq!(place.evidence().seen("torn"), times, "{choice}");
        assert_eq!(host.get("/offers")["offers"], json!([]), "{choice}");
    }
}
