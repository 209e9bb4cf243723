//! One request as the model saw it.

use serde_json::{Value, json};

use super::said::Said;

/// The API in which a request came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Api {
    /// OpenAI's Chat Completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// To go on with a conversation.
    Turn,
    /// To name a session; it does not belong to the session's conversation.
    Title,
    /// To sum a conversation up.
    Summary,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Seen {
    /// How it came.
    pub api: Api,
    /// What it is for.
    pub purpose: Purpose,
    /// The agent's own id of the session, where it tells one.
    pub session: Option<String>,
    /// The agent's own id of the subagent that asks; none for the main agent.
    pub subagent: Option<String>,
    /// What the conversation holds, in order.
    pub conversation: Vec<Said>,
    /// The whole body.
    pub body: Value,
}

impl Seen {
    /// The text of the last message of the user.
    pub fn last_user_text(&self) -> String {
        self.texts("user").pop().unwrap_or_default()
    }

    /// The texts of all that one role said, in order; roles are `system`, `user`, `notice`,
    /// `image`, `thought`, `assistant`, `call` and `tool`.
    pub fn texts(&self, role: &str) -> Vec<String> {
        let said = self.conversation.iter().filter(|said| said.role() == role);
        said.map(|said| said.text().to_owned()).collect()
    }

    /// The conversation in a compact form, one text for each thing said: `user: …`, `mid-turn: …`,
    /// `call: NAME JSON`, `tool: …`, `assistant: …`, `notice: …`. What the agent's program adds by itself is left out.
    pub fn told(&self) -> Vec<String> {
        let said = self.conversation.iter().filter(|said| !matches!(said, Said::System(_)));
        said.map(Said::to_string).collect()
    }

    /// One line of a log file.
    pub(super) fn line(&self) -> String {
        let line = json!({
            "api": format!("{:?}", self.api).to_lowercase(),
            "is_title": self.purpose == Purpose::Title,
            "session": self.session,
            "subagent": self.subagent,
            "told": self.told(),
            "body": self.body,
        });
        format!("{line}\n")
    }
}
