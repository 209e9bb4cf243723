//! Writes whose answer is lost are done once.

use serde_json::json;

use crate::fake::loses;
use crate::scene::{command, place, run, run_with};

#[test]
fn a_message_whose_answer_is_lost_is_sent_once() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let url = loses(&host.url, 2);
    let mut send = command(&place, &["chat", "send", &chat, "only once", "--host", &url]);
    send.env("HOLDFAST_TOKEN", &host.token);
    let message = run_with(send, b"").ok();
    host.wait_message(&chat, message.trim(), "settled");
    assert_eq!(host.chat(&chat)["user_messages"], 1);
    assert_eq!(place.evidence().seen("only once"), 1);
    host.stop();
}

#[test]
fn a_key_of_ones_own_names_the_operation() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let new = ["chat", "new", "-a", "demo", "--key", "nightly-7", "once"];
    let chat = run(&place, &new).ok();
    assert_eq!(run(&place, &new).ok(), chat, "the same chat");
    let send = ["chat", "send", chat.trim(), "--key", "nightly-8", "twice"];
    assert_eq!(run(&place, &send).ok(), run(&place, &send).ok(), "the same message");
    let other = run(&place, &["chat", "send", chat.trim(), "--key", "nightly-8", "other"]);
    assert_eq!(other.code, 4);
    assert!(other.err.contains("operation_conflict"), "{other:?}");
    host.stop();
}

#[test]
fn files_go_with_a_message_and_once() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let file = |name: &str, bytes: &[u8]| {
        let path = place.work_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.into_os_string().into_string().unwrap()
    };
    let (one, two) = (file("a b.md", b"# one"), file("two.bin", b"\0two"));
    let new = ["chat", "new", "-a", "demo", "--key", "k", "--attach", &one, "look", "--wait"];
    let said = run(&place, &new).ok();
    assert!(said.contains("look"), "{said}");
    let chats = host.get("/chats");
    let chat = chats["items"][0]["id"].as_str().unwrap().to_owned();
    let again = run(&place, &["chat", "new", "-a", "demo", "--key", "k", "--attach", &one, "look"]);
    assert_eq!(again.ok().trim(), chat);
    // Nothing but files.
    let send = ["chat", "send", &chat, "--key", "l", "--attach", &one, "--attach", &two];
    let message = run(&place, &send).ok();
    assert_eq!(run(&place, &send).ok(), message);
    host.wait_message(&chat, message.trim(), "settled");
    let shown = run(&place, &["chat", "tail", &chat]).ok();
    assert!(shown.contains("[a b.md]") && shown.contains("[a b.md, two.bin]"), "{shown}");
    let kept = host.get(&format!("/chats/{chat}/attachments"));
    assert_eq!(kept["items"].as_array().unwrap().len(), 3);
    assert_eq!(host.chat(&chat)["user_messages"], 2);
    for (args, words) in [
        (&["--attach", "nowhere"][..], "cannot be read"),
        (&["--attach", "."], "is no file"),
        (&["--attach", &file("none", b"")], "is empty"),
        (&[], "TEXT"),
    ] {
        let args = [&["chat", "send", &chat][..], args].concat();
        let odd = run(&place, &args);
        assert_eq!(odd.code, 2, "{odd:?}");
        assert!(odd.err.contains(words), "{odd:?}");
    }
    let listed = host.get("/chats")["items"].as_array().unwrap().len();
    let odd = run(&place, &["chat", "new", "-a", "demo", "--attach", "nowhere"]);
    assert_eq!((odd.code, listed), (2, host.get("/chats")["items"].as_array().unwrap().len()));
    host.stop();
}

#[test]
fn a_message_is_read_from_stdin_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let text = "first line\n  second $HOME \"quoted\"\n";
    run_with(command(&place, &["chat", "send", &chat, "-"]), text.as_bytes()).ok();
    host.wait_shown(&chat, "idle");
    let trimmed = text.trim_end();
    let told = host.items(&chat)[0]["text"].as_str().unwrap().to_owned();
    assert_eq!(told.trim_end(), trimmed);
    let odd = run_with(command(&place, &["chat", "send", &chat, "-"]), b"\xff\xfe");
    assert_eq!(odd.code, 2, "what is no text is not sent");
    assert!(odd.err.contains("UTF-8"), "{odd:?}");
    assert_eq!(host.chat(&chat)["user_messages"], 1);
    host.stop();
}

#[test]
fn a_call_waits_for_a_host_that_is_being_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    for n in 0..3 {
        let answer = host.beside().request_with("POST", "/host/restart", Some(&json!({})), &[]);
        assert_eq!(answer.unwrap().status, 200);
        // At once: the old host may still answer, nobody may, or the new one does.
        run(&place, &["chat", "send", &chat, &format!("message {n}")]).ok();
    }
    let rows = run(&place, &["chat", "show", &chat, "--json"]).json();
    assert_eq!(rows["user_messages"], 3);
    host.stop();
}
