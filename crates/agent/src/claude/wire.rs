//! What the CLI writes. See [`crate::tolerant`] for how it is read. Frames of one type share one
//! shape, whatever their subtype: each takes what it needs.

use serde::Deserialize;

pub(super) use crate::tolerant::{Entries, List, count, declared, text};
use crate::tolerant::{Raw, Text, wire};

wire! {
    /// Any frame: what tells frames apart, and what many have.
    Frame<'a> {
        kind as "type": Text,
        subtype: Text,
        session as "session_id": Text,
        uuid: Text,
        parent as "parent_tool_use_id": Text,
        message: Option<Message<'a>>,
        event: Option<Event<'a>>,
        request_id: Text,
        request: Option<Request<'a>>,
        response: Option<Response<'a>>,
        // Our messages that a turn has taken up.
        named as "user_message_uuids": Option<List<'a>>,
    }
}
wire! {
    /// A message of the model or to it.
    Message<'a> { content: Raw<'a>, usage: Option<Usage<'a>> }
}
wire! {
    /// What `assistant` and `user` frames have beside their message.
    Spoken<'a> {
        replay as "isReplay": Raw<'a>,
        synthetic as "isSynthetic": Raw<'a>,
        error: Text,
        api_error as "is_api_error_message": Raw<'a>,
        result as "tool_use_result": Raw<'a>,
    }
}
wire! {
    /// A block of a message.
    Block<'a> {
        kind as "type": Text,
        text: Text,
        thinking: Text,
        id: Text,
        name: Text,
        input: Raw<'a>,
        call as "tool_use_id": Text,
        content: Raw<'a>,
        failed as "is_error": Raw<'a>,
    }
}
wire! {
    /// An event of the model's own stream.
    Event<'a> {
        kind as "type": Text,
        message: Option<Message<'a>>,
        block as "content_block": Option<Block<'a>>,
        delta: Option<Delta>,
    }
}
wire! {
    Delta { kind as "type": Text, text: Text, thinking: Text }
}
wire! {
    /// Something that the CLI asks.
    Request<'a> {
        subtype: Text,
        tool as "tool_name": Text,
        input: Raw<'a>,
        call as "tool_use_id": Text,
        description: Text,
        suggestions as "permission_suggestions": Option<List<'a>>,
        agent as "agent_id": Text,
        server as "mcp_server_name": Text,
        message: Text,
        url: Text,
        schema as "requested_schema": Option<crate::forms::Schema<'a>>,
    }
}
wire! {
    /// One of the CLI's own suggestions of what to allow for good.
    Suggestion { destination: Text }
}
wire! {
    /// The answer to something that we asked.
    Response<'a> {
        subtype: Text,
        request_id: Text,
        response: Raw<'a>,
        error: Text,
    }
}
wire! {
    /// The answer to `initialize`.
    Initialized<'a> { mode as "current_permission_mode": Text, models: Option<List<'a>>, commands: Option<List<'a>> }
}
wire! {
    /// A model that the CLI offers.
    Model<'a> { efforts as "supportedEffortLevels": Option<List<'a>> }
}
wire! {
    /// What a person can write after a slash.
    Command { name: Text, description: Text, hint as "argumentHint": Text }
}
wire! {
    /// The answers to `interrupt`, `set_model` and `set_permission_mode`.
    Settled<'a> { cancelled: Option<List<'a>>, mode: Text }
}
wire! {
    /// The tags of `system` frames, all of them.
    System<'a> {
        model: Text,
        mode as "permissionMode": Text,
        title: Text,
        content: Text,
        attempt: Raw<'a>,
        retries as "max_retries": Raw<'a>,
        error_status: Raw<'a>,
        error: Text,
        compaction as "compact_metadata": Option<Compaction<'a>>,
        message: Text,
        text: Text,
        commands: Option<List<'a>>,
    }
}
wire! {
    Compaction<'a> { before as "pre_tokens": Raw<'a>, after as "post_tokens": Raw<'a> }
}
wire! {
    /// What is told of background work.
    Task<'a> {
        id as "task_id": Text,
        kind as "task_type": Text,
        call as "tool_use_id": Text,
        description: Text,
        backgrounded as "is_backgrounded": Raw<'a>,
        of_subagent as "owned_by_subagent": Raw<'a>,
        status: Text,
        patch: Option<Patch<'a>>,
        tasks: Option<List<'a>>,
    }
}
wire! {
    Patch<'a> { status: Text, backgrounded as "is_backgrounded": Raw<'a> }
}
wire! {
    /// How far a message is in the CLI's own queue, and a wake-up that fires.
    Lifecycle { command as "command_uuid": Text, state: Text, wakeup as "wakeup_source": Text }
}
wire! {
    /// The end of a turn.
    Result<'a> {
        failed as "is_error": Raw<'a>,
        terminal as "terminal_reason": Text,
        text as "result": Text,
        errors: Option<List<'a>>,
        origin: Raw<'a>,
        usage: Option<Usage<'a>>,
        models as "modelUsage": Option<Entries<'a>>,
        since as "model_usage_since_last_result": Option<Entries<'a>>,
        cost as "total_cost_usd": Raw<'a>,
    }
}
wire! {
    /// Tokens, as the model's server counts them.
    Usage<'a> {
        input as "input_tokens": Raw<'a>,
        created as "cache_creation_input_tokens": Raw<'a>,
        cached as "cache_read_input_tokens": Raw<'a>,
        output as "output_tokens": Raw<'a>,
    }
}
wire! {
    /// What one model took.
    ModelUsage<'a> { cost as "costUSD": Raw<'a>, window as "contextWindow": Raw<'a> }
}
wire! {
    /// What of a tool's structured result is looked at.
    ToolResult<'a> {
        patch as "structuredPatch": Option<Vec<Hunk<'a>>>,
        path as "filePath": Text,
        scheduled as "scheduledFor": Raw<'a>,
        id: Text,
        human as "humanSchedule": Text,
    }
}
wire! {
    /// A piece of a change of a file.
    Hunk<'a> {
        old_start as "oldStart": Raw<'a>,
        old_lines as "oldLines": Raw<'a>,
        new_start as "newStart": Raw<'a>,
        new_lines as "newLines": Raw<'a>,
        lines: Option<Vec<String>>,
    }
}
wire! {
    /// What of a tool's input is looked at, whatever the tool.
    ToolInput<'a> {
        command: Text,
        description: Text,
        path as "file_path": Text,
        notebook as "notebook_path": Text,
        pattern: Text,
        url: Text,
        query: Text,
        id: Text,
        reason: Text,
        plan: Text,
        background as "run_in_background": Raw<'a>,
        questions: Option<List<'a>>,
    }
}
wire! {
    /// A question to the person.
    Question<'a> { text as "question": Text, multi as "multiSelect": Raw<'a>, options: Option<List<'a>> }
}
wire! {
    QuestionOption { label: Text, description: Text }
}
wire! {
    /// Something that the CLI tells of the account's limits.
    RateLimit { info as "rate_limit_info": Option<RateLimitInfo> }
}
wire! {
    RateLimitInfo { status: Text, kind as "rateLimitType": Text }
}

/// Whether a member is there and true.
pub(super) fn is_true(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// The texts of a list.
pub(super) fn texts(list: Option<&List<'_>>) -> Vec<String> {
    list.map(|list| list.each::<String>().collect()).unwrap_or_default()
}

/// An amount of US dollars as millionths of one.
pub(super) fn micros(raw: Raw<'_>) -> Option<u64> {
    let dollars: f64 = serde_json::from_str(raw?.get()).ok()?;
    let micros = (dollars * 1e6).round();
    // An amount beyond this is no amount; the cast is exact within it.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded above")]
    (0.0..1e15).contains(&micros).then_some(micros as u64)
}
