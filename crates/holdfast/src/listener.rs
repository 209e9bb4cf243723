//! The socket that a host listens on: its own, that of the host which it replaces, or one that a
//! service manager holds (`LISTEN_FDS`). While a host is replaced nobody is refused: the socket
//! stays, and whoever connects waits in it for the new host.

use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::process::Command;

use anyhow::{Context, anyhow, bail};
use listenfd::ListenFd;
use rustix::io::{FdFlags, fcntl_setfd};

use crate::environment;

/// A socket that was there before this host.
pub(crate) struct Given {
    listener: std::net::TcpListener,
    /// The service manager's: it stays where its unit says, whatever the configuration says.
    fixed: bool,
}

/// What stays of a listening socket when its host ends, for the next one.
pub(crate) struct Left {
    listener: std::net::TcpListener,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    fixed: bool,
}

impl Given {
    /// The socket that this process was given, if it was; `replaces`: by the host before it. Called
    /// before there is a second thread: it takes the variables that say so out of the environment.
    ///
    /// # Errors
    /// Several sockets, or one that is none of TCP.
    pub(crate) fn find(replaces: bool) -> anyhow::Result<Option<Self>> {
        let mine = environment::var("LISTEN_PID");
        if mine.as_deref() != Some(OsStr::new(&std::process::id().to_string())) {
            return Ok(None);
        }
        let mut given = ListenFd::from_env();
        if given.len() > 1 {
            bail!("the service manager gave {} sockets: a host listens on one", given.len());
        }
        let listener = given.take_tcp_listener(0).context("the socket that was given")?;
        Ok(listener.map(|listener| Self { listener, fixed: !replaces }))
    }

    /// Whether a host that is to listen at `wanted` listens there with this socket.
    fn fits(&self, wanted: SocketAddr) -> bool {
        self.listener.local_addr().is_ok_and(|address| {
            self.fixed || wanted == address || (wanted.port() == 0 && wanted.ip() == address.ip())
        })
    }
}

/// Listens on the socket that was given, where it fits, or on one of our own.
///
/// # Errors
/// Those of the system.
pub(crate) fn listen(
    given: Option<Given>,
    wanted: SocketAddr,
) -> anyhow::Result<(tokio::net::TcpListener, Left)> {
    let (listener, fixed) = match given.filter(|given| given.fits(wanted)) {
        Some(given) => (holdfast_http::adopt(given.listener)?, given.fixed),
        None => {
            let own = holdfast_http::listen(wanted).map_err(|error| taken(wanted, error))?;
            (own, false)
        }
    };
    let address = listener.local_addr().context("cannot tell the port")?;
    if fixed && wanted != address {
        tracing::warn!("listening at {address}, the service manager's socket, not at {wanted}");
    }
    let again = rustix::io::fcntl_dupfd_cloexec(&listener, 3).context("the socket")?;
    Ok((listener, Left { listener: again.into(), address, fixed }))
}

/// What a person does about a port that another program has.
fn taken(wanted: SocketAddr, error: io::Error) -> anyhow::Error {
    let taken = error.kind() == io::ErrorKind::AddrInUse;
    let error = anyhow::Error::new(error).context(format!("cannot listen on {wanted}"));
    if !taken {
        return error;
    }
    let free = SocketAddr::new(wanted.ip(), 0);
    anyhow!("{error:#}: another program has this port; --listen {free} picks a free one")
}

impl Left {
    /// Gives the socket to the host that this process becomes by `command`.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn give(&self, command: &mut Command) -> io::Result<()> {
        use std::os::fd::AsRawFd;

        fcntl_setfd(&self.listener, FdFlags::empty())?;
        command.env("LISTEN_PID", std::process::id().to_string());
        command.env("LISTEN_FDS", "1");
        command.env("LISTEN_FDS_FIRST_FD", self.listener.as_raw_fd().to_string());
        if !self.fixed {
            command.arg("--keep-port").arg(self.address.port().to_string());
        }
        Ok(())
    }
}
