//! What a user's text may tell the scripted model to do.

use std::time::Duration;

use serde_json::Value;

/// Longest time that a directive may name, in seconds.
const SECONDS_MAX: f64 = 3600.0;
/// How much of a tool's result is told back, in characters.
const RESULT_HEAD_CHARS: usize = 200;

/// One step of a reply.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Step {
    /// `[[say TEXT]]`: the text, word by word.
    Say(String),
    /// `[[slow-stream N MS]]`: chunks `chunk 1 `, `chunk 2 `, … with so many milliseconds between.
    Stream { count: u32, gap: Duration },
    /// `[[tool NAME {JSON}]]`: a call of a tool. Its result is answered with `tool done: …`.
    Tool { name: String, arguments: Value },
    /// `[[hang SECONDS]]`: says nothing for that time, then goes on.
    Hang(Duration),
    /// `[[status CODE]]`: the whole request is answered with this HTTP status.
    Status(u16),
}

/// What the model answers to a conversation: to a tool's result, to the directives of the last
/// user text, or `You said: TEXT` where it has none.
pub(super) fn steps(messages: &[Value]) -> Vec<Step> {
    if let Some(last) = messages.last()
        && last["role"] == "tool"
    {
        let head: String = text_of(last).chars().take(RESULT_HEAD_CHARS).collect();
        return vec![Step::Say(format!("tool done: {}", head.trim_end()))];
    }
    let text = last_user_text(messages);
    let steps = parse(&text);
    if steps.is_empty() { vec![Step::Say(format!("You said: {text}"))] } else { steps }
}

/// The text of the last message of the user.
pub(super) fn last_user_text(messages: &[Value]) -> String {
    let last = messages.iter().rev().find(|message| message["role"] == "user");
    last.map(text_of).unwrap_or_default()
}

/// The text of a message, whose content is a string or a list of parts.
pub(super) fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn parse(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("[[") {
        let Some((inside, behind)) = after.split_once("]]") else { break };
        if let Some(step) = read(inside) {
            steps.push(step);
            rest = behind;
        } else {
            rest = after;
        }
    }
    steps
}

fn read(inside: &str) -> Option<Step> {
    let (name, arguments) = inside.split_once(char::is_whitespace)?;
    let arguments = arguments.trim();
    match name {
        "say" => Some(Step::Say(arguments.to_owned())),
        "slow-stream" => {
            let (count, gap) = arguments.split_once(char::is_whitespace)?;
            let gap = Duration::from_millis(gap.trim().parse::<u32>().ok()?.into());
            Some(Step::Stream { count: count.parse().ok()?, gap })
        }
        "tool" => {
            let (name, arguments) = arguments.split_once(char::is_whitespace)?;
            let arguments = serde_json::from_str(arguments).ok()?;
            Some(Step::Tool { name: name.to_owned(), arguments })
        }
        "hang" => {
            let seconds: f64 = arguments.parse().ok()?;
            let fits = (0.0..=SECONDS_MAX).contains(&seconds);
            fits.then(|| Step::Hang(Duration::from_secs_f64(seconds)))
        }
        "status" => arguments.parse().ok().map(Step::Status),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_users_text_directs() {
        let text = "x [[say a b]] [[slow-stream 3 20]] [[tool bash {\"command\": \"ls\"}]] \
                    [[hang 1.5]] [[status 500]] [[unknown x]]";
        let said = steps(&[
            json!({ "role": "user", "content": "[[say old]]" }),
            json!({ "role": "user", "content": [{ "type": "text", "text": text }] }),
        ]);
        let expected = [
            Step::Say("a b".into()),
            Step::Stream { count: 3, gap: Duration::from_millis(20) },
            Step::Tool { name: "bash".into(), arguments: json!({ "command": "ls" }) },
            Step::Hang(Duration::from_secs_f64(1.5)),
            Step::Status(500),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_tools_result_is_answered_rather_than_the_text() {
        let said = steps(&[
            json!({ "role": "user", "content": "[[tool bash {}]]" }),
            json!({ "role": "assistant", "tool_calls": [] }),
            json!({ "role": "tool", "content": "hi\n" }),
        ]);
        assert_eq!(said, [Step::Say("tool done: hi".into())]);
    }

    #[test]
    fn plain_text_is_said_back() {
        let said = steps(&[json!({ "role": "user", "content": "and now?" })]);
        assert_eq!(said, [Step::Say("You said: and now?".into())]);
    }
}
