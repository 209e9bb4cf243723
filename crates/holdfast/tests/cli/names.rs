//! What a person is told of a chat, and by what words one is named.

use serde_json::json;

use crate::scene::{place, run};

#[test]
fn a_chat_is_named_by_its_title_where_one_open_chat_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let new = ["chat", "new", "-a", "demo", "-t", "Engine room", "hello"];
    let chat = run(&place, &new).ok().trim().to_owned();
    let shown = || run(&place, &["chat", "show", "Engine room", "--json"]);
    assert_eq!(shown().json()["id"], chat.as_str());
    let twin = run(&place, &new).ok().trim().to_owned();
    let both = shown();
    assert_eq!(both.code, 4, "{both:?}");
    assert!(both.err.contains(&chat) && both.err.contains(&twin), "{both:?}");
    run(&place, &["chat", "close", &twin]).ok();
    assert_eq!(shown().json()["id"], chat.as_str());
    assert_eq!(run(&place, &["chat", "show", "engine"]).code, 3);
    host.stop();
}

#[test]
fn a_chat_is_shown_as_it_is_arranged_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = run(&place, &["chat", "new", "-a", "demo", "first words"]).ok().trim().to_owned();
    host.wait_shown(&chat, "idle");
    let show = |chat: &str| run(&place, &["chat", "show", chat]).ok();
    assert!(!show(&chat).contains("last told"), "it is its name");
    let changed = json!({ "pinned": true, "folder": "Work", "tags": ["a", "b"] });
    let path = format!("/chats/{chat}");
    assert_eq!(host.request("PATCH", &path, Some(&changed)).unwrap().status, 200);
    let list = run(&place, &["chat", "ls"]).ok();
    assert!(list.contains("first words [pinned]"), "{list}");
    host.send(&chat, "[[ask Which?|Red|Blue]]");
    host.wait_prompts(&chat, 1);
    let shown = show(&chat);
    for line in ["Work", "a, b", "pinned", "needs you", "last told  [[ask Which?|Red|Blue]]\n"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    host.send(&chat, "later");
    assert!(show(&chat).contains("last told  (waiting) later\n"), "{}", show(&chat));
    let list = run(&place, &["chat", "ls"]).ok();
    assert!(list.contains("first words: asks: Which? [1 waiting] [pinned]"), "{list}");
    host.stop();

    let host = place.start();
    host.wait_offer(&chat);
    let waits = "unknown, will be asked when it is resumed: [[ask Which?|Red|Blue]]";
    assert!(show(&chat).contains(waits), "{}", show(&chat));
    assert!(!run(&place, &["status"]).ok().contains("1 to check"));
    let dismissed = run(&place, &["dismiss", &chat]);
    let held = dismissed.err.lines().find(|line| line.starts_with("1 message stays held: "));
    let command = held.unwrap().split_once("holdfast ").unwrap().1;
    // Nobody asks any more: a person has to look, and is told where.
    let offers = run(&place, &["offers"]).ok();
    assert!(offers.contains("to check: holdfast chat show "), "{offers}");
    run(&place, &command.split(' ').collect::<Vec<_>>()).ok();
    host.wait("the rest", || host.said(&chat).ends_with("later"));
    host.stop();
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let cwd = place.work_dir().join("nowhere");
    let body = json!({ "agent": "demo", "cwd": cwd });
    let refused = host.post("/chats", &body);
    let words = format!("The directory {} is not there.", cwd.display());
    assert_eq!(refused.body["detail"], words.as_str(), "{}", refused.body);
    host.stop();
}
