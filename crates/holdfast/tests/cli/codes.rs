//! Exit codes, and the words beside them.

use holdfast_testkit::host::Place;
use serde_json::json;

use crate::fake::{answers, redirects, scripted};
use crate::scene::{Said, command, place, run, run_with};

fn remote(place: &Place, url: &str, token: &str, args: &[&str]) -> Said {
    let mut command = command(place, &[args, &["--host", url]].concat());
    command.env("HOLDFAST_TOKEN", token);
    run_with(command, b"")
}

#[test]
fn each_kind_of_failure_has_its_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let closed = host.open();
    host.post(&format!("/chats/{closed}/close"), &json!({})).ok();
    let nobody = format!("chat_{}", "0".repeat(32));
    let long = "x".repeat(201);
    let table: &[(&[&str], i32, &str)] = &[
        (&["chat", "show", &chat], 0, ""),
        (&["chat", "new", "--agent", "demo", "--title", &long], 2, "field_too_long"),
        (&["chat", "new", "--agent", "demo", "--cwd", "/nowhere/at/all"], 2, "invalid_field"),
        (&["chat", "send", &chat, " "], 2, "empty_field"),
        (&["stop"], 2, "usage"),
        (&["chat", "rm", &chat], 2, "usage"),
        (&["chat", "show", &nobody], 3, "chat_not_found"),
        (&["chat", "show", "ffff"], 3, "chat_not_found"),
        (&["chat", "new", "--agent", "nobody"], 3, "agent_not_found"),
        (&["chat", "queue", &chat, "rm", "ffff"], 3, "message_not_found"),
        (&["chat", "send", &closed, "hello"], 4, "chat_closed"),
        (&["chat", "interrupt", &chat], 4, "no_turn"),
        (&["chat", "answer", &chat, "yes"], 4, "nothing_asked"),
        (&["dismiss", &chat], 4, "refused"),
        (&["chat", "send", &chat, "--wait", "[[say half]] [[die]]"], 8, "turn_lost"),
        (&["chat", "send", &chat, "--wait", "--timeout", "0.5", "[[slow 600]]"], 7, "timed_out"),
    ];
    for (args, exit, code) in table {
        let said = run(&place, args);
        assert_eq!(said.code, *exit, "{args:?}: {said:?}");
        assert!(said.err.contains(code), "{args:?}: {said:?}");
    }
    let here = host.url.clone();
    assert_eq!(remote(&place, &here, "hf_wrong", &["status"]).code, 5);
    assert_eq!(remote(&place, &here, "", &["status"]).code, 5, "no token at all");
    assert_eq!(remote(&place, &here, &host.token, &["status"]).code, 0);
    host.stop();
    assert_eq!(remote(&place, &here, "hf_any", &["status"]).code, 6);
    assert_eq!(run(&place, &["status"]).code, 6);
}

#[test]
fn arguments_that_do_not_fit_are_usage() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let table: &[&[&str]] = &[
        &[],
        &["chat"],
        &["chat", "send", "x"],
        &["resume"],
        &["resume", "x", "--all"],
        &["resume", "x", "--recap", "without fresh"],
        &["stop", "--agents", "maybe"],
        &["status", "--timeout", "soon"],
        &["status", "--host", "https://box:1"],
        &["status", "--host", "no address"],
        &["status", "--host", "http://box:1", "--data-dir", "/tmp"],
        &["paths", "--host", "http://box:1"],
        &["token", "--host", "http://box:1"],
        &["status", "--token-file", "/nowhere/at/all"],
    ];
    for args in table {
        let mut command = command(&place, args);
        if !args.contains(&"/nowhere/at/all") {
            command.env("HOLDFAST_TOKEN", "hf_any");
        }
        let said = run_with(command, b"");
        assert_eq!(said.code, 2, "{args:?}: {said:?}");
        assert_eq!(said.out, "", "{args:?}");
    }
}

/// What no healthy host answers.
#[test]
fn odd_answers_have_their_exit_codes() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let table = [
        (429, r#"{"code": "queue_full", "detail": "The queue is full."}"#, 75),
        (429, r#"{"code": "overloaded", "detail": "Too much."}"#, 75),
        (503, r#"{"code": "stopping", "detail": "It stops."}"#, 75),
        (500, r#"{"code": "internal", "detail": "A defect."}"#, 1),
        (507, r#"{"code": "storage_full", "detail": "The disk is full."}"#, 4),
        (200, "<html>", 1),
        (502, "<html>", 1),
        (301, "", 1),
    ];
    for (status, body, exit) in table {
        let url = answers(status, body);
        let args = ["agent", "ls", "--timeout", "2"];
        let said = remote(&place, &url, "hf_any", &args);
        assert_eq!(said.code, exit, "{status} {body}: {said:?}");
    }
}

/// Whoever answers in place of a host does not get its token passed on.
#[test]
fn a_redirect_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let (elsewhere, asked) = scripted(|_| "{}".to_owned());
    let url = redirects(&elsewhere);
    assert_eq!(remote(&place, &url, "hf_any", &["agent", "ls"]).code, 1);
    assert!(asked.try_recv().is_err());
}

#[test]
fn a_program_reads_refusals_as_json() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let error = run(&place, &["status", "--json"]).error();
    assert_eq!((&error["code"], &error["exit"]), (&json!("no_host"), &json!(6)));
    let host = place.start();
    let nobody = format!("chat_{}", "0".repeat(32));
    let error = run(&place, &["chat", "show", &nobody, "--json"]).error();
    assert_eq!(error["problem"]["status"], 404);
    assert_eq!(error["code"], "chat_not_found");
    assert!(error["advice"].as_str().unwrap().contains("chat ls --all"));
    host.stop();
}

#[test]
fn a_token_is_found_in_a_file_in_the_environment_or_here() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (right, wrong) = (place.root.join("right"), place.root.join("wrong"));
    std::fs::write(&right, format!("{}\n", host.token)).unwrap();
    std::fs::write(&wrong, "hf_wrong").unwrap();
    let with = |token: &str, args: &[&str]| {
        let mut command = command(&place, &[&["status"], args].concat());
        if !token.is_empty() {
            command.env("HOLDFAST_TOKEN", token);
        }
        run_with(command, b"").code
    };
    let file = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    assert_eq!(with("", &[]), 0, "this machine's own");
    assert_eq!(with("hf_wrong", &[]), 5, "the environment goes before it");
    assert_eq!(with("hf_wrong", &["--token-file", &file(&right)]), 0, "a file before that");
    assert_eq!(with(&host.token, &["--token-file", &file(&wrong)]), 5);
    assert_eq!(with("", &["--host", &host.url]), 5, "this machine's own goes to no other address");
    let name = host.url.trim_start_matches("http://");
    assert_eq!(with(&host.token, &["--host", name]), 0);
    host.stop();
}

#[test]
fn a_chat_is_named_by_the_beginning_of_its_id_or_by_its_slot() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (a, b) = (host.open(), host.open());
    host.post(&format!("/chats/{b}/close"), &json!({})).ok();
    let body = json!({ "agent": "demo", "slot": "standup" });
    let c = host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned();
    let id = |written: &str| {
        let said = run(&place, &["chat", "show", written, "--json"]);
        if said.code == 0 {
            Ok(said.json()["id"].as_str().unwrap().to_owned())
        } else {
            Err(said.code)
        }
    };
    let hex = |id: &str| id.strip_prefix("chat_").unwrap().to_owned();
    let common = hex(&a).bytes().zip(hex(&b).bytes()).take_while(|(a, b)| a == b).count();
    assert_eq!(id(&a), Ok(a.clone()), "whole");
    assert_eq!(id(&hex(&a)), Ok(a.clone()), "without the word");
    assert_eq!(id(&hex(&a).to_uppercase()), Ok(a.clone()));
    assert_eq!(id(&hex(&b)[..30]), Ok(b.clone()), "a closed one too");
    assert_eq!(id("standup"), Ok(c));
    assert_eq!(id(&hex(&a)[..common]), Err(4), "of both");
    assert_eq!(id("chat_"), Err(3));
    assert_eq!(id("0000"), Err(3));
    let said = run(&place, &["chat", "show", &hex(&a)[..common]]);
    assert!(said.err.contains(&a) && said.err.contains(&b), "the candidates are named: {said:?}");
    host.stop();
}
