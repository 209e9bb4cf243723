//! Starting over with a recap, where the agent no longer knows its session.

use holdfast_testkit::host::TestHost;
use holdfast_testkit::scenario::has_offer;
use serde_json::{Value, json};

use crate::{CUT, continuations, failure_of, place, resume};

fn recap(host: &TestHost<'_>, chat: &str) -> String {
    host.get(&format!("/offers/{chat}/recap"))["text"].as_str().unwrap().to_owned()
}

/// The sessions in which the agent was given something, with all that it was given in each.
fn sessions(host: &TestHost<'_>) -> Vec<(Value, Vec<String>)> {
    let mut sessions: Vec<(Value, Vec<String>)> = Vec::new();
    for event in host.place.evidence().events() {
        let Some(text) = event["prompt"].as_str() else { continue };
        match sessions.iter_mut().find(|(session, _)| *session == event["session"]) {
            Some((_, told)) => told.push(text.to_owned()),
            None => sessions.push((event["session"].clone(), vec![text.to_owned()])),
        }
    }
    sessions
}

#[test]
fn an_offer_whose_session_is_gone_is_resumed_by_a_recap_that_the_person_may_edit() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir).env("HOLDFAST_DEMO_REFUSE_LOAD", "1");
    let host = place.start();
    let chat = host.open();
    let first = host.send(&chat, "[[say An apple is red.]]");
    host.wait_message(&chat, &first, "settled");
    let cut = host.send(&chat, CUT);
    host.wait("the half", || host.said(&chat).ends_with("half"));
    let waiting = host.send(&chat, "[[say last]]");
    host.kill_everything();

    let host = place.start();
    host.wait("the offer", || has_offer(&host, &chat));
    assert_eq!(resume(&host, json!([chat]))[0]["outcome"], "pending");
    host.wait("the failure", || failure_of(&host, &chat)["code"] == "session_not_found");
    let actions = failure_of(&host, &chat)["actions"].clone();
    assert_eq!(actions, json!(["start_fresh_with_recap", "retry", "open_chat"]));

    let proposed = recap(&host, &chat);
    for part in ["I wrote:\n[[say An apple is red.]]", "You wrote:\nAn apple is red.", "half"] {
        assert!(proposed.contains(part), "{part} is not in {proposed}");
    }
    assert!(!proposed.contains("last"), "it will be sent: {proposed}");
    // What may have arrived is for a person to say: a new session cannot be asked.
    let fresh = |more: Value| {
        let mut one = json!({ "chat": chat, "fresh": true });
        one.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        resume(&host, json!([one])).remove(0)
    };
    let refused = fresh(json!({}));
    assert_eq!(
        (&refused["outcome"], &refused["failure"]["code"]),
        (&json!("refused"), &json!("needs_choice"))
    );
    // The demo agent does what any text asks it to, also what a recap tells of.
    let edited = proposed.replace("[[slow 600]]", "(a long command)");
    let mine = json!({ "recap": edited, "choice": "arrived" });
    assert_eq!(fresh(mine.clone())["outcome"], "pending");
    assert!(["pending", "refused"].contains(&fresh(mine)["outcome"].as_str().unwrap()));
    host.wait("the offer's end", || !has_offer(&host, &chat));
    host.wait_message(&chat, &waiting, "settled");
    host.wait_shown(&chat, "idle");
    assert!(failure_of(&host, &chat).is_null());
    host.wait_message(&chat, &cut, "settled");

    let told = sessions(&host);
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0].1, ["[[say An apple is red.]]", CUT]);
    assert_eq!(told[1].1, [edited.as_str(), "[[say last]]"], "the recap once, then the queue");
    assert_eq!(continuations(&place), 0);
    let notices =
        host.items(&chat).into_iter().filter(|item| item["notice"]["kind"] == "started_fresh");
    assert_eq!(notices.count(), 1);
    host.stop();
}

#[test]
fn a_chat_whose_agent_forgets_is_not_dead() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir).env("HOLDFAST_DEMO_REFUSE_LOAD", "1");
    let host = place.start();
    let chat = host.open();
    let first = host.send(&chat, "[[say one]]");
    host.wait_message(&chat, &first, "settled");
    host.wait_shown(&chat, "idle");
    host.kill_everything();

    let host = place.start();
    assert!(!has_offer(&host, &chat), "it was idle");
    let second = host.send(&chat, "[[say two]]");
    host.wait("the failure", || failure_of(&host, &chat)["code"] == "session_not_found");
    let one = json!({ "chat": chat, "fresh": true });
    assert_eq!(resume(&host, json!([one]))[0]["outcome"], "pending");
    host.wait_message(&chat, &second, "settled");
    let proposed = &sessions(&host)[1].1[0];
    assert!(proposed.contains("I wrote:\n[[say one]]") && !proposed.contains("two"), "{proposed}");
    assert!(proposed.contains("my next message says what is to be done"), "{proposed}");
    assert_eq!(sessions(&host)[1].1[1..], ["[[say two]]"]);
    host.stop();
}
