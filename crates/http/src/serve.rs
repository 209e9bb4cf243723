//! The listener: where connections come in, within a bound, and how serving ends.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::app::App;
use crate::limits::{
    CONNECTIONS_MAX, FIRST_WORD_PATIENCE, LISTEN_BACKLOG, SEND_BUFFER_BYTES, SHUTDOWN_GRACE,
};
use crate::routes::router;

/// Listens on an address; port 0 picks one.
///
/// The send buffer is small, so that a client that does not read is noticed early and the system
/// holds little for it.
///
/// # Errors
/// Those of the system: the port is taken, the address is not ours.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    socket.listen(LISTEN_BACKLOG)
}

/// Listens on a socket that listens already.
///
/// # Errors
/// Those of the system.
pub fn adopt(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    let bytes = usize::try_from(SEND_BUFFER_BYTES).unwrap_or(usize::MAX);
    rustix::net::sockopt::set_socket_send_buffer_size(&listener, bytes)?;
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// Serves until the app stops: then event streams are closed, open requests may end within
/// [`SHUTDOWN_GRACE`], and what is left is cut.
///
/// # Errors
/// Those of the system.
pub async fn serve(listener: TcpListener, app: App) -> io::Result<()> {
    let stopping = app.stopping.clone();
    let streams = app.streams.clone();
    let bounded = Bounded::new(listener, CONNECTIONS_MAX, stopping.clone());
    let (stop, silent) = (stopping.clone(), bounded.silent.clone());
    let serving = axum::serve(bounded, router(app))
        .with_graceful_shutdown(async move {
            stop.cancelled().await;
            // Whoever connected a moment ago is about to ask, and would be cut.
            silent.close();
            let _ = timeout(FIRST_WORD_PATIENCE, silent.wait()).await;
        })
        .into_future();
    let late = async {
        stopping.cancelled().await;
        tokio::time::sleep(SHUTDOWN_GRACE).await;
    };
    let served = tokio::select! {
        served = serving => served,
        () = late => Ok(()),
    };
    streams.close();
    // A client that does not take the goodbye does without.
    let _ = timeout(SHUTDOWN_GRACE, streams.wait()).await;
    served
}

/// A listener that has only so many connections open, and takes none once the app stops.
struct Bounded {
    listener: TcpListener,
    free: Arc<Semaphore>,
    stopping: CancellationToken,
    /// The connections that have not said anything yet.
    silent: TaskTracker,
}

impl Bounded {
    fn new(listener: TcpListener, most: usize, stopping: CancellationToken) -> Self {
        let free = Arc::new(Semaphore::new(most));
        Self { listener, free, stopping, silent: TaskTracker::new() }
    }
}

impl Listener for Bounded {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let permit = Arc::clone(&self.free).acquire_owned().await.ok();
        let (stream, address) = tokio::select! {
            biased;
            // Who comes now waits in the socket, which may be the next host's.
            () = self.stopping.cancelled() => std::future::pending().await,
            accepted = Listener::accept(&mut self.listener) => accepted,
        };
        // Frames are small and wanted at once. Where the system refuses, they are late.
        let _ = stream.set_nodelay(true);
        (Connection { stream, silent: Some(self.silent.token()), _permit: permit }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection, counted.
struct Connection {
    stream: TcpStream,
    silent: Option<TaskTrackerToken>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if read.is_ready() {
            self.silent = None;
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, buffers)
    }
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn a_connection_beyond_the_bound_waits_until_another_ends() {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let mut bounded = Bounded::new(listener, 1, CancellationToken::new());
        let _one = TcpStream::connect(address).await.unwrap();
        let _two = TcpStream::connect(address).await.unwrap();
        let (first, _) = bounded.accept().await;
        assert!(bounded.accept().now_or_never().is_none());
        drop(first);
        bounded.accept().await;
    }

    #[tokio::test]
    async fn who_connects_while_it_stops_waits_for_the_next_host() {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let stopping = CancellationToken::new();
        let mut bounded = Bounded::new(listener, 9, stopping.clone());
        stopping.cancel();
        let _one = TcpStream::connect(address).await.unwrap();
        assert!(bounded.accept().now_or_never().is_none());
        let (_taken, _) = bounded.listener.accept().await.unwrap();
    }
}
