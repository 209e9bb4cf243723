//! Events in words, for tests.

use std::fmt::Write as _;

use holdfast_core::item::Body;
use holdfast_core::provider::{ProtocolFrame, ProviderEvent};

/// Events in short words, one to a line.
pub(crate) fn words(events: &[ProviderEvent]) -> String {
    let mut all = String::new();
    for event in events {
        let _ = match event {
            ProviderEvent::Wants(ProtocolFrame::Request { method, .. }) => {
                writeln!(all, "wants {method}")
            }
            ProviderEvent::Wants(ProtocolFrame::Notification { method, .. }) => {
                writeln!(all, "tells {method}")
            }
            ProviderEvent::Wants(ProtocolFrame::Reply { id, outcome }) => {
                writeln!(all, "reply {id} {outcome}")
            }
            ProviderEvent::Ready { handle, model, mode, .. } => {
                writeln!(all, "ready {} {model:?} {mode:?}", handle.leaf)
            }
            ProviderEvent::StartFailed { fault, text } => writeln!(all, "failed {fault:?} {text}"),
            ProviderEvent::ReplayEnded { messages, last } => {
                writeln!(all, "replay ended {messages} {}", last.as_deref().unwrap_or("-"))
            }
            ProviderEvent::StoreAnswered { message, held } => {
                writeln!(all, "store: {message} {held}")
            }
            ProviderEvent::ItemOpened { item, kind, body, .. } => match body {
                Body::Unrecognised { reason } => writeln!(all, "{item} unrecognised {reason}"),
                Body::Call(call) => writeln!(all, "{item} call {} {:?}", call.name, call.state),
                Body::Within { call } => writeln!(all, "{item} opened {kind:?} within {call}"),
                Body::Notice(notice) => writeln!(all, "{item} notice {notice:?}"),
                _ => writeln!(all, "{item} opened {kind:?}"),
            },
            ProviderEvent::ItemText { item, field, at, text } => {
                writeln!(all, "{item} {field:?}@{at} {text:?}")
            }
            ProviderEvent::ItemChanged { item, body } => match body {
                Body::Call(call) => writeln!(all, "{item} now {} {:?}", call.name, call.state),
                _ => writeln!(all, "{item} changed"),
            },
            ProviderEvent::ItemClosed { item } => writeln!(all, "{item} closed"),
            ProviderEvent::MessageTaken { frame } => writeln!(all, "taken {}", frame.0),
            ProviderEvent::TurnClaimed { frame } => writeln!(all, "turn of {}", frame.0),
            ProviderEvent::MessageFailed { frame, proof, text } => {
                writeln!(all, "message failed {} {proof:?} {text}", frame.0)
            }
            ProviderEvent::Stirred => writeln!(all, "stirred"),
            ProviderEvent::TurnEnded { how, text, .. } => {
                writeln!(all, "turn {how:?} {}", text.as_deref().unwrap_or("-"))
            }
            ProviderEvent::PromptOpened { prompt, item, asked } => {
                writeln!(all, "{item} prompt {prompt} {:?} {}", asked.kind, asked.label)
            }
            ProviderEvent::PromptGone { prompt } => writeln!(all, "prompt {prompt} gone"),
            ProviderEvent::AnswerTaken { prompt } => writeln!(all, "answer {prompt} taken"),
            ProviderEvent::TaskStarted { task, kind, label, .. } => {
                writeln!(all, "task {task} {kind:?} {label}")
            }
            ProviderEvent::TaskEnded { task, how } => writeln!(all, "task {task} {how:?}"),
            ProviderEvent::TaskDetached { task } => writeln!(all, "task {task} detached"),
            ProviderEvent::Titled { title } => writeln!(all, "titled {title}"),
            ProviderEvent::Retuned { model, mode } => {
                writeln!(all, "retuned {} {}", word(model), word(mode))
            }
            ProviderEvent::EffortTold { effort } => writeln!(all, "effort {effort}"),
            ProviderEvent::EffortsTold { efforts } => {
                writeln!(all, "efforts {}", efforts.join(" "))
            }
            ProviderEvent::CommandsTold { commands } => {
                let names: Vec<&str> = commands.iter().map(|it| it.name.as_str()).collect();
                writeln!(all, "commands {}", names.join(" "))
            }
            ProviderEvent::SettingDeferred => writeln!(all, "setting deferred"),
            ProviderEvent::LoginNeeded { text } => writeln!(all, "login needed: {text}"),
            ProviderEvent::SettingRefused { text } => writeln!(all, "setting refused {text}"),
            ProviderEvent::SessionMoved { handle } => writeln!(all, "moved to {}", handle.leaf),
        };
    }
    all
}

fn word(told: &Option<String>) -> &str {
    told.as_deref().unwrap_or("-")
}
