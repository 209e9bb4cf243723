//! Whether another process has a session open. Codex locks a thread that it writes; whether a lock is held
//! is read from the kernel's list, without taking it. Claude Code locks nothing: what can be seen of it
//! are the arguments and the directories of processes. All of it is best effort, and where there is no
//! such list nothing is said.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use holdfast_core::time::Micros;

/// Processes that are looked at.
const PROCESSES_MAX: usize = 32_768;
/// Bytes of the arguments of one.
const ARGUMENTS_BYTES_MAX: u64 = 64 * 1024;
/// Ticks of the kernel's clock in a second, as it shows them to programs.
const TICKS: u64 = 100;

/// What was seen when a list was made.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    /// Sessions that a process was started with.
    named: HashSet<String>,
    /// Where Claude Code runs without naming a session, and since when.
    within: Vec<(PathBuf, Micros)>,
    /// The device and the number of each file that is locked as a whole.
    locked: HashSet<(u64, u64)>,
}

impl Elsewhere {
    /// Looks at all processes of this user, as Claude Code is run.
    pub(super) fn claude() -> Self {
        let mut seen = Self::default();
        let booted = booted();
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten().take(PROCESSES_MAX);
        for entry in all {
            let path = entry.path();
            let numbered = entry.file_name().as_bytes().iter().all(u8::is_ascii_digit);
            let Some(argv) = numbered.then(|| arguments(&path)).flatten() else { continue };
            let programs = argv.iter().take(2).map(|word| Path::new(word).file_name());
            let is_claude = programs.flatten().any(|name| name == "claude" || name == "claude.exe");
            match session_of(&argv) {
                Some(session) => drop(seen.named.insert(session)),
                None if is_claude => {
                    let cwd = std::fs::read_link(path.join("cwd"));
                    let since = booted.and_then(|booted| began(&path, booted));
                    if let (Ok(cwd), Some(since)) = (cwd, since) {
                        seen.within.push((cwd, since));
                    }
                }
                None => {}
            }
        }
        seen
    }

    /// Looks at all locks.
    pub(super) fn codex() -> Self {
        let list = std::fs::read_to_string("/proc/locks").unwrap_or_default();
        Self { locked: list.lines().filter_map(locked).collect(), ..Self::default() }
    }

    /// Whether Claude Code seems to have this session open: a process was started with it, or one runs in
    /// its directory, and the session changed since.
    pub(super) fn has(&self, session: &str, cwd: Option<&str>, changed: Micros) -> bool {
        let here = |within: &PathBuf| cwd.is_some_and(|cwd| within.as_path() == Path::new(cwd));
        self.named.contains(session)
            || self.within.iter().any(|(within, since)| here(within) && changed >= *since)
    }

    /// Whether the lock of a thread is held.
    pub(super) fn locks(&self, home: &Path, thread: &str) -> bool {
        let lock = home.join("thread-writer-locks").join(format!("{thread}.lock"));
        let metadata = std::fs::symlink_metadata(lock);
        metadata.is_ok_and(|file| self.locked.contains(&(file.dev(), file.ino())))
    }
}

/// The session that a process of Claude Code was started with.
fn session_of(argv: &[String]) -> Option<String> {
    const NAMES: [&str; 3] = ["--resume", "--session-id", "-r"];
    let mut words = argv.iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        if NAMES.contains(&name) {
            let value = value.or_else(|| words.next().map(String::as_str));
            return value.filter(|value| super::files::is_id(value)).map(str::to_owned);
        }
    }
    None
}

fn arguments(process: &Path) -> Option<Vec<String>> {
    use std::io::Read as _;
    let file = std::fs::File::open(process.join("cmdline")).ok()?;
    let mut bytes = Vec::new();
    file.take(ARGUMENTS_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    Some(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

/// When the machine was started.
fn booted() -> Option<Micros> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let seconds: i64 =
        stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(Micros(seconds.checked_mul(1_000_000)?))
}

/// When a process began.
fn began(process: &Path, booted: Micros) -> Option<Micros> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    // Behind the name, which may hold anything, the state is the first of the fields.
    let ticks: u64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let micros = i64::try_from(ticks.checked_mul(1_000_000 / TICKS)?).ok()?;
    Some(Micros(booted.0.checked_add(micros)?))
}

/// The file that a line of the kernel's list locks as a whole: `1: FLOCK ADVISORY WRITE 7 fe:00:99 0 EOF`.
fn locked(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split_whitespace().skip(1);
    // One that waits for the lock does not hold it.
    words.next().filter(|kind| *kind == "FLOCK")?;
    let mut file = words.nth(3)?.split(':');
    let major = u32::from_str_radix(file.next()?, 16).ok()?;
    let minor = u32::from_str_radix(file.next()?, 16).ok()?;
    Some((rustix::fs::makedev(major, minor), file.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_seen_without_taking_it() {
        let home = tempfile::tempdir().unwrap();
        let id = "01a22ea8-1c14-7943-b8c7-4720456778fd";
        let locks = home.path().join("thread-writer-locks");
        std::fs::create_dir(&locks).unwrap();
        assert!(!Elsewhere::codex().locks(home.path(), id), "there is none");
        let file = std::fs::File::create(locks.join(format!("{id}.lock"))).unwrap();
        assert!(!Elsewhere::codex().locks(home.path(), id), "nobody holds it");
        rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
        assert!(Elsewhere::codex().locks(home.path(), id));
        drop(file);
        assert!(!Elsewhere::codex().locks(home.path(), id));
        for odd in ["", "1: FLOCK", "1: -> FLOCK ADVISORY WRITE 7 fe:00:99 0 EOF", "x y z w v u"] {
            assert_eq!(locked(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_session_is_named_by_the_arguments_of_a_process() {
        let id = "5a62fd6e-45b1-4008-9dce-aa3dc8952981";
        let of =
            |words: &[&str]| session_of(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["claude", "--resume", id]).as_deref(), Some(id));
        assert_eq!(
            of(&["node", "/usr/bin/claude", &format!("--resume={id}")]).as_deref(),
            Some(id)
        );
        assert_eq!(of(&["claude", "--print", "--session-id", id]).as_deref(), Some(id));
        for none in [&["claude"][..], &["claude", "--resume"], &["claude", "-r", "--print"]] {
            assert_eq!(of(none), None);
        }
    }

    #[test]
    fn a_process_in_the_directory_has_what_changed_since_it_began() {
        let mut seen = Elsewhere::default();
        seen.within.push((PathBuf::from("/work"), Micros(100)));
        assert!(seen.has("a", Some("/work"), Micros(100)));
        assert!(!seen.has("a", Some("/work"), Micros(99)), "of before");
        assert!(!seen.has("a", Some("/other"), Micros(200)));
        assert!(!seen.has("a", None, Micros(200)));
        let own = PathBuf::from("/proc/self");
        let age = crate::clock::wall().0 - began(&own, booted().unwrap()).unwrap().0;
        assert!((-2_000_000..3_600_000_000).contains(&age), "{age}");
    }
}
