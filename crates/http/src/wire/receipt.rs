//! What became of a write.

use holdfast_core::ids::{ChatId, MessageId, PromptId, ReceiptId, TurnId};
use holdfast_store::{Given, MessageRow};
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::ids;
use crate::wire::item::Refused;
use crate::wire::prompt::Answered;
use crate::wire::time::{Time, rfc3339};
use crate::wire::words;

/// What became of a write that gave a receipt.
#[derive(Serialize, ToSchema)]
pub(crate) struct Receipt {
    #[schema(value_type = ids::ReceiptId)]
    id: ReceiptId,
    /// What it is for.
    kind: words::ReceiptKind,
    /// What became of it.
    state: words::ReceiptState,
    /// Of a message: whether the agent's own store is yet to be asked.
    asking: bool,
    #[schema(value_type = ids::ChatId)]
    chat: ChatId,
    /// When it was accepted.
    at: Time,
    /// Of a message: which.
    #[schema(value_type = Option<ids::MessageId>)]
    message: Option<MessageId>,
    /// Of a message: who wrote it.
    by: Option<words::Author>,
    /// Of a message: the turn that it opened.
    #[schema(value_type = Option<ids::TurnId>)]
    turn: Option<TurnId>,
    /// Of a message: why it was not taken up.
    refused: Option<Refused>,
    /// Of an answer: to what.
    #[schema(value_type = Option<ids::PromptId>)]
    prompt: Option<PromptId>,
    /// Of an answer: what was answered.
    answer: Option<Answered>,
}

impl Receipt {
    /// The receipt of a message.
    pub(crate) fn of_message(id: ReceiptId, row: MessageRow) -> Self {
        Self {
            id,
            kind: words::ReceiptKind::Message,
            state: words::message_receipt(&row.state),
            asking: row.state.asking(),
            chat: id.chat,
            at: rfc3339(row.accepted_at),
            message: Some(row.id),
            by: Some(words::author(row.by)),
            turn: row.turn,
            refused: Refused::of(row.state),
            prompt: None,
            answer: None,
        }
    }

    /// The receipt of an answer.
    pub(crate) fn of_answer(id: ReceiptId, prompt: PromptId, given: Given) -> Self {
        Self {
            id,
            kind: words::ReceiptKind::Answer,
            state: words::answer_receipt(given.life),
            asking: false,
            chat: id.chat,
            at: rfc3339(given.at),
            message: None,
            by: None,
            turn: None,
            refused: None,
            prompt: Some(prompt),
            answer: Some(Answered::of(given)),
        }
    }
}

/// A message that was accepted.
#[derive(Serialize, ToSchema)]
pub(crate) struct Accepted {
    /// Under which to ask what became of it.
    #[schema(value_type = ids::ReceiptId)]
    pub(crate) receipt: ReceiptId,
    /// The message.
    pub(crate) message: MessageNow,
    /// What else a person should know.
    pub(crate) note: Option<String>,
}

/// A message and where it is.
#[derive(Serialize, ToSchema)]
pub(crate) struct MessageNow {
    #[schema(value_type = ids::MessageId)]
    pub(crate) id: MessageId,
    pub(crate) state: words::MessageState,
}

/// A write that has a receipt and nothing more to say.
#[derive(Serialize, ToSchema)]
pub(crate) struct Received {
    /// Under which to ask what became of it.
    #[schema(value_type = Option<ids::ReceiptId>)]
    pub(crate) receipt: Option<ReceiptId>,
}
