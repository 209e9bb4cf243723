//! The entries of a transcript.

use holdfast_core::fact::RefusedWhy;
use holdfast_core::ids::{ChatId, ItemId, MessageId, PromptId, TaskId, TurnId};
use holdfast_core::item::{Body, Field, Notice, PlanEntry, Steered, ToolCall};
use holdfast_store::{ItemRow, MessageBrief, MessageState, TextHead};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::wire::attachment::Attachment;
use crate::wire::ids;
use crate::wire::prompt::Prompt;
use crate::wire::text::Full;
use crate::wire::time::{Time, rfc3339};
use crate::wire::words;

/// An entry of a transcript.
#[derive(Serialize, ToSchema)]
pub(crate) struct Item {
    #[schema(value_type = ids::ItemId)]
    id: ItemId,
    /// Its place in the transcript, from 1.
    seq: u64,
    /// The turn that it belongs to.
    #[schema(value_type = Option<ids::TurnId>)]
    turn: Option<TurnId>,
    /// What it is.
    kind: words::ItemKind,
    /// Whose it is.
    role: words::Role,
    /// When it was begun.
    at: Time,
    /// The tool call within which it was said or made: that of a subagent.
    #[schema(value_type = Option<ids::ItemId>)]
    parent: Option<ItemId>,
    /// Its text, or the beginning of it.
    text: Option<String>,
    /// Where all of the text is, if that is more.
    full: Option<Full>,
    /// Of a message to the agent: how far it is.
    delivery: Option<Delivery>,
    /// Of a message to the agent: what goes with it, in order.
    attachments: Vec<Attachment>,
    /// Of a tool call: what is called.
    call: Option<Call>,
    /// Of a prompt: what is asked.
    prompt: Option<Prompt>,
    /// Of a plan: its steps.
    plan: Option<Vec<Step>>,
    /// Of a notice: what the host tells.
    notice: Option<Told>,
    /// Of what was not recognised: why.
    reason: Option<String>,
    /// Whether it will not grow any more.
    closed: bool,
    /// How often it changed.
    version: u64,
    /// Whether a turn ends with it at a place that the agent can be taken back to: another chat can begin
    /// here, and this one go on from here.
    turn_end: bool,
}

/// How far a message to the agent is.
#[derive(Serialize, ToSchema)]
struct Delivery {
    /// How far it is.
    state: words::MessageState,
    /// Whether the agent's own store is yet to be asked.
    asking: bool,
    #[schema(value_type = ids::MessageId)]
    message: MessageId,
    /// Who wrote it.
    by: words::Author,
    /// Why it was not taken up.
    refused: Option<Refused>,
    /// What became of it where it was given to a running turn.
    steer: Option<words::Steered>,
    /// The background context that it carried.
    context: Context,
}

/// Why a message was not taken up.
#[derive(Serialize, ToSchema)]
#[schema(as = RefusedMessage)]
pub(crate) struct Refused {
    /// The kind of reason.
    why: words::RefusedWhy,
    /// What the agent said.
    text: Option<String>,
}

/// The background context that a message carried.
#[derive(Default, Serialize, ToSchema)]
#[schema(as = ContextCarried)]
struct Context {
    /// Entries.
    count: u32,
    /// Bytes of their contents.
    bytes: u64,
}

/// A tool call.
#[derive(Serialize, ToSchema)]
#[schema(as = ToolCall)]
struct Call {
    /// The name of the tool.
    name: String,
    /// What kind of tool it is, by the word of the agent.
    tool_kind: String,
    /// The input as JSON where it is whole and valid, otherwise its text.
    input: Option<Value>,
    /// Where all of the input is, if that is more.
    input_full: Option<Full>,
    /// How far it is.
    state: words::CallState,
    /// What it gave.
    output: Output,
    /// The background work that it began.
    #[schema(value_type = Option<ids::TaskId>)]
    task: Option<TaskId>,
    /// The tool call within which it was made.
    #[schema(value_type = Option<ids::ItemId>)]
    parent: Option<ItemId>,
}

/// What a tool gave.
#[derive(Serialize, ToSchema)]
#[schema(as = ToolOutput)]
struct Output {
    /// The text, or the beginning of it.
    text: String,
    /// Where all of it is, if that is more.
    full: Option<Full>,
}

/// A step of a plan.
#[derive(Serialize, ToSchema)]
#[schema(as = PlanStep)]
struct Step {
    /// What is to be done.
    text: String,
    /// How far it is, by the word of the agent.
    state: String,
}

/// What the host tells.
#[derive(Serialize, ToSchema)]
#[schema(as = Notice)]
struct Told {
    /// What.
    kind: words::NoticeKind,
    /// Of a stop: what stopped it.
    cause: Option<words::Cause>,
    /// Of a start that failed: the code.
    code: Option<String>,
    /// Of what is tried again: which try this is.
    tried: Option<u32>,
    /// Of what is tried again: how many tries there are at most.
    tries: Option<u32>,
    /// Of a session that was there before: how many of its entries are shown.
    shown: Option<u32>,
    /// Of a session that was there before: how many entries there are before those.
    older: Option<u64>,
    /// Of a session that was there before: when it began.
    since: Option<Time>,
    /// Of a fork: the other chat.
    #[schema(value_type = Option<ids::ChatId>)]
    chat: Option<ChatId>,
    /// Of a way back: the `seq` of the last item that counts. What is between that and this is left
    /// behind.
    to: Option<u64>,
}

impl Item {
    /// An item from its row.
    pub(crate) fn of(chat: ChatId, row: ItemRow) -> Self {
        let mut texts = Texts { chat, item: row.id, heads: row.texts };
        let (text, full) = texts.take(Field::Text);
        let mut message = row.message;
        let attachments = message.as_mut().map(|message| std::mem::take(&mut message.attachments));
        let steer = if let Body::Message { steer, .. } = &row.body { *steer } else { None };
        // A message that a turn has left behind is shown in that turn; it opened one of its own.
        let turn = message.as_ref().and_then(|message| message.turn);
        let mut item = Self {
            id: row.id,
            seq: row.place,
            turn: turn.or(row.turn),
            kind: words::item_kind(row.kind),
            role: words::role(row.role),
            at: rfc3339(row.at),
            parent: None,
            text,
            full,
            delivery: message.map(|message| Delivery::of(message, steer)),
            attachments: Attachment::all(chat, attachments.unwrap_or_default()),
            call: None,
            prompt: row.prompt.map(Prompt::of),
            plan: None,
            notice: None,
            reason: None,
            closed: row.closed,
            version: row.version,
            turn_end: row.ends_turn,
        };
        match row.body {
            // Their states are rows of their own, and are in the item already.
            Body::Text | Body::Message { message: MessageId { .. }, steer: _ } => {}
            Body::Prompt { prompt: PromptId { .. } } => {}
            Body::Within { call } => item.parent = Some(call),
            Body::Call(call) => {
                item.parent = call.within;
                item.call = Some(Call::of(call, &mut texts));
            }
            Body::Plan { entries } => item.plan = Some(entries.into_iter().map(step).collect()),
            Body::Notice(notice) => item.notice = Some(Told::of(notice)),
            Body::Unrecognised { reason } => item.reason = Some(reason),
        }
        item
    }
}

/// The texts of one item.
struct Texts {
    chat: ChatId,
    item: ItemId,
    heads: Vec<TextHead>,
}

impl Texts {
    /// The head of a text, and where all of it is if the head is not.
    fn take(&mut self, field: Field) -> (Option<String>, Option<Full>) {
        let found = self.heads.iter().position(|head| head.field == field);
        let Some(TextHead { head, bytes, .. }) = found.map(|at| self.heads.swap_remove(at)) else {
            return (None, None);
        };
        let cut = u64::try_from(head.len()).is_ok_and(|length| length < bytes);
        let full = cut.then(|| Full::of_item(self.chat, self.item, field, bytes));
        (Some(head), full)
    }
}

impl Delivery {
    fn of(message: MessageBrief, steer: Option<Steered>) -> Self {
        Self {
            state: words::message_state(&message.state),
            asking: message.state.asking(),
            message: message.id,
            by: words::author(message.by),
            refused: Refused::of(message.state),
            steer: steer.map(words::steered),
            context: Context::default(),
        }
    }
}

impl Refused {
    /// Why a message in this state was refused, if it was.
    pub(crate) fn of(state: MessageState) -> Option<Self> {
        match state {
            MessageState::Refused(why) => {
                let word = words::refused(&why);
                let text = match why {
                    RefusedWhy::Rejected { text } => Some(text),
                    RefusedWhy::NotWritten | RefusedWhy::NotInStore => None,
                };
                Some(Self { why: word, text })
            }
            MessageState::Queued
            | MessageState::Handed
            | MessageState::Taken
            | MessageState::Settled
            | MessageState::Unknown { .. }
            | MessageState::Withdrawn(_) => None,
        }
    }
}

impl Call {
    fn of(call: ToolCall, texts: &mut Texts) -> Self {
        let (input, input_full) = texts.take(Field::Input);
        let (output, full) = texts.take(Field::Output);
        let whole = input_full.is_none();
        let input = input.map(|text| {
            let parsed = if whole { serde_json::from_str(&text).ok() } else { None };
            parsed.unwrap_or(Value::String(text))
        });
        Self {
            name: call.name,
            tool_kind: call.tool_kind,
            input,
            input_full,
            state: words::call_state(call.state),
            output: Output { text: output.unwrap_or_default(), full },
            task: call.task,
            parent: call.within,
        }
    }
}

fn step(entry: PlanEntry) -> Step {
    Step { text: entry.text, state: entry.state }
}

impl Told {
    fn of(notice: Notice) -> Self {
        let plain = |kind| Self {
            kind,
            cause: None,
            code: None,
            tried: None,
            tries: None,
            shown: None,
            older: None,
            since: None,
            chat: None,
            to: None,
        };
        match notice {
            Notice::Stopped { cause } => {
                Self { cause: Some(words::cause(cause)), ..plain(words::NoticeKind::Stopped) }
            }
            Notice::Resumed => plain(words::NoticeKind::Resumed),
            Notice::StartedFresh => plain(words::NoticeKind::StartedFresh),
            Notice::StartFailed { code } => {
                Self { code: Some(code), ..plain(words::NoticeKind::StartFailed) }
            }
            Notice::TurnFailed => plain(words::NoticeKind::TurnFailed),
            Notice::PromptCancelled => plain(words::NoticeKind::PromptCancelled),
            Notice::TaskNotStopped => plain(words::NoticeKind::TaskNotStopped),
            Notice::MessageLost => plain(words::NoticeKind::MessageLost),
            Notice::LineSkipped => plain(words::NoticeKind::LineSkipped),
            Notice::Retrying { attempt, of } => {
                Self { tried: Some(attempt), tries: Some(of), ..plain(words::NoticeKind::Retrying) }
            }
            Notice::AgentSays => plain(words::NoticeKind::AgentSays),
            Notice::SettingRefused => plain(words::NoticeKind::SettingRefused),
            Notice::Forked { from } => {
                Self { chat: Some(from), ..plain(words::NoticeKind::Forked) }
            }
            Notice::WentBack { to } => Self { to: Some(to), ..plain(words::NoticeKind::WentBack) },
            Notice::ForkHoldsMore => plain(words::NoticeKind::ForkHoldsMore),
            Notice::Adopted { shown, older, since } => Self {
                shown: Some(shown),
                older: Some(older),
                since: since.map(rfc3339),
                ..plain(words::NoticeKind::Adopted)
            },
        }
    }
}
