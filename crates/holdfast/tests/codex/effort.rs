//! How hard the agent thinks: as it was asked for at the start, changed while it runs, the same again
//! after a start of everything. What the model was asked with says so.

use holdfast_testkit::host::TestHost;
use serde_json::{Value, json};

use crate::lab::{Lab, agent};

/// The effort that the model was asked with last.
fn asked(lab: &Lab) -> Value {
    lab.model.turns().last().unwrap().body["reasoning"]["effort"].clone()
}

fn says(host: &TestHost<'_>, chat: &str, text: &str) {
    let message = host.send(chat, text);
    host.wait_message(chat, &message, "settled");
}

#[test]
fn it_is_as_wanted_at_each_start_and_from_one_turn_to_the_next() {
    let lab = Lab::new();
    let host = lab.place.start();
    let body = json!({ "agent": "codex", "cwd": lab.place.work_dir(), "effort": "low" });
    let chat = host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned();
    says(&host, &chat, "[[say one]]");
    assert_eq!(asked(&lab), "low");
    let pid = agent(&lab.place);
    let path = format!("/chats/{chat}");
    let row = host.request("PATCH", &path, Some(&json!({ "effort": "high" }))).unwrap().ok();
    assert_eq!(row["effort"], "high");
    says(&host, &chat, "[[say two]]");
    assert_eq!((asked(&lab), agent(&lab.place)), (json!("high"), pid), "in the same process");

    // It thinks as hard in its plan mode.
    host.request("PATCH", &path, Some(&json!({ "mode": "plan" }))).unwrap().ok();
    says(&host, &chat, "[[say three]]");
    assert_eq!(asked(&lab), "high");
    assert_eq!(host.chat(&chat)["effort"], "high");

    host.kill_everything();
    let host = lab.place.start();
    says(&host, &chat, "[[say four]]");
    assert_eq!(asked(&lab), "high", "as before");
    let row = host.chat(&chat);
    assert_eq!((&row["effort"], &row["mode"]), (&json!("high"), &json!("plan")));
    println!("{}", row["efforts"]);
    host.stop();
}
