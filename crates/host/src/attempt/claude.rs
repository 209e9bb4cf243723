//! What Claude Code needs of its host beside the keeper: with what it is started, and what its session
//! file names once it is dead. What lines and folders mean is known in [`holdfast_agent::claude`].

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use holdfast_agent::claude::command::{self, Begin};
use holdfast_agent::claude::session::{self, LINE_BYTES_MAX, Named};
use holdfast_core::ids::{AttemptId, FrameNo};
use holdfast_keeper::protocol::Start;

use super::{SessionOrder, StartSpec};
use crate::agents::Environment;

/// Folders of sessions that are looked through where the file is not in the one that it should be in.
const FOLDERS_MAX: usize = 10_000;
/// Bytes of a session file beyond which it is not read.
const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Adds to the start what the host knows of the session, and where the CLI is to put its files.
pub(super) fn complete(start: &mut Start, spec: &StartSpec, known: &Environment, temp: &Path) {
    let session = spec.handle.as_ref().map(|handle| handle.leaf.as_str());
    let file = match session.map(|session| find(known, &spec.cwd, session)) {
        Some(Found::File(_)) => command::File::There,
        Some(Found::Missing | Found::Unknown) | None => command::File::Missing,
    };
    let (handle, fork_of) = (spec.handle.as_ref(), spec.fork_of.as_ref());
    let begin = Begin::of(spec.attempt, handle, fork_of, spec.holds, file);
    let wanted = command::Wanted {
        model: spec.model.as_deref(),
        mode: spec.mode.as_deref(),
        effort: spec.effort.as_deref(),
    };
    start.argv.extend(command::arguments(&begin, wanted));
    for (name, value) in command::environment(temp) {
        if known.get(name.as_ref()).is_none() {
            start.env.push((name.into(), value));
        }
    }
}

/// Where a session's file is.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    File(PathBuf),
    /// It is in none of the CLI's folders.
    Missing,
    /// Nobody knows where the CLI keeps its sessions, or they cannot be looked at.
    Unknown,
}

fn find(known: &Environment, cwd: &str, session: &str) -> Found {
    let Some(name) = session::file_name(session) else { return Found::Unknown };
    let value = |name: &str| {
        let variable = known.get(name.as_ref())?;
        Some(PathBuf::from(&variable.value)).filter(|path| path.is_absolute())
    };
    let config = value("CLAUDE_CONFIG_DIR").or_else(|| Some(value("HOME")?.join(".claude")));
    let Some(projects) = config.map(|config| config.join("projects")) else {
        return Found::Unknown;
    };
    let usual = projects.join(session::folder(cwd)).join(&name);
    if usual.is_file() {
        return Found::File(usual);
    }
    let folders = match std::fs::read_dir(&projects) {
        Ok(folders) => folders,
        Err(error) if error.kind() == ErrorKind::NotFound => return Found::Missing,
        Err(_) => return Found::Unknown,
    };
    let mut files =
        folders.take(FOLDERS_MAX).filter_map(|entry| Some(entry.ok()?.path().join(&name)));
    files.find(|file| file.is_file()).map_or(Found::Missing, Found::File)
}

/// The frames of a dead attempt whose messages its session file names. None where nothing is proven:
/// the file cannot be read, or is not there although the session holds something, so that nobody knows
/// where to look.
pub(super) fn named(
    known: &Environment,
    cwd: &str,
    attempt: AttemptId,
    order: &SessionOrder,
) -> Option<Vec<FrameNo>> {
    match find(known, cwd, &order.id) {
        Found::File(path) => read(&path, attempt).ok(),
        Found::Missing if order.holds == 0 => Some(Vec::new()),
        Found::Missing | Found::Unknown => None,
    }
}

fn read(path: &Path, attempt: AttemptId) -> std::io::Result<Vec<FrameNo>> {
    let file = File::open(path)?;
    if file.metadata()?.len() > FILE_BYTES_MAX {
        return Err(ErrorKind::FileTooLarge.into());
    }
    let mut lines = BufReader::new(file);
    let mut named = Named::of(attempt);
    let mut line = Vec::new();
    let most = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
    loop {
        line.clear();
        if lines.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
            return Ok(named.frames());
        }
        named.line(&line);
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use holdfast_agent::claude::ids::message_id;
    use uuid::Uuid;

    use super::*;
    use crate::agents::Source;

    fn environment(pairs: &[(&str, &Path)]) -> Environment {
        let pairs =
            pairs.iter().map(|(name, path)| (OsString::from(name), path.as_os_str().into()));
        Environment::of_host(Source::Asking, pairs.collect::<Vec<_>>())
    }

    fn names(known: &Environment, holds: u64) -> Option<Vec<FrameNo>> {
        let order = SessionOrder { id: "s-1".to_owned(), holds };
        named(known, "/my work", AttemptId::new(Uuid::from_u128(9)), &order)
    }

    #[test]
    fn a_session_is_found_where_the_agent_keeps_it_and_its_absence_proves_little() {
        let dir = tempfile::tempdir().unwrap();
        let home = environment(&[("HOME", dir.path())]);
        assert_eq!(names(&home, 0), Some(vec![]), "nothing was ever written down");
        assert_eq!(names(&home, 1), None, "it is somewhere else");
        assert_eq!(names(&environment(&[]), 0), None);
        assert_eq!(names(&environment(&[("HOME", Path::new("here"))]), 0), None);

        let id = message_id(AttemptId::new(Uuid::from_u128(9)), FrameNo(4));
        let line = format!("{{\"type\":\"user\",\"uuid\":\"{id}\"}}\n{{\"type\":\"us");
        let moved = dir.path().join(".claude/projects/-elsewhere");
        std::fs::create_dir_all(&moved).unwrap();
        std::fs::write(moved.join("s-1.jsonl"), &line).unwrap();
        assert_eq!(names(&home, 1), Some(vec![FrameNo(4)]), "in whatever folder");

        let other = tempfile::tempdir().unwrap();
        let usual = other.path().join("projects/-my-work");
        std::fs::create_dir_all(&usual).unwrap();
        std::fs::write(usual.join("s-1.jsonl"), "").unwrap();
        let both = environment(&[("HOME", dir.path()), ("CLAUDE_CONFIG_DIR", other.path())]);
        assert_eq!(names(&both, 1), Some(vec![]));
    }
}
