//! A host with something of everything, and what has to be the same after bad input.

use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::raw::RawAnswer;
use serde_json::{Value, json};

use crate::routes::{Route, parts};

/// A host with a chat that has everything that a path can name, and another one.
pub(crate) struct Scene<'a> {
    pub(crate) host: TestHost<'a>,
    pub(crate) chat: String,
    pub(crate) item: String,
    pub(crate) message: String,
    prompt: String,
    task: String,
    receipt: String,
    attachment: String,
    other: String,
}

impl<'a> Scene<'a> {
    fn set(place: &'a Place) -> Self {
        let host = place.start();
        let (chat, other) = (host.open(), host.open());
        let first = host.send(&other, "[[say here]]");
        host.wait_message(&other, &first, "settled");
        let approved = host.send(&chat, "[[approve make]]");
        let prompt = host.wait_prompts(&chat, 1).remove(0);
        assert_eq!(host.answer(&chat, &prompt, "allow-always").status, 200);
        host.wait_message(&chat, &approved, "settled");
        host.send(&chat, "[[monitor 600 Watch]] [[say hello]] [[ask Which?|A|B]]");
        host.wait_shown(&chat, "blocked");
        let path = format!("/chats/{chat}/messages");
        let waiting = host.post(&path, &json!({ "text": "it waits" })).ok();
        let file = host.raw("POST", &format!("/api/v1/chats/{chat}/attachments")).body("bytes");
        let file = host.exchange(&file).json();
        let row = host.chat(&chat);
        let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
        let items = host.items(&chat);
        let said = items.iter().find(|item| item["text"] == "hello").unwrap();
        Self {
            item: id(said),
            message: id(&waiting["message"]),
            prompt: id(&row["activity"]["prompts"][0]),
            task: id(&row["activity"]["tasks"][0]),
            attachment: id(&file),
            receipt: waiting["receipt"].as_str().unwrap().to_owned(),
            host,
            chat,
            other,
        }
    }

    /// The id that stands for a part of a path.
    pub(crate) fn id(&self, name: &str) -> &str {
        match name {
            "chat" => &self.chat,
            "item" => &self.item,
            "message" => &self.message,
            "prompt" => &self.prompt,
            "task" => &self.task,
            "receipt" => &self.receipt,
            "grant" => "g1",
            "attachment" => &self.attachment,
            "slot" => "desk",
            "agent" => "demo",
            other => panic!("no id for {other}"),
        }
    }

    /// The path of a route; one of its parts replaced where that is given.
    pub(crate) fn path(&self, route: &Route, odd: Option<(&str, &str)>) -> String {
        let mut path = route.path.trim_end_matches('/').to_owned();
        for name in parts(route) {
            let id = odd.filter(|(part, _)| *part == name).map_or(self.id(name), |(_, id)| id);
            path = path.replace(&format!("{{{name}}}"), id);
        }
        path
    }

    pub(crate) fn call(&self, route: &Route, body: &[u8]) -> RawAnswer {
        let request = self.host.raw(route.method, &self.path(route, None));
        self.host.exchange(&request.body(body))
    }

    /// Everything that bad input must leave as it is.
    fn facts(&self) -> Value {
        let chats = self.host.get("/chats?state=all");
        let of = |chat: &str| {
            ["items?limit=200", "turns", "queue", "draft", "grants", "attachments"]
                .map(|what| self.host.get(&format!("/chats/{chat}/{what}")))
        };
        json!({
            "cursor": self.host.get("/offers")["as_of"],
            "chats": chats,
            "chat": of(&self.chat),
            "other": of(&self.other),
        })
    }
}

/// A whole problem document with this status, code and field.
#[track_caller]
pub(crate) fn problem(answer: &RawAnswer, status: u16, code: &str, field: Option<&str>) -> Value {
    let body = answer.json();
    let shown = String::from_utf8_lossy(&answer.body);
    assert_eq!((answer.status, body["code"].as_str()), (status, Some(code)), "{shown}");
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert_eq!(body["status"], status);
    assert_eq!(body["type"], format!("/errors/{code}"));
    for text in ["title", "detail"] {
        assert!(!body[text].as_str().unwrap().is_empty(), "{body}");
    }
    if field.is_some() {
        assert_eq!(body["field"].as_str(), field, "{body}");
    }
    body
}

pub(crate) fn with_scene(test: impl FnOnce(&Scene<'_>)) {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path());
    let scene = Scene::set(&place);
    let before = scene.facts();
    test(&scene);
    assert_eq!(scene.facts(), before, "bad input stored nothing");
    // The question was asked once and is still open; both chats go on.
    let path = format!("/chats/{}/prompts/{}/answer", scene.chat, scene.prompt);
    let prompt = scene.host.items(&scene.chat);
    let prompt = prompt.iter().find(|item| item["prompt"]["id"] == scene.prompt.as_str()).unwrap();
    let option = &prompt["prompt"]["options"][0]["id"];
    scene.host.post(&path, &json!({ "option": option })).ok();
    scene.host.wait_message(&scene.chat, &scene.message, "settled");
    let message = scene.host.send(&scene.other, "[[say and on]]");
    scene.host.wait_message(&scene.other, &message, "settled");
    assert!(scene.host.said(&scene.other).ends_with("and on"));
    assert_eq!(place.evidence().prompts().len(), 5, "agents saw what was sent, and nothing else");
    scene.host.stop();
}

/// An id of the same form that names nothing.
pub(crate) fn absent(id: &str) -> String {
    match id.rsplit_once('.') {
        Some((before, _)) => format!("{before}.99999"),
        None => id.chars().map(|c| if c.is_ascii_digit() { '7' } else { c }).collect(),
    }
}
