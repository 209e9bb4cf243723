//! What is attached to messages: in which form an agent takes it, and what it is told of what it
//! cannot be given.

use serde::{Deserialize, Serialize};

use crate::codec::{Attached, Form, Given, IMAGE_BYTES_MAX, INLINE_BYTES_MAX, TEXT_BYTES_MAX};

/// What an agent takes in a message beside its text and links, which every agent takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Takes {
    pub(crate) image: bool,
    pub(crate) embedded: bool,
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
    /// The form in which each of these (media type, bytes) is given. Those of one message together
    /// stay within what an agent may say of it in one line.
    pub(crate) fn forms(self, attached: &[(&str, u64)]) -> Vec<Form> {
        let mut room = INLINE_BYTES_MAX;
        let form = |(kind, bytes): &(&str, u64)| {
            let form = if self.image && is_image(kind) && *bytes <= IMAGE_BYTES_MAX {
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

/// Whether models know images of this type.
pub(crate) fn is_image(kind: &str) -> bool {
    IMAGES.contains(&kind)
}

fn is_text(kind: &str) -> bool {
    kind.starts_with("text/")
        || TEXTS.contains(&kind)
        || kind.ends_with("+json")
        || (kind.ends_with("+xml") && !kind.starts_with("image/"))
}

/// The text of a message, where it has one: agents refuse an empty one, and beside a file none is needed.
pub(crate) fn words<'a>(text: &'a str, attached: &[Attached<'_>]) -> Option<&'a str> {
    Some(text).filter(|text| !text.trim().is_empty() || attached.is_empty())
}

/// What an agent that takes no files beside a message is told in words: a text itself, of anything else
/// where it is.
pub(crate) fn in_words(attached: &Attached<'_>) -> String {
    let Attached { name, media_type, bytes, given } = attached;
    match given {
        Given::Text { text, uri } => {
            format!("[Attached file {name:?} ({media_type}), at {}:]\n{text}", path(uri))
        }
        Given::Link { uri } => {
            format!("[Attached file {name:?} ({media_type}, {bytes} bytes), at {}]", path(uri))
        }
        Given::Image(_) | Given::Lost => lost(attached),
    }
}

/// What an agent is told of something that the host has no more.
pub(crate) fn lost(attached: &Attached<'_>) -> String {
    let Attached { name, media_type, bytes, .. } = attached;
    format!(
        "[The attached file {name:?} ({media_type}, {bytes} bytes) is damaged on the disk of the host \
         and could not be given to you.]"
    )
}

/// The path that a `file://` URI names, for agents that are told of files in words.
pub(crate) fn path(uri: &str) -> String {
    let text = uri.strip_prefix("file://").unwrap_or(uri);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match rest {
            [b'%', hex @ ..] => {
                let hex = hex.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
                hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_a_path() {
        for (uri, named) in [
            ("file:///tmp/a%20%C3%A4.md", "/tmp/a ä.md"),
            ("file:///tmp/100%", "/tmp/100%"),
            ("file:///tmp/%zz%2", "/tmp/%zz%2"),
            ("/plain", "/plain"),
        ] {
            assert_eq!(path(uri), named);
        }
    }
}
