//! The event stream as a WebSocket. It only tells; what a client sends is read and passed over.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use crate::events::Subscriber;
use crate::events::subscriber::{Lost, Told};
use crate::limits::{
    CLOSE_GRACE, HEARTBEAT, HEARTBEATS_MISSED_MAX, WRITE_BYTES_PER_SECOND, WRITE_PATIENCE,
};

/// The client did not read, or is behind what is kept; it comes back with its cursor.
const TOO_SLOW: u16 = 4408;
/// The host stops.
const GOING_AWAY: u16 = 1001;
/// The host cannot tell more.
const FAILED: u16 = 1011;

/// How a socket ends.
enum End {
    /// The client went.
    Gone,
    /// We close it.
    Close(u16, &'static str),
}

/// Serves one client until it goes, is too slow, or the host stops.
pub(crate) async fn listen(
    mut socket: WebSocket,
    mut subscriber: Subscriber,
    stopping: CancellationToken,
    seat: OwnedSemaphorePermit,
) {
    let end = serve(&mut socket, &mut subscriber, &stopping).await;
    if let End::Close(TOO_SLOW, why) = end {
        tracing::info!(why, "an event socket is cut");
        subscriber.hub().count_cut();
    }
    // What the subscriber holds is not needed to say goodbye.
    drop(subscriber);
    if let End::Close(code, reason) = end {
        close(&mut socket, code, reason).await;
    }
    drop(seat);
}

async fn serve(
    socket: &mut WebSocket,
    subscriber: &mut Subscriber,
    stopping: &CancellationToken,
) -> End {
    let mut heartbeat = heartbeat();
    let mut unanswered = 0;
    loop {
        let told = tokio::select! {
            biased;
            () = stopping.cancelled() => return End::Close(GOING_AWAY, "the host stops"),
            heard = socket.recv() => match heard {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return End::Gone,
                Some(Ok(Message::Text(_) | Message::Binary(_) | Message::Ping(_) | Message::Pong(_))) => {
                    unanswered = 0;
                    continue;
                }
            },
            _ = heartbeat.tick() => {
                if unanswered >= HEARTBEATS_MISSED_MAX {
                    return End::Close(TOO_SLOW, "no answer to heartbeats");
                }
                unanswered += 1;
                if let Err(end) = send(socket, Message::Ping(bytes::Bytes::new())).await {
                    return end;
                }
                match subscriber.mark() {
                    Some(told) => Ok(told),
                    None => continue,
                }
            },
            told = subscriber.next() => told,
        };
        let sent = match told {
            Ok(Told { frame, .. }) => send(socket, Message::Text(frame)).await,
            Err(Lost::Behind) => Err(End::Close(TOO_SLOW, "too far behind")),
            Err(Lost::Unreadable(fault)) => {
                tracing::warn!(%fault, "an event stream ends");
                Err(End::Close(FAILED, "the store cannot be read"))
            }
        };
        if let Err(end) = sent {
            return end;
        }
    }
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), End> {
    let bytes = match &message {
        Message::Text(text) => text.len(),
        Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Close(_) => 0,
    };
    match timeout(patience(bytes), socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(End::Gone),
        Err(_) => Err(End::Close(TOO_SLOW, "too slow")),
    }
}

/// Says why, and gives the client time to read it.
async fn close(socket: &mut WebSocket, code: u16, reason: &'static str) {
    let reason = Utf8Bytes::from_static(reason);
    let goodbye = async {
        if socket.send(Message::Close(Some(CloseFrame { code, reason }))).await.is_ok() {
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    // Where the client does not even read this, it is cut.
    let _ = timeout(CLOSE_GRACE, goodbye).await;
}

/// Time in which so many bytes have to be written.
pub(crate) fn patience(bytes: usize) -> Duration {
    let seconds = u64::try_from(bytes / WRITE_BYTES_PER_SECOND).unwrap_or(u64::MAX);
    WRITE_PATIENCE.saturating_add(Duration::from_secs(seconds))
}

/// Ticks at which a stream shows that it lives.
#[allow(clippy::disallowed_methods, reason = "the one place that starts heartbeats")]
pub(crate) fn heartbeat() -> tokio::time::Interval {
    let mut ticks = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
