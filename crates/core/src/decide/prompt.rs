//! Prompts: asked, answered once, written, taken, gone.

use super::death::Missing;
use super::{Draft, grant};
use crate::fact::{Fact, OfferEnd};
use crate::frame::{Answer, Outgoing, QuestionAnswer};
use crate::head::PromptState;
use crate::ids::{FrameNo, PromptId, Subject};
use crate::input::Reply;
use crate::item::{Body, Field, ItemKind, Notice, Role, Row};
use crate::limits::{
    ANSWER_BYTES_MAX, OPEN_PROMPTS_MAX, OUTBOX_FRAMES_MAX, PROMPT_OPTIONS_MAX, label,
};
use crate::provider::{Asked, Question};
use crate::refusal::{Code, Refusal};

pub(super) fn opened(d: &mut Draft<'_>, n: u32, item: u32, mut asked: Asked) {
    let prompt = PromptId::new(d.origin(), n);
    if d.chat.head.prompts.contains_key(&prompt) {
        return;
    }
    asked.label = label(&asked.label);
    asked.options.truncate(PROMPT_OPTIONS_MAX);
    let item = d.own_item(item);
    let turn = d.chat.head.turn.map(|turn| turn.id);
    let text = asked.label.clone();
    d.add_item(item, ItemKind::Prompt, Role::Agent, turn, Body::Prompt { prompt });
    d.row(Row::ItemText { item, field: Field::Text, at: 0, text });
    d.row(Row::ItemClosed { item });
    let too_many = d.chat.head.prompts.len() >= OPEN_PROMPTS_MAX;
    d.push(Fact::PromptOpened { prompt, item, asked });
    if too_many {
        d.issue(Outgoing::Answer { prompt, answer: Answer::Cancelled });
        d.push(Fact::PromptGone { prompt });
        let text = format!("More than {OPEN_PROMPTS_MAX} prompts were open: one was cancelled.");
        d.say(Notice::PromptCancelled, &text);
    } else {
        grant::answer(d, prompt);
    }
}

/// A person answers. The first answer is the answer; what decides is the state under the actor.
pub(super) fn answer(
    d: &mut Draft<'_>,
    prompt: PromptId,
    answer: Answer,
    by: String,
    device: Option<String>,
) -> Result<Reply, Refusal> {
    let open = d.chat.head.prompts.get(&prompt).ok_or_else(too_late)?;
    match open.state {
        PromptState::Open => {}
        PromptState::Answered { .. } | PromptState::Written => {
            return Err(Refusal::new(Code::AlreadyAnswered, "Somebody answered this first."));
        }
    }
    let asked = d.chat.aside.prompts.get(&prompt).ok_or_else(too_late)?.clone();
    check(&asked, &answer)?;
    let changes = matches!(answer, Answer::Changed { .. });
    if changes && !d.serving().is_some_and(|attempt| attempt.capabilities.change_input) {
        return Err(invalid("input", "This agent takes no other input than it proposed."));
    }
    give(d, prompt, answer.clone(), by.clone(), device)?;
    grant::learn(d, &asked, &answer, &by);
    super::offer::end(d, OfferEnd::Answered);
    let receipt = d.receipt(Subject::Answer(prompt));
    Ok(Reply::Answered { receipt })
}

/// Gives an answer to an open prompt; whether it is one of its answers is looked at before.
pub(super) fn give(
    d: &mut Draft<'_>,
    prompt: PromptId,
    answer: Answer,
    by: String,
    device: Option<String>,
) -> Result<(), Refusal> {
    if !d.has_room(1) {
        return Err(full());
    }
    // An agent that is being stopped is asked nothing and told nothing.
    let frame = d.next_frame().ok_or_else(too_late)?;
    d.push(Fact::PromptAnswered { prompt, answer: answer.clone(), by, device, frame });
    d.push(Fact::FrameIssued { frame, out: Outgoing::Answer { prompt, answer } });
    Ok(())
}

fn too_late() -> Refusal {
    Refusal::new(Code::PromptGone, "The agent no longer waits for this answer.")
}

/// The agent takes nothing that is written to it.
pub(super) fn full() -> Refusal {
    let text = format!("{OUTBOX_FRAMES_MAX} frames wait for an agent that reads none.");
    Refusal::new(Code::Overloaded, text).limit(OUTBOX_FRAMES_MAX)
}

fn invalid(field: &str, text: impl Into<String>) -> Refusal {
    Refusal::new(Code::InvalidAnswer, text).field(field)
}

fn check(asked: &Asked, answer: &Answer) -> Result<(), Refusal> {
    let long = |text: &Option<String>| text.as_ref().is_some_and(|t| t.len() > ANSWER_BYTES_MAX);
    match answer {
        Answer::Option { option, text } => {
            if long(text) {
                return Err(super::chat::too_long("text", ANSWER_BYTES_MAX, "bytes"));
            }
            // An option beside the questions answers for all of them.
            let single = asked.questions.len() < 2 || !asked.options.is_empty();
            let options = if asked.options.is_empty() {
                asked.questions.first().map_or(&[][..], |question| &question.options)
            } else {
                &asked.options[..]
            };
            if !single || !options.iter().any(|known| known.id == *option) {
                return Err(invalid("option", "This prompt has no such option."));
            }
            Ok(())
        }
        Answer::Changed { option, input } => {
            if input.len() > ANSWER_BYTES_MAX {
                return Err(super::chat::too_long("input", ANSWER_BYTES_MAX, "bytes"));
            }
            if !asked.options.iter().any(|known| known.id == *option) {
                return Err(invalid("option", "This prompt has no such option."));
            }
            Ok(())
        }
        Answer::Answers { answers } => {
            if answers.iter().any(|answer| long(&answer.text)) {
                return Err(super::chat::too_long("answers", ANSWER_BYTES_MAX, "bytes"));
            }
            if asked.questions.is_empty() || answers.len() != asked.questions.len() {
                return Err(invalid("answers", "Each question of the prompt needs one answer."));
            }
            for question in &asked.questions {
                let mut given = answers.iter().filter(|answer| answer.question == question.id);
                let (Some(answer), None) = (given.next(), given.next()) else {
                    return Err(invalid(
                        "answers",
                        "Each question of the prompt needs one answer.",
                    ));
                };
                check_question(question, answer)?;
            }
            Ok(())
        }
        Answer::Cancelled => Err(invalid("option", "An answer names an option.")),
    }
}

fn check_question(question: &Question, answer: &QuestionAnswer) -> Result<(), Refusal> {
    let known = |id: &String| question.options.iter().any(|option| option.id == *id);
    if !answer.options.iter().all(known) {
        return Err(invalid("answers", "A question has no such option."));
    }
    if answer.options.len() > 1 && !question.multi {
        return Err(invalid("answers", "A question takes one option only."));
    }
    let text = answer.text.as_ref().is_some_and(|text| !text.trim().is_empty());
    if text && !question.free {
        return Err(invalid("answers", "A question takes no text."));
    }
    if answer.options.is_empty() && !text {
        return Err(invalid("answers", "A question is not answered."));
    }
    Ok(())
}

/// The frame of an answer is written.
pub(super) fn written(d: &mut Draft<'_>, frame: FrameNo) {
    let here = d.chat.head.prompts.iter().find(|(_, prompt)| match prompt.state {
        PromptState::Answered { frame: of } => of == frame,
        PromptState::Open | PromptState::Written => false,
    });
    if let Some(prompt) = here.map(|(id, _)| *id) {
        d.push(Fact::AnswerWritten { prompt });
    }
}

/// The agent's next word on the call: it has the answer.
pub(super) fn taken(d: &mut Draft<'_>, n: u32) {
    let prompt = PromptId::new(d.origin(), n);
    if d.chat.head.prompts.get(&prompt).is_some_and(|prompt| !prompt.is_open()) {
        d.push(Fact::AnswerTaken { prompt });
    }
}

/// The agent no longer waits.
pub(super) fn gone(d: &mut Draft<'_>, n: u32) {
    let prompt = PromptId::new(d.origin(), n);
    if d.chat.head.prompts.get(&prompt).is_some_and(crate::head::Prompt::is_open) {
        d.push(Fact::PromptGone { prompt });
    }
}

/// Takes back what is open, at the agent too: its turn is to end.
pub(super) fn cancel_open(d: &mut Draft<'_>) {
    for prompt in open_ids(d) {
        d.issue(Outgoing::Answer { prompt, answer: Answer::Cancelled });
        d.push(Fact::PromptGone { prompt });
    }
}

/// The turn is over: nothing of it is asked any more, and what was answered was taken.
pub(super) fn over(d: &mut Draft<'_>) {
    let live: Vec<(PromptId, bool)> =
        d.chat.head.prompts.iter().map(|(id, prompt)| (*id, prompt.is_open())).collect();
    for (prompt, open) in live {
        d.push(if open { Fact::PromptGone { prompt } } else { Fact::AnswerTaken { prompt } });
    }
}

/// The attempt died: what is open is gone, what was answered may have arrived or not.
pub(super) fn lost(d: &mut Draft<'_>, missing: Missing) {
    let written = missing != Missing::NotDone;
    let live: Vec<(PromptId, PromptState)> =
        d.chat.head.prompts.iter().map(|(id, prompt)| (*id, prompt.state)).collect();
    for (prompt, state) in live {
        d.push(match state {
            PromptState::Open => Fact::PromptGone { prompt },
            PromptState::Answered { .. } => Fact::AnswerLost { prompt, written },
            PromptState::Written => Fact::AnswerLost { prompt, written: true },
        });
    }
}

fn open_ids(d: &Draft<'_>) -> Vec<PromptId> {
    let open = d.chat.head.prompts.iter().filter(|(_, prompt)| prompt.is_open());
    open.map(|(id, _)| *id).collect()
}
