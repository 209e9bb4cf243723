//! The publisher and what it shares with the subscribers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::ws::Utf8Bytes;
use holdfast_core::ids::ChatId;
use holdfast_core::limits::DELTA_BYTES_MAX;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::Store;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::events::batch;
use crate::events::ring::{Found, Ring};
use crate::events::snapshot::Snapshots;
use crate::limits::{DELTAS_MAX, EVENT_STREAMS_MAX, STORE_RETRY};
use crate::port::Delta;
use crate::wire::{change as wire, words};

/// What is published, for whoever subscribes. Cheap to clone.
#[derive(Clone)]
pub struct Hub(Arc<Shared>);

struct Shared {
    store: Arc<dyn Store>,
    ring: Mutex<Ring>,
    /// The number of the last change that was looked at.
    published: watch::Sender<u64>,
    deltas: broadcast::Sender<Arc<LiveText>>,
    snapshots: Snapshots,
    streams: Arc<Semaphore>,
    /// Streams that were cut since their client was too slow.
    cut: watch::Sender<u64>,
    /// Gaps that clients were told of.
    gaps: AtomicU64,
}

/// A piece of live text, serialised.
#[derive(Debug)]
pub(crate) struct LiveText {
    /// The chat whose listeners are told.
    pub(crate) chat: ChatId,
    /// The frame.
    pub(crate) frame: Utf8Bytes,
}

impl Hub {
    /// Starts the publisher, which ends with `stopping`.
    pub(crate) fn start(
        store: Arc<dyn Store>,
        deltas: broadcast::Receiver<Arc<Delta>>,
        stopping: CancellationToken,
    ) -> Self {
        let newest = *store.subscribe().borrow();
        let hub = Self(Arc::new(Shared {
            ring: Mutex::default(),
            published: watch::Sender::new(newest),
            deltas: broadcast::Sender::new(DELTAS_MAX),
            snapshots: Snapshots::default(),
            streams: Arc::new(Semaphore::new(EVENT_STREAMS_MAX)),
            cut: watch::Sender::new(0),
            gaps: AtomicU64::new(0),
            store,
        }));
        let (changes, texts) = (hub.clone(), hub.clone());
        tokio::spawn(stopping.clone().run_until_cancelled_owned(async move {
            changes.publish().await;
        }));
        tokio::spawn(stopping.run_until_cancelled_owned(async move { texts.relay(deltas).await }));
        hub
    }

    /// The store that the stream tells of.
    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    /// The snapshots that are shared.
    pub(crate) fn snapshots(&self) -> &Snapshots {
        &self.0.snapshots
    }

    /// A place for one more event stream, free again when it is dropped.
    ///
    /// # Errors
    /// `overloaded` where [`EVENT_STREAMS_MAX`] are open.
    pub(crate) fn seat(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        Arc::clone(&self.0.streams).try_acquire_owned().map_err(|_| {
            let text = format!(
                "{EVENT_STREAMS_MAX} event streams are open, the most that this host serves. Close \
                 some, or try again later."
            );
            Refusal::new(Code::Overloaded, text).limit(EVENT_STREAMS_MAX)
        })
    }

    /// How many streams were cut since their client was too slow, whenever that changes.
    #[must_use]
    pub fn cut(&self) -> watch::Receiver<u64> {
        self.0.cut.subscribe()
    }

    /// Event streams that are open.
    pub(crate) fn open_streams(&self) -> usize {
        EVENT_STREAMS_MAX.saturating_sub(self.0.streams.available_permits())
    }

    /// Gaps that clients were told of.
    pub(crate) fn gaps(&self) -> u64 {
        self.0.gaps.load(Ordering::Relaxed)
    }

    /// Counts a gap that a client is told of.
    pub(crate) fn count_gap(&self) {
        self.0.gaps.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a stream that is cut.
    pub(crate) fn count_cut(&self) {
        self.0.cut.send_modify(|cut| *cut += 1);
    }

    /// When something more was published.
    pub(crate) fn published(&self) -> watch::Receiver<u64> {
        self.0.published.subscribe()
    }

    /// Live text from now on.
    pub(crate) fn deltas(&self) -> broadcast::Receiver<Arc<LiveText>> {
        self.0.deltas.subscribe()
    }

    /// What the ring has after this number.
    pub(crate) fn after(&self, position: u64) -> Found {
        let ring = self.0.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.after(position, *self.0.published.borrow())
    }

    async fn publish(&self) {
        let shared = &self.0;
        let mut newest = shared.store.subscribe();
        let mut position = *shared.published.borrow();
        loop {
            let end = *newest.borrow_and_update();
            if end > position {
                match self.advance(position, end).await {
                    Ok(upto) => position = upto,
                    Err(fault) => {
                        tracing::warn!(%fault, "changes could not be published; trying again");
                        tokio::time::sleep(STORE_RETRY).await;
                    }
                }
            } else if newest.changed().await.is_err() {
                return;
            }
        }
    }

    /// Publishes what follows `position`, and says up to where.
    async fn advance(&self, position: u64, end: u64) -> Result<u64, batch::ReadError> {
        let shared = &self.0;
        if shared.published.receiver_count() == 0 {
            // Nobody listens. Who comes later begins in the store.
            shared.ring.lock().unwrap_or_else(PoisonError::into_inner).clear();
            shared.published.send_replace(end);
            return Ok(end);
        }
        let frames = batch::read(&*shared.store, position).await?;
        let upto = frames.last().map_or(end, |frame| frame.upto);
        {
            let mut ring = shared.ring.lock().unwrap_or_else(PoisonError::into_inner);
            for frame in frames {
                ring.push(frame);
            }
            shared.published.send_replace(upto);
        }
        Ok(upto)
    }

    async fn relay(&self, mut deltas: broadcast::Receiver<Arc<Delta>>) {
        loop {
            match deltas.recv().await {
                Ok(delta) => self.say(&delta),
                Err(RecvError::Lagged(missed)) => {
                    tracing::debug!(missed, "live text was missed; items heal it");
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn say(&self, delta: &Delta) {
        if self.0.deltas.receiver_count() == 0 || delta.text.len() > DELTA_BYTES_MAX {
            return;
        }
        let frame = wire::Frame::Delta {
            chat: delta.chat,
            item: delta.item,
            field: words::field(delta.field),
            at: delta.at,
            text: &delta.text,
        };
        if let Ok(frame) = serde_json::to_string(&frame) {
            let text = LiveText { chat: delta.chat, frame: frame.into() };
            // An error says that nobody listens any more.
            let _ = self.0.deltas.send(Arc::new(text));
        }
    }
}
