//! Turns and what the agent says in them.

use super::{Draft, prompt};
use crate::activity::Activity;
use crate::fact::{Evidence, Fact, Paused};
use crate::fork::TurnPlace;
use crate::frame::Outgoing;
use crate::head::{Chat, Delivery, Head};
use crate::ids::{ItemId, MessageId, TaskId, TurnId};
use crate::input::Reply;
use crate::item::{Body, ItemKind, Notice, Role};
use crate::limits::MARK_BYTES_MAX;
use crate::provider::{TaskEnd, TurnEnd, Usage};
use crate::refusal::{Code, Refusal};

pub(super) fn open(d: &mut Draft<'_>, message: Option<MessageId>) {
    let turn = TurnId(d.chat.head.turns.saturating_add(1));
    d.push(Fact::TurnOpened { turn, message });
}

/// The agent does something that no message asked for: a turn of its own. After a failed turn it
/// is that turn's late output, and opens none.
pub(super) fn stirred(d: &mut Draft<'_>) {
    if d.chat.head.turn.is_none() && !d.chat.head.failed_turn {
        open(d, None);
    }
}

/// Closes a turn that the agent opened by itself.
pub(super) fn close_own(d: &mut Draft<'_>, evidence: Evidence) {
    let own = d.chat.head.turn.filter(|turn| turn.message.is_none());
    if let Some(turn) = own {
        let how = TurnEnd::Completed;
        d.push(Fact::TurnEnded { turn: turn.id, how, evidence, usage: None });
        settle_taken(d);
    }
}

/// What was taken into the turn that has just ended has had its turn.
fn settle_taken(d: &mut Draft<'_>) {
    let taken = d.chat.head.at_agent().filter(|o| o.state == Delivery::Taken);
    let taken: Vec<MessageId> = taken.map(|outstanding| outstanding.message).collect();
    for message in taken {
        d.push(Fact::MessageSettled { message, evidence: Evidence::Agent });
    }
}

pub(super) fn ended(
    d: &mut Draft<'_>,
    how: TurnEnd,
    usage: Option<Usage>,
    text: Option<String>,
    mark: Option<String>,
) {
    let Some(turn) = d.chat.head.turn else { return };
    let how = match how {
        // An agent may say that it finished although it was told to stop.
        TurnEnd::Completed if turn.interrupted.is_some() => TurnEnd::Interrupted,
        TurnEnd::Completed | TurnEnd::Interrupted | TurnEnd::Failed | TurnEnd::Lost => how,
    };
    if !d.chat.head.attempt.as_ref().is_some_and(|a| a.capabilities.keeps_prompts) {
        prompt::over(d);
    }
    end_foreground(d);
    match (how, text) {
        (TurnEnd::Failed, text) => d.say(Notice::TurnFailed, text.as_deref().unwrap_or_default()),
        (TurnEnd::Completed | TurnEnd::Interrupted | TurnEnd::Lost, _) => {}
    }
    d.push(Fact::TurnEnded { turn: turn.id, how, evidence: Evidence::Agent, usage });
    if let Some(mark) =
        mark.filter(|mark| mark.len() <= MARK_BYTES_MAX && is_place(d.chat, turn.id))
    {
        let Head { places: at, session_messages: messages, .. } = d.chat.head;
        d.push(Fact::TurnMarked(TurnPlace { turn: turn.id, at, mark, messages }));
    }
    settle_taken(d);
    super::offer::finished(d, how);
}

/// Whether what is shown up to the end of this turn is what the chat's session holds there. A message that
/// is shown already may not be: on its way to the agent, back in the queue, or let go of by this turn. And a
/// session that was left is not the chat's any more.
fn is_place(chat: &Chat, turn: TurnId) -> bool {
    let head = &chat.head;
    let on_its_way = head.at_agent().any(|o| o.state == Delivery::Handed);
    let waits = chat.aside.queue.iter().any(|queued| queued.item.is_some());
    let let_go = head.stranded.iter().any(|stranded| stranded.into == Some(turn));
    let left = head.attempt.as_ref().is_some_and(|attempt| attempt.left);
    !on_its_way && !waits && !let_go && !left
}

/// What ends with a turn: also with one that the agent gave up before it was seen to begin.
pub(super) fn end_foreground(d: &mut Draft<'_>) {
    let foreground = d.chat.head.tasks.iter().filter(|(_, task)| task.foreground);
    let foreground: Vec<TaskId> = foreground.map(|(id, _)| *id).collect();
    for task in foreground {
        d.push(Fact::TaskEnded { task, how: TaskEnd::Completed });
    }
}

/// A user's Stop: the turn is to end, and the queue waits.
pub(super) fn interrupt(d: &mut Draft<'_>) -> Result<Reply, Refusal> {
    // A start for a waiting message is work that can be stopped: the message then waits.
    let starting = Activity::of(d.chat).starting;
    if d.chat.head.turn.is_none() && d.chat.head.outstanding.is_none() && !starting {
        return Err(Refusal::new(Code::NoTurn, "No turn is running."));
    }
    if !d.has_room(1) {
        return Err(prompt::full());
    }
    let pausable = d.chat.head.paused.is_none() || d.chat.head.exempt.is_some();
    if (!d.chat.aside.queue.is_empty() || d.chat.head.may_come_back()) && pausable {
        d.push(Fact::QueuePaused { by: Paused::Stop });
    }
    request_end(d);
    Ok(Reply::Done)
}

/// Tells the agent to end its turn, once.
pub(super) fn request_end(d: &mut Draft<'_>) {
    let running = d.chat.head.turn.is_some() || d.chat.head.outstanding.is_some();
    let asked = d.chat.head.turn.is_some_and(|turn| turn.interrupted.is_some());
    if !running || d.serving().is_none() {
        return;
    }
    if asked {
        // What was asked since then waits for nobody any more.
        prompt::cancel_open(d);
        return;
    }
    d.issue(Outgoing::Interrupt);
    prompt::cancel_open(d);
    if let Some(turn) = d.chat.head.turn.map(|turn| turn.id) {
        d.push(Fact::InterruptRequested { turn });
    }
}

pub(super) fn item_opened(d: &mut Draft<'_>, item: ItemId, kind: ItemKind, role: Role, body: Body) {
    let turn = d.chat.head.turn.map(|turn| turn.id);
    d.add_item(item, kind, role, turn, body);
}
