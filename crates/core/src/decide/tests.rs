//! The rules, as tables of what happened and what follows. [`Scene`] is the language: each word is
//! one input, and each input is checked against the invariants of [`invariants`].

mod adopt;
mod attachment;
mod attempt;
mod back;
mod chat;
mod death;
mod fork;
mod fresh;
mod grant;
mod idle;
mod invariants;
mod message;
mod offer;
mod own_store;
mod prompt;
mod queue;
mod random;
mod replay;
mod resume;
mod said;
mod shown;
mod size;
mod steer;
mod stop_or_kill;
mod task;
mod turn;

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::activity::{Activity, Shown};
use crate::decide::{Decision, decide};
use crate::fact::{Author, Death, Fact, Secret, StopWhy};
use crate::fold::fold;
use crate::head::Chat;
use crate::ids::{AttachmentId, AttemptId, ChatId, FrameNo, MessageId, PromptId, TaskId};
use crate::input::{
    Anyway, Boot, ChangeChat, Choice, Command, Given, Input, KeeperEvent, Reply, Send, Session,
};
use crate::item::Row;
use crate::offer::{Cause, Snapshot};
use crate::provider::{
    Asked, Capabilities, Forks, Handle, PromptKind, PromptOption, ProviderEvent, StartFault,
    TaskKind, TurnEnd,
};
use crate::refusal::{Code, Refusal};
use crate::time::{Awake, Micros};

/// What the agent of most scenes can do: what an ACP agent with `session/load` can.
pub(super) const ABLE: Capabilities =
    Capabilities { load: true, stop_task: true, forks: Forks::AtTheEnd, ..Capabilities::NONE };

/// A close that ends what is left over.
pub(super) const CLOSE: Command = Command::Close { leftovers: crate::input::Leftovers::End };

/// Something that happens in a scene.
type Does = fn(&mut Scene);

/// Microseconds from one input to the next.
const INPUT_MICROS: u64 = 1000;

/// One chat, from the inputs that it got.
#[derive(Clone)]
pub(super) struct Scene {
    pub(super) chat: Chat,
    /// The same chat, folded from its facts alone.
    folded: Chat,
    /// The facts of the last input.
    pub(super) last: Vec<Fact>,
    /// The rows of the last input.
    pub(super) rows: Vec<Row>,
    /// The answer to the last command.
    pub(super) reply: Option<Reply>,
    /// Every fact so far.
    pub(super) all: Vec<Fact>,
    /// The snapshot of the last offer that was recorded.
    pub(super) snapshot: Option<Snapshot>,
    pub(super) at: Micros,
    pub(super) awake: Awake,
    inputs: u128,
    names: BTreeMap<MessageId, String>,
}

/// The id of a message by the name that a scene gives it.
pub(super) fn id(name: &str) -> MessageId {
    let mut bytes = [0; 16];
    for (to, from) in bytes.iter_mut().zip(name.bytes()) {
        *to = from;
    }
    MessageId::new(Uuid::from_bytes(bytes))
}

/// A prompt that offers yes and no.
pub(super) fn asks(kind: PromptKind, label: &str) -> Asked {
    let option = |id: &str| PromptOption {
        id: id.to_owned(),
        label: id.to_owned(),
        kind: "allow_once".to_owned(),
    };
    let options = vec![option("yes"), option("no")];
    Asked { kind, label: label.to_owned(), options, questions: Vec::new(), deed: None }
}

impl Scene {
    /// No chat yet.
    pub(super) fn unborn() -> Self {
        Self {
            chat: Chat::default(),
            folded: Chat::default(),
            last: Vec::new(),
            rows: Vec::new(),
            reply: None,
            all: Vec::new(),
            snapshot: None,
            at: Micros(1_000_000),
            awake: Awake(1_000_000),
            inputs: 0,
            names: BTreeMap::new(),
        }
    }

    /// An open chat without an agent.
    pub(super) fn open() -> Self {
        let mut scene = Self::unborn();
        scene.does(open_command(None));
        scene
    }

    /// An agent that is starting for `m0`.
    pub(super) fn starting() -> Self {
        let mut scene = Self::open();
        scene.send("m0");
        scene
    }

    /// An agent that runs a turn that `m0` opened; every frame is written.
    pub(super) fn working() -> Self {
        let mut scene = Self::starting();
        scene.born().ready().written().taken();
        scene
    }

    /// A ready agent with nothing to do; it took `m0`.
    pub(super) fn idle() -> Self {
        let mut scene = Self::working();
        scene.ends(TurnEnd::Completed);
        scene
    }

    /// A chat that was working on `m0` when everything was killed; `m0` is in doubt, and asked for.
    pub(super) fn offered() -> Self {
        let mut scene = Self::working();
        scene.lost();
        scene
    }

    pub(super) fn given(&self) -> Given {
        Given {
            chat: ChatId::new(Uuid::from_u128(1)),
            at: self.at,
            awake: self.awake,
            attempt: AttemptId::new(Uuid::from_u128(self.inputs)),
            secret: Secret("secret".to_owned()),
        }
    }

    /// One input; what must hold after any is checked here.
    pub(super) fn input(&mut self, input: Input) -> Result<(), Refusal> {
        self.at.0 += i64::try_from(INPUT_MICROS).expect("small");
        self.awake.0 = self.awake.0.wrapping_add(INPUT_MICROS);
        self.inputs += 1;
        let given = self.given();
        let before = self.chat.clone();
        let decided = decide(&mut self.chat, input.clone(), &given);
        match decided {
            Ok(Decision { facts, rows, reply }) => {
                for fact in &facts {
                    fold(&mut self.folded, fact, given.at);
                    if let Fact::OfferRecorded { snapshot, .. } = fact {
                        self.snapshot = Some(snapshot.as_ref().clone());
                    }
                }
                assert_eq!(self.folded, self.chat, "folding the facts gives another chat");
                self.all.extend(facts.iter().cloned());
                invariants::check(&before, &input, self, &facts);
                (self.last, self.rows, self.reply) = (facts, rows, reply);
                Ok(())
            }
            Err(refusal) => {
                assert_eq!(before, self.chat, "a refusal changes nothing: {input:?}");
                (self.last, self.rows, self.reply) = (Vec::new(), Vec::new(), None);
                Err(refusal)
            }
        }
    }

    /// A command that is accepted.
    pub(super) fn does(&mut self, command: Command) -> &mut Self {
        self.input(Input::Command(command)).expect("accepted");
        self
    }

    /// A command that is refused.
    pub(super) fn refused(&mut self, command: Command) -> Code {
        self.input(Input::Command(command)).expect_err("refused").code
    }

    /// A message of a person.
    pub(super) fn send(&mut self, name: &str) -> &mut Self {
        self.sends(name, Author::Person, Send::Queue)
    }

    pub(super) fn sends(&mut self, name: &str, by: Author, send: Send) -> &mut Self {
        let command = self.message(name, by, send);
        self.does(command)
    }

    pub(super) fn message(&mut self, name: &str, by: Author, send: Send) -> Command {
        self.sending(name, (by, send), Vec::new())
    }

    /// A message with what is attached to it.
    pub(super) fn sending(
        &mut self,
        name: &str,
        (by, send): (Author, Send),
        attachments: Vec<AttachmentId>,
    ) -> Command {
        self.names.insert(id(name), name.to_owned());
        let text = format!("text of {name}");
        Command::Send { message: id(name), text, by, send, attachments }
    }

    pub(super) fn attempt(&self) -> AttemptId {
        self.chat.head.attempt.as_ref().map_or(AttemptId::new(Uuid::nil()), |a| a.id)
    }

    /// The agent says something.
    pub(super) fn says(&mut self, event: ProviderEvent) -> &mut Self {
        let attempt = self.attempt();
        self.input(Input::Provider { attempt, event }).expect("words are never refused");
        self
    }

    /// The keeper says something.
    pub(super) fn keeper(&mut self, event: KeeperEvent) -> &mut Self {
        let attempt = self.attempt();
        self.input(Input::Keeper { attempt, event }).expect("words are never refused");
        self
    }

    pub(super) fn born(&mut self) -> &mut Self {
        self.keeper(KeeperEvent::Born { pid: 7 })
    }

    /// The session stands.
    pub(super) fn ready(&mut self) -> &mut Self {
        self.ready_as("root", ABLE)
    }

    pub(super) fn ready_as(&mut self, root: &str, capabilities: Capabilities) -> &mut Self {
        let handle = Handle { root: root.to_owned(), leaf: root.to_owned() };
        self.says(ProviderEvent::Ready { handle, capabilities, model: None, mode: None })
    }

    /// All frames that wait are written.
    pub(super) fn written(&mut self) -> &mut Self {
        for frame in self.outbox() {
            self.keeper(KeeperEvent::FrameBegun(frame)).keeper(KeeperEvent::FrameDone(frame));
        }
        self
    }

    pub(super) fn outbox(&self) -> Vec<FrameNo> {
        let attempt = self.chat.head.attempt.as_ref();
        attempt.map(|a| a.outbox.iter().map(|i| i.frame).collect()).unwrap_or_default()
    }

    /// The frame of the message that was handed over last and is at the agent.
    pub(super) fn frame(&self) -> FrameNo {
        self.chat.head.at_agent().last().map_or(FrameNo(0), |o| o.frame)
    }

    /// The agent takes the message that it has.
    pub(super) fn taken(&mut self) -> &mut Self {
        let frame = self.frame();
        self.says(ProviderEvent::MessageTaken { frame })
    }

    pub(super) fn ends(&mut self, how: TurnEnd) -> &mut Self {
        self.says(ProviderEvent::TurnEnded { how, usage: None, text: None, mark: None })
    }

    /// The message at the agent is taken, and its turn runs to its end.
    pub(super) fn runs(&mut self) -> &mut Self {
        self.written().taken().ends(TurnEnd::Completed)
    }

    pub(super) fn stirred(&mut self) -> &mut Self {
        self.says(ProviderEvent::Stirred)
    }

    pub(super) fn prompt(&mut self, n: u32, kind: PromptKind, label: &str) -> &mut Self {
        let asked = asks(kind, label);
        self.says(ProviderEvent::PromptOpened { prompt: n, item: 100 + n, asked })
    }

    pub(super) fn answer(&self, n: u32) -> Command {
        let answer = crate::frame::Answer::Option { option: "yes".to_owned(), text: None };
        let prompt = self.prompt_id(n);
        Command::Answer { prompt, answer, by: "person".to_owned(), device: None }
    }

    pub(super) fn prompt_id(&self, n: u32) -> PromptId {
        PromptId::new(self.chat.head.attempts, n)
    }

    pub(super) fn task_id(&self, n: u32) -> TaskId {
        TaskId::new(self.chat.head.attempts, n)
    }

    pub(super) fn task(&mut self, n: u32, kind: TaskKind, label: &str) -> &mut Self {
        let label = label.to_owned();
        self.says(ProviderEvent::TaskStarted { task: n, kind, label, foreground: false })
    }

    pub(super) fn stop(&mut self, why: StopWhy) -> &mut Self {
        self.does(Command::Stop { why })
    }

    /// A graceful stop of the host, up to the proven death of the agent.
    pub(super) fn quit(&mut self) -> &mut Self {
        self.stop(StopWhy::Offered(Cause::Quit)).dies()
    }

    /// The agent is dead, by the keeper's word.
    pub(super) fn dies(&mut self) -> &mut Self {
        self.dead(Death::Exited { code: Some(0), signal: None }, Boot::Same)
    }

    /// Everything was killed; the host is back.
    pub(super) fn lost(&mut self) -> &mut Self {
        self.dead(Death::HostLost, Boot::Same)
    }

    pub(super) fn dead(&mut self, death: Death, boot: Boot) -> &mut Self {
        let survivors = Vec::new();
        self.keeper(KeeperEvent::Dead { death, boot, survivors, stderr: String::new() })
    }

    /// The agent is dead, but something of it may not be.
    pub(super) fn leaves_survivors(&mut self) -> &mut Self {
        let death = Death::KeeperLost;
        let stderr = String::new();
        self.keeper(KeeperEvent::Dead { death, boot: Boot::Same, survivors: vec![9], stderr })
    }

    /// So many processes outlived the tool call that started them.
    pub(super) fn leaves_over(&mut self, count: u32) -> &mut Self {
        let named = (0..count).map(|n| (n.to_string(), "server".to_owned(), vec![80])).collect();
        self.keeper(KeeperEvent::Leftovers { named, count })
    }

    pub(super) fn start_fails(&mut self, fault: StartFault) -> &mut Self {
        self.says(ProviderEvent::StartFailed { fault, text: String::new() }).dies()
    }

    pub(super) fn replays(&mut self, messages: u64, last: Option<&str>) -> &mut Self {
        let last = last.map(|name| crate::digest(&format!("text of {name}")));
        self.says(ProviderEvent::ReplayEnded { messages, last })
    }

    pub(super) fn resume(&mut self) -> &mut Self {
        self.does(resume_command(None))
    }

    pub(super) fn resume_with(&mut self, choice: Choice) -> &mut Self {
        self.does(resume_command(Some(choice)))
    }

    pub(super) fn dismiss(&mut self) -> &mut Self {
        self.does(Command::Dismiss { recorded_at: None })
    }

    /// Time passes without a word of the agent.
    pub(super) fn quiet(&mut self, micros: u64, release_after: Option<u64>) -> &mut Self {
        self.quiet_below(micros, release_after, None)
    }

    /// The same, where the owner set a ceiling.
    pub(super) fn quiet_below(
        &mut self,
        micros: u64,
        release_after: Option<u64>,
        ceiling_after: Option<u64>,
    ) -> &mut Self {
        let last_word = self.awake;
        self.awake.0 = (self.awake.0 + micros).wrapping_sub(INPUT_MICROS);
        let tick = Input::Tick { last_word, release_after, ceiling_after };
        self.input(tick).expect("time is never refused");
        self
    }

    /// The name of a message; a continuation is called so.
    pub(super) fn name(&self, id: MessageId) -> String {
        self.names.get(&id).cloned().unwrap_or_else(|| "continuation".to_owned())
    }

    /// What waits, in order.
    pub(super) fn queue(&self) -> Vec<String> {
        self.chat.aside.queue.iter().map(|queued| self.name(queued.message)).collect()
    }

    /// The message at the agent.
    pub(super) fn at_agent(&self) -> Option<String> {
        self.chat.head.outstanding.as_ref().map(|o| self.name(o.message))
    }

    /// The messages without an outcome, each with its state.
    pub(super) fn stranded(&self) -> Vec<String> {
        use crate::head::Strand;
        let state = |why| match why {
            Strand::Refused => "refused",
            Strand::Unknown { asking: true } => "asking",
            Strand::Unknown { asking: false } => "unknown",
        };
        let stranded = self.chat.head.stranded.iter();
        stranded.map(|s| format!("{} {}", self.name(s.message), state(s.why))).collect()
    }

    pub(super) fn has_offer(&self) -> bool {
        self.chat.head.shown_offer().is_some()
    }

    pub(super) fn failure(&self) -> Option<&str> {
        self.chat.head.failure.as_deref()
    }

    pub(super) fn has_agent(&self) -> bool {
        self.chat.head.attempt.is_some()
    }

    pub(super) fn shown(&self) -> Shown {
        crate::activity::shown(&self.chat, &Activity::of(&self.chat))
    }

    /// The facts of the last input in words, items left out.
    pub(super) fn last(&self) -> Vec<String> {
        said::words(self, &self.last)
    }

    /// How often a message was handed over.
    pub(super) fn handed(&self, name: &str) -> usize {
        let of = |fact: &&Fact| matches!(fact, Fact::MessageHanded { message, .. } if self.name(*message) == name);
        self.all.iter().filter(of).count()
    }
}

pub(super) fn open_command(message: Option<&str>) -> Command {
    Command::Open {
        agent: "demo".to_owned(),
        cwd: "/project".to_owned(),
        project: None,
        title: None,
        slot: None,
        model: None,
        effort: None,
        mode: None,
        fork: None,
        adopt: None,
        message: message.map(|name| (id(name), format!("text of {name}"), Author::Person)),
    }
}

pub(super) fn resume_command(choice: Option<Choice>) -> Command {
    Command::Resume { recorded_at: None, choice, session: Session::Recorded, anyway: Anyway::No }
}
