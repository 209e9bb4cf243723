//! Prompts are answered once.

use holdfast_core::ids::ChatId;
use holdfast_core::provider::{Asked, PromptKind, PromptOption, ProviderEvent, Question};
use holdfast_core::slash::SlashCommand;
use serde_json::{Value, json};

use crate::client::Border;
use crate::shapes::takes;

fn option(id: &str, kind: &str) -> PromptOption {
    PromptOption { id: id.to_owned(), label: id.to_uppercase(), kind: kind.to_owned() }
}

/// A chat whose agent asks this, as the prompt `p1.1`.
pub(crate) async fn asks(border: &Border, asked: Asked) -> ChatId {
    let got = border.post("/api/v1/chats", json!({"agent": "demo", "message": "a"})).await;
    let chat = got.json()["id"].as_str().unwrap().parse().unwrap();
    takes(&border.host, chat).await;
    border.host.says(chat, ProviderEvent::PromptOpened { prompt: 1, item: 1, asked }).await;
    chat
}

pub(crate) fn approval() -> Asked {
    Asked {
        kind: PromptKind::Approval,
        label: "rm -rf build".to_owned(),
        options: vec![option("yes", "allow_once"), option("no", "reject_once")],
        questions: Vec::new(),
        deed: None,
    }
}

fn questions() -> Asked {
    let question = |id: &str| Question {
        id: id.to_owned(),
        text: format!("{id}?"),
        multi: false,
        free: true,
        options: vec![option("a", "choice"), option("b", "choice")],
    };
    Asked {
        kind: PromptKind::Question,
        label: "Two things".to_owned(),
        options: Vec::new(),
        questions: vec![question("q1"), question("q2")],
        deed: None,
    }
}

async fn answer(border: &Border, chat: ChatId, device: &str, body: Value) -> (u16, Value) {
    let path = format!("/api/v1/chats/{chat}/prompts/p1.1/answer");
    let device = [("holdfast-device", device)];
    let got = border.call_with("POST", &path, &device, body.to_string()).await;
    (got.status.as_u16(), got.json())
}

#[tokio::test]
async fn the_first_answer_wins_and_the_second_is_told_whose_it_was() {
    let border = Border::new();
    let chat = asks(&border, approval()).await;
    insta::assert_json_snapshot!(
        "open",
        border.get(&format!("/api/v1/chats/{chat}/items")).await["items"][1]
    );
    let row = border.get(&format!("/api/v1/chats/{chat}")).await;
    insta::assert_json_snapshot!("blocked", (&row["status"], &row["activity"]));

    let (status, won) = answer(&border, chat, "phone", json!({"option": "yes"})).await;
    assert_eq!(status, 200);
    let (status, lost) = answer(&border, chat, "laptop", json!({"option": "no"})).await;
    assert_eq!((status, &lost["code"]), (409, &json!("already_answered")));
    insta::assert_json_snapshot!("winner", lost["winner"]);
    let receipt = won["receipt"].as_str().unwrap();
    insta::assert_json_snapshot!(
        "receipt",
        border.get(&format!("/api/v1/receipts/{receipt}")).await
    );
}

#[tokio::test]
async fn another_input_is_an_object_and_goes_to_an_agent_that_takes_one() {
    let border = Border::new();
    let chat = asks(&border, approval()).await;
    for (body, field) in [
        (json!({"option": "yes", "input": "[1]"}), "input"),
        (json!({"option": "yes", "input": "no json"}), "input"),
        (json!({"option": "yes", "input": "{}", "text": "x"}), "input"),
        // The agent of this border takes none.
        (json!({"option": "yes", "input": "{}"}), "input"),
    ] {
        let (status, refused) = answer(&border, chat, "phone", body.clone()).await;
        assert_eq!((status, &refused["code"]), (400, &json!("invalid_answer")), "{body}");
        assert_eq!(refused["field"], field, "{body}");
    }
    assert_eq!(answer(&border, chat, "phone", json!({"option": "yes"})).await.0, 200);
}

#[tokio::test]
async fn several_questions_are_answered_together() {
    let border = Border::new();
    let chat = asks(&border, questions()).await;
    let answers = json!({"answers": [
        {"question": "q1", "options": ["a"]}, {"question": "q2", "text": "neither"},
    ]});
    assert_eq!(answer(&border, chat, "d", answers).await.0, 200);
    let items = border.get(&format!("/api/v1/chats/{chat}/items")).await;
    insta::assert_json_snapshot!("answered", items["items"][1]["prompt"]);
}

#[tokio::test]
async fn a_malformed_answer_leaves_the_prompt_open() {
    let border = Border::new();
    let chat = asks(&border, approval()).await;
    let cases = [
        (json!({}), "invalid_answer"),
        (json!({"option": "yes", "answers": []}), "invalid_answer"),
        (json!({"answers": [], "text": "x"}), "invalid_answer"),
        (json!({"option": "maybe"}), "invalid_answer"),
        (json!({"option": 7}), "invalid_field"),
        (json!({"choice": "yes"}), "unknown_field"),
        (json!({"answers": ["yes"]}), "invalid_field"),
        (json!({"answers": [{"options": []}]}), "missing_field"),
        (json!({"answers": [{"question": "q1", "optoins": []}]}), "unknown_field"),
        (json!({"answers": [{"question": "q1", "options": [1]}]}), "invalid_field"),
    ];
    for (body, code) in cases {
        let (status, refusal) = answer(&border, chat, "d", body.clone()).await;
        assert_eq!((status, refusal["code"].as_str().unwrap()), (400, code), "{body}");
    }
    let row = border.get(&format!("/api/v1/chats/{chat}")).await;
    assert_eq!(row["activity"]["prompts"][0]["id"], "p1.1");
}

#[tokio::test]
async fn an_answer_to_who_asks_no_more_is_gone() {
    let border = Border::new();
    let chat = asks(&border, approval()).await;
    border.host.says(chat, ProviderEvent::PromptGone { prompt: 1 }).await;
    let (status, refusal) = answer(&border, chat, "d", json!({"option": "yes"})).await;
    assert_eq!((status, &refusal["code"]), (410, &json!("prompt_gone")));
}

/// The rules forget a prompt when it is over; who answered it is told for ever.
#[tokio::test]
async fn an_answer_is_told_also_when_the_turn_is_over() {
    let border = Border::new();
    let chat = asks(&border, approval()).await;
    assert_eq!(answer(&border, chat, "phone", json!({"option": "yes"})).await.0, 200);
    border.host.says(chat, ProviderEvent::AnswerTaken { prompt: 1 }).await;
    let (status, lost) = answer(&border, chat, "laptop", json!({"option": "no"})).await;
    assert_eq!((status, &lost["code"]), (409, &json!("already_answered")));
    assert_eq!(lost["winner"]["device"], "phone");
}

/// Whoever writes to a prompt that is over is told that, and not how an answer looks.
#[tokio::test]
async fn a_formless_answer_to_a_prompt_that_is_over_says_so() {
    let border = Border::new();
    let formless =
        [json!({}), json!({"option": 7}), json!({"choice": "yes"}), json!({"answers": [1]})];
    let answered = asks(&border, approval()).await;
    assert_eq!(answer(&border, answered, "phone", json!({"option": "yes"})).await.0, 200);
    let gone = asks(&border, approval()).await;
    border.host.says(gone, ProviderEvent::PromptGone { prompt: 1 }).await;
    let never = border.chat().await;
    let deleted = asks(&border, approval()).await;
    assert_eq!(border.call("DELETE", &format!("/api/v1/chats/{deleted}"), "").await.status, 200);
    for (chat, is) in [
        (answered, (409, "already_answered")),
        (gone, (410, "prompt_gone")),
        (never, (404, "prompt_not_found")),
        (deleted, (404, "chat_not_found")),
    ] {
        for body in &formless {
            let (status, refusal) = answer(&border, chat, "d", body.clone()).await;
            assert_eq!((status, refusal["code"].as_str().unwrap()), is, "{body}");
            assert!(!refusal["detail"].as_str().unwrap().contains("still open"), "{refusal}");
        }
    }
    let (_, lost) = answer(&border, answered, "d", json!({})).await;
    assert_eq!(lost["winner"]["device"], "phone");
}

#[tokio::test]
async fn the_commands_of_an_agent_are_listed_as_it_told_them_last() {
    let border = Border::new();
    let got = border.post("/api/v1/chats", json!({"agent": "demo", "message": "a"})).await;
    let chat = got.json()["id"].as_str().unwrap().parse().unwrap();
    let path = format!("/api/v1/chats/{chat}/commands");
    assert_eq!(border.get(&path).await, json!({ "items": [], "next": null }));
    takes(&border.host, chat).await;
    for names in [vec!["old"], vec!["review", "plan"]] {
        let told = names.iter().filter_map(|name| SlashCommand::told(name, "It looks.", "[file]"));
        let commands = told.collect();
        border.host.says(chat, ProviderEvent::CommandsTold { commands }).await;
    }
    let command =
        |name: &str| json!({ "name": name, "description": "It looks.", "hint": "[file]" });
    let items = [command("review"), command("plan")];
    assert_eq!(border.get(&path).await, json!({ "items": items, "next": null }));
    let gone = "/api/v1/chats/chat_0123456789abcdef0123456789abcdef/commands";
    assert_eq!(border.call("GET", gone, "").await.json()["code"], "chat_not_found");
}
