//! Claude Code: the CLI's `stream-json` both ways, with its control protocol beside the messages.
//!
//! How the real program behaves was observed on versions 2.1.332 and 2.1.197, whose transcripts are
//! this codec's fixtures. Every field but a frame's type is optional.
//!
//! * `mod`: the state, and what reaches it. `control`: what we ask of the CLI, and its answers. `turns`:
//!   messages in flight, what proves that one was taken, ends of turns. `blocks`: what the model says.
//!   `calls`: its tools. `asked`: what it asks. `work`: background work. `system`: what the CLI itself
//!   tells. `encode`: what goes out. `command`: how the CLI is started. `session`: what it writes down.
//! * The id of a request of ours is made of the number of its frame; that of a message, of the attempt
//!   and the number (`ids`), so that the CLI's session file names each hand-over.

mod asked;
mod attached;
mod blocks;
mod calls;
pub mod command;
mod control;
mod encode;
pub mod history;
pub mod ids;
mod prompts;
pub mod session;
mod system;
mod turns;
mod wire;
mod work;

#[cfg(test)]
mod tests;

use holdfast_core::frame::Outgoing;
use holdfast_core::ids::{AttemptId, FrameNo, ItemId};
use holdfast_core::provider::{ProviderEvent, StartFault};
use serde::{Deserialize, Serialize};

pub(crate) use self::attached::forms;
use self::blocks::Blocks;
use self::calls::Calls;
use self::control::{Control, Expect};
use self::prompts::Prompts;
use self::turns::Turns;
use crate::codec::{Inward, SessionSpec};
use crate::jsonrpc;
use crate::noise::Noise;
use crate::ordinals::Ordinals;
use crate::tasks::Tasks;

/// Bytes of a session's id. The state carries it.
const SESSION_ID_BYTES_MAX: usize = 512;

/// How far the start is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    /// `initialize` is asked.
    Starting,
    /// Messages may come.
    Ready,
    /// The CLI does not work for this chat.
    Failed,
}

/// What this codec knows of one attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    stage: Stage,
    attempt: AttemptId,
    /// The attempt's ordinal in the chat.
    origin: u32,
    /// The id of the session.
    session: String,
    ordinals: Ordinals,
    control: Control,
    turns: Turns,
    blocks: Blocks,
    calls: Calls,
    prompts: Prompts,
    tasks: Tasks,
    noise: Noise,
}

/// One line while it is taken in: what it was, for the case that nobody can read it.
#[derive(Clone, Copy)]
struct Line<'a>(&'a [u8]);

impl State {
    /// Begins to speak with a CLI that was just started for this session.
    #[must_use]
    pub fn start(spec: &SessionSpec) -> (Self, Vec<ProviderEvent>) {
        let (attempt, origin) = spec.attempt;
        let session = match &spec.handle {
            Some(handle) => handle.leaf.clone(),
            None => ids::session_id(attempt),
        };
        let too_long = session.len() > SESSION_ID_BYTES_MAX;
        let state = Self {
            stage: if too_long { Stage::Failed } else { Stage::Starting },
            attempt,
            origin,
            session,
            ordinals: Ordinals::default(),
            control: Control::new(spec),
            turns: Turns::default(),
            blocks: Blocks::default(),
            calls: Calls::default(),
            prompts: Prompts::default(),
            tasks: Tasks::default(),
            noise: Noise::default(),
        };
        let event = if too_long {
            let text = "The session id of the chat is too long for an agent.".to_owned();
            ProviderEvent::StartFailed { fault: StartFault::AgentRefused, text }
        } else {
            control::wants("initialize", "{}")
        };
        (state, vec![event])
    }

    /// Takes in one thing.
    #[must_use]
    pub fn step(&mut self, input: Inward<'_>) -> Vec<ProviderEvent> {
        let mut out = Vec::new();
        match input {
            Inward::Line(bytes) => self.line(bytes, &mut out),
            Inward::Oversized { head } => self.unrecognised("oversized", head, &mut out),
            Inward::Torn(bytes) => self.unrecognised("torn", bytes, &mut out),
            Inward::Damaged => self.turns.marks_lost(),
            Inward::Issued { frame, out: issued } => self.issued(frame, issued, &mut out),
            Inward::Begun { frame } => self.turns.begun(frame),
            Inward::Written { frame } => self.written(frame),
        }
        out
    }

    fn line(&mut self, bytes: &[u8], out: &mut Vec<ProviderEvent>) {
        // After a failed start the agent is being stopped: nothing that it says matters.
        if self.stage == Stage::Failed || bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        let valid = matches!(text, std::borrow::Cow::Borrowed(_));
        if !valid {
            // It is shown for what it is, and still taken in as far as it can be read: a broken
            // character must not cost the frame that ends a turn.
            self.unrecognised("invalid_utf8", bytes, out);
        }
        let text = jsonrpc::repaired(&text);
        let line = Line(bytes);
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        match serde_json::from_str::<wire::Frame<'_>>(&text) {
            Ok(frame) if frame.kind.is_some() => self.frame(line, &text, &frame, out),
            Ok(_) | Err(_) if !valid => {}
            Ok(_) | Err(_) if is_json => self.unrecognised("not_a_frame", bytes, out),
            Ok(_) | Err(_) => self.unrecognised("invalid_json", bytes, out),
        }
    }

    fn frame(
        &mut self,
        line: Line<'_>,
        text: &str,
        frame: &wire::Frame<'_>,
        out: &mut Vec<ProviderEvent>,
    ) {
        match frame.kind.as_deref().unwrap_or_default() {
            "control_response" => self.answered(line, frame, out),
            "control_request" => self.asks(line, frame, out),
            "control_cancel_request" => self.takes_back(frame, out),
            "system" => self.system(line, text, frame, out),
            "stream_event" => self.streams(frame, out),
            "assistant" => self.speaks(text, frame, out),
            "user" => self.hears(text, frame, out),
            "result" => self.result(text, frame, out),
            "command_lifecycle" => self.lifecycle(&read(text), out),
            "rate_limit_event" => self.limited(&read(text), out),
            // What they say is said elsewhere too, or is for other hosts.
            "conversation_reset" | "keep_alive" | "tool_progress" | "tool_use_summary"
            | "prompt_suggestion" | "auth_status" | "active_goal" | "transcript_mirror" => {}
            _ => self.unrecognised("unknown_frame", line.0, out),
        }
    }

    fn result(&mut self, text: &str, frame: &wire::Frame<'_>, out: &mut Vec<ProviderEvent>) {
        let told: wire::Result<'_> = read(text);
        if self.stage == Stage::Starting && !wire::declared(told.origin) {
            return self.not_started(&told, out);
        }
        self.ended(&told, frame.subtype.as_deref(), frame.named.as_ref(), out);
    }

    /// Shows what cannot be read.
    fn unrecognised(&mut self, reason: &str, line: &[u8], out: &mut Vec<ProviderEvent>) {
        if self.stage != Stage::Failed {
            self.noise.show(reason, line, &mut self.ordinals, out);
        }
    }

    /// The host numbered a frame.
    fn issued(&mut self, frame: FrameNo, issued: &Outgoing, out: &mut Vec<ProviderEvent>) {
        match issued {
            Outgoing::Message { message: _ } | Outgoing::Steer { message: _ } => {
                self.turns.message(frame);
            }
            Outgoing::Interrupt => self.control.expect(frame, Expect::Interrupt),
            Outgoing::Answer { prompt, answer: _ } => self.prompts.answered(prompt.n, frame),
            Outgoing::StopTask { task: _ } => self.control.expect(frame, Expect::StopTask),
            Outgoing::Set { setting } => self.control.sets(frame, setting, out),
            Outgoing::Protocol(protocol) => self.control.issued(frame, protocol),
        }
    }

    fn written(&mut self, frame: FrameNo) {
        self.prompts.written(frame);
        self.turns.written(frame);
        if self.control.is_interrupt(frame) {
            self.turns.interrupted();
        }
    }

    /// Ends what belongs to a turn.
    fn end_turn(&mut self, out: &mut Vec<ProviderEvent>) {
        self.prompts.turn_ended(out);
        self.tasks.turn_ended(out);
        self.blocks.turn_ended(out);
        self.calls.turn_ended(self.origin, out);
    }

    /// The frame of this attempt whose message has this id.
    fn frame_of(&self, id: &str) -> Option<FrameNo> {
        ids::frame_of(self.attempt, id)
    }

    /// The item of this attempt with this ordinal.
    fn item(&self, n: u32) -> ItemId {
        ItemId::new(self.origin, n)
    }
}

/// A frame, or of a frame what `T` looks at.
fn read<'a, T: Deserialize<'a> + Default>(text: &'a str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}
