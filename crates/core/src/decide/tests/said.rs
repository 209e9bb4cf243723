//! Facts in words, for tables.

use super::Scene;
use crate::fact::{Fact, RefusedWhy};
use crate::frame::{Answer, Outgoing};

/// What the facts say; items, which go with almost everything, are left out.
pub(super) fn words(scene: &Scene, facts: &[Fact]) -> Vec<String> {
    facts.iter().filter_map(|fact| word(scene, fact)).collect()
}

fn lower(debug: impl std::fmt::Debug) -> String {
    format!("{debug:?}").to_lowercase()
}

fn word(scene: &Scene, fact: &Fact) -> Option<String> {
    let name = |id: &crate::ids::MessageId| scene.name(*id);
    Some(match fact {
        Fact::ItemAdded { .. } | Fact::CallsAbandoned { .. } => return None,
        Fact::ChatOpened { .. } => "opened".to_owned(),
        Fact::ChatForked(_) => "forked".to_owned(),
        Fact::ChatTitled { title, .. } => format!("titled {title}"),
        Fact::SlotBound { .. } => "slot".to_owned(),
        Fact::ChatClosed => "closed".to_owned(),
        Fact::ChatReopened => "reopened".to_owned(),
        Fact::ChatDeleted => "deleted".to_owned(),
        Fact::MessageAccepted { message, place, .. } => {
            format!("accepted {} at {}", name(message), lower(place))
        }
        Fact::AttachmentAdded(added) => format!("attached {}", added.name),
        Fact::AttachmentRemoved { .. } => "detached".to_owned(),
        Fact::MessageEdited { message, .. } => format!("edited {}", name(message)),
        Fact::QueueOrdered { order } => {
            let order: Vec<String> = order.iter().map(name).collect();
            format!("ordered {}", order.join(" "))
        }
        Fact::MessageWithdrawn { message, why } => {
            format!("withdrawn {} {}", name(message), lower(why))
        }
        Fact::QueuePaused { by } => format!("paused {}", lower(by)),
        Fact::QueueResumed => "queue resumed".to_owned(),
        Fact::QueueExempted { message } => format!("exempted {}", name(message)),
        Fact::MessageHanded { message, into: Some(turn), .. } => {
            format!("handed {} into {turn}", name(message))
        }
        Fact::MessageHanded { message, .. } => format!("handed {}", name(message)),
        Fact::SteerWished { message, turn } => format!("steer {} into {turn}", name(message)),
        Fact::MessageTaken { message, evidence } => {
            format!("taken {} {}", name(message), lower(evidence))
        }
        Fact::MessageSettled { message, evidence } => {
            format!("settled {} {}", name(message), lower(evidence))
        }
        Fact::MessageRefused { message, why } => {
            let why = match why {
                RefusedWhy::Rejected { .. } => "rejected",
                RefusedWhy::NotWritten => "not written",
                RefusedWhy::NotInStore => "not in store",
            };
            format!("refused {} {why}", name(message))
        }
        Fact::MessageDoubted { message, asking } => {
            format!("doubted {}{}", name(message), if *asking { " asking" } else { "" })
        }
        Fact::MessageRequeued { message, place } => {
            format!("requeued {} at {}", name(message), lower(place))
        }
        Fact::TurnOpened { turn, message } => match message {
            Some(message) => format!("{turn} opened by {}", name(message)),
            None => format!("{turn} opened"),
        },
        Fact::TurnClaimed { turn, message } => format!("{turn} is of {}", name(message)),
        Fact::TurnEnded { turn, how, evidence, .. } => {
            format!("{turn} {} {}", lower(how), lower(evidence))
        }
        Fact::InterruptRequested { turn } => format!("interrupt {turn}"),
        Fact::PromptOpened { prompt, .. } => format!("{prompt} opened"),
        Fact::PromptAnswered { prompt, frame, .. } => format!("{prompt} answered in {}", frame.0),
        Fact::AnswerWritten { prompt } => format!("{prompt} written"),
        Fact::AnswerTaken { prompt } => format!("{prompt} taken"),
        Fact::AnswerLost { prompt, written } => {
            format!("{prompt} lost{}", if *written { " after written" } else { "" })
        }
        Fact::PromptGone { prompt } => format!("{prompt} gone"),
        Fact::GrantGiven { grant, .. } => format!("{grant} given"),
        Fact::GrantEnded { grant } => format!("{grant} ended"),
        Fact::TaskStarted { task, kind, .. } => format!("{task} started {}", lower(kind)),
        Fact::TaskDetached { task } => format!("{task} detached"),
        Fact::TaskEnded { task, how } => format!("{task} {}", lower(how)),
        Fact::AttemptStarting { origin, resuming, .. } => {
            format!("starting {origin}{}", if *resuming { " to resume" } else { "" })
        }
        Fact::AttemptBorn { .. } => "born".to_owned(),
        Fact::AttemptReady { .. } => "ready".to_owned(),
        Fact::SessionMoved { handle, .. } => format!("session moved to {}", handle.root),
        Fact::StoreRead { frames, .. } => {
            let frames: Vec<String> = frames.iter().map(|frame| frame.0.to_string()).collect();
            format!("store names {}", frames.join(" "))
        }
        Fact::FrameIssued { frame, out } => {
            let out = match out {
                Outgoing::Protocol(_) => "protocol".to_owned(),
                Outgoing::Message { message } => name(message),
                Outgoing::Steer { message } => format!("steer {}", name(message)),
                Outgoing::Answer { prompt, answer: Answer::Cancelled } => {
                    format!("cancel {prompt}")
                }
                Outgoing::Answer { prompt, .. } => format!("answer {prompt}"),
                Outgoing::Interrupt => "interrupt".to_owned(),
                Outgoing::StopTask { task } => format!("stop {task}"),
                Outgoing::Set { setting } => format!("set {}", lower(setting)),
            };
            format!("frame {}: {out}", frame.0)
        }
        Fact::FrameBegun { frame } => format!("frame {} begun", frame.0),
        Fact::FrameDone { frame } => format!("frame {} done", frame.0),
        Fact::WithdrawRequested { .. } => "withdraw requested".to_owned(),
        Fact::FrameCancelled { frame } => format!("frame {} cancelled", frame.0),
        Fact::StopRequested { why, .. } => format!("stop {}", lower(why)),
        Fact::StopWithdrawn { .. } => "stop withdrawn".to_owned(),
        Fact::AttemptStalled { .. } => "stalled".to_owned(),
        Fact::AttemptGoesOn { .. } => "goes on".to_owned(),
        Fact::AttemptEnded { .. } => "ended".to_owned(),
        Fact::TreeMayLive { .. } => "may live".to_owned(),
        Fact::StartedAnyway => "started anyway".to_owned(),
        Fact::OfferRecorded { cause, .. } => format!("offer {}", lower(cause)),
        Fact::OfferShown { .. } => "offer shown".to_owned(),
        Fact::OfferEnded { how, .. } => format!("offer ended {}", lower(how)),
        Fact::ResumeStarted { .. } => "resume".to_owned(),
        Fact::SettledSuspected { message } => format!("suspected {}", name(message)),
        Fact::MessageDisproved { message } => format!("disproved {}", name(message)),
        Fact::SessionLeft { .. } => "session left".to_owned(),
        Fact::ResumeStopped { .. } => "resume stopped".to_owned(),
        Fact::FailureFiled(failure) => format!("failure {}", failure.code),
        Fact::FailureCleared => "failure cleared".to_owned(),
        other => lower(other),
    })
}
