//! What every codec is: `step(state, input) → events` and `encode(state, frame) → bytes`. No I/O, no
//! clock, no randomness. The state is a small value that is committed together with the position in
//! the spool, so that a host which comes back after a kill reads on in the middle of anything.

use holdfast_core::frame::Outgoing;
use holdfast_core::ids::{AttemptId, FrameNo, MessageId};
use holdfast_core::limits::CODEC_STATE_BYTES_MAX;
use holdfast_core::provider::{Handle, ProviderEvent, Trunk};
use serde::{Deserialize, Serialize};

use crate::{acp, claude, codex};

/// The version of what [`CodecState::to_bytes`] writes.
const STATE_VERSION: u32 = 1;

/// The kind of an agent: which protocol it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// The Agent Client Protocol.
    Acp,
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

/// How a session that is known already is brought back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum History {
    /// With its history replayed where the agent can, so that its store can be asked.
    Ask,
    /// Without a replay where the agent can.
    Skip,
}

/// What a chat wants of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSpec {
    /// The working directory, absolute, at most
    /// [`CWD_BYTES_MAX`](holdfast_core::limits::CWD_BYTES_MAX) bytes.
    pub cwd: String,
    /// The session to bring back; none begins a new one.
    pub handle: Option<Handle>,
    /// The session that a new one begins as a copy of, where there is none to bring back.
    #[serde(default)]
    pub fork_of: Option<Trunk>,
    /// Whether the agent's store is to be asked.
    pub history: History,
    /// The model, in the agent's own words. Asked for only where the agent lists it.
    pub model: Option<String>,
    /// The mode, in the agent's own words. Asked for only where the agent lists it.
    pub mode: Option<String>,
    /// How hard it is to think, in the agent's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Messages that the agent's store is to be asked for, where it knows them by their ids; the last
    /// is the newest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sought: Vec<MessageId>,
    /// How many messages the session is known to hold, those in doubt excepted.
    #[serde(default)]
    pub holds: u64,
    /// The attempt and its ordinal in the chat: agents that take their ids from the host get them from
    /// here.
    #[serde(default = "no_attempt")]
    pub attempt: (AttemptId, u32),
}

/// What a state has that was written before attempts were named.
const fn no_attempt() -> (AttemptId, u32) {
    (AttemptId::new(uuid::Uuid::nil()), 0)
}

/// One thing that reaches a codec, in the order of the spool; what the host issued comes between
/// the records in whose commit it was issued.
#[derive(Clone, Copy, Debug)]
pub enum Inward<'a> {
    /// One whole line of the agent, with or without its line break.
    Line(&'a [u8]),
    /// A line that was too long to be kept.
    Oversized {
        /// Its beginning.
        head: &'a [u8],
    },
    /// A part of what the agent said is lost: nobody knows what it was.
    Damaged,
    /// A last line that has no end, because the agent died in it.
    Torn(&'a [u8]),
    /// The host numbered and committed a frame.
    Issued {
        /// Its number.
        frame: FrameNo,
        /// What it says.
        out: &'a Outgoing,
    },
    /// The first byte of a frame is about to be written: from here on the agent may have it.
    Begun {
        /// Its number.
        frame: FrameNo,
    },
    /// The last byte of a frame was written to the agent.
    Written {
        /// Its number.
        frame: FrameNo,
    },
}

/// Bytes of an image that is given as such.
pub const IMAGE_BYTES_MAX: u64 = 5 * 1024 * 1024;
/// Bytes of a text that is given as such.
pub const TEXT_BYTES_MAX: u64 = 64 * 1024;
/// Bytes of all that is given within one message. Written in base64 it is shorter than the longest
/// line that is kept whole: an agent may say it again.
pub const INLINE_BYTES_MAX: u64 = 10 * 1024 * 1024;

/// What a frame needs beside its intent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Content<'a> {
    /// The text of a message, context included.
    pub text: Option<&'a str>,
    /// What is attached to it, in order.
    pub attached: &'a [Attached<'a>],
}

/// What is attached to a message.
#[derive(Clone, Copy, Debug)]
pub struct Attached<'a> {
    /// What its sender calls it.
    pub name: &'a str,
    /// What it is.
    pub media_type: &'a str,
    /// How many bytes it has.
    pub bytes: u64,
    /// The thing itself.
    pub given: Given<'a>,
}

/// The form in which an agent takes something that is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The bytes of an image.
    Image,
    /// A text, if it is UTF-8; otherwise a link.
    Text,
    /// The address of a file that the agent can read.
    Link,
}

/// Something attached, in the form in which the agent takes it.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// The bytes of an image.
    Image(&'a [u8]),
    /// A text, and the address of the file.
    Text {
        /// All of it.
        text: &'a str,
        /// A `file://` URI.
        uri: &'a str,
    },
    /// The address of a file that the agent can read.
    Link {
        /// A `file://` URI.
        uri: &'a str,
    },
    /// The host has it no more: that is said, and not passed over.
    Lost,
}

/// Why a frame has no bytes. [`EncodeError::PromptGone`], [`EncodeError::TaskGone`],
/// [`EncodeError::TaskNotStoppable`] and [`EncodeError::NoTurn`] are no faults: the agent no longer waits for the frame, and it
/// is to be passed over as if it had been withdrawn.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// There is no session that the frame could name.
    #[error("frame {frame:?} cannot be written before the session stands")]
    NoSession {
        /// The frame.
        frame: FrameNo,
    },
    /// A message came without its text.
    #[error("the message in frame {frame:?} came without its text")]
    TextMissing {
        /// The frame.
        frame: FrameNo,
    },
    /// The agent no longer waits for an answer to this prompt.
    #[error("the agent no longer waits for an answer to prompt {prompt}")]
    PromptGone {
        /// The prompt's ordinal.
        prompt: u32,
    },
    /// The task has ended.
    #[error("task {task} has ended")]
    TaskGone {
        /// The task's ordinal.
        task: u32,
    },
    /// This agent cannot stop this task by itself.
    #[error("task {task} cannot be stopped by itself")]
    TaskNotStoppable {
        /// The task's ordinal.
        task: u32,
    },
    /// A frame of the protocol does not hold JSON.
    #[error("frame {frame:?} does not hold JSON")]
    NotJson {
        /// The frame.
        frame: FrameNo,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// No turn runs that a message could be given to.
    #[error("no turn runs that a message could be given to")]
    NoTurn,
    /// This agent takes no such setting while it runs.
    #[error("this agent takes no such setting while it runs")]
    NotSettable,
    /// This build has no codec for this kind of agent.
    #[error("this build cannot speak with agents of the kind {kind:?}")]
    NoCodec {
        /// The kind.
        kind: AgentKind,
    },
}

/// Why the state of a codec could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StateUnreadable {
    /// It is longer than any state is.
    #[error("the codec's state has {bytes} bytes, more than {CODEC_STATE_BYTES_MAX}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It was written by another generation.
    #[error("the codec's state has version {version}, not {STATE_VERSION}")]
    Version {
        /// Its version.
        version: u32,
    },
    /// It is damaged.
    #[error("the codec's state is damaged")]
    Damaged(#[source] serde_json::Error),
}

/// The state of a codec: of one attempt of one chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodecState {
    /// The Agent Client Protocol.
    Acp(Box<acp::State>),
    /// Claude Code.
    Claude(Box<claude::State>),
    /// The app-server of Codex.
    Codex(Box<codex::State>),
    /// A kind that this build has no codec for; nothing is read, nothing is written.
    Absent(AgentKind),
}

#[derive(Serialize)]
struct Stored<'a> {
    version: u32,
    codec: &'a CodecState,
}

#[derive(Deserialize)]
struct StoredVersion {
    version: u32,
}

#[derive(Deserialize)]
struct Restored {
    codec: CodecState,
}

impl CodecState {
    /// Begins to speak with an agent that was just started. The events ask for the first frame, or
    /// say why there is no use in starting.
    #[must_use]
    pub fn start(kind: AgentKind, spec: &SessionSpec) -> (Self, Vec<ProviderEvent>) {
        match kind {
            AgentKind::Acp => {
                let (state, events) = acp::State::start(spec);
                (Self::Acp(Box::new(state)), events)
            }
            AgentKind::Claude => {
                let (state, events) = claude::State::start(spec);
                (Self::Claude(Box::new(state)), events)
            }
            AgentKind::Codex => {
                let (state, events) = codex::State::start(spec);
                (Self::Codex(Box::new(state)), events)
            }
        }
    }

    /// Takes in one thing. Total: any bytes at any time give events, never a panic.
    #[must_use]
    pub fn step(&mut self, input: Inward<'_>) -> Vec<ProviderEvent> {
        match self {
            Self::Acp(state) => state.step(input),
            Self::Claude(state) => state.step(input),
            Self::Codex(state) => state.step(input),
            Self::Absent(_) => Vec::new(),
        }
    }

    /// The bytes of a frame that was issued: one line with its line break. Pure, so that the same
    /// bytes come out again after a crash.
    ///
    /// # Errors
    ///
    /// See [`EncodeError`].
    pub fn encode(
        &self,
        frame: FrameNo,
        out: &Outgoing,
        content: &Content<'_>,
    ) -> Result<Vec<u8>, EncodeError> {
        match self {
            Self::Acp(state) => state.encode(frame, out, content),
            Self::Claude(state) => state.encode(frame, out, content),
            Self::Codex(state) => state.encode(frame, out, content),
            Self::Absent(kind) => Err(EncodeError::NoCodec { kind: *kind }),
        }
    }

    /// The form in which the agent takes each of these (media type, bytes), which belong to one
    /// message.
    #[must_use]
    pub fn forms(&self, attached: &[(&str, u64)]) -> Vec<Form> {
        match self {
            Self::Acp(state) => state.forms(attached),
            Self::Claude(_) => claude::forms(attached),
            Self::Codex(_) => codex::forms(attached),
            Self::Absent(_) => vec![Form::Link; attached.len()],
        }
    }

    /// The state as a versioned value of at most [`CODEC_STATE_BYTES_MAX`] bytes: every table in it
    /// is bounded in bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let stored = Stored { version: STATE_VERSION, codec: self };
        // Maps with string keys, numbers and strings only: serialising them has no error to give.
        serde_json::to_vec(&stored).unwrap_or_default()
    }

    /// Reads a state back.
    ///
    /// # Errors
    ///
    /// [`StateUnreadable`] when it is damaged, too long, or of another version. The chat is then
    /// to be shown as such and kept; nothing may be guessed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateUnreadable> {
        if bytes.len() > CODEC_STATE_BYTES_MAX {
            return Err(StateUnreadable::TooLong { bytes: bytes.len() });
        }
        let stored: StoredVersion =
            serde_json::from_slice(bytes).map_err(StateUnreadable::Damaged)?;
        if stored.version != STATE_VERSION {
            return Err(StateUnreadable::Version { version: stored.version });
        }
        let restored: Restored = serde_json::from_slice(bytes).map_err(StateUnreadable::Damaged)?;
        Ok(restored.codec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_cannot_be_read_is_not_guessed() {
        let long = vec![b' '; CODEC_STATE_BYTES_MAX + 1];
        assert!(matches!(CodecState::from_bytes(&long), Err(StateUnreadable::TooLong { .. })));
        let newer = br#"{"version":2,"codec":{"absent":"acp"}}"#;
        let version = CodecState::from_bytes(newer);
        assert!(matches!(version, Err(StateUnreadable::Version { version: 2 })));
        let known = br#"{"version":1,"codec":{"absent":"codex"}}"#;
        assert_eq!(CodecState::from_bytes(known).unwrap(), CodecState::Absent(AgentKind::Codex));
        for damaged in
            [&b""[..], b"{}", br#"{"version":1}"#, br#"{"version":1,"codec":{"acp":{}}}"#]
        {
            assert!(matches!(CodecState::from_bytes(damaged), Err(StateUnreadable::Damaged(_))));
        }
    }

    #[test]
    fn an_agent_without_a_codec_is_refused_and_not_spoken_with() {
        let mut state = CodecState::Absent(AgentKind::Claude);
        assert_eq!(state.step(Inward::Line(b"{}")), []);
        let encoded = state.encode(FrameNo(1), &Outgoing::Interrupt, &Content::default());
        assert!(matches!(encoded, Err(EncodeError::NoCodec { kind: AgentKind::Claude })));
    }
}
