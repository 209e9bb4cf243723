//! `fold`: what a fact makes of a chat. Total: a fact that does not fit changes nothing but the
//! count, for what is stored was decided once and is not argued with.

mod delivery;

use std::sync::Arc;

use crate::activity::{Activity, shown};
use crate::attachment::Held;
use crate::fact::Fact;
use crate::fork::{Fork, ForkedFile};
use crate::frame::Issued;
use crate::head::{
    Attempt, Chat, Life, Offer, OpenTurn, Phase, Prompt, PromptState, Task, Written,
};
use crate::ids::{FrameNo, Seq, TurnId};
use crate::item::ItemKind;
use crate::limits::{LIVE_TASKS_MAX, OPEN_PROMPTS_MAX};
use crate::offer::TaskCounts;
use crate::provider::{Forks, Trunk, TurnEnd};
use crate::time::Micros;

/// Folds one fact, which happened at `at`, into a chat. The numbers of a damaged head stop at their
/// end, here and where things are decided: one that began anew would name what is there already.
pub fn fold(chat: &mut Chat, fact: &Fact, at: Micros) {
    chat.head.seq = Seq(chat.head.seq.0.saturating_add(1));
    match fact {
        Fact::ChatOpened { .. }
        | Fact::ChatForked(_)
        | Fact::ChatRewound { .. }
        | Fact::ChatAdopted { .. }
        | Fact::ChatTitled { .. }
        | Fact::SlotBound { .. }
        | Fact::ChatPinned { .. }
        | Fact::ChatFiled { .. }
        | Fact::ChatTagged { .. }
        | Fact::ChatMuted { .. }
        | Fact::ChatSeen { .. }
        | Fact::ChatTuned { .. }
        | Fact::SettingDeferred
        | Fact::AgentRetuned { .. }
        | Fact::EffortsTold { .. }
        | Fact::ChatClosed
        | Fact::ChatReopened
        | Fact::ChatDeleted => fold_chat(chat, fact),
        Fact::AttachmentAdded(_) | Fact::AttachmentRemoved { .. } => fold_attachment(chat, fact),
        Fact::MessageAccepted { .. }
        | Fact::MessageEdited { .. }
        | Fact::QueueOrdered { .. }
        | Fact::MessageWithdrawn { .. }
        | Fact::QueuePaused { .. }
        | Fact::QueueResumed
        | Fact::QueueExempted { .. }
        | Fact::MessageRequeued { .. } => delivery::fold_queue(chat, fact),
        Fact::MessageHanded { .. }
        | Fact::SteerWished { .. }
        | Fact::WithdrawRequested { .. }
        | Fact::MessageTaken { .. }
        | Fact::MessageSettled { .. }
        | Fact::MessageRefused { .. }
        | Fact::MessageDoubted { .. }
        | Fact::SettledSuspected { .. }
        | Fact::MessageDisproved { .. } => delivery::fold_delivery(chat, fact),
        Fact::TurnOpened { .. }
        | Fact::TurnClaimed { .. }
        | Fact::TurnEnded { .. }
        | Fact::TurnMarked(_)
        | Fact::InterruptRequested { .. }
        | Fact::ItemAdded { .. }
        | Fact::CallsAbandoned { .. } => fold_turn(chat, fact, at),
        Fact::PromptOpened { .. }
        | Fact::PromptAnswered { .. }
        | Fact::AnswerWritten { .. }
        | Fact::AnswerTaken { .. }
        | Fact::AnswerLost { .. }
        | Fact::PromptGone { .. }
        | Fact::GrantGiven { .. }
        | Fact::GrantEnded { .. }
        | Fact::TaskStarted { .. }
        | Fact::TaskDetached { .. }
        | Fact::TaskEnded { .. } => fold_live(chat, fact, at),
        Fact::AttemptStarting { .. }
        | Fact::LeftoversSeen { .. }
        | Fact::AttemptBorn { .. }
        | Fact::AttemptReady { .. }
        | Fact::SessionMoved { .. }
        | Fact::FrameIssued { .. }
        | Fact::FrameBegun { .. }
        | Fact::FrameDone { .. }
        | Fact::FrameCancelled { .. }
        | Fact::StopRequested { .. }
        | Fact::StopWithdrawn { .. }
        | Fact::AttemptStalled { .. }
        | Fact::AttemptGoesOn { .. }
        | Fact::StoreRead { .. }
        | Fact::AttemptEnded { .. }
        | Fact::TreeMayLive { .. }
        | Fact::StartedAnyway => fold_attempt(chat, fact),
        Fact::OfferRecorded { .. }
        | Fact::OfferShown { .. }
        | Fact::OfferEnded { .. }
        | Fact::ResumeStarted { .. }
        | Fact::SessionLeft { .. }
        | Fact::ResumeStopped { .. }
        | Fact::FailureFiled(_)
        | Fact::FailureCleared => fold_offer(chat, fact),
    }
    notice(chat, fact);
    let now = shown(chat, &Activity::of(chat));
    if now != chat.head.shown || chat.head.seq == Seq(1) {
        chat.head.shown = now;
        chat.head.shown_since = at;
        chat.head.shown_by = word(fact);
    }
}

/// What a person has not seen makes a chat unread; writing in it is seeing it.
fn notice(chat: &mut Chat, fact: &Fact) {
    let unread = &mut chat.head.marks.unread;
    match fact {
        Fact::TurnEnded { .. }
        | Fact::PromptOpened { .. }
        | Fact::OfferShown { .. }
        | Fact::FailureFiled(_) => *unread = true,
        Fact::MessageAccepted { by, .. } if by.is_person() => *unread = false,
        Fact::ChatSeen { seen } => *unread = !seen,
        _ => {}
    }
}

/// The evidence of a shown state: the fact that brought it about.
fn word(fact: &Fact) -> String {
    let debug = format!("{fact:?}");
    let name = debug.split([' ', '(']).next().unwrap_or_default();
    let mut word = String::with_capacity(name.len() + 4);
    for (i, c) in name.char_indices() {
        if c.is_ascii_uppercase() && i > 0 {
            word.push('_');
        }
        word.push(c.to_ascii_lowercase());
    }
    word
}

fn fold_chat(chat: &mut Chat, fact: &Fact) {
    let head = &mut chat.head;
    match fact {
        Fact::ChatTitled { by, .. } => head.named |= *by == crate::fact::Namer::Person,
        Fact::ChatOpened { agent, cwd, title, model, mode, .. } => {
            head.named = title.is_some();
            head.life = Life::Open;
            head.agent.clone_from(agent);
            head.cwd.clone_from(cwd);
            head.model.clone_from(model);
            head.mode.clone_from(mode);
        }
        Fact::ChatForked(fork) => {
            let Fork { handle: session, until, unreached, .. } = fork;
            head.fork = Some(Trunk { session: session.clone(), until: until.clone() });
            head.unreached = *unreached;
            head.forked_from = Some(fork.from);
            head.places = fork.at;
            head.session_messages = fork.messages;
            head.attempts = fork.attempts;
            head.turns = fork.turns;
            head.host_items = fork.host_items;
            let held = Arc::make_mut(&mut chat.aside.attachments);
            for ForkedFile { id, bytes, named } in &fork.attachments {
                held.insert(*id, Held { bytes: *bytes, named: Some(*named) });
            }
        }
        Fact::ChatRewound { to, handle } => {
            head.fork = Some(Trunk { session: handle.clone(), until: Some(to.mark.clone()) });
            head.handle = None;
            head.left_behind = Some((to.turn, TurnId(head.turns)));
            head.session_messages = to.messages;
            head.settled = None;
            head.failed_turn = false;
            if let Some(attempt) = &mut head.attempt {
                attempt.left = true;
            }
        }
        Fact::ChatAdopted { handle, messages, .. } => {
            head.handle = Some(handle.clone());
            head.session_messages = *messages;
            // What was said before the chat is of a life of its own.
            head.attempts = 1;
        }
        Fact::ChatPinned { pinned } => head.marks.pinned = *pinned,
        Fact::ChatFiled { folder } => head.marks.folder.clone_from(folder),
        Fact::ChatTagged { tags } => head.marks.tags.clone_from(tags),
        Fact::ChatMuted { muted } => head.marks.muted = *muted,
        Fact::ChatTuned { model, mode, effort } => {
            if model.is_some() {
                head.model.clone_from(model);
            }
            if mode.is_some() {
                head.mode.clone_from(mode);
            }
            if effort.is_some() {
                head.effort.clone_from(effort);
            }
            let lives = |attempt: &Attempt| !attempt.retunes();
            head.tuned = head.attempt.as_ref().is_some_and(lives);
        }
        Fact::SettingDeferred => head.tuned = head.attempt.is_some(),
        Fact::EffortsTold { efforts } => head.efforts.clone_from(efforts),
        Fact::AgentRetuned { model, mode, effort } => {
            if let Some(effort) = effort {
                head.effort = Some(effort.clone()).filter(|effort| !effort.is_empty());
            }
            if model.is_some() {
                head.model.clone_from(model);
            }
            if mode.is_some() {
                head.mode.clone_from(mode);
            }
        }
        Fact::ChatClosed => {
            head.life = Life::Closed;
            head.exempt = None;
        }
        Fact::ChatReopened => head.life = Life::Open,
        Fact::ChatDeleted => {
            head.life = Life::Deleted;
            head.stranded.clear();
            head.steers.clear();
            head.exempt = None;
            head.paused = None;
            chat.aside.queue.clear();
            chat.aside.attachments = Arc::default();
        }
        _ => {}
    }
}

fn fold_attachment(chat: &mut Chat, fact: &Fact) {
    let attachments = Arc::make_mut(&mut chat.aside.attachments);
    match fact {
        Fact::AttachmentAdded(added) => {
            attachments.insert(added.id, Held { bytes: added.bytes, named: None });
        }
        Fact::AttachmentRemoved { attachment } => drop(attachments.remove(attachment)),
        _ => {}
    }
}

fn fold_turn(chat: &mut Chat, fact: &Fact, at: Micros) {
    let head = &mut chat.head;
    match fact {
        Fact::TurnOpened { turn, message } => {
            head.turns = turn.0;
            let open = OpenTurn { id: *turn, message: *message, since: at, interrupted: None };
            head.turn = Some(open);
        }
        Fact::TurnClaimed { turn, message } => {
            if let Some(open) = head.turn.as_mut().filter(|open| open.id == *turn) {
                open.message = Some(*message);
            }
        }
        Fact::TurnEnded { turn, how, .. } => {
            if head.turn.take_if(|open| open.id == *turn).is_some() {
                head.promote();
            }
            head.failed_turn = *how == TurnEnd::Failed;
        }
        Fact::InterruptRequested { turn } => {
            if let Some(open) = head.turn.as_mut().filter(|open| open.id == *turn) {
                open.interrupted = Some(at);
            }
        }
        // Something is written down in the copy: it is there by itself.
        Fact::TurnMarked(_) => head.copied_from = None,
        Fact::ItemAdded { item, place, kind, .. } => {
            if *kind == ItemKind::Compaction && head.known.forks == Forks::AtTurnsInMemory {
                head.unreached = head.turns.saturating_sub(u32::from(head.turn.is_some()));
            }
            head.places = *place;
            if item.origin == 0 {
                head.host_items = item.n;
            }
        }
        _ => {}
    }
}

fn fold_live(chat: &mut Chat, fact: &Fact, at: Micros) {
    let Chat { head, aside } = chat;
    match fact {
        Fact::PromptOpened { prompt, item, asked } if head.prompts.len() < OPEN_PROMPTS_MAX => {
            let state = PromptState::Open;
            let open = Prompt { kind: asked.kind, item: *item, since: at, state };
            head.prompts.insert(*prompt, open);
            aside.prompts.insert(*prompt, asked.clone());
        }
        Fact::PromptAnswered { prompt, frame, .. } => {
            if let Some(open) = head.prompts.get_mut(prompt) {
                open.state = PromptState::Answered { frame: *frame };
            }
        }
        Fact::AnswerWritten { prompt } => {
            if let Some(open) = head.prompts.get_mut(prompt) {
                open.state = PromptState::Written;
            }
        }
        Fact::AnswerTaken { prompt }
        | Fact::AnswerLost { prompt, .. }
        | Fact::PromptGone { prompt } => {
            head.prompts.remove(prompt);
            aside.prompts.remove(prompt);
        }
        Fact::GrantGiven { grant, deed, .. } => {
            head.grants = grant.0;
            aside.grants.insert(*grant, deed.clone());
        }
        Fact::GrantEnded { grant } => {
            aside.grants.remove(grant);
        }
        Fact::TaskStarted { task, kind, label, foreground } => {
            if head.tasks.len() < LIVE_TASKS_MAX {
                head.tasks.insert(*task, Task { kind: *kind, since: at, foreground: *foreground });
                aside.tasks.insert(*task, label.clone());
            } else {
                let more = head.more_tasks.of(*kind);
                *more = more.saturating_add(1);
            }
        }
        Fact::TaskDetached { task } => {
            if let Some(live) = head.tasks.get_mut(task) {
                live.foreground = false;
            }
        }
        Fact::TaskEnded { task, .. } => {
            if head.tasks.remove(task).is_some() {
                aside.tasks.remove(task);
            } else {
                // One that was only counted; which kind it was is not told apart any more.
                let more = &mut head.more_tasks;
                for count in [
                    &mut more.agent,
                    &mut more.workflow,
                    &mut more.command,
                    &mut more.monitor,
                    &mut more.unknown,
                ] {
                    if *count > 0 {
                        *count -= 1;
                        break;
                    }
                }
            }
        }
        _ => {}
    }
}

fn fold_attempt(chat: &mut Chat, fact: &Fact) {
    let head = &mut chat.head;
    match fact {
        Fact::AttemptStarting { attempt, origin, secret, resuming } => {
            head.attempts = *origin;
            head.tuned = false;
            head.attempt = Some(Attempt {
                id: *attempt,
                origin: *origin,
                secret: secret.clone(),
                phase: Phase::Starting,
                pid: None,
                resuming: *resuming,
                took: false,
                frame: FrameNo(0),
                outbox: std::collections::VecDeque::new(),
                stop: None,
                capabilities: crate::provider::Capabilities::default(),
                left: false,
                stalled: false,
                store: None,
            });
        }
        Fact::AttemptReady { handle, capabilities, model, mode, .. } => {
            if let Some(attempt) = &mut head.attempt {
                attempt.phase = Phase::Ready;
                attempt.capabilities = *capabilities;
            }
            head.known = *capabilities;
            if !head.attempt.as_ref().is_some_and(|attempt| attempt.left) {
                let fork = head.fork.take();
                let copied = fork.is_some();
                head.copied_from = fork.or(head.copied_from.take());
                let another = head.handle.as_ref().is_none_or(|old| old.root != handle.root);
                if another && !copied {
                    head.session_messages = 0;
                    head.settled = None;
                    head.unreached = head.turns;
                }
                head.handle = Some(handle.clone());
            }
            if model.is_some() {
                head.model.clone_from(model);
            }
            if mode.is_some() {
                head.mode.clone_from(mode);
            }
        }
        Fact::SessionMoved { handle, .. } => {
            head.handle = Some(handle.clone());
            head.copied_from = None;
            head.unreached = head.turns.saturating_sub(u32::from(head.turn.is_some()));
            head.session_messages = 0;
            head.settled = None;
        }
        Fact::LeftoversSeen { count, named } => {
            head.leftovers = *count;
            chat.aside.leftovers.clone_from(named);
        }
        Fact::AttemptBorn { pid, .. } => {
            if let Some(attempt) = &mut head.attempt {
                attempt.pid = Some(*pid);
            }
        }
        Fact::FrameIssued { frame, out } => {
            if let Some(attempt) = &mut head.attempt {
                attempt.frame = *frame;
                attempt.outbox.push_back(Issued { frame: *frame, out: out.clone() });
            }
        }
        Fact::FrameBegun { frame } => mark(chat, *frame, Written::Begun),
        Fact::FrameDone { frame } => {
            mark(chat, *frame, Written::Done);
            if let Some(attempt) = &mut chat.head.attempt {
                attempt.outbox.retain(|issued| issued.frame > *frame);
            }
        }
        Fact::FrameCancelled { frame } => {
            if let Some(attempt) = &mut head.attempt {
                attempt.outbox.retain(|issued| issued.frame != *frame);
            }
        }
        Fact::StopRequested { why, .. } => {
            if let Some(attempt) = &mut head.attempt {
                attempt.stop = Some(*why);
            }
        }
        Fact::StopWithdrawn { .. } => {
            if let Some(attempt) = &mut head.attempt {
                attempt.stop = None;
            }
        }
        Fact::AttemptStalled { .. } | Fact::AttemptGoesOn { .. } => {
            if let Some(attempt) = &mut head.attempt {
                attempt.stalled = matches!(fact, Fact::AttemptStalled { .. });
            }
        }
        Fact::StoreRead { frames, .. } => {
            if let Some(attempt) = &mut head.attempt {
                attempt.store = Some(frames.clone());
            }
        }
        Fact::AttemptEnded { .. } => {
            head.attempt = None;
            head.turn = None;
            head.promote();
            head.prompts.clear();
            chat.aside.prompts.clear();
            head.tasks.clear();
            chat.aside.tasks.clear();
            head.more_tasks = TaskCounts::default();
            head.leftovers = 0;
            chat.aside.leftovers.clear();
        }
        Fact::TreeMayLive { .. } => head.may_live = true,
        Fact::StartedAnyway => head.may_live = false,
        _ => {}
    }
}

fn mark(chat: &mut Chat, frame: FrameNo, written: Written) {
    if let Some(o) = chat.head.one_at_agent(|o| o.frame == frame)
        && written > o.written
    {
        o.written = written;
    }
}

fn fold_offer(chat: &mut Chat, fact: &Fact) {
    let head = &mut chat.head;
    match fact {
        Fact::OfferRecorded { cause, recorded_at, snapshot, continuation, root } => {
            // What a person let run in spite of a pause waits for the offer like the rest.
            head.exempt = None;
            head.offer = Some(Offer {
                cause: *cause,
                recorded_at: *recorded_at,
                shown: false,
                starting: snapshot.starting,
                only_turn: snapshot.is_only_the_turn(),
                continuation: *continuation,
                root: root.clone(),
                resuming: false,
                choice: None,
            });
        }
        Fact::OfferShown { .. } => {
            if let Some(offer) = &mut head.offer {
                offer.shown = true;
            }
        }
        Fact::OfferEnded { .. } => {
            head.offer = None;
            head.exempt = None;
            // What no offer speaks of any more, no later resume settles.
            for stranded in &mut head.stranded {
                stranded.by_death = false;
            }
        }
        Fact::ResumeStarted { choice, .. } => {
            if let Some(offer) = &mut head.offer {
                offer.resuming = true;
                offer.choice = *choice;
            }
        }
        Fact::SessionLeft { recap } => {
            head.handle = None;
            head.fork = None;
            head.copied_from = None;
            head.recap = Some(*recap);
            head.session_messages = 0;
            if let Some(attempt) = &mut head.attempt {
                attempt.left = true;
            }
            if let Some(offer) = &mut head.offer {
                offer.continuation = *recap;
                // A new session has another root, and that is no rewind.
                offer.root = None;
            }
        }
        Fact::ResumeStopped { .. } => {
            if let Some(offer) = &mut head.offer {
                offer.resuming = false;
                offer.choice = None;
                head.exempt = None;
            }
        }
        Fact::FailureFiled(failure) => head.failure = Some(failure.code.clone()),
        Fact::FailureCleared => head.failure = None,
        _ => {}
    }
}
