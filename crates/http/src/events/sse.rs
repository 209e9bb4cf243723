//! The event stream as server-sent events. Each frame has its cursor as `id`, so that a browser
//! comes back with it by itself.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::events::Subscriber;
use crate::events::socket::{heartbeat, patience};
use crate::events::subscriber::Told;

/// Pieces that wait for the connection; the parts of one event.
const PIECES_WAITING: usize = 3;

/// The answer that tells this client until it goes, is too slow, or the host stops.
pub(crate) fn listen(
    subscriber: Subscriber,
    stopping: CancellationToken,
    seat: OwnedSemaphorePermit,
) -> Response {
    let (pieces, body) = mpsc::channel(PIECES_WAITING);
    tokio::spawn(async move {
        let hub = subscriber.hub().clone();
        let ended = stopping.run_until_cancelled(tell(subscriber, pieces)).await;
        if let Some(Err(Ended::TooSlow)) = ended {
            tracing::info!("an event stream is cut: its client does not read");
            hub.count_cut();
        }
        drop(seat);
    });
    let body = stream::unfold(body, |mut body| async move {
        body.recv().await.map(|piece: Bytes| (Ok::<_, Infallible>(piece), body))
    });
    let kind = HeaderValue::from_static("text/event-stream");
    let mut response = Body::from_stream(body).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Why nothing more is told.
enum Ended {
    /// The client went.
    Gone,
    /// It does not read.
    TooSlow,
    /// It is behind what is kept, or the store cannot be read.
    Lost,
}

async fn tell(mut subscriber: Subscriber, pieces: mpsc::Sender<Bytes>) -> Result<(), Ended> {
    let mut heartbeat = heartbeat();
    loop {
        let told = tokio::select! {
            biased;
            () = pieces.closed() => return Err(Ended::Gone),
            _ = heartbeat.tick() => match subscriber.mark() {
                Some(told) => told,
                None => {
                    put(&pieces, Bytes::from_static(b":\n\n"), 0).await?;
                    continue;
                }
            },
            told = subscriber.next() => told.map_err(|fault| {
                tracing::info!(%fault, "an event stream ends");
                Ended::Lost
            })?,
        };
        let Told { frame, cursor } = told;
        let before = cursor.map_or_else(
            || Bytes::from_static(b"data: "),
            |cursor| format!("id: {cursor}\ndata: ").into(),
        );
        let bytes = frame.len();
        put(&pieces, before, bytes).await?;
        put(&pieces, frame.into(), bytes).await?;
        put(&pieces, Bytes::from_static(b"\n\n"), bytes).await?;
    }
}

/// Gives a piece to the connection, in the time that an event of so many bytes may take.
async fn put(pieces: &mpsc::Sender<Bytes>, piece: Bytes, bytes: usize) -> Result<(), Ended> {
    match timeout(patience(bytes), pieces.send(piece)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(Ended::Gone),
        Err(_) => Err(Ended::TooSlow),
    }
}
