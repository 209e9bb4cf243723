//! What ACP agents send; see [`crate::tolerant`].

use serde::Deserialize;

pub(super) use crate::tolerant::{Entries, List, Raw, Text, count, declared, read, text, wire};

wire! {
    /// The reply to `initialize`.
    Initialized<'a> {
        version as "protocolVersion": Raw<'a>,
        capabilities as "agentCapabilities": Option<AgentCapabilities<'a>>,
        agent as "agentInfo": Option<AgentInfo<'a>>,
    }
}
wire! {
    AgentInfo<'a> { name: Raw<'a> }
}
wire! {
    AgentCapabilities<'a> {
        load as "loadSession": Raw<'a>,
        session as "sessionCapabilities": Option<SessionCapabilities<'a>>,
        prompt as "promptCapabilities": Option<PromptCapabilities<'a>>,
        meta as "_meta": Option<Meta<'a>>,
    }
}
wire! {
    PromptCapabilities<'a> { image: Raw<'a>, embedded as "embeddedContext": Raw<'a> }
}
wire! {
    SessionCapabilities<'a> { resume: Raw<'a>, fork: Raw<'a> }
}
wire! {
    /// What vendors add to anything.
    Meta<'a> {
        holdfast: Option<HoldfastMeta<'a>>,
        terminal_output_delta: Option<TerminalOutput<'a>>,
        terminal_output: Option<TerminalOutput<'a>>,
        quota: Option<Quota<'a>>,
    }
}
wire! {
    /// What the demo agent adds.
    HoldfastMeta<'a> {
        kind: Raw<'a>,
        task_stop as "taskStop": Raw<'a>,
        // It names the ends of its turns, and forks a session at one.
        turns: Raw<'a>,
        // The name of the end of this turn.
        turn: Text,
    }
}
wire! {
    /// A piece of a terminal's output that comes beside a tool call.
    TerminalOutput<'a> { data: Raw<'a> }
}
wire! {
    /// Where the Gemini CLI counts.
    Quota<'a> { count as "token_count": Option<TokenCount<'a>> }
}
wire! {
    TokenCount<'a> { input as "input_tokens": Raw<'a>, output as "output_tokens": Raw<'a> }
}
wire! {
    /// The reply to `session/new`, `session/load` or `session/resume`.
    Opened<'a> {
        session as "sessionId": Text,
        modes: Option<Modes<'a>>,
        models: Option<Models<'a>>,
        config as "configOptions": Option<List<'a>>,
    }
}
wire! {
    Modes<'a> { current as "currentModeId": Text, available as "availableModes": Option<List<'a>> }
}
wire! {
    Models<'a> {
        current as "currentModelId": Text,
        available as "availableModels": Option<List<'a>>,
    }
}
wire! {
    Mode { id: Text }
}
wire! {
    Model { id as "modelId": Text }
}
wire! {
    /// One configuration option of a session.
    ConfigOption<'a> {
        id: Text,
        category: Text,
        current as "currentValue": Text,
        options: Option<List<'a>>,
    }
}
wire! {
    /// One value of a configuration option, or a group of them.
    ConfigValue<'a> { value: Text, options: Option<List<'a>> }
}
wire! {
    /// The parameters of `session/update`.
    UpdateParams<'a> { session as "sessionId": Text, update: Raw<'a> }
}
wire! {
    /// Of an update its kind only.
    UpdateTag { kind as "sessionUpdate": Text }
}
wire! {
    /// A piece of a message or of a thought.
    Chunk<'a> { message as "messageId": Text, content: Raw<'a> }
}
wire! {
    /// A piece of content.
    ContentBlock {
        kind as "type": Text,
        text: Text,
        mime as "mimeType": Text,
        name: Text,
        uri: Text,
        resource: Option<Resource>,
    }
}
wire! {
    /// What is embedded.
    Resource { uri: Text, text: Text }
}
wire! {
    /// A tool call, an update of one, or the call that a permission is asked for.
    Call<'a> {
        id as "toolCallId": Text,
        title: Text,
        name: Text,
        kind: Text,
        status: Text,
        content: Option<List<'a>>,
        input as "rawInput": Raw<'a>,
        output as "rawOutput": Raw<'a>,
        meta as "_meta": Option<Meta<'a>>,
    }
}
wire! {
    /// One piece of a call's content.
    CallContent<'a> {
        kind as "type": Text,
        content: Raw<'a>,
        path: Text,
        old as "oldText": Text,
        new as "newText": Text,
    }
}
wire! {
    Plan<'a> { entries: Option<List<'a>> }
}
wire! {
    PlanEntry { content: Text, status: Text }
}
wire! {
    SessionInfo { title: Text }
}
wire! {
    Commands<'a> { commands as "availableCommands": Option<List<'a>> }
}
wire! {
    /// What a person can write after a slash.
    Command { name: Text, description: Text, input: Option<CommandInput> }
}
wire! {
    CommandInput { hint: Text }
}
wire! {
    /// codex-acp: a subagent with a session of its own.
    Subagent<'a> {
        session as "sessionId": Text,
        description: Text,
        state: Option<SubagentState<'a>>,
    }
}
wire! {
    SubagentState<'a> { state: Raw<'a>, reason as "stopReason": Raw<'a> }
}
wire! {
    /// `_holdfast/task`.
    Task { task as "taskId": Text, kind: Text, label: Text, state: Text, foreground: Option<bool> }
}
wire! {
    /// `session/request_permission`.
    Permission<'a> {
        session as "sessionId": Text,
        call as "toolCall": Option<Call<'a>>,
        options: Option<List<'a>>,
        meta as "_meta": Option<Meta<'a>>,
    }
}
wire! {
    PermissionOption { id as "optionId": Text, name: Text, kind: Text }
}
wire! {
    /// `elicitation/create`.
    Elicitation<'a> {
        session as "sessionId": Text,
        call as "toolCallId": Text,
        mode: Text,
        message: Text,
        schema as "requestedSchema": Option<crate::forms::Schema<'a>>,
    }
}
wire! {
    /// `$/cancel_request`.
    CancelRequest<'a> { request as "requestId": Raw<'a> }
}
wire! {
    /// The reply to `session/prompt`.
    Prompted<'a> {
        reason as "stopReason": Text,
        usage: Option<TurnUsage<'a>>,
        meta as "_meta": Option<Meta<'a>>,
    }
}
wire! {
    TurnUsage<'a> {
        input as "inputTokens": Raw<'a>,
        output as "outputTokens": Raw<'a>,
        total as "totalTokens": Raw<'a>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_of_another_type_is_as_good_as_absent() {
        let call: Call<'_> =
            serde_json::from_str(r#"{"toolCallId":7,"title":null,"content":{},"_meta":[],"x":1}"#)
                .unwrap();
        assert!(call.id.is_none() && call.title.is_none() && call.content.is_none());
    }
}
