use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Signals, as something that a poll wakes up for. Handled, not blocked, so that an agent inherits nothing.
#[derive(Debug)]
pub(super) struct Signals {
    wake: UnixStream,
    /// The last signal that asks to end; 0 for none.
    end: Arc<AtomicUsize>,
}

impl Signals {
    pub(super) fn install() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let end = Arc::new(AtomicUsize::new(0));
        // A host is told by HUP to make place for a new one; keepers stay, also where all are told.
        signal_hook::flag::register(SIGHUP, Arc::new(AtomicBool::new(false)))?;
        for signal in [SIGTERM, SIGINT] {
            let number = usize::try_from(signal).map_err(io::Error::other)?;
            // The number first, so that it is there when the poll wakes up.
            signal_hook::flag::register_usize(signal, Arc::clone(&end), number)?;
            signal_hook::low_level::pipe::register(signal, waker.try_clone()?)?;
        }
        signal_hook::low_level::pipe::register(SIGCHLD, waker)?;
        Ok(Self { wake, end })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Takes what has come, and says which signal asked to end, if one did.
    pub(super) fn take(&mut self) -> Option<i32> {
        let mut buffer = [0; 64];
        while matches!(self.wake.read(&mut buffer), Ok(read) if read > 0) {}
        match self.end.swap(0, Ordering::SeqCst) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }
}
