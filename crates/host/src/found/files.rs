//! The files in which agents keep their sessions: found, looked at, read. Nothing of them is written. They
//! may be huge, damaged, growing, or not what they seem: each is opened without following a link, read up
//! to a bound, and as far as it was when it was opened.

use std::fs::{DirEntry, File, OpenOptions};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use holdfast_agent::claude;
use holdfast_agent::codex;
use holdfast_agent::history::{Glance, History};
use holdfast_core::limits::LINE_BYTES_MAX;
use holdfast_core::time::Micros;
use rustix::fs::OFlags;
use uuid::Uuid;

use crate::agents::Environment;

/// Folders that are looked through.
const FOLDERS_MAX: usize = 10_000;
/// Files that are sorted by age.
const FILES_MAX: usize = 100_000;
/// Bytes of the beginning of a file that are looked at: before a person's first words stand those that
/// the agent's program itself puts there.
const BEGIN_BYTES: u64 = 192 * 1024;
/// Bytes of its end.
const END_BYTES: u64 = 32 * 1024;
/// Bytes of a file that are read for its history: those at its end.
const HISTORY_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Bytes of the end of an index of names.
const NAMES_BYTES: u64 = 1024 * 1024;
/// Digits of a UUID with its dashes.
const ID_CHARS: usize = 36;

/// Where an agent keeps its sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Claude Code: folders named after directories, a file for each session.
    Claude {
        /// The folder of those folders.
        projects: PathBuf,
    },
    /// Codex: folders for years, months and days, a file for each thread.
    Codex {
        /// Its home.
        home: PathBuf,
    },
}

impl Place {
    /// Where Claude Code keeps them; none where its environment does not say.
    pub(super) fn claude(known: &Environment) -> Option<Self> {
        let config =
            path(known, "CLAUDE_CONFIG_DIR").or_else(|| Some(path(known, "HOME")?.join(".claude")));
        Some(Self::Claude { projects: config?.join("projects") })
    }

    /// Where Codex keeps them.
    pub(super) fn codex(known: &Environment) -> Option<Self> {
        let home = path(known, "CODEX_HOME").or_else(|| Some(path(known, "HOME")?.join(".codex")));
        Some(Self::Codex { home: home? })
    }

    /// All sessions, the last changed first.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let mut all = Vec::new();
        match self {
            Self::Claude { projects } => {
                for folder in folders(projects, FOLDERS_MAX) {
                    let id = |name: &str| name.strip_suffix(".jsonl").map(str::to_owned);
                    gather(&folder, id, &mut all);
                }
            }
            Self::Codex { home } => {
                let days = folders(&home.join("sessions"), FOLDERS_MAX).into_iter();
                let days = days.flat_map(|year| folders(&year, FOLDERS_MAX));
                let days = days.flat_map(|month| folders(&month, FOLDERS_MAX));
                for day in days.take(FOLDERS_MAX) {
                    let id = |name: &str| {
                        let name = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
                        let id = name.get(name.len().checked_sub(ID_CHARS)?..)?;
                        Some(id.to_owned())
                    };
                    gather(&day, id, &mut all);
                }
            }
        }
        all.sort_by(|a, b| b.order().cmp(&a.order()));
        all
    }

    /// The names that persons gave, beside the files themselves.
    pub(super) fn names(&self) -> Vec<(String, String)> {
        match self {
            Self::Claude { .. } => Vec::new(),
            Self::Codex { home } => {
                let end = open(&home.join("session_index.jsonl")).and_then(|(file, bytes)| {
                    part(&file, bytes.saturating_sub(NAMES_BYTES), NAMES_BYTES)
                });
                codex::history::names(&end.unwrap_or_default()).collect()
            }
        }
    }

    /// What is seen of a session at a glance; none where its file cannot be read, or is none.
    pub(super) fn glance(&self, of: &Candidate) -> Option<Glance> {
        let (file, bytes) = open(&of.path).ok()?;
        let begin = part(&file, 0, BEGIN_BYTES).ok()?;
        let rest = bytes.saturating_sub(BEGIN_BYTES).min(END_BYTES);
        let end = match rest {
            0 => None,
            // The byte before says whether a line begins there.
            rest => part(&file, bytes.saturating_sub(rest).saturating_sub(1), rest + 1).ok(),
        };
        let glance = match self {
            Self::Claude { .. } => {
                let folder = of.path.parent().and_then(Path::file_name).unwrap_or_default();
                claude::history::glance(&begin, end.as_deref(), &folder.to_string_lossy())
            }
            Self::Codex { .. } => codex::history::glance(&begin, end.as_deref()),
        };
        glance.is_session.then_some(glance)
    }

    /// The whole session, as its file shows it.
    pub(super) fn history(&self, of: &Candidate) -> std::io::Result<History> {
        match self {
            Self::Claude { .. } => {
                let mut links = claude::history::Links::default();
                let bytes = lines(&of.path, None, |line| links.line(line))?;
                let mut reader = links.reader();
                lines(&of.path, Some(bytes), |line| reader.line(line))?;
                Ok(reader.history())
            }
            Self::Codex { .. } => {
                let mut reader = codex::history::Reader::default();
                lines(&of.path, None, |line| reader.line(line))?;
                Ok(reader.history())
            }
        }
    }
}

fn path(known: &Environment, name: &str) -> Option<PathBuf> {
    let variable = known.get(name.as_ref())?;
    Some(PathBuf::from(&variable.value)).filter(|path| path.is_absolute())
}

/// A file that may be that of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// The session's id, by the file's name.
    pub(super) id: String,
    pub(super) changed: Micros,
    pub(super) bytes: u64,
}

impl Candidate {
    /// What lists are ordered by.
    pub(super) fn order(&self) -> (i64, &str) {
        (self.changed.0, &self.id)
    }
}

/// The folders in a folder, links left out.
fn folders(within: &Path, most: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(within).into_iter().flatten().take(most).flatten();
    let own = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(own).map(|entry| entry.path()).collect()
}

fn gather(folder: &Path, id: impl Fn(&str) -> Option<String>, all: &mut Vec<Candidate>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.take(FILES_MAX) {
        if all.len() >= FILES_MAX {
            return;
        }
        let name = entry.file_name();
        let id = name.to_str().and_then(&id).filter(|id| is_id(id));
        // Of the entry itself, not of what a link leads to.
        let (Some(id), Ok(metadata)) = (id, entry.metadata()) else { continue };
        if !metadata.is_file() || metadata.len() == 0 {
            continue;
        }
        let changed = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let changed = changed.and_then(|since| i64::try_from(since.as_micros()).ok()).unwrap_or(0);
        let (path, bytes) = (entry.path(), metadata.len());
        all.push(Candidate { path, id, changed: Micros(changed), bytes });
    }
}

/// Whether a text is a UUID as both programs write one.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == ID_CHARS && Uuid::try_parse(text).is_ok()
}

/// Opens a regular file, and says how long it is now.
fn open(path: &Path) -> std::io::Result<(File, u64)> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    Ok((file, metadata.len()))
}

fn part(mut file: &File, from: u64, most: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Hands on the lines of a file, up to where it ended when it was opened or, where it was read before, to
/// where it ended then. Says where that was.
fn lines(path: &Path, end: Option<u64>, mut each: impl FnMut(&[u8])) -> std::io::Result<u64> {
    let (mut file, now) = open(path)?;
    let end = end.unwrap_or(now);
    let begin = end.saturating_sub(HISTORY_BYTES_MAX);
    file.seek(SeekFrom::Start(begin))?;
    let mut rest = BufReader::new(file.take(end - begin));
    let most = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
    let (mut line, mut cut) = (Vec::new(), begin > 0);
    loop {
        line.clear();
        if rest.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
            return Ok(end);
        }
        let whole = line.ends_with(b"\n");
        // What is left of a line that is too long, or that began before, is nothing.
        if !std::mem::replace(&mut cut, !whole) {
            each(&line);
        }
    }
}
