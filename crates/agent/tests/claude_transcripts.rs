//! What the real CLI said, read by the codec: nothing of it is unrecognised, every turn has its end, and
//! a codec that is restored after each line says the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod recorded_claude;

use std::collections::{BTreeMap, BTreeSet};

use holdfast_core::item::{Body, ItemKind};
use holdfast_core::provider::ProviderEvent;
use recorded_claude::{names, talk};

#[test]
fn nothing_of_them_is_unrecognised() {
    let names = names();
    assert!(names.len() > 60, "{}", names.len());
    for name in names {
        for (line, events) in talk(&name).play() {
            for event in events {
                if let ProviderEvent::ItemOpened { body: Body::Unrecognised { reason }, .. } = event
                {
                    panic!("{name}: {reason}: {line}");
                }
            }
        }
    }
}

#[test]
fn a_restored_codec_says_the_same() {
    for name in names() {
        let talk = talk(&name);
        assert_eq!(talk.play(), talk.play_restoring(), "{name}");
    }
}

/// Versions that name the messages of a turn: each message is taken once, and each turn that was told of
/// ends.
#[test]
fn every_message_is_taken_and_every_turn_ends() {
    for name in names().iter().filter(|name| !name.starts_with("older")) {
        let talk = talk(name);
        let played = talk.play();
        let mut open = 0_i32;
        let mut taken = BTreeSet::new();
        for (line, events) in &played {
            for event in events {
                match event {
                    ProviderEvent::MessageTaken { frame } => {
                        assert!(taken.insert(*frame), "{name}: {frame:?} again: {line}");
                        open = 1;
                    }
                    ProviderEvent::MessageFailed { frame, .. } => {
                        assert!(taken.insert(*frame), "{name}: {frame:?} again: {line}");
                    }
                    ProviderEvent::Stirred => open = 1,
                    ProviderEvent::TurnEnded { .. } => {
                        assert_eq!(open, 1, "{name}: an end of nothing: {line}");
                        open = 0;
                    }
                    _ => {}
                }
            }
        }
        let dies = name.contains("kill") || name.contains("sigterm");
        let refused = name.ends_with("missing");
        assert!(taken.len() == talk.messages() || refused, "{name}: {taken:?}");
        assert!(open == 0 || dies, "{name}: a turn without an end");
    }
}

/// Items begin once, before anything of them; each that is no prompt is closed at the end of the turn.
#[test]
fn items_are_whole() {
    for name in names() {
        let mut open: BTreeMap<u32, ItemKind> = BTreeMap::new();
        let mut lengths = BTreeMap::new();
        let mut tasks = BTreeSet::new();
        for (line, events) in talk(&name).play() {
            for event in events {
                match event {
                    ProviderEvent::ItemOpened { item, kind, .. } => {
                        assert_eq!(open.insert(item, kind), None, "{name}: {line}");
                    }
                    ProviderEvent::ItemText { item, field, at, text } => {
                        assert!(open.contains_key(&item), "{name}: {line}");
                        let length = lengths.entry((item, field)).or_insert(0);
                        assert_eq!(at, *length, "{name}: {line}");
                        *length += text.len() as u64;
                    }
                    ProviderEvent::ItemClosed { item } => {
                        assert!(open.remove(&item).is_some(), "{name}: {line}");
                    }
                    ProviderEvent::TaskStarted { task, .. } => {
                        assert!(tasks.insert(task), "{name}: {line}");
                    }
                    ProviderEvent::TaskEnded { task, .. } => {
                        assert!(tasks.remove(&task), "{name}: {line}");
                    }
                    _ => {}
                }
            }
        }
        let dies = name.contains("kill") || name.contains("sigterm");
        assert!(open.is_empty() || dies, "{name}: {open:?}");
        assert!(
            tasks.is_empty() || dies || name.contains("bg") || name == "end_session",
            "{name}: {tasks:?}"
        );
    }
}
