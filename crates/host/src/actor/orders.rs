//! What a chat owes, as orders to the driver of its attempt. All of it is without I/O: the shell and
//! the simulation have it done.

use std::collections::BTreeMap;
use std::time::Duration;

use holdfast_agent::codec::EncodeError;
use holdfast_core::effect::Owed;
use holdfast_core::fact::StopWhy;
use holdfast_core::head::{Delivery, Head, Phase};
use holdfast_core::ids::{AttemptId, MessageId};
use holdfast_core::limits::STOP_GRACE_MICROS;

use super::core::Core;
use crate::attachments::letter::Letter;
use crate::attempt::{FrameOrder, Orders, SessionOrder, StopOrder};

/// What is done about a chat's drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The attempt whose death is committed: its driver is told so, and let go.
    pub finished: Option<AttemptId>,
    /// What is done then.
    pub then: Then,
}

/// What is done about the attempt that the chat has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Nothing: it has none, or the next host sees to it.
    Nothing,
    /// Its driver is started and given orders.
    Start,
    /// Its driver is given orders.
    Order,
}

/// Whether the host takes anything on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostLife {
    /// It does.
    Runs,
    /// It is stopping.
    Stops,
}

/// What is done about the drivers of a chat that has this one and owes this.
#[must_use]
pub fn plan(driver: Option<AttemptId>, owed: Option<&Owed>, host: HostLife) -> Plan {
    let current = owed.map(|owed| owed.attempt);
    let finished = driver.filter(|driver| Some(*driver) != current);
    let then = match (current, driver, host) {
        (None, ..) => Then::Nothing,
        (Some(current), Some(driver), _) if driver == current => Then::Order,
        // What was decided to start after the stop is started by the next host.
        (Some(_), _, HostLife::Stops) => Then::Nothing,
        (Some(_), _, HostLife::Runs) => Then::Start,
    };
    Plan { finished, then }
}

/// Orders that were drawn up.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// They.
    pub orders: Orders,
    /// Whether a frame is not among them as its message was not to be had: they are drawn up again.
    pub unordered: bool,
}

/// The messages that the next orders need, in their order.
pub fn letters_needed<'a>(
    owed: &'a Owed,
    before: &'a Orders,
) -> impl Iterator<Item = MessageId> + 'a {
    let new = owed.frames.iter().filter(|issued| !before.frames.contains_key(&issued.frame.0));
    new.filter_map(|issued| issued.out.message())
}

/// What the driver is ordered, that was ordered this before. Frames are written in their order: what
/// comes behind one that cannot be written yet waits too.
#[must_use]
pub fn draw_up(
    core: &Core,
    owed: &Owed,
    before: Orders,
    letters: &BTreeMap<MessageId, Letter>,
) -> Drawn {
    let mut orders = before;
    let mut unordered = false;
    for issued in &owed.frames {
        if orders.frames.contains_key(&issued.frame.0) {
            continue;
        }
        let message = issued.out.message();
        let letter = message.and_then(|message| letters.get(&message));
        if message.is_some() && letter.is_none() {
            unordered = true;
            break;
        }
        let frame = match core.encode(issued, letter) {
            Ok(bytes) => FrameOrder::Write(bytes.into()),
            Err(
                error @ (EncodeError::PromptGone { .. }
                | EncodeError::TaskGone { .. }
                | EncodeError::TaskNotStoppable { .. }
                | EncodeError::NoTurn
                | EncodeError::NotSettable),
            ) => {
                tracing::info!(frame = issued.frame.0, "passed over: {error}");
                FrameOrder::Cancel
            }
            Err(error) => {
                tracing::error!(attempt = %owed.attempt, frame = issued.frame.0, "{error}");
                break;
            }
        };
        orders.frames.insert(issued.frame.0, frame);
    }
    if let Some(frame) = owed.withdraw {
        orders.frames.insert(frame.0, FrameOrder::Cancel);
    }
    let first = owed.frames.first().map(|issued| issued.frame.0);
    orders.frames.retain(|number, _| first.is_some_and(|first| *number >= first));
    orders.stop = owed.stop.map(|why| StopOrder {
        leaving: why == StopWhy::CloseLeaving,
        grace: Duration::from_micros(STOP_GRACE_MICROS),
        unless_after: match why {
            StopWhy::Idle => Some(core.position().0),
            StopWhy::Offered(_)
            | StopWhy::Close
            | StopWhy::CloseLeaving
            | StopWhy::Delete
            | StopWhy::Ordered
            | StopWhy::StartFailed => None,
        },
    });
    let attempt = core.chat().head.attempt.as_ref();
    orders.session = session(&core.chat().head);
    orders.ready = attempt.is_some_and(|attempt| attempt.phase == Phase::Ready);
    orders.at_once = !core.chat().head.is_resuming();
    orders.acknowledged = core.position().0;
    Drawn { orders, unordered }
}

/// The session that the attempt works with, and what it holds beside the messages at the agent.
fn session(head: &Head) -> Option<SessionOrder> {
    let id = head.handle.as_ref()?.leaf.clone();
    let taken = head.at_agent().filter(|o| o.state == Delivery::Taken).count();
    let taken = u64::try_from(taken).unwrap_or(u64::MAX);
    // A copy is written down with its first message, or not at all.
    let holds = match &head.copied_from {
        Some(_) => 0,
        None => head.session_messages.saturating_sub(taken),
    };
    Some(SessionOrder { id, holds })
}

#[cfg(test)]
mod tests {
    use holdfast_agent::codec::AgentKind;
    use holdfast_core::fact::Secret;
    use holdfast_core::head::{Chat, Offer};
    use holdfast_core::ids::{ChatId, MessageId};
    use holdfast_core::offer::Cause;
    use holdfast_core::time::Micros;
    use holdfast_store::Loaded;
    use uuid::Uuid;

    use super::*;

    /// Whether an attempt starts without a turn among the resumes.
    fn at_once(chat: Chat) -> bool {
        let loaded = Loaded { chat, progress: None, read_only: None };
        let core = Core::new(ChatId::new(Uuid::nil()), AgentKind::Acp, Some(loaded)).unwrap();
        let (attempt, secret) = (AttemptId::new(Uuid::nil()), Secret(String::new()));
        let owed = Owed { attempt, secret, frames: Vec::new(), withdraw: None, stop: None };
        draw_up(&core, &owed, Orders::default(), &BTreeMap::new()).orders.at_once
    }

    #[test]
    fn only_a_resume_takes_its_turn_and_only_as_long_as_it_is_one() {
        let mut chat = Chat::default();
        assert!(at_once(chat.clone()), "no offer, or one that a person's own message has ended");
        chat.head.offer = Some(Offer {
            cause: Cause::Quit,
            recorded_at: Micros(0),
            shown: true,
            starting: false,
            only_turn: true,
            continuation: MessageId::new(Uuid::nil()),
            root: None,
            resuming: true,
            choice: None,
        });
        assert!(!at_once(chat));
    }
}
