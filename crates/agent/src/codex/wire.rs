//! What the app-server sends; see [`crate::tolerant`].

use serde::Deserialize;

pub(super) use crate::tolerant::{Entries, List, Raw, Text, count, read, wire};

wire! {
    /// The reply to `account/read`.
    Account<'a> { account: Raw<'a>, required as "requiresOpenaiAuth": Option<bool> }
}
wire! {
    /// The reply to `thread/start` or `thread/resume`.
    Opened { thread: Option<Thread> }
}
wire! {
    /// How a thread is set, in the reply that opens it or in `thread/settings/updated`.
    Settings {
        model: Text,
        effort: Text,
        opened_effort as "reasoningEffort": Text,
        approval as "approvalPolicy": Text,
        sandbox: Option<Tagged>,
        policy as "sandboxPolicy": Option<Tagged>,
        collaboration as "collaborationMode": Option<Collaboration>,
    }
}
wire! {
    /// `thread/settings/updated`
    SettingsTold {
        thread as "threadId": Text,
        settings as "threadSettings": Option<Settings>,
    }
}
wire! {
    Thread { id: Text }
}
wire! {
    /// Of something with kinds its kind only.
    Tagged { kind as "type": Text }
}
wire! {
    Collaboration { mode: Text }
}
wire! {
    /// The reply to `turn/start`.
    Started { turn: Option<TurnHead> }
}
wire! {
    TurnHead { id: Text }
}
wire! {
    /// A page of `thread/turns/list` or of `thread/items/list`.
    Page<'a> { data: Option<List<'a>>, next as "nextCursor": Text }
}
wire! {
    /// A turn with its items, or an item with its turn.
    Member<'a> { id: Text, items: Option<List<'a>>, item: Raw<'a> }
}
wire! {
    /// The parameters of a notification, as far as they say where it belongs.
    Place { thread as "threadId": Text }
}
wire! {
    /// `item/started`, `item/completed`.
    ItemTold<'a> { thread as "threadId": Text, turn as "turnId": Text, item: Raw<'a> }
}
wire! {
    /// `turn/started`, `turn/completed`.
    TurnTold { thread as "threadId": Text, turn: Option<Turn> }
}
wire! {
    Turn { id: Text, status: Text, error: Option<TurnError> }
}
wire! {
    TurnError { message: Text, details as "additionalDetails": Text }
}
wire! {
    /// `error`
    ErrorTold {
        thread as "threadId": Text,
        error: Option<TurnError>,
        retries as "willRetry": Option<bool>,
    }
}
wire! {
    /// `warning`, `guardianWarning`
    Remark { thread as "threadId": Text, message: Text }
}
wire! {
    /// `thread/status/changed`
    StatusTold { thread as "threadId": Text, status: Option<Tagged> }
}
wire! {
    /// `thread/tokenUsage/updated`
    UsageTold<'a> { thread as "threadId": Text, usage as "tokenUsage": Option<TokenUsage<'a>> }
}
wire! {
    TokenUsage<'a> { last: Option<Tokens<'a>>, window as "modelContextWindow": Raw<'a> }
}
wire! {
    Tokens<'a> {
        input as "inputTokens": Raw<'a>,
        cached as "cachedInputTokens": Raw<'a>,
        output as "outputTokens": Raw<'a>,
        total as "totalTokens": Raw<'a>,
    }
}
wire! {
    /// A piece of a growing text.
    Delta<'a> {
        thread as "threadId": Text,
        item as "itemId": Text,
        delta: Text,
        summary as "summaryIndex": Raw<'a>,
        content as "contentIndex": Raw<'a>,
    }
}
wire! {
    /// `item/commandExecution/terminalInteraction`
    Typed { thread as "threadId": Text, item as "itemId": Text, stdin: Text }
}
wire! {
    /// `turn/plan/updated`
    PlanTold<'a> { thread as "threadId": Text, plan: Option<List<'a>> }
}
wire! {
    Step { step: Text, status: Text }
}
wire! {
    /// `thread/name/updated`
    NameTold { thread as "threadId": Text, name as "threadName": Text }
}
wire! {
    /// `thread/goal/updated`, `thread/goal/cleared`
    GoalTold { thread as "threadId": Text, goal: Option<Goal> }
}
wire! {
    Goal { objective: Text, status: Text }
}
wire! {
    /// `serverRequest/resolved`
    Resolved<'a> { request as "requestId": Raw<'a> }
}
wire! {
    /// An item: what any of its kinds may say. Members that have other types in different kinds are
    /// read by their kind.
    Item<'a> {
        kind as "type": Text,
        id: Text,
        client as "clientId": Text,
        content: Option<List<'a>>,
        text: Text,
        summary: Option<List<'a>>,
        command: Text,
        cwd: Text,
        process as "processId": Text,
        status: Text,
        actions as "commandActions": Option<List<'a>>,
        output as "aggregatedOutput": Text,
        changes: Option<List<'a>>,
        server: Text,
        tool: Text,
        name: Text,
        arguments: Raw<'a>,
        result: Raw<'a>,
        error: Option<TurnError>,
        pieces as "contentItems": Raw<'a>,
        returned as "output": Raw<'a>,
        receivers as "receiverThreadIds": Option<List<'a>>,
        prompt: Text,
        states as "agentsStates": Option<Entries<'a>>,
        activity as "kind": Text,
        agent as "agentThreadId": Text,
        agent_path as "agentPath": Text,
        query: Text,
        path: Text,
        review: Text,
        fragments: Option<List<'a>>,
        saved as "savedPath": Text,
        revised as "revisedPrompt": Text,
        exit as "exitCode": Raw<'a>,
    }
}
wire! {
    /// A piece of a user's message.
    Input { kind as "type": Text, text: Text }
}
wire! {
    /// What one part of a command does.
    Action { kind as "type": Text, command: Text }
}
wire! {
    Change { path: Text, kind: Option<Tagged>, diff: Text }
}
wire! {
    McpResult<'a> { content: Option<List<'a>>, structured as "structuredContent": Raw<'a> }
}
wire! {
    AgentState { status: Text, message: Text }
}
wire! {
    /// A page of `thread/backgroundTerminals/list`.
    Terminals<'a> { data: Option<List<'a>> }
}
wire! {
    Terminal { item as "itemId": Text, process as "processId": Text }
}
wire! {
    /// What is asked of a person about a call.
    Approval<'a> {
        thread as "threadId": Text,
        item as "itemId": Text,
        reason: Text,
        command: Text,
        cwd: Text,
        more as "additionalPermissions": Raw<'a>,
        actions as "commandActions": Option<List<'a>>,
        network as "networkApprovalContext": Option<Network>,
        decisions as "availableDecisions": Option<List<'a>>,
        permissions: Raw<'a>,
    }
}
wire! {
    Network { host: Text }
}
wire! {
    ExecPolicy<'a> { inner as "acceptWithExecpolicyAmendment": Option<ExecPolicyPrefix<'a>> }
}
wire! {
    ExecPolicyPrefix<'a> { words as "execpolicy_amendment": Option<List<'a>> }
}
wire! {
    /// `item/tool/requestUserInput`
    UserInput<'a> { thread as "threadId": Text, item as "itemId": Text, questions: Option<List<'a>> }
}
wire! {
    Question<'a> {
        id: Text,
        header: Text,
        question: Text,
        other as "isOther": Option<bool>,
        options: Option<List<'a>>,
    }
}
wire! {
    Choice { label: Text, description: Text }
}
wire! {
    /// `mcpServer/elicitation/request`
    Elicitation<'a> {
        thread as "threadId": Text,
        server as "serverName": Text,
        message: Text,
        url: Text,
        schema as "requestedSchema": Option<crate::forms::Schema<'a>>,
    }
}

/// A whole number, where the JSON is one.
pub(super) fn integer(raw: Raw<'_>) -> Option<i64> {
    serde_json::from_str(raw?.get()).ok()
}
