//! The words of the wire for the enums of core and of the store; api.md and delivery.md fix them.
//! Each set of words is an enum of its own here, so that the document of the API lists it.

use holdfast_core::activity;
use holdfast_core::fact;
use holdfast_core::head;
use holdfast_core::item;
use holdfast_core::offer;
use holdfast_core::provider;
use holdfast_core::queue;
use holdfast_store as store;
use serde::Serialize;
use utoipa::ToSchema;

/// An enum of words, each its variant in snake case, and where there is one the function that makes
/// it from the enum of the same variants within.
macro_rules! words {
    () => {};
    ($(#[$doc:meta])* $name:ident = $make:ident($within:ty) { $($variant:ident)* } $($rest:tt)*) => {
        words!($(#[$doc])* $name { $($variant)* });
        pub(crate) const fn $make(from: $within) -> $name {
            match from {
                $(<$within>::$variant => $name::$variant,)*
            }
        }
        words!($($rest)*);
    };
    ($(#[$doc:meta])* $name:ident { $($variant:ident)* } $($rest:tt)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum $name {
            $($variant,)*
        }
        words!($($rest)*);
    };
}

words! {
    /// What a list shows of a chat.
    Shown = shown(activity::Shown) { Blocked Working Monitoring ToCheck Idle }
    /// What the main agent of a chat does.
    Lead = lead(activity::Lead) { Working Blocked Done }
    /// The agent's process.
    Process = process(activity::Process) { Stopped Starting Running Stopping Stalled }
    /// Where a chat is in its life.
    Life { Open Closed Deleted }
    /// Who wrote a message.
    Author = author(fact::Author) { Person Channel App Schedule Host }
    /// How the end of a turn is known.
    Evidence = evidence(fact::Evidence) { Agent AgentStore Person Message Quiet Death }
    /// What an agent can do beyond turns: bring a session back with its history or without it, take a
    /// message into a running turn, end one task, fork its session where it is; fork it at the end of an
    /// earlier turn, and go back to one.
    Capability { Load Resume Steer StopTask Fork Rewind }
    /// Why a message was not taken up.
    RefusedWhy { Rejected NotWritten NotInStore }
    /// What an entry of a transcript is.
    ItemKind = item_kind(item::ItemKind) {
        Message Thinking ToolCall Prompt Plan Note Notice Compaction Unrecognised
    }
    /// Whose an entry of a transcript is.
    Role = role(item::Role) { User Agent Host App }
    /// What became of a message that was given to a running turn: it is on its way, the turn took it up,
    /// it opened a turn of its own, or it waited at the queue's head.
    Steered = steered(item::Steered) { Given TakenUp OwnTurn Returned }
    /// Which text of an entry.
    TextField = field(item::Field) { Text Input Output }
    /// How far a tool call is.
    CallState = call_state(item::CallState) { Running Completed Failed Unknown }
    /// What stopped a chat that showed work.
    Cause = cause(offer::Cause) { Quit Update HostLost AgentDied KeeperLost IdleStop }
    /// What a person can do about a failure.
    Action = action(offer::Action) { Retry OpenChat StartFreshWithRecap StartAnyway }
    /// What an agent waits for.
    PromptKind = prompt_kind(provider::PromptKind) { Approval Question }
    /// Whether a prompt still waits.
    PromptState = prompt_state(store::PromptStatus) { Open Answered Gone }
    /// How far an answer got.
    AnswerLife = answer_life(store::AnswerLife) { Answered Written Taken NotUsed Unknown }
    /// What background work is.
    TaskKind = task_kind(provider::TaskKind) { Agent Workflow Command Monitor Unknown }
    /// How far background work is.
    TaskState { Running Completed Failed Stopped Lost }
    /// How far a turn is.
    TurnState { Running Completed Interrupted Failed Lost }
    /// What opened a turn.
    OpenedBy { Message Agent }
    /// What holds a queue.
    HeldBy = held(queue::Held) { Stop Person Dismiss Close Offer StartFailed }
    /// How far a message to the agent is.
    MessageState { Queued Handed Taken Settled Refused Unknown Withdrawn }
    /// What the host tells in a transcript.
    NoticeKind {
        Stopped Resumed StartedFresh StartFailed TurnFailed PromptCancelled TaskNotStopped
        MessageLost LineSkipped Forked ForkHoldsMore WentBack Retrying AgentSays SettingRefused
        Adopted
    }
    /// What a receipt is for.
    ReceiptKind { Message Answer }
    /// What became of a write with a receipt: the states of a message, or the life of an answer.
    ReceiptState {
        Queued Handed Taken Settled Refused Unknown Withdrawn Answered Written NotUsed
    }
    /// What became of one chat of a resume or a dismissal.
    Outcome { Pending Dismissed Superseded Failed Refused }
    /// Whether a stream goes on where the client was.
    Verdict { Ok Gap }
}

/// What an agent can do, in words.
pub(crate) fn capabilities(of: provider::Capabilities) -> Vec<Capability> {
    let fork = match of.forks {
        provider::Forks::AtTheEnd => true,
        provider::Forks::AtTurns | provider::Forks::AtTurnsInMemory => true,
        provider::Forks::Nowhere => false,
    };
    let rewind = match of.forks {
        provider::Forks::AtTurns | provider::Forks::AtTurnsInMemory => true,
        provider::Forks::AtTheEnd | provider::Forks::Nowhere => false,
    };
    [
        (of.load, Capability::Load),
        (of.resume, Capability::Resume),
        (of.steer, Capability::Steer),
        (of.stop_task, Capability::StopTask),
        (fork, Capability::Fork),
        (rewind, Capability::Rewind),
    ]
    .into_iter()
    .filter_map(|(able, word)| able.then_some(word))
    .collect()
}

pub(crate) const fn life(life: head::Life) -> Life {
    match life {
        head::Life::Open => Life::Open,
        head::Life::Closed => Life::Closed,
        head::Life::Deleted | head::Life::Unborn => Life::Deleted,
    }
}

pub(crate) const fn refused(why: &fact::RefusedWhy) -> RefusedWhy {
    match why {
        fact::RefusedWhy::Rejected { .. } => RefusedWhy::Rejected,
        fact::RefusedWhy::NotWritten => RefusedWhy::NotWritten,
        fact::RefusedWhy::NotInStore => RefusedWhy::NotInStore,
    }
}

pub(crate) const fn task_end(end: provider::TaskEnd) -> TaskState {
    match end {
        provider::TaskEnd::Completed => TaskState::Completed,
        provider::TaskEnd::Failed => TaskState::Failed,
        provider::TaskEnd::Stopped => TaskState::Stopped,
        provider::TaskEnd::Lost => TaskState::Lost,
    }
}

pub(crate) const fn turn_end(end: provider::TurnEnd) -> TurnState {
    match end {
        provider::TurnEnd::Completed => TurnState::Completed,
        provider::TurnEnd::Interrupted => TurnState::Interrupted,
        provider::TurnEnd::Failed => TurnState::Failed,
        provider::TurnEnd::Lost => TurnState::Lost,
    }
}

pub(crate) const fn message_state(state: &store::MessageState) -> MessageState {
    match state {
        store::MessageState::Queued => MessageState::Queued,
        store::MessageState::Handed => MessageState::Handed,
        store::MessageState::Taken => MessageState::Taken,
        store::MessageState::Settled => MessageState::Settled,
        store::MessageState::Refused(_) => MessageState::Refused,
        store::MessageState::Unknown { .. } => MessageState::Unknown,
        store::MessageState::Withdrawn(_) => MessageState::Withdrawn,
    }
}

/// The state of a message as that of its receipt.
pub(crate) const fn message_receipt(state: &store::MessageState) -> ReceiptState {
    match state {
        store::MessageState::Queued => ReceiptState::Queued,
        store::MessageState::Handed => ReceiptState::Handed,
        store::MessageState::Taken => ReceiptState::Taken,
        store::MessageState::Settled => ReceiptState::Settled,
        store::MessageState::Refused(_) => ReceiptState::Refused,
        store::MessageState::Unknown { .. } => ReceiptState::Unknown,
        store::MessageState::Withdrawn(_) => ReceiptState::Withdrawn,
    }
}

/// The life of an answer as that of its receipt.
pub(crate) const fn answer_receipt(life: store::AnswerLife) -> ReceiptState {
    match life {
        store::AnswerLife::Answered => ReceiptState::Answered,
        store::AnswerLife::Written => ReceiptState::Written,
        store::AnswerLife::Taken => ReceiptState::Taken,
        store::AnswerLife::NotUsed => ReceiptState::NotUsed,
        store::AnswerLife::Unknown => ReceiptState::Unknown,
    }
}
