//! Looking at processes from outside, through `/proc`.

use std::fs;
use std::io;

use rustix::process::{Pid, Signal, kill_process};

/// The cookie that every process of an attempt carries in its environment.
const ATTEMPT_COOKIE: &str = "HOLDFAST_ATTEMPT";

/// The pids of living processes that carry `HOLDFAST_ATTEMPT=attempt`, in ascending order.
pub fn of_attempt(attempt: &str) -> Vec<u32> {
    with_variable(ATTEMPT_COOKIE, attempt)
}

/// The pids of living processes whose environment has `name=value`, in ascending order. Only what
/// the environment was at `exec` is seen, and only of processes that may be looked at.
pub fn with_variable(name: &str, value: &str) -> Vec<u32> {
    let wanted = format!("{name}={value}");
    living(|pid| {
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
            environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
        })
    })
}

/// The pids of the living children of a process, in ascending order.
pub fn children(parent: u32) -> Vec<u32> {
    living(|pid| stat(pid).is_some_and(|stat| stat.parent == parent))
}

fn living(mut belongs: impl FnMut(u32) -> bool) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc can be listed");
    let mut pids: Vec<u32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| is_alive(*pid) && belongs(*pid))
        .collect();
    pids.sort_unstable();
    pids
}

/// Whether a process lives; a zombie is dead.
pub fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| !matches!(stat.state, b'Z' | b'X'))
}

/// When a process started, in clock ticks since boot: with the pid it names one process for good.
pub fn start_time(pid: u32) -> Option<u64> {
    stat(pid).map(|stat| stat.start_time)
}

/// The resident memory of a process, in bytes; 0 once it is gone.
pub fn resident_bytes(pid: u32) -> u64 {
    kib_of(pid, "status", "VmRSS:") * 1024
}

/// The most resident memory that a process ever had, in bytes; 0 once it is gone.
pub fn peak_resident_bytes(pid: u32) -> u64 {
    kib_of(pid, "status", "VmHWM:") * 1024
}

/// The private memory of a process that is no file's, in bytes; 0 once it is gone.
pub fn anonymous_bytes(pid: u32) -> u64 {
    kib_of(pid, "smaps_rollup", "Anonymous:") * 1024
}

fn kib_of(pid: u32, file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0)
}

/// The arguments of a process; empty once it is gone.
pub fn arguments(pid: u32) -> Vec<String> {
    strings(pid, "cmdline")
}

/// The environment of a process as it was when it was started, as `NAME=VALUE`; empty once it is
/// gone.
pub fn environment(pid: u32) -> Vec<String> {
    strings(pid, "environ")
}

fn strings(pid: u32, file: &str) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

struct Stat {
    state: u8,
    parent: u32,
    start_time: u64,
}

/// Reads `/proc/PID/stat`; `None` when there is no such process (any more).
fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, also parentheses and spaces.
    let after_name = text.iter().rposition(|byte| *byte == b')')? + 1;
    let fields = std::str::from_utf8(&text[after_name..]).ok()?;
    let mut fields = fields.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    // Fields 3 and 4 are taken; the start time is field 22.
    let start_time = fields.nth(22 - 5)?.parse().ok()?;
    Some(Stat { state, parent, start_time })
}

/// Kills one process with SIGKILL; one that is gone already is fine.
///
/// # Errors
///
/// When the process may not be signalled, or the pid is none.
pub fn kill_9(pid: u32) -> io::Result<()> {
    signal(pid, Signal::KILL)
}

/// Sends one process a signal; one that is gone already is fine.
///
/// # Errors
///
/// When the process may not be signalled, or the pid is none.
pub fn signal(pid: u32, signal: Signal) -> io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    match kill_process(pid, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;
    use crate::wait_until;

    #[test]
    fn a_process_is_found_by_its_cookie_and_a_zombie_is_dead() {
        let cookie = format!("testkit-{}", std::process::id());
        let mut child = Command::new("sleep")
            .arg("60")
            .env("HOLDFAST_ATTEMPT", &cookie)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id();
        wait_until(Duration::from_secs(10), "the exec", || of_attempt(&cookie) == [pid]);
        assert!(children(std::process::id()).contains(&pid));
        assert!(resident_bytes(pid) > 0);
        let started = start_time(pid).unwrap();
        assert!(start_time(std::process::id()).unwrap() <= started);
        kill_9(pid).unwrap();
        // Not waited for yet: it stays a zombie.
        wait_until(Duration::from_secs(10), "the death", || !is_alive(pid));
        assert_eq!(start_time(pid), Some(started));
        assert_eq!(of_attempt(&cookie), [0; 0]);
        child.wait().unwrap();
        kill_9(pid).unwrap();
    }
}
