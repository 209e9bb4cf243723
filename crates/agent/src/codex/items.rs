//! Items of threads: what they begin as, what they are at their end.

use holdfast_core::item::{Body, CallState, ItemKind, Role};
use holdfast_core::provider::{ProviderEvent, TaskEnd};
use serde_json::value::RawValue;

use super::calls::At;
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
        match kind {
            "userMessage" => {
                // What the agent was saying is cut short by it, and will not be told whole.
                self.texts.close(key.thread, out);
                if ended && own {
                    self.user_message(&item, told.turn.as_deref(), out);
                }
            }
            call if view::CALLS.contains(&call) => self.call(&item, (key, at), own, ended, out),
            "agentMessage" | "plan" if own && ended => {
                let text = item.text.as_deref().unwrap_or_default();
                self.whole((key, Voice::Message), text, out);
            }
            "enteredReviewMode" | "exitedReviewMode" if own && ended => {
                let text = item.review.as_deref().unwrap_or_default();
                self.whole((key, Voice::Message), text, out);
            }
            "reasoning" if own && ended => {
                let parts = |list: Option<&wire::List<'_>>| {
                    let parts = list.map(|list| list.each().collect::<Vec<String>>());
                    parts.unwrap_or_default().join("\n\n")
                };
                let summary = parts(item.summary.as_ref());
                let whole = if summary.is_empty() { parts(item.content.as_ref()) } else { summary };
                self.whole((key, Voice::Thinking), &whole, out);
            }
            "contextCompaction" if own && ended => {
                let (item, kind) = (self.ordinals.item(), ItemKind::Compaction);
                let (role, body) = (Role::Agent, Body::Text);
                out.push(ProviderEvent::ItemOpened { item, kind, role, body });
                out.push(ProviderEvent::ItemClosed { item });
            }
            "agentMessage" | "plan" | "reasoning" | "contextCompaction" | "enteredReviewMode"
            | "exitedReviewMode" => {}
            _ if ended => self.unrecognised("unknown_item", line.0, out),
            _ => {}
        }
    }

    fn whole(&mut self, (key, voice): (Key, Voice), text: &str, out: &mut Vec<ProviderEvent>) {
        self.texts.whole((key, voice), Body::Text, text, &mut self.ordinals, out);
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
        let (item, kind) = (self.ordinals.item(), ItemKind::Message);
        out.push(ProviderEvent::ItemOpened { item, kind, role: Role::User, body: Body::Text });
        let text = texts.join("\n");
        if !text.is_empty() {
            let field = holdfast_core::item::Field::Text;
            out.push(ProviderEvent::ItemText { item, field, at: 0, text });
        }
        out.push(ProviderEvent::ItemClosed { item });
    }

    fn call(
        &mut self,
        item: &wire::Item<'_>,
        (key, at): (Key, At),
        own: bool,
        ended: bool,
        out: &mut Vec<ProviderEvent>,
    ) {
        self.subagents_told(item, out);
        // That a subagent was spoken to, or has ended, is told beside the call that does it.
        let activity = item.activity.as_deref();
        let beside = item.agent.is_some() && activity != Some("started");
        if beside || !own {
            return;
        }
        let told = view::call(item, ended);
        let how = match told.state {
            CallState::Completed => TaskEnd::Completed,
            CallState::Failed if told.was_ended => TaskEnd::Stopped,
            CallState::Running | CallState::Failed | CallState::Unknown => TaskEnd::Failed,
        };
        let command = told.is_command && ended;
        let _ = self.calls.upsert((key.item, at, None), told, &mut self.ordinals, out);
        if command {
            self.command_ended(key.item, how, out);
        }
    }
}
