//! Waiting for the end of a turn, and its answer. What counts is what is read; the event stream only
//! says when it is worth to read again.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::Scene;
use super::answer::questions;
use super::transcript::whole;
use crate::clock::Deadline;
use crate::events::Events;
use crate::fault::{Exit, Fault};
use crate::rows::{list, word};
use crate::text::line;

/// Items of one page.
const PAGE_ITEMS: usize = 200;
/// Time between two looks, whether or not anything is told.
const LOOK: Duration = Duration::from_secs(10);
/// Time between two looks while no host tells of changes.
const LOOK_UNTOLD: Duration = Duration::from_millis(300);

/// Waits for the turn of a message and prints what the agent answered in it; `accepted` is what the
/// host said when it took the message.
pub(super) fn answer(
    scene: &Scene<'_>,
    chat: &str,
    receipt: &str,
    accepted: &Value,
) -> Result<(), Fault> {
    let mut told = Told::default();
    let mut changes = Changes::of(scene, chat);
    let deadline = Deadline::after(scene.client.timeout());
    let End { turn, state: end, text } = loop {
        match look(scene, chat, receipt, &mut told) {
            Ok(Some(end)) => break end,
            Ok(None) => {}
            // The host may be on its way back, the message is with it.
            Err(fault) if fault.passes() => {
                changes.lost();
                told.once(scene, "gone", "The host does not answer; waiting until one does.");
            }
            Err(fault) => return Err(fault),
        }
        if !changes.wait(scene, chat, deadline) {
            let text = "The turn has not ended yet; the message is with the host, and safe.";
            return Err(Fault::new(Exit::TimedOut, "timed_out", text)
                .advice(format!("holdfast chat tail -f {chat} shows how it goes on.")));
        }
    };
    if scene.out.is_json() {
        let message = accepted["message"].clone();
        scene.out.json(&json!({
            "chat": chat, "receipt": receipt, "message": message, "turn": turn, "state": end,
            "answer": text,
        }))?;
    } else {
        scene.out.exact(&text)?;
        scene.seen(chat);
    }
    let failed = |text: &str, exit| Err(Fault::new(exit, &format!("turn_{end}"), text));
    match end.as_str() {
        "completed" => Ok(()),
        "interrupted" => failed("The turn was interrupted.", Exit::Failed),
        "lost" => failed("The agent ended before its turn did.", Exit::AgentFailed),
        _ => failed("The turn failed.", Exit::AgentFailed),
    }
}

/// What a person was told once already.
#[derive(Default)]
struct Told(HashSet<String>);

impl Told {
    fn once(&mut self, scene: &Scene<'_>, what: &str, words: &str) {
        if self.0.insert(what.to_owned()) {
            scene.out.note(words);
        }
    }
}

/// How a turn ended.
struct End {
    turn: String,
    state: String,
    /// What the agent said in it.
    text: String,
}

/// How far the message is: the end of its turn, or nothing yet.
fn look(
    scene: &Scene<'_>,
    chat: &str,
    receipt: &str,
    told: &mut Told,
) -> Result<Option<End>, Fault> {
    let now = scene.client.get(&format!("/receipts/{receipt}"))?;
    let failed = |text: String| Fault::new(Exit::AgentFailed, word(&now, "state"), text);
    let message = word(&now, "message");
    match word(&now, "state") {
        "refused" => {
            let why = line(word(&now["refused"], "text"));
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            let text = format!("The agent did not take the message{why}.");
            let advice = format!("holdfast chat resolve {chat} {message} send-again, or discard");
            return Err(failed(text).advice(advice));
        }
        "unknown" if now["asking"] != true => {
            let text = "The agent ended, and nobody knows whether it has the message.".to_owned();
            let advice =
                format!("holdfast chat resolve {chat} {message} arrived, send-again or discard");
            return Err(failed(text).advice(advice));
        }
        "withdrawn" => {
            let text = "The message was taken back before the agent got it.";
            return Err(Fault::new(Exit::Refused, "withdrawn", text));
        }
        _ => {}
    }
    if let Some(turn) = now["turn"].as_str()
        && let Some(state) = end_of(scene, chat, turn)?
    {
        let text = said(scene, chat, turn)?;
        return Ok(Some(End { turn: turn.to_owned(), state, text }));
    }
    beside(scene, chat, word(&now, "state"), told)?;
    Ok(None)
}

/// How a turn ended, if it has.
fn end_of(scene: &Scene<'_>, chat: &str, turn: &str) -> Result<Option<String>, Fault> {
    let mut before = String::new();
    loop {
        let page = scene.client.get(&format!("/chats/{chat}/turns?limit={PAGE_ITEMS}{before}"))?;
        if let Some(found) = list(&page, "items").iter().find(|one| word(one, "id") == turn) {
            let state = word(found, "state");
            return Ok((state != "running").then(|| state.to_owned()));
        }
        match page["next"].as_u64() {
            Some(next) => before = format!("&before={next}"),
            None => return Ok(None),
        }
    }
}

/// What keeps the turn from going on, told once; an agent that cannot be started is the end of it.
fn beside(scene: &Scene<'_>, chat: &str, state: &str, told: &mut Told) -> Result<(), Fault> {
    let row = scene.client.get(&format!("/chats/{chat}"))?;
    if let Some(code) = row["failure"].as_str()
        && state == "queued"
    {
        let offers = scene.client.get("/offers")?;
        let why = list(&offers, "failures").iter().find(|one| word(one, "chat") == chat);
        let why = why.map_or_else(|| line(code), |why| line(word(why, "text")));
        let text = format!("The agent could not be started: {why}");
        return Err(Fault::new(Exit::AgentFailed, &line(code), text)
            .advice("The message waits. holdfast offers shows what can be done."));
    }
    if state == "queued" && row["queue_paused"] == true {
        let words = format!("The queue is held; holdfast chat queue {chat} resume lets it run.");
        told.once(scene, "held", &words);
    }
    if !list(&row["activity"], "prompts").is_empty() {
        let items = scene.client.get(&format!("/chats/{chat}/items?limit={PAGE_ITEMS}"))?;
        for question in questions(list(&items, "items")) {
            told.once(scene, question.id(), &question.words(chat));
        }
    }
    Ok(())
}

/// What the agent said in a turn, its messages one after the other.
fn said(scene: &Scene<'_>, chat: &str, turn: &str) -> Result<String, Fault> {
    let mut texts: Vec<String> = Vec::new();
    let mut before = String::new();
    loop {
        let page = scene.client.get(&format!("/chats/{chat}/items?limit={PAGE_ITEMS}{before}"))?;
        let items = list(&page, "items");
        for item in items.iter().rev().filter(|item| word(item, "turn") == turn) {
            if word(item, "kind") == "message" && word(item, "role") == "agent" {
                texts.push(whole(&scene.client, item)?);
            }
        }
        // The message that opened the turn is the first of it.
        let begun =
            items.iter().any(|item| word(item, "turn") == turn && word(item, "role") == "user");
        match page["next"].as_u64() {
            Some(next) if !begun => before = format!("&before={next}"),
            _ => break,
        }
    }
    texts.reverse();
    let mut all = String::new();
    for text in texts {
        if !all.is_empty() && !all.ends_with('\n') {
            all.push('\n');
        }
        all.push_str(&text);
    }
    Ok(all)
}

/// The event stream, as a reason to look.
pub(super) struct Changes {
    events: Option<Events>,
}

impl Changes {
    /// Listens before the first look: what changes after it is told.
    pub(super) fn of(scene: &Scene<'_>, chat: &str) -> Self {
        Self { events: scene.client.events(chat, None).ok() }
    }

    /// The stream is of a host that is gone.
    pub(super) fn lost(&mut self) {
        self.events = None;
    }

    fn connect(&mut self, scene: &Scene<'_>, chat: &str) {
        self.events = scene.client.events(chat, None).ok();
    }

    /// Waits until something may have changed; false when the caller waits no longer.
    pub(super) fn wait(&mut self, scene: &Scene<'_>, chat: &str, deadline: Deadline) -> bool {
        if self.events.is_none() {
            let Some(pause) = deadline.left(LOOK_UNTOLD) else { return false };
            scene.client.pause(pause);
            self.connect(scene, chat);
            return true;
        }
        let Some(most) = deadline.left(LOOK) else { return false };
        let Some(events) = &mut self.events else { return true };
        let next = scene.client.run(async { tokio::time::timeout(most, events.next()).await });
        if matches!(next, Ok(Err(_))) {
            self.events = None;
        }
        true
    }
}
