//! A person with a host that may die at any moment: starts it again, asks again under the same key,
//! and settles what is asked of a person. What such a person was told is what has to be true.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::host::{Answer, PATIENCE, Place, TestHost};

/// How often one thing is asked again before something else must be wrong.
const TRIES_MAX: u32 = 20;
/// How long a host that gave no answer may take to be seen dead.
const DYING_MAX: Duration = Duration::from_secs(10);
/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A person at a place.
#[derive(Debug)]
pub struct Person<'a> {
    /// Where the host is.
    pub place: &'a Place,
    host: Option<TestHost<'a>>,
    operations: u32,
    /// How the hosts ended that ended unasked.
    pub ends: Vec<std::process::ExitStatus>,
}

/// What a person waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// It came about.
    Goal,
    /// What was waited for ended with its agent; the chat is settled and idle.
    Idle,
}

impl<'a> Person<'a> {
    /// A person who has not started a host yet.
    pub fn at(place: &'a Place) -> Self {
        Self { place, host: None, operations: 0, ends: Vec::new() }
    }

    /// The host; started where none runs.
    pub fn host(&mut self) -> &TestHost<'a> {
        for _ in 0..TRIES_MAX {
            self.bury();
            if self.host.is_some() {
                break;
            }
            match self.place.try_start() {
                Ok(host) => self.host = Some(host),
                Err(status) => self.ends.push(status),
            }
        }
        let log = || self.place.log();
        self.host.as_ref().unwrap_or_else(|| panic!("no host comes up: {:?}\n{}", self.ends, log()))
    }

    /// Forgets a host that has ended.
    fn bury(&mut self) {
        if let Some(host) = &mut self.host
            && let Some(status) = host.ended()
        {
            self.ends.push(status);
            self.host = None;
        }
    }

    /// A write under a key of its own, asked until it is answered. A host that is not ready or not
    /// certain is asked again too.
    #[track_caller]
    pub fn write(&mut self, method: &str, path: &str, body: &Value) -> Answer {
        self.operations += 1;
        let key = format!("person-{}", self.operations);
        for _ in 0..TRIES_MAX {
            let headers = [("idempotency-key", key.as_str())];
            let answer = self.host().request_with(method, path, Some(body), &headers);
            match answer {
                Some(answer) if answer.status != 503 => return answer,
                Some(_) => std::thread::sleep(LOOK_EVERY),
                None => self.lost(path),
            }
        }
        panic!("{path} is not answered; the host's log:\n{}", self.place.log());
    }

    /// A read, asked until it is answered.
    #[track_caller]
    pub fn read(&mut self, path: &str) -> Value {
        for _ in 0..TRIES_MAX {
            match self.host().request("GET", path, None) {
                Some(answer) => return answer.ok(),
                None => self.lost(path),
            }
        }
        panic!("{path} is not answered; the host's log:\n{}", self.place.log());
    }

    /// No answer came: the host must be dead.
    #[track_caller]
    fn lost(&mut self, path: &str) {
        let until = Instant::now() + DYING_MAX;
        while self.host.is_some() {
            self.bury();
            assert!(Instant::now() < until, "a living host does not answer {path}");
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits for anything; the host's log is in the words of the failure.
    #[track_caller]
    pub fn until(&mut self, what: &str, mut condition: impl FnMut(&mut Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !condition(self) {
            let log = || self.place.log();
            assert!(Instant::now() < deadline, "gave up waiting for {what}; the log:\n{}", log());
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits until a chat has come so far. Where it needs a person it is settled on the way, and it is
    /// enough then that it is idle: what was under way may have ended with its agent.
    #[track_caller]
    pub fn reach(
        &mut self,
        chat: &str,
        what: &str,
        mut goal: impl FnMut(&mut Self, &Value) -> bool,
    ) -> Reached {
        let (mut settled, mut reached) = (false, Reached::Idle);
        self.until(what, |me| {
            let row = me.read(&format!("/chats/{chat}"));
            if me.is_disturbed(chat, &row) {
                settled = true;
                me.settle_once(chat);
                return false;
            }
            if goal(me, &row) {
                reached = Reached::Goal;
                return true;
            }
            settled && is_idle(&row)
        });
        reached
    }

    fn is_disturbed(&mut self, chat: &str, row: &Value) -> bool {
        row["offer"] != Value::Null
            || row["failure"] != Value::Null
            || self.doubtful(chat).is_some()
    }

    /// A message of the chat that is refused, or in doubt after its agent's store was asked.
    fn doubtful(&mut self, chat: &str) -> Option<Value> {
        self.items(chat).into_iter().find(|item| {
            let delivery = &item["delivery"];
            delivery["state"] == "refused"
                || (delivery["state"] == "unknown" && delivery["asking"] == false)
        })
    }

    /// The newest items of a chat.
    #[track_caller]
    pub fn items(&mut self, chat: &str) -> Vec<Value> {
        let page = self.read(&format!("/chats/{chat}/items?limit=200"));
        page["items"].as_array().unwrap().clone()
    }

    /// Sends a message, which has to be accepted, and answers its id.
    #[track_caller]
    pub fn send(&mut self, chat: &str, text: &str) -> String {
        let answer =
            self.write("POST", &format!("/chats/{chat}/messages"), &json!({ "text": text }));
        assert_eq!(answer.status, 202, "{}", answer.body);
        answer.body["message"]["id"].as_str().unwrap().to_owned()
    }

    /// Does what is asked of a person until the chat is idle and owes nothing: resumes offers, tries
    /// failed starts again, says of messages in doubt what the agents' own log says, approves what is
    /// asked for, lets the queue run, ends background work that began again.
    #[track_caller]
    pub fn settle(&mut self, chat: &str) {
        self.until(&format!("{chat} to be settled"), |me| me.settle_once(chat));
    }

    fn settle_once(&mut self, chat: &str) -> bool {
        let row = self.read(&format!("/chats/{chat}"));
        let listed = self.read("/offers");
        let of_chat = |list: &Value| -> Option<Value> {
            list.as_array().unwrap().iter().find(|one| one["chat"] == chat).cloned()
        };
        if let Some(offer) = of_chat(&listed["offers"]) {
            if of_chat(&listed["failures"]).is_some() || offer["resuming"] == false {
                self.resume(chat, &offer);
            }
            return false;
        }
        if of_chat(&listed["failures"]).is_some() {
            self.write("POST", "/offers/resume", &json!({ "chats": [chat] })).ok();
            return false;
        }
        if let Some(item) = self.doubtful(chat) {
            let message = item["delivery"]["message"].as_str().unwrap().to_owned();
            let choice = self.choice(&item);
            let path = format!("/chats/{chat}/messages/{message}/resolve");
            self.write("POST", &path, &json!({ "choice": choice }));
            return false;
        }
        if let Some(prompt) = row["activity"]["prompts"].as_array().and_then(|list| list.first()) {
            let path = format!("/chats/{chat}/prompts/{}/answer", prompt["id"].as_str().unwrap());
            self.write("POST", &path, &json!({ "option": "allow-once" }));
            return false;
        }
        if row["queue_paused"] == true && row["queue_length"] != 0 {
            self.write("POST", &format!("/chats/{chat}/queue/resume"), &json!({})).ok();
            return false;
        }
        if let Some(task) = row["activity"]["tasks"].as_array().and_then(|list| list.first()) {
            let path = format!("/chats/{chat}/tasks/{}/stop", task["id"].as_str().unwrap());
            self.write("POST", &path, &json!({}));
            return false;
        }
        is_idle(&row)
    }

    fn resume(&mut self, chat: &str, offer: &Value) {
        let mut one = json!({ "chat": chat, "recorded_at": offer["recorded_at"] });
        if offer["needs_choice"] == true
            && let Some(item) = self.doubtful(chat)
        {
            one["choice"] = json!(self.choice(&item));
        }
        self.write("POST", "/offers/resume", &json!({ "chats": [one] })).ok();
    }

    /// What a person who can look at the agent says of a message in doubt.
    fn choice(&self, item: &Value) -> &'static str {
        let text = item["text"].as_str().unwrap_or_default();
        let seen = self.place.evidence().prompts().iter().any(|prompt| prompt.starts_with(text));
        if item["delivery"]["state"] == "unknown" && seen { "arrived" } else { "send_again" }
    }

    /// Tells the host to stop, agents too, and waits for its end, however it ends.
    #[track_caller]
    pub fn stop(&mut self) {
        self.host();
        if let Some(host) = self.host.take() {
            self.ends.push(host.stop());
        }
    }
}

/// Whether nothing goes on in a chat and nothing waits.
pub fn is_idle(row: &Value) -> bool {
    row["status"]["shown"] == "idle" && row["queue_length"] == 0
}
