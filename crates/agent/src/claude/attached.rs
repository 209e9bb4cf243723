//! What is attached to a message: images as such, small texts within the message, the rest by its path,
//! which the CLI's own tools read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::attached::{Takes, in_words, words};
use crate::codec::{Attached, Form, Given};

/// The form in which the CLI takes each of these.
pub(crate) fn forms(attached: &[(&str, u64)]) -> Vec<Form> {
    Takes { image: true, embedded: true }.forms(attached)
}

/// The content of a message: what is attached to it, then its text, the order that the model's maker
/// asks for.
pub(super) fn content(text: &str, attached: &[Attached<'_>]) -> Value {
    attached.iter().map(one).chain(words(text, attached).map(block)).collect()
}

fn block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn one(attached: &Attached<'_>) -> Value {
    match attached.given {
        Given::Image(data) => json!({
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": attached.media_type,
                "data": STANDARD.encode(data),
            },
        }),
        Given::Text { .. } | Given::Link { .. } | Given::Lost => block(&in_words(attached)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_given_as_such_and_files_by_their_path() {
        let one = |name, given| Attached { name, media_type: "a/b", bytes: 3, given };
        let attached = [
            one("a.png", Given::Image(b"abc")),
            one("b.md", Given::Text { text: "words", uri: "file:///t/b%20c.md" }),
            one("c.pdf", Given::Link { uri: "file:///t/c.pdf" }),
            one("d", Given::Lost),
        ];
        let content = content(" ", &attached);
        assert_eq!(content[0]["source"]["data"], "YWJj");
        assert_eq!(content[1]["text"], "[Attached file \"b.md\" (a/b), at /t/b c.md:]\nwords");
        assert_eq!(content[2]["text"], "[Attached file \"c.pdf\" (a/b, 3 bytes), at /t/c.pdf]");
        assert!(content[3]["text"].as_str().unwrap().contains("damaged"));
        assert_eq!(super::content("hi", &[])[0]["text"], "hi");
        assert_eq!(super::content("hi", &attached)[4]["text"], "hi", "the text comes last");
        assert_eq!(super::content("", &[]).as_array().map(Vec::len), Some(1));
    }
}
