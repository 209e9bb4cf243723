//! What one client is told, frame by frame, whatever carries it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use holdfast_core::ids::ChatId;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use crate::events::Cursor;
use crate::events::batch::{self, Frame, ReadError};
use crate::events::hub::{Hub, LiveText};
use crate::events::ring::Found;
use crate::wire::change::Frame as Wire;
use crate::wire::words::Verdict;

/// Which chats a client listens to; rows, counts, offers and failures come of all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter(BTreeSet<ChatId>);

impl Filter {
    /// These chats; none of them means all.
    pub(crate) fn of(chats: impl IntoIterator<Item = ChatId>) -> Self {
        Self(chats.into_iter().collect())
    }

    /// Whether what happens within this chat is told.
    pub(crate) fn passes(&self, chat: ChatId) -> bool {
        self.0.is_empty() || self.0.contains(&chat)
    }

    /// The chats that are named.
    pub(crate) fn named(&self) -> impl Iterator<Item = ChatId> {
        self.0.iter().copied()
    }
}

/// One frame to a client.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// The frame, as JSON.
    pub(crate) frame: Utf8Bytes,
    /// The cursor that it carries, if it carries one that a client may come back with.
    pub(crate) cursor: Option<Cursor>,
}

/// Why a client cannot be told more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Lost {
    /// What it has not seen is pruned: it has to come back, and will find a gap.
    #[error("the client is behind what is kept")]
    Behind,
    /// The store cannot be read now.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
}

/// A client of the event stream.
pub(crate) struct Subscriber {
    hub: Hub,
    filter: Filter,
    /// The last change that the client knows of, or does not have to.
    position: u64,
    /// The last change that a cursor told the client.
    cursor: u64,
    published: watch::Receiver<u64>,
    deltas: broadcast::Receiver<Arc<LiveText>>,
    waiting: VecDeque<Told>,
    own: VecDeque<Arc<Frame>>,
}

impl Subscriber {
    /// A client that comes with this text as its cursor, or with none. A text that is no cursor of
    /// this store, or one whose followers are not all kept, has a gap.
    ///
    /// # Errors
    /// [`Lost::Unreadable`].
    pub(crate) async fn new(hub: Hub, filter: Filter, after: Option<&str>) -> Result<Self, Lost> {
        // Listening begins before anything is read, so that nothing falls between.
        let published = hub.published();
        let deltas = hub.deltas();
        let store = Arc::clone(hub.store());
        let bounds = store.change_bounds().await.map_err(ReadError::from)?;
        let whole = after
            .and_then(|text| text.parse::<Cursor>().ok())
            .filter(|cursor| cursor.is_whole(store.incarnation(), bounds));
        let (position, snapshot) = match whole {
            Some(cursor) => (cursor.change, None),
            None => {
                let snapshot = hub.snapshots().take(&*store, &filter).await?;
                (snapshot.at, Some(snapshot.frame))
            }
        };
        let verdict = if whole.is_some() || after.is_none() { Verdict::Ok } else { Verdict::Gap };
        if let Verdict::Gap = verdict {
            hub.count_gap();
        }
        let mut subscriber = Self {
            hub,
            filter,
            position,
            cursor: position,
            published,
            deltas,
            waiting: VecDeque::new(),
            own: VecDeque::new(),
        };
        let cursor = subscriber.at(position);
        let hello = Wire::Hello {
            generation: store.generation(),
            incarnation: &store.incarnation().simple().to_string(),
            cursor: &cursor.to_string(),
            verdict,
        };
        let hello = serde_json::to_string(&hello).map_err(ReadError::from)?;
        // Who has yet to read the snapshot must not come back as if it had.
        let known = if snapshot.is_some() { None } else { Some(cursor) };
        subscriber.waiting.push_back(Told { frame: hello.into(), cursor: known });
        if let Some(frame) = snapshot {
            subscriber.waiting.push_back(Told { frame, cursor: Some(cursor) });
        }
        Ok(subscriber)
    }

    /// What it is told from.
    pub(crate) const fn hub(&self) -> &Hub {
        &self.hub
    }

    fn at(&self, change: u64) -> Cursor {
        Cursor { incarnation: self.hub.store().incarnation(), change }
    }

    /// The next frame. It may be dropped while it waits; nothing is lost by that.
    ///
    /// # Errors
    /// [`Lost`]: the client has to come back.
    pub(crate) async fn next(&mut self) -> Result<Told, Lost> {
        loop {
            if let Some(told) = self.waiting.pop_front() {
                return Ok(told);
            }
            if let Some(frame) = self.own.pop_front() {
                self.take(&frame);
                continue;
            }
            self.published.borrow_and_update();
            match self.hub.after(self.position) {
                Found::Frame(frame) => self.take(&frame),
                Found::Behind => self.catch_up().await?,
                Found::Nothing => self.wait().await,
            }
        }
    }

    /// A frame that moves the client's cursor on, where what was published was for others.
    pub(crate) fn mark(&mut self) -> Option<Told> {
        if self.position == self.cursor || !self.waiting.is_empty() {
            return None;
        }
        let cursor = self.at(self.position);
        self.cursor = self.position;
        let frame = batch::empty(cursor.incarnation, cursor.change)?;
        Some(Told { frame, cursor: Some(cursor) })
    }

    fn take(&mut self, frame: &Frame) {
        self.position = self.position.max(frame.upto);
        if let Some(text) = frame.told(&self.filter) {
            self.cursor = frame.upto;
            let cursor = self.at(frame.upto);
            self.waiting.push_back(Told { frame: text, cursor: Some(cursor) });
        }
    }

    /// Reads what the ring no longer has.
    async fn catch_up(&mut self) -> Result<(), Lost> {
        let store = Arc::clone(self.hub.store());
        let frames = batch::read(&*store, self.position).await?;
        // Looked at after the reading: what was pruned meanwhile may be missing from it.
        let bounds = store.change_bounds().await.map_err(ReadError::from)?;
        if self.position < bounds.complete_after {
            return Err(Lost::Behind);
        }
        if frames.is_empty() {
            // The feed skips numbers; there is nothing up to its end.
            self.position = self.position.max(*self.published.borrow());
        }
        self.own.extend(frames);
        Ok(())
    }

    /// Waits for something published or said.
    async fn wait(&mut self) {
        tokio::select! {
            biased;
            changed = self.published.changed() => {
                if changed.is_err() {
                    std::future::pending::<()>().await;
                }
            }
            text = self.deltas.recv() => match text {
                Ok(text) if self.filter.passes(text.chat) => {
                    self.waiting.push_back(Told { frame: text.frame.clone(), cursor: None });
                }
                // Live text that was missed is healed by the item's next state.
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending::<()>().await,
            },
        }
    }
}
