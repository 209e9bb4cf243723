//! Questions of agents: answered once, by one, only while somebody waits for the answer.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests, and what they stand on: what goes wrong has to fail them, with words"
)]

use std::sync::Barrier;

use holdfast_testkit::host::Place;
use holdfast_testkit::proc;
use holdfast_testkit::scenario::agent_pid;
use serde_json::{Value, json};

/// Races between two clients for one answer.
const RACES: usize = 100;

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

#[test]
fn a_prompt_survives_the_death_of_the_host_open_and_answerable() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[ask Which colour?|Red|Blue]]");
    let prompt = host.wait_prompts(&chat, 1).remove(0);
    host.kill();

    let host = place.start();
    assert_eq!(host.chat(&chat)["status"]["shown"], "blocked");
    assert_eq!(
        host.wait_prompts(&chat, 1),
        std::slice::from_ref(&prompt),
        "a page that loads late sees it"
    );
    let items = host.items(&chat);
    let shown = items.iter().find(|item| item["kind"] == "prompt").unwrap()["prompt"].clone();
    assert_eq!((&shown["state"], &shown["kind"]), (&json!("open"), &json!("question")));
    let options = shown["options"].as_array().unwrap();
    let blue = options.iter().find(|option| option["label"] == "Blue").unwrap()["id"].clone();
    assert_eq!(host.answer(&chat, &prompt, blue.as_str().unwrap()).status, 200);
    host.wait_message(&chat, &message, "settled");
    assert!(host.said(&chat).contains("Blue"), "{}", host.said(&chat));
    assert_eq!(place.evidence().answers().len(), 1);
    assert_eq!(place.evidence().pids().len(), 1);
    assert_eq!(host.get("/offers")["offers"], json!([]));
}

#[test]
fn two_clients_race_and_one_wins_a_hundred_times() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let options = ["allow-once", "reject-once"];
    let clients = [host.beside(), host.beside()];
    let mut won = [0, 0];
    for race in 0..RACES {
        let message = host.send(&chat, &format!("[[approve {race}]]"));
        let prompt = host.wait_prompts(&chat, 1).remove(0);
        let path = format!("/chats/{chat}/prompts/{prompt}/answer");
        let start = Barrier::new(clients.len());
        let answers: Vec<_> = std::thread::scope(|scope| {
            let asked: Vec<_> = clients
                .iter()
                .zip(options)
                .map(|(client, option)| {
                    let (start, path) = (&start, &path);
                    scope.spawn(move || {
                        let device = [("holdfast-device", option)];
                        let body = json!({ "option": option });
                        start.wait();
                        client.request_with("POST", path, Some(&body), &device).unwrap()
                    })
                })
                .collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        let winner = answers.iter().position(|answer| answer.status == 200).unwrap();
        let (winner, loser) = (winner, 1 - winner);
        won[winner] += 1;
        let lost = &answers[loser];
        assert_eq!((lost.status, &lost.body["code"]), (409, &json!("already_answered")), "{race}");
        let told = lost.body.to_string();
        assert!(told.contains(&format!("\"option\":\"{}\"", options[winner])), "{told}");
        assert!(told.contains(&format!("\"device\":\"{}\"", options[winner])), "{told}");
        host.wait_message(&chat, &message, "settled");

        let given = place.evidence().answers();
        assert_eq!(given.len(), race + 1, "one question, one answer");
        assert_eq!(given[race]["answer"]["outcome"]["optionId"], options[winner]);
        // For ever, also when the turn is long over.
        let late = host.answer(&chat, &prompt, options[loser]);
        assert_eq!((late.status, &late.body["code"]), (409, &json!("already_answered")));
    }
    assert_eq!(won[0] + won[1], RACES);
    let ran = place.evidence().events().iter().filter(|event| event.get("ran").is_some()).count();
    assert_eq!(ran, won[0], "exactly what was allowed ran");
}

#[test]
fn a_prompt_of_a_dead_agent_is_gone_for_ever_and_nothing_runs() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    host.send(&chat, "[[approve rm]]");
    let fossil = host.wait_prompts(&chat, 1).remove(0);
    proc::kill_9(agent_pid(&place)).unwrap();
    host.wait_offer(&chat);
    let gone = |host: &holdfast_testkit::host::TestHost<'_>| {
        let formless = host.post(&format!("/chats/{chat}/prompts/{fossil}/answer"), &json!({}));
        for answer in [host.answer(&chat, &fossil, "allow-once"), formless] {
            assert_eq!((answer.status, &answer.body["code"]), (410, &json!("prompt_gone")));
        }
    };
    gone(&host);
    assert!(host.get("/offers")["offers"].as_array().unwrap().len() == 1, "it ended no offer");
    host.kill();

    let host = place.start();
    gone(&host);
    // A new agent that asks under the same number is not answered by an answer to the old one.
    assert_eq!(host.resume(&chat)["outcome"], "pending");
    let fresh = host.wait_prompts(&chat, 1).remove(0);
    assert_ne!(fresh, fossil);
    gone(&host);
    assert_eq!(host.wait_prompts(&chat, 1), std::slice::from_ref(&fresh), "it is still open");
    assert!(place.evidence().answers().is_empty(), "no answer has reached any agent");
    host.answer(&chat, &fresh, "reject-once").ok();
    host.wait_shown(&chat, "idle");
    assert!(!place.evidence().events().iter().any(|event| event.get("ran").is_some()));
}

#[test]
fn a_malformed_answer_leaves_the_prompt_open() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[approve ls]]");
    let prompt = host.wait_prompts(&chat, 1).remove(0);
    let path = format!("/chats/{chat}/prompts/{prompt}/answer");
    let none: [Value; 0] = [];
    for (body, code) in [
        (json!({}), "invalid_answer"),
        (json!({ "option": "no-such" }), "invalid_answer"),
        (json!({ "option": 1 }), "invalid_field"),
        (json!({ "option": null }), "invalid_answer"),
        (json!({ "option": "allow-once", "extra": 1 }), "unknown_field"),
        (json!({ "option": "allow-once", "answers": none }), "invalid_answer"),
        (json!({ "answers": none }), "invalid_answer"),
        (json!({ "answers": [{ "question": "q", "options": ["x"] }] }), "invalid_answer"),
        (json!({ "answers": [1] }), "invalid_field"),
        (json!({ "option": "allow-once", "text": "x".repeat(100_000) }), "field_too_long"),
        (json!({ "option": "allow-once", "text": "x".repeat(1 << 20) }), "body_too_large"),
    ] {
        let answer = host.post(&path, &body);
        let told = answer.body["code"].clone();
        let body = body.to_string();
        assert!(matches!(answer.status, 400 | 413), "{} {told}", &body[..body.len().min(100)]);
        assert_eq!(told, code, "{}", &body[..body.len().min(100)]);
        assert_eq!(host.wait_prompts(&chat, 1), std::slice::from_ref(&prompt));
    }
    assert!(place.evidence().answers().is_empty());
    host.answer(&chat, &prompt, "allow-once").ok();
    host.wait_message(&chat, &message, "settled");
}

#[test]
fn what_the_agent_took_back_is_answered_by_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[retract 0.3 rm x]]");
    let prompt = host.wait_prompts(&chat, 1).remove(0);
    host.wait_message(&chat, &message, "settled");
    assert!(host.prompts(&chat).is_empty());
    let late = host.answer(&chat, &prompt, "allow-once");
    assert_eq!((late.status, &late.body["code"]), (410, &json!("prompt_gone")));
    let items = host.items(&chat);
    let shown = items.iter().find(|item| item["kind"] == "prompt").unwrap();
    assert_eq!(shown["prompt"]["state"], "gone");
    let next = host.send(&chat, "next");
    host.wait_message(&chat, &next, "settled");
    let answers = place.evidence().answers();
    assert_eq!(answers.len(), 1, "its request is answered as cancelled, as the protocol wants it");
    assert_eq!(answers[0]["answer"]["message"], "cancelled");
}

#[test]
fn several_prompts_are_open_at_once_and_each_is_answered_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[approvals one|two|three]]");
    let prompts = host.wait_prompts(&chat, 3);
    let labels = |host: &holdfast_testkit::host::TestHost<'_>| -> Vec<String> {
        host.prompts(&chat).iter().map(|p| p["label"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(labels(&host), ["one", "two", "three"]);
    host.answer(&chat, &prompts[1], "reject-once").ok();
    assert_eq!(labels(&host), ["one", "three"]);
    assert_eq!(host.chat(&chat)["status"]["shown"], "blocked");
    host.kill();

    let host = place.start();
    host.wait_prompts(&chat, 2);
    host.answer(&chat, &prompts[2], "allow-once").ok();
    host.answer(&chat, &prompts[0], "allow-once").ok();
    host.wait_message(&chat, &message, "settled");
    let answers = place.evidence().answers();
    let mut chosen: Vec<(u64, String)> = answers
        .iter()
        .map(|answer| {
            let option = answer["answer"]["outcome"]["optionId"].as_str().unwrap().to_owned();
            (answer["request"].as_u64().unwrap(), option)
        })
        .collect();
    chosen.sort();
    let options: Vec<&str> = chosen.iter().map(|(_, option)| option.as_str()).collect();
    assert_eq!(options, ["allow-once", "reject-once", "allow-once"]);
}

/// A prompt that is open when a person stops the turn is taken back, at the agent too.
#[test]
fn a_stop_takes_the_open_prompt_back() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[approve rm]]");
    let prompt = host.wait_prompts(&chat, 1).remove(0);
    host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
    host.wait_message(&chat, &message, "settled");
    let late = host.answer(&chat, &prompt, "allow-once");
    assert_eq!((late.status, &late.body["code"]), (410, &json!("prompt_gone")));
    host.wait_shown(&chat, "idle");
    assert!(!place.evidence().events().iter().any(|event| event.get("ran").is_some()));
}

/// The answer that an agent got to the request that is its n-th, by its own log.
fn told(place: &Place) -> Vec<String> {
    let answers = place.evidence().answers();
    answers.iter().map(|answer| answer["answer"]["outcome"]["optionId"].to_string()).collect()
}

#[test]
fn what_was_allowed_for_good_is_not_asked_again_by_the_next_agent() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, "[[approve make]]");
    let prompt = host.wait_prompts(&chat, 1).remove(0);
    assert_eq!(host.answer(&chat, &prompt, "allow-always").status, 200);
    host.wait_message(&chat, &message, "settled");
    let grants = format!("/chats/{chat}/grants");
    let given = host.get(&grants)["items"].clone();
    assert_eq!((&given[0]["id"], &given[0]["rule"]), (&json!("g1"), &json!("make")));
    host.kill_everything();

    // Another life of everything: nobody is asked, and the transcript says by what.
    let host = place.start();
    let message = host.send(&chat, "[[approve make]]");
    host.wait_message(&chat, &message, "settled");
    assert_eq!(told(&place), ["\"allow-always\"", "\"allow-always\""]);
    let items = host.items(&chat);
    let shown = items.iter().rev().find(|item| item["kind"] == "prompt").unwrap();
    assert_eq!(shown["prompt"]["answer"]["by"], "grant g1");
    // Another thing is asked.
    let other = host.send(&chat, "[[approve make install]]");
    let prompt = host.wait_prompts(&chat, 1).remove(0);
    assert_eq!(host.answer(&chat, &prompt, "reject-once").status, 200);
    host.wait_message(&chat, &other, "settled");
    assert_eq!(host.get(&grants)["items"].as_array().unwrap().len(), 1);

    // Taken back, it is asked again, by an agent that was not told it.
    let path = format!("{grants}/g1");
    assert_eq!(host.request("DELETE", &path, None).unwrap().status, 200);
    assert_eq!(host.request("DELETE", &path, None).unwrap().body["code"], "grant_not_found");
    assert_eq!(host.get(&grants)["items"], json!([]));
    host.kill_everything();
    let host = place.start();
    host.send(&chat, "[[approve make]]");
    host.wait_prompts(&chat, 1);
    assert_eq!(host.chat(&chat)["status"]["shown"], "blocked");
}
