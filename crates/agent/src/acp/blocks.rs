//! What a message consists of, in blocks: its text, then what is attached to it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::wire;
use crate::attached::Takes;
use crate::codec::{Attached, Given};

/// What the reply to `initialize` says that the agent takes.
pub(super) fn takes(told: Option<&wire::PromptCapabilities<'_>>) -> Takes {
    told.map_or_else(Takes::default, |told| Takes {
        image: wire::declared(told.image),
        embedded: wire::declared(told.embedded),
    })
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
