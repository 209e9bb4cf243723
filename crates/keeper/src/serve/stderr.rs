use crate::limits::STDERR_TAIL_BYTES_MAX;
use crate::registry::{STDERR_FILE, STDERR_OLD_FILE};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::Write;

/// The last of the agent's stderr: two files, of which the older is dropped when the newer is full. At
/// least the bound and at most twice the bound is kept.
#[derive(Debug, Default)]
pub(super) struct StderrTail {
    file: Option<File>,
    in_file: u64,
    total: u64,
}

impl StderrTail {
    /// Bytes that came in all.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Keeps `bytes`. What a full disk cannot take is only counted: an agent is never made to wait for its
    /// stderr.
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.in_file >= STDERR_TAIL_BYTES_MAX {
            self.file = None;
            let _ = std::fs::rename(STDERR_FILE, STDERR_OLD_FILE);
        }
        if self.file.is_none() {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
            self.file =
                rustix::fs::open(STDERR_FILE, flags, Mode::RUSR | Mode::WUSR).ok().map(File::from);
            self.in_file = 0;
        }
        if let Some(file) = &mut self.file
            && file.write_all(bytes).is_ok()
        {
            self.in_file += bytes.len() as u64;
        }
    }
}
