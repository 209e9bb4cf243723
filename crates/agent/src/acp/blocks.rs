//! What a message consists of, in blocks: its text, then what is attached to it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::wire;
use crate::codec::{Attached, Form, Given, IMAGE_BYTES_MAX, INLINE_BYTES_MAX, TEXT_BYTES_MAX};

/// What the agent says that it takes in a prompt beside texts and links, which every agent takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Takes {
    image: bool,
    embedded: bool,
}

/// The images that models know.
const IMAGES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];
/// Texts that are not of a type `text/…`.
const TEXTS: [&str; 8] = [
    "application/javascript",
    "application/json",
    "application/sql",
    "application/toml",
    "application/x-sh",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
];

impl Takes {
    /// What the reply to `initialize` says of it.
    pub(super) fn of(told: Option<&wire::PromptCapabilities<'_>>) -> Self {
        told.map_or_else(Self::default, |told| Self {
            image: wire::declared(told.image),
            embedded: wire::declared(told.embedded),
        })
    }

    /// The form in which each of these (media type, bytes) is given. Those of one message together
    /// stay within what an agent may say of it in one line.
    pub(super) fn forms(self, attached: &[(&str, u64)]) -> Vec<Form> {
        let mut room = INLINE_BYTES_MAX;
        let form = |(kind, bytes): &(&str, u64)| {
            let form = if self.image && IMAGES.contains(kind) && *bytes <= IMAGE_BYTES_MAX {
                Form::Image
            } else if self.embedded && is_text(kind) && *bytes <= TEXT_BYTES_MAX {
                Form::Text
            } else {
                return Form::Link;
            };
            match room.checked_sub(*bytes) {
                Some(left) => {
                    room = left;
                    form
                }
                None => Form::Link,
            }
        };
        attached.iter().map(form).collect()
    }
}

fn is_text(kind: &str) -> bool {
    kind.starts_with("text/")
        || TEXTS.contains(&kind)
        || kind.ends_with("+json")
        || (kind.ends_with("+xml") && !kind.starts_with("image/"))
}

/// The blocks of a prompt. A message without a text has no block for it: some agents refuse an
/// empty one.
pub(super) fn prompt(text: &str, attached: &[Attached<'_>]) -> Value {
    let words = (!text.trim().is_empty() || attached.is_empty())
        .then(|| json!({ "type": "text", "text": text }));
    words.into_iter().chain(attached.iter().map(block)).collect()
}

fn block(attached: &Attached<'_>) -> Value {
    let Attached { name, media_type, bytes, given } = attached;
    match given {
        Given::Image(data) => {
            json!({ "type": "image", "mimeType": media_type, "data": STANDARD.encode(data) })
        }
        Given::Text { text, uri } => json!({
            "type": "resource",
            "resource": { "uri": uri, "mimeType": media_type, "text": text },
        }),
        Given::Link { uri } => json!({
            "type": "resource_link",
            "uri": uri,
            "name": name,
            "mimeType": media_type,
            "size": bytes,
        }),
        Given::Lost => {
            let text = format!(
                "[The attached file {name:?} ({media_type}, {bytes} bytes) is damaged on the disk of \
                 the host and could not be given to you.]"
            );
            json!({ "type": "text", "text": text })
        }
    }
}
