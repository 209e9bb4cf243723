//! What the CLI writes down of a session: a file of lines, one for each thing that happened, appended as
//! it happens. Which of our hand-overs it names says what the CLI has.

use holdfast_core::ids::{AttemptId, FrameNo};
use holdfast_core::limits::STORE_FRAMES_MAX;

use super::ids;
use super::wire;
use crate::tolerant::{Text, wire as declare};
use serde::Deserialize;

/// Bytes of a line that are looked at: a message's own line carries its text, and what a tool gave may
/// be longer than anything of ours.
pub const LINE_BYTES_MAX: usize = holdfast_core::limits::LINE_BYTES_MAX;
/// Characters of the folder's name that are the directory's; a longer one goes on with a digest.
const FOLDER_CHARS_MAX: usize = 200;

declare! {
    /// A line of the file.
    Entry<'a> {
        kind as "type": Text, uuid: Text, side as "isSidechain": crate::tolerant::Raw<'a>,
        attached as "attachment": crate::tolerant::Raw<'a>
    }
}

declare! {
    /// What the CLI has put beside the messages: one that a turn took up while it ran is there, and
    /// nowhere else.
    Beside { kind as "type": Text, source as "source_uuid": Text }
}

/// The hand-overs of one attempt that a session file names.
#[derive(Clone, Debug)]
pub struct Named {
    attempt: AttemptId,
    frames: Vec<FrameNo>,
}

impl Named {
    /// None yet.
    #[must_use]
    pub const fn of(attempt: AttemptId) -> Self {
        Self { attempt, frames: Vec::new() }
    }

    /// Takes in one line of the file. A last line without its end, which a killed process may leave, is
    /// no JSON and names nothing.
    pub fn line(&mut self, line: &[u8]) {
        let Ok(entry) = serde_json::from_slice::<Entry<'_>>(line) else { return };
        if wire::is_true(entry.side) {
            return;
        }
        let uuid = match entry.kind.as_deref() {
            Some("user") => entry.uuid,
            Some("attachment") => {
                let beside: Beside =
                    entry.attached.map(|raw| super::read(raw.get())).unwrap_or_default();
                beside.source.filter(|_| beside.kind.as_deref() == Some("queued_command"))
            }
            Some(_) | None => None,
        };
        let frame = uuid.and_then(|id| ids::frame_of(self.attempt, &id));
        let Some(frame) = frame.filter(|frame| !self.frames.contains(frame)) else { return };
        if self.frames.len() >= STORE_FRAMES_MAX {
            self.frames.remove(0);
        }
        self.frames.push(frame);
    }

    /// The frames, in the order of the file; of many the last.
    #[must_use]
    pub fn frames(self) -> Vec<FrameNo> {
        self.frames
    }
}

/// The name of the folder in which the CLI keeps the sessions of a directory.
#[must_use]
pub fn folder(cwd: &str) -> String {
    cwd.chars()
        .take(FOLDER_CHARS_MAX)
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

/// The name of a session's file; none where the id could lead anywhere else.
#[must_use]
pub fn file_name(session: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (!session.is_empty() && session.chars().all(plain)).then(|| format!("{session}.jsonl"))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_file_names_what_it_holds_whole() {
        let attempt = AttemptId::new(Uuid::from_u128(0x1111));
        let id = |n| ids::message_id(attempt, FrameNo(n));
        let beside = |kind: &str, n| {
            let attachment = format!(r#"{{"type":"{kind}","source_uuid":"{}"}}"#, id(n));
            format!(r#"{{"type":"attachment","attachment":{attachment},"uuid":"{}"}}"#, id(9))
        };
        let mut named = Named::of(attempt);
        for line in [
            format!(r#"{{"type":"user","uuid":"{}","message":{{"content":"\ud83d"}}}}"#, id(2)),
            format!(r#"{{"type":"user","uuid":"{}"}}"#, id(2)),
            format!(r#"{{"type":"assistant","uuid":"{}"}}"#, id(3)),
            format!(r#"{{"type":"queue-operation","commandUuid":"{}"}}"#, id(4)),
            beside("queued_command", 7),
            beside("date", 8),
            format!(r#"{{"type":"user","isSidechain":true,"uuid":"{}"}}"#, id(5)),
            r#"{"type":"user","uuid":"5bd6d049-a0e5-44a5-ba08-7e61552c83ac"}"#.to_owned(),
            "[]".to_owned(),
            format!(r#"{{"type":"user","uuid":"{}","#, id(6)),
        ] {
            named.line(line.as_bytes());
        }
        assert_eq!(named.frames(), [FrameNo(2), FrameNo(7)]);
    }

    #[test]
    fn of_many_the_last_are_told() {
        let attempt = AttemptId::new(Uuid::from_u128(0x1111));
        let mut named = Named::of(attempt);
        for n in 1..=100 {
            let id = ids::message_id(attempt, FrameNo(n));
            named.line(format!(r#"{{"type":"user","uuid":"{id}"}}"#).as_bytes());
        }
        let frames = named.frames();
        assert_eq!((frames.len(), frames.last()), (STORE_FRAMES_MAX, Some(&FrameNo(100))));
    }

    #[test]
    fn a_file_is_looked_for_within_its_folder_only() {
        assert_eq!(folder("/home/ada/my wörk.d"), "-home-ada-my-w-rk-d");
        assert_eq!(file_name("0193b5a0-1111").as_deref(), Some("0193b5a0-1111.jsonl"));
        for odd in ["", "..", "a/b", "a.b", "\0"] {
            assert_eq!(file_name(odd), None);
        }
    }
}
