//! Messages in doubt, looked for in what the thread holds.

use super::*;

/// A chat whose messages 7 and 9 are sought, about to be told what its thread holds.
fn seeking() -> Chat {
    let spec = SessionSpec { sought: vec![message_id(7), message_id(9)], holds: 1, ..known() };
    let (mut chat, _) = Chat::opening(&spec);
    assert_eq!(chat.said(OPENED), "wants thread/turns/list\n");
    chat
}

fn held(n: u128) -> Value {
    json!({ "type": "userMessage", "id": "x", "clientId": message_id(n).to_string() })
}

fn turns(frame: u64, turns: &[(&str, Vec<Value>)], next: Option<&str>) -> String {
    let turns: Vec<Value> =
        turns.iter().map(|(id, items)| json!({ "id": id, "items": items })).collect();
    json!({ "id": frame, "result": { "data": turns, "nextCursor": next } }).to_string()
}

fn items(frame: u64, items: &[Value], next: Option<&str>) -> String {
    let items: Vec<Value> =
        items.iter().map(|item| json!({ "turnId": "u", "item": item })).collect();
    json!({ "id": frame, "result": { "data": items, "nextCursor": next } }).to_string()
}

const SEVEN: &str = "store: msg_00000000000000000000000000000007";
const NINE: &str = "store: msg_00000000000000000000000000000009";
const READY: &str = "ready T Some(\"m\") Some(\"auto\")\n";

#[test]
fn what_all_turns_and_the_newest_items_lack_is_absent() {
    let mut chat = seeking();
    let told = chat.said(&turns(5, &[("b", vec![held(1)]), ("a", vec![held(7)])], None));
    assert_eq!(told, format!("{SEVEN} true\nwants thread/items/list\n"));
    let told = chat.said(&items(6, &[held(1)], None));
    assert_eq!(told, "wants thread/items/list\n", "the other turn");
    assert_eq!(chat.said(&items(7, &[], None)), format!("{NINE} false\n{READY}"));
}

#[test]
fn a_message_that_was_taken_into_a_running_turn_is_among_its_items() {
    let mut chat = seeking();
    let _ = chat.said(&turns(5, &[("b", vec![held(7)])], None));
    assert_eq!(chat.said(&items(6, &[held(9), held(7)], None)), format!("{NINE} true\n{READY}"));
}

#[test]
fn pages_are_read_until_all_are_found() {
    let mut chat = seeking();
    let told = chat.said(&turns(5, &[("b", vec![held(9)])], Some("next")));
    assert_eq!(told, format!("{NINE} true\nwants thread/turns/list\n"));
    let told = chat.said(&turns(6, &[("a", vec![held(7)])], Some("more")));
    assert_eq!(told, format!("{SEVEN} true\n{READY}"));
}

#[test]
fn an_empty_thread_lacks_everything() {
    let told = seeking().said(&turns(5, &[], None));
    assert_eq!(told, format!("{SEVEN} false\n{NINE} false\n{READY}"));
}

#[test]
fn what_cannot_be_read_proves_nothing() {
    let broken = json!({ "id": 5, "result": { "data": [{ "id": "b" }] } }).to_string();
    let unnamed = json!({ "id": 5, "result": { "data": [{ "items": [] }] } }).to_string();
    let same = turns(6, &[], Some("same"));
    for line in [
        r#"{"id":5,"error":{"code":-32603,"message":"no"}}"#,
        r#"{"id":5,"result":{}}"#,
        &broken,
        &unnamed,
        &turns(5, &[], Some(&"x".repeat(3000))),
    ] {
        assert_eq!(seeking().said(line), READY, "{line}");
    }
    let mut chat = seeking();
    let _ = chat.said(&turns(5, &[], Some("same")));
    assert_eq!(chat.said(&same), READY, "a page that leads to itself");
    // The page itself may be the line that was too long, or is lost.
    assert!(words(&seeking().step(Inward::Oversized { head: b"{" })).ends_with(READY));
    assert_eq!(words(&seeking().step(Inward::Damaged)), READY);
    assert!(seeking().said("{\"id\":5,\"result\":").ends_with(READY));
}

#[test]
fn a_thread_that_was_never_written_down_lost_nothing_and_another_begins() {
    let absent = r#"{"id":4,"error":{"code":-32600,"message":"no rollout found for thread id T"}}"#;
    let spec = SessionSpec { sought: vec![message_id(9)], ..known() };
    let (mut chat, told) = Chat::opening(&spec);
    assert_eq!(told, "wants thread/resume\n");
    assert_eq!(chat.said(absent), format!("{NINE} false\nwants thread/start\n"));
    let opened = OPENED.replace("\"id\":4", "\"id\":5").replace("\"T\"", "\"N\"");
    assert!(chat.said(&opened).starts_with("ready N "));
}
