//! A body that goes into a file as it comes, never whole in memory.

use std::io;

use axum::body::Body;
use futures_util::StreamExt;
use holdfast_core::attachment::size;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::blobs::{Incoming, refusal};
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::extract::body::drain;
use crate::limits::{UPLOAD_PIECE_BYTES, UPLOAD_PIECE_PATIENCE};

/// A body that is whole in its file.
#[derive(Debug)]
pub(crate) struct Received {
    /// The file.
    pub(crate) incoming: Incoming,
    /// How many bytes it has.
    pub(crate) bytes: u64,
    /// Their SHA-256.
    pub(crate) sha256: [u8; 32],
}

/// Reads a body into a file. Where that fails nothing is left of it.
///
/// # Errors
/// `empty_field`, `body_too_large`, `body_incomplete`, or what the disk did not take.
pub(crate) async fn receive(body: Body, incoming: Incoming) -> Result<Received, Refusal> {
    let mut stream = body.into_data_stream();
    match pieces(&mut stream, incoming).await {
        Ok(received) => Ok(received),
        Err(refusal) => {
            drain(Body::from_stream(stream)).await;
            Err(refusal)
        }
    }
}

async fn pieces(
    stream: &mut axum::body::BodyDataStream,
    mut incoming: Incoming,
) -> Result<Received, Refusal> {
    let mut hash = Sha256::new();
    let mut bytes: u64 = 0;
    let mut waiting = Vec::new();
    loop {
        let piece =
            timeout(UPLOAD_PIECE_PATIENCE, stream.next()).await.map_err(|_| incomplete())?;
        let over = piece.is_none();
        if let Some(piece) = piece {
            let piece = piece.map_err(|_| incomplete())?;
            bytes = bytes.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
            if bytes > 0 {
                size(bytes)?;
            }
            hash.update(&piece);
            waiting.extend_from_slice(&piece);
        }
        if waiting.len() >= UPLOAD_PIECE_BYTES || over {
            let written = spawn_blocking(move || {
                let written = incoming.write(&waiting);
                waiting.clear();
                written.map(|()| (incoming, waiting))
            });
            let written = written.await.map_err(io::Error::other).flatten();
            (incoming, waiting) = written.map_err(|error| refusal(&error))?;
        }
        if over {
            size(bytes)?;
            return Ok(Received { incoming, bytes, sha256: hash.finalize().into() });
        }
    }
}

fn incomplete() -> Refusal {
    let text = "The body ended, or came to a stop, before it was whole. Nothing was stored.";
    Refusal::new(Code::BodyIncomplete, text)
}
