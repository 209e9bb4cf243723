use crate::protocol::{Refusal, Reply};
use crate::registry::SOCKET_FILE;
use rustix::fs::{CWD, Mode};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 8;

/// The attempt's socket. Its path is relative to the working directory, so that no data directory is too
/// deep for it.
#[derive(Debug)]
pub(super) struct Socket {
    listener: OwnedFd,
    /// Device and inode of the socket's file.
    file: (u64, u64),
}

impl Socket {
    pub(super) fn bind() -> io::Result<Self> {
        remove();
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let kind = SocketType::STREAM;
        let listener = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None)?;
        rustix::net::bind(&listener, &SocketAddrUnix::new(SOCKET_FILE)?)?;
        rustix::fs::chmodat(
            CWD,
            SOCKET_FILE,
            Mode::RUSR | Mode::WUSR,
            rustix::fs::AtFlags::empty(),
        )?;
        rustix::net::listen(&listener, BACKLOG)?;
        let file = identity().ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { listener, file })
    }

    /// Makes the socket again if its file has vanished or is another. If that fails it is tried again at
    /// the next check.
    pub(super) fn check(&mut self) {
        if identity() != Some(self.file)
            && let Ok(anew) = Self::bind()
        {
            *self = anew;
        }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// The next peer of this process's own uid, or `None`. Others are told and closed.
    pub(super) fn accept(&self) -> Option<OwnedFd> {
        loop {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let peer = match rustix::net::accept_with(&self.listener, flags) {
                Ok(peer) => peer,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(_) => return None,
            };
            let own = rustix::process::geteuid();
            if rustix::net::sockopt::socket_peercred(&peer).is_ok_and(|peer| peer.uid == own) {
                return Some(peer);
            }
            let mut refusal = Vec::new();
            Reply::Refused(Refusal::Denied).encode(0, &mut refusal);
            let _ = rustix::io::write(&peer, &refusal);
        }
    }
}

fn identity() -> Option<(u64, u64)> {
    let stat = rustix::fs::lstat(SOCKET_FILE).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

/// Removes the socket's file, whosever it is.
pub(super) fn remove() {
    let _ = rustix::fs::unlink(SOCKET_FILE);
}
