//! Items of threads: what they begin as, what they are at their end.

use holdfast_core::item::{Body, CallState, Field, ItemKind, Role};
use holdfast_core::provider::{ProviderEvent, TaskEnd};
use serde_json::value::RawValue;

use super::calls::At;
use super::subagents::Within;
use super::texts::{Key, Voice};
use super::{Line, State, view, wire};
use crate::ordinals::{digest, digest_within};

/// When an item is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// It begins.
    Started,
    /// It is whole.
    Completed,
}

impl State {
    pub(super) fn item(
        &mut self,
        line: Line<'_>,
        moment: Moment,
        params: Option<&RawValue>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let told: wire::ItemTold<'_> = wire::read(params).unwrap_or_default();
        let item: wire::Item<'_> = wire::read(told.item).unwrap_or_default();
        let (Some(id), Some(kind)) = (item.id.as_deref(), item.kind.as_deref()) else {
            return self.unrecognised("item_without_id", line.0, out);
        };
        let thread = told.thread.as_deref().unwrap_or(&self.thread).to_owned();
        let key = Key { thread: digest(thread.as_bytes()), item: digest_within(&thread, id) };
        let turn = told.turn.as_deref().unwrap_or_default();
        let at = At { thread: key.thread, turn: digest(turn.as_bytes()) };
        let own = thread == self.thread;
        let ended = moment == Moment::Completed;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        match kind {
            "userMessage" => {
                // What the agent was saying is cut short by it, and will not be told whole.
                self.texts.close(key.thread, out);
                if ended && own {
                    self.user_message(&item, told.turn.as_deref(), out);
                }
            }
            call if view::CALLS.contains(&call) => self.call(&item, (key, at), ended, out),
            "agentMessage" | "plan" if ended => {
                self.whole((key, Voice::Message), &text(&item.text), out);
            }
            "enteredReviewMode" | "exitedReviewMode" if ended => {
                self.whole((key, Voice::Message), &text(&item.review), out);
            }
            "reasoning" if ended => {
                let parts = |list: Option<&wire::List<'_>>| {
                    let parts = list.map(|list| list.each().collect::<Vec<String>>());
                    parts.unwrap_or_default().join("\n\n")
                };
                let summary = parts(item.summary.as_ref());
                let whole = if summary.is_empty() { parts(item.content.as_ref()) } else { summary };
                self.whole((key, Voice::Thinking), &whole, out);
            }
            "contextCompaction" if ended && own => {
                self.tell((ItemKind::Compaction, Role::Agent), Body::Text, "", out);
            }
            "agentMessage" | "plan" | "reasoning" | "contextCompaction" | "enteredReviewMode"
            | "exitedReviewMode" => {}
            _ if ended => self.unrecognised("unknown_item", line.0, out),
            _ => {}
        }
    }

    fn whole(&mut self, (key, voice): (Key, Voice), text: &str, out: &mut Vec<ProviderEvent>) {
        if let Some(body) = self.within(key.thread).text() {
            self.texts.whole((key, voice), body, text, &mut self.ordinals, out);
        }
    }

    /// An item that is whole at once.
    pub(super) fn tell(
        &mut self,
        (kind, role): (ItemKind, Role),
        body: Body,
        text: &str,
        out: &mut Vec<ProviderEvent>,
    ) {
        let item = self.ordinals.item();
        out.push(ProviderEvent::ItemOpened { item, kind, role, body });
        if !text.is_empty() {
            let (field, text) = (Field::Text, text.to_owned());
            out.push(ProviderEvent::ItemText { item, field, at: 0, text });
        }
        out.push(ProviderEvent::ItemClosed { item });
    }

    /// A user's message in the chat's own thread: ours, which is shown already, or one that somebody
    /// else gave to the agent.
    fn user_message(
        &mut self,
        item: &wire::Item<'_>,
        turn: Option<&str>,
        out: &mut Vec<ProviderEvent>,
    ) {
        if self.message_told(item.client.as_deref(), turn, out) {
            return;
        }
        let pieces = item.content.as_ref().into_iter().flat_map(|list| list.each::<wire::Input>());
        let texts: Vec<String> = pieces
            .map(|piece| match piece.kind.as_deref() {
                Some("text") | None => piece.text.unwrap_or_default(),
                Some(other) => format!("[{}]", crate::ordinals::head(other, 64)),
            })
            .collect();
        self.tell((ItemKind::Message, Role::User), Body::Text, &texts.join("\n"), out);
    }

    fn call(
        &mut self,
        item: &wire::Item<'_>,
        (key, at): (Key, At),
        ended: bool,
        out: &mut Vec<ProviderEvent>,
    ) {
        // That a subagent was spoken to, or has ended, is told beside the call that does it.
        let beside = item.agent.is_some() && item.activity.as_deref() != Some("started");
        let within = match self.within(key.thread) {
            Within::Own => Some(None),
            Within::Call(call) => Some(Some(call)),
            Within::Unknown => None,
        };
        let Some(within) = within.filter(|_| !beside) else {
            return self.subagents_told(item, None, out);
        };
        let told = view::call(item, ended);
        let how = match told.state {
            CallState::Completed => TaskEnd::Completed,
            CallState::Failed if told.was_ended => TaskEnd::Stopped,
            CallState::Running | CallState::Failed | CallState::Unknown => TaskEnd::Failed,
        };
        let command = told.is_command && ended;
        let call = self.calls.upsert((key.item, at, within), told, &mut self.ordinals, out);
        self.subagents_told(item, call, out);
        if command {
            self.command_ended(key.item, how, out);
        }
    }
}
