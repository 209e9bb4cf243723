//! What is attached to a message: images by their path, which Codex reads, small texts within the
//! message, the rest by its path in words.

use serde_json::{Value, json};

use crate::attached::{Takes, in_words, is_image, path, words};
use crate::codec::{Attached, Form, Given};

/// The form in which Codex takes each of these.
pub(crate) fn forms(attached: &[(&str, u64)]) -> Vec<Form> {
    Takes { image: false, embedded: true }.forms(attached)
}

/// The input of a turn.
pub(super) fn input(text: &str, attached: &[Attached<'_>]) -> Value {
    words(text, attached).map(block).into_iter().chain(attached.iter().map(one)).collect()
}

fn block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn one(attached: &Attached<'_>) -> Value {
    match attached.given {
        Given::Link { uri } if is_image(attached.media_type) => {
            json!({ "type": "localImage", "path": path(uri) })
        }
        Given::Image(_) | Given::Text { .. } | Given::Link { .. } | Given::Lost => {
            block(&in_words(attached))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_and_files_are_given_by_their_path() {
        let one = |media_type, given| Attached { name: "n", media_type, bytes: 3, given };
        let attached = [
            one("image/png", Given::Link { uri: "file:///t/a%20b.png" }),
            one("text/plain", Given::Text { text: "words", uri: "file:///t/b.md" }),
            one("a/b", Given::Link { uri: "file:///t/c.pdf" }),
            one("a/b", Given::Lost),
        ];
        let input = input("", &attached);
        assert_eq!(input[0], json!({ "type": "localImage", "path": "/t/a b.png" }));
        assert_eq!(input[1]["text"], "[Attached file \"n\" (text/plain), at /t/b.md:]\nwords");
        assert_eq!(input[2]["text"], "[Attached file \"n\" (a/b, 3 bytes), at /t/c.pdf]");
        assert!(input[3]["text"].as_str().unwrap().contains("damaged"));
        assert_eq!(super::input("hi", &[])[0]["text"], "hi");
        assert_eq!(forms(&[("image/png", 3), ("text/plain", 3)]), [Form::Link, Form::Text]);
    }
}
