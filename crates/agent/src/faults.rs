//! What an error reply of an agent means. Agents use any code and any words, so both are looked at.

use holdfast_core::provider::{Proof, StartFault};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::jsonrpc::{
    INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, PeerError, REQUEST_CANCELLED,
};
use crate::ordinals::head;
use crate::tolerant::{Text, wire};

wire! {
    /// What agents put beside an error.
    ErrorData { details: Text, message: Text }
}

/// Bytes of an agent's words about an error that are kept.
const ERROR_TEXT_BYTES_MAX: usize = 4 * 1024;
/// ACP: somebody has to log in. Other libraries use it for any error of a server.
const AUTH_REQUIRED: i64 = -32000;
/// ACP: what was named is not there.
const RESOURCE_NOT_FOUND: i64 = -32002;

/// What was asked for when the error came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Anything that names no session of before.
    Anything,
    /// A session of before.
    KnownSession,
}

/// An error reply, read.
pub(crate) struct Fault {
    code: i64,
    /// The agent's words, bounded, for people.
    pub(crate) text: String,
    /// The same in lower case, to look for words in.
    words: String,
}

impl Fault {
    pub(crate) fn of(error: &PeerError<'_>) -> Self {
        let code = error.code.unwrap_or_default();
        let mut text = error.message.clone().unwrap_or_default();
        let data = error.data.and_then(data_text);
        if let Some(data) = data.filter(|data| !text.contains(data)) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&data);
        }
        if text.trim().is_empty() {
            text = format!("error {code}");
        }
        let text = head(&text, ERROR_TEXT_BYTES_MAX).to_owned();
        let words = text.to_lowercase();
        Self { code, text, words }
    }

    /// Why the agent will not work for the chat.
    pub(crate) fn at_start(&self, asked: Asked) -> StartFault {
        let known = asked == Asked::KnownSession;
        if known && (self.session_unknown() || self.code == RESOURCE_NOT_FOUND) {
            StartFault::SessionNotFound
        } else if self.code == AUTH_REQUIRED || self.login_needed() {
            StartFault::LoginNeeded
        } else {
            StartFault::AgentRefused
        }
    }

    /// What an error reply to a message proves, when nothing showed before that it was taken: only
    /// what rejects a request as such came before the take-up.
    pub(crate) fn proof(&self) -> Proof {
        let rejected = match self.code {
            METHOD_NOT_FOUND | INVALID_PARAMS | PARSE_ERROR | INVALID_REQUEST => true,
            AUTH_REQUIRED => self.login_needed(),
            _ => self.session_unknown(),
        };
        if rejected { Proof::NotTaken } else { Proof::Nothing }
    }

    /// Whether the request was ended because it was cancelled.
    pub(crate) fn cancelled(&self) -> bool {
        self.code == REQUEST_CANCELLED
    }

    fn login_needed(&self) -> bool {
        ["authenticat", "auth required", "log in", "login", "logged in", "sign in"]
            .iter()
            .any(|word| self.words.contains(word))
    }

    fn session_unknown(&self) -> bool {
        let missing = [
            "not found",
            "unknown",
            "no such",
            "no previous",
            "does not exist",
            "doesn't exist",
            "no rollout found",
        ];
        ["session", "thread", "conversation"].iter().any(|word| self.words.contains(word))
            && missing.iter().any(|word| self.words.contains(word))
            && !self.words.contains("method not found")
            && self.code != METHOD_NOT_FOUND
    }
}

/// What agents put beside the message, as a text.
fn data_text(data: &RawValue) -> Option<String> {
    if let Ok(text) = serde_json::from_str::<String>(data.get()) {
        return Some(text).filter(|text| !text.trim().is_empty());
    }
    let told: ErrorData = serde_json::from_str(data.get()).ok()?;
    told.details.or(told.message).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(json: &str) -> Fault {
        Fault::of(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn an_error_at_the_start_has_a_kind() {
        use StartFault::{AgentRefused, LoginNeeded, SessionNotFound};
        for (json, new, known) in [
            (r#"{"code":-32000,"message":"Authentication required"}"#, LoginNeeded, LoginNeeded),
            (r#"{"code":-32603,"message":"Please authenticate first"}"#, LoginNeeded, LoginNeeded),
            (r#"{"code":-32602,"message":"Session not found: x"}"#, AgentRefused, SessionNotFound),
            (
                r#"{"code":-32603,"message":"Internal error","data":{"details":"No previous sessions found for this project."}}"#,
                AgentRefused,
                SessionNotFound,
            ),
            (r#"{"code":-32002,"message":"Resource not found"}"#, AgentRefused, SessionNotFound),
            (
                r#"{"code":-32600,"message":"no rollout found for thread id x"}"#,
                AgentRefused,
                SessionNotFound,
            ),
            (
                r#"{"code":-32601,"message":"Method not found: session/load"}"#,
                AgentRefused,
                AgentRefused,
            ),
            (r#"{"code":-32603,"message":"Internal error"}"#, AgentRefused, AgentRefused),
            (r#"{}"#, AgentRefused, AgentRefused),
        ] {
            assert_eq!(fault(json).at_start(Asked::Anything), new, "{json}");
            assert_eq!(fault(json).at_start(Asked::KnownSession), known, "{json}");
        }
    }

    #[test]
    fn only_a_rejection_proves_that_a_message_was_not_taken() {
        use Proof::{NotTaken, Nothing};
        for (json, proof) in [
            (r#"{"code":-32601,"message":"x"}"#, NotTaken),
            (r#"{"code":-32602,"message":"x"}"#, NotTaken),
            (r#"{"code":-32600,"message":"x"}"#, NotTaken),
            (r#"{"code":-32700,"message":"x"}"#, NotTaken),
            (r#"{"code":-32000,"message":"Authentication required"}"#, NotTaken),
            (r#"{"code":-32000,"message":"Server overloaded"}"#, Nothing),
            (r#"{"code":-32603,"message":"Session not found: x"}"#, NotTaken),
            (r#"{"code":-32603,"message":"Internal error: scripted error 401"}"#, Nothing),
            (r#"{"code":400,"message":"{\"error\":{}}"}"#, Nothing),
            (r#"{"code":500,"message":"terminated"}"#, Nothing),
            (r#"{"code":-32800,"message":"cancelled"}"#, Nothing),
            (r#"{"message":7}"#, Nothing),
        ] {
            assert_eq!(fault(json).proof(), proof, "{json}");
        }
    }

    #[test]
    fn the_words_of_an_error_are_bounded() {
        let long = "é".repeat(10_000);
        let text = fault(&format!(r#"{{"message":"{long}"}}"#)).text;
        assert!(text.len() <= ERROR_TEXT_BYTES_MAX && text.starts_with('é'));
        assert_eq!(fault(r#"{"code":7}"#).text, "error 7");
        assert_eq!(fault(r#"{"message":"a","data":"b"}"#).text, "a: b");
        assert_eq!(fault(r#"{"message":"a b","data":"b"}"#).text, "a b");
    }
}
