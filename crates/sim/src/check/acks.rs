//! What was answered is so.

use holdfast_core::frame::Answer as PromptAnswer;
use holdfast_core::input::{Command, Reply};

use crate::actor::PRINCIPAL;
use crate::net::Answer;
use crate::people::{Request, Wish};
use crate::world::World;

/// Somebody was told something.
pub(crate) fn told(w: &mut World, number: usize, request: &Request, answer: &Answer) {
    let Answer::Done(reply) = answer else { return };
    // An answer for which nothing was stored is given anew.
    let stored = request.key.as_ref().and_then(|key| w.journal.store.operation(PRINCIPAL, key));
    if let Some(Answer::Done(first)) = &request.told
        && first != reply
        && stored.is_some_and(|stored| stored.operation.reply != *reply)
    {
        w.fail(format!("request {number} was answered {first:?} and then {reply:?}"));
    }
    match (reply, &request.wish, request.chat) {
        (Reply::Attached(kept), Wish::Attach { .. }, Some(chat)) => {
            // Somebody may have let go of it, or of its chat, before this answer came.
            let let_go = w.people.requests.iter().any(|request| match &request.wish {
                Wish::Plain(Command::Detach { attachment }) => *attachment == kept.id,
                Wish::Plain(Command::Delete) => request.chat == Some(chat),
                Wish::Open { .. } | Wish::Send { .. } | Wish::Attach { .. } | Wish::Plain(_) => {
                    false
                }
            });
            if !let_go && w.journal.store.attachment(chat, kept.id).is_none() {
                w.fail(format!("{} was acknowledged and is not stored", kept.id));
            }
        }
        (Reply::Accepted { message, .. }, Wish::Send { text, attachments, .. }, Some(chat)) => {
            let row = w.journal.store.message(chat, *message);
            let deleted = row.as_ref().is_some_and(|row| row.text.is_empty());
            let has = row.map_or(0, |row| row.attachments.len());
            if has != attachments.len() && !deleted {
                w.fail(format!("{message} was acknowledged with what it has not: {attachments:?}"));
            }
            if w.journal.store.message(chat, *message).is_none() {
                return w.fail(format!("{message} was acknowledged and is not stored: {text}"));
            }
            let now = w.clock.awake;
            if let Some(accepted) = w.checks.messages.get_mut(message) {
                accepted.acknowledged_at.get_or_insert(now);
            }
        }
        (Reply::Opened { chat, .. }, Wish::Open { .. }, _)
            if w.journal.store.chat(*chat).is_none() =>
        {
            w.fail(format!("{chat} was acknowledged and is not stored"));
        }
        (
            Reply::Answered { .. },
            Wish::Plain(Command::Answer { prompt, answer, .. }),
            Some(chat),
        ) => {
            let winner = *w.checks.winners.entry((chat, *prompt)).or_insert(number);
            if winner != number {
                w.fail(format!("{prompt} was answered by requests {winner} and {number}"));
            }
            let given = w.journal.store.prompt(chat, *prompt).and_then(|row| row.given);
            let stored = given.map(|given| given.answer);
            if stored.as_ref() != Some(answer) && w.journal.store.prompt(chat, *prompt).is_some() {
                w.fail(format!("{answer:?} to {prompt} was acknowledged, stored is {stored:?}"));
            }
        }
        _ => {}
    }
}

/// The option that an answer chooses.
pub(super) fn option_of(answer: &PromptAnswer) -> Option<&str> {
    match answer {
        PromptAnswer::Option { option, .. } | PromptAnswer::Changed { option, .. } => Some(option),
        PromptAnswer::Answers { .. } | PromptAnswer::Cancelled => None,
    }
}
