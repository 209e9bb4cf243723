//! Sessions that a person had with the CLI itself: listed, adopted, gone on with.

use holdfast_pinned::Pinned;
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
