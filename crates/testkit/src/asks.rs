//! What tests ask of a host again and again: the queue, prompts, deliveries, offers.

use serde_json::{Value, json};

use crate::host::{Answer, TestHost};

impl TestHost<'_> {
    /// Any call that has to be answered.
    #[track_caller]
    pub fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        let log = || self.place.log();
        self.request(method, path, Some(body))
            .unwrap_or_else(|| panic!("no answer to {path}; the host's log:\n{}", log()))
    }

    /// A call under an idempotency key.
    #[track_caller]
    pub fn call_as(&self, key: &str, method: &str, path: &str, body: &Value) -> Answer {
        let log = || self.place.log();
        self.request_with(method, path, Some(body), &[("idempotency-key", key)])
            .unwrap_or_else(|| panic!("no answer to {path}; the host's log:\n{}", log()))
    }

    /// The texts that wait, in order.
    #[track_caller]
    pub fn queue(&self, chat: &str) -> Vec<String> {
        let queue = self.get(&format!("/chats/{chat}/queue"));
        let items = queue["items"].as_array().unwrap().iter();
        items.map(|item| item["text"].as_str().unwrap().to_owned()).collect()
    }

    /// Why the queue is held, if it is.
    #[track_caller]
    pub fn held(&self, chat: &str) -> Option<String> {
        let queue = self.get(&format!("/chats/{chat}/queue"));
        assert_eq!(queue["paused"] == true, queue["reason"] != Value::Null, "{queue}");
        queue["reason"].as_str().map(str::to_owned)
    }

    /// The delivery of a message, as the transcript shows it; null where it is not there.
    #[track_caller]
    pub fn delivery(&self, chat: &str, message: &str) -> Value {
        let items = self.items(chat);
        let own = items.into_iter().find(|item| item["delivery"]["message"] == message);
        own.map(|item| item["delivery"].clone()).unwrap_or_default()
    }

    /// The open prompts of a chat.
    #[track_caller]
    pub fn prompts(&self, chat: &str) -> Vec<Value> {
        self.chat(chat)["activity"]["prompts"].as_array().unwrap().clone()
    }

    /// Waits for so many open prompts and answers their ids, oldest first.
    #[track_caller]
    pub fn wait_prompts(&self, chat: &str, count: usize) -> Vec<String> {
        self.wait("the prompts", || self.prompts(chat).len() == count);
        self.prompts(chat).iter().map(|p| p["id"].as_str().unwrap().to_owned()).collect()
    }

    /// Answers a prompt with one of its options.
    #[track_caller]
    pub fn answer(&self, chat: &str, prompt: &str, option: &str) -> Answer {
        let path = format!("/chats/{chat}/prompts/{prompt}/answer");
        self.post(&path, &json!({ "option": option }))
    }

    /// Waits until the chat is offered, and answers the offer.
    #[track_caller]
    pub fn wait_offer(&self, chat: &str) -> Value {
        let find = || {
            let offers = self.get("/offers")["offers"].as_array().unwrap().clone();
            offers.into_iter().find(|offer| offer["chat"] == chat)
        };
        self.wait("the offer", || find().is_some());
        find().unwrap_or_default()
    }

    /// Carries on with the offer of a chat, or tries its failed start again; answers the result.
    #[track_caller]
    pub fn resume(&self, chat: &str) -> Value {
        self.post("/offers/resume", &json!({ "chats": [chat] })).ok()["results"][0].clone()
    }

    /// Carries on with the offer of a chat, with a choice about the message in doubt.
    #[track_caller]
    pub fn resume_with(&self, chat: &str, choice: &str) -> Value {
        let body = json!({ "chats": [{ "chat": chat, "choice": choice }] });
        self.post("/offers/resume", &body).ok()["results"][0].clone()
    }
}
