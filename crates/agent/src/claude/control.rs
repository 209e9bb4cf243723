//! What we ask of the CLI, and its answers: the start, interrupts, settings.

use holdfast_core::frame::Setting;
use holdfast_core::ids::FrameNo;
use holdfast_core::limits::EFFORTS_MAX;
use holdfast_core::provider::{
    Capabilities, Forks, Handle, ProtocolFrame, ProviderEvent, StartFault,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::command::BYPASS;
use super::system::commands;
use super::wire;
use super::{Line, SESSION_ID_BYTES_MAX, Stage, State, read};
use crate::codec::SessionSpec;
use crate::ordinals::head;
use crate::tolerant::List;

/// Requests of ours whose answers are outstanding.
const EXPECTED_MAX: usize = 64;
/// Bytes of the name of a model or a mode.
const SETTING_BYTES_MAX: usize = 512;
/// Bytes of the name of an effort that is kept.
const EFFORT_BYTES_MAX: usize = 64;
/// Bytes of the CLI's words about an error.
const ERROR_TEXT_BYTES_MAX: usize = 4 * 1024;
/// What the ids of our requests begin with; the CLI also repeats the answers to its own.
const REQUEST_PREFIX: &str = "holdfast-";

/// What an answer is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Expect {
    /// It carries the start on.
    Initialize,
    /// It says which messages were taken out of the queue.
    Interrupt,
    /// It says whether the model is another now.
    Model,
    /// It says whether the mode is another now.
    Mode,
    /// It may be an error: it thinks as hard as before.
    Effort,
    /// It may be an error: the task has no end that would be told.
    StopTask,
    /// It says nothing.
    Nothing,
}

/// What is asked of the CLI, and what it works with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Control {
    expected: Vec<(FrameNo, Expect)>,
    /// The model by the CLI's own name, as it last told; none until it does.
    model: Option<String>,
    /// Whether the next model that it tells is the one that the chat asked for, by another name.
    alias: bool,
    /// The mode, as it last told.
    mode: Option<String>,
    /// How hard it thinks, where the chat has said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effort: Option<String>,
    /// The efforts that it knows; it passes any other over without a word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    efforts: Vec<String>,
    /// Whether it was started for the mode in which nothing is asked; it takes that mode only then.
    bypass: bool,
}

impl Control {
    pub(super) fn new(spec: &SessionSpec) -> Self {
        let (mode, alias) = (spec.mode.clone(), spec.model.is_some());
        let bypass = mode.as_deref() == Some(BYPASS);
        let effort = spec.effort.clone();
        Self { alias, mode, bypass, effort, ..Self::default() }
    }

    /// Whether this can be set while the CLI runs.
    pub(super) fn settable(&self, setting: &Setting) -> bool {
        match setting {
            Setting::Model(_) => true,
            Setting::Mode(mode) => self.bypass || mode != BYPASS,
            Setting::Effort(effort) => self.knows(effort),
        }
    }

    /// Whether the CLI knows this effort, as far as it has told.
    fn knows(&self, effort: &String) -> bool {
        self.efforts.is_empty() || self.efforts.contains(effort)
    }

    /// The CLI passes this effort over: what is said of it, and how hard it thinks instead.
    fn passed_over(&self, effort: &str, instead: Option<&str>, out: &mut Vec<ProviderEvent>) {
        let effort = head(effort, SETTING_BYTES_MAX);
        let all = self.efforts.join(", ");
        let text = format!("Claude Code knows no effort {effort:?}; it knows {all}.");
        out.push(ProviderEvent::SettingRefused { text });
        let effort = instead.unwrap_or_default().to_owned();
        out.push(ProviderEvent::EffortTold { effort });
    }

    pub(super) fn expect(&mut self, frame: FrameNo, expect: Expect) {
        if self.expected.len() >= EXPECTED_MAX {
            self.expected.remove(0);
        }
        self.expected.push((frame, expect));
    }

    pub(super) fn sets(&mut self, frame: FrameNo, setting: &Setting, out: &mut Vec<ProviderEvent>) {
        if let Setting::Effort(effort) = setting {
            if !self.knows(effort) {
                return self.passed_over(effort, self.effort.as_deref(), out);
            }
            self.effort = Some(head(effort, SETTING_BYTES_MAX).to_owned());
        }
        if !self.settable(setting) {
            out.push(ProviderEvent::SettingDeferred);
            return;
        }
        let expect = match setting {
            Setting::Model(_) => Expect::Model,
            Setting::Mode(_) => Expect::Mode,
            Setting::Effort(_) => Expect::Effort,
        };
        self.expect(frame, expect);
    }

    pub(super) fn issued(&mut self, frame: FrameNo, protocol: &ProtocolFrame) {
        if let ProtocolFrame::Request { method, params: _ } = protocol {
            let initialize = method == "initialize";
            let expect = if initialize { Expect::Initialize } else { Expect::Nothing };
            self.expect(frame, expect);
        }
    }

    pub(super) fn is_interrupt(&self, frame: FrameNo) -> bool {
        self.expected.contains(&(frame, Expect::Interrupt))
    }

    fn answered(&mut self, frame: FrameNo) -> Option<Expect> {
        let place = self.expected.iter().position(|(expected, _)| *expected == frame)?;
        Some(self.expected.remove(place).1)
    }
}

/// The id of a request of ours.
pub(super) fn request_id(frame: FrameNo) -> String {
    format!("{REQUEST_PREFIX}{}", frame.0)
}

pub(super) fn wants(subtype: &str, params: &str) -> ProviderEvent {
    let (method, params) = (subtype.to_owned(), params.to_owned());
    ProviderEvent::Wants(ProtocolFrame::Request { method, params })
}

impl State {
    /// The CLI answered; or it repeats an answer of ours to something that it asked, which proves that
    /// it has read that.
    pub(super) fn answered(
        &mut self,
        line: Line<'_>,
        frame: &wire::Frame<'_>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let Some(told) = &frame.response else {
            return self.unrecognised("unknown_reply", line.0, out);
        };
        let id = told.request_id.as_deref().unwrap_or_default();
        let number = id.strip_prefix(REQUEST_PREFIX).and_then(|number| number.parse().ok());
        let Some(expect) = number.and_then(|n| self.control.answered(FrameNo(n))) else {
            return self.prompts.repeated(id, out);
        };
        let refused = told.subtype.as_deref() != Some("success");
        let error = refused.then(|| {
            let text = told.error.as_deref().unwrap_or("error");
            head(text, ERROR_TEXT_BYTES_MAX).to_owned()
        });
        let body = told.response.map_or("{}", RawValue::get);
        match (expect, error) {
            (Expect::Initialize, None) => self.initialized(&read(body), out),
            (Expect::Initialize, Some(text)) => {
                self.stage = Stage::Failed;
                out.push(ProviderEvent::StartFailed { fault: StartFault::AgentRefused, text });
            }
            (Expect::Interrupt, None) => {
                let told: wire::Settled<'_> = read(body);
                self.unqueued(told.cancelled.as_ref(), out);
            }
            (Expect::Model, None) => {
                // The next turn tells it by its full name.
                self.control.alias = true;
            }
            (Expect::Mode, None) => {
                let told: wire::Settled<'_> = read(body);
                self.works_in(told.mode, out);
            }
            (Expect::Model, Some(text)) => {
                out.push(ProviderEvent::SettingRefused { text });
                let model = self.control.model.clone();
                out.extend(model.map(|model| retuned(Some(model), None)));
            }
            (Expect::Mode, Some(text)) => {
                out.push(ProviderEvent::SettingRefused { text });
                let mode = self.control.mode.clone();
                out.extend(mode.map(|mode| retuned(None, Some(mode))));
            }
            (Expect::Effort, Some(text)) => {
                out.push(ProviderEvent::SettingRefused { text });
                self.control.effort = None;
                out.push(ProviderEvent::EffortTold { effort: String::new() });
            }
            (Expect::StopTask, Some(text)) => self.remarks(&text, out),
            (Expect::StopTask | Expect::Effort, None)
            | (Expect::Nothing, _)
            | (Expect::Interrupt, Some(_)) => {}
        }
    }

    fn initialized(&mut self, told: &wire::Initialized<'_>, out: &mut Vec<ProviderEvent>) {
        if self.stage != Stage::Starting {
            return;
        }
        self.stage = Stage::Ready;
        let mode = told.mode.as_deref().map(|mode| head(mode, SETTING_BYTES_MAX).to_owned());
        self.control.mode = mode.clone().or_else(|| self.control.mode.take());
        let capabilities = Capabilities {
            // Its store is read by the host, and it brings a session back without a replay.
            load: false,
            resume: true,
            steer: true,
            stop_task: true,
            own_turns_end: true,
            retune: true,
            effort: true,
            keeps_prompts: true,
            change_input: true,
            forks: Forks::AtTurnsInMemory,
        };
        let handle = self.handle();
        out.push(ProviderEvent::Ready { handle, capabilities, model: None, mode });
        self.control.efforts = efforts(told.models.as_ref());
        if !self.control.efforts.is_empty() {
            out.push(ProviderEvent::EffortsTold { efforts: self.control.efforts.clone() });
        }
        let unknown = |effort: &String| !self.control.knows(effort);
        if let Some(effort) = self.control.effort.clone().filter(unknown) {
            self.control.effort = None;
            self.control.passed_over(&effort, None, out);
        }
        commands(told.commands.as_ref(), out);
    }

    fn handle(&self) -> Handle {
        Handle { root: self.session.clone(), leaf: self.session.clone() }
    }

    /// A turn ended before the CLI was ready: it does not begin at all.
    pub(super) fn not_started(&mut self, told: &wire::Result<'_>, out: &mut Vec<ProviderEvent>) {
        let errors = wire::texts(told.errors.as_ref()).join("\n");
        let text = if errors.is_empty() { told.text.clone().unwrap_or_default() } else { errors };
        let text = head(&text, ERROR_TEXT_BYTES_MAX).to_owned();
        let fault = if text.contains("No conversation found") {
            StartFault::SessionNotFound
        } else {
            StartFault::AgentRefused
        };
        self.stage = Stage::Failed;
        out.push(ProviderEvent::StartFailed { fault, text });
    }

    /// A turn begins: it tells the session, the model and the mode. The session is another one after
    /// the conversation was cleared.
    pub(super) fn begins(
        &mut self,
        told: &wire::System<'_>,
        frame: &wire::Frame<'_>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let session = frame.session.as_deref().unwrap_or_default();
        let fits = !session.is_empty() && session.len() <= SESSION_ID_BYTES_MAX;
        if self.stage == Stage::Ready && fits && session != self.session {
            session.clone_into(&mut self.session);
            out.push(ProviderEvent::SessionMoved { handle: self.handle() });
        }
        self.works_with(told.model.as_deref(), out);
        self.works_in(told.mode.clone(), out);
        self.names(frame.named.as_ref(), out);
    }

    /// The model of this turn. A chat that asked for one keeps the name that it asked by.
    fn works_with(&mut self, model: Option<&str>, out: &mut Vec<ProviderEvent>) {
        let Some(model) = model.map(|model| head(model, SETTING_BYTES_MAX)) else { return };
        let known = self.control.model.replace(model.to_owned());
        let asked = std::mem::take(&mut self.control.alias);
        if !asked && known.as_deref() != Some(model) {
            out.push(retuned(Some(model.to_owned()), None));
        }
    }

    /// The mode from now on.
    pub(super) fn works_in(&mut self, mode: Option<String>, out: &mut Vec<ProviderEvent>) {
        let Some(mode) = mode else { return };
        let mode = head(&mode, SETTING_BYTES_MAX).to_owned();
        if self.control.mode.as_ref() != Some(&mode) {
            self.control.mode = Some(mode.clone());
            out.push(retuned(None, Some(mode)));
        }
    }
}

/// All efforts that any of the CLI's models knows, as the first that tells one has them in order.
fn efforts(models: Option<&List<'_>>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for model in models.into_iter().flat_map(List::each::<wire::Model<'_>>) {
        for effort in wire::texts(model.efforts.as_ref()) {
            if effort.len() <= EFFORT_BYTES_MAX && all.len() < EFFORTS_MAX && !all.contains(&effort)
            {
                all.push(effort);
            }
        }
    }
    all
}

fn retuned(model: Option<String>, mode: Option<String>) -> ProviderEvent {
    ProviderEvent::Retuned { model, mode }
}
