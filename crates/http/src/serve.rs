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

use crate::app::App;
use crate::limits::{CONNECTIONS_MAX, LISTEN_BACKLOG, SEND_BUFFER_BYTES, SHUTDOWN_GRACE};
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

/// Serves until the app stops: then event streams are closed, open requests may end within
/// [`SHUTDOWN_GRACE`], and what is left is cut.
///
/// # Errors
/// Those of the system.
pub async fn serve(listener: TcpListener, app: App) -> io::Result<()> {
    let stopping = app.stopping.clone();
    let streams = app.streams.clone();
    let bounded = Bounded { listener, free: Arc::new(Semaphore::new(CONNECTIONS_MAX)) };
    let stop = stopping.clone();
    let serving = axum::serve(bounded, router(app))
        .with_graceful_shutdown(async move { stop.cancelled().await })
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

/// A listener that has only so many connections open.
struct Bounded {
    listener: TcpListener,
    free: Arc<Semaphore>,
}

impl Listener for Bounded {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let permit = Arc::clone(&self.free).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Frames are small and wanted at once. Where the system refuses, they are late.
        let _ = stream.set_nodelay(true);
        (Connection { stream, _permit: permit }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection, counted.
struct Connection {
    stream: TcpStream,
    _permit: Option<OwnedSemaphorePermit>,
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
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
        let mut bounded = Bounded { listener, free: Arc::new(Semaphore::new(1)) };
        let _one = TcpStream::connect(address).await.unwrap();
        let _two = TcpStream::connect(address).await.unwrap();
        let (first, _) = bounded.accept().await;
        assert!(bounded.accept().now_or_never().is_none());
        drop(first);
        bounded.accept().await;
    }
}
