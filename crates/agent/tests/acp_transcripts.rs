//! What real agents said, read by the codec: nothing of it is unrecognised, every message has its
//! proof and every turn its end, and a codec that is restored after each line says the same.

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
    for (name, life, messages) in
        [("codexacp-kill", 1, 3), ("opencode-kill", 1, 3), ("zedcodex-kill", 1, 3)]
    {
        let played = lives(&read(name))[life].play();
        let ended = played.iter().flat_map(|(_, events)| events).find_map(|event| match event {
            ProviderEvent::ReplayEnded { messages, last } => Some((*messages, last.clone())),
            _ => None,
        });
        let last = holdfast_core::digest("[[slow 10]] [[say half of this text is lost a b c d]]");
        assert_eq!(ended, Some((messages, Some(last))), "{name}");
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
