//! What both backends derive in the same way from heads, summaries and facts.

use holdfast_core::activity::{Activity, Lead, Process, Shown};
use holdfast_core::attachment::Attachment;
use holdfast_core::fact::{Fact, RefusedWhy};
use holdfast_core::happened::happened;
use holdfast_core::head::{Head, Life, Marks};
use holdfast_core::ids::{ChatId, Seq};
use holdfast_core::item::{Body, CallState, Field, Row};
use holdfast_core::limits::{CODEC_STATE_BYTES_MAX, ITEM_TEXT_HEAD_BYTES, cut};
use holdfast_core::offer::TaskCounts;
use holdfast_core::provider::Capabilities;
use holdfast_core::summary::Summary;
use holdfast_core::time::Micros;

use crate::journal::{CommitError, Unit};
use crate::rows::{
    AnswerLife, Counts, Given, LAST_PROMPT_CHARS_MAX, MessageState, PromptStatus, TextHead,
};

/// Checks a unit against the number of the last fact that is stored of its chat, and against
/// itself.
pub(crate) fn check(unit: &Unit, stored: Seq) -> Result<(), CommitError> {
    let refused = |text: String| Err(CommitError::Refused(text));
    if unit.after != stored {
        let (chat, decided) = (unit.chat, unit.after);
        return Err(CommitError::Fenced { chat, decided, found: stored });
    }
    if stored == Seq(0) && !matches!(unit.facts.first(), Some(Fact::ChatOpened { .. })) {
        return refused(format!("the first fact of {} does not open it", unit.chat));
    }
    let facts = u64::try_from(unit.facts.len()).unwrap_or(u64::MAX);
    let end = Seq(stored.0.saturating_add(facts));
    if unit.head.seq != end || unit.summary.seq != end {
        return refused(format!(
            "the head of {} is at {} and its summary at {}, but its facts end at {}",
            unit.chat, unit.head.seq.0, unit.summary.seq.0, end.0
        ));
    }
    if unit.progress.as_ref().is_some_and(|p| p.codec.len() > CODEC_STATE_BYTES_MAX) {
        return refused(format!("the codec state is over {CODEC_STATE_BYTES_MAX} bytes"));
    }
    Ok(())
}

/// Whether something happened in the chat with this unit, so that it moves up in lists.
pub(crate) fn moves(unit: &Unit) -> bool {
    unit.facts.iter().any(happened)
}

/// What one chat adds to the counts of the host.
pub(crate) fn counted(summary: &Summary) -> Counts {
    if summary.life == Life::Deleted {
        return Counts::default();
    }
    Counts {
        running: u64::from(summary.shows_work),
        to_resume: u64::from(summary.offer.is_some()),
        to_check: u64::from(summary.failure.is_some() || summary.unknown > 0),
        queued: u64::from(summary.queue_length),
        open: u64::from(summary.life == Life::Open),
    }
}

/// Whether a host that starts has to load this chat.
pub(crate) fn owes(head: &Head, summary: &Summary) -> bool {
    summary.owes || head.offer.as_ref().is_some_and(|offer| !offer.shown)
}

/// The stand-in for a summary that cannot be read: it shows that somebody has to look.
pub(crate) fn stand_in(seq: Seq, life: Life, at: Micros) -> Summary {
    Summary {
        seq,
        life,
        agent: String::new(),
        cwd: String::new(),
        marks: Marks::default(),
        model: None,
        mode: None,
        effort: None,
        efforts: Vec::new(),
        forked_from: None,
        known: Capabilities::NONE,
        shown: Shown::ToCheck,
        since: at,
        evidence: "unreadable".to_owned(),
        process: Process::Stopped,
        activity: Activity {
            lead: Lead::Done,
            starting: false,
            prompts: Vec::new(),
            tasks: Vec::new(),
            task_counts: TaskCounts::default(),
            leftovers: Vec::new(),
        },
        shows_work: false,
        offer: None,
        failure: None,
        needs_choice: false,
        unknown: 0,
        queue_length: 0,
        held: None,
        user_messages: 0,
        owes: false,
    }
}

/// The state of a message after a fact about it; none if the fact leaves it where it is. It moves
/// exactly as the head's queue, outstanding and stranded messages do.
pub(crate) fn message_after(state: &MessageState, fact: &Fact) -> Option<MessageState> {
    use MessageState as S;
    let at_agent = match state {
        S::Handed | S::Taken | S::Refused(_) | S::Unknown { .. } => true,
        S::Queued | S::Settled | S::Withdrawn(_) => false,
    };
    match fact {
        Fact::MessageHanded { .. } => matches!(state, S::Queued).then_some(S::Handed),
        Fact::MessageTaken { .. } => at_agent.then_some(S::Taken),
        Fact::MessageSettled { .. } => at_agent.then_some(S::Settled),
        Fact::MessageRefused { why, .. } => at_agent.then(|| S::Refused(why.clone())),
        Fact::MessageDisproved { .. } => {
            matches!(state, S::Settled).then_some(S::Refused(RefusedWhy::NotInStore))
        }
        Fact::MessageDoubted { asking, .. } => at_agent.then_some(S::Unknown { asking: *asking }),
        Fact::MessageRequeued { .. } => at_agent.then_some(S::Queued),
        Fact::MessageWithdrawn { why, .. } => {
            (at_agent || matches!(state, S::Queued)).then_some(S::Withdrawn(*why))
        }
        _ => None,
    }
}

/// State and answer of a prompt after a fact about it; none if the fact leaves it as it is.
pub(crate) fn prompt_after(
    state: PromptStatus,
    given: Option<&Given>,
    fact: &Fact,
    at: Micros,
) -> Option<(PromptStatus, Option<Given>)> {
    let lives = |life: AnswerLife| {
        let given = given?;
        Some((state, Some(Given { life, ..given.clone() })))
    };
    match fact {
        Fact::PromptAnswered { answer, by, device, .. } => {
            (state == PromptStatus::Open).then(|| {
                let (by, device, life) = (by.clone(), device.clone(), AnswerLife::Answered);
                (
                    PromptStatus::Answered,
                    Some(Given { answer: answer.clone(), by, device, at, life }),
                )
            })
        }
        Fact::AnswerWritten { .. } => lives(AnswerLife::Written),
        Fact::AnswerTaken { .. } => lives(AnswerLife::Taken),
        Fact::AnswerLost { written: true, .. } => lives(AnswerLife::Unknown),
        Fact::AnswerLost { written: false, .. } => lives(AnswerLife::NotUsed),
        // With its attempt the one who asked is gone.
        Fact::PromptGone { .. } | Fact::AttemptEnded { .. } => {
            (state == PromptStatus::Open).then_some((PromptStatus::Gone, None))
        }
        _ => None,
    }
}

/// The body of an item whose attempt died, if it says that a call runs.
pub(crate) fn abandoned(body: &Body) -> Option<Body> {
    match body {
        Body::Call(call) if call.state == CallState::Running => {
            let mut call = call.clone();
            call.state = CallState::Unknown;
            Some(Body::Call(call))
        }
        Body::Call(_)
        | Body::Text
        | Body::Within { .. }
        | Body::Message { .. }
        | Body::Prompt { .. }
        | Body::Plan { .. }
        | Body::Notice(_)
        | Body::Unrecognised { .. } => None,
    }
}

/// The part of a piece that begins at `at` which is not there yet, where `have` bytes are. A piece
/// that is there already gives an empty one.
pub(crate) fn fresh(have: u64, at: u64, piece: &str) -> Result<&str, CommitError> {
    let known = have.checked_sub(at).ok_or_else(|| {
        CommitError::Refused(format!("a piece begins at byte {at}, but only {have} are there"))
    })?;
    let known = usize::try_from(known).unwrap_or(usize::MAX).min(piece.len());
    piece.get(known..).ok_or_else(|| {
        CommitError::Refused(format!("a piece continues at byte {have} within a character"))
    })
}

/// The beginning of a text, or of what is at hand of it.
pub(crate) fn text_head(field: Field, text: &[u8], bytes: u64) -> TextHead {
    let head = valid_head(text, ITEM_TEXT_HEAD_BYTES).to_owned();
    TextHead { field, head, bytes }
}

/// The first bytes of a text, cut where a character ends.
pub(crate) fn valid_head(text: &[u8], most: usize) -> &str {
    let most = text.get(..most).unwrap_or(text);
    match std::str::from_utf8(most) {
        Ok(whole) => whole,
        Err(error) => {
            let valid = most.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(valid).unwrap_or_default()
        }
    }
}

/// The text that a unit carries for a message, the last if there are several.
pub(crate) fn text_of(unit: &Unit, message: holdfast_core::ids::MessageId) -> Option<&str> {
    unit.rows.iter().rev().find_map(|row| match row {
        Row::MessageText { message: of, text } => (*of == message).then_some(text.as_str()),
        Row::ItemBody { .. }
        | Row::ItemText { .. }
        | Row::ItemDated { .. }
        | Row::ItemClosed { .. }
        | Row::Commands(_) => None,
    })
}

/// What a chat's row shows of a message: its text, or what goes with it where it has none.
pub(crate) fn last_prompt<E>(
    text: &str,
    attachments: impl FnOnce() -> Result<Vec<Attachment>, E>,
) -> Result<String, E> {
    if !text.trim().is_empty() {
        return Ok(cut(text, LAST_PROMPT_CHARS_MAX));
    }
    let names: Vec<String> = attachments()?.into_iter().map(|one| one.name).collect();
    Ok(cut(&names.join(", "), LAST_PROMPT_CHARS_MAX))
}

/// The refusal of a row or fact about something that is not there.
pub(crate) fn missing(chat: ChatId, what: impl std::fmt::Display) -> CommitError {
    CommitError::Refused(format!("{chat} has no {what}"))
}

#[cfg(test)]
mod tests {
    use super::valid_head;

    #[test]
    fn a_head_ends_at_a_character() {
        let text = "aé👍".as_bytes();
        let cut: Vec<&str> = (0..9).map(|most| valid_head(text, most)).collect();
        assert_eq!(cut, ["", "a", "a", "aé", "aé", "aé", "aé", "aé👍", "aé👍"]);
    }
}
