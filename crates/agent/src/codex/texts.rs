//! The agent's messages and thoughts: texts that grow piece by piece and are told whole at their end.

use holdfast_core::item::{Body, Field, ItemKind, Role};
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};

use super::shown::Shown;
use crate::ordinals::Ordinals;

/// Texts that grow at one time; the oldest is closed for one more.
const GROWING_MAX: usize = 24;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Voice {
    /// What the agent says.
    Message,
    /// What it thinks.
    Thinking,
}

impl Voice {
    const fn kind(self) -> ItemKind {
        match self {
            Self::Message => ItemKind::Message,
            Self::Thinking => ItemKind::Thinking,
        }
    }
}

/// Which text a piece belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// The digest of the thread that speaks.
    pub(super) thread: u64,
    /// The digest of the item within it.
    pub(super) item: u64,
}

/// A text that grows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Growing {
    #[serde(rename = "t")]
    thread: u64,
    #[serde(rename = "i")]
    id: u64,
    #[serde(rename = "n")]
    item: u32,
    #[serde(rename = "v")]
    voice: Voice,
    #[serde(rename = "s")]
    shown: Shown,
    /// The part that spoke last; thoughts come in several.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    part: Option<u64>,
}

/// The texts that grow, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Texts(Vec<Growing>);

impl Texts {
    /// Adds a piece. A part of a thought begins with an empty line, after the first.
    pub(super) fn add(
        &mut self,
        (key, voice): (Key, Voice),
        body: Body,
        part: Option<u64>,
        piece: String,
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) {
        if piece.is_empty() {
            return;
        }
        let place = self.place((key, voice), body, ordinals, out);
        let Some(growing) = self.0.get_mut(place) else { return };
        let piece = match (growing.part, part) {
            (Some(before), Some(now)) if before != now => format!("\n\n{piece}"),
            _ => piece,
        };
        growing.part = part.or(growing.part);
        growing.shown.add(growing.item, Field::Text, piece, out);
    }

    /// Takes in the whole text, of which the beginning may have been shown, and closes it.
    pub(super) fn whole(
        &mut self,
        (key, voice): (Key, Voice),
        body: Body,
        text: &str,
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) {
        let known = self.0.iter().position(|growing| growing.is(key));
        let place = match known {
            Some(place) => place,
            None if text.is_empty() => return,
            None => self.place((key, voice), body, ordinals, out),
        };
        if place >= self.0.len() {
            return;
        }
        let mut growing = self.0.remove(place);
        growing.shown.whole(growing.item, Field::Text, text, out);
        out.push(ProviderEvent::ItemClosed { item: growing.item });
    }

    fn place(
        &mut self,
        (key, voice): (Key, Voice),
        body: Body,
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) -> usize {
        if let Some(place) = self.0.iter().position(|growing| growing.is(key)) {
            return place;
        }
        if self.0.len() >= GROWING_MAX {
            let oldest = self.0.remove(0);
            out.push(ProviderEvent::ItemClosed { item: oldest.item });
        }
        let item = ordinals.item();
        out.push(ProviderEvent::ItemOpened { item, kind: voice.kind(), role: Role::Agent, body });
        let (thread, id) = (key.thread, key.item);
        self.0.push(Growing { thread, id, item, voice, shown: Shown::default(), part: None });
        self.0.len() - 1
    }

    /// Nothing more comes to the texts of a thread: its turn ended, or was cut short.
    pub(super) fn close(&mut self, thread: u64, out: &mut Vec<ProviderEvent>) {
        self.0.retain(|growing| {
            let ends = growing.thread == thread;
            if ends {
                out.push(ProviderEvent::ItemClosed { item: growing.item });
            }
            !ends
        });
    }
}

impl Growing {
    const fn is(&self, key: Key) -> bool {
        self.thread == key.thread && self.id == key.item
    }
}
