//! The end of a history: nothing goes wrong any more, agents do what is asked, and a person sees to
//! what needs one. Then everything must come to an end: every state has a way out.

use holdfast_core::head::{Chat, Life, Prompt};
use holdfast_core::ids::ChatId;
use holdfast_core::input::{Anyway, Choice, Command, Session};

use holdfast_store::ChatFilter;

use crate::check;
use crate::host;
use crate::people::{self, Wish};
use crate::world::World;

/// Rounds of a person's looking after everything.
const ROUNDS_MAX: u32 = 40;
/// Chats of one list.
const CHATS_MAX: usize = 100;
/// Steps of one round.
const STEPS_MAX: u32 = 20_000;
/// How long nothing must happen before a person looks again, in microseconds.
const REST_MICROS: u64 = 25_000_000;

/// Brings a history to its end.
pub(crate) fn settle(w: &mut World) {
    w.say(|| "the weather clears".to_owned());
    w.calm = true;
    w.weather.release_after = None;
    w.weather.ceiling_after = None;
    w.people.left = 0;
    w.set_disk_full(false);
    // Also what nobody was told of is in the list.
    for row in w.journal.store.chats(ChatFilter::All, None, CHATS_MAX).unwrap_or_default().rows {
        w.people.chats.entry(row.id).or_default();
    }
    for _ in 0..ROUNDS_MAX {
        rest(w);
        if w.violation().is_some() {
            return;
        }
        if !look_after(w) {
            return check::at_rest(w);
        }
    }
    let chats: Vec<(ChatId, Chat)> = open(w).collect();
    for (id, chat) in chats {
        match next_act(w, &chat) {
            Next::Act(_) | Next::Wait => {
                return w.fail(format!("{id} has no way out: {:?}", chat.head));
            }
            Next::Nothing => {}
        }
    }
    w.fail("no host comes to rest".to_owned());
}

/// Lets things happen until nothing does.
fn rest(w: &mut World) {
    for _ in 0..STEPS_MAX {
        w.step();
        let idle = w.clock.awake.saturating_sub(w.last_activity) > REST_MICROS;
        if w.violation().is_some() || (idle && w.is_quiet()) {
            return;
        }
    }
    w.fail("it does not come to rest".to_owned());
}

fn open(w: &World) -> impl Iterator<Item = (ChatId, Chat)> + '_ {
    w.people.chats.keys().filter_map(|id| {
        let chat = w.journal.store.load(*id)?.chat;
        (chat.head.life != Life::Deleted).then_some((*id, chat))
    })
}

/// A person does the next thing about each chat that is not at its end. Whether there was one.
fn look_after(w: &mut World) -> bool {
    let chats: Vec<(ChatId, Chat)> = open(w).collect();
    let mut busy = false;
    for (id, chat) in chats {
        match next_act(w, &chat) {
            Next::Act(wish) => {
                people::ask(w, Some(id), *wish);
                busy = true;
            }
            Next::Wait => busy = true,
            Next::Nothing => {}
        }
    }
    if w.host.is_none() {
        host::start(w);
        busy = true;
    }
    busy
}

enum Next {
    Act(Box<Wish>),
    /// Something is still under way.
    Wait,
    Nothing,
}

fn next_act(w: &mut World, chat: &Chat) -> Next {
    let head = &chat.head;
    let act = |command| Next::Act(Box::new(Wish::Plain(command)));
    if head.life == Life::Closed {
        return act(Command::Reopen);
    }
    if head.prompts.values().any(Prompt::is_open) {
        return match people::about_prompt(w, chat) {
            Some(wish) => Next::Act(Box::new(wish)),
            None => Next::Wait,
        };
    }
    if head.outstanding.is_some() || head.turn.is_some() || !head.tasks.is_empty() {
        return Next::Wait;
    }
    if head.failure.as_deref() == Some("session_not_found") {
        // The agent cannot bring its session back: a new one is told what was said.
        let choice = head.offer.is_some().then_some(Choice::SendAgain);
        return act(people::fresh(choice));
    }
    if let Some(offer) = &head.offer {
        if !offer.shown || offer.resuming {
            return Next::Wait;
        }
        let doubt = !head.stranded.is_empty();
        let choice = doubt.then_some(Choice::SendAgain);
        return act(Command::Resume {
            recorded_at: None,
            choice,
            session: Session::Recorded,
            anyway: Anyway::Yes,
        });
    }
    if head.failure.is_some() {
        return act(Command::Resume {
            recorded_at: None,
            choice: None,
            session: Session::Recorded,
            anyway: Anyway::Yes,
        });
    }
    if let Some(stranded) = head.stranded.first() {
        let message = stranded.message;
        return act(Command::Resolve { message, choice: Choice::SendAgain });
    }
    if head.paused.is_some() {
        return act(Command::ResumeQueue);
    }
    if chat.aside.queue.is_empty() { Next::Nothing } else { Next::Wait }
}
