//! The bounds that more than one room has to keep, each with its unit; a bound of one room stands in
//! that room. `GET /host` lists those that a caller can meet.

/// What a person may have allowed for good in one chat.
pub const GRANTS_MAX: usize = 64;
/// Items of another chat that a fork shows; what is before them is shown by that chat.
pub const FORK_ITEMS_MAX: usize = 500;
/// Bytes of the texts of those items.
pub const FORK_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Bytes of an agent's own id of the end of a turn.
pub const MARK_BYTES_MAX: usize = 128;
/// Commands of an agent that one chat keeps; further ones are written all the same, but not proposed.
pub const COMMANDS_MAX: usize = 200;
/// Characters of the name of such a command.
pub const COMMAND_NAME_CHARS_MAX: usize = 100;
/// Bytes (UTF-8) of a message's text.
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
/// Characters (Unicode scalar values) of a title.
pub const TITLE_CHARS_MAX: usize = 200;
/// Characters of a slot name.
pub const SLOT_CHARS_MAX: usize = 64;
/// Characters of a project's name.
pub const PROJECT_CHARS_MAX: usize = 200;
/// Characters of a folder's name.
pub const FOLDER_CHARS_MAX: usize = 200;
/// Characters of a tag.
pub const TAG_CHARS_MAX: usize = 32;
/// Tags of one chat.
pub const TAGS_MAX: usize = 16;
/// Bytes of a working directory's path.
pub const CWD_BYTES_MAX: usize = 4096;
/// Bytes of the body of a request that carries a message.
pub const MESSAGE_BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of the body of any other request.
pub const BODY_BYTES_MAX: usize = 256 * 1024;
/// Bytes of one attachment.
pub const ATTACHMENT_BYTES_MAX: usize = 20 * 1024 * 1024;
/// Attachments of one message.
pub const MESSAGE_ATTACHMENTS_MAX: usize = 20;
/// Attachments of one chat.
pub const CHAT_ATTACHMENTS_MAX: usize = 1000;
/// Bytes of all attachments of one chat.
pub const CHAT_ATTACHMENTS_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Characters of the name of an attachment.
pub const ATTACHMENT_NAME_CHARS_MAX: usize = 200;
/// Characters of a media type, as RFC 6838 has it for both its parts together.
pub const MEDIA_TYPE_CHARS_MAX: usize = 127;
/// Messages that wait in one chat.
pub const QUEUE_MESSAGES_MAX: usize = 1000;
/// Characters of an idempotency key.
pub const OPERATION_KEY_CHARS_MAX: usize = 128;
/// Microseconds for which an idempotency key is kept: 90 days.
pub const OPERATION_KEPT_MICROS: i64 = 90 * 24 * 3600 * 1_000_000;
/// Bytes of a piece of text that is shown before it is committed; a longer one is seen with the commit.
pub const DELTA_BYTES_MAX: usize = 16 * 1024;
/// Characters of a label of a prompt or a task, the ellipsis included (offers.md).
pub const LABEL_CHARS_MAX: usize = 200;
/// Prompts that a snapshot describes.
pub const SNAPSHOT_PROMPTS_MAX: usize = 4;
/// Tasks that a snapshot describes.
pub const SNAPSHOT_TASKS_MAX: usize = 16;
/// Live tasks that are told apart in one chat; further ones are counted.
pub const LIVE_TASKS_MAX: usize = 256;
/// Prompts that may be open at once in one chat; a further one is cancelled and shown as such.
pub const OPEN_PROMPTS_MAX: usize = 64;
/// Options of one prompt.
pub const PROMPT_OPTIONS_MAX: usize = 64;
/// Leftover processes of one chat that are named; further ones are counted.
pub const LEFTOVERS_NAMED_MAX: usize = 16;
/// Frames that may wait for an agent.
pub const OUTBOX_FRAMES_MAX: usize = 256;
/// Frames that an agent's own store names of a dead attempt; of them the last are told.
pub const STORE_FRAMES_MAX: usize = 16;
/// Deliveries without an outcome that one chat may hold before it takes no further message.
pub const STRANDED_MESSAGES_MAX: usize = 16;
/// Efforts of an agent that are kept.
pub const EFFORTS_MAX: usize = 16;
/// Messages that one turn is given while it runs.
pub const STEERED_MESSAGES_MAX: usize = 8;
/// Messages that wait to be given to a running turn.
pub const STEERS_WAITING_MAX: usize = 16;
/// Bytes of the head of an item's text in lists; the rest is served in ranges.
pub const ITEM_TEXT_HEAD_BYTES: usize = 16 * 1024;
/// Bytes of the text of an answer to a prompt.
pub const ANSWER_BYTES_MAX: usize = 8 * 1024;
/// Bytes of a proposed recap of a chat.
pub const RECAP_BYTES_MAX: usize = 16 * 1024;
/// Bytes of one line in it.
pub const RECAP_LINE_BYTES_MAX: usize = 2000;
/// Bytes of a draft.
pub const DRAFT_BYTES_MAX: usize = 1024 * 1024;
/// Items of one page.
pub const PAGE_ITEMS_MAX: usize = 200;
/// Bytes of the serialised head of a chat, beside the codec's state.
pub const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Bytes of the serialised state of a codec.
pub const CODEC_STATE_BYTES_MAX: usize = 64 * 1024;
/// Bytes of one line of an agent that is kept whole.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a line that was too long or unreadable that are kept and shown.
pub const UNRECOGNISED_BYTES_MAX: usize = 64 * 1024;
/// Microseconds without a word after which a turn that an ACP agent opened by itself is closed.
pub const QUIET_TURN_MICROS: u64 = 10_000_000;
/// Microseconds from TERM to KILL when an agent is stopped.
pub const STOP_GRACE_MICROS: u64 = 5_000_000;
/// Microseconds of idleness after which an agent is released by default.
pub const IDLE_RELEASE_MICROS: u64 = 30 * 60 * 1_000_000;

/// Cuts a label to [`LABEL_CHARS_MAX`], ellipsis included, at a grapheme boundary; a single longer
/// grapheme at a scalar. Line breaks and control characters become spaces.
#[must_use]
pub fn label(text: &str) -> String {
    cut(text, LABEL_CHARS_MAX)
}

/// Cuts a text to `chars` Unicode scalar values as [`label`] does.
#[must_use]
pub fn cut(text: &str, chars: usize) -> String {
    use unicode_segmentation::UnicodeSegmentation;

    // A bounded look is enough, also at a text of many megabytes.
    let window: String = text
        .trim()
        .chars()
        .take(chars.saturating_mul(4).saturating_add(1))
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if window.chars().count() <= chars {
        return window.trim().to_owned();
    }
    let room = chars.saturating_sub(1);
    let mut kept = String::new();
    let mut used = 0;
    for grapheme in window.graphemes(true) {
        let width = grapheme.chars().count();
        if used + width > room {
            if used == 0 {
                kept.extend(grapheme.chars().take(room));
            }
            break;
        }
        used += width;
        kept.push_str(grapheme);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_cut_between_graphemes() {
        let family = "👨‍👩‍👧‍👦"; // seven scalars, one grapheme
        for pad in LABEL_CHARS_MAX - 9..=LABEL_CHARS_MAX + 3 {
            let text = format!("{}{family}tail", "x".repeat(pad));
            let cut = label(&text);
            assert!(cut.chars().count() <= LABEL_CHARS_MAX, "{pad}");
            let body = cut.strip_suffix('…').unwrap_or(&cut);
            assert!(text.starts_with(body));
            let rest = &body[pad.min(body.len())..];
            assert!(rest.is_empty() || rest.starts_with(family), "{pad}: {rest:?}");
        }
    }

    #[test]
    fn one_endless_grapheme_is_cut_at_a_scalar() {
        let zalgo = format!("a{}", "\u{301}".repeat(5000));
        let cut = label(&zalgo);
        assert_eq!(cut.chars().count(), LABEL_CHARS_MAX);
        assert!(cut.ends_with('…'));
    }

    #[test]
    fn a_label_has_one_line() {
        assert_eq!(label(" a\nb\u{7} "), "a b");
        assert_eq!(label(""), "");
    }
}
