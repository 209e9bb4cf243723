//! Offers: listed, resumed, dismissed, one, some or all.

use holdfast_core::fact::Death;
use holdfast_core::ids::ChatId;
use holdfast_core::input::{Boot, KeeperEvent};
use holdfast_core::provider::{ProviderEvent, StartFault};
use holdfast_http::limits::OFFERS_AT_ONCE_MAX;
use serde_json::{Value, json};

use crate::client::Border;
use crate::shapes::takes;

/// A chat whose agent died in the middle of a reply.
pub(crate) async fn stopped(border: &Border) -> ChatId {
    let got = border.post("/api/v1/chats", json!({"agent": "demo", "message": "a"})).await;
    let chat = got.json()["id"].as_str().unwrap().parse().unwrap();
    takes(&border.host, chat).await;
    dies(border, chat).await;
    chat
}

async fn dies(border: &Border, chat: ChatId) {
    let death = Death::Exited { code: None, signal: Some(9) };
    let (survivors, stderr) = (Vec::new(), String::new());
    let dead = KeeperEvent::Dead { death, boot: Boot::Same, survivors, stderr };
    border.host.keeper(chat, dead).await;
}

async fn results(border: &Border, call: &str, body: Value) -> Vec<(String, String)> {
    let got = border.post(&format!("/api/v1/offers/{call}"), body).await;
    assert_eq!(got.status, 200, "{}", String::from_utf8_lossy(&got.bytes));
    let json = got.json();
    let pair = |result: &Value| {
        let word = |name: &str| result[name].as_str().unwrap().to_owned();
        (word("chat"), word("outcome"))
    };
    json["results"].as_array().unwrap().iter().map(pair).collect()
}

#[tokio::test]
async fn an_offer_says_what_was_going_on() {
    let border = Border::new();
    let chat = stopped(&border).await;
    let offers = border.get("/api/v1/offers").await;
    insta::assert_json_snapshot!(offers);
    let row = border.get(&format!("/api/v1/chats/{chat}")).await;
    assert_eq!(row["offer"], json!({"cause": "agent_died"}));
    assert_eq!(border.get("/api/v1/host").await["counts"]["to_resume"], 1);
}

#[tokio::test]
async fn a_named_offer_is_dismissed_once_and_only_if_it_is_the_one_that_was_seen() {
    let border = Border::new();
    let chat = stopped(&border).await;
    let recorded_at = border.get("/api/v1/offers").await["offers"][0]["recorded_at"].clone();
    let id = chat.to_string();
    let other = json!({"chats": [{"chat": id, "recorded_at": "2020-01-01T00:00:00Z"}]});
    let superseded = vec![(id.clone(), "superseded".to_owned())];
    assert_eq!(results(&border, "dismiss", other.clone()).await, superseded);
    assert_eq!(results(&border, "resume", other).await, superseded);
    assert_eq!(border.get("/api/v1/offers").await["offers"].as_array().unwrap().len(), 1);
    let same = json!({"chats": [{"chat": id, "recorded_at": recorded_at}]});
    assert_eq!(results(&border, "dismiss", same.clone()).await[0].1, "dismissed");
    assert_eq!(results(&border, "dismiss", same).await[0].1, "refused");
    assert_eq!(border.get("/api/v1/offers").await["offers"], json!([]));
}

#[tokio::test]
async fn one_failing_chat_does_not_hold_up_another() {
    let border = Border::new();
    let (chat, idle) = (stopped(&border).await, border.chat().await);
    let none = "chat_000000000000000000000000000000ff";
    let body = json!({"chats": [none, idle.to_string(), chat.to_string()]});
    let is = results(&border, "dismiss", body).await;
    let outcomes: Vec<&str> = is.iter().map(|(_, outcome)| outcome.as_str()).collect();
    assert_eq!(outcomes, ["refused", "refused", "dismissed"]);
}

#[tokio::test]
async fn all_means_what_the_caller_has_seen() {
    let border = Border::new();
    let (old, renewed) = (stopped(&border).await, stopped(&border).await);
    let as_of = border.get("/api/v1/offers").await["as_of"].clone();
    // One offer is replaced by a newer stop, and a new one comes.
    let path = format!("/api/v1/chats/{renewed}/messages");
    assert_eq!(border.post(&path, json!({"text": "go on"})).await.status, 202);
    takes(&border.host, renewed).await;
    dies(&border, renewed).await;
    let new = stopped(&border).await;
    let body = json!({"chats": "all", "as_of": as_of});
    let mut is = results(&border, "dismiss", body).await;
    is.sort();
    let mut wanted = vec![
        (old.to_string(), "dismissed".to_owned()),
        (renewed.to_string(), "superseded".to_owned()),
        (new.to_string(), "superseded".to_owned()),
    ];
    wanted.sort();
    assert_eq!(is, wanted);
    let all = results(&border, "dismiss", json!({"chats": "all"})).await;
    assert_eq!(all.len(), 2);
    assert!(all.iter().all(|(_, outcome)| outcome == "dismissed"));
}

#[tokio::test]
async fn a_resume_is_accepted_once() {
    let border = Border::new();
    let chat = stopped(&border).await;
    let id = chat.to_string();
    // Whether the message arrived is not known, so that one of all is skipped.
    let skipped = [(id.clone(), "refused".to_owned())];
    assert_eq!(results(&border, "resume", json!({"chats": "all"})).await, skipped);
    let body = json!({"chats": [{"chat": id, "choice": "arrived"}]});
    assert_eq!(results(&border, "resume", body).await, [(id, "pending".to_owned())]);
    assert_eq!(border.get("/api/v1/offers").await["offers"][0]["resuming"], true);
    let row = border.get(&format!("/api/v1/chats/{chat}")).await;
    assert_eq!(row["status"]["process"], "starting");
}

#[tokio::test]
async fn odd_lists_are_refused_whole() {
    let border = Border::new();
    let chat = stopped(&border).await;
    let id = chat.to_string();
    let cases = [
        (json!({}), "missing_field", "chats"),
        (json!({"chats": "some"}), "invalid_field", "chats"),
        (json!({"chats": vec!["x"; OFFERS_AT_ONCE_MAX + 1]}), "invalid_field", "chats"),
        (json!({"chats": [id, "x"]}), "invalid_id", "chats[1].chat"),
        (json!({"chats": [{"chat": id, "recorded": 1}]}), "unknown_field", "chats[0].recorded"),
        (
            json!({"chats": [{"chat": id, "recorded_at": "now"}]}),
            "invalid_field",
            "chats[0].recorded_at",
        ),
        (json!({"chats": [{"chat": id, "choice": "later"}]}), "invalid_field", "chats[0].choice"),
        (json!({"chats": [{"chat": id, "recap": "x"}]}), "invalid_field", "chats[0].recap"),
        (json!({"chats": "all", "as_of": "yesterday"}), "invalid_cursor", "as_of"),
    ];
    for (body, code, field) in cases {
        let got = border.post("/api/v1/offers/resume", body.clone()).await;
        assert_eq!((got.status.as_u16(), got.code().as_str()), (400, code), "{body}");
        assert_eq!(got.json()["field"], field, "{body}");
    }
    assert_eq!(border.get("/api/v1/offers").await["offers"][0]["resuming"], false);
}

#[tokio::test]
async fn all_does_not_try_again_what_failed() {
    let border = Border::new();
    let chat = stopped(&border).await;
    let one = json!({"chats": [{"chat": chat.to_string(), "choice": "arrived"}]});
    assert_eq!(results(&border, "resume", one.clone()).await[0].1, "pending");
    let (fault, text) = (StartFault::LoginNeeded, "log in first".to_owned());
    border.host.says(chat, ProviderEvent::StartFailed { fault, text }).await;
    dies(&border, chat).await;
    insta::assert_json_snapshot!("failures", border.get("/api/v1/offers").await["failures"]);
    let got = border.post("/api/v1/offers/resume", json!({"chats": "all"})).await.json();
    let result = &got["results"][0];
    assert_eq!(
        (&result["outcome"], &result["failure"]["code"]),
        (&json!("refused"), &json!("login_needed"),)
    );
    assert_eq!(results(&border, "resume", one).await[0].1, "pending");
}

#[tokio::test]
async fn a_recap_is_proposed_and_what_the_person_makes_of_it_is_sent() {
    let border = Border::new();
    let chat = stopped(&border).await;
    let id = chat.to_string();
    let recap = border.get(&format!("/api/v1/offers/{chat}/recap")).await;
    assert_eq!((&recap["chat"], &recap["bytes_max"]), (&json!(id), &json!(1024 * 1024)));
    assert!(recap["text"].as_str().unwrap().contains("I wrote:\na\n"), "{recap}");
    let none =
        border.call("GET", "/api/v1/offers/chat_00000000000000000000000000000000/recap", "").await;
    assert_eq!((none.status.as_u16(), none.code().as_str()), (404, "chat_not_found"));
    let empty = json!({"chats": [{"chat": id, "fresh": true, "recap": " ", "choice": "arrived"}]});
    let got = border.post("/api/v1/offers/resume", empty).await;
    assert_eq!((got.status.as_u16(), got.code().as_str()), (400, "empty_field"));
    let one =
        json!({"chats": [{"chat": id, "fresh": true, "recap": "all of it", "choice": "arrived"}]});
    assert_eq!(results(&border, "resume", one).await, [(id, "pending".to_owned())]);
    let queue = border.get(&format!("/api/v1/chats/{chat}/queue")).await;
    assert_eq!(queue["items"][0]["text"], "all of it", "{queue}");
}

/// The resume that was accepted is its answer, also when it has failed by the time of the repeat.
#[tokio::test]
async fn all_under_one_key_is_answered_the_same_when_a_start_has_failed() {
    let border = Border::new();
    let chat = stopped(&border).await;
    let discard = json!({"choice": "discard"});
    let message = border.get(&format!("/api/v1/chats/{chat}/items")).await;
    let message = message["items"][0]["delivery"]["message"].as_str().unwrap().to_owned();
    border.post(&format!("/api/v1/chats/{chat}/messages/{message}/resolve"), discard).await;
    let key = [("idempotency-key", "k")];
    let all = || border.call_with("POST", "/api/v1/offers/resume", &key, r#"{"chats":"all"}"#);
    let first = all().await;
    assert_eq!(first.json()["results"][0]["outcome"], "pending");
    let (fault, text) = (StartFault::LoginNeeded, "log in first".to_owned());
    border.host.says(chat, ProviderEvent::StartFailed { fault, text }).await;
    dies(&border, chat).await;
    assert_eq!(all().await.json(), first.json());
    let other = border.post("/api/v1/offers/resume", json!({"chats": "all"})).await;
    assert_eq!(other.json()["results"][0]["outcome"], "refused");
}

#[tokio::test]
async fn what_was_left_running_is_listed_and_ended_by_its_id() {
    let border = Border::new();
    let listed = border.get("/api/v1/host/left").await;
    let id = listed["items"][0]["id"].as_str().unwrap();
    let process = json!({ "pid": 4711, "command": "serve --dev", "ports": [8080] });
    assert_eq!(listed, json!({ "items": [{ "id": id, "processes": [process] }], "next": null }));
    let end = async |body: Value| border.post("/api/v1/host/left/end", body).await;
    let odd = end(json!({ "id": "that one" })).await;
    assert_eq!((odd.status.as_u16(), &odd.json()["field"]), (400, &json!("id")));
    let other = format!("att_{}", "0".repeat(32));
    assert_eq!(end(json!({ "id": other })).await.json()["ended"], json!([]));
    assert_eq!(end(json!({ "id": id })).await.json()["ended"], json!([id]));
    assert_eq!(border.get("/api/v1/host/left").await["items"], json!([]));
}
