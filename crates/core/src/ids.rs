//! Identities. What is born at the edge (a chat, a message, an attempt) has a random uuid; what is
//! born inside a chat (an item, a prompt, a task, a turn) is numbered, so that deciding needs no
//! randomness. Order is never read from an id.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// A text that is not the id it was taken for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {what} id")]
pub struct InvalidId {
    /// What the id was to name.
    pub what: &'static str,
    /// The text, cut to 80 characters.
    pub text: String,
}

impl InvalidId {
    fn new(what: &'static str, text: &str) -> Self {
        Self { what, text: text.chars().take(80).collect() }
    }
}

/// Serialises an id as its text.
macro_rules! id_as_text {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// The id that carries this uuid.
            #[must_use]
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }
            /// The uuid within.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), self.0.simple())
            }
        }
        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let hex = text.strip_prefix(concat!($prefix, "_"));
                hex.filter(|hex| hex.len() == 32 && !hex.bytes().any(|b| b.is_ascii_uppercase()))
                    .and_then(|hex| Uuid::try_parse(hex).ok())
                    .map(Self)
                    .ok_or_else(|| InvalidId::new($what, text))
            }
        }
        id_as_text!($name);
    };
}

uuid_id!(
    /// A durable conversation.
    ChatId, "chat", "chat"
);
uuid_id!(
    /// What somebody sends to an agent. Agents that echo a client's id get this uuid.
    MessageId, "msg", "message"
);
uuid_id!(
    /// One life of an agent process for one chat. Its uuid is also the cookie in the environment
    /// of the whole process tree and the name of the keeper's directory.
    AttemptId, "att", "attempt"
);
uuid_id!(
    /// A file that goes to an agent with a message.
    AttachmentId, "file", "attachment"
);

macro_rules! scoped_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $what:literal) => {
        $(#[$doc])*
        ///
        /// `origin` is the ordinal of the attempt that brought it forth, 0 for the host itself.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            /// The ordinal of the attempt within its chat, from 1; 0 is the host.
            pub origin: u32,
            /// The number within the origin, from 1.
            pub n: u32,
        }

        impl $name {
            /// The id with this origin and number.
            #[must_use]
            pub const fn new(origin: u32, n: u32) -> Self {
                Self { origin, n }
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}.{}"), self.origin, self.n)
            }
        }
        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let parse = || {
                    let (origin, n) = text.strip_prefix($prefix)?.split_once('.')?;
                    Some(Self { origin: number(origin)?, n: number(n)? })
                };
                parse().ok_or_else(|| InvalidId::new($what, text))
            }
        }
        id_as_text!($name);
    };
}

/// A decimal number in its one spelling: no sign, no leading zero.
fn number(text: &str) -> Option<u32> {
    let plain = text == "0" || (!text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit()));
    if plain { text.parse().ok() } else { None }
}

scoped_id!(
    /// One entry of a transcript.
    ItemId, "i", "item"
);
scoped_id!(
    /// An approval or a question on which an agent waits.
    PromptId, "p", "prompt"
);
scoped_id!(
    /// Background work of an agent.
    TaskId, "k", "task"
);

/// One run of the agent, numbered within its chat from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnId(pub u32);

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}
impl FromStr for TurnId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let n = text.strip_prefix('t').and_then(number);
        n.map(Self).ok_or_else(|| InvalidId::new("turn", text))
    }
}
id_as_text!(TurnId);

/// What a person allowed for good in one chat, numbered within it from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GrantId(pub u32);

impl fmt::Display for GrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "g{}", self.0)
    }
}
impl FromStr for GrantId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let n = text.strip_prefix('g').and_then(number);
        n.map(Self).ok_or_else(|| InvalidId::new("grant", text))
    }
}
id_as_text!(GrantId);

/// The id that every accepted write with a life of its own returns. It names chat and subject, so
/// that it is answered from the subject's own row.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReceiptId {
    /// The chat that the write went to.
    pub chat: ChatId,
    /// What it became.
    pub subject: Subject,
}

/// What a receipt speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Subject {
    /// A message, a continuation too.
    Message(MessageId),
    /// The answer to a prompt.
    Answer(PromptId),
}

impl fmt::Display for ReceiptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rcp_{}_", self.chat.uuid().simple())?;
        match self.subject {
            Subject::Message(message) => write!(f, "m{}", message.uuid().simple()),
            Subject::Answer(prompt) => write!(f, "{prompt}"),
        }
    }
}
impl FromStr for ReceiptId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let parse = || {
            let (chat, subject) = text.strip_prefix("rcp_")?.split_once('_')?;
            let chat = format!("chat_{chat}").parse().ok()?;
            let subject = match subject.strip_prefix('m') {
                Some(hex) => Subject::Message(format!("msg_{hex}").parse().ok()?),
                None => Subject::Answer(subject.parse().ok()?),
            };
            Some(Self { chat, subject })
        };
        parse().ok_or_else(|| InvalidId::new("receipt", text))
    }
}
id_as_text!(ReceiptId);

/// The number of a fact within its chat, from 1; 0 before the first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// The number of a frame within its attempt, from 1. It is also the JSON-RPC id of a request.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct FrameNo(pub u64);

/// The number of the next record to read from an attempt's spool, from 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Position(pub u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_and_have_one_spelling() {
        let chat = ChatId::new(Uuid::from_u128(7));
        assert_eq!(chat.to_string().parse(), Ok(chat));
        assert!("chat_7".parse::<ChatId>().is_err());
        assert!(chat.to_string().to_uppercase().parse::<ChatId>().is_err());
        assert!(chat.to_string().replace("chat_", "msg_").parse::<ChatId>().is_err());
        let item = ItemId::new(3, 17);
        assert_eq!(item.to_string(), "i3.17");
        assert_eq!("i3.17".parse(), Ok(item));
        for odd in ["i3", "i03.17", "i3.+1", "i3.", "p3.17", "i3.17 ", "i4294967296.1", ""] {
            assert!(odd.parse::<ItemId>().is_err(), "{odd}");
        }
    }

    #[test]
    fn a_receipt_names_chat_and_subject() {
        let chat = ChatId::new(Uuid::from_u128(7));
        for subject in [
            Subject::Message(MessageId::new(Uuid::from_u128(9))),
            Subject::Answer(PromptId::new(2, 1)),
        ] {
            let receipt = ReceiptId { chat, subject };
            assert_eq!(receipt.to_string().parse(), Ok(receipt));
        }
        assert!("rcp_7_m9".parse::<ReceiptId>().is_err());
    }
}
