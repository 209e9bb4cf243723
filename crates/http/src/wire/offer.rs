//! Offers and failures.

use holdfast_core::ids::{ChatId, ReceiptId};
use holdfast_core::input::{NotResumed, Reply};
use holdfast_core::offer::{Failure, Part, Sentence, Snapshot, details, sentence};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::{FailureRow, OfferRow};
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::ids;
use crate::wire::time::{Time, rfc3339};
use crate::wire::words;

/// The offers and failures of a host.
#[derive(Serialize, ToSchema)]
pub(crate) struct Offers {
    /// Where the caller is, for "all that I have seen".
    pub(crate) as_of: String,
    /// The offers.
    pub(crate) offers: Vec<Offer>,
    /// Starts and resumes that failed.
    pub(crate) failures: Vec<Failed>,
}

/// An offer to resume a chat.
#[derive(Serialize, ToSchema)]
pub(crate) struct Offer {
    #[schema(value_type = ids::ChatId)]
    chat: ChatId,
    /// What stopped the chat; `null` where that cannot be read.
    cause: Option<words::Cause>,
    /// When it was recorded: the name of this offer.
    recorded_at: Time,
    /// What the chat was doing, as a sentence.
    summary: Said,
    /// The same in more lines.
    details: Vec<String>,
    /// The same in parts; `null` where it cannot be read.
    snapshot: Option<Was>,
    /// Whether a message is in doubt, about which a person has to say something.
    needs_choice: bool,
    /// Whether a resume is under way.
    resuming: bool,
    /// Whether the chat can be read.
    readable: bool,
}

/// A sentence, whole and in parts for translation.
#[derive(Serialize, ToSchema)]
#[schema(as = Sentence)]
struct Said {
    /// Its parts, for translation.
    parts: Vec<SaidPart>,
    /// The sentence in English.
    text: String,
}

/// A phrase of a sentence.
#[derive(Serialize, ToSchema)]
#[schema(as = SentencePart)]
struct SaidPart {
    /// The name of the phrase.
    key: String,
    /// What stands in it.
    params: SaidParams,
}

/// What stands in a phrase.
#[derive(Serialize, ToSchema)]
#[schema(as = SentenceParams)]
struct SaidParams {
    /// A name.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
}

/// What a chat was doing.
#[derive(Serialize, ToSchema)]
#[schema(as = OfferSnapshot)]
struct Was {
    /// What the main agent did.
    lead: words::Lead,
    /// Whether the agent was being started for a message.
    starting: bool,
    /// What it waited for.
    prompts: Vec<WasPrompt>,
    /// Its background work.
    tasks: Vec<WasTask>,
    /// Prompts beyond those.
    more_prompts: u32,
    /// Background work beyond those.
    more_tasks: u32,
    /// All background work, counted.
    task_counts: Counted,
}

/// A prompt that waited.
#[derive(Serialize, ToSchema)]
#[schema(as = OfferPrompt)]
struct WasPrompt {
    kind: words::PromptKind,
    /// What was asked, in one line.
    label: String,
}

/// Background work that lived.
#[derive(Serialize, ToSchema)]
#[schema(as = OfferTask)]
struct WasTask {
    kind: words::TaskKind,
    /// What it was, in one line.
    label: String,
}

/// Background work by its kind.
#[derive(Serialize, ToSchema)]
#[schema(as = TaskCounts)]
struct Counted {
    /// Subagents.
    agent: u32,
    /// Workflows.
    workflow: u32,
    /// Commands.
    command: u32,
    /// Monitors.
    monitor: u32,
    /// Of an unknown kind.
    unknown: u32,
}

impl Offer {
    /// An offer from its row; nothing if it is not shown yet.
    pub(crate) fn shown(row: OfferRow) -> Option<Self> {
        row.shown.then(|| Self {
            chat: row.chat,
            cause: row.cause.map(words::cause),
            recorded_at: rfc3339(row.recorded_at),
            summary: said(row.snapshot.as_ref().map(sentence)),
            details: row.snapshot.as_ref().map(details).unwrap_or_default(),
            snapshot: row.snapshot.map(was),
            needs_choice: row.needs_choice,
            resuming: row.resuming,
            readable: row.readable,
        })
    }
}

fn said(sentence: Option<Sentence>) -> Said {
    let part = |part: Part| SaidPart {
        key: part.key,
        params: SaidParams { label: part.params.label, count: part.params.count },
    };
    let (parts, text) = sentence.map(|said| (said.parts, said.text)).unwrap_or_default();
    Said { parts: parts.into_iter().map(part).collect(), text }
}

fn was(snapshot: Snapshot) -> Was {
    let counts = snapshot.task_counts;
    let prompts = snapshot.prompts.into_iter();
    let tasks = snapshot.tasks.into_iter();
    Was {
        lead: words::lead(snapshot.lead),
        starting: snapshot.starting,
        prompts: prompts
            .map(|line| WasPrompt { kind: words::prompt_kind(line.kind), label: line.label })
            .collect(),
        tasks: tasks
            .map(|line| WasTask { kind: words::task_kind(line.kind), label: line.label })
            .collect(),
        more_prompts: snapshot.more_prompts,
        more_tasks: snapshot.more_tasks,
        task_counts: Counted {
            agent: counts.agent,
            workflow: counts.workflow,
            command: counts.command,
            monitor: counts.monitor,
            unknown: counts.unknown,
        },
    }
}

/// A start or a resume that did not come about.
#[derive(Serialize, ToSchema)]
#[schema(as = Failure)]
pub(crate) struct Failed {
    #[schema(value_type = ids::ChatId)]
    chat: ChatId,
    /// A stable code.
    code: String,
    /// What failed, as a sentence.
    text: String,
    /// What a person can do.
    actions: Vec<words::Action>,
    /// When.
    at: Time,
}

impl Failed {
    /// A failure from its row.
    pub(crate) fn of(row: FailureRow) -> Self {
        Self {
            chat: row.chat,
            code: row.code,
            text: row.text,
            actions: row.actions.into_iter().map(words::action).collect(),
            at: rfc3339(row.at),
        }
    }
}

/// What became of each chat of a resume or a dismissal.
#[derive(Serialize, ToSchema)]
#[schema(as = OfferResults)]
pub(crate) struct Results {
    /// One for each chat.
    pub(crate) results: Vec<OneResult>,
}

/// What became of one chat.
#[derive(Serialize, ToSchema)]
#[schema(as = OfferResult)]
pub(crate) struct OneResult {
    #[schema(value_type = ids::ChatId)]
    chat: ChatId,
    /// What became of it.
    outcome: words::Outcome,
    /// The receipt of the message that a resume sends.
    #[schema(value_type = Option<ids::ReceiptId>)]
    receipt: Option<ReceiptId>,
    /// Why nothing was sent, or why it failed.
    failure: Option<Why>,
}

/// Why nothing was sent, or why it failed.
#[derive(Serialize, ToSchema)]
#[schema(as = OfferFailure)]
struct Why {
    /// A stable code.
    code: String,
    /// A sentence.
    text: String,
    /// What a person can do.
    actions: Vec<words::Action>,
}

impl OneResult {
    /// What a chat answered.
    pub(crate) fn of(chat: ChatId, answer: Result<Reply, Refusal>) -> Self {
        let plain = |outcome| Self { chat, outcome, receipt: None, failure: None };
        match answer {
            Ok(Reply::Resuming { receipt }) => Self { receipt, ..plain(words::Outcome::Pending) },
            Ok(Reply::Dismissed) => plain(words::Outcome::Dismissed),
            Ok(Reply::NotResumed { why }) => match why {
                NotResumed::NoOffer => {
                    Self::refused(chat, Code::NoOffer.as_str(), "This chat has no offer.")
                }
                NotResumed::Superseded => plain(words::Outcome::Superseded),
                NotResumed::NeedsChoice => Self::refused(
                    chat,
                    "needs_choice",
                    "A message of this chat is in doubt: say whether it arrived, is to be sent \
                     again, or is to be discarded.",
                ),
                NotResumed::Failed { failure } => {
                    Self { failure: Some(Why::of(failure)), ..plain(words::Outcome::Failed) }
                }
            },
            // Replies of other commands; the chat answered what was not asked.
            Ok(
                Reply::Done
                | Reply::Forkable { .. }
                | Reply::Row
                | Reply::Chosen { .. }
                | Reply::Opened { .. }
                | Reply::Rewound { .. }
                | Reply::Accepted { .. }
                | Reply::Attached(_)
                | Reply::Answered { .. }
                | Reply::Closed { .. },
            ) => plain(words::Outcome::Refused),
            Err(refusal) => Self::refused(chat, refusal.code.as_str(), &refusal.text),
        }
    }

    /// Nothing was sent, for this reason.
    pub(crate) fn refused(chat: ChatId, code: &str, text: &str) -> Self {
        let why = Why { code: code.to_owned(), text: text.to_owned(), actions: Vec::new() };
        Self { chat, outcome: words::Outcome::Refused, receipt: None, failure: Some(why) }
    }

    /// An offer that is not the one that the caller saw.
    pub(crate) const fn superseded(chat: ChatId) -> Self {
        Self { chat, outcome: words::Outcome::Superseded, receipt: None, failure: None }
    }
}

impl Why {
    fn of(failure: Failure) -> Self {
        Self {
            code: failure.code,
            text: failure.text,
            actions: failure.actions.into_iter().map(words::action).collect(),
        }
    }
}
