//! What the agent tells beside items.

use holdfast_core::item::{Body, Field, ItemKind, Notice, PlanEntry, Role};
use holdfast_core::limits::{TITLE_CHARS_MAX, cut, label};
use holdfast_core::provider::{ProviderEvent, TaskEnd, TurnEnd};
use serde_json::json;
use serde_json::value::RawValue;

use super::calls::At;
use super::items::Moment;
use super::mode::Settings;
use super::subagents::Within;
use super::texts::{Key, Voice};
use super::turns::said;
use super::{Line, State, wire};
use crate::ordinals::{digest, digest_within, head};

/// Steps of a plan that are kept.
const PLAN_STEPS_MAX: usize = 200;
/// Bytes of a remark of the agent's.
const REMARK_BYTES_MAX: usize = 8 * 1024;
/// Characters of the agent's word for the state of a step.
const STEP_STATE_CHARS_MAX: usize = 32;

/// Families of notifications that say nothing that this codec keeps: accounts, menus, files, hooks,
/// counters, and what only a client that asked for it is told.
const QUIET: &[&str] = &[
    "account/",
    "app/",
    "autoApprovalReview/",
    "command/exec/",
    "configWarning",
    "deprecationNotice",
    "externalAgentConfig/",
    "fs/",
    "fuzzyFileSearch/",
    "hook/",
    "item/autoApprovalReview/",
    "item/fileChange/outputDelta",
    "item/fileChange/patchUpdated",
    "item/mcpToolCall/progress",
    "item/reasoning/summaryPartAdded",
    "mcpServer/",
    "model/",
    "modelProvider/",
    "process/",
    "project/",
    "rawResponse",
    "remoteControl/",
    "skills/",
    "thread/archived",
    "thread/attachment/",
    "thread/compacted",
    "thread/environment/",
    "thread/prediction/",
    "thread/project/",
    "thread/queue/",
    "thread/readState/",
    "thread/realtime/",
    "thread/reverted",
    "thread/search/",
    "thread/section/",
    "thread/started",
    "thread/unarchived",
    "turn/diff/",
    "turn/moderationMetadata",
    "windows/",
    "windowsSandbox/",
];

impl State {
    pub(super) fn notification(
        &mut self,
        line: Line<'_>,
        method: &str,
        params: Option<&RawValue>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let quiet = QUIET.iter().any(|family| method.starts_with(family));
        if self.thread.is_empty() {
            // What is told before belongs to no thread of this chat.
            return;
        }
        match method {
            "item/started" => self.item(line, Moment::Started, params, out),
            "item/completed" => self.item(line, Moment::Completed, params, out),
            "item/agentMessage/delta" | "item/plan/delta" => {
                self.delta(Voice::Message, params, out);
            }
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                self.delta(Voice::Thinking, params, out);
            }
            "item/commandExecution/outputDelta" => {
                let told: wire::Delta<'_> = wire::read(params).unwrap_or_default();
                let (thread, item) = (told.thread.unwrap_or_default(), told.item);
                let id = digest_within(&thread, item.as_deref().unwrap_or_default());
                self.calls.output(id, told.delta.unwrap_or_default(), out);
            }
            "item/commandExecution/terminalInteraction" => self.typed(params, out),
            "turn/started" => self.turn(params, TurnAt::Start, out),
            "turn/completed" => self.turn(params, TurnAt::End, out),
            "turn/plan/updated" => self.plan(params, out),
            "thread/status/changed" => self.status(params, out),
            "thread/closed" | "thread/deleted" => {
                let told: wire::Place = wire::read(params).unwrap_or_default();
                if let Some(thread) = told.thread.filter(|thread| *thread != self.thread) {
                    self.subagent_rests(&thread, TaskEnd::Stopped, out);
                }
            }
            "thread/tokenUsage/updated" => {
                let told: wire::UsageTold<'_> = wire::read(params).unwrap_or_default();
                let own = self.is_own(told.thread.as_deref());
                if let Some(usage) = told.usage.filter(|_| own) {
                    self.turns.used(&usage);
                }
            }
            "thread/name/updated" => {
                let told: wire::NameTold = wire::read(params).unwrap_or_default();
                let own = self.is_own(told.thread.as_deref());
                let title = told.name.map(|name| cut(&name, TITLE_CHARS_MAX));
                if let Some(title) = title.filter(|title| own && !title.is_empty()) {
                    out.push(ProviderEvent::Titled { title });
                }
            }
            "thread/settings/updated" => {
                let told: wire::SettingsTold = wire::read(params).unwrap_or_default();
                let own = self.is_own(told.thread.as_deref());
                if let Some(settings) = told.settings.filter(|_| own) {
                    let settings = Settings::of(&settings);
                    if let Some(effort) = settings.effort.clone() {
                        out.push(ProviderEvent::EffortTold { effort });
                    }
                    self.settings = settings;
                    let (model, mode) = (self.settings.model.clone(), self.settings.mode());
                    out.push(ProviderEvent::Retuned { model, mode });
                }
            }
            "thread/goal/updated" | "thread/goal/cleared" => {
                let told: wire::GoalTold = wire::read(params).unwrap_or_default();
                if self.is_own(told.thread.as_deref()) {
                    self.goal(told.goal.as_ref(), out);
                }
            }
            "serverRequest/resolved" => {
                let told: wire::Resolved<'_> = wire::read(params).unwrap_or_default();
                if let Some(request) = told.request {
                    self.prompts.resolved(request.get(), out);
                }
            }
            "error" => self.error(params, out),
            "warning" | "guardianWarning" => self.remark(params, out),
            _ if quiet => {}
            _ => self.unrecognised("unknown_notification", line.0, out),
        }
    }

    fn is_own(&self, thread: Option<&str>) -> bool {
        thread.is_none_or(|thread| thread == self.thread)
    }

    fn delta(&mut self, voice: Voice, params: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
        let told: wire::Delta<'_> = wire::read(params).unwrap_or_default();
        let thread = told.thread.as_deref().unwrap_or(&self.thread);
        let id = digest_within(thread, told.item.as_deref().unwrap_or_default());
        let key = Key { thread: digest(thread.as_bytes()), item: id };
        let Some(body) = self.within(key.thread).text() else { return };
        let part = wire::count(told.summary.or(told.content));
        let piece = told.delta.unwrap_or_default();
        self.texts.add((key, voice), body, part, piece, &mut self.ordinals, out);
    }

    /// The model typed something into a terminal.
    fn typed(&mut self, params: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
        let told: wire::Typed = wire::read(params).unwrap_or_default();
        let Some(stdin) = told.stdin.filter(|stdin| !stdin.is_empty()) else { return };
        let thread = told.thread.unwrap_or_default();
        let id = digest_within(&thread, told.item.as_deref().unwrap_or_default());
        self.calls.input(id, &json!({ "stdin": stdin }).to_string(), out);
    }

    fn turn(&mut self, params: Option<&RawValue>, at: TurnAt, out: &mut Vec<ProviderEvent>) {
        let told: wire::TurnTold = wire::read(params).unwrap_or_default();
        let turn = told.turn.unwrap_or_default();
        match (told.thread.filter(|thread| *thread != self.thread), at) {
            (None, TurnAt::Start) => {
                if let Some(id) = turn.id {
                    self.turn_started(id, out);
                }
            }
            (None, TurnAt::End) => self.turn_completed(turn, out),
            (Some(thread), TurnAt::Start) => self.subagent_runs(&thread, turn.id, out),
            (Some(thread), TurnAt::End) => {
                let (how, task) = match turn.status.as_deref() {
                    Some("failed") => (TurnEnd::Failed, TaskEnd::Failed),
                    Some("interrupted") => (TurnEnd::Interrupted, TaskEnd::Stopped),
                    Some(_) | None => (TurnEnd::Completed, TaskEnd::Completed),
                };
                let turn = turn.id.unwrap_or_default();
                let (thread_key, turn) = (digest(thread.as_bytes()), digest(turn.as_bytes()));
                self.thread_rests(At { thread: thread_key, turn }, how, out);
                self.subagent_rests(&thread, task, out);
            }
        }
    }

    fn plan(&mut self, params: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
        let told: wire::PlanTold<'_> = wire::read(params).unwrap_or_default();
        if !self.is_own(told.thread.as_deref()) {
            return;
        }
        let steps = told.plan.unwrap_or_default();
        let entries = steps.each::<wire::Step>().take(PLAN_STEPS_MAX).map(|step| PlanEntry {
            text: label(step.step.as_deref().unwrap_or_default()),
            state: match step.status.as_deref() {
                Some("inProgress") => "in_progress".to_owned(),
                Some(other) => cut(other, STEP_STATE_CHARS_MAX),
                None => "pending".to_owned(),
            },
        });
        let body = Body::Plan { entries: entries.collect() };
        if let Some(item) = self.plan {
            out.push(ProviderEvent::ItemChanged { item, body });
            return;
        }
        let item = self.ordinals.item();
        self.plan = Some(item);
        let (kind, role) = (ItemKind::Plan, Role::Agent);
        out.push(ProviderEvent::ItemOpened { item, kind, role, body });
    }

    /// The state of a thread says nothing that its turns do not say, but that a subagent's is gone.
    fn status(&mut self, params: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
        let told: wire::StatusTold = wire::read(params).unwrap_or_default();
        let Some(thread) = told.thread.filter(|thread| *thread != self.thread) else { return };
        match told.status.and_then(|status| status.kind).as_deref() {
            Some("notLoaded") => self.subagent_rests(&thread, TaskEnd::Stopped, out),
            Some("systemError") => self.subagent_rests(&thread, TaskEnd::Failed, out),
            Some(_) | None => {}
        }
    }

    /// A request to the model failed. Where the agent tries again, what it was saying is cut short;
    /// where it does not, the end of the turn says why.
    fn error(&mut self, params: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
        let told: wire::ErrorTold = wire::read(params).unwrap_or_default();
        let thread = digest(told.thread.as_deref().unwrap_or(&self.thread).as_bytes());
        self.texts.close(thread, out);
        let (Some(true), Within::Own) = (told.retries, self.within(thread)) else { return };
        let error = told.error.unwrap_or_default();
        let (attempt, of) = tries(error.message.as_deref().unwrap_or_default());
        let body = Body::Notice(Notice::Retrying { attempt, of });
        if let Some(item) = self.retrying {
            out.push(ProviderEvent::ItemChanged { item, body });
            return;
        }
        let item = self.ordinals.item();
        self.retrying = Some(item);
        let (kind, role) = (ItemKind::Notice, Role::Agent);
        out.push(ProviderEvent::ItemOpened { item, kind, role, body });
        let text = said(&error);
        out.push(ProviderEvent::ItemText { item, field: Field::Text, at: 0, text });
    }

    /// A line that the program itself has for the person.
    fn remark(&mut self, params: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
        let told: wire::Remark = wire::read(params).unwrap_or_default();
        let own = self.is_own(told.thread.as_deref());
        if let Some(text) = told.message.filter(|text| own && !text.trim().is_empty()) {
            let body = Body::Notice(Notice::AgentSays);
            let text = head(&text, REMARK_BYTES_MAX);
            self.tell((ItemKind::Notice, Role::Agent), body, text, out);
        }
    }
}

/// Which try this is, and how many there are, in `Reconnecting... 1/5`.
fn tries(message: &str) -> (u32, u32) {
    let last = message.rsplit(' ').next().and_then(|last| last.split_once('/'));
    let numbers = last.and_then(|(attempt, of)| Some((attempt.parse().ok()?, of.parse().ok()?)));
    numbers.unwrap_or_default()
}

/// Which end of a turn.
#[derive(Clone, Copy)]
enum TurnAt {
    Start,
    End,
}
