//! A prompt has one answer, and only the attempt that asked hears it.

use holdfast_core::fact::Fact;
use holdfast_core::ids::{AttemptId, PromptId};
use holdfast_store::Unit;

use super::Before;
use super::acks::option_of;
use crate::world::World;

/// A fact was stored.
pub(super) fn happened(w: &mut World, unit: &Unit, fact: &Fact, before: &Before) {
    let Fact::PromptAnswered { prompt, .. } = fact else { return };
    if !w.checks.answers.insert((unit.chat, *prompt)) {
        w.fail(format!("{prompt} has two answers"));
    }
    let attempt = before.head().and_then(|head| head.attempt.as_ref());
    if attempt.is_none_or(|attempt| attempt.origin != prompt.origin) {
        w.fail(format!("{prompt} was answered after the attempt that asked"));
    }
}

/// An agent read the answer to a request of its own; none stands for a refusal or a cancellation.
pub(crate) fn reached(w: &mut World, attempt: AttemptId, request: u64, option: Option<&str>) {
    let Some(seen) = w.evidence.attempts.get_mut(&attempt) else { return };
    let (chat, origin) = (seen.chat, seen.origin);
    let Some(at) = seen.asks.iter().position(|ask| ask.request == request) else {
        return w.fail(format!("request {request} was answered and never put"));
    };
    let Some(ask) = seen.asks.get_mut(at) else { return };
    let before = ask.answer.clone();
    ask.answer.get_or_insert(option.map(str::to_owned));
    if let (Some(Some(first)), Some(second)) = (&before, option) {
        return w.fail(format!("request {request} was answered {first} and then {second}"));
    }
    let Some(option) = option else { return };
    let prompt = PromptId::new(origin, u32::try_from(at + 1).unwrap_or(0));
    let Some(row) = w.journal.store.prompt(chat, prompt) else { return };
    let stored = row.given.as_ref().and_then(|given| option_of(&given.answer));
    if stored != Some(option) {
        w.fail(format!("the agent was told {option} for {prompt}, stored is {stored:?}"));
    }
}
