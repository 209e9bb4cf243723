//! What holds after every input, whatever it was.

use std::collections::BTreeSet;

use super::Scene;
use crate::attachment::Held;
use crate::fact::Fact;
use crate::head::{Chat, Delivery, Life, Outstanding, Steer, Strand};
use crate::ids::MessageId;
use crate::input::{Choice, Command, Input, KeeperEvent};
use crate::limits::{
    CHAT_ATTACHMENTS_BYTES_MAX, CHAT_ATTACHMENTS_MAX, LIVE_TASKS_MAX, OPEN_PROMPTS_MAX,
    OUTBOX_FRAMES_MAX, STEERED_MESSAGES_MAX, STEERS_WAITING_MAX, STRANDED_MESSAGES_MAX,
};
use crate::provider::{Proof, ProviderEvent};

/// Where a message is that was accepted and is not over.
fn held(chat: &Chat) -> Vec<MessageId> {
    let queue = chat.aside.queue.iter().map(|q| q.message);
    let out = chat.head.at_agent().map(|o| o.message);
    queue.chain(out).chain(chat.head.stranded.iter().map(|s| s.message)).collect()
}

pub(super) fn check(before: &Chat, input: &Input, scene: &Scene, facts: &[Fact]) {
    let chat = &scene.chat;
    let head = &chat.head;
    no_message_vanishes(before, chat, facts);
    no_attachment_vanishes(before, chat, facts);
    offers_end_by_acts(input, facts);
    nothing_twice(before, facts);
    no_second_hand_over_unasked(before, input, facts);
    if head.attempt.is_none() {
        assert!(head.turn.is_none(), "a turn without an agent");
        assert_eq!(head.at_agent().count(), 0, "a message at no agent");
        assert!(head.prompts.is_empty() && head.tasks.is_empty() && head.more_tasks.total() == 0);
        assert!(chat.aside.prompts.is_empty() && chat.aside.tasks.is_empty());
    }
    if head.turn.is_none() {
        assert_eq!(head.steered, [], "given to no turn");
    }
    let handed = head.at_agent().filter(|o| o.state == Delivery::Handed).count();
    assert!(handed <= 1, "two messages on their way to one agent");
    assert!(head.steered.len() <= STEERED_MESSAGES_MAX && head.steers.len() <= STEERS_WAITING_MAX);
    let waits = |steer: &Steer| chat.aside.queue.iter().any(|q| q.message == steer.message);
    assert!(head.steers.iter().all(waits), "to be given, and does not wait");
    assert_eq!(head.prompts.len(), chat.aside.prompts.len());
    assert_eq!(head.tasks.len(), chat.aside.tasks.len());
    assert!(head.prompts.len() <= OPEN_PROMPTS_MAX && head.tasks.len() <= LIVE_TASKS_MAX);
    // Beside the bound one may be at the agent when it is met, and one is a continuation.
    assert!(head.stranded.len() <= STRANDED_MESSAGES_MAX + 2, "{}", head.stranded.len());
    if let Some(attempt) = &head.attempt {
        // Beside the bound there may be a frame for each answer of a person and an interrupt.
        assert!(attempt.outbox.len() <= OUTBOX_FRAMES_MAX + 2);
        let frames: Vec<u64> = attempt.outbox.iter().map(|issued| issued.frame.0).collect();
        assert!(frames.windows(2).all(|pair| pair[0] < pair[1]), "frames out of order");
    }
    if let Some(exempt) = head.exempt {
        assert!(chat.aside.queue.iter().any(|q| q.message == exempt), "exempt, but not waiting");
    }
    if head.offer.as_ref().is_some_and(|offer| !offer.resuming) {
        assert_eq!(head.exempt, None, "a message that passes an offer by");
    }
    if head.may_live {
        assert!(head.attempt.is_none() && head.failure.is_some(), "two writers");
    }
    if head.life != Life::Open {
        assert!(head.offer.is_none(), "an offer of a chat that is gone");
        assert!(!facts.iter().any(|f| matches!(f, Fact::AttemptStarting { .. })));
    }
    let text = serde_json::to_string(head).expect("serialises");
    assert_eq!(&serde_json::from_str::<crate::head::Head>(&text).expect("reads back"), head);
}

/// What was accepted is queued, at the agent, or without an outcome, until it is settled or an act
/// withdraws it; and it is in one place only.
fn no_message_vanishes(before: &Chat, chat: &Chat, facts: &[Fact]) {
    let now = held(chat);
    let set: BTreeSet<MessageId> = now.iter().copied().collect();
    assert_eq!(set.len(), now.len(), "a message in two places");
    let mut due: BTreeSet<MessageId> = held(before).into_iter().collect();
    for fact in facts {
        match fact {
            Fact::MessageAccepted { message, .. } => {
                assert!(due.insert(*message), "accepted twice");
            }
            Fact::MessageDisproved { message } => {
                assert!(due.insert(*message), "disproved, but not settled");
            }
            Fact::MessageSettled { message, .. } | Fact::MessageWithdrawn { message, .. } => {
                assert!(due.remove(message), "settled or withdrawn, but not there");
            }
            Fact::ChatDeleted => {
                due.retain(|id| chat.head.at_agent().any(|o| o.message == *id));
            }
            _ => {}
        }
    }
    assert_eq!(set, due, "a message vanished, or came from nowhere");
}

/// What was attached is kept until somebody lets go of one that no message names, or the chat goes.
fn no_attachment_vanishes(before: &Chat, chat: &Chat, facts: &[Fact]) {
    let mut due = before.aside.attachments.as_ref().clone();
    for fact in facts {
        match fact {
            Fact::AttachmentAdded(added) => {
                let held = Held { bytes: added.bytes, named: None };
                assert_eq!(due.insert(added.id, held), None, "attached twice");
            }
            Fact::AttachmentRemoved { attachment } => {
                let gone = due.remove(attachment);
                assert!(gone.is_some_and(|held| held.named.is_none()), "a message names it");
            }
            Fact::MessageAccepted { message, attachments, .. } => {
                for id in attachments {
                    due.get_mut(id).expect("named, but not there").named = Some(*message);
                }
            }
            Fact::ChatDeleted => due.clear(),
            _ => {}
        }
    }
    assert_eq!(&due, chat.aside.attachments.as_ref(), "an attachment vanished");
    assert!(due.len() <= CHAT_ATTACHMENTS_MAX);
    let bytes: u64 = due.values().map(|held| held.bytes).sum();
    assert!(bytes <= CHAT_ATTACHMENTS_BYTES_MAX);
}

/// Offers end by what a person does, by the proof that they were resumed, by a newer stop; never
/// by time and never by an agent's own doing.
fn offers_end_by_acts(input: &Input, facts: &[Fact]) {
    use crate::fact::OfferEnd;
    for fact in facts {
        let Fact::OfferEnded { how, .. } = fact else { continue };
        let fits = match how {
            OfferEnd::Resumed => {
                matches!(input, Input::Provider { .. } | Input::Command(Command::Resume { .. }))
            }
            OfferEnd::Dismissed => matches!(
                input,
                Input::Provider { .. }
                    | Input::Command(Command::Dismiss { .. } | Command::Resume { .. })
            ),
            OfferEnd::Progress => matches!(
                input,
                Input::Command(
                    Command::Send { .. } | Command::SendNow { .. } | Command::ResumeQueue
                )
            ),
            OfferEnd::Answered => matches!(input, Input::Command(Command::Answer { .. })),
            OfferEnd::Closed => {
                matches!(input, Input::Command(Command::Close { .. } | Command::Delete))
            }
            OfferEnd::Rewound => {
                matches!(input, Input::Provider { .. } | Input::Command(Command::Rewind { .. }))
            }
            OfferEnd::Finished => matches!(input, Input::Provider { .. }),
            OfferEnd::Replaced => {
                matches!(input, Input::Keeper { .. } | Input::Command(Command::Stop { .. }))
            }
        };
        assert!(fits, "{how:?} by {input:?}");
    }
}

/// A message goes to an agent from the queue: to open a turn only while nothing else is at it, into a
/// turn only while that has taken all else.
fn nothing_twice(before: &Chat, facts: &[Fact]) {
    let mut waiting: BTreeSet<MessageId> = before.aside.queue.iter().map(|q| q.message).collect();
    let handed = |o: &Outstanding| (o.message, o.state == Delivery::Taken);
    let mut out: Vec<(MessageId, bool)> = before.head.at_agent().map(handed).collect();
    let mut turn = before.head.turn.map(|turn| turn.id);
    for fact in facts {
        match fact {
            Fact::MessageAccepted { message, .. } | Fact::MessageRequeued { message, .. } => {
                waiting.insert(*message);
                out.retain(|(id, _)| id != message);
            }
            Fact::MessageHanded { message, into, .. } => {
                assert!(waiting.remove(message), "handed over, but not waiting");
                match into {
                    Some(_) => {
                        assert_eq!(*into, turn, "given to a turn that does not run");
                        assert!(out.iter().all(|(_, taken)| *taken), "two on their way");
                    }
                    None => assert_eq!(out, [], "two messages at one agent"),
                }
                out.push((*message, false));
            }
            Fact::MessageTaken { message, .. } => {
                let here = out.iter_mut().filter(|(id, _)| id == message);
                here.for_each(|(_, taken)| *taken = true);
            }
            Fact::TurnOpened { turn: opened, .. } => turn = Some(*opened),
            Fact::TurnEnded { .. } => turn = None,
            Fact::MessageSettled { message, .. }
            | Fact::MessageRefused { message, .. }
            | Fact::MessageDoubted { message, .. }
            | Fact::MessageWithdrawn { message, .. } => out.retain(|(id, _)| id != message),
            _ => {}
        }
    }
}

/// What was handed over goes back to the queue only where it provably did not arrive, or a person
/// asks for it.
fn no_second_hand_over_unasked(before: &Chat, input: &Input, facts: &[Fact]) {
    let choice = match input {
        Input::Command(Command::Resolve { choice, .. }) => Some(*choice),
        Input::Command(Command::Resume { choice, .. }) => *choice,
        _ => before.head.offer.as_ref().and_then(|offer| offer.choice),
    };
    let cancelled = matches!(input, Input::Keeper { event: KeeperEvent::FrameCancelled(_), .. });
    let rejected = matches!(
        input,
        Input::Provider {
            event: ProviderEvent::MessageFailed { proof: Proof::NotTaken | Proof::TakenBack, .. },
            ..
        }
    );
    for fact in facts {
        let Fact::MessageRequeued { message, .. } = fact else { continue };
        let refused_before =
            before.head.stranded.iter().any(|s| s.message == *message && s.why == Strand::Refused);
        let refused_now = facts
            .iter()
            .any(|f| matches!(f, Fact::MessageRefused { message: m, .. } if m == message));
        let steered =
            before.head.at_agent().any(|o| o.message == *message && o.into.is_some()) && rejected;
        assert!(
            refused_before
                || refused_now
                || cancelled
                || steered
                || choice == Some(Choice::SendAgain),
            "handed over again, and nobody asked"
        );
    }
}
