//! One turn: what opened it, how it waits, and how it ends.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::acts;
use super::agent::Agent;
use super::directive::{self, Directive};
use super::lock;
use super::session::Session;
use super::settings::TurnEnds;
use super::store::Record;

/// Why a turn ends before its last directive is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cut {
    Cancelled,
    /// The prompt is answered with this JSON-RPC error code.
    Error(i64),
}

/// What came of waiting for the answer to a request.
#[derive(Debug)]
pub(super) enum Answer {
    /// The client's result, or `null` where it answered with an error.
    Given(Value),
    Overdue,
}

/// The part of a turn that other threads reach.
#[derive(Default)]
pub(super) struct Turn {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    cancelled: bool,
    /// Answers that came and were not fetched yet, by the id of our request.
    answers: HashMap<u64, Value>,
}

impl Turn {
    pub(super) fn cancel(&self) {
        lock(&self.state).cancelled = true;
        self.changed.notify_all();
    }

    pub(super) fn answer(&self, request: u64, result: Value) {
        lock(&self.state).answers.insert(request, result);
        self.changed.notify_all();
    }

    /// Waits that long, or until the turn is cancelled.
    pub(super) fn rest(&self, time: Duration) -> Result<(), Cut> {
        match self.wait(Some(time), |_| None::<()>)? {
            Some(()) | None => Ok(()),
        }
    }

    /// Waits for the answer to one of our requests, for at most `time` where one is given.
    pub(super) fn await_answer(&self, request: u64, time: Option<Duration>) -> Result<Answer, Cut> {
        let answer = self.wait(time, |state| state.answers.remove(&request))?;
        Ok(answer.map_or(Answer::Overdue, Answer::Given))
    }

    /// Waits until `ready` gives something; `None` when the time is over before.
    fn wait<T>(
        &self,
        time: Option<Duration>,
        mut ready: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<Option<T>, Cut> {
        let deadline = time.map(|time| Instant::now() + time);
        let mut state = lock(&self.state);
        loop {
            if state.cancelled {
                return Err(Cut::Cancelled);
            }
            if let Some(value) = ready(&mut state) {
                return Ok(Some(value));
            }
            state = match deadline {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Ok(None);
                    }
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

/// What one prompt asks of the agent.
pub(super) struct Prompt {
    /// The JSON-RPC id to answer.
    pub(super) request: Value,
    /// The whole text as received.
    pub(super) text: String,
    /// What came beside it, a block of JSON each.
    pub(super) attached: Vec<String>,
}

impl Prompt {
    /// All of it, as it is shown.
    pub(super) fn shown(&self) -> String {
        let text = Some(self.text.as_str()).filter(|text| !text.is_empty());
        let parts: Vec<&str> =
            text.into_iter().chain(self.attached.iter().map(String::as_str)).collect();
        parts.join("\n")
    }
}

/// Codes that prove that a prompt was rejected before it was taken up: parse error, invalid
/// request, unknown method, invalid parameters, login needed, resource not found.
const REJECTIONS: [i64; 6] = [-32700, -32600, -32601, -32602, -32000, -32002];

/// The error with which the text asks to be rejected before it is taken up.
pub(super) fn rejection(text: &str) -> Option<i64> {
    match directive::parse(directive::own_text(text)).first() {
        Some(Directive::Error(code)) => REJECTIONS.contains(code).then_some(*code),
        Some(_) | None => None,
    }
}

/// Runs a turn to its end and answers its prompt.
pub(super) fn run(agent: &Arc<Agent>, session: &Arc<Session>, turn: &Arc<Turn>, prompt: &Prompt) {
    let ended = acts::perform(agent, session, turn, prompt);
    session.store(&Record::Ended);
    for report in session.end() {
        session.say(agent, &report);
    }
    let name = match agent.settings.turn_ends {
        TurnEnds::Named => Some(session.seen()),
        TurnEnds::Nameless => None,
    };
    match ended {
        Ok(()) => agent.out.result(&prompt.request, &stopped("end_turn", &prompt.text, name)),
        Err(Cut::Cancelled) => {
            agent.out.result(&prompt.request, &stopped("cancelled", &prompt.text, name));
        }
        Err(Cut::Error(code)) => error_as_told(agent, &prompt.request, code),
    }
}

pub(super) fn error_as_told(agent: &Agent, request: &Value, code: i64) {
    agent.out.error(request, code, &format!("told to answer with error {code}"));
}

/// The result of a prompt; the figures are the prompt's words, as good as any for a demo. The end of the
/// turn is named by how many messages of the user's there were.
fn stopped(reason: &str, text: &str, name: Option<u64>) -> Value {
    let input = text.split_whitespace().count();
    json!({
        "stopReason": reason,
        "usage": { "inputTokens": input, "outputTokens": 1, "totalTokens": input + 1 },
        "_meta": { "holdfast": { "turn": name.map(|name| name.to_string()) } },
    })
}
