//! The order of one actor's work, without I/O: what follows a word, a command, a commit that came
//! about or did not. The shell and the simulation do what [`Next`] says and tell what became of it.

mod hearing;

use std::collections::VecDeque;
use std::time::Duration;

use holdfast_agent::codec::AgentKind;
use holdfast_core::effect::Owed;
use holdfast_core::fact::StopWhy;
use holdfast_core::ids::{AttemptId, ChatId};
use holdfast_core::input::{Caller, Command, Given, Input, Reply};
use holdfast_core::item::Delta;
use holdfast_core::refusal::Refusal;
use holdfast_core::time::Awake;
use holdfast_store::{CommitError, Operation, Unit};

use super::core::Core;
use crate::attempt::{Origin, Word};

/// How soon a commit that found no room is tried again.
pub(super) const ROOM_RETRY: Duration = Duration::from_secs(1);
/// What is done next. Nothing else is before what became of it was told.
#[derive(Debug)]
pub enum Next {
    /// Nothing: the next input is taken.
    Rest,
    /// The unit is committed: [`Work::stored`].
    Commit(Box<Unit>),
    /// The unit goes to the host, which commits it with all others, or has nothing to stop:
    /// [`Work::handed_stored`].
    HandOut(Option<Box<Unit>>),
    /// The unit of a command about several chats goes to the host, which commits it with those of the
    /// others, or the command is refused: [`Work::handed_stored`].
    HandPart(Result<Option<Box<Unit>>, Refusal>),
    /// The chat is loaded anew: [`Work::loaded`].
    Load,
    /// What the chat owes is done: [`Work::reconciled`].
    Reconcile(Origin),
    /// The command is answered.
    Answer(Result<Reply, Refusal>),
}

/// What somebody wants.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What.
    pub command: Command,
    /// Who.
    pub caller: Caller,
    /// Which protocol its agent speaks, where it opens a chat.
    pub kind: Option<AgentKind>,
}

/// What an actor is asked to decide, once what was heard is committed.
#[derive(Clone, Debug)]
enum Request {
    Command(Box<Asked>),
    Part(Box<Asked>),
    Stop(StopWhy),
}

/// Whether the chat was loaded anew for this command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reloaded {
    No,
    Yes,
}

/// What is waited for.
#[derive(Debug)]
enum Doing {
    Nothing,
    /// What was heard is being committed.
    Heard,
    /// The first of what was heard is, by itself; it was tried so often.
    First {
        tries: u32,
    },
    /// What a command has changed is.
    Command {
        asked: Box<Asked>,
        reply: Reply,
        reloaded: Reloaded,
    },
    /// The host has its part of the stop, or of a command about several chats.
    Stop,
    /// The chat is being loaded.
    Load(AfterLoad),
    /// What the chat owes is being done.
    Reconcile(AfterReconcile),
}

#[derive(Debug)]
enum AfterLoad {
    Nothing,
    /// The command is decided again.
    Again(Box<Asked>),
    /// It is refused.
    Refuse(Refusal),
    /// What was heard is taken in again.
    Retake,
}

#[derive(Debug)]
enum AfterReconcile {
    Nothing,
    Answer(Result<Reply, Refusal>),
    Again(Box<Asked>),
    Tick,
}

/// Where a decision gets its time and randomness.
pub type Moment<'a> = &'a mut dyn FnMut() -> Given;

/// When an agent is stopped for idleness, in microseconds; none = never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Idle {
    /// After so long without anything owed.
    pub release_after: Option<u64>,
    /// After so long without a word, whatever is owed: with an offer.
    pub ceiling_after: Option<u64>,
}

/// The work of one actor.
#[derive(Debug)]
pub struct Work {
    id: ChatId,
    core: Core,
    /// What the open batch was made of, to be taken in again if it is not committed.
    heard: VecDeque<(AttemptId, Word)>,
    heard_bytes: usize,
    /// When the open batch has to be committed.
    due: Option<Awake>,
    /// Until when there is no room.
    blocked: Option<Awake>,
    last_word: Awake,
    idle: Idle,
    /// Whether a frame could not be ordered because the store could not be asked.
    unordered: bool,
    doing: Doing,
    /// What waits for what was heard to be committed.
    request: Option<Request>,
    deltas: Vec<Delta>,
}

impl Work {
    /// Begins with a chat that was loaded; what it owes is done first.
    pub fn begin(core: Core, id: ChatId, now: Awake, idle: Idle) -> (Self, Next) {
        let work = Self {
            id,
            core,
            heard: VecDeque::new(),
            heard_bytes: 0,
            due: None,
            blocked: None,
            last_word: now,
            idle,
            unordered: false,
            doing: Doing::Reconcile(AfterReconcile::Nothing),
            request: None,
            deltas: Vec::new(),
        };
        (work, Next::Reconcile(Origin::Adopted))
    }

    /// The chat, as it is committed.
    #[must_use]
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// What is to be done for the agent, as it is committed.
    #[must_use]
    pub fn owed(&self) -> Option<Owed> {
        self.core.owed()
    }

    /// Whether words are taken: none passes those that are still to be committed.
    #[must_use]
    pub fn takes_words(&self) -> bool {
        self.blocked.is_none()
    }

    /// Whether nothing that was heard waits to be committed.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.heard.is_empty()
    }

    /// Whether what is being committed is what a command has changed.
    #[must_use]
    pub fn is_deciding(&self) -> bool {
        matches!(self.doing, Doing::Command { .. })
    }

    /// When [`Self::wake`] is to be called.
    #[must_use]
    pub fn wakes_at(&self) -> Option<Awake> {
        self.blocked.or(self.due)
    }

    /// What is shown of the words that were taken in since.
    pub fn take_deltas(&mut self) -> Vec<Delta> {
        std::mem::take(&mut self.deltas)
    }

    /// Somebody wants something.
    pub fn command(&mut self, asked: Asked, moment: Moment<'_>) -> Next {
        self.request(Request::Command(Box::new(asked)), moment)
    }

    /// Somebody wants something of several chats: this one's part is committed by the host.
    pub fn part(&mut self, asked: Asked, moment: Moment<'_>) -> Next {
        self.request(Request::Part(Box::new(asked)), moment)
    }

    /// The host stops.
    pub fn prepare_stop(&mut self, why: StopWhy, moment: Moment<'_>) -> Next {
        self.request(Request::Stop(why), moment)
    }

    /// What was heard is committed before anything else is decided.
    fn request(&mut self, request: Request, moment: Moment<'_>) -> Next {
        self.request = Some(request);
        if self.core.is_dirty() { self.commit_heard(moment) } else { self.rest(moment) }
    }

    /// What was begun is done: what waits for it is next.
    fn rest(&mut self, moment: Moment<'_>) -> Next {
        self.doing = Doing::Nothing;
        match self.request.take() {
            Some(Request::Command(asked)) => self.decide(asked, Reloaded::No, moment),
            Some(Request::Part(asked)) => self.decide_part(*asked, moment),
            Some(Request::Stop(why)) => self.decide_stop(why, moment),
            None => Next::Rest,
        }
    }

    fn decide(&mut self, asked: Box<Asked>, reloaded: Reloaded, moment: Moment<'_>) -> Next {
        if let Some(kind) = asked.kind {
            self.core.set_kind(kind);
        }
        let given = moment();
        let reply = match self.core.command(asked.command.clone(), &given) {
            Ok(reply) => reply,
            Err(refusal) => return self.answer(Err(refusal)),
        };
        let caller = &asked.caller;
        let stored = Operation::of(caller, reply.clone());
        let Some(mut unit) = self.core.prepare(given.at, stored).unit else {
            return self.answer(Ok(reply));
        };
        if let Command::Send { .. } = &asked.command {
            unit.clear_draft = Some(caller.principal.clone());
        }
        self.doing = Doing::Command { asked, reply, reloaded };
        Next::Commit(Box::new(unit))
    }

    fn decide_part(&mut self, asked: Asked, moment: Moment<'_>) -> Next {
        let given = moment();
        let reply = match self.core.command(asked.command, &given) {
            Ok(reply) => reply,
            Err(refusal) => return Next::HandPart(Err(refusal)),
        };
        let stored = Operation::of(&asked.caller, reply);
        let unit = self.core.prepare(given.at, stored).unit.map(Box::new);
        if unit.is_some() {
            self.doing = Doing::Stop;
        }
        Next::HandPart(Ok(unit))
    }

    fn decide_stop(&mut self, why: StopWhy, moment: Moment<'_>) -> Next {
        let given = moment();
        let _ = self.core.command(Command::Stop { why }, &given);
        let unit = self.core.prepare(given.at, None).unit.map(Box::new);
        if unit.is_some() {
            self.doing = Doing::Stop;
        } else {
            self.core.abandon();
        }
        Next::HandOut(unit)
    }

    fn answer(&mut self, answer: Result<Reply, Refusal>) -> Next {
        self.doing = Doing::Nothing;
        Next::Answer(answer)
    }

    fn load(&mut self, after: AfterLoad) -> Next {
        self.doing = Doing::Load(after);
        Next::Load
    }

    fn reconcile(&mut self, origin: Origin, after: AfterReconcile) -> Next {
        self.doing = Doing::Reconcile(after);
        Next::Reconcile(origin)
    }

    /// The unit was stored, or not.
    pub fn stored(&mut self, outcome: Result<(), CommitError>, moment: Moment<'_>) -> Next {
        match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Command { asked, reply, reloaded } => match outcome {
                Ok(()) => {
                    self.core.committed();
                    self.reconcile(Origin::Fresh, AfterReconcile::Answer(Ok(reply)))
                }
                Err(error) => self.command_not_stored(asked, reloaded, &error),
            },
            Doing::First { tries } => self.first_stored(outcome, tries, moment),
            Doing::Heard => match outcome {
                Ok(()) => {
                    self.core.committed();
                    self.forget_heard();
                    self.reconcile(Origin::Fresh, AfterReconcile::Nothing)
                }
                Err(error) => self.heard_not_stored(error, moment),
            },
            Doing::Nothing | Doing::Stop | Doing::Load(_) | Doing::Reconcile(_) => Next::Rest,
        }
    }

    fn command_not_stored(
        &mut self,
        asked: Box<Asked>,
        reloaded: Reloaded,
        error: &CommitError,
    ) -> Next {
        self.core.abandon();
        match (error, reloaded) {
            (CommitError::Fenced { .. }, Reloaded::No) => self.load(AfterLoad::Again(asked)),
            (CommitError::Fenced { .. } | CommitError::Uncertain(_), _) => {
                self.load(AfterLoad::Refuse(error.refusal()))
            }
            (CommitError::Failed(_) | CommitError::Refused(_), _) => {
                tracing::error!(chat = %self.id, "{error}");
                self.answer(Err(error.refusal()))
            }
            (
                CommitError::StorageFull
                | CommitError::Stopped
                | CommitError::OperationExists
                | CommitError::SlotTaken { .. }
                | CommitError::SourceGone { .. }
                | CommitError::SessionTaken { .. },
                _,
            ) => self.answer(Err(error.refusal())),
        }
    }

    /// The host has stored what was handed out (its part of a stop, or of a command about several
    /// chats), or not.
    pub fn handed_stored(&mut self, stored: bool) -> Next {
        let Doing::Stop = std::mem::replace(&mut self.doing, Doing::Nothing) else {
            return Next::Rest;
        };
        if stored {
            self.core.committed();
            return self.reconcile(Origin::Fresh, AfterReconcile::Nothing);
        }
        self.core.abandon();
        self.load(AfterLoad::Nothing)
    }

    /// The chat was loaded anew, or could not be.
    pub fn loaded(&mut self, loaded: Result<Core, Refusal>, moment: Moment<'_>) -> Next {
        let Doing::Load(after) = std::mem::replace(&mut self.doing, Doing::Nothing) else {
            return Next::Rest;
        };
        let core = match loaded {
            Ok(core) => core,
            Err(refusal) => {
                return match after {
                    AfterLoad::Again(_) | AfterLoad::Refuse(_) => self.answer(Err(refusal)),
                    AfterLoad::Retake => {
                        self.block(ROOM_RETRY, moment);
                        self.rest(moment)
                    }
                    AfterLoad::Nothing => self.rest(moment),
                };
            }
        };
        self.core = core;
        let then = match after {
            AfterLoad::Nothing => AfterReconcile::Nothing,
            AfterLoad::Again(asked) => AfterReconcile::Again(asked),
            AfterLoad::Refuse(refusal) => AfterReconcile::Answer(Err(refusal)),
            AfterLoad::Retake => {
                self.block(Duration::ZERO, moment);
                AfterReconcile::Nothing
            }
        };
        self.reconcile(Origin::Adopted, then)
    }

    /// Orders were given: whether a frame is not among them.
    pub fn ordered(&mut self, unordered: bool) {
        self.unordered = unordered;
    }

    /// What the chat owes was done.
    pub fn reconciled(&mut self, moment: Moment<'_>) -> Next {
        match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Reconcile(AfterReconcile::Answer(answer)) => self.answer(answer),
            Doing::Reconcile(AfterReconcile::Again(asked)) => {
                self.decide(asked, Reloaded::Yes, moment)
            }
            Doing::Reconcile(AfterReconcile::Tick) => self.pass_time(moment),
            Doing::Reconcile(AfterReconcile::Nothing)
            | Doing::Nothing
            | Doing::Heard
            | Doing::First { .. }
            | Doing::Command { .. }
            | Doing::Stop
            | Doing::Load(_) => self.rest(moment),
        }
    }

    /// Time passes.
    pub fn tick(&mut self, moment: Moment<'_>) -> Next {
        if self.core.is_dirty() || self.blocked.is_some() {
            return Next::Rest;
        }
        if self.unordered {
            return self.reconcile(Origin::Adopted, AfterReconcile::Tick);
        }
        self.pass_time(moment)
    }

    fn pass_time(&mut self, moment: Moment<'_>) -> Next {
        let Idle { release_after, ceiling_after } = self.idle;
        let last_word = self.last_word;
        self.core.tick(Input::Tick { last_word, release_after, ceiling_after }, &moment());
        if self.core.is_dirty() { self.commit_heard(moment) } else { Next::Rest }
    }
}

fn later(now: Awake, by: Duration) -> Awake {
    Awake(now.0.saturating_add(u64::try_from(by.as_micros()).unwrap_or(u64::MAX)))
}
