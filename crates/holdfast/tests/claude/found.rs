//! Sessions that a person had with the CLI itself: listed, adopted, gone on with.

use holdfast_pinned::{CLAUDE, Pinned};
use holdfast_testkit::claude::bash;
use holdfast_testkit::host::TestHost;
use holdfast_testkit::scripted::one_by_one;
use serde_json::{Value, json};

use crate::lab::{Lab, VERSIONS, transcript};

const FIRST: &str = "Fix the parser [[think hmm]] [[say I remember the parser]]";

/// The sessions that the host lists.
fn sessions(host: &TestHost<'_>) -> Vec<Value> {
    host.get("/agents/claude/sessions")["items"].as_array().unwrap().clone()
}

/// The session of these, and what its file holds.
fn only(lab: &Lab, host: &TestHost<'_>) -> (Value, Vec<u8>) {
    let all = sessions(host);
    assert_eq!(all.len(), 1, "{all:#?}");
    (all[0].clone(), lab.session_file())
}

fn adopt(host: &TestHost<'_>, session: &Value) -> Value {
    let body = json!({ "agent": "claude", "adopt": { "session": session["id"] } });
    host.post("/chats", &body).ok()
}

fn id(row: &Value) -> String {
    row["id"].as_str().unwrap().to_owned()
}

/// What the session was, once, with a tool in it.
fn has_talked(lab: &Lab, version: &Pinned) {
    lab.by_hand(version, &[], FIRST);
    let second = one_by_one(&[&bash("echo hi"), "[[say done it]]"]);
    lab.by_hand(version, &["--continue"], &second);
}

#[test]
fn a_session_had_by_hand_is_listed_adopted_and_gone_on_with() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        has_talked(&lab, version);
        let host = lab.place.start();
        let (session, before) = only(&lab, &host);
        assert_eq!(session["first"], FIRST);
        assert_eq!(session["cwd"], json!(lab.place.work_dir()));
        let said = (&session["cwd_exists"], &session["open_elsewhere"], &session["chat"]);
        assert_eq!(said, (&json!(true), &json!(false), &Value::Null));
        assert_eq!(session["bytes"], before.len());

        let chat = adopt(&host, &session);
        assert_eq!((&chat["title"], &chat["cwd"]), (&session["first"], &session["cwd"]));
        let chat = id(&chat);
        let shown = transcript(&host, &chat);
        let second = one_by_one(&[&bash("echo hi"), "[[say done it]]"]);
        let expected = [
            format!("user: {FIRST}"),
            "thinking: hmm".to_owned(),
            "agent: I remember the parser".to_owned(),
            format!("user: {second}"),
            "Bash: a test completed: hi".to_owned(),
            "agent: done it".to_owned(),
            "notice adopted: ".to_owned(),
        ];
        assert_eq!(shown, expected);
        assert_eq!(host.chat(&chat)["status"]["process"], "stopped", "nothing was started");
        assert_eq!(lab.session_file(), before, "nothing was written");
        assert_eq!(sessions(&host)[0]["chat"], json!(chat), "it is that chat's now");

        let twice = json!({ "agent": "claude", "adopt": { "session": session["id"] } });
        let refused = host.post("/chats", &twice);
        assert_eq!((refused.status, refused.body["code"].as_str()), (409, Some("session_taken")));
        assert!(refused.body["detail"].as_str().unwrap().contains(&chat), "{}", refused.body);

        let next = host.send(&chat, "[[say and on]]");
        host.wait_message(&chat, &next, "settled");
        let told = lab.told();
        let of_person: Vec<_> = told.iter().filter_map(|it| it.strip_prefix("user: ")).collect();
        assert_eq!(of_person, [FIRST, &second, "[[say and on]]"], "the earlier conversation");
        let seen: std::collections::BTreeSet<_> =
            lab.model.turns().into_iter().map(|seen| seen.session).collect();
        assert_eq!(seen.len(), 1, "one session: {seen:?}");
        assert_eq!(sessions(&host).len(), 1, "the same file");
        host.stop();
    }
}

#[test]
fn a_host_killed_in_the_middle_of_an_adoption_leaves_no_half_chat() {
    let mut lab = Lab::new(&CLAUDE);
    has_talked(&lab, &CLAUDE);
    for (fault, stored) in [("host.commit.before:1", false), ("host.commit.after:1", true)] {
        lab.place.env.insert("HOLDFAST_FAULT".to_owned(), fault.to_owned());
        let host = lab.place.start();
        let (session, before) = only(&lab, &host);
        let body = json!({ "agent": "claude", "adopt": { "session": session["id"] } });
        let key = format!("adopt-{stored}");
        let answer = host.request_with("POST", "/chats", Some(&body), &[("Idempotency-Key", &key)]);
        assert!(answer.is_none(), "it was killed: {answer:?}");
        host.wait_end();

        lab.place.env.remove("HOLDFAST_FAULT");
        let host = lab.place.start();
        assert_eq!(lab.session_file(), before, "nothing was written");
        let chats = host.get("/chats")["items"].as_array().unwrap().len();
        assert_eq!(chats, usize::from(stored), "{fault}: all of it or nothing");
        // Whoever asks again with the same key gets the one chat.
        let again = host.request_with("POST", "/chats", Some(&body), &[("Idempotency-Key", &key)]);
        let chat = id(&again.unwrap().ok());
        assert_eq!(host.items(&chat).len(), 7);
        assert_eq!(host.get("/chats")["items"].as_array().unwrap().len(), 1);
        let next = host.send(&chat, "[[say and on]]");
        host.wait_message(&chat, &next, "settled");
        assert!(lab.told().contains(&format!("user: {FIRST}")), "{:?}", lab.told());
        host.request("DELETE", &format!("/chats/{chat}"), None).unwrap().ok();
        host.stop();
        lab.forget_last();
    }
}

#[test]
fn a_session_whose_directory_is_gone_or_that_somebody_has_open_is_said_to_be() {
    let lab = Lab::new(&CLAUDE);
    lab.by_hand(&CLAUDE, &[], FIRST);
    let work = lab.place.work_dir();
    let host = lab.place.start();
    let (session, _) = only(&lab, &host);
    let named = session["id"].as_str().unwrap().to_owned();
    let mut open = lab.opened_by_hand(&CLAUDE, &["--resume", &named]);
    // Once it has become the program that it is to be.
    host.wait("whoever has it open", || sessions(&host)[0]["open_elsewhere"] == true);
    open.kill().unwrap();
    open.wait().unwrap();
    assert_eq!(sessions(&host)[0]["open_elsewhere"], false);

    let away = work.with_file_name("away");
    std::fs::rename(&work, &away).unwrap();
    let listed = &sessions(&host)[0];
    assert_eq!((&listed["cwd"], &listed["cwd_exists"]), (&json!(work), &json!(false)));
    let body = json!({ "agent": "claude", "adopt": { "session": named } });
    let refused = host.post("/chats", &body);
    assert_eq!((refused.status, refused.body["code"].as_str()), (409, Some("directory_gone")));
    std::fs::rename(&away, &work).unwrap();
    host.post("/chats", &body).ok();
    for wrong in ["no-such", "../../etc/passwd", "5a62fd6e-45b1-4008-9dce-aa3dc8952981"] {
        let body = json!({ "agent": "claude", "adopt": { "session": wrong } });
        let refused = host.post("/chats", &body);
        assert_eq!((refused.status, refused.body["code"].as_str()), (404, Some("session_unknown")));
    }
    host.stop();
}

#[test]
fn a_turn_that_nobody_is_logged_in_for_is_a_failure_that_says_what_to_do() {
    for version in VERSIONS {
        let mut lab = Lab::new(version);
        lab.place = lab.without_a_key(version);
        let host = lab.place.start();
        host.wait("the version", || host.agent("claude")["version"] == version.version);
        assert_eq!(host.agent("claude")["reason"], Value::Null);
        let chat = host.open_with("claude");
        let message = host.send(&chat, "hello");
        host.wait_message(&chat, &message, "settled");
        host.wait("the failure", || {
            let failures = host.get("/offers")["failures"].clone();
            failures.as_array().unwrap().iter().any(|one| one["code"] == "login_needed")
        });
        let failures = host.get("/offers")["failures"].clone();
        let text = failures[0]["text"].as_str().unwrap();
        assert!(text.contains("Not logged in") && text.contains("/login"), "{text}");
        let shown = transcript(&host, &chat);
        assert!(!shown.iter().any(|line| line.starts_with("agent: ")), "no odd reply: {shown:#?}");
        let reason = host.agent("claude")["reason"].as_str().unwrap().to_owned();
        assert!(reason.starts_with("Nobody was logged in"), "{reason}");
        host.wait("the end of its agent", || host.chat(&chat)["status"]["process"] == "stopped");
        // What a person sends next is tried again, by another process.
        let again = host.send(&chat, "hello again");
        host.wait_message(&chat, &again, "settled");
        host.stop();
    }
}
