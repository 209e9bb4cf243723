//! What the demo agent does when it is told to carry on with what was stopped.

use holdfast_core::continuation::TEXT;
use serde_json::{Value, json};

use holdfast_testkit::acp::Client;

use super::{MESSAGE, Place, answer, permission, started, task_state};

/// Kills the agent with what it is doing, and opens its session with another one.
fn killed(place: &Place, client: Client, session: &str) -> Client {
    drop(client);
    let mut client = place.agent();
    client.call("session/load", json!({ "sessionId": session, "cwd": "/", "mcpServers": [] }));
    client
}

#[test]
fn told_to_carry_on_it_goes_on_where_it_was() {
    let (place, mut client, session) = started();
    client.prompt(&session, "[[say one]] [[stream 40 25]] [[ask Which?|red|blue]] [[say done]]");
    client.wait_after(0, "a line", |heard| heard.to_string().contains("line 3\\n"));
    let mut client = killed(&place, client, &session);
    let before = client.heard_count();
    client.prompt(&session, TEXT);
    permission(&client, before);
    let said = client.text_after(before, MESSAGE);
    let first = said.strip_prefix("Carrying on.\n").unwrap();
    let number: u64 = first["line ".len()..first.find('\n').unwrap()].parse().unwrap();
    assert!((4..40).contains(&number), "{said}");
    assert_eq!(said.matches("line ").count() as u64, 41 - number, "{said}");
    // The question is cut off: it is asked again, and nothing else is said again.
    let mut client = killed(&place, client, &session);
    let before = client.heard_count();
    let turn = client.prompt(&session, TEXT);
    let asked = permission(&client, before);
    let option = asked["params"]["options"][0]["optionId"].clone();
    let outcome = json!({ "outcome": "selected", "optionId": option });
    client.answer(&asked["id"], json!({ "outcome": outcome }));
    client.reply(turn).unwrap();
    let said = client.text_after(before, MESSAGE);
    assert!(said.starts_with("Carrying on.\n") && said.ends_with("done"), "{said}");
    assert!(!said.contains("line "), "{said}");
    let nothing = answer(&mut client, &session, TEXT);
    assert_eq!(nothing, "Carrying on: nothing was left to do.");
}

#[test]
fn told_to_carry_on_it_starts_its_background_work_again() {
    let (place, mut client, session) = started();
    assert_eq!(client.turn(&session, "[[task 0.01 short]] [[monitor 600 long]]"), "end_turn");
    client.wait_after(0, "the end of the short one", |heard| task_state(heard, "completed"));
    let mut client = killed(&place, client, &session);
    let before = client.heard_count();
    assert_eq!(client.turn(&session, TEXT), "end_turn");
    let begun = |heard: &Value| task_state(heard, "running");
    let again = client.wait_after(before, "the long one", begun);
    assert_eq!(again["params"]["label"], "long");
    assert_eq!(again["params"]["kind"], "monitor");
    // Who says something else does not want it any more.
    let mut client = killed(&place, client, &session);
    assert_eq!(client.turn(&session, "[[say other]]"), "end_turn");
    let mut client = killed(&place, client, &session);
    let nothing = answer(&mut client, &session, TEXT);
    assert_eq!(nothing, "Carrying on: nothing was left to do.");
}
