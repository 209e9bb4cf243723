//! Changes of the feed, resolved to the current state of what they name and packed into frames.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use holdfast_core::head::Life;
use holdfast_core::ids::ChatId;
use holdfast_store::{Change, QueryError, QueueBounds, Store, What};
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::events::{Cursor, Filter};
use crate::limits::{
    BATCH_CHANGES_MAX, FRAME_BYTES_MAX, QUEUE_TOLD_BYTES_MAX, QUEUE_TOLD_HEAD_BYTES,
    QUEUE_TOLD_MESSAGES_MAX, RESOLVES_AT_ONCE,
};
use crate::wire::change::{self as wire, Change as Told};
use crate::wire::host::Counts;
use crate::wire::item::Item;
use crate::wire::offer::{Failed, Offer};
use crate::wire::prompt::Prompt;
use crate::wire::queue::Queue;
use crate::wire::row::Row;
use crate::wire::task::Task;
use crate::wire::turn::Turn;

/// What is told of a queue when it changes: where it is longer, `next` says so, and who shows the
/// rest asks for it. A change thus costs the same however much waits.
const QUEUE_TOLD: QueueBounds = QueueBounds {
    messages: QUEUE_TOLD_MESSAGES_MAX,
    head_bytes: QUEUE_TOLD_HEAD_BYTES,
    bytes: QUEUE_TOLD_BYTES_MAX,
};

/// A part of the feed, ready to be sent.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The frame carries all that changed after this number…
    pub(crate) after: u64,
    /// …up to and with this one.
    pub(crate) upto: u64,
    incarnation: Uuid,
    pieces: Vec<Piece>,
    /// The frame for who listens to everything.
    whole: Utf8Bytes,
}

/// One change, serialised.
#[derive(Debug)]
struct Piece {
    n: u64,
    /// The chat whose listeners alone are told; none = everybody.
    only: Option<ChatId>,
    json: Box<RawValue>,
}

impl Frame {
    /// Its bytes, about.
    pub(crate) fn bytes(&self) -> usize {
        // The pieces and the whole hold the same text.
        self.whole.len().saturating_mul(2)
    }

    /// The frame as this listener gets it; none if nothing of it is for this listener.
    pub(crate) fn told(&self, filter: &Filter) -> Option<Utf8Bytes> {
        let passes = |piece: &&Piece| piece.only.is_none_or(|chat| filter.passes(chat));
        let told = self.pieces.iter().filter(passes);
        match told.clone().count() {
            0 => None,
            all if all == self.pieces.len() => Some(self.whole.clone()),
            _ => pack(self.incarnation, self.upto, told).ok(),
        }
    }
}

/// A frame without changes, which moves a listener's cursor on.
pub(crate) fn empty(incarnation: Uuid, upto: u64) -> Option<Utf8Bytes> {
    pack(incarnation, upto, std::iter::empty()).ok()
}

fn pack<'a>(
    incarnation: Uuid,
    upto: u64,
    pieces: impl Iterator<Item = &'a Piece>,
) -> serde_json::Result<Utf8Bytes> {
    let cursor = Cursor { incarnation, change: upto }.to_string();
    let changes = pieces.map(|piece| &*piece.json).collect();
    let frame = wire::Frame::Changes { cursor: &cursor, changes };
    serde_json::to_string(&frame).map(Utf8Bytes::from)
}

/// Why no frames could be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// The store did not answer.
    #[error("the change feed could not be read")]
    Query(#[from] QueryError),
    /// A state could not be serialised; a defect.
    #[error("a change could not be serialised")]
    Json(#[from] serde_json::Error),
}

/// Reads the feed after this number: at most [`BATCH_CHANGES_MAX`] changes, of which those of the
/// same thing become one, since each carries the state that the thing has now. Empty at the end.
pub(crate) async fn read(store: &dyn Store, after: u64) -> Result<Vec<Arc<Frame>>, ReadError> {
    let changes = store.changes(after, BATCH_CHANGES_MAX).await?;
    let Some(upto) = changes.last().map(|change| change.n) else { return Ok(Vec::new()) };
    let pieces: Vec<Piece> = stream::iter(last_of_each(changes))
        .map(|change| piece(store, change))
        .buffered(RESOLVES_AT_ONCE)
        .try_collect()
        .await?;
    frames(store.incarnation(), after, upto, pieces)
}

/// The last change of each thing, in order. What is left out of one frame is then always in a later
/// one, so that a cursor may stand between any two frames.
fn last_of_each(changes: Vec<Change>) -> Vec<Change> {
    let last: HashMap<_, _> =
        changes.iter().map(|change| ((change.chat, change.what), change.n)).collect();
    let is_last = |change: &Change| last.get(&(change.chat, change.what)) == Some(&change.n);
    changes.into_iter().filter(is_last).collect()
}

fn frames(
    incarnation: Uuid,
    after: u64,
    upto: u64,
    pieces: Vec<Piece>,
) -> Result<Vec<Arc<Frame>>, ReadError> {
    let mut frames = Vec::new();
    let mut from = after;
    let mut open: Vec<Piece> = Vec::new();
    let mut bytes = 0_usize;
    let mut pieces = pieces.into_iter().peekable();
    while let Some(piece) = pieces.next() {
        bytes = bytes.saturating_add(piece.json.get().len());
        let ends = match pieces.peek() {
            None => Some(upto),
            // Several things may change under one number; a cursor stands only between numbers.
            Some(next) => (bytes >= FRAME_BYTES_MAX && next.n > piece.n).then_some(piece.n),
        };
        open.push(piece);
        if let Some(end) = ends {
            let pieces = std::mem::take(&mut open);
            let whole = pack(incarnation, end, pieces.iter())?;
            frames.push(Arc::new(Frame { after: from, upto: end, incarnation, pieces, whole }));
            from = end;
            bytes = 0;
        }
    }
    Ok(frames)
}

/// The current state of what a change names.
async fn piece(store: &dyn Store, change: Change) -> Result<Piece, ReadError> {
    let Change { n, chat, what } = change;
    let Some(id) = chat else {
        return counts(store, n).await;
    };
    match what {
        What::Counts => counts(store, n).await,
        What::Removed => removed(n, id),
        What::Chat => match store.chat(id).await? {
            Some(row) if row.summary.life != Life::Deleted => {
                made(n, None, &Told::Chat { chat, value: Some(Row::of(row)) })
            }
            Some(_) | None => removed(n, id),
        },
        What::Item(item) => {
            let value = store.item(id, item).await?.map(|row| Item::of(id, row));
            made(n, chat, &Told::Item { chat, value })
        }
        What::Turn(turn) => {
            let value = store.turn(id, turn).await?.map(Turn::of);
            made(n, chat, &Told::Turn { chat, value })
        }
        What::Prompt(prompt) => {
            let value = store.prompt(id, prompt).await?.map(Prompt::of);
            made(n, chat, &Told::Prompt { chat, value })
        }
        What::Task(task) => {
            let value = store.task(id, task).await?.map(Task::of);
            made(n, chat, &Told::Task { chat, value })
        }
        What::Queue => {
            let held = store.chat(id).await?.and_then(|row| row.summary.held);
            let page = store.queue(id, None, QUEUE_TOLD).await?;
            let value = page.map(|page| Queue::of(id, page, held));
            made(n, chat, &Told::Queue { chat, value })
        }
        What::Offer => {
            let value = store.offer(id).await?.and_then(Offer::shown);
            made(n, None, &Told::Offer { chat, value })
        }
        What::Failure => {
            let value = store.failures().await?.into_iter().find(|row| row.chat == id);
            made(n, None, &Told::Failure { chat, value: value.map(Failed::of) })
        }
    }
}

async fn counts(store: &dyn Store, n: u64) -> Result<Piece, ReadError> {
    let value = Some(Counts::of(store.counts().await?));
    made(n, None, &Told::Counts { chat: None, value })
}

fn removed(n: u64, chat: ChatId) -> Result<Piece, ReadError> {
    made(n, None, &Told::Removed { chat: Some(chat), value: None })
}

fn made<T: Serialize>(n: u64, only: Option<ChatId>, change: &T) -> Result<Piece, ReadError> {
    Ok(Piece { n, only, json: serde_json::value::to_raw_value(change)? })
}

#[cfg(test)]
pub(crate) mod test {
    use super::*;

    /// A frame with one change of so many bytes.
    pub(crate) fn frame(after: u64, upto: u64, bytes: usize) -> Arc<Frame> {
        let pieces = vec![made(upto, None, &"x".repeat(bytes)).unwrap()];
        frames(Uuid::nil(), after, upto, pieces).unwrap().remove(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u128) -> ChatId {
        ChatId::new(Uuid::from_u128(n))
    }

    #[test]
    fn who_hears_everything_shares_one_text_and_others_hear_their_part() {
        let piece = |n, only| made(n, only, &n).unwrap();
        let pieces = vec![piece(1, Some(id(1))), piece(2, Some(id(2))), piece(3, None)];
        let frame = frames(Uuid::nil(), 0, 3, pieces).unwrap().remove(0);
        let all = Filter::default();
        let (one, two) = (frame.told(&all).unwrap(), frame.told(&all).unwrap());
        assert_eq!(one.as_str().as_ptr(), two.as_str().as_ptr());
        let values = |filter: Filter| -> Vec<u64> {
            let told = frame.told(&filter).unwrap();
            let told: serde_json::Value = serde_json::from_str(&told).unwrap();
            let changes = told["changes"].as_array().unwrap();
            changes.iter().map(|change| change.as_u64().unwrap()).collect()
        };
        assert_eq!(values(all), [1, 2, 3]);
        assert_eq!(values(Filter::of([id(2)])), [2, 3]);
        assert_eq!(values(Filter::of([id(9)])), [3]);
    }

    #[test]
    fn a_frame_that_is_all_for_others_is_not_told() {
        let pieces = vec![made(1, Some(id(1)), &1).unwrap()];
        let frame = frames(Uuid::nil(), 0, 1, pieces).unwrap().remove(0);
        assert!(frame.told(&Filter::of([id(2)])).is_none());
    }

    fn text(n: u64, bytes: usize) -> Piece {
        made(n, None, &"x".repeat(bytes)).unwrap()
    }

    fn ranges(pieces: Vec<Piece>, upto: u64) -> Vec<(u64, u64, usize)> {
        let frames = frames(Uuid::nil(), 3, upto, pieces).unwrap();
        frames.iter().map(|frame| (frame.after, frame.upto, frame.pieces.len())).collect()
    }

    #[test]
    fn frames_follow_each_other_without_a_gap_and_are_bounded() {
        let half = FRAME_BYTES_MAX / 2 + 1;
        let pieces = vec![text(4, half), text(5, half), text(6, 1), text(7, half)];
        assert_eq!(ranges(pieces, 9), [(3, 5, 2), (5, 9, 2)]);
    }

    #[test]
    fn no_frame_ends_within_one_number() {
        let pieces = vec![text(4, FRAME_BYTES_MAX), text(4, 1), text(5, 1)];
        assert_eq!(ranges(pieces, 5), [(3, 4, 2), (4, 5, 1)]);
    }

    #[test]
    fn of_several_changes_of_one_thing_the_last_stays() {
        let chat = Some(ChatId::new(Uuid::nil()));
        let change = |n, what| Change { n, chat, what };
        let all = [(1, What::Chat), (2, What::Queue), (3, What::Chat), (4, What::Offer)];
        let last = last_of_each(all.map(|(n, what)| change(n, what)).to_vec());
        let numbers: Vec<u64> = last.iter().map(|change| change.n).collect();
        assert_eq!(numbers, [2, 3, 4]);
    }
}
