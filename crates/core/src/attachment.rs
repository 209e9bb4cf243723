//! Attachments: files that go to an agent with a message. A chat keeps what was acknowledged,
//! whether or not a message names it; what it may hold is bounded in number and in bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{AttachmentId, MessageId};
use crate::limits::{
    ATTACHMENT_BYTES_MAX, ATTACHMENT_NAME_CHARS_MAX, CHAT_ATTACHMENTS_BYTES_MAX,
    CHAT_ATTACHMENTS_MAX, MEDIA_TYPE_CHARS_MAX, MESSAGE_ATTACHMENTS_MAX,
};
use crate::refusal::{Code, Refusal};

/// What is known of an attachment beside its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its id.
    pub id: AttachmentId,
    /// What its sender calls it: a file's name, no path.
    pub name: String,
    /// What it is, as `type/subtype` in lower case.
    pub media_type: String,
    /// How many bytes it has, at most `ATTACHMENT_BYTES_MAX`.
    pub bytes: u64,
    /// The SHA-256 of its bytes, as lower-case hexadecimal.
    pub sha256: String,
}

/// What a decision needs to know of an attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// How many bytes it has.
    pub bytes: u64,
    /// A message that names it, if one does.
    pub named: Option<MessageId>,
}

/// The attachments of a chat; at most `CHAT_ATTACHMENTS_MAX`.
pub type Attachments = BTreeMap<AttachmentId, Held>;

/// What is called so where nobody gave it a name.
pub const UNNAMED: &str = "attachment";
/// What is of this type where nobody gave it one.
pub const UNTYPED: &str = "application/octet-stream";

/// A name as it is kept: a file's name within one folder, that shows as what it is.
///
/// # Errors
/// `empty_field`, `field_too_long`; `invalid_field` for a path, for control characters and for marks
/// that turn the direction of what is written.
pub fn name(text: &str) -> Result<String, Refusal> {
    let text = text.trim();
    let invalid = |why: &str| {
        let text = format!("name {why}. Give the name of the file alone.");
        Err(Refusal::new(Code::InvalidField, text).field("name"))
    };
    if text.is_empty() {
        return Err(Refusal::new(Code::EmptyField, "name is empty.").field("name"));
    }
    if text.chars().count() > ATTACHMENT_NAME_CHARS_MAX {
        let text = format!("name is longer than {ATTACHMENT_NAME_CHARS_MAX} characters.");
        return Err(Refusal::new(Code::FieldTooLong, text)
            .field("name")
            .limit(ATTACHMENT_NAME_CHARS_MAX));
    }
    if text.contains(['/', '\\']) || matches!(text, "." | "..") {
        return invalid("is a path");
    }
    if text.chars().any(char::is_control) {
        return invalid("holds a control character");
    }
    // What stands for bytes that are no text.
    if text.contains('\u{fffd}') {
        return invalid("is not UTF-8");
    }
    if text.chars().any(deceives) {
        return invalid("holds a mark that hides what it says");
    }
    Ok(text.to_owned())
}

/// Whether a character shows nothing, or shows what follows in another order. Joiners are not among
/// them: scripts and emoji are written with them.
const fn deceives(c: char) -> bool {
    matches!(
        c,
        '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    )
}

/// A media type as it is kept: without its parameters, in lower case.
///
/// # Errors
/// `invalid_field` for what is none, `field_too_long`.
pub fn media_type(text: &str) -> Result<String, Refusal> {
    const FIELD: &str = "Content-Type";
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence.len() > MEDIA_TYPE_CHARS_MAX {
        let text = format!("The media type is longer than {MEDIA_TYPE_CHARS_MAX} characters.");
        return Err(Refusal::new(Code::FieldTooLong, text)
            .field(FIELD)
            .limit(MEDIA_TYPE_CHARS_MAX));
    }
    let token = |part: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b);
        !part.is_empty() && part.bytes().all(plain)
    };
    match essence.split_once('/') {
        Some((kind, of)) if token(kind) && token(of) => Ok(essence),
        Some(_) | None => {
            let text = "The media type has to be of the form type/subtype, such as image/png.";
            Err(Refusal::new(Code::InvalidField, text).field(FIELD))
        }
    }
}

/// Refuses a number of bytes that no attachment has.
///
/// # Errors
/// `empty_field`, `body_too_large`.
pub fn size(bytes: u64) -> Result<(), Refusal> {
    if bytes == 0 {
        let text = "The body is empty: there is nothing to attach.";
        return Err(Refusal::new(Code::EmptyField, text).field("body"));
    }
    if usize::try_from(bytes).is_ok_and(|bytes| bytes <= ATTACHMENT_BYTES_MAX) {
        return Ok(());
    }
    let text =
        format!("An attachment has at most {ATTACHMENT_BYTES_MAX} bytes. Nothing was stored.");
    Err(Refusal::new(Code::BodyTooLarge, text).field("body").limit(ATTACHMENT_BYTES_MAX))
}

/// Refuses one more attachment of so many bytes where the chat has no room for it.
///
/// # Errors
/// `attachments_full`.
pub fn room(there: &Attachments, bytes: u64) -> Result<(), Refusal> {
    let full = |limit: usize, unit: &str| {
        let text = format!(
            "The attachments of a chat are at most {limit} {unit}. Delete some that no message \
             names, or go on in another chat. Nothing was stored."
        );
        Err(Refusal::new(Code::AttachmentsFull, text).field("body").limit(limit))
    };
    if there.len() >= CHAT_ATTACHMENTS_MAX {
        return full(CHAT_ATTACHMENTS_MAX, "in number");
    }
    let have = there.values().fold(bytes, |sum, held| sum.saturating_add(held.bytes));
    if have > CHAT_ATTACHMENTS_BYTES_MAX {
        let limit = usize::try_from(CHAT_ATTACHMENTS_BYTES_MAX).unwrap_or(usize::MAX);
        return full(limit, "bytes together");
    }
    Ok(())
}

/// Refuses a message that names what it cannot.
///
/// # Errors
/// `unknown_attachment` for one that the chat does not have, `invalid_field` for too many, and for
/// one that is named twice.
pub fn nameable(there: &Attachments, wanted: &[AttachmentId]) -> Result<(), Refusal> {
    let refused = |code, text: String| Refusal::new(code, text).field("attachments");
    if wanted.len() > MESSAGE_ATTACHMENTS_MAX {
        let text = format!("A message has at most {MESSAGE_ATTACHMENTS_MAX} attachments.");
        return Err(refused(Code::InvalidField, text).limit(MESSAGE_ATTACHMENTS_MAX));
    }
    for (n, id) in wanted.iter().enumerate() {
        if wanted.iter().take(n).any(|earlier| earlier == id) {
            return Err(refused(Code::InvalidField, format!("attachments names {id} twice.")));
        }
        if !there.contains_key(id) {
            let text = format!("This chat has no attachment {id}. Nothing was stored.");
            return Err(refused(Code::UnknownAttachment, text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_a_file_and_shows_as_what_it_is() {
        for sound in ["a.png", ".env", "Bericht – März.pdf", "👨‍👩‍👧.png", "می‌خواهم.txt", "a..b"]
        {
            assert_eq!(name(&format!(" {sound}\n")).as_deref(), Ok(sound));
        }
        for odd in [
            "a/b",
            "/",
            "..",
            ".",
            "a\\b",
            "a\0b",
            "a\nb",
            "a\u{7f}",
            "gnp.\u{202e}exe",
            "a\u{2066}b",
            "a\u{200b}",
            "a\u{feff}b",
            "a\u{2028}b",
            "a\u{fffd}",
        ] {
            let refusal = name(odd).unwrap_err();
            assert_eq!(
                (refusal.code, refusal.field.as_deref()),
                (Code::InvalidField, Some("name"))
            );
        }
        assert_eq!(name(" ").unwrap_err().code, Code::EmptyField);
        assert!(name(&"é".repeat(ATTACHMENT_NAME_CHARS_MAX)).is_ok());
        let long = name(&"é".repeat(ATTACHMENT_NAME_CHARS_MAX + 1)).unwrap_err();
        assert_eq!((long.code, long.limit), (Code::FieldTooLong, Some(200)));
    }

    #[test]
    fn a_media_type_is_kept_without_its_parameters() {
        assert_eq!(media_type("Text/Plain; charset=utf-8").as_deref(), Ok("text/plain"));
        assert_eq!(media_type("image/svg+xml").as_deref(), Ok("image/svg+xml"));
        for odd in ["", "image", "image/", "/png", "a b/c", "a/b/c", "text/\u{e9}", "a/b\r\nx: y"] {
            assert_eq!(media_type(odd).unwrap_err().code, Code::InvalidField, "{odd:?}");
        }
        let long = format!("a/{}", "b".repeat(MEDIA_TYPE_CHARS_MAX));
        assert_eq!(media_type(&long).unwrap_err().code, Code::FieldTooLong);
    }

    #[test]
    fn an_attachment_has_bytes_and_not_too_many() {
        let most = u64::try_from(ATTACHMENT_BYTES_MAX).unwrap();
        assert_eq!(size(0).unwrap_err().code, Code::EmptyField);
        assert_eq!((size(1), size(most)), (Ok(()), Ok(())));
        let refusal = size(most + 1).unwrap_err();
        assert_eq!((refusal.code, refusal.limit), (Code::BodyTooLarge, Some(most)));
    }
}
