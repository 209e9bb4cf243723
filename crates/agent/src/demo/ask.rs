//! Approvals and questions: the requests that the agent makes of its client.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::acts::end_call;
use super::agent::{Agent, Forms};
use super::lock;
use super::session::Session;
use super::turn::{Answer, Cut, Turn};

const ALLOW_ONCE: &str = "allow-once";
const ALLOW_ALWAYS: &str = "allow-always";
const REJECT_ONCE: &str = "reject-once";

/// One request for approval that is open.
struct Asked<'a> {
    request: u64,
    call: String,
    command: &'a str,
}

/// Asks for approval of each command, all at once, and "runs" what was allowed.
pub(super) fn approvals(
    agent: &Agent,
    session: &Session,
    turn: &Arc<Turn>,
    commands: &[String],
) -> Result<(), Cut> {
    let mut open = Vec::new();
    for command in commands {
        if lock(&session.always).contains(command) {
            let call = announce(agent, session, command, "execute", "in_progress");
            run(agent, session, &call, command);
        } else {
            open.push(ask_approval(agent, session, turn, command));
        }
    }
    for asked in open {
        let answer = turn.await_answer(asked.request, None);
        judge(agent, session, &asked, answer)?;
    }
    Ok(())
}

/// Asks for approval and, unless it is answered in that time, withdraws its own request.
pub(super) fn retracted(
    agent: &Agent,
    session: &Session,
    turn: &Arc<Turn>,
    command: &str,
    after: Duration,
) -> Result<(), Cut> {
    let asked = ask_approval(agent, session, turn, command);
    match turn.await_answer(asked.request, Some(after)) {
        Ok(Answer::Overdue) => {
            agent.out.notify("$/cancel_request", &json!({ "requestId": asked.request }));
            end_call(agent, session, &asked.call, "failed", "withdrawn by the agent\n");
            session.say(agent, &format!("Withdrawn: {command}"));
            Ok(())
        }
        answer => judge(agent, session, &asked, answer),
    }
}

fn ask_approval<'a>(
    agent: &Agent,
    session: &Session,
    turn: &Arc<Turn>,
    command: &'a str,
) -> Asked<'a> {
    let call = announce(agent, session, command, "execute", "pending");
    let params = json!({
        "sessionId": session.id,
        "toolCall": {
            "toolCallId": call,
            "title": command,
            "kind": "execute",
            "status": "pending",
            "rawInput": { "command": command },
        },
        "options": [
            { "optionId": ALLOW_ONCE, "kind": "allow_once", "name": "Allow once" },
            { "optionId": ALLOW_ALWAYS, "kind": "allow_always", "name": "Always allow" },
            { "optionId": REJECT_ONCE, "kind": "reject_once", "name": "Reject" },
        ],
    });
    let request = agent.ask(turn, "session/request_permission", &params);
    Asked { request, call, command }
}

/// Acts on the answer to a request for approval.
fn judge(
    agent: &Agent,
    session: &Session,
    asked: &Asked<'_>,
    answer: Result<Answer, Cut>,
) -> Result<(), Cut> {
    let Asked { call, command, .. } = asked;
    let selected = match answer {
        Ok(Answer::Given(result)) => selected(&result),
        Ok(Answer::Overdue) => None,
        Err(cut) => {
            end_call(agent, session, call, "failed", "cancelled\n");
            return Err(cut);
        }
    };
    match selected.as_deref() {
        Some(ALLOW_ONCE) => run(agent, session, call, command),
        Some(ALLOW_ALWAYS) => {
            lock(&session.always).insert((*command).to_owned());
            run(agent, session, call, command);
        }
        Some(_) => {
            end_call(agent, session, call, "failed", "rejected by the user\n");
            session.say(agent, &format!("Rejected: {command}"));
        }
        // The client took the question away: by the protocol the turn was cancelled.
        None => {
            end_call(agent, session, call, "failed", "cancelled\n");
            return Err(Cut::Cancelled);
        }
    }
    Ok(())
}

/// The chosen option of a permission's outcome; `None` where it was cancelled or makes no sense.
fn selected(result: &Value) -> Option<String> {
    let outcome = result.get("outcome")?;
    if outcome.get("outcome")?.as_str()? != "selected" {
        return None;
    }
    Some(outcome.get("optionId")?.as_str()?.to_owned())
}

/// Pretends to run a command: the demo agent touches nothing.
fn run(agent: &Agent, session: &Session, call: &str, command: &str) {
    agent.out.evidence.note(json!({ "ran": command, "session": session.id }));
    end_call(agent, session, call, "completed", &format!("$ {command}\nok\n"));
    session.say(agent, &format!("Allowed: {command}"));
}

fn announce(agent: &Agent, session: &Session, title: &str, kind: &str, status: &str) -> String {
    let call = agent.new_id("call");
    agent.out.update(
        &session.id,
        &json!({
            "sessionUpdate": "tool_call",
            "toolCallId": call,
            "title": title,
            "kind": kind,
            "status": status,
            "rawInput": { "command": title },
        }),
    );
    call
}

/// Asks a question: by a form where the client shows forms, else by a request for permission whose
/// options are the choices and whose `_meta.holdfast.kind` is `question`.
pub(super) fn question(
    agent: &Agent,
    session: &Session,
    turn: &Arc<Turn>,
    question: &str,
    choices: &[String],
) -> Result<(), Cut> {
    let forms = *lock(&agent.forms);
    let chosen = match forms {
        Forms::Shown => by_form(agent, session, turn, question, choices)?,
        Forms::NotShown => by_permission(agent, session, turn, question, choices)?,
    };
    session.say(agent, &format!("Answer: {chosen}"));
    Ok(())
}

fn by_form(
    agent: &Agent,
    session: &Session,
    turn: &Arc<Turn>,
    question: &str,
    choices: &[String],
) -> Result<String, Cut> {
    let options: Vec<_> =
        choices.iter().map(|choice| json!({ "const": choice, "title": choice })).collect();
    let params = json!({
        "sessionId": session.id,
        "mode": "form",
        "message": question,
        "requestedSchema": {
            "type": "object",
            "properties": {
                "answer": { "type": "string", "title": question, "oneOf": options },
            },
            "required": ["answer"],
        },
    });
    let request = agent.ask(turn, "elicitation/create", &params);
    let Answer::Given(result) = turn.await_answer(request, None)? else {
        return Err(Cut::Cancelled);
    };
    match result.get("action").and_then(Value::as_str) {
        Some("accept") => {
            let answer = result.pointer("/content/answer").and_then(Value::as_str);
            Ok(answer.unwrap_or("(none)").to_owned())
        }
        Some("decline") => Ok("(declined)".to_owned()),
        Some(_) | None => Err(Cut::Cancelled),
    }
}

fn by_permission(
    agent: &Agent,
    session: &Session,
    turn: &Arc<Turn>,
    question: &str,
    choices: &[String],
) -> Result<String, Cut> {
    let call = agent.new_id("call");
    let options: Vec<_> = choices
        .iter()
        .enumerate()
        .map(|(place, choice)| {
            json!({
                "optionId": format!("choice-{}", place + 1),
                "kind": "allow_once",
                "name": choice,
            })
        })
        .collect();
    let params = json!({
        "sessionId": session.id,
        "toolCall": {
            "toolCallId": call,
            "title": question,
            "kind": "other",
            "status": "pending",
        },
        "options": options,
        "_meta": { "holdfast": { "kind": "question" } },
    });
    let request = agent.ask(turn, "session/request_permission", &params);
    let chosen = match turn.await_answer(request, None) {
        Ok(Answer::Given(result)) => selected(&result),
        Ok(Answer::Overdue) | Err(_) => None,
    };
    let Some(chosen) = chosen else {
        end_call(agent, session, &call, "failed", "cancelled\n");
        return Err(Cut::Cancelled);
    };
    let place = chosen.strip_prefix("choice-").and_then(|place| place.parse::<usize>().ok());
    let choice = place.and_then(|place| choices.get(place.checked_sub(1)?));
    let choice = choice.map_or_else(|| format!("(unknown option {chosen})"), String::clone);
    end_call(agent, session, &call, "completed", &format!("{choice}\n"));
    Ok(choice)
}
