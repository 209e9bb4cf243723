//! Facts and heads as a disk has kept them. The rules read no JSON by themselves, so this stands
//! outside their crate: the fuzz target and the tests of the corpora share it.

use holdfast_core::activity::Activity;
use holdfast_core::decide::decide;
use holdfast_core::effect::owed;
use holdfast_core::fact::{Author, Death, Fact, Secret, StopWhy};
use holdfast_core::fold::fold;
use holdfast_core::head::{Attempt, Chat, Head};
use holdfast_core::ids::{AttemptId, ChatId, MessageId, TaskId};
use holdfast_core::input::{
    Anyway, Boot, Command, Given, Input, KeeperEvent, Leftovers, Send, Session,
};
use holdfast_core::offer::{Cause, Snapshot, details, sentence};
use holdfast_core::provider::{ProviderEvent, TurnEnd};
use holdfast_core::summary::Summary;
use holdfast_core::time::{Awake, Micros};
use serde::{Serialize, de::DeserializeOwned};

/// Each line is a fact that is folded in, or a head that takes the place of the one before; any other
/// line is what a chat cannot be read from, and is passed over.
///
/// # Panics
///
/// When a fact or a head is written in another way than it is read, or when what a disk has kept
/// breaks a rule that reads it.
pub(crate) fn fold_stored(data: &[u8]) {
    let mut chat = Chat::default();
    for (line, at) in data.split(|byte| *byte == b'\n').zip(1..) {
        if let Ok(fact) = serde_json::from_slice::<Fact>(line) {
            comes_back(&fact);
            if let Fact::OfferRecorded { snapshot, .. } = &fact {
                say(snapshot);
            }
            fold(&mut chat, &fact, Micros(at));
        } else if let Ok(head) = serde_json::from_slice::<Head>(line) {
            chat.head = head;
        } else {
            continue;
        }
        comes_back(&chat.head);
        look_at(&chat);
    }
    for input in inputs(&chat) {
        let mut chat = chat.clone();
        // A refusal is an answer like any other.
        let _ = decide(&mut chat, input, &given());
        comes_back(&chat.head);
        look_at(&chat);
    }
}

fn comes_back<T>(value: &T)
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let written = serde_json::to_vec(value);
    let read = written.as_deref().map(serde_json::from_slice::<T>);
    assert!(matches!(&read, Ok(Ok(read)) if read == value), "{value:?} is read as {read:?}");
}

/// What whoever has a chat asks of it.
fn look_at(chat: &Chat) {
    let _ = (Summary::of(chat), owed(chat));
    say(&Snapshot::of(&Activity::of(chat)));
}

fn say(snapshot: &Snapshot) {
    let _ = (sentence(snapshot), details(snapshot));
}

fn given() -> Given {
    Given {
        chat: ChatId::new(uuid::Uuid::from_u128(1)),
        at: Micros(1_000_000),
        awake: Awake(1_000_000),
        attempt: AttemptId::new(uuid::Uuid::from_u128(2)),
        secret: Secret("00".to_owned()),
    }
}

/// What may happen to a chat next.
fn inputs(chat: &Chat) -> Vec<Input> {
    let message = MessageId::new(uuid::Uuid::from_u128(3));
    let send = |send| {
        let (text, by, attachments) = ("on".to_owned(), Author::Person, Vec::new());
        Command::Send { message, text, by, send, attachments }
    };
    let mut inputs: Vec<Input> = [
        send(Send::Queue),
        send(Send::Steer),
        send(Send::Interrupt),
        Command::PauseQueue,
        Command::ResumeQueue,
        Command::Interrupt,
        Command::StopAgent,
        Command::StopTask { task: TaskId::new(1, 1) },
        Command::Close { leftovers: Leftovers::End },
        Command::Reopen,
        Command::Delete,
        Command::Resume {
            recorded_at: None,
            choice: None,
            session: Session::Recorded,
            anyway: Anyway::Yes,
        },
        Command::Dismiss { recorded_at: None },
        Command::Stop { why: StopWhy::Offered(Cause::Quit) },
    ]
    .map(Input::Command)
    .into();
    inputs.push(Input::Tick { last_word: Awake(0), release_after: Some(1), ceiling_after: None });
    if let Some(Attempt { id: attempt, frame, .. }) = &chat.head.attempt {
        let (attempt, frame) = (*attempt, *frame);
        let (death, boot) = (Death::KeeperLost, Boot::Other);
        let dead = KeeperEvent::Dead { death, boot, survivors: vec![1], stderr: "no".to_owned() };
        for event in [dead, KeeperEvent::FrameDone(frame), KeeperEvent::StopRefused] {
            inputs.push(Input::Keeper { attempt, event });
        }
        let completed = ProviderEvent::TurnEnded {
            how: TurnEnd::Completed,
            usage: None,
            text: None,
            mark: None,
        };
        let replayed = ProviderEvent::ReplayEnded { messages: 1, last: None };
        let taken = ProviderEvent::MessageTaken { frame };
        for event in [ProviderEvent::Stirred, taken, completed, replayed] {
            inputs.push(Input::Provider { attempt, event });
        }
    }
    inputs
}
