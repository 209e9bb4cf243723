//! What a message consists of, in blocks: its text, then what is attached to it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::attached::{lost, words};
use crate::codec::{Attached, Given};

/// The blocks of a prompt.
pub(super) fn prompt(text: &str, attached: &[Attached<'_>]) -> Value {
    words(text, attached).map(said).into_iter().chain(attached.iter().map(block)).collect()
}

fn said(text: &str) -> Value {
    json!({ "type": "text", "text": text })
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
        Given::Lost => said(&lost(attached)),
    }
}
