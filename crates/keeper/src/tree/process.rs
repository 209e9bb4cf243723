use crate::limits::COMMAND_BYTES_MAX;
use crate::record::ProcessId;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;

/// Enough for any `/proc/PID/stat`.
const STAT_BYTES_MAX: usize = 1024;
/// How far a line of ancestors is followed.
const ANCESTORS_MAX: usize = 256;
const BOOT_ID_FILE: &str = "/proc/sys/kernel/random/boot_id";

/// What `/proc/PID/stat` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) process: ProcessId,
    pub(super) parent: u32,
    pub(super) state: char,
    threads: u64,
}

impl Stat {
    /// A zombie has nothing left but its exit code; unless only its first thread has ended, which looks
    /// the same but for the number of threads.
    pub(super) fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x') && self.threads <= 1
    }

    fn parse(pid: u32, text: &[u8]) -> Option<Self> {
        // The name in parentheses may hold anything, parentheses and newlines included.
        let name_end = text.iter().rposition(|&byte| byte == b')')?;
        let rest = std::str::from_utf8(text.get(name_end + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        // State is field 3 and parent field 4; threads are field 20, the start time is field 22.
        let threads = fields.nth(15)?.parse().ok()?;
        let start_time = fields.nth(1)?.parse().ok()?;
        Some(Self { process: ProcessId { pid, start_time }, parent, state, threads })
    }
}

/// Reads one process; `None` when it is gone.
pub(super) fn stat(pid: u32) -> Option<Stat> {
    let mut buffer = [0; STAT_BYTES_MAX];
    let read = read_head(&format!("/proc/{pid}/stat"), &mut buffer)?;
    Stat::parse(pid, buffer.get(..read)?)
}

fn read_head(path: &str, buffer: &mut [u8]) -> Option<usize> {
    let mut file = File::open(path).ok()?;
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some(filled)
}

/// The ids of all processes.
pub(super) fn pids() -> io::Result<impl Iterator<Item = u32>> {
    let entries = std::fs::read_dir("/proc")?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()))
}

/// Whether a process descends from another, by what both are now.
#[must_use]
pub fn descends(pid: u32, ancestor: u32) -> bool {
    let mut current = pid;
    for _ in 0..ANCESTORS_MAX {
        match stat(current).map(|stat| stat.parent) {
            Some(parent) if parent == ancestor => return true,
            Some(parent) if parent > 1 => current = parent,
            Some(_) | None => return false,
        }
    }
    false
}

/// The process that now has this id, or `None` if none has.
#[must_use]
pub fn process_id(pid: u32) -> Option<ProcessId> {
    stat(pid).map(|stat| stat.process)
}

/// Whether this very process lives. A zombie does not.
#[must_use]
pub fn is_alive(process: ProcessId) -> bool {
    stat(process.pid).is_some_and(|stat| stat.process == process && !stat.is_dead())
}

/// The id of this boot. Process ids and start times mean nothing in another.
///
/// # Errors
/// Those of reading it from the kernel.
pub fn boot_id() -> io::Result<String> {
    Ok(std::fs::read_to_string(BOOT_ID_FILE)?.trim().to_owned())
}

/// The ids of a process's children, as the kernel lists them; `None` when the process is gone or the kernel
/// keeps no such lists.
pub(super) fn children(pid: u32) -> Option<Vec<u32>> {
    let mut children = None;
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let Ok(task) = task else { continue };
        // A thread may have ended since it was listed.
        if let Ok(text) = std::fs::read_to_string(task.path().join("children")) {
            let of_task =
                text.split_ascii_whitespace().filter_map(|child| child.parse::<u32>().ok());
            children.get_or_insert_with(Vec::new).extend(of_task);
        }
    }
    children
}

/// The owner of a process; 0 when it is gone.
pub(super) fn uid(pid: u32) -> u32 {
    std::fs::metadata(format!("/proc/{pid}")).map_or(0, |metadata| metadata.uid())
}

/// The command line, shortened, for people. Its bytes are the process's own choice: control characters
/// are replaced.
pub(super) fn command(pid: u32) -> String {
    let mut buffer = [0; COMMAND_BYTES_MAX];
    let mut read = read_head(&format!("/proc/{pid}/cmdline"), &mut buffer).unwrap_or(0);
    if read == 0 {
        read = read_head(&format!("/proc/{pid}/comm"), &mut buffer).unwrap_or(0);
    }
    let text = String::from_utf8_lossy(buffer.get(..read).unwrap_or_default());
    let shown = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    shown.collect::<String>().trim_end().to_owned()
}

/// Whether the environment of a process holds `entry` (`NAME=value`). One that cannot be read does not.
pub(super) fn environment_holds(pid: u32, entry: &[u8]) -> bool {
    let Ok(mut file) = File::open(format!("/proc/{pid}/environ")) else { return false };
    let mut search = EntrySearch::new(entry);
    let mut buffer = [0; 4096];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return search.found(),
            Ok(bytes) => search.feed(buffer.get(..bytes).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
        if search.is_found {
            return true;
        }
    }
}

/// Finds one NUL-terminated entry in a stream, whatever its pieces.
struct EntrySearch<'a> {
    entry: &'a [u8],
    /// Bytes of the entry that have matched since the last NUL; `None`: this one is another.
    matched: Option<usize>,
    is_found: bool,
}

impl<'a> EntrySearch<'a> {
    fn new(entry: &'a [u8]) -> Self {
        Self { entry, matched: Some(0), is_found: false }
    }

    fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == 0 {
                self.is_found |= self.found();
                self.matched = Some(0);
            } else {
                self.matched = self
                    .matched
                    .filter(|&matched| self.entry.get(matched) == Some(&byte))
                    .map(|matched| matched + 1);
            }
        }
    }

    fn found(&self) -> bool {
        self.is_found || self.matched == Some(self.entry.len())
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the tests need processes to look at")]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_blanks_does_not_shift_the_fields() {
        let text = b"7 (a) S 9 (b\n) R 3 7 7 0 -1 4194560 1 0 0 0 5 6 0 0 20 0 1 0 4242 1 1";
        let stat = Stat::parse(7, text).unwrap();
        assert_eq!(stat.process, ProcessId { pid: 7, start_time: 4242 });
        assert_eq!((stat.parent, stat.state, stat.threads), (3, 'R', 1));
        for cut in 0..60 {
            let _ = Stat::parse(7, &text[..cut]);
        }
    }

    #[test]
    fn this_process_lives_and_its_namesake_of_another_time_does_not() {
        let this = process_id(std::process::id()).unwrap();
        assert!(is_alive(this));
        assert!(!is_alive(ProcessId { start_time: this.start_time + 1, ..this }));
    }

    #[test]
    fn a_process_whose_first_thread_has_ended_lives() {
        let text = b"7 (a) Z 3 7 7 0 -1 4194560 1 0 0 0 5 6 0 0 20 0 2 0 4242 1 1";
        assert!(!Stat::parse(7, text).unwrap().is_dead());
    }

    #[test]
    fn a_zombie_is_dead() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let process = process_id(child.id()).unwrap();
        // Not waited for, it stays a zombie; until it is one it is alive.
        let bound = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while is_alive(process) {
            assert!(std::time::Instant::now() < bound);
            std::thread::yield_now();
        }
        assert_eq!(stat(process.pid).map(|stat| stat.state), Some('Z'));
        child.wait().unwrap();
        assert_eq!(stat(process.pid), None);
    }

    #[test]
    fn an_entry_is_found_whole_and_in_any_pieces() {
        let environment = b"A=1\0HA=2\0HOLD=x\0Z=9";
        for (entry, expected) in [
            (&b"A=1"[..], true),
            (b"HOLD=x", true),
            (b"Z=9", true),
            (b"HOLD=", false),
            (b"HOLD=xy", false),
            (b"OLD=x", false),
            (b"A=2", false),
        ] {
            for size in 1..=environment.len() {
                let mut search = EntrySearch::new(entry);
                environment.chunks(size).for_each(|piece| search.feed(piece));
                assert_eq!(search.found(), expected, "{entry:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_command_is_shown_without_control_characters() {
        assert!(command(std::process::id()).contains("holdfast"));
        assert!(!command(std::process::id()).chars().any(char::is_control));
    }
}
