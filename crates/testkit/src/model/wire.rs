//! What an API makes of a reply.

use serde_json::Value;

/// What a model says, piece by piece.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Some text.
    Text(String),
    /// Some of a thought.
    Thought(String),
    /// A call of a tool.
    Call {
        /// Its id, which no other call of any server has.
        id: String,
        /// The tool.
        name: String,
        /// What it is called with.
        arguments: Value,
    },
    /// An error in the middle of the stream; nothing follows.
    Failed(String),
    /// The connection is cut; nothing follows.
    Cut,
    /// The reply is complete.
    End {
        /// Why it ends; the API's own word where none was told.
        stop: Option<String>,
    },
}

/// What all pieces of one reply have in common.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    /// Unique over all servers: agents pass ids of replies and calls on as their own.
    pub(super) id: String,
    /// The model that was asked.
    pub(super) model: Value,
    /// What its usage says of its input, in tokens.
    pub(super) input_tokens: u64,
}

/// What its usage says of a reply's output, in tokens.
pub(super) const OUTPUT_TOKENS: u64 = 10;

/// One server-sent event.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Its name, where the API has names.
    pub(super) name: Option<String>,
    /// Its data.
    pub(super) data: String,
}

/// The form of one API.
pub(super) trait Wire: Send {
    /// What comes before all else.
    fn begin(&mut self) -> Vec<Event>;
    /// A piece of the reply. `Part::Cut` never comes here.
    fn part(&mut self, part: &Part) -> Vec<Event>;
    /// The reply as one body, made of all its pieces.
    fn whole(&mut self, parts: &[Part]) -> Value;
    /// The body of an answer with this HTTP status.
    fn refused(&self, status: u16) -> Value;
}
