//! Turns.

use holdfast_core::ids::{MessageId, TurnId};
use holdfast_core::provider::Usage;
use holdfast_store::TurnRow;
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::ids;
use crate::wire::time::{Time, rfc3339};
use crate::wire::words;

/// One run of the agent. `seq` is its number within the chat.
#[derive(Serialize, ToSchema)]
pub(crate) struct Turn {
    #[schema(value_type = ids::TurnId)]
    id: TurnId,
    /// Its number within the chat, from 1.
    seq: u32,
    /// What opened it.
    opened_by: words::OpenedBy,
    /// The message that opened it.
    #[schema(value_type = Option<ids::MessageId>)]
    message: Option<MessageId>,
    /// How far it is.
    state: words::TurnState,
    /// How its end is known.
    evidence: Option<words::Evidence>,
    /// When it began.
    started_at: Time,
    /// When it ended.
    ended_at: Option<Time>,
    /// What it took, where the agent tells.
    usage: Option<Tokens>,
    /// The `seq` of the last item at its end, where the agent can be taken back to that.
    ends_at: Option<u64>,
    /// Whether the chat went back to an earlier place since: the agent knows nothing of it any more.
    left_behind: bool,
}

/// What a turn took.
#[derive(Serialize, ToSchema)]
#[schema(as = Usage)]
struct Tokens {
    /// Tokens that were read.
    input_tokens: Option<u64>,
    /// Tokens that were written.
    output_tokens: Option<u64>,
    /// All of them.
    total_tokens: Option<u64>,
    /// Of those that were read, the ones that the model had kept from before.
    cached_tokens: Option<u64>,
    /// Tokens of the conversation as the model read it last.
    context_tokens: Option<u64>,
    /// Tokens that the model can read at most.
    context_window: Option<u64>,
    /// What it cost by the agent's list of prices, in millionths of a US dollar.
    cost_micros: Option<u64>,
}

impl Turn {
    /// A turn from its row.
    pub(crate) fn of(row: TurnRow) -> Self {
        let tokens = |usage: Usage| Tokens {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            total_tokens: usage.total_tokens,
            cached_tokens: usage.cached_tokens,
            context_tokens: usage.context_tokens,
            context_window: usage.context_window,
            cost_micros: usage.cost_micros,
        };
        let ended = row.ended.as_ref();
        Self {
            id: row.id,
            seq: row.id.0,
            opened_by: if row.message.is_some() {
                words::OpenedBy::Message
            } else {
                words::OpenedBy::Agent
            },
            message: row.message,
            state: ended.map_or(words::TurnState::Running, |end| words::turn_end(end.how)),
            evidence: ended.map(|end| words::evidence(end.evidence)),
            started_at: rfc3339(row.started_at),
            ended_at: ended.map(|end| rfc3339(end.at)),
            usage: row.ended.and_then(|end| end.usage).map(tokens),
            ends_at: row.place.filter(|_| !row.left_behind).map(|place| place.at),
            left_behind: row.left_behind,
        }
    }
}
