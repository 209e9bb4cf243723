//! Anthropic's Messages, as Claude Code speaks it.

mod reply;

use serde_json::Value;

use super::said::Said;
use super::seen::Purpose;
pub(super) use reply::Messages;

/// How the text begins by which Claude Code asks for a summary of the conversation.
const SUM_UP: &str = "Your task is to create a detailed summary of";
/// What stands around a text of the user that came in the middle of a turn: before it, and what
/// comes behind it in one version or another.
const MID_TURN: &str = "The user sent a new message while you were working:\n";
const BEHIND_MID_TURN: [&str; 2] =
    ["\n\nThis is how Claude Code surfaces", "\n\nIMPORTANT: After completing your current task"];
/// How texts begin that Claude Code puts where the user's are.
const ADDED: [&str; 7] = [
    "<system-reminder>",
    "<local-command-",
    "<command-name>",
    "[Image: source: ",
    "Output token limit hit. ",
    "[Your previous response had no visible output. ",
    "Your response above was stopped by a safety classifier",
];
/// How those of them begin that a test may want to see.
const NOTICES: [&str; 2] = [
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
];

/// The conversation of a request.
pub(super) fn conversation(body: &Value) -> Vec<Said> {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    messages.iter().flat_map(said).collect()
}

fn said(message: &Value) -> Vec<Said> {
    let role = message["role"].as_str().unwrap_or_default();
    match &message["content"] {
        Value::String(text) => vec![text_of(role, text)],
        Value::Array(blocks) => blocks.iter().map(|block| block_of(role, block)).collect(),
        _ => Vec::new(),
    }
}

fn block_of(role: &str, block: &Value) -> Said {
    let text = |name: &str| block[name].as_str().unwrap_or_default();
    match text("type") {
        "tool_use" => {
            Said::Call { name: text("name").into(), arguments: block["input"].to_string() }
        }
        "tool_result" => Said::Result(content_of(&block["content"])),
        "thinking" => Said::Thought(text("thinking").to_owned()),
        "image" => {
            let data = block["source"]["data"].as_str().unwrap_or_default();
            let kind = block["source"]["media_type"].as_str().unwrap_or_default();
            Said::Image(format!("{kind}, {} characters of base64", data.len()))
        }
        _ => text_of(role, text("text")),
    }
}

fn content_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn text_of(role: &str, text: &str) -> Said {
    if role == "assistant" {
        return Said::Reply(text.to_owned());
    }
    if let Some(notice) = notice(text) {
        return Said::Notice(notice);
    }
    if let Some((_, after)) = text.split_once(MID_TURN) {
        let ends = BEHIND_MID_TURN.iter().filter_map(|behind| after.find(behind));
        let end = ends.min().unwrap_or(after.len());
        return Said::MidTurn(after[..end].to_owned());
    }
    let begins = |beginnings: &[&str]| {
        beginnings.iter().any(|beginning| text.trim_start().starts_with(beginning))
    };
    if role != "user" || begins(&ADDED) {
        Said::System(text.to_owned())
    } else if begins(&NOTICES) {
        Said::Notice(text.to_owned())
    } else {
        Said::User(text.to_owned())
    }
}

/// What a notice about a background task says: `STATUS: SUMMARY`, or whatever it holds else.
fn notice(text: &str) -> Option<String> {
    let inside = between(text, "<task-notification>", "</task-notification>")?;
    let said: Vec<&str> = ["status", "summary", "event"]
        .iter()
        .filter_map(|tag| between(inside, &format!("<{tag}>"), &format!("</{tag}>")))
        .map(str::trim)
        .collect();
    Some(if said.is_empty() { inside.trim().to_owned() } else { said.join(": ") })
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, after) = text.split_once(open)?;
    after.split_once(close).map(|(inside, _)| inside)
}

/// What a request is for: one for a title wants an object that has nothing but a title.
pub(super) fn purpose(body: &Value, conversation: &[Said]) -> Purpose {
    if !body["output_config"]["format"]["schema"]["properties"]["title"].is_null() {
        return Purpose::Title;
    }
    let last = conversation.iter().rev().find(|said| matches!(said, Said::User(_)));
    if last.is_some_and(|said| said.text().contains(SUM_UP)) {
        return Purpose::Summary;
    }
    Purpose::Turn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(role: &str, text: &str) -> Said {
        text_of(role, text)
    }

    #[test]
    fn what_claude_code_adds_is_no_text_of_the_user() {
        for added in [
            "<system-reminder>\nToday is today.\n</system-reminder>\n",
            "<local-command-stdout>Compacted </local-command-stdout>",
            "<command-name>/compact</command-name>",
            "[Image: source: /tmp/1.png]",
            "Output token limit hit. Resume directly",
            "[Your previous response had no visible output. Please continue",
            "Your response above was stopped by a safety classifier — this",
        ] {
            assert!(matches!(one("user", added), Said::System(_)), "{added}");
        }
        assert!(matches!(one("system", "# Environment"), Said::System(_)));
        assert!(matches!(one("user", "a <system-reminder>"), Said::User(_)));
        assert!(matches!(one("assistant", "<system-reminder>"), Said::Reply(_)));
        for notice in [
            "[Request interrupted by user for tool use]",
            "This session is being continued from a previous conversation that",
        ] {
            assert_eq!(one("user", notice), Said::Notice(notice.to_owned()));
        }
    }

    #[test]
    fn a_notice_is_what_its_tags_hold() {
        let text = "<system-reminder>\n[SYSTEM]\n<task-notification>\n<task-id>b1</task-id>\n\
                    <status>completed</status>\n<summary>It ended</summary>\n\
                    </task-notification>\n</system-reminder>";
        assert_eq!(one("user", text), Said::Notice("completed: It ended".to_owned()));
        let other = "<task-notification> x </task-notification>";
        assert_eq!(one("user", other), Said::Notice("x".to_owned()));
    }

    #[test]
    fn a_text_in_the_middle_of_a_turn_is_freed_of_what_stands_around_it() {
        for (role, behind) in [("user", BEHIND_MID_TURN[0]), ("system", BEHIND_MID_TURN[1])] {
            let text = format!("{MID_TURN}[[say a]]\n\nb{behind} and so on.");
            assert_eq!(one(role, &text), Said::MidTurn("[[say a]]\n\nb".to_owned()));
        }
    }
}
