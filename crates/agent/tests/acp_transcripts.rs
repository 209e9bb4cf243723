//! What real agents said, read by the codec: nothing of it is unrecognised, every message has its
//! proof and every turn its end, and a codec that is restored after each line says the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod recorded;

use holdfast_core::item::{Body, Field, ItemKind};
use holdfast_core::provider::{ProviderEvent, StartFault};
use recorded::{Life, lives, read};

const TRANSCRIPTS: &[&str] = &[
    "codexacp-ext",
    "codexacp-first",
    "codexacp-kill",
    "codexacp-main",
    "codexacp-more",
    "demo",
    "gemini-first",
    "gemini-kill",
    "gemini-load",
    "gemini-main",
    "gemini-more",
    "opencode-first",
    "opencode-kill",
    "opencode-main",
    "opencode-more",
    "zedcodex-first",
    "zedcodex-kill",
    "zedcodex-main",
    "zedcodex-more",
];

fn all() -> Vec<(String, Life)> {
    let lives = TRANSCRIPTS.iter().flat_map(|name| {
        let lives = lives(&read(name)).into_iter().enumerate();
        lives.map(move |(n, life)| (format!("{name} life {n}"), life))
    });
    lives.collect()
}

#[test]
fn nothing_of_them_is_unrecognised() {
    for (name, life) in all() {
        for (line, events) in life.play() {
            for event in events {
                if let ProviderEvent::ItemOpened { body: Body::Unrecognised { reason }, .. } = event
                {
                    panic!("{name}: {reason}: {line}");
                }
            }
        }
    }
}

/// The second version of the protocol is not spoken here; what it tells is shown as unrecognised.
#[test]
fn the_next_version_is_refused_at_the_start() {
    let lives = lives(&read("codexacp-v2"));
    let events: Vec<_> = lives[0].play().into_iter().flat_map(|(_, events)| events).collect();
    assert!(
        matches!(
            events.as_slice(),
            [
                ProviderEvent::Wants(_),
                ProviderEvent::StartFailed { fault: StartFault::AgentRefused, .. }
            ]
        ),
        "{events:?}"
    );
}

#[test]
fn every_message_has_its_proof_and_every_turn_its_end() {
    for (name, life) in all() {
        let told = life.told();
        let played = life.play();
        let events = || played.iter().flat_map(|(_, events)| events);
        if events().any(|event| matches!(event, ProviderEvent::StartFailed { .. })) {
            continue;
        }
        let count = |wanted: fn(&&ProviderEvent) -> bool| events().filter(wanted).count();
        let taken = count(|event| matches!(event, ProviderEvent::MessageTaken { .. }));
        let failed = count(|event| matches!(event, ProviderEvent::MessageFailed { .. }));
        let ended = count(|event| matches!(event, ProviderEvent::TurnEnded { .. }));
        // Zed's adapter leaves one message without a reply; a kill leaves one too.
        assert_eq!(ended + failed, told.replies, "{name}");
        assert!(taken >= ended && taken + failed <= told.prompts, "{name}");
    }
}

#[test]
fn a_restored_codec_says_the_same() {
    for (name, life) in all() {
        assert_eq!(life.play(), life.play_restoring(), "{name}");
    }
}

#[test]
fn the_agents_words_are_all_there() {
    for (name, life) in all() {
        let played = life.play();
        let mut kinds = std::collections::BTreeMap::new();
        let mut lengths = std::collections::BTreeMap::new();
        let mut said = String::new();
        for event in played.iter().flat_map(|(_, events)| events) {
            match event {
                ProviderEvent::ItemOpened { item, kind, .. } => {
                    assert_eq!(kinds.insert(*item, *kind), None, "{name}: item {item} again");
                }
                ProviderEvent::ItemText { item, field, at, text } => {
                    let length = lengths.entry((*item, *field)).or_insert(0);
                    assert_eq!(at, length, "{name}: item {item}");
                    *length += text.len() as u64;
                    let kind = kinds.get(item).copied();
                    if kind == Some(ItemKind::Message) && *field == Field::Text {
                        said.push_str(text);
                    }
                }
                _ => {}
            }
        }
        if life.stands() {
            assert_eq!(said, life.told().said, "{name}");
        }
    }
}

#[test]
fn a_replay_is_counted() {
    let slow = "[[slow 10]] [[say half of this text is lost a b c d]]";
    for (name, messages, last) in [
        ("codexacp-kill", 3, slow),
        ("opencode-kill", 3, slow),
        ("zedcodex-kill", 3, slow),
        ("demo", 5, "[[slow 5]] [[say lost]]"),
    ] {
        let played = lives(&read(name))[1].play();
        let ended = played.iter().flat_map(|(_, events)| events).find_map(|event| match event {
            ProviderEvent::ReplayEnded { messages, last } => Some((*messages, last.clone())),
            _ => None,
        });
        assert_eq!(ended, Some((messages, Some(holdfast_core::digest(last)))), "{name}");
    }
}

#[test]
fn an_agent_without_its_session_says_so() {
    let played = lives(&read("gemini-load"))[1].play();
    let events: Vec<_> = played.into_iter().flat_map(|(_, events)| events).collect();
    let failed = events.iter().find_map(|event| match event {
        ProviderEvent::StartFailed { fault, .. } => Some(*fault),
        _ => None,
    });
    assert_eq!(failed, Some(StartFault::SessionNotFound));
}

/// One recorded talk with the demo agent, as the host hears it.
#[test]
fn the_demo_agent_is_heard() {
    let played = lives(&read("demo"))[0].play();
    let events = played.iter().flat_map(|(_, events)| events);
    let mut told: Vec<String> = events
        .filter_map(|event| match event {
            ProviderEvent::Ready { capabilities, .. } => {
                Some(format!("ready, stops tasks: {}", capabilities.stop_task))
            }
            ProviderEvent::MessageTaken { frame } => Some(format!("taken {}", frame.0)),
            ProviderEvent::PromptOpened { asked, .. } => {
                Some(format!("{:?} {} {}", asked.kind, asked.label, asked.options.len()))
            }
            ProviderEvent::AnswerTaken { prompt } => Some(format!("answer {prompt} taken")),
            ProviderEvent::TaskStarted { kind, label, .. } => Some(format!("{kind:?} {label}")),
            ProviderEvent::TaskEnded { task, how } => Some(format!("task {task} {how:?}")),
            ProviderEvent::TurnEnded { how, .. } => Some(format!("{how:?}")),
            ProviderEvent::Stirred => Some("stirred".to_owned()),
            _ => None,
        })
        .collect();
    told.dedup();
    assert_eq!(
        told,
        [
            "ready, stops tasks: true",
            "taken 3",
            "Completed",
            "taken 4",
            "Approval touch x 3",
            "answer 1 taken",
            "Question Which? 2",
            "answer 2 taken",
            "Completed",
            "taken 5",
            "Agent look around",
            "Command fail:build",
            "Completed",
            "task 2 Failed",
            "stirred",
            "task 1 Completed",
            "stirred",
            "taken 6",
            "Interrupted",
        ]
    );
}
