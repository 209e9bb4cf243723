use crate::registry::{AttemptDir, SOCKET_FILE};
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use tokio::net::UnixStream;

/// Bytes that a socket's path may have, its final NUL not counted.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Connects to the keeper's socket. A path that is too long for a socket goes through a descriptor of
/// its folder.
pub(super) async fn dial(dir: &AttemptDir) -> io::Result<UnixStream> {
    let path = dir.path().join(SOCKET_FILE);
    if path.as_os_str().as_bytes().len() <= SOCKET_PATH_BYTES_MAX {
        return UnixStream::connect(path).await;
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(dir.path(), flags, Mode::empty())?;
    let short = format!("/proc/self/fd/{}/{SOCKET_FILE}", folder.as_raw_fd());
    UnixStream::connect(short).await
}
