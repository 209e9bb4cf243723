//! What a script reads, and what programs read: without a terminal.

use serde_json::json;

use crate::fake::answers;
use crate::scene::{command, place, redact, run, run_with};

#[test]
fn a_working_day_in_pipes() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat =
        run(&place, &["chat", "new", "-a", "demo", "-t", "Colours", "[[ask Which?|Red|Blue]]"]);
    let chat = chat.ok().trim().to_owned();
    host.wait_shown(&chat, "blocked");
    let mut told = String::new();
    let mut tell = |args: &[&str]| {
        let said = run(&place, args);
        let words = [said.out, said.err].concat();
        let args = args.join(" ").replace(&chat, "CHAT");
        told.push_str(&redact(&place, &format!("$ holdfast {args}\n{words}[{}]\n\n", said.code)));
    };
    tell(&["chat", "ls"]);
    tell(&["chat", "show", &chat]);
    tell(&["chat", "answer", &chat]);
    tell(&["chat", "send", &chat, "and then?"]);
    tell(&["chat", "queue", &chat]);
    tell(&["chat", "queue", &chat, "pause"]);
    tell(&["chat", "queue", &chat]);
    tell(&["chat", "queue", &chat, "resume"]);
    tell(&["chat", "answer", &chat, "green"]);
    tell(&["chat", "answer", &chat, "2"]);
    host.wait_shown(&chat, "idle");
    host.wait("both turns", || host.said(&chat).contains("and then?"));
    tell(&["chat", "answer", &chat, "--prompt", "p1.1", "Red"]);
    tell(&["chat", "tail", "--numbers", &chat]);
    tell(&["chat", "interrupt", &chat]);
    tell(&["chat", "close", &chat]);
    tell(&["chat", "send", &chat, "too late"]);
    tell(&["chat", "ls"]);
    tell(&["chat", "ls", "--all"]);
    tell(&["chat", "reopen", &chat]);
    tell(&["chat", "rm", &chat]);
    tell(&["chat", "rm", "--yes", &chat]);
    tell(&["chat", "show", &chat]);
    tell(&["agent", "ls"]);
    tell(&["offers"]);
    tell(&["resume", "--all"]);
    tell(&["dismiss", "--all"]);
    tell(&["token"]);
    tell(&["paths"]);
    insta::assert_snapshot!("pipes", told);
    host.stop();
}

#[test]
fn programs_read_one_value() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let row = run(&place, &["chat", "new", "-a", "demo", "--json"]).json();
    let chat = row["id"].as_str().unwrap().to_owned();
    let status = run(&place, &["status", "--json"]).json();
    assert_eq!(status["counts"]["open"], 1);
    assert_eq!(status["url"], json!(host.url));
    assert_eq!(status["pid"], json!(host.pid()));
    let list = run(&place, &["chat", "ls", "--json"]).json();
    assert_eq!((&list["items"][0]["id"], &list["next"]), (&json!(chat), &json!(null)));
    assert_eq!(run(&place, &["chat", "show", &chat, "--json"]).json()["id"], json!(chat));
    let sent = run(&place, &["chat", "send", &chat, "[[ask Which?|Red|Blue]]", "--json"]).json();
    assert_eq!(sent["message"]["state"], "queued");
    host.wait_prompts(&chat, 1);
    let asked = run(&place, &["chat", "answer", &chat, "--json"]).json();
    assert_eq!(asked["items"][0]["options"][1]["id"], "Blue");
    assert!(run(&place, &["chat", "answer", &chat, "Red", "--json"]).json()["receipt"].is_string());
    assert_eq!(run(&place, &["chat", "queue", &chat, "--json"]).json()["paused"], false);
    assert_eq!(run(&place, &["agent", "ls", "--json"]).json()["items"][0]["id"], "demo");
    assert_eq!(run(&place, &["offers", "--json"]).json()["offers"], json!([]));
    assert_eq!(run(&place, &["resume", "--all", "--json"]).json()["results"], json!([]));
    assert_eq!(run(&place, &["token", "--json"]).json()["token"], json!(host.token));
    assert!(run(&place, &["paths", "--json"]).json()["store"].is_string());
    assert_eq!(run(&place, &["doctor", "--json"]).json()["fail"], 0);
    host.wait_shown(&chat, "idle");
    assert_eq!(run(&place, &["chat", "close", &chat, "--json"]).json()["chat"], json!(chat));
    assert_eq!(run(&place, &["chat", "reopen", &chat, "--json"]).json()["state"], "open");
    assert_eq!(run(&place, &["chat", "rm", "--yes", &chat, "--json"]).json()["chat"], json!(chat));
    host.stop();
}

#[test]
fn what_a_chat_is_called_and_where_it_is_filed() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let set =
        |args: &[&str]| run(&place, &[&["chat", "set", &chat, "--json"], args].concat()).json();
    let row = set(&[
        "--title", "Colours", "--slot", "art", "--folder", "Work", "--tag", "a", "--tag", "b",
    ]);
    assert_eq!((&row["title"], &row["slot"]), (&json!("Colours"), &json!("art")));
    assert_eq!((&row["folder"], &row["tags"]), (&json!("Work"), &json!(["a", "b"])));
    let row = set(&["--pinned", "true", "--muted=true", "--tag", "", "--folder", ""]);
    assert_eq!((&row["pinned"], &row["muted"]), (&json!(true), &json!(true)));
    assert_eq!(
        (&row["folder"], &row["tags"], &row["title"]),
        (&json!(null), &json!([]), &json!("Colours"))
    );
    let pinned = run(&place, &["chat", "rm", "--yes", "art"]);
    assert_eq!(pinned.code, 4, "{pinned:?}");
    assert!(pinned.err.contains("--pinned=false"), "{pinned:?}");
    set(&["--pinned=false"]);
    run(&place, &["chat", "rm", "--yes", "art"]).ok();
    assert_eq!(run(&place, &["chat", "set", &chat]).code, 2, "something has to be changed");
    host.stop();
}

#[test]
fn what_was_said_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (chat, other) = (host.open(), host.open());
    host.send(&chat, "[[say a marmalade sky]]");
    host.send(&other, "[[say tangerine trees]]");
    let found = |args: &[&str]| {
        let found = run(&place, &[&["search", "--json"], args].concat()).json();
        found["items"].as_array().unwrap().len()
    };
    host.wait("the index", || found(&["marmalade"]) == 2 && found(&["trees"]) == 2);
    assert_eq!(found(&["sky", "marmalade", "--chat", &chat]), 2, "the words in any order");
    assert_eq!(found(&["sky", "--chat", &other]), 0);
    assert_eq!(found(&["sky", "-n", "1"]), 1);
    let words = redact(&place, &run(&place, &["search", "marmalade"]).ok());
    insta::assert_snapshot!("search", words);
    let none = run(&place, &["search", "nobody-said-this"]);
    assert_eq!((none.code, none.out.as_str()), (0, ""));
    assert_eq!(run(&place, &["search"]).code, 2);
    host.stop();
}

/// The calls are there by their names; whether an agent can is another matter.
#[test]
fn fork_and_rewind_call_the_host() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let url = answers(409, r#"{"code": "not_supported", "detail": "This agent cannot."}"#);
    let chat = format!("chat_{}", "0".repeat(32));
    for args in [["fork", &chat, "--at", "3"], ["rewind", &chat, "--at", "3"]] {
        let args = [&["chat"], args.as_slice(), &["--host", &url]].concat();
        let mut command = command(&place, &args);
        command.env("HOLDFAST_TOKEN", "hf_any");
        let said = run_with(command, b"");
        assert_eq!(said.code, 4, "{said:?}");
        assert!(said.err.contains("This agent cannot."), "{said:?}");
    }
}
