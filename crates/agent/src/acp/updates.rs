//! What the agent tells: `session/update` and the other notifications.

use holdfast_core::item::{Body, ItemKind, PlanEntry, Role};
use holdfast_core::limits::{TITLE_CHARS_MAX, cut, label};
use holdfast_core::provider::{ProviderEvent, TaskEnd, TaskKind};
use holdfast_core::slash::SlashCommand;
use serde_json::value::RawValue;

use super::calls::{Known, Owner};
use super::content::{shown, written};
use super::prompts::Word;
use super::texts::Voice;
use super::turns::Says;
use super::{Line, State, wire};
use crate::ordinals::{digest, digest_within};
use crate::tasks::Stop;

/// Entries of a plan that are kept.
const PLAN_ENTRIES_MAX: usize = 200;
/// Characters of an agent's word for the state of a plan's entry.
const PLAN_STATE_CHARS_MAX: usize = 32;

/// Updates that say nothing that this codec keeps: menus, choices and counters.
const QUIET_UPDATES: &[&str] =
    &[COMMANDS, "config_option_update", "current_mode_update", "usage_update"];
/// The update that tells what can be written after a slash.
const COMMANDS: &str = "available_commands_update";
/// Notifications of vendors that say nothing that this codec keeps. codex-acp tells which account
/// it uses.
const QUIET_NOTIFICATIONS: &[&str] = &["_auth/status_update", "elicitation/complete"];

impl State {
    pub(super) fn notification(
        &mut self,
        line: Line<'_>,
        method: &str,
        params: Option<&RawValue>,
        out: &mut Vec<ProviderEvent>,
    ) {
        match method {
            "session/update" => self.update(line, params, out),
            "$/cancel_request" => self.cancel_request(params, out),
            "_holdfast/task" => self.task(line, params, out),
            quiet if QUIET_NOTIFICATIONS.contains(&quiet) => {}
            _ => self.unrecognised("unknown_notification", line.0, out),
        }
    }

    fn update(&mut self, line: Line<'_>, params: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
        let told: wire::UpdateParams<'_> = wire::read(params).unwrap_or_default();
        let tag: wire::UpdateTag = wire::read(told.update).unwrap_or_default();
        let Some(kind) = tag.kind else {
            return self.unrecognised("unknown_update", line.0, out);
        };
        if !self.stands() {
            // Some agents tell it before they say that a session is back.
            if kind == COMMANDS {
                commands(told.update, out);
            }
            return self.history(&kind, told.update);
        }
        match told.session.as_deref() {
            Some(session) if session != self.session => {
                self.foreign_update(session, &kind, told.update, out);
            }
            Some(_) | None => self.own_update(line, &kind, told.update, out),
        }
    }

    /// Before the session stands what is told is history: only what the user said is looked at.
    fn history(&mut self, kind: &str, update: Option<&RawValue>) {
        let Some(replay) = self.replay() else { return };
        if kind == "user_message_chunk" {
            let (id, text) = said(update);
            replay.piece(id, text);
        } else if !QUIET_UPDATES.contains(&kind) {
            replay.other();
        }
    }

    fn own_update(
        &mut self,
        line: Line<'_>,
        kind: &str,
        update: Option<&RawValue>,
        out: &mut Vec<ProviderEvent>,
    ) {
        match kind {
            "agent_message_chunk" => self.chunk(Voice::Message, update, out),
            "agent_thought_chunk" => self.chunk(Voice::Thinking, update, out),
            // Our own words, given back. Some agents do that; it proves nothing here.
            "user_message_chunk" => self.texts.interrupted(out),
            "tool_call" | "tool_call_update" => self.call(line, kind, update, out),
            "plan" => self.plan(update, out),
            "session_info_update" => {
                let told: wire::SessionInfo = wire::read(update).unwrap_or_default();
                let title = told.title.map(|title| cut(&title, TITLE_CHARS_MAX));
                if let Some(title) = title.filter(|title| !title.is_empty()) {
                    out.push(ProviderEvent::Titled { title });
                }
            }
            "subagent_update" => self.subagent(update, out),
            COMMANDS => commands(update, out),
            quiet if QUIET_UPDATES.contains(&quiet) => {}
            _ => self.unrecognised("unknown_update", line.0, out),
        }
    }

    fn chunk(&mut self, voice: Voice, update: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
        let (id, text) = chunk(update);
        self.says(Says::Anew, Word { foreign: None, known_call: None }, out);
        self.texts.add(voice, id, text, &mut self.ordinals, out);
    }

    fn call(
        &mut self,
        line: Line<'_>,
        kind: &str,
        update: Option<&RawValue>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let told: wire::Call<'_> = wire::read(update).unwrap_or_default();
        let Some(id) = told.id.as_deref().map(|id| digest(id.as_bytes())) else {
            return self.unrecognised("call_without_id", line.0, out);
        };
        let (says, known_call) = match (self.calls.known(id), kind) {
            (Known::Yes, _) => (Says::Again, Some(id)),
            (Known::No, "tool_call") => (Says::Anew, None),
            (Known::No, _) => (Says::Unplaced, Some(id)),
        };
        self.says(says, Word { foreign: None, known_call }, out);
        self.texts.interrupted(out);
        self.calls.upsert(id, Owner::Own, &told, &mut self.ordinals, out);
    }

    fn plan(&mut self, update: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
        let told: wire::Plan<'_> = wire::read(update).unwrap_or_default();
        let entries = told.entries.unwrap_or_default();
        let entries = entries.each::<wire::PlanEntry>().take(PLAN_ENTRIES_MAX);
        let entries = entries.map(|entry| PlanEntry {
            text: label(entry.content.as_deref().unwrap_or_default()),
            state: cut(entry.status.as_deref().unwrap_or("pending"), PLAN_STATE_CHARS_MAX),
        });
        let body = Body::Plan { entries: entries.collect() };
        self.says(Says::Anew, Word { foreign: None, known_call: None }, out);
        self.texts.interrupted(out);
        match self.plan {
            Some(item) => out.push(ProviderEvent::ItemChanged { item, body }),
            None => {
                let item = self.ordinals.item();
                self.plan = Some(item);
                let (kind, role) = (ItemKind::Plan, Role::Agent);
                out.push(ProviderEvent::ItemOpened { item, kind, role, body });
            }
        }
    }

    /// The words of a subagent are not shown; what becomes of a call that it asked leave for is.
    fn foreign_update(
        &mut self,
        session: &str,
        kind: &str,
        update: Option<&RawValue>,
        out: &mut Vec<ProviderEvent>,
    ) {
        if QUIET_UPDATES.contains(&kind) || kind == "session_info_update" {
            return;
        }
        let told: wire::Call<'_> = wire::read(update).unwrap_or_default();
        let id = told.id.as_deref().map(|id| digest_within(session, id));
        let id = id.filter(|id| self.calls.holds(*id));
        let word = Word { foreign: Some(digest(session.as_bytes())), known_call: id };
        self.prompts.heard(word, out);
        if let Some(id) = id {
            self.calls.upsert(id, Owner::Foreign, &told, &mut self.ordinals, out);
        }
    }

    /// codex-acp: a subagent with a session of its own begins, works or rests.
    fn subagent(&mut self, update: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
        let told: wire::Subagent<'_> = wire::read(update).unwrap_or_default();
        let Some(id) = told.session else { return };
        let state = told.state.unwrap_or_default();
        let word = wire::text(state.state);
        let description = told.description.as_deref();
        match (word.as_deref(), description) {
            (Some("idle"), _) => {
                let how = match wire::text(state.reason).as_deref() {
                    Some("cancelled") => TaskEnd::Stopped,
                    Some("refusal") => TaskEnd::Failed,
                    Some(_) | None => TaskEnd::Completed,
                };
                self.tasks.ended(&id, how, out);
            }
            (Some(_), _) | (None, Some(_)) => {
                let described = (TaskKind::Agent, description.unwrap_or("subagent"), false);
                self.tasks.runs(&id, Stop::No, described, &mut self.ordinals, out);
            }
            (None, None) => {}
        }
    }

    fn task(&mut self, line: Line<'_>, params: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
        let told: wire::Task = wire::read(params).unwrap_or_default();
        let (Some(id), Some(state)) = (told.task, told.state) else {
            return self.unrecognised("incomplete_task", line.0, out);
        };
        let how = match state.as_str() {
            "running" => {
                let label = told.label.as_deref().unwrap_or_default();
                let foreground = told.foreground.unwrap_or(false);
                let described = (task_kind(told.kind.as_deref()), label, foreground);
                self.tasks.runs(&id, Stop::ById, described, &mut self.ordinals, out);
                return;
            }
            "completed" => TaskEnd::Completed,
            "failed" => TaskEnd::Failed,
            "stopped" => TaskEnd::Stopped,
            _ => return self.unrecognised("unknown_task_state", line.0, out),
        };
        self.tasks.ended(&id, how, out);
    }
}

/// What can be written after a slash. An update without a list says nothing.
fn commands(update: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
    let told: wire::Commands<'_> = wire::read(update).unwrap_or_default();
    let Some(list) = told.commands else { return };
    let each = list.each::<wire::Command>().filter_map(|told| {
        let hint = told.input.and_then(|input| input.hint);
        let (name, description) = (told.name?, told.description.unwrap_or_default());
        SlashCommand::told(&name, &description, &hint.unwrap_or_default())
    });
    out.push(ProviderEvent::CommandsTold { commands: SlashCommand::distinct(each) });
}

/// The kind that `_holdfast/task` names.
fn task_kind(word: Option<&str>) -> TaskKind {
    match word {
        Some("agent") => TaskKind::Agent,
        Some("workflow") => TaskKind::Workflow,
        Some("command") => TaskKind::Command,
        Some("monitor") => TaskKind::Monitor,
        Some(_) | None => TaskKind::Unknown,
    }
}

/// The digest of a chunk's message id, and the text that the user wrote in it: what was attached to
/// it is no part of that.
fn said(update: Option<&RawValue>) -> (Option<u64>, String) {
    let told: wire::Chunk<'_> = wire::read(update).unwrap_or_default();
    (told.message.as_deref().map(|id| digest(id.as_bytes())), written(told.content))
}

/// The digest of a chunk's message id, and what is shown of it.
fn chunk(update: Option<&RawValue>) -> (Option<u64>, String) {
    let told: wire::Chunk<'_> = wire::read(update).unwrap_or_default();
    (told.message.as_deref().map(|id| digest(id.as_bytes())), shown(told.content))
}
