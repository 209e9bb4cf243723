//! The actor without I/O: inputs go in, a unit to commit comes out. It decides on a scratch chat,
//! which becomes the chat only when the unit is committed; the simulation runs this same code.

use std::collections::VecDeque;

use holdfast_agent::codec::{
    AgentKind, CodecState, Content, EncodeError, Form, History, Inward, SessionSpec,
    StateUnreadable,
};
use holdfast_core::attachment::Attachment;
use holdfast_core::decide::decide;
use holdfast_core::effect::{Owed, owed};
use holdfast_core::fact::Fact;
use holdfast_core::frame::Issued;
use holdfast_core::head::{Chat, Strand};
use holdfast_core::ids::{AttemptId, ChatId, FrameNo, Position};
use holdfast_core::input::{Command, Given, Input, KeeperEvent, Reply};
use holdfast_core::item::{Delta, Row};
use holdfast_core::offer::Cause;
use holdfast_core::provider::{ProviderEvent, StartFault};
use holdfast_core::refusal::Refusal;
use holdfast_core::summary::Summary;
use holdfast_core::time::Micros;
use holdfast_keeper::Record;
use holdfast_keeper::record::SignalledBy;
use holdfast_store::{Loaded, Operation, Progress, Unit};

use crate::attachments::letter::{Enclosed, Letter};

/// What the actor holds of a chat: as it is committed, or as it will be.
#[derive(Clone, Debug)]
struct State {
    chat: Chat,
    codec: Option<(AttemptId, CodecState)>,
    position: Position,
}

/// What was decided and is not committed.
#[derive(Debug)]
struct Batch {
    state: State,
    after: holdfast_core::ids::Seq,
    facts: Vec<Fact>,
    rows: Vec<Row>,
    moved: bool,
}

/// A unit to commit, with what the caller is answered then.
#[derive(Debug)]
pub struct Prepared {
    /// The unit; none where nothing changed.
    pub unit: Option<Unit>,
}

/// The actor of one chat.
#[derive(Debug)]
pub struct Core {
    id: ChatId,
    kind: AgentKind,
    state: State,
    batch: Option<Batch>,
}

impl Core {
    /// The actor of a chat that was loaded, or of one that does not exist yet.
    ///
    /// # Errors
    ///
    /// The state of the codec cannot be read: the chat can only be looked at.
    pub fn new(
        id: ChatId,
        kind: AgentKind,
        loaded: Option<Loaded>,
    ) -> Result<Self, StateUnreadable> {
        let (chat, progress) = loaded.map_or_else(Default::default, |l| (l.chat, l.progress));
        let attempt = chat.head.attempt.as_ref().map(|attempt| attempt.id);
        let progress = progress.filter(|progress| Some(progress.attempt) == attempt);
        let position = progress.as_ref().map_or(Position(0), |progress| progress.position);
        let codec = match progress {
            Some(progress) => Some((progress.attempt, CodecState::from_bytes(&progress.codec)?)),
            None => None,
        };
        Ok(Self { id, kind, state: State { chat, codec, position }, batch: None })
    }

    /// The chat as it is committed.
    #[must_use]
    pub fn chat(&self) -> &Chat {
        &self.state.chat
    }

    /// The next record to read, as it is committed.
    #[must_use]
    pub fn position(&self) -> Position {
        self.state.position
    }

    /// The next record to read, with what is not committed.
    #[must_use]
    pub fn reading(&self) -> Position {
        self.batch.as_ref().map_or(self.state.position, |batch| batch.state.position)
    }

    /// What is to be done for the agent, as it is committed.
    #[must_use]
    pub fn owed(&self) -> Option<Owed> {
        owed(&self.state.chat)
    }

    /// Whether something waits to be committed that somebody waits for: facts, not text alone.
    #[must_use]
    pub fn is_urgent(&self) -> bool {
        self.batch.as_ref().is_some_and(|batch| !batch.facts.is_empty())
    }

    /// Whether anything waits to be committed.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.batch.is_some()
    }

    /// Which protocol the agent speaks; told when the chat is opened.
    pub fn set_kind(&mut self, kind: AgentKind) {
        self.kind = kind;
    }

    /// Decides on a command.
    ///
    /// # Errors
    ///
    /// A refusal, after which everything is as it was.
    pub fn command(&mut self, command: Command, given: &Given) -> Result<Reply, Refusal> {
        let reply = self.absorb(Input::Command(command), given, &mut Vec::new())?;
        Ok(reply.unwrap_or(Reply::Done))
    }

    /// Takes in what the host's side of the keeper has to say.
    pub fn keeper(&mut self, attempt: AttemptId, event: KeeperEvent, given: &Given) {
        self.event(Input::Keeper { attempt, event }, given, &mut Vec::new());
    }

    /// Lets time pass.
    pub fn tick(&mut self, input: Input, given: &Given) {
        self.event(input, given, &mut Vec::new());
    }

    /// Takes in one record of the spool. One that was taken in before is passed over, so that each
    /// is taken in once across any number of crashes.
    pub fn record(
        &mut self,
        attempt: AttemptId,
        record: &Record,
        next: Position,
        given: &Given,
    ) -> Vec<Delta> {
        let mut deltas = Vec::new();
        if next <= self.reading() || !self.is_current(attempt) {
            return deltas;
        }
        for event in keeper_events(record) {
            self.event(Input::Keeper { attempt, event }, given, &mut deltas);
        }
        let inward = match record {
            Record::Line(line) => Some(Inward::Line(line)),
            Record::Oversized { head } => Some(Inward::Oversized { head }),
            Record::Torn(bytes) => Some(Inward::Torn(bytes)),
            Record::Damaged => Some(Inward::Damaged),
            Record::FrameBegun(frame) => Some(Inward::Begun { frame: FrameNo(*frame) }),
            Record::FrameDone(frame) => Some(Inward::Written { frame: FrameNo(*frame) }),
            Record::Started(_)
            | Record::OversizedEnd { .. }
            | Record::FrameCancelled(_)
            | Record::Signalled { .. }
            | Record::SpawnFailed { .. }
            | Record::Exited { .. }
            | Record::StdoutClosed { .. }
            | Record::CutOff(_)
            | Record::Unknown { .. } => None,
        };
        if let Some(inward) = inward {
            let batch = self.open();
            let events = match &mut batch.state.codec {
                Some((of, codec)) if *of == attempt => codec.step(inward),
                Some(_) | None => Vec::new(),
            };
            for event in events {
                self.event(Input::Provider { attempt, event }, given, &mut deltas);
            }
        }
        let batch = self.open();
        batch.state.position = next;
        batch.moved = true;
        deltas
    }

    fn is_current(&self, attempt: AttemptId) -> bool {
        let state = self.batch.as_ref().map_or(&self.state, |batch| &batch.state);
        state.chat.head.attempt.as_ref().is_some_and(|current| current.id == attempt)
    }

    /// An input that nobody is answered for. The rules refuse commands only.
    fn event(&mut self, input: Input, given: &Given, deltas: &mut Vec<Delta>) {
        let _ = self.absorb(input, given, deltas);
    }

    fn open(&mut self) -> &mut Batch {
        let state = &self.state;
        self.batch.get_or_insert_with(|| Batch {
            state: state.clone(),
            after: state.chat.head.seq,
            facts: Vec::new(),
            rows: Vec::new(),
            moved: false,
        })
    }

    /// Decides, and lets the codec see what was decided for it: an attempt that begins, frames that
    /// were numbered. What it says to that is decided in turn.
    fn absorb(
        &mut self,
        input: Input,
        given: &Given,
        deltas: &mut Vec<Delta>,
    ) -> Result<Option<Reply>, Refusal> {
        let fresh = self.batch.is_none();
        let (id, kind) = (self.id, self.kind);
        let batch = self.open();
        let mut inputs = VecDeque::from([input]);
        let mut reply = None;
        while let Some(input) = inputs.pop_front() {
            let decision = match decide(&mut batch.state.chat, input, given) {
                Ok(decision) => decision,
                Err(refusal) => {
                    if fresh {
                        self.batch = None;
                    }
                    return Err(refusal);
                }
            };
            for fact in &decision.facts {
                let said = batch.state.shown_to_codec(kind, fact);
                let attempt = batch.state.codec.as_ref().map(|(attempt, _)| *attempt);
                if let Some(attempt) = attempt {
                    let said = said.into_iter();
                    inputs.extend(said.map(|event| Input::Provider { attempt, event }));
                }
            }
            for row in &decision.rows {
                if let Row::ItemText { item, field, at, text } = row {
                    let text = text.clone();
                    deltas.push(Delta { chat: id, item: *item, field: *field, at: *at, text });
                }
            }
            batch.facts.extend(decision.facts);
            batch.rows.extend(decision.rows);
            reply = reply.or(decision.reply);
        }
        if fresh && batch.facts.is_empty() && batch.rows.is_empty() && !batch.moved {
            self.batch = None;
        }
        Ok(reply)
    }

    /// The unit to commit, if anything was decided or read, or if the answer has to be remembered
    /// under an operation's key: a repeat is answered the same although nothing was changed.
    #[must_use]
    pub fn prepare(&self, at: Micros, operation: Option<Operation>) -> Prepared {
        let nothing = (self.state.chat.head.seq, &[][..], &[][..]);
        let (state, (after, facts, rows)) = match &self.batch {
            Some(batch) => (&batch.state, (batch.after, &batch.facts[..], &batch.rows[..])),
            None if operation.is_some() => (&self.state, nothing),
            None => return Prepared { unit: None },
        };
        let progress = state.codec.as_ref().map(|(attempt, codec)| Progress {
            attempt: *attempt,
            codec: codec.to_bytes(),
            position: state.position,
        });
        let unit = Unit {
            chat: self.id,
            after,
            at,
            facts: facts.to_vec(),
            rows: rows.to_vec(),
            head: state.chat.head.clone(),
            summary: Summary::of(&state.chat),
            progress,
            operation,
            clear_draft: None,
        };
        Prepared { unit: Some(unit) }
    }

    /// The unit is committed: what was decided is so.
    pub fn committed(&mut self) {
        if let Some(batch) = self.batch.take() {
            self.state = batch.state;
        }
    }

    /// The unit is not committed: everything is as it was.
    pub fn abandon(&mut self) {
        self.batch = None;
    }

    /// Passes over a record that cannot be taken in, visibly.
    pub fn skip(&mut self, attempt: AttemptId, next: Position, why: &str, given: &Given) {
        let text = format!("Record {} of the agent's output: {why}", next.0.saturating_sub(1));
        self.keeper(attempt, KeeperEvent::LineSkipped { text }, given);
        let batch = self.open();
        batch.state.position = next;
        batch.moved = true;
    }

    /// The form in which the agent takes each of these, which belong to one message.
    #[must_use]
    pub fn forms(&self, attachments: &[Attachment]) -> Vec<Form> {
        let attached: Vec<_> =
            attachments.iter().map(|one| (one.media_type.as_str(), one.bytes)).collect();
        match &self.state.codec {
            Some((_, codec)) => codec.forms(&attached),
            None => vec![Form::Link; attached.len()],
        }
    }

    /// The bytes of a frame, from what is committed.
    ///
    /// # Errors
    ///
    /// See [`EncodeError`].
    pub fn encode(&self, issued: &Issued, letter: Option<&Letter>) -> Result<Vec<u8>, EncodeError> {
        let text = letter.map(|letter| letter.text.as_str());
        let enclosed = letter.map(|letter| letter.enclosed.as_slice()).unwrap_or_default();
        let attached: Vec<_> = enclosed.iter().map(Enclosed::attached).collect();
        let content = Content { text, attached: &attached };
        match &self.state.codec {
            Some((_, codec)) => codec.encode(issued.frame, &issued.out, &content),
            None => Err(EncodeError::NoSession { frame: issued.frame }),
        }
    }
}

impl State {
    /// Shows a fact to the codec: what it says to it.
    fn shown_to_codec(&mut self, kind: AgentKind, fact: &Fact) -> Vec<ProviderEvent> {
        match fact {
            Fact::AttemptStarting { attempt, .. } => {
                let (codec, events) = CodecState::start(kind, &self.session(*attempt));
                self.codec = Some((*attempt, codec));
                self.position = Position(0);
                events
            }
            Fact::FrameIssued { frame, out } => match &mut self.codec {
                Some((_, codec)) => codec.step(Inward::Issued { frame: *frame, out }),
                None => Vec::new(),
            },
            Fact::AttemptEnded { .. } => {
                self.codec = None;
                self.position = Position(0);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The session that the chat wants. The agent's store is asked where a message's outcome is
    /// not known.
    fn session(&self, attempt: AttemptId) -> SessionSpec {
        let head = &self.chat.head;
        let asking = || head.stranded.iter().filter(|stranded| stranded.is_asking());
        let in_doubt = head.stranded.iter().filter(|stranded| match stranded.why {
            Strand::Unknown { .. } => true,
            Strand::Refused => false,
        });
        let in_doubt = u64::try_from(in_doubt.count()).unwrap_or(u64::MAX);
        let suspect = head.settled.iter().filter(|settled| settled.suspect);
        let sought = suspect.map(|settled| settled.message);
        SessionSpec {
            cwd: head.cwd.clone(),
            handle: head.handle.clone(),
            fork_of: head.fork.clone(),
            history: if asking().next().is_some() { History::Ask } else { History::Skip },
            model: head.model.clone(),
            mode: head.mode.clone(),
            effort: head.effort.clone(),
            sought: sought.chain(asking().map(|stranded| stranded.message)).collect(),
            holds: head.session_messages.saturating_sub(in_doubt),
            attempt: (attempt, head.attempts),
        }
    }
}

/// What a record says beside the agent's own words. The end of an attempt is not among them: its
/// death is told by whoever looked for what may still live.
pub(crate) fn keeper_events(record: &Record) -> Vec<KeeperEvent> {
    match record {
        Record::Started(process) => vec![KeeperEvent::Born { pid: process.pid }],
        Record::FrameBegun(frame) => vec![KeeperEvent::FrameBegun(FrameNo(*frame))],
        Record::FrameDone(frame) => vec![KeeperEvent::FrameDone(FrameNo(*frame))],
        Record::FrameCancelled(frame) => vec![KeeperEvent::FrameCancelled(FrameNo(*frame))],
        Record::Signalled { by, .. } => match by {
            SignalledBy::Host => Vec::new(),
            SignalledBy::Outside => vec![KeeperEvent::Signalled { cause: Cause::Quit }],
            SignalledBy::HostLost => vec![KeeperEvent::Signalled { cause: Cause::HostLost }],
        },
        Record::CutOff(_) => vec![KeeperEvent::CutOff],
        Record::SpawnFailed { errno, text } => {
            const ENOENT: i32 = 2;
            const EACCES: i32 = 13;
            let fault = match *errno {
                ENOENT | EACCES => StartFault::AgentMissing,
                _ => StartFault::AgentRefused,
            };
            vec![KeeperEvent::SpawnFailed { fault, text: text.clone() }]
        }
        Record::Damaged => vec![KeeperEvent::LineSkipped {
            text: "A part of the agent's output on disk is damaged and was passed over.".to_owned(),
        }],
        Record::StdoutClosed { lost_bytes } if *lost_bytes > 0 => vec![KeeperEvent::LineSkipped {
            text: format!("{lost_bytes} bytes of the agent's last output did not fit on the disk."),
        }],
        Record::Line(_)
        | Record::Oversized { .. }
        | Record::OversizedEnd { .. }
        | Record::Torn(_)
        | Record::StdoutClosed { .. }
        | Record::Exited { .. }
        | Record::Unknown { .. } => Vec::new(),
    }
}
