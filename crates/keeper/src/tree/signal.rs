use super::process;
use crate::record::ProcessId;
use crate::registry::KeeperRecord;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

/// What became of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The process has it.
    Delivered,
    /// The process is dead.
    Gone,
    /// This process may not signal it.
    Refused,
}

/// Signals this very process: through a descriptor of it, so that the id cannot change hands between the
/// look at its start time and the signal.
pub(crate) fn send(target: ProcessId, signal: Signal) -> Sent {
    let Some(pid) = i32::try_from(target.pid).ok().and_then(Pid::from_raw) else {
        return Sent::Gone;
    };
    let handle = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(handle) => handle,
        Err(Errno::SRCH) => return Sent::Gone,
        Err(_) => return Sent::Refused,
    };
    if !process::is_alive(target) {
        return Sent::Gone;
    }
    match rustix::process::pidfd_send_signal(&handle, signal) {
        Ok(()) => Sent::Delivered,
        Err(Errno::SRCH) => Sent::Gone,
        Err(_) => Sent::Refused,
    }
}

/// Kills a keeper that has nothing left to keep (a host that died between committing an attempt's end and
/// saying so leaves one waiting), or that does not answer although its attempt is to end. Which of these it
/// is, and that it is of this boot, is for the caller to have looked at.
#[must_use]
pub fn kill_keeper(keeper: ProcessId) -> bool {
    match send(keeper, Signal::KILL) {
        Sent::Delivered | Sent::Gone => true,
        Sent::Refused => false,
    }
}

/// Tells the keeper of this record to end all that it keeps, and then itself. `false` where it could not
/// be told, or is of another boot.
#[must_use]
pub fn terminate_keeper(record: &KeeperRecord) -> bool {
    process::boot_id().is_ok_and(|boot| boot == record.boot_id)
        && send(record.keeper, Signal::TERM) == Sent::Delivered
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the tests need processes to look at")]
mod tests {
    use super::*;

    #[test]
    fn only_the_process_of_that_start_time_is_signalled() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = process::process_id(child.id()).unwrap();
        let namesake = ProcessId { start_time: process.start_time + 1, ..process };
        assert_eq!(send(namesake, Signal::KILL), Sent::Gone);
        assert!(process::is_alive(process));
        assert_eq!(send(process, Signal::KILL), Sent::Delivered);
        child.wait().unwrap();
        assert_eq!(send(process, Signal::KILL), Sent::Gone);
    }
}
