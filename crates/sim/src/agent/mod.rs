//! A scripted agent that speaks the Agent Client Protocol in real lines: bytes come in and go out
//! as they would through pipes.

pub(crate) mod home;
pub(crate) mod plan;
mod say;
mod take;

use std::collections::VecDeque;

use holdfast_core::ids::{AttemptId, ChatId};

use self::plan::{Act, End, Manners, Voice, Wants};
use crate::evidence::Told;
use crate::world::World;

/// What an agent declares, and how it treats its files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    pub(crate) manners: Manners,
    /// Whether a session can be loaded with its history, and resumed without.
    pub(crate) loads: bool,
    pub(crate) resumes: bool,
    /// A message is written down when it comes in, or only with the first word about it.
    pub(crate) lazy: bool,
    /// It writes its files back at once.
    pub(crate) syncs: bool,
}

#[derive(Debug)]
struct Turn {
    frame: u64,
    text: String,
    /// Whether the message is in the agent's files.
    noted: bool,
    acts: VecDeque<Act>,
    /// The request that it waits for.
    waits: Option<u64>,
}

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
}

/// An agent's process.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) chat: ChatId,
    pub(crate) attempt: AttemptId,
    traits: Traits,
    /// What it was given and has not read.
    pub(crate) stdin: Vec<u8>,
    /// What it has written and nobody has read.
    pub(crate) stdout: VecDeque<u8>,
    /// Where its lines end, counted from its first byte, and what they tell.
    lines: VecDeque<(u64, Told)>,
    written: u64,
    read: u64,
    session: Option<String>,
    turn: Option<Turn>,
    requests: u64,
    /// Live tasks, with the time at which each ends by itself.
    tasks: Vec<(String, u64)>,
    task_count: u64,
    /// Live tasks that end with the turn.
    foreground: Vec<String>,
    /// It reads nothing before this.
    ready_at: u64,
    /// It was told to end, and does at this time.
    ends_at: Option<u64>,
    pub(crate) exit: Option<Exit>,
}

impl Agent {
    pub(crate) fn new(chat: ChatId, attempt: AttemptId, traits: Traits, ready_at: u64) -> Self {
        Self {
            chat,
            attempt,
            traits,
            stdin: Vec::new(),
            stdout: VecDeque::new(),
            lines: VecDeque::new(),
            written: 0,
            read: 0,
            session: None,
            turn: None,
            requests: 0,
            tasks: Vec::new(),
            task_count: 0,
            foreground: Vec::new(),
            ready_at,
            ends_at: None,
            exit: None,
        }
    }

    /// Whether it has something to do now.
    pub(crate) fn can_act(&self, w: &World) -> bool {
        let works = !w.frozen && (self.can_read(w) || self.can_work(w) || self.is_due(w));
        self.exit.is_none() && (works || self.ends_at.is_some_and(|at| w.clock.awake >= at))
    }

    /// When it will have something to do, if it waits for nothing but time.
    pub(crate) fn wakes_at(&self, w: &World) -> Option<u64> {
        let task = self.tasks.iter().map(|(_, at)| if w.calm { 0 } else { *at }).min();
        let ready = (!self.stdin.is_empty()).then_some(self.ready_at);
        let all = if w.frozen { [None, self.ends_at, None] } else { [task, self.ends_at, ready] };
        self.exit.is_none().then(|| all.into_iter().flatten().min()).flatten()
    }

    fn can_read(&self, w: &World) -> bool {
        w.clock.awake >= self.ready_at && self.stdin.contains(&b'\n')
    }

    fn can_work(&self, w: &World) -> bool {
        self.turn.as_ref().is_some_and(|turn| {
            turn.waits.is_none() && (w.calm || turn.acts.front() != Some(&Act::Linger))
        })
    }

    fn is_due(&self, w: &World) -> bool {
        let task = self.tasks.iter().any(|(_, at)| w.calm || w.clock.awake >= *at);
        task || self.ends_at.is_some_and(|at| w.clock.awake >= at)
    }

    /// Does one thing.
    pub(crate) fn step(&mut self, w: &mut World) {
        if self.ends_at.is_some_and(|at| w.clock.awake >= at) {
            self.end(w, Exit::Signal(15));
        } else if self.can_read(w) && (!self.can_work(w) || w.rng.permille(500)) {
            self.take_line(w);
        } else if self.can_work(w) {
            self.work(w);
        } else {
            self.end_due_task(w);
        }
    }

    /// TERM: it may say a word more, and ends soon; an odd one does not care.
    pub(crate) fn terminate(&mut self, w: &mut World) {
        let odd = self.traits.manners == Manners::Odd;
        if self.ends_at.is_none() && !(odd && w.rng.permille(200)) {
            self.ends_at = Some(w.clock.awake + w.rng.millis(200));
        }
    }

    /// Its process is gone. Its pipes are what they are.
    pub(crate) fn end(&mut self, w: &mut World, exit: Exit) {
        if self.exit.is_some() {
            return;
        }
        if w.rng.permille(150) {
            // It dies within a line.
            self.stdout.extend(b"{\"jsonrpc\":\"2.0\",\"meth");
            self.written += 22;
        }
        let (chat, attempt) = (self.chat, self.attempt);
        w.say(|| format!("agent {} ends: {exit:?} ({})", short(attempt), short_chat(chat)));
        self.exit = Some(exit);
        self.stdin.clear();
        if let Some(seen) = w.evidence.attempts.get_mut(&attempt) {
            seen.lives = false;
        }
    }

    /// The next bytes of its stdout, at most to the end of a line.
    pub(crate) fn peek(&self, max: usize) -> Vec<u8> {
        let line = self.stdout.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let most = line.unwrap_or(self.stdout.len()).min(max);
        self.stdout.iter().take(most).copied().collect()
    }

    /// So many bytes were read. What lines they end.
    pub(crate) fn consume(&mut self, bytes: usize) -> Vec<Told> {
        self.stdout.drain(..bytes.min(self.stdout.len()));
        self.read += bytes as u64;
        let mut told = Vec::new();
        while let Some((end, _)) = self.lines.front() {
            if *end > self.read {
                break;
            }
            told.extend(self.lines.pop_front().map(|(_, told)| told));
        }
        told
    }

    fn work(&mut self, w: &mut World) {
        let Some(turn) = &mut self.turn else { return };
        let act = turn.acts.pop_front().unwrap_or(Act::End(End::Turn));
        if !turn.noted {
            turn.noted = true;
            let (frame, text) = (turn.frame, turn.text.clone());
            self.note(w, home::By::User(self.attempt, frame), &text);
        }
        match act {
            Act::Say(voice) => self.speak(w, voice),
            Act::Tool => self.use_tool(w),
            Act::Ask(wants) => self.ask(w, wants),
            Act::TaskOn { kind, foreground } => self.begin_task(w, kind, foreground),
            Act::TaskOff => self.end_a_task(w),
            Act::Title => self.title(w),
            Act::Noise => self.make_noise(w),
            Act::Linger => {}
            Act::Die => {
                if !w.calm {
                    self.end(w, Exit::Code(1));
                }
            }
            Act::End(end) => self.end_turn(w, end),
        }
    }

    pub(super) fn note(&mut self, w: &mut World, by: home::By, text: &str) {
        let Some(session) = &self.session else { return };
        w.homes.append(session, by, text);
        if self.traits.syncs || w.rng.permille(300) {
            w.homes.write_back(session);
        }
    }

    fn end_due_task(&mut self, w: &mut World) {
        let now = w.clock.awake;
        let due = self.tasks.iter().position(|(_, at)| w.calm || *at <= now);
        if let Some(at) = due {
            self.end_task_at(w, at);
            if self.turn.is_none() && w.rng.permille(300) {
                // A background task woke it: it speaks although nobody asked.
                if let Some(seen) = w.evidence.attempts.get_mut(&self.attempt) {
                    seen.stirred = true;
                }
                self.speak(w, Voice::Message);
                if w.rng.permille(200) {
                    self.ask(w, Wants::Question);
                }
            }
        }
    }
}

impl Wants {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Question => "question",
        }
    }
}

/// The first digits of an attempt's id, for the trace.
pub(crate) fn short(attempt: AttemptId) -> String {
    attempt.uuid().simple().to_string().chars().take(4).collect()
}

/// The first digits of a chat's id, for the trace.
pub(crate) fn short_chat(chat: ChatId) -> String {
    chat.uuid().simple().to_string().chars().take(4).collect()
}
