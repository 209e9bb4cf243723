//! The agent's own sessions on disk: one JSONL file each, read again by `session/load`.
//!
//! The first line is `{"session": ID, "cwd": PATH}`; then `{"user": TEXT, "messageId": ID}`,
//! `{"agent": TEXT, "messageId": ID}` and `{"title": TEXT}` in the order they happened; and how far
//! it has come: `{"did": DIRECTIVES, "lines": OF_THE_NEXT}` and `{"ended": true}` of a message,
//! `{"task": ID, "kind": KIND, "seconds": LASTS, "label": TEXT}` and `{"taskEnded": ID}`. Each is
//! appended with a single `write(2)`; nothing is synced. A line that cannot be read is passed over.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use std::time::Duration;

use serde_json::{Value, json};

use super::directive::BackgroundKind;
use super::left::Place;

/// Longest session id that is looked for, in bytes.
const SESSION_ID_BYTES_MAX: usize = 128;
/// Longest line that is read back, in bytes: a message of 16 MiB escapes to less than this.
const RECORD_BYTES_MAX: u64 = 128 << 20;
/// Longest reply that is kept whole, in bytes; of a longer one its beginning is kept.
const REPLY_BYTES_MAX: usize = 1 << 20;
const FILE_ENDING: &str = "jsonl";

/// Why the store could not do what was asked.
#[derive(Debug)]
pub(super) enum StoreError {
    /// Neither `HOLDFAST_DEMO_DIR` nor a home is set.
    NoFolder,
    UnknownSession,
    Io(std::io::Error),
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoFolder => f.write_str("no folder for sessions: set HOLDFAST_DEMO_DIR or HOME"),
            Self::UnknownSession => f.write_str("session not found"),
            Self::Io(error) => write!(f, "session store: {error}"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoFolder | Self::UnknownSession => None,
            Self::Io(error) => Some(error),
        }
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// One entry of a session's history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Record {
    Opened {
        session: String,
        cwd: String,
    },
    User {
        text: String,
        message_id: String,
    },
    Agent {
        text: String,
        message_id: String,
    },
    Title {
        text: String,
    },
    /// How far the last message was done.
    Did(Place),
    /// Its turn is over.
    Ended,
    Task {
        id: String,
        kind: BackgroundKind,
        lasts: Duration,
        label: String,
    },
    TaskEnded {
        id: String,
    },
}

impl Record {
    fn to_json(&self) -> Value {
        match self {
            Self::Opened { session, cwd } => json!({ "session": session, "cwd": cwd }),
            Self::User { text, message_id } => json!({ "user": text, "messageId": message_id }),
            Self::Agent { text, message_id } => {
                json!({ "agent": head_of(text, REPLY_BYTES_MAX), "messageId": message_id })
            }
            Self::Title { text } => json!({ "title": text }),
            Self::Did(place) => json!({ "did": place.directives, "lines": place.lines }),
            Self::Ended => json!({ "ended": true }),
            Self::Task { id, kind, lasts, label } => json!({
                "task": id,
                "kind": kind.name(),
                "seconds": lasts.as_secs_f64(),
                "label": label,
            }),
            Self::TaskEnded { id } => json!({ "taskEnded": id }),
        }
    }

    fn from_json(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        if let Some(session) = text("session") {
            return Some(Self::Opened { session, cwd: text("cwd")? });
        }
        if let Some(text) = text("title") {
            return Some(Self::Title { text });
        }
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        if let Some(did) = number("did") {
            let directives = usize::try_from(did).ok()?;
            return Some(Self::Did(Place { directives, lines: number("lines")? }));
        }
        if value.get("ended").is_some() {
            return Some(Self::Ended);
        }
        if let Some(id) = text("task") {
            let kind = BackgroundKind::named(&text("kind")?)?;
            let lasts = Duration::try_from_secs_f64(value.get("seconds")?.as_f64()?).ok()?;
            return Some(Self::Task { id, kind, lasts, label: text("label")? });
        }
        if let Some(id) = text("taskEnded") {
            return Some(Self::TaskEnded { id });
        }
        let message_id = text("messageId")?;
        if let Some(text) = text("user") {
            return Some(Self::User { text, message_id });
        }
        Some(Self::Agent { text: text("agent")?, message_id })
    }
}

/// The beginning of a text, cut at a character.
fn head_of(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// What is known of a stored session without reading all of its history.
#[derive(Debug)]
pub(super) struct Summary {
    pub(super) session: String,
    pub(super) cwd: String,
    pub(super) title: Option<String>,
}

#[derive(Debug)]
pub(super) struct Store {
    folder: Option<PathBuf>,
}

impl Store {
    pub(super) fn new(dir: Option<&Path>) -> Self {
        Self { folder: dir.map(|dir| dir.join("sessions")) }
    }

    fn folder(&self) -> Result<&Path, StoreError> {
        self.folder.as_deref().ok_or(StoreError::NoFolder)
    }

    /// The file of a session; an id that could name anything else is an unknown session.
    fn path(&self, session: &str) -> Result<PathBuf, StoreError> {
        let folder = self.folder()?;
        let plain = session.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if session.is_empty() || session.len() > SESSION_ID_BYTES_MAX || !plain {
            return Err(StoreError::UnknownSession);
        }
        Ok(folder.join(session).with_extension(FILE_ENDING))
    }

    pub(super) fn create(&self, session: &str, cwd: &str) -> Result<SessionFile, StoreError> {
        fs::create_dir_all(self.folder()?)?;
        let file = OpenOptions::new().append(true).create_new(true).open(self.path(session)?)?;
        let mut file = SessionFile { file };
        file.append(&Record::Opened { session: session.to_owned(), cwd: cwd.to_owned() })?;
        Ok(file)
    }

    /// Opens a stored session for appending and shows each record of its history, oldest first.
    pub(super) fn open(
        &self,
        session: &str,
        mut each: impl FnMut(Record),
    ) -> Result<SessionFile, StoreError> {
        let path = self.path(session)?;
        let mut file = match OpenOptions::new().read(true).append(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(StoreError::UnknownSession);
            }
            Err(error) => return Err(error.into()),
        };
        read_records(&file, &mut each)?;
        if file.metadata()?.len() > 0 {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                // A line torn by a kill must not swallow the next one.
                file.write_all(b"\n")?;
            }
        }
        Ok(SessionFile { file })
    }

    /// All stored sessions, in no order.
    pub(super) fn list(&self) -> Result<Vec<Summary>, StoreError> {
        let entries = match fs::read_dir(self.folder()?) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut summaries = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_none_or(|ending| ending != FILE_ENDING) {
                continue;
            }
            let mut summary = None;
            let mut title = None;
            let read = File::open(&path).and_then(|file| {
                read_records(&file, &mut |record| match record {
                    Record::Opened { session, cwd } => summary = Some((session, cwd)),
                    Record::Title { text } => title = Some(text),
                    Record::User { .. }
                    | Record::Agent { .. }
                    | Record::Did(_)
                    | Record::Ended
                    | Record::Task { .. }
                    | Record::TaskEnded { .. } => {}
                })
            });
            if let (Ok(()), Some((session, cwd))) = (read, summary) {
                summaries.push(Summary { session, cwd, title });
            }
        }
        Ok(summaries)
    }
}

fn read_records(file: &File, each: &mut impl FnMut(Record)) -> std::io::Result<()> {
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut reader).take(RECORD_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let record = serde_json::from_slice(&line).ok().as_ref().and_then(Record::from_json);
        if let Some(record) = record {
            each(record);
        }
    }
}

/// A session's file, open for appending.
#[derive(Debug)]
pub(super) struct SessionFile {
    file: File,
}

impl SessionFile {
    pub(super) fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        let mut line = record.to_json().to_string().into_bytes();
        line.push(b'\n');
        self.file.write_all(&line)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Record {
        Record::User { text: text.into(), message_id: "m".into() }
    }

    fn history(store: &Store, session: &str) -> Vec<Record> {
        let mut records = Vec::new();
        store.open(session, |record| records.push(record)).unwrap();
        records
    }

    #[test]
    fn a_session_is_read_back_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(Some(dir.path()));
        let mut file = store.create("s-1", "/w").unwrap();
        let said = Record::Agent { text: "yes".into(), message_id: "a".into() };
        let title = Record::Title { text: "T".into() };
        let (id, label) = ("t-1".to_owned(), "look".to_owned());
        let (kind, lasts) = (BackgroundKind::Monitor, Duration::from_millis(1500));
        let task = Record::Task { id: id.clone(), kind, lasts, label };
        let did = Record::Did(Place { directives: 2, lines: 7 });
        let records =
            [user("one"), said, title, task, Record::TaskEnded { id }, did, Record::Ended];
        for record in &records {
            file.append(record).unwrap();
        }
        assert_eq!(history(&store, "s-1")[1..], records);
        let listed = store.list().unwrap();
        assert_eq!(listed[0].session, "s-1");
        assert_eq!(listed[0].cwd, "/w");
        assert_eq!(listed[0].title.as_deref(), Some("T"));
    }

    #[test]
    fn a_torn_line_costs_itself_only() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(Some(dir.path()));
        let mut file = store.create("s-1", "/w").unwrap();
        file.append(&user("one")).unwrap();
        file.file.write_all(b"{\"user\":\"to").unwrap();
        store.open("s-1", |_| ()).unwrap().append(&user("two")).unwrap();
        assert_eq!(history(&store, "s-1")[1..], [user("one"), user("two")]);
    }

    #[test]
    fn an_id_cannot_leave_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(Some(dir.path()));
        fs::write(dir.path().join("x.jsonl"), "").unwrap();
        for id in ["../x", "", "a/b", ".", &"a".repeat(129), "nobody"] {
            let opened = store.open(id, |_| ());
            assert!(matches!(opened, Err(StoreError::UnknownSession)), "{id}: {opened:?}");
        }
    }
}
