//! What became of a write.

use holdfast_core::ids::{ChatId, MessageId, PromptId, ReceiptId, TurnId};
use holdfast_store::{Given, MessageRow};
use serde::Serialize;

use crate::wire::item::Refused;
use crate::wire::prompt::Answered;
use crate::wire::time::rfc3339;
use crate::wire::words::{self, Word};

/// What became of a write that gave a receipt.
#[derive(Serialize)]
pub(crate) struct Receipt {
    id: ReceiptId,
    kind: Word,
    state: Word,
    asking: bool,
    chat: ChatId,
    at: String,
    message: Option<MessageId>,
    by: Option<Word>,
    turn: Option<TurnId>,
    refused: Option<Refused>,
    prompt: Option<PromptId>,
    answer: Option<Answered>,
}

impl Receipt {
    /// The receipt of a message.
    pub(crate) fn of_message(id: ReceiptId, row: MessageRow) -> Self {
        Self {
            id,
            kind: "message",
            state: row.state.word(),
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
            kind: "answer",
            state: given.life.word(),
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
#[derive(Serialize)]
pub(crate) struct Accepted {
    pub(crate) receipt: ReceiptId,
    pub(crate) message: MessageNow,
    pub(crate) note: Option<String>,
}

/// A message and where it is.
#[derive(Serialize)]
pub(crate) struct MessageNow {
    pub(crate) id: MessageId,
    pub(crate) state: Word,
}

/// A write that has a receipt and nothing more to say.
#[derive(Serialize)]
pub(crate) struct Received {
    pub(crate) receipt: Option<ReceiptId>,
}
