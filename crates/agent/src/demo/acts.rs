//! Doing what the directives say.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::agent::Agent;
use super::directive::{self, Directive};
use super::session::{Session, chunks};
use super::store::Record;
use super::turn::{Cut, Prompt, Turn};
use super::{ask, background, hostile, leave};

/// Does all directives of a prompt in their order; a text without any is echoed.
pub(super) fn perform(
    agent: &Arc<Agent>,
    session: &Arc<Session>,
    turn: &Arc<Turn>,
    prompt: &Prompt,
) -> Result<(), Cut> {
    let own = directive::own_text(&prompt.text);
    let directives = directive::parse(own);
    if directives.is_empty() {
        // Who says nothing is told what came beside it.
        let echo = if own.trim().is_empty() { &prompt.shown() } else { own };
        session.say(agent, echo);
        return turn.rest(Duration::ZERO);
    }
    for directive in directives {
        turn.rest(Duration::ZERO)?;
        act(agent, session, turn, prompt, directive)?;
    }
    Ok(())
}

fn act(
    agent: &Arc<Agent>,
    session: &Arc<Session>,
    turn: &Arc<Turn>,
    prompt: &Prompt,
    directive: Directive,
) -> Result<(), Cut> {
    match directive {
        Directive::Say(text) => session.say(agent, &text),
        Directive::Think(text) => think(agent, session, &text),
        Directive::Slow(time) => turn.rest(time)?,
        Directive::Ask { question, choices } => {
            ask::question(agent, session, turn, &question, &choices)?;
        }
        Directive::Approve { commands } => ask::approvals(agent, session, turn, &commands)?,
        Directive::Retract { after, command } => {
            ask::retracted(agent, session, turn, &command, after)?;
        }
        Directive::Background { kind, lasts, label } => {
            background::start(agent, session, kind, lasts, &label);
        }
        Directive::Prompt => session.say(agent, &prompt.shown()),
        Directive::Count => session.say(agent, &session.seen().to_string()),
        Directive::Die(code) => leave(code),
        Directive::Flood(bytes) => hostile::flood(agent, session, turn, bytes)?,
        Directive::Fork => hostile::fork(agent, session),
        Directive::Stream { count, gap } => {
            stream(agent, session, turn, (count, gap), |number| format!("line {number}\n"))?;
        }
        Directive::Clock { count, gap } => {
            stream(agent, session, turn, (count, gap), |_| format!("{}\n", now()))?;
        }
        Directive::Tool { name, lasts } => tool(agent, session, turn, &name, lasts)?,
        Directive::Output(bytes) => hostile::output(agent, session, bytes),
        Directive::Plan(steps) => plan(agent, session, &steps),
        Directive::Raw(bytes) => hostile::raw(agent, session, &bytes),
        Directive::Line(bytes) => hostile::line(agent, session, bytes),
        Directive::Endless => hostile::line(agent, session, u64::MAX),
        Directive::Error(code) => return Err(Cut::Error(code)),
        Directive::Title(text) => title(agent, session, text),
        Directive::Malformed { written, expected } => {
            session.say(agent, &format!("Not understood: {written:?}; expected: {expected}."));
        }
    }
    Ok(())
}

fn think(agent: &Agent, session: &Session, text: &str) {
    let message_id = agent.new_id("msg");
    for chunk in chunks(text) {
        session.chunk(agent, "agent_thought_chunk", &message_id, chunk);
    }
}

fn stream(
    agent: &Agent,
    session: &Session,
    turn: &Arc<Turn>,
    (count, gap): (u64, Duration),
    line: impl Fn(u64) -> String,
) -> Result<(), Cut> {
    let message_id = agent.new_id("msg");
    let mut said = String::new();
    let mut ended = Ok(());
    for number in 1..=count {
        let line = line(number);
        session.chunk(agent, "agent_message_chunk", &message_id, &line);
        said.push_str(&line);
        ended = turn.rest(gap);
        if ended.is_err() {
            break;
        }
    }
    session.store(&Record::Agent { text: said, message_id });
    ended
}

/// Microseconds since 1970.
#[allow(clippy::disallowed_methods, reason = "what it says is the time")]
fn now() -> u128 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros())
}

fn tool(
    agent: &Agent,
    session: &Session,
    turn: &Arc<Turn>,
    name: &str,
    lasts: Duration,
) -> Result<(), Cut> {
    let call = agent.new_id("call");
    agent.out.update(
        &session.id,
        &json!({
            "sessionUpdate": "tool_call",
            "toolCallId": call,
            "title": name,
            "kind": "other",
            "status": "in_progress",
            "rawInput": { "seconds": lasts.as_secs_f64() },
        }),
    );
    let rested = turn.rest(lasts);
    let (status, output) = match rested {
        Ok(()) => ("completed", format!("{name} done\n")),
        Err(_) => ("failed", format!("{name} cancelled\n")),
    };
    end_call(agent, session, &call, status, &output);
    rested
}

/// The last update of a tool call.
pub(super) fn end_call(agent: &Agent, session: &Session, call: &str, status: &str, output: &str) {
    agent.out.update(
        &session.id,
        &json!({
            "sessionUpdate": "tool_call_update",
            "toolCallId": call,
            "status": status,
            "content": [{ "type": "content", "content": { "type": "text", "text": output } }],
            "rawOutput": { "output": output },
        }),
    );
}

fn plan(agent: &Agent, session: &Session, steps: &[String]) {
    let show = |first: &str, others: &str| {
        let entries: Vec<_> = steps
            .iter()
            .enumerate()
            .map(|(place, step)| {
                let status = if place == 0 { first } else { others };
                json!({ "content": step, "priority": "medium", "status": status })
            })
            .collect();
        let update = json!({ "sessionUpdate": "plan", "entries": entries });
        agent.out.update(&session.id, &update);
    };
    show("in_progress", "pending");
    show("completed", "completed");
}

fn title(agent: &Agent, session: &Session, text: String) {
    let update = json!({ "sessionUpdate": "session_info_update", "title": text });
    agent.out.update(&session.id, &update);
    session.store(&Record::Title { text });
}
