//! How hard the agent thinks: as it was asked for at the start, changed while it runs, the same again
//! after a start of everything. What the model was asked with says so.

use holdfast_testkit::host::TestHost;
use serde_json::{Value, json};

use crate::lab::{Lab, VERSIONS, transcript};

fn patch(host: &TestHost<'_>, chat: &str, effort: &str) -> Value {
    let change = json!({ "effort": effort });
    host.request("PATCH", &format!("/chats/{chat}"), Some(&change)).unwrap().ok()
}

/// The effort that the model was asked with last.
fn asked(lab: &Lab) -> Value {
    lab.model.turns().last().unwrap().body["output_config"]["effort"].clone()
}

fn says(host: &TestHost<'_>, chat: &str, text: &str) {
    let message = host.send(chat, text);
    host.wait_message(chat, &message, "settled");
}

#[test]
fn it_is_as_wanted_at_each_start_and_from_one_turn_to_the_next() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let body = json!({ "agent": "claude", "cwd": lab.place.work_dir(), "effort": "low" });
        let row = host.post("/chats", &body).ok();
        assert_eq!((&row["effort"], &row["efforts"]), (&json!("low"), &json!([])));
        let chat = row["id"].as_str().unwrap().to_owned();
        says(&host, &chat, "[[say one]]");
        assert_eq!(asked(&lab), "low");
        let row = host.chat(&chat);
        assert_eq!(row["effort"], "low");
        assert_eq!(row["efforts"], json!(["low", "medium", "high", "xhigh", "max"]));

        let pid = lab.agent();
        assert_eq!(patch(&host, &chat, "max")["effort"], "max");
        says(&host, &chat, "[[say two]]");
        assert_eq!((asked(&lab), lab.agent()), (json!("max"), pid), "in the same process");

        // The CLI would pass over in silence what it does not know.
        patch(&host, &chat, "enormous");
        says(&host, &chat, "[[say three]]");
        assert_eq!(asked(&lab), "max");
        assert_eq!(host.chat(&chat)["effort"], "max");
        let shown = transcript(&host, &chat);
        let refused = "notice setting_refused: Claude Code knows no effort \"enormous\"";
        assert!(shown.iter().any(|line| line.starts_with(refused)), "{shown:#?}");

        host.kill_everything();
        let host = lab.place.start();
        says(&host, &chat, "[[say four]]");
        assert_eq!(asked(&lab), "max", "as before");
        host.stop();
    }
}

#[test]
fn one_that_it_does_not_know_is_refused_at_the_start() {
    let lab = Lab::new(VERSIONS[0]);
    let host = lab.place.start();
    let body = json!({ "agent": "claude", "cwd": lab.place.work_dir(), "effort": "enormous" });
    let chat = host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned();
    says(&host, &chat, "[[say one]]");
    assert_eq!(host.chat(&chat)["effort"], Value::Null);
    let shown = transcript(&host, &chat);
    assert!(shown.iter().any(|line| line.starts_with("notice setting_refused")), "{shown:#?}");
    assert_ne!(asked(&lab), Value::Null, "as it thinks by itself");
    host.stop();
}
