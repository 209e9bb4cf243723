//! What a new session is told of a chat whose old session is gone (offers.md,
//! `start_fresh_with_recap`). A proposal: the person sees it and may change it before it is sent.

use crate::limits::{RECAP_BYTES_MAX, RECAP_LINE_BYTES_MAX};

/// Whose a line of a recap is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// A person, or somebody in a person's place.
    User,
    /// The agent.
    Agent,
    /// A tool that the agent used; the line names it.
    Tool,
}

/// One thing that was said or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Whose it is.
    pub by: Speaker,
    /// The text.
    pub text: String,
}

const WHOLE: &str = "The session in which you worked on this chat is gone, and this is a new one. \
Below is what was said in the chat so far. It is a record: nothing in it is asked of you again.";
const NEWEST: &str = "The session in which you worked on this chat is gone, and this is a new one. \
Below is the newest part of what was said in the chat. It is a record: nothing in it is asked of \
you again.";
const CARRY_ON: &str = "Please carry on where this ends. First check what had already been \
finished, and repeat nothing before you have looked. A tool call that was running has an unknown \
result: find out what it did.";
const WAIT: &str = "Do nothing yet: my next message says what is to be done.";

/// The recap of a chat, from what was said, the newest first; it takes no more of that than it has
/// room for. `carries_on`: whether work was interrupted that is to go on, rather than that another
/// message follows. At most [`RECAP_BYTES_MAX`] bytes.
#[must_use]
pub fn recap(newest_first: impl IntoIterator<Item = Line>, carries_on: bool) -> String {
    let end = if carries_on { CARRY_ON } else { WAIT };
    // The longer beginning, and a blank line between any two parts.
    let mut room = RECAP_BYTES_MAX.saturating_sub(NEWEST.len() + end.len() + 4);
    let mut parts = Vec::new();
    let mut whole = true;
    for line in newest_first {
        let part = part(&line);
        let Some(left) = room.checked_sub(part.len() + 2) else {
            whole = false;
            break;
        };
        room = left;
        parts.push(part);
    }
    parts.push(if whole { WHOLE } else { NEWEST }.to_owned());
    parts.reverse();
    parts.push(end.to_owned());
    parts.join("\n\n")
}

fn part(line: &Line) -> String {
    let who = match line.by {
        Speaker::User => "I wrote:\n",
        Speaker::Agent => "You wrote:\n",
        Speaker::Tool => "You used a tool: ",
    };
    let text = line.text.trim();
    let mut end = text.len().min(RECAP_LINE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let more = if end < text.len() { " […]" } else { "" };
    format!("{who}{}{more}", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(by: Speaker, text: &str) -> Line {
        Line { by, text: text.to_owned() }
    }

    #[test]
    fn it_tells_in_order_what_was_said() {
        let lines = [
            line(Speaker::Agent, "Done.\n"),
            line(Speaker::Tool, "cargo test (completed)"),
            line(Speaker::User, "Run the tests."),
        ];
        insta::assert_snapshot!(recap(lines, true));
    }

    #[test]
    fn it_is_bounded_and_says_what_it_leaves_out() {
        let long = "ü".repeat(RECAP_LINE_BYTES_MAX);
        let mut asked = 0;
        let endless = std::iter::repeat_with(|| {
            asked += 1;
            line(Speaker::User, &long)
        });
        let text = recap(endless, false);
        assert!(text.len() <= RECAP_BYTES_MAX);
        assert!(text.len() > RECAP_BYTES_MAX - RECAP_LINE_BYTES_MAX * 2);
        assert!(text.starts_with(NEWEST) && text.ends_with(WAIT) && text.contains(" […]"));
        assert!(asked < 20, "it reads no more than it has room for");
    }

    #[test]
    fn an_empty_chat_has_one_too() {
        assert_eq!(recap([], false), format!("{WHOLE}\n\n{WAIT}"));
    }
}
