//! The agent's messages and thoughts: which piece belongs to which item.

use holdfast_core::item::{Body, Field, ItemKind, Role};
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};

use crate::ordinals::Ordinals;

/// Which of the two growing texts.
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

/// An item that still grows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Growing {
    item: u32,
    /// The digest of the agent's own id of the message; Gemini and Zed's adapter give none.
    message: Option<u64>,
    /// Bytes so far.
    at: u64,
}

/// The texts that grow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Texts {
    message: Option<Growing>,
    thinking: Option<Growing>,
    /// Which of them spoke last, if nothing else came since.
    last: Option<Voice>,
}

impl Texts {
    /// Adds a piece: to the item of its message id; without one to the item that spoke last, unless
    /// something else came between.
    pub(super) fn add(
        &mut self,
        voice: Voice,
        message: Option<u64>,
        text: String,
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) {
        if self.last != Some(voice) {
            self.interrupted(out);
        }
        let uninterrupted = self.last == Some(voice);
        self.last = Some(voice);
        let slot = match voice {
            Voice::Message => &mut self.message,
            Voice::Thinking => &mut self.thinking,
        };
        let goes_on = slot.as_ref().is_some_and(|growing| match message {
            Some(_) => growing.message == message,
            None => uninterrupted,
        });
        if !goes_on {
            close(slot.take(), out);
        }
        if text.is_empty() {
            return;
        }
        let growing = slot.get_or_insert_with(|| {
            let item = ordinals.item();
            let (kind, role) = (voice.kind(), Role::Agent);
            out.push(ProviderEvent::ItemOpened { item, kind, role, body: Body::Text });
            Growing { item, message, at: 0 }
        });
        let at = growing.at;
        growing.at = at.saturating_add(text.len() as u64);
        out.push(ProviderEvent::ItemText { item: growing.item, field: Field::Text, at, text });
    }

    /// Another item came: a text without a message id ends here.
    pub(super) fn interrupted(&mut self, out: &mut Vec<ProviderEvent>) {
        self.last = None;
        for slot in [&mut self.message, &mut self.thinking] {
            close(slot.take_if(|growing| growing.message.is_none()), out);
        }
    }

    /// All of them end.
    pub(super) fn close(&mut self, out: &mut Vec<ProviderEvent>) {
        self.last = None;
        close(self.thinking.take(), out);
        close(self.message.take(), out);
    }
}

fn close(growing: Option<Growing>, out: &mut Vec<ProviderEvent>) {
    if let Some(growing) = growing {
        out.push(ProviderEvent::ItemClosed { item: growing.item });
    }
}
