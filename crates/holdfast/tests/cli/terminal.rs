//! What a person sees, on a terminal.

use crate::scene::{Terminal, place, redact, seen};

#[test]
fn a_first_look_around() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let mut screen = String::new();
    let mut look = |args: &[&str]| {
        let shown = args.iter().map(|word| if word.len() > 30 { "CHAT" } else { word });
        screen.push_str(&format!("$ holdfast {}\n", shown.collect::<Vec<_>>().join(" ")));
        screen.push_str(&seen(&place, args));
        screen.push('\n');
    };
    look(&["status"]);
    look(&["chat", "ls"]);
    look(&["agent", "ls"]);
    look(&["chat", "new", "[[task 600 Read the manual]] [[say Reading]]"]);
    let row = host.get("/chats")["items"][0].clone();
    let chat = row["id"].as_str().unwrap().to_owned();
    host.wait("the task", || host.said(&chat).contains("Reading"));
    host.wait("the end of the turn", || host.chat(&chat)["status"]["lead"] == "done");
    host.send(&chat, "[[plan Look|Think]] [[think hm]] [[tool make 0]] [[approve rm -rf build]]");
    host.wait_prompts(&chat, 1);
    host.send(
        &chat,
        "and then tell me all of it, in as many words as it takes to fill more than a line",
    );
    look(&["status"]);
    look(&["chat", "ls"]);
    look(&["chat", "show", &chat]);
    look(&["chat", "tail", &chat]);
    look(&["chat", "queue", &chat]);
    look(&["chat", "answer", &chat]);
    look(&["chat", "send", &chat, "one more"]);
    look(&["chat", "interrupt", "--task", "k1.1", &chat]);
    look(&["token"]);
    insta::assert_snapshot!("terminal", screen);
    host.stop();
}

#[test]
fn a_stop_asks_what_becomes_of_work() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let mut host = place.start();
    let chat = host.open();
    host.send(&chat, "[[say half]] [[slow 600]]");
    host.wait("the half", || host.said(&chat) == "half");

    let mut stop = Terminal::run(&place, &["stop"]);
    stop.types("what?\nc\n");
    let (screen, status) = stop.end();
    assert_eq!(status.code(), Some(4), "{screen}");
    assert!(host.is_running(), "nothing was stopped");

    let mut stop = Terminal::run(&place, &["stop"]);
    stop.types("k\n");
    let (screen, status) = stop.end();
    assert_eq!(status.code(), Some(0), "{screen}");
    insta::assert_snapshot!("stop-keep", redact(&place, &screen));
    assert!(host.wait_end().success());
    assert_eq!(place.processes().len(), 1, "the agent goes on");

    let host = place.start();
    assert!(
        crate::scene::run(&place, &["offers", "--json"]).json()["offers"] == serde_json::json!([])
    );
    let mut stop = Terminal::run(&place, &["stop"]);
    stop.types("s\n");
    let (screen, status) = stop.end();
    assert_eq!(status.code(), Some(0), "{screen}");
    assert!(host.wait_end().success());
    assert_eq!(place.processes(), [] as [u32; 0]);

    let host = place.start();
    let offers = seen(&place, &["offers", "--verbose"]);
    insta::assert_snapshot!("offers", offers);
    insta::assert_snapshot!("resume", seen(&place, &["resume", &chat]));
    host.stop();
}

#[test]
fn what_was_stopped_and_what_failed() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    std::fs::create_dir_all(place.data_dir()).unwrap();
    let config = "[agents.broken]\nkind = \"acp\"\ncommand = [\"false\"]\n";
    std::fs::write(place.data_dir().join("config.toml"), config).unwrap();
    let host = place.start();
    let chat = host.open();
    host.send(&chat, "[[task 600 Read the manual]] [[say half\n\nof it]] [[ask Which?|Red|Blue]]");
    host.wait_prompts(&chat, 1);
    host.stop();

    let host = place.start();
    host.wait_offer(&chat);
    let broken = host.open_with("broken");
    host.send(&broken, "hello");
    host.wait("the failure", || host.chat(&broken)["failure"].is_string());
    let refused = host.open();
    host.send(&refused, "[[error -32602]]");
    host.wait("the refusal", || {
        host.items(&refused).iter().any(|item| item["delivery"]["state"] == "refused")
    });
    let mut screen = String::new();
    let mut look = |args: &[&str]| {
        let shown = args.iter().map(|word| if word.starts_with("chat_") { "CHAT" } else { word });
        screen.push_str(&format!("$ holdfast {}\n", shown.collect::<Vec<_>>().join(" ")));
        screen.push_str(&seen(&place, args));
        screen.push('\n');
    };
    look(&["status"]);
    look(&["offers", "-v"]);
    look(&["chat", "show", &chat]);
    look(&["chat", "show", &broken]);
    look(&["chat", "show", &refused]);
    look(&["resume", "--all"]);
    // The demo agent starts its work again and asks again.
    host.wait("the continuation", || host.said(&chat).contains("Carrying on."));
    host.wait_prompts(&chat, 1);
    look(&["chat", "tail", &chat]);
    look(&["chat", "close", &chat, &refused]);
    look(&["chat", "queue", &broken]);
    insta::assert_snapshot!("stopped", screen);
    host.stop();
}

#[test]
fn a_stop_without_work_asks_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    host.open();
    let (screen, status) = Terminal::run(&place, &["stop"]).end();
    assert_eq!(status.code(), Some(0), "{screen}");
    assert_eq!(screen, "Stopped; nobody was at work.\n");
    assert!(host.wait_end().success());
}

#[test]
fn a_deletion_asks_first() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    for (keys, code) in [("\n", 4), ("n\n", 4), ("y\n", 0)] {
        assert_eq!(host.get("/chats?state=all")["items"].as_array().unwrap().len(), 1);
        let mut rm = Terminal::run(&place, &["chat", "rm", &chat]);
        rm.types(keys);
        let (screen, status) = rm.end();
        assert_eq!(status.code(), Some(code), "{keys:?}: {screen}");
    }
    assert_eq!(host.get("/chats?state=all")["items"], serde_json::json!([]));
    host.stop();
}

#[test]
fn what_a_person_has_read_on_a_terminal_is_not_unread() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let unread = || host.chat(&chat)["unread"] == true;
    let goes_on = || {
        let message = host.send(&chat, "[[say news]]");
        host.wait_message(&chat, &message, "settled");
        host.wait("the end of the turn", || host.chat(&chat)["status"]["shown"] == "idle");
        assert!(unread());
    };
    goes_on();
    // A script has not read it.
    crate::scene::run(&place, &["chat", "tail", &chat]).ok();
    assert!(unread());
    let _ = Terminal::run(&place, &["chat", "tail", "--json", &chat]).end();
    assert!(unread());
    assert!(seen(&place, &["chat", "tail", &chat]).contains("news"));
    assert!(!unread());
    assert!(seen(&place, &["chat", "send", "--wait", &chat, "[[say more]]"]).contains("more"));
    assert!(!unread());
    // Whoever follows reads what comes.
    let follow = Terminal::run(&place, &["chat", "tail", "-f", &chat]);
    let message = host.send(&chat, "[[say news]]");
    host.wait_message(&chat, &message, "settled");
    host.wait("the reader", || !unread() && host.chat(&chat)["status"]["shown"] == "idle");
    follow.terminate();
    let (screen, _) = follow.end();
    assert!(screen.contains("news"), "{screen}");
    host.stop();
}

/// What an agent writes cannot act on the terminal of who reads it.
#[test]
fn nothing_that_is_shown_acts_on_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let hostile = "\u{1b}]0;owned\u{7} \u{1b}[2J \u{9b}31m \u{202e}txt\r";
    let body = serde_json::json!({
        "agent": "demo", "message": format!("[[ask {hostile}|{hostile}a|b]]"),
    });
    let chat = host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned();
    host.wait_prompts(&chat, 1);
    host.send(&chat, hostile);
    for args in [
        &["status"] as &[&str],
        &["chat", "ls"],
        &["chat", "show", &chat],
        &["chat", "tail", &chat],
        &["chat", "queue", &chat],
        &["chat", "answer", &chat],
        &["chat", "answer", &chat, "zzz"],
        &["chat", "show", &chat, "--json"],
        &["chat", "tail", "--json", &chat],
    ] {
        let (screen, _) = Terminal::run(&place, args).end();
        let acts = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!screen.contains(acts), "{args:?}: {screen:?}");
    }
    host.stop();
}
