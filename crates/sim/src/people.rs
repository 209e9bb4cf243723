//! A small fleet of people and apps: what they want, what they sent, what they were told. They
//! repeat a request under its key until they are answered, and they look at the chats through the
//! host's own lists.

use std::collections::BTreeMap;

use holdfast_core::fact::Author;
use holdfast_core::frame::Answer as PromptAnswer;
use holdfast_core::head::{Life, Strand};
use holdfast_core::ids::{AttachmentId, ChatId, MessageId};
use holdfast_core::input::{Anyway, ChangeChat, Choice, Command, Leftovers, Reply, Send, Session};
use holdfast_core::limits::MESSAGE_ATTACHMENTS_MAX;
use holdfast_core::refusal::Code;

use crate::net::Answer;
use crate::world::World;

/// What a new session is told.
const RECAP: &str = "what was said so far";

/// Chats that a history has at most.
const CHATS_MAX: usize = 3;
/// How long somebody waits before a request is sent once more, in milliseconds at most.
const RETRY_MILLIS: u64 = 2000;
/// How often a request is repeated before its sender gives up.
const TRIES_MAX: u32 = 12;

/// What somebody wants. Ids that the host's door makes are made anew at each arrival.
#[allow(clippy::large_enum_variant, reason = "a simulated person has few of them at a time")]
#[derive(Clone, Debug)]
pub(crate) enum Wish {
    Open { text: Option<String> },
    Send { text: String, by: Author, send: Send, attachments: Vec<AttachmentId> },
    Attach { bytes: u64 },
    Plain(Command),
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// None: its sender has no protection against a second take.
    pub(crate) key: Option<String>,
    pub(crate) chat: Option<ChatId>,
    pub(crate) wish: Wish,
    /// What the sender was told in the end.
    pub(crate) told: Option<Answer>,
    pub(crate) sent_at: u64,
    tries: u32,
    retry_at: Option<u64>,
}

/// What people know of a chat.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// Nobody has asked for another order of its messages than that of their sending.
    pub(crate) disordered: bool,
}

/// The fleet.
#[derive(Debug, Default)]
pub(crate) struct People {
    pub(crate) requests: Vec<Request>,
    pub(crate) chats: BTreeMap<ChatId, Known>,
    /// Wishes that are still to come.
    pub(crate) left: usize,
    pub(crate) next_at: u64,
}

impl People {
    pub(crate) fn wakes_at(&self, awake: u64) -> Option<u64> {
        let next = (self.left > 0).then_some(self.next_at);
        let retries = self.requests.iter().filter_map(|request| request.retry_at);
        next.into_iter().chain(retries).min().map(|at| at.max(awake))
    }

    pub(crate) fn is_due(&self, awake: u64) -> bool {
        self.wakes_at(awake).is_some_and(|at| at <= awake)
    }
}

/// Somebody sends a request.
pub(crate) fn ask(w: &mut World, chat: Option<ChatId>, wish: Wish) -> usize {
    let number = w.people.requests.len();
    let key = (w.calm || w.rng.permille(850)).then(|| format!("key-{number}"));
    let sent_at = w.clock.awake;
    let request = Request { key, chat, wish, told: None, sent_at, tries: 0, retry_at: None };
    w.say(|| format!("somebody asks {number}: {:?} of {:?}", request.wish, request.chat));
    if let Some(known) = chat.and_then(|chat| w.people.chats.get_mut(&chat)) {
        known.disordered |= disorders(&request.wish);
    }
    w.people.requests.push(request);
    send(w, number);
    number
}

/// Whether a wish lets messages overtake each other.
fn disorders(wish: &Wish) -> bool {
    match wish {
        Wish::Open { .. } | Wish::Attach { .. } => false,
        Wish::Send { send, .. } => *send != Send::Queue,
        Wish::Plain(command) => match command {
            Command::OrderQueue { .. }
            | Command::SendNow { .. }
            | Command::Interrupt
            | Command::StopAgent
            // What waits then is passed by a person's next message.
            | Command::Close { .. }
            | Command::Resolve { .. }
            | Command::Resume { .. }
            | Command::Send { .. } => true,
            Command::Open { .. }
            | Command::Fork { .. }
            | Command::Rewind { .. }
            | Command::Change(_)
            | Command::Attach(_)
            | Command::Detach { .. }
            | Command::EditQueued { .. }
            | Command::WithdrawQueued { .. }
            | Command::PauseQueue
            | Command::ResumeQueue
            | Command::StopTask { .. }
            | Command::Answer { .. }
            | Command::EndGrant { .. }
            | Command::Reopen
            | Command::Delete
            | Command::Dismiss { .. }
            | Command::Stop { .. } => false,
        },
    }
}

fn send(w: &mut World, number: usize) {
    let late = if w.rng.permille(100) { 3000 } else { 20 };
    let at = w.clock.awake + w.rng.millis(late);
    w.net.send(number, at);
    let keyed = w.people.requests.get(number).is_some_and(|request| request.key.is_some());
    if keyed && !w.calm && w.rng.permille(w.weather.requests_doubled) {
        let at = w.clock.awake + w.rng.millis(2000);
        w.net.send(number, at);
    }
}

/// One person does one thing: sends again what was not answered, or wants something new.
pub(crate) fn step(w: &mut World) {
    let now = w.clock.awake;
    let due = w.people.requests.iter().position(|r| r.retry_at.is_some_and(|at| at <= now));
    if let Some(number) = due {
        if let Some(request) = w.people.requests.get_mut(number) {
            request.retry_at = None;
            request.tries += 1;
        }
        w.say(|| format!("somebody repeats {number}"));
        return send(w, number);
    }
    if w.people.left > 0 && w.people.next_at <= now {
        w.people.left -= 1;
        w.people.next_at = now + w.rng.millis(1500);
        want(w);
    }
}

/// An answer has come.
pub(crate) fn hear(w: &mut World) {
    let now = w.clock.awake;
    let Some((number, answer)) = w.net.return_one(now, &mut w.rng) else { return };
    let Some(request) = w.people.requests.get(number).cloned() else { return };
    let again = match &answer {
        Answer::Lost => true,
        Answer::Refused(refusal) => matches!(
            refusal.code,
            Code::Stopping | Code::StorageFull | Code::NotDurable | Code::Overloaded
        ),
        Answer::Done(_) => false,
    };
    if again {
        let later = now + w.rng.millis(RETRY_MILLIS);
        if let Some(request) = w.people.requests.get_mut(number)
            && request.told.is_none()
            && request.key.is_some()
            && request.tries < TRIES_MAX
        {
            request.retry_at = Some(later);
        }
        return;
    }
    crate::check::acks::told(w, number, &request, &answer);
    if let (Answer::Done(Reply::Opened { chat, .. }), Wish::Open { .. }) = (&answer, &request.wish)
    {
        w.people.chats.entry(*chat).or_default();
    }
    if let Some(request) = w.people.requests.get_mut(number) {
        request.retry_at = None;
        request.told.get_or_insert(answer);
    }
}

/// Somebody wants something new.
fn want(w: &mut World) {
    let chats: Vec<ChatId> = w.people.chats.keys().copied().collect();
    let opening = w.people.requests.iter().filter(|r| matches!(r.wish, Wish::Open { .. })).count();
    let chat = w.rng.pick(&chats).copied();
    let Some(chat) = chat.filter(|_| opening >= CHATS_MAX || !w.rng.permille(150)) else {
        if opening < CHATS_MAX {
            let text = if w.rng.permille(600) { Some(w.token()) } else { None };
            ask(w, None, Wish::Open { text });
        }
        return;
    };
    let Some(loaded) = w.journal.store.load(chat).map(|loaded| loaded.chat) else { return };
    let wish = match w.rng.below(100) {
        0..=39 => say(w, &loaded),
        40..=47 => about_queue(w, &loaded),
        48..=50 => Wish::Plain(Command::PauseQueue),
        51..=56 => Wish::Plain(Command::ResumeQueue),
        57..=59 => Wish::Plain(Command::Interrupt),
        60 => Wish::Plain(Command::StopAgent),
        61..=74 => {
            let Some(answer) = about_prompt(w, &loaded) else { return };
            if w.rng.permille(300) {
                let other = about_prompt(w, &loaded).unwrap_or_else(|| answer.clone());
                ask(w, Some(chat), other);
            }
            answer
        }
        75..=84 => {
            let resume = resume(w, &loaded);
            if w.rng.permille(300) {
                ask(w, Some(chat), resume.clone());
            }
            resume
        }
        85..=87 => Wish::Plain(Command::Dismiss {
            recorded_at: loaded.head.offer.as_ref().map(|offer| offer.recorded_at),
        }),
        88..=91 => match about_doubt(w, &loaded) {
            Some(wish) => wish,
            None => return,
        },
        92..=93 => match loaded.head.tasks.keys().next() {
            Some(task) => Wish::Plain(Command::StopTask { task: *task }),
            None => return,
        },
        94..=96 => Wish::Plain(match loaded.head.life {
            Life::Open => Command::Close {
                leftovers: if w.rng.permille(300) { Leftovers::Leave } else { Leftovers::End },
            },
            Life::Closed | Life::Unborn | Life::Deleted => Command::Reopen,
        }),
        97 if w.rng.permille(600) => Wish::Attach { bytes: 1 + w.rng.below(1000) as u64 },
        97 => Wish::Plain(Command::Change(ChangeChat {
            title: Some(format!("named {}", w.token())),
            ..ChangeChat::default()
        })),
        98 if w.rng.permille(300) => Wish::Plain(Command::Delete),
        99 => match unnamed(&loaded).next() {
            Some(attachment) => Wish::Plain(Command::Detach { attachment }),
            None => Wish::Plain(Command::Reopen),
        },
        _ => Wish::Plain(Command::Reopen),
    };
    ask(w, Some(chat), wish);
}

fn say(w: &mut World, chat: &holdfast_core::head::Chat) -> Wish {
    let by = match w.rng.below(10) {
        0 => Author::App,
        1 => Author::Schedule,
        2 => Author::Channel,
        _ => Author::Person,
    };
    let send = match w.rng.below(12) {
        0 => Send::Steer,
        1 => Send::Interrupt,
        _ => Send::Queue,
    };
    // Some words are said again and again.
    let text = if w.rng.permille(150) { "go on".to_owned() } else { w.token() };
    // What was attached goes with the next message that is sent.
    let attachments = unnamed(chat).take(MESSAGE_ATTACHMENTS_MAX).collect();
    Wish::Send { text, by, send, attachments }
}

/// What is attached and no message names.
fn unnamed(chat: &holdfast_core::head::Chat) -> impl Iterator<Item = AttachmentId> {
    let free = chat.aside.attachments.iter().filter(|(_, held)| held.named.is_none());
    free.map(|(id, _)| *id)
}

fn about_queue(w: &mut World, chat: &holdfast_core::head::Chat) -> Wish {
    let waiting: Vec<MessageId> = chat.aside.queue.iter().map(|queued| queued.message).collect();
    if let Some(outstanding) = chat.head.outstanding.as_ref().filter(|_| w.rng.permille(300)) {
        return Wish::Plain(Command::WithdrawQueued { message: outstanding.message });
    }
    let Some(message) = w.rng.pick(&waiting).copied() else { return say(w, chat) };
    Wish::Plain(match w.rng.below(4) {
        0 => Command::EditQueued { message, text: w.token() },
        1 => Command::WithdrawQueued { message },
        2 => {
            let mut order = waiting;
            let (a, b) = (w.rng.below(order.len()), w.rng.below(order.len()));
            order.swap(a, b);
            Command::OrderQueue { order }
        }
        _ => Command::SendNow { message },
    })
}

pub(crate) fn about_prompt(w: &mut World, chat: &holdfast_core::head::Chat) -> Option<Wish> {
    let open = chat.head.prompts.iter().filter(|(_, prompt)| prompt.is_open() || !w.calm);
    let open: Vec<_> = open.map(|(id, _)| *id).collect();
    let prompt = *w.rng.pick(&open)?;
    let option = if w.rng.permille(500) { "yes" } else { "no" }.to_owned();
    let answer = PromptAnswer::Option { option, text: None };
    let device = Some(format!("device-{}", w.rng.below(2)));
    Some(Wish::Plain(Command::Answer { prompt, answer, by: "someone".to_owned(), device }))
}

fn choice(w: &mut World) -> Choice {
    match w.rng.below(3) {
        0 => Choice::Arrived,
        1 => Choice::SendAgain,
        _ => Choice::Discard,
    }
}

fn resume(w: &mut World, chat: &holdfast_core::head::Chat) -> Wish {
    let recorded_at = chat.head.offer.as_ref().map(|offer| offer.recorded_at);
    let recorded_at = recorded_at.filter(|_| w.rng.permille(700));
    let choice = if w.rng.permille(400) { Some(choice(w)) } else { None };
    let anyway = if w.rng.permille(200) { Anyway::Yes } else { Anyway::No };
    let session = match w.rng.below(8) {
        0 => Session::Fresh { recap: RECAP.to_owned() },
        _ => Session::Recorded,
    };
    Wish::Plain(Command::Resume { recorded_at, choice, session, anyway })
}

/// What a person wants of an agent that no longer knows its session.
pub(crate) fn fresh(choice: Option<Choice>) -> Command {
    let session = Session::Fresh { recap: RECAP.to_owned() };
    Command::Resume { recorded_at: None, choice, session, anyway: Anyway::Yes }
}

fn about_doubt(w: &mut World, chat: &holdfast_core::head::Chat) -> Option<Wish> {
    let stranded: Vec<_> = chat.head.stranded.iter().map(|one| (one.message, one.why)).collect();
    let (message, why) = *w.rng.pick(&stranded)?;
    let choice = match (choice(w), why) {
        (Choice::Arrived, Strand::Refused) => Choice::SendAgain,
        (choice, _) => choice,
    };
    Some(Wish::Plain(Command::Resolve { message, choice }))
}
