//! What fuzzers and the committed corpora run: arbitrary bytes as lines of an agent, between what the
//! host does.
//!
//! The input is split into lines. A line of one letter is something that the host does, any other is
//! a line of the agent:
//!
//! | line | what happens |
//! |---|---|
//! | `m` | a message is issued |
//! | `i` | an interrupt is issued |
//! | `a` | the prompt that was asked last is answered |
//! | `s` | the task that began last is to be stopped |
//! | `b` | the frame that was issued last is about to be written |
//! | `w` | the frame that was issued last is written |
//! | `o…` | the rest of the line is the beginning of one that was too long |
//! | `t…` | the rest of the line is torn |

use std::collections::BTreeSet;

use holdfast_core::frame::{Answer, Outgoing, QuestionAnswer};
use holdfast_core::ids::{FrameNo, MessageId, PromptId, TaskId};
use holdfast_core::limits::CODEC_STATE_BYTES_MAX;
use holdfast_core::provider::{Asked, PromptKind, ProviderEvent};

use crate::codec::{AgentKind, CodecState, Content, EncodeError, History, Inward, SessionSpec};

/// What makes the session of a kind stand before the first line of the input comes.
const STARTED: [&[u8]; 2] = [br#"{"id":1,"result":{}}"#, br#"{"id":2,"result":{"sessionId":"s"}}"#];
const CODEX_STARTED: [&[u8]; 3] = [
    br#"{"id":1,"result":{}}"#,
    br#"{"id":3,"result":{}}"#,
    br#"{"id":4,"result":{"thread":{"id":"s"}}}"#,
];

/// The same, of Claude Code.
const CLAUDE_STARTED: [&[u8]; 1] =
    [br#"{"type":"control_response","response":{"subtype":"success","request_id":"holdfast-1"}}"#];

/// A text that would be two frames if it were not quoted.
const MESSAGE: &str = "one\n{\"id\":1}\r\u{2028}\u{0}two";

/// Plays the input to a codec whose session `s` stands.
///
/// # Panics
///
/// When a promise of the codec is broken: its state outgrows its bound, cannot be read back, or goes
/// on in another way after it was; an event names an item, prompt or task that was never told; or a
/// frame is anything but one line.
pub fn acp(data: &[u8]) {
    play(AgentKind::Acp, &STARTED, data);
}

/// Plays the input to a codec of Claude Code whose session stands. Its attempt has the id 0, so that the
/// id of a message is the number of its frame.
///
/// # Panics
///
/// As [`acp`].
pub fn claude(data: &[u8]) {
    play(AgentKind::Claude, &CLAUDE_STARTED, data);
}

/// Plays the input to a codec of Codex whose thread `s` stands.
///
/// # Panics
///
/// As [`acp`].
pub fn codex(data: &[u8]) {
    play(AgentKind::Codex, &CODEX_STARTED, data);
}

fn play(kind: AgentKind, started: &[&[u8]], data: &[u8]) {
    let spec = SessionSpec {
        cwd: "/".to_owned(),
        handle: None,
        fork_of: None,
        history: History::Ask,
        model: None,
        mode: None,
        effort: None,
        sought: Vec::new(),
        holds: 0,
        attempt: (holdfast_core::ids::AttemptId::new(uuid::Uuid::nil()), 1),
    };
    let (state, events) = CodecState::start(kind, &spec);
    let mut run = Run::new(state);
    run.take(events);
    for line in started {
        run.say(line);
    }
    for line in data.split(|byte| *byte == b'\n') {
        run.say(line);
    }
}

/// Plays the input to a codec whose state is the first line of it, as a damaged disk may hold it.
///
/// # Panics
///
/// When the state is taken and cannot be worked with, or a frame is anything but one line.
pub fn acp_restored(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let Ok(state) = CodecState::from_bytes(lines.next().unwrap_or_default()) else { return };
    let again = CodecState::from_bytes(&state.to_bytes());
    assert!(again.is_ok_and(|again| again == state), "written, it is another state");
    let mut run = Run { trust: Trust::Restored, ..Run::new(state) };
    for line in lines {
        run.say(line);
    }
}

/// Where the state comes from.
#[derive(PartialEq, Eq)]
enum Trust {
    /// The codec made it: all that it promises holds.
    Made,
    /// The input made it: whatever its tables say, they may say it of things never told.
    Restored,
}

struct Run {
    state: CodecState,
    trust: Trust,
    frame: u64,
    items: BTreeSet<u32>,
    prompts: Vec<(u32, Asked)>,
    tasks: Vec<u32>,
}

impl Run {
    fn new(state: CodecState) -> Self {
        let (items, prompts, tasks) = (BTreeSet::new(), Vec::new(), Vec::new());
        Self { state, trust: Trust::Made, frame: 0, items, prompts, tasks }
    }

    fn say(&mut self, line: &[u8]) {
        match line {
            b"m" => {
                let message = MessageId::new(uuid::Uuid::nil());
                self.issue(&Outgoing::Message { message });
            }
            b"e" => {
                let message = MessageId::new(uuid::Uuid::nil());
                self.issue(&Outgoing::Steer { message });
            }
            b"i" => self.issue(&Outgoing::Interrupt),
            b"a" => {
                if let Some((prompt, asked)) = self.prompts.last() {
                    let prompt = PromptId::new(1, *prompt);
                    let answer = answer(asked);
                    self.issue(&Outgoing::Answer { prompt, answer });
                }
            }
            b"s" => {
                if let Some(task) = self.tasks.last() {
                    self.issue(&Outgoing::StopTask { task: TaskId::new(1, *task) });
                }
            }
            b"b" => {
                let events = self.state.step(Inward::Begun { frame: FrameNo(self.frame) });
                self.take(events);
            }
            b"w" => {
                let events = self.state.step(Inward::Written { frame: FrameNo(self.frame) });
                self.take(events);
            }
            [b'o', head @ ..] => {
                let events = self.state.step(Inward::Oversized { head });
                self.take(events);
            }
            [b't', torn @ ..] => {
                let events = self.state.step(Inward::Torn(torn));
                self.take(events);
            }
            line => self.line(line),
        }
    }

    fn line(&mut self, line: &[u8]) {
        let before = self.state.to_bytes();
        let events = self.state.step(Inward::Line(line));
        if self.trust == Trust::Made {
            assert!(before.len() <= CODEC_STATE_BYTES_MAX, "a state of {} bytes", before.len());
            let restored = CodecState::from_bytes(&before);
            let Ok(mut restored) = restored else {
                unreachable!("a state cannot be read back: {restored:?}")
            };
            assert_eq!(events, restored.step(Inward::Line(line)), "another way after a crash");
            assert_eq!(self.state, restored, "another state after a crash");
        }
        self.take(events);
    }

    /// Does what the host does about events.
    fn take(&mut self, events: Vec<ProviderEvent>) {
        for event in events {
            match event {
                ProviderEvent::Wants(wanted) => self.issue(&Outgoing::Protocol(wanted)),
                ProviderEvent::ItemOpened { item, .. } => self.opens(item),
                ProviderEvent::ItemText { item, .. }
                | ProviderEvent::ItemChanged { item, .. }
                | ProviderEvent::ItemClosed { item } => {
                    self.knows(self.items.contains(&item), "item")
                }
                ProviderEvent::PromptOpened { prompt, item, asked } => {
                    self.opens(item);
                    self.prompts.push((prompt, asked));
                }
                ProviderEvent::PromptGone { prompt } | ProviderEvent::AnswerTaken { prompt } => {
                    let known = self.prompts.iter().any(|(known, _)| *known == prompt);
                    self.knows(known, "prompt");
                    self.prompts.retain(|(known, _)| *known != prompt);
                }
                ProviderEvent::TaskStarted { task, .. } => self.tasks.push(task),
                ProviderEvent::TaskEnded { task, .. } => {
                    // Those without a name share a number: each of them ends once.
                    let place = self.tasks.iter().position(|known| *known == task);
                    self.knows(place.is_some(), "task");
                    place.map(|place| self.tasks.remove(place));
                }
                ProviderEvent::TaskDetached { task } => {
                    self.knows(self.tasks.contains(&task), "task");
                }
                ProviderEvent::Retuned { .. }
                | ProviderEvent::EffortTold { .. }
                | ProviderEvent::EffortsTold { .. }
                | ProviderEvent::CommandsTold { .. }
                | ProviderEvent::SettingDeferred
                | ProviderEvent::LoginNeeded { .. }
                | ProviderEvent::SettingRefused { .. }
                | ProviderEvent::SessionMoved { .. }
                | ProviderEvent::Ready { .. }
                | ProviderEvent::StartFailed { .. }
                | ProviderEvent::ReplayEnded { .. }
                | ProviderEvent::StoreAnswered { .. }
                | ProviderEvent::MessageTaken { .. }
                | ProviderEvent::TurnClaimed { .. }
                | ProviderEvent::MessageFailed { .. }
                | ProviderEvent::Stirred
                | ProviderEvent::TurnEnded { .. }
                | ProviderEvent::Titled { .. } => {}
            }
        }
    }

    fn opens(&mut self, item: u32) {
        let fresh = self.items.insert(item);
        assert!(fresh || self.trust == Trust::Restored, "item {item} opens twice");
    }

    fn knows(&self, told: bool, what: &str) {
        assert!(told || self.trust == Trust::Restored, "an event names a {what} never told");
    }

    /// Issues a frame, and makes its bytes as whoever writes it does.
    fn issue(&mut self, out: &Outgoing) {
        self.frame += 1;
        let frame = FrameNo(self.frame);
        let _ = self.state.step(Inward::Issued { frame, out });
        match self.state.encode(frame, out, &Content { text: Some(MESSAGE), attached: &[] }) {
            Ok(bytes) => {
                let line = bytes.strip_suffix(b"\n").unwrap_or_default();
                let whole = serde_json::from_slice::<serde_json::Map<_, _>>(line);
                assert!(whole.is_ok() && !line.contains(&b'\n'), "not one line: {out:?}");
            }
            Err(EncodeError::NotJson { .. }) => {
                assert!(self.trust == Trust::Restored, "no bytes can be made of {out:?}");
            }
            Err(
                EncodeError::NoSession { .. }
                | EncodeError::TextMissing { .. }
                | EncodeError::PromptGone { .. }
                | EncodeError::TaskGone { .. }
                | EncodeError::TaskNotStoppable { .. }
                | EncodeError::NoTurn
                | EncodeError::NotSettable
                | EncodeError::NoCodec { .. },
            ) => {}
        }
    }
}

/// An answer that chooses whatever is offered first.
fn answer(asked: &Asked) -> Answer {
    match asked.kind {
        PromptKind::Approval => match asked.options.first() {
            Some(first) => Answer::Option { option: first.id.clone(), text: None },
            None => Answer::Cancelled,
        },
        PromptKind::Question => {
            let answers = asked.questions.iter().map(|question| QuestionAnswer {
                question: question.id.clone(),
                options: question.options.first().map(|it| it.id.clone()).into_iter().collect(),
                text: question.free.then(|| MESSAGE.to_owned()),
            });
            Answer::Answers { answers: answers.collect() }
        }
    }
}
