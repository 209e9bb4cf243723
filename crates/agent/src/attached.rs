//! In which form an agent is given what is attached to a message.

use serde::{Deserialize, Serialize};

use crate::codec::{Form, IMAGE_BYTES_MAX, INLINE_BYTES_MAX, TEXT_BYTES_MAX};

/// What the agent says that it takes in a prompt beside texts and links, which every agent takes.
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
