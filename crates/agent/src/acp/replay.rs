//! The history that an agent replays while it loads a session: how many messages of the user it
//! holds, and which is the last. Nothing else of it is looked at.

use holdfast_core::digest;
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};

use crate::ordinals::json_bytes;

/// Bytes (within JSON) of a message whose pieces are still being joined.
const JOIN_BYTES_MAX: usize = 16 * 1024;

/// A message of which more pieces may come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Message {
    /// The digest of the agent's id of it.
    id: Option<u64>,
    /// Its text so far; none when that is too long to be kept for more, and was counted.
    text: Option<String>,
}

/// Whether every message was seen whole and by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Certainty {
    /// It was.
    #[default]
    Whole,
    /// A message may have been two, or was too long to be joined: the count proves nothing, nor
    /// does that a text is not the last.
    Doubtful,
}

/// A replay under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Replay {
    message: Option<Message>,
    certainty: Certainty,
    /// Messages that are over.
    messages: u64,
    /// The digest of the last of them.
    last: Option<String>,
}

impl Replay {
    /// A piece of a user's message.
    pub(super) fn piece(&mut self, id: Option<u64>, text: String) {
        let text = match self.message.take_if(|message| message.id == id) {
            Some(message) => {
                // Without an id nobody knows where one message ends and the next begins.
                if id.is_none() || message.text.is_none() {
                    self.certainty = Certainty::Doubtful;
                }
                message.text.unwrap_or_default() + &text
            }
            None => {
                self.other();
                text
            }
        };
        let text = if json_bytes(&text) <= JOIN_BYTES_MAX {
            Some(text)
        } else {
            // Every agent that was seen replays a message in one piece.
            self.count(&text);
            None
        };
        self.message = Some(Message { id, text });
    }

    /// A part of the replay was lost or cannot be read: it may have been any message.
    pub(super) fn has_a_hole(&mut self) {
        self.certainty = Certainty::Doubtful;
    }

    /// Something else was replayed: the message is over.
    pub(super) fn other(&mut self) {
        if let Some(text) = self.message.take().and_then(|message| message.text) {
            self.count(&text);
        }
    }

    fn count(&mut self, text: &str) {
        self.messages = self.messages.saturating_add(1);
        self.last = Some(digest(text));
    }

    /// The session is loaded. Says that the history is through, unless that would prove what it
    /// does not.
    pub(super) fn end(mut self) -> Option<ProviderEvent> {
        self.other();
        let Self { certainty, messages, last, .. } = self;
        match certainty {
            Certainty::Whole => Some(ProviderEvent::ReplayEnded { messages, last }),
            Certainty::Doubtful => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Step {
        Piece(Option<u64>, String),
        Other,
        Hole,
    }

    fn told(steps: Vec<Step>) -> Option<(u64, Option<String>)> {
        let mut replay = Replay::default();
        for step in steps {
            match step {
                Step::Piece(id, text) => replay.piece(id, text),
                Step::Other => replay.other(),
                Step::Hole => replay.has_a_hole(),
            }
            let stored = serde_json::to_vec(&replay).unwrap();
            assert!(stored.len() <= JOIN_BYTES_MAX + 256);
        }
        match replay.end() {
            Some(ProviderEvent::ReplayEnded { messages, last }) => Some((messages, last)),
            _ => None,
        }
    }

    #[test]
    fn pieces_of_one_message_are_joined_and_doubt_proves_nothing() {
        use Step::{Hole, Other, Piece};
        let p = |id, text: &str| Piece(id, text.to_owned());
        let long = "x".repeat(JOIN_BYTES_MAX + 1);
        for (steps, proof) in [
            (vec![], Some((0, None))),
            (vec![p(Some(1), "a"), p(Some(1), "b")], Some((1, Some("ab")))),
            (vec![p(Some(1), "a"), p(Some(2), "b")], Some((2, Some("b")))),
            (vec![p(None, "a"), Other, p(None, "b")], Some((2, Some("b")))),
            (vec![p(None, "a"), p(None, "b")], None),
            (vec![p(Some(1), "a"), Other, p(Some(1), "b")], Some((2, Some("b")))),
            (vec![p(Some(1), &long), Other, Other], Some((1, Some(&*long)))),
            (vec![p(Some(1), &long), p(Some(2), "b")], Some((2, Some("b")))),
            (vec![p(Some(1), &long), p(Some(1), "b")], None),
            (vec![p(Some(1), "a"), Hole], None),
            (vec![Hole, p(Some(1), "a")], None),
        ] {
            let proof = proof.map(|(messages, last)| (messages, last.map(digest)));
            assert_eq!(told(steps), proof);
        }
    }
}
