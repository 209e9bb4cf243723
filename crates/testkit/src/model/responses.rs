//! OpenAI's Responses, as Codex speaks it.

mod reply;

use serde_json::Value;

use super::said::Said;
use super::seen::Purpose;
pub(super) use reply::Responses;

/// How the text begins by which Codex asks for a summary of the conversation.
const SUM_UP: &str = "You are performing a CONTEXT CHECKPOINT COMPACTION";

/// The tags around what Codex puts where the user's texts are.
const ADDED: [&str; 5] = [
    "environment_context",
    "turn_aborted",
    "user_shell_command",
    "skill",
    "context_window_reminder",
];
/// How the text begins in which it puts a folder's instructions there.
const AGENTS_FILE: &str = "# AGENTS.md instructions";

/// The conversation of a request.
pub(super) fn conversation(body: &Value) -> Vec<Said> {
    match &body["input"] {
        Value::String(text) => vec![Said::User(text.clone())],
        Value::Array(items) => items.iter().flat_map(said).collect(),
        _ => Vec::new(),
    }
}

fn said(item: &Value) -> Vec<Said> {
    let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    match item["type"].as_str() {
        Some("function_call") => {
            vec![Said::Call { name: text("name"), arguments: text("arguments") }]
        }
        Some("custom_tool_call") => {
            vec![Said::Call { name: text("name"), arguments: text("input") }]
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            vec![Said::Result(texts_of(&item["output"]).join("\n"))]
        }
        Some("reasoning") => vec![Said::Thought(texts_of(&item["summary"]).join("\n"))],
        Some("agent_message") => vec![between_agents(item)],
        Some("message") | None => message(item),
        _ => Vec::new(),
    }
}

fn message(item: &Value) -> Vec<Said> {
    let role = item["role"].as_str().unwrap_or_default();
    let images = item["content"].as_array().map_or(&[][..], Vec::as_slice).iter();
    let images = images.filter_map(|part| part["image_url"].as_str());
    let images = images.map(|url| {
        let kind = url.split([':', ';']).nth(1).unwrap_or_default();
        Said::Image(format!("{kind}, {} characters of a URL", url.len()))
    });
    let texts = texts_of(&item["content"]);
    let texts = texts.into_iter().map(|text| match role {
        "assistant" => Said::Reply(text),
        "user" => of_user(text),
        _ => Said::System(text),
    });
    texts.chain(images).collect()
}

/// What stands where the user's texts are.
fn of_user(text: String) -> Said {
    let words = text.trim_start();
    let tag = words.strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(tag, _)| tag);
    match tag {
        Some("subagent_notification") => Said::Notice(text),
        Some(tag) if ADDED.contains(&tag) => Said::System(text),
        _ if words.starts_with(AGENTS_FILE) => Said::System(text),
        _ => Said::User(text),
    }
}

/// What one agent tells another: a subagent's task takes the place of a user's text.
fn between_agents(item: &Value) -> Said {
    let parts = item["content"].as_array().map_or(&[][..], Vec::as_slice);
    let texts = parts.iter().flat_map(|part| [&part["text"], &part["encrypted_content"]]);
    let text: String = texts.filter_map(Value::as_str).collect();
    match text.split_once("\nPayload:\n") {
        Some((head, payload)) if head.contains("NEW_TASK") => Said::User(payload.to_owned()),
        _ => Said::Notice(text),
    }
}

/// The texts of what is a string or a list of parts.
fn texts_of(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}

/// What a request is for. Codex asks for no titles by itself.
pub(super) fn purpose(conversation: &[Said]) -> Purpose {
    let last = conversation.iter().rev().find(|said| matches!(said, Said::User(_)));
    if last.is_some_and(|said| said.text().contains(SUM_UP)) {
        return Purpose::Summary;
    }
    Purpose::Turn
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_codex_adds_is_no_text_of_the_user() {
        for tag in ADDED {
            let text = format!("<{tag}>\nx\n</{tag}>");
            assert_eq!(of_user(text.clone()), Said::System(text));
        }
        let file = format!("{AGENTS_FILE} for /work");
        assert!(matches!(of_user(file), Said::System(_)));
        let notice = "<subagent_notification>x</subagent_notification>".to_owned();
        assert!(matches!(of_user(notice), Said::Notice(_)));
        assert!(matches!(of_user("<b>x</b>".to_owned()), Said::User(_)));
    }

    #[test]
    fn only_a_task_takes_the_place_of_a_users_text() {
        let message = |kind: &str| {
            let head = format!("Message Type: {kind}\nSender: /root\nPayload:\n");
            let content = json!([
                { "type": "input_text", "text": head },
                { "type": "encrypted_content", "encrypted_content": "[[say a]]" },
            ]);
            said(&json!({ "type": "agent_message", "content": content })).remove(0)
        };
        assert_eq!(message("NEW_TASK"), Said::User("[[say a]]".to_owned()));
        assert!(matches!(message("FINAL_ANSWER"), Said::Notice(_)));
    }
}
