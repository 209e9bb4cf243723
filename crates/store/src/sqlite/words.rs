//! How the enums of core and of this crate are written in columns: by the word that serde gives
//! them.

use holdfast_core::fact::Fact;
use holdfast_core::head::Life;
use holdfast_core::item::Field;
use serde::de::DeserializeOwned;
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::{Deserialize, Serialize, de::IntoDeserializer};

use crate::rows::{AnswerLife, MessageState, PromptStatus};

/// The word of a unit variant.
pub(crate) fn word<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(value)?;
    Ok(json.trim_matches('"').to_owned())
}

/// The unit variant with this word.
pub(crate) fn from_word<'a, T: Deserialize<'a>>(word: &'a str) -> Option<T> {
    let word: StrDeserializer<'a, WordError> = word.into_deserializer();
    T::deserialize(word).ok()
}

/// The value of a JSON column.
pub(super) fn from_json<T: DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_str(json).ok()
}

/// Names the kinds of facts, each once.
macro_rules! kinds {
    ($($fact:pat => $word:literal,)+) => {
        /// The word for the kind of a fact, as serde writes it into the fact.
        pub(crate) const fn kind(fact: &Fact) -> &'static str {
            match fact {
                $($fact => $word,)+
            }
        }

        /// Every kind of fact that this build can read.
        pub(crate) const KINDS: &[&str] = &[$($word),+];
    };
}

kinds! {
    Fact::ChatOpened { .. } => "chat_opened",
    Fact::ChatForked(_) => "chat_forked",
    Fact::ChatRewound { .. } => "chat_rewound",
    Fact::ChatAdopted { .. } => "chat_adopted",
    Fact::ChatTitled { .. } => "chat_titled",
    Fact::ChatPinned { .. } => "chat_pinned",
    Fact::ChatFiled { .. } => "chat_filed",
    Fact::ChatTagged { .. } => "chat_tagged",
    Fact::ChatMuted { .. } => "chat_muted",
    Fact::ChatSeen { .. } => "chat_seen",
    Fact::ChatTuned { .. } => "chat_tuned",
    Fact::SlotBound { .. } => "slot_bound",
    Fact::SettingDeferred => "setting_deferred",
    Fact::AgentRetuned { .. } => "agent_retuned",
    Fact::EffortsTold { .. } => "efforts_told",
    Fact::ChatClosed => "chat_closed",
    Fact::ChatReopened => "chat_reopened",
    Fact::ChatDeleted => "chat_deleted",
    Fact::AttachmentAdded(_) => "attachment_added",
    Fact::AttachmentRemoved { .. } => "attachment_removed",
    Fact::MessageAccepted { .. } => "message_accepted",
    Fact::MessageEdited { .. } => "message_edited",
    Fact::QueueOrdered { .. } => "queue_ordered",
    Fact::MessageWithdrawn { .. } => "message_withdrawn",
    Fact::QueuePaused { .. } => "queue_paused",
    Fact::QueueResumed => "queue_resumed",
    Fact::QueueExempted { .. } => "queue_exempted",
    Fact::MessageHanded { .. } => "message_handed",
    Fact::SteerWished { .. } => "steer_wished",
    Fact::MessageTaken { .. } => "message_taken",
    Fact::MessageSettled { .. } => "message_settled",
    Fact::SettledSuspected { .. } => "settled_suspected",
    Fact::MessageDisproved { .. } => "message_disproved",
    Fact::MessageRefused { .. } => "message_refused",
    Fact::MessageDoubted { .. } => "message_doubted",
    Fact::MessageRequeued { .. } => "message_requeued",
    Fact::TurnOpened { .. } => "turn_opened",
    Fact::TurnClaimed { .. } => "turn_claimed",
    Fact::TurnEnded { .. } => "turn_ended",
    Fact::TurnMarked(_) => "turn_marked",
    Fact::InterruptRequested { .. } => "interrupt_requested",
    Fact::ItemAdded { .. } => "item_added",
    Fact::CallsAbandoned { .. } => "calls_abandoned",
    Fact::GrantGiven { .. } => "grant_given",
    Fact::GrantEnded { .. } => "grant_ended",
    Fact::PromptOpened { .. } => "prompt_opened",
    Fact::PromptAnswered { .. } => "prompt_answered",
    Fact::AnswerWritten { .. } => "answer_written",
    Fact::AnswerTaken { .. } => "answer_taken",
    Fact::AnswerLost { .. } => "answer_lost",
    Fact::PromptGone { .. } => "prompt_gone",
    Fact::TaskStarted { .. } => "task_started",
    Fact::TaskDetached { .. } => "task_detached",
    Fact::TaskEnded { .. } => "task_ended",
    Fact::AttemptStarting { .. } => "attempt_starting",
    Fact::LeftoversSeen { .. } => "leftovers_seen",
    Fact::AttemptBorn { .. } => "attempt_born",
    Fact::AttemptReady { .. } => "attempt_ready",
    Fact::SessionMoved { .. } => "session_moved",
    Fact::FrameIssued { .. } => "frame_issued",
    Fact::FrameBegun { .. } => "frame_begun",
    Fact::FrameDone { .. } => "frame_done",
    Fact::WithdrawRequested { .. } => "withdraw_requested",
    Fact::FrameCancelled { .. } => "frame_cancelled",
    Fact::StopRequested { .. } => "stop_requested",
    Fact::StopWithdrawn { .. } => "stop_withdrawn",
    Fact::AttemptStalled { .. } => "attempt_stalled",
    Fact::AttemptGoesOn { .. } => "attempt_goes_on",
    Fact::StoreRead { .. } => "store_read",
    Fact::AttemptEnded { .. } => "attempt_ended",
    Fact::TreeMayLive { .. } => "tree_may_live",
    Fact::StartedAnyway => "started_anyway",
    Fact::OfferRecorded { .. } => "offer_recorded",
    Fact::OfferShown { .. } => "offer_shown",
    Fact::OfferEnded { .. } => "offer_ended",
    Fact::ResumeStarted { .. } => "resume_started",
    Fact::SessionLeft { .. } => "session_left",
    Fact::ResumeStopped { .. } => "resume_stopped",
    Fact::FailureFiled(_) => "failure_filed",
    Fact::FailureCleared => "failure_cleared",
}

pub(super) const fn life_number(life: Life) -> i64 {
    match life {
        Life::Unborn => 0,
        Life::Open => OPEN,
        Life::Closed => CLOSED,
        Life::Deleted => DELETED,
    }
}

pub(super) const OPEN: i64 = 1;
pub(super) const CLOSED: i64 = 2;
pub(super) const DELETED: i64 = 3;

pub(super) const fn life(number: i64) -> Life {
    match number {
        OPEN => Life::Open,
        CLOSED => Life::Closed,
        DELETED => Life::Deleted,
        _ => Life::Unborn,
    }
}

pub(super) const FIELDS: [Field; 3] = [Field::Text, Field::Input, Field::Output];

pub(super) const fn field_number(field: Field) -> i64 {
    match field {
        Field::Text => 1,
        Field::Input => 2,
        Field::Output => 3,
    }
}

/// The detail that goes with the word of a message's state.
pub(super) fn detail(state: &MessageState) -> Result<Option<String>, serde_json::Error> {
    match state {
        MessageState::Queued
        | MessageState::Handed
        | MessageState::Taken
        | MessageState::Settled
        | MessageState::Unknown { asking: false } => Ok(None),
        MessageState::Unknown { asking: true } => Ok(Some("asking".to_owned())),
        MessageState::Refused(why) => serde_json::to_string(why).map(Some),
        MessageState::Withdrawn(why) => word(why).map(Some),
    }
}

/// The state of a message with this word and detail.
pub(super) fn message_state(word: &str, detail: Option<&str>) -> Option<MessageState> {
    Some(match word {
        "queued" => MessageState::Queued,
        "handed" => MessageState::Handed,
        "taken" => MessageState::Taken,
        "settled" => MessageState::Settled,
        "refused" => MessageState::Refused(from_json(detail?)?),
        "unknown" => MessageState::Unknown { asking: detail == Some("asking") },
        "withdrawn" => MessageState::Withdrawn(from_word(detail?)?),
        _ => return None,
    })
}

pub(super) fn prompt_status(word: &str) -> Option<PromptStatus> {
    use PromptStatus::{Answered, Gone, Open};
    [Open, Answered, Gone].into_iter().find(|state| state.word() == word)
}

pub(super) fn answer_life(word: &str) -> Option<AnswerLife> {
    use AnswerLife::{Answered, NotUsed, Taken, Unknown, Written};
    [Answered, Written, Taken, NotUsed, Unknown].into_iter().find(|life| life.word() == word)
}
