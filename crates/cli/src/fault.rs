//! What ends a command badly: the words for a person, the code for a program, the exit code.

use serde::Serialize;
use serde_json::Value;

use crate::clock::now;
use crate::text::ago;

/// How a command ended, for the shell (api.md fixes the numbers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It failed, by a defect or by something that fits no other.
    Failed = 1,
    /// The arguments are not right.
    Usage = 2,
    /// There is no such chat, message, prompt.
    NotFound = 3,
    /// Refused, or in conflict with what is.
    Refused = 4,
    /// No token, a wrong one, or one that may not.
    NotAuthorised = 5,
    /// No host answers.
    Unreachable = 6,
    /// It took longer than the caller wanted to wait.
    TimedOut = 7,
    /// The agent failed, not the host.
    AgentFailed = 8,
    /// Too much at once: the same call may succeed in a moment.
    Overloaded = 75,
}

impl Exit {
    /// The exit code of an answer that says no.
    pub(crate) fn of(status: u16, code: &str) -> Self {
        match (status, code) {
            (_, "queue_full" | "overloaded") | (503, _) => Self::Overloaded,
            (400, _) => Self::Usage,
            (401 | 403, _) => Self::NotAuthorised,
            (404, _) => Self::NotFound,
            (402 | 405..=499 | 507, _) => Self::Refused,
            _ => Self::Failed,
        }
    }
}

/// Why a command did not do what it was asked to.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The exit code.
    pub exit: Exit,
    /// A stable word: the host's code, or one of the client's own.
    pub code: String,
    /// What happened.
    pub text: String,
    /// What to do about it.
    pub advice: Option<String>,
    /// The host's problem document, where it is the host that said no.
    pub problem: Box<Value>,
}

impl Fault {
    /// A fault of the client's own.
    pub fn new(exit: Exit, code: &str, text: impl Into<String>) -> Self {
        let (code, text) = (code.to_owned(), text.into());
        Self { exit, code, text, advice: None, problem: Box::default() }
    }

    /// Arguments that do not fit.
    pub fn usage(text: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", text)
    }

    /// With what to do about it.
    #[must_use]
    pub fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Whether a host may answer in a moment: it is gone, silent or has too much to do.
    pub(crate) fn passes(&self) -> bool {
        matches!(self.exit, Exit::Unreachable | Exit::TimedOut | Exit::Overloaded)
    }

    /// A problem document of the host.
    pub(crate) fn of(status: u16, problem: Value) -> Self {
        let word = |name: &str| problem[name].as_str().map(str::to_owned);
        let code = word("code").unwrap_or_else(|| format!("http_{status}"));
        let text = word("detail").unwrap_or_else(|| {
            format!("The host answered with HTTP {status} and nothing that explains it.")
        });
        let advice = advice(&code).map(str::to_owned);
        let exit = Exit::of(status, &code);
        let winner = &problem["winner"];
        let text = match (winner["by"].as_str(), winner["at"].as_str()) {
            (Some(by), Some(at)) => format!("{text} It was {by}, {}.", ago(at, now())),
            _ => text,
        };
        Self { exit, code, text, advice, problem: Box::new(problem) }
    }

    /// The fault as a program reads it.
    pub(crate) fn json(&self) -> Value {
        #[derive(Serialize)]
        struct Error<'a> {
            code: &'a str,
            text: &'a str,
            advice: Option<&'a str>,
            exit: u8,
            problem: &'a Value,
        }
        let error = Error {
            code: &self.code,
            text: &self.text,
            advice: self.advice.as_deref(),
            exit: self.exit as u8,
            problem: &self.problem,
        };
        serde_json::json!({ "error": error })
    }
}

/// What a person can do at a refusal, where the host's sentence does not say it in the words of the
/// command line.
fn advice(code: &str) -> Option<&'static str> {
    Some(match code {
        "not_authorised" => {
            "The token is not one of this host's. For another host than this machine's, set \
             HOLDFAST_TOKEN or name a --token-file."
        }
        "chat_not_found" => "holdfast chat ls --all shows the chats that there are.",
        "chat_closed" => "holdfast chat reopen CHAT opens it again.",
        "chat_open" => "holdfast chat close CHAT closes it.",
        "chat_pinned" => "holdfast chat set CHAT --pinned=false unpins it.",
        "agent_not_found" => "holdfast agent ls shows the agents that there are.",
        "no_offer" => "holdfast offers shows what can be resumed.",
        "not_queued" | "message_not_found" => "holdfast chat queue CHAT shows what waits.",
        "prompt_gone" | "already_answered" | "prompt_not_found" => {
            "holdfast chat answer CHAT shows what is asked now."
        }
        "queue_full" => "holdfast chat queue CHAT shows what waits, and takes it back.",
        "too_many_unknown" => {
            "holdfast chat show CHAT names the messages in doubt; holdfast chat resolve settles them."
        }
        "overloaded" | "stopping" | "not_durable" => "Try again in a moment.",
        "storage_full" => "Free some space on the host's disk, then try again.",
        "internal" => "The cause is in the host's log.",
        "not_found" | "method_not_allowed" => {
            "This host may be older than this program: holdfast doctor compares them."
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(400, "field_too_long", 2)]
    #[case(401, "not_authorised", 5)]
    #[case(403, "scope_missing", 5)]
    #[case(404, "chat_not_found", 3)]
    #[case(405, "method_not_allowed", 4)]
    #[case(409, "chat_closed", 4)]
    #[case(410, "prompt_gone", 4)]
    #[case(413, "body_too_large", 4)]
    #[case(429, "queue_full", 75)]
    #[case(429, "overloaded", 75)]
    #[case(429, "too_many_unknown", 4)]
    #[case(500, "internal", 1)]
    #[case(503, "stopping", 75)]
    #[case(507, "storage_full", 4)]
    fn each_refusal_has_its_exit_code(#[case] status: u16, #[case] code: &str, #[case] exit: u8) {
        assert_eq!(Exit::of(status, code) as u8, exit);
    }

    #[test]
    fn a_problem_keeps_its_words_and_names_who_was_first() {
        let winner = json!({ "by": "owner", "at": now().to_string() });
        let problem = json!({ "code": "already_answered", "detail": "Somebody was first.", "winner": winner });
        let fault = Fault::of(409, problem);
        assert_eq!(fault.text, "Somebody was first. It was owner, just now.");
        assert!(fault.advice.is_some());
        assert_eq!(fault.json()["error"]["exit"], 4);
        assert_eq!(Fault::of(502, Value::Null).code, "http_502");
    }
}
