//! Items and their texts.

use holdfast_core::fact::Fact;
use holdfast_core::ids::{ItemId, TaskId};
use holdfast_core::item::{Body, CallState, Field, ItemKind, Row, ToolCall};
use holdfast_core::limits::{ITEM_TEXT_HEAD_BYTES, PAGE_ITEMS_MAX};

use super::pen::message_id;
use super::{Backend, Pen};
use crate::{CommitError, PageFrom, TEXT_RANGE_BYTES_MAX};

fn piece(item: ItemId, field: Field, at: usize, text: &str) -> Row {
    Row::ItemText { item, field, at: at as u64, text: text.to_owned() }
}

/// The whole of a text, asked for in ranges.
async fn text(pen: &Pen, item: ItemId, field: Field) -> String {
    let mut whole = Vec::new();
    loop {
        let at = whole.len() as u64;
        let range = at..at + TEXT_RANGE_BYTES_MAX;
        let part = pen.store.item_text(pen.id, item, field, range).await.unwrap().unwrap();
        assert_eq!(part.start, at);
        whole.extend_from_slice(&part.bytes);
        if whole.len() as u64 == part.total {
            return String::from_utf8(whole).unwrap();
        }
        assert!(!part.bytes.is_empty());
    }
}

pub(super) async fn pieces_make_a_text(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let item = pen.item(1, ItemKind::Message, Body::Text).await;
    let mut whole = String::new();
    for n in 0..300 {
        let part = format!("{n} größer 👩‍👩‍👧 ");
        pen.write([], [piece(item, Field::Text, whole.len(), &part)]).await;
        whole.push_str(&part);
    }
    // Again what is there, and a piece that goes on from within it.
    pen.write([], [piece(item, Field::Text, 0, &whole)]).await;
    let overlap = whole.len() - "👩‍👩‍👧 ".len();
    let more = format!("{}more", &whole[overlap..]);
    pen.write([], [piece(item, Field::Text, overlap, &more)]).await;
    whole.push_str("more");
    pen.write([], [piece(item, Field::Output, 0, &"y".repeat(200_000))]).await;
    assert_eq!(text(&pen, item, Field::Text).await, whole);
    let open = b.store().item(pen.id, item).await.unwrap().unwrap();
    assert!(!open.closed);
    pen.write([], [Row::ItemClosed { item }]).await;
    assert_eq!(text(&pen, item, Field::Text).await, whole);
    assert_eq!(text(&pen, item, Field::Output).await, "y".repeat(200_000));
    assert_eq!(text(&pen, item, Field::Input).await, "");
    let closed = b.store().item(pen.id, item).await.unwrap().unwrap();
    assert!(closed.closed);
    assert_eq!(closed.texts, open.texts);
    let bytes: Vec<_> = closed.texts.iter().map(|text| (text.field, text.bytes)).collect();
    assert_eq!(bytes, [(Field::Text, whole.len() as u64), (Field::Output, 200_000)]);
}

pub(super) async fn a_gap_and_a_torn_character_are_refused(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let item = pen.item(1, ItemKind::Message, Body::Text).await;
    pen.write([], [piece(item, Field::Text, 0, "abc")]).await;
    for (at, part) in [(4, "gap"), (2, "é€")] {
        let error = pen.refused([], [piece(item, Field::Text, at, part)]).await;
        assert!(matches!(error, CommitError::Refused(_)), "{error}");
    }
    assert_eq!(text(&pen, item, Field::Text).await, "abc");
}

pub(super) async fn ranges_meet_pieces_anywhere(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let item = pen.item(1, ItemKind::ToolCall, Body::Text).await;
    let whole: String = (0..60_000).map(|n| format!("{n:05}")).collect();
    let (one, two) = whole.split_at(100_003);
    pen.write([], [piece(item, Field::Output, 0, one)]).await;
    pen.write([], [piece(item, Field::Output, one.len(), two)]).await;
    let end = whole.len() as u64;
    for closed in [false, true] {
        if closed {
            pen.write([], [Row::ItemClosed { item }]).await;
        }
        for edge in [0, 1, 65_535, 65_536, 65_537, 100_002, 100_003, 100_004, 131_072, end - 1] {
            for length in [0, 1, 3, 70_000, u64::MAX] {
                let asked = edge..edge.saturating_add(length);
                let store = &pen.store;
                let part = store.item_text(pen.id, item, Field::Output, asked).await;
                let part = part.unwrap().unwrap();
                let to = edge.saturating_add(length).min(end) as usize;
                assert_eq!(part.bytes, &whole.as_bytes()[edge as usize..to], "{edge} {length}");
                assert_eq!((part.start, part.total), (edge, end));
            }
        }
    }
    let beyond = pen.store.item_text(pen.id, item, Field::Output, end + 5..end + 9).await;
    let beyond = beyond.unwrap().unwrap();
    assert_eq!((beyond.start, beyond.bytes.len(), beyond.total), (end, 0, end));
    let none = pen.store.item_text(pen.id, ItemId::new(9, 9), Field::Text, 0..1).await;
    assert_eq!(none.unwrap(), None);
}

pub(super) async fn heads_are_cut_at_a_character(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    for n in 0..5 {
        let item = pen.item(n + 1, ItemKind::Message, Body::Text).await;
        let pad = ITEM_TEXT_HEAD_BYTES - n as usize;
        let whole = format!("{}{}", "x".repeat(pad), "😀".repeat(10));
        pen.write([], [piece(item, Field::Text, 0, &whole)]).await;
        let row = b.store().item(pen.id, item).await.unwrap().unwrap();
        let head = &row.texts[0];
        assert!(whole.starts_with(&head.head) && head.head.len() <= ITEM_TEXT_HEAD_BYTES);
        assert!(head.head.len() + 4 > ITEM_TEXT_HEAD_BYTES);
        assert_eq!(head.bytes, whole.len() as u64);
    }
}

pub(super) async fn pages_have_no_seam(b: impl Backend) {
    let store = b.store();
    let mut pen = Pen::open(b.store(), 1).await;
    let all = PAGE_ITEMS_MAX as u32 + 7;
    for n in 1..=all {
        pen.item(n, ItemKind::Message, Body::Text).await;
    }
    let newest = store.items(pen.id, PageFrom::Newest, usize::MAX).await.unwrap();
    assert_eq!(newest.len(), PAGE_ITEMS_MAX);
    assert_eq!(newest.last().unwrap().place, u64::from(all));
    for size in [1, 3, 50] {
        let (mut back, mut from) = (Vec::new(), PageFrom::Newest);
        loop {
            let page = store.items(pen.id, from, size).await.unwrap();
            let Some(first) = page.first() else { break };
            from = PageFrom::Before(first.place);
            back.splice(0..0, page.iter().map(|item| item.place));
        }
        assert_eq!(back, (1..=u64::from(all)).collect::<Vec<_>>());
        let (mut on, mut from) = (Vec::new(), PageFrom::After(0));
        loop {
            let page = store.items(pen.id, from, size).await.unwrap();
            let Some(last) = page.last() else { break };
            from = PageFrom::After(last.place);
            on.extend(page.iter().map(|item| item.place));
        }
        assert_eq!(on, back);
    }
    assert!(store.items(super::pen::chat_id(5), PageFrom::Newest, 5).await.unwrap().is_empty());
    // A place is taken once.
    let item = ItemId::new(1, 9999);
    let Fact::ItemAdded { kind, role, turn, .. } = pen.added(item, ItemKind::Note) else { return };
    let error = pen.refused([Fact::ItemAdded { item, place: 3, kind, role, turn }], []).await;
    assert!(matches!(error, CommitError::Refused(_)), "{error}");
}

fn call(state: CallState) -> Body {
    let (name, tool_kind) = ("ls".to_owned(), "execute".to_owned());
    Body::Call(ToolCall { name, tool_kind, state, task: Some(TaskId::new(1, 1)), within: None })
}

pub(super) async fn abandoned_calls_are_unknown(b: impl Backend) {
    let store = b.store();
    let mut pen = Pen::open(b.store(), 1).await;
    let kind = ItemKind::ToolCall;
    let running = pen.item(1, kind, call(CallState::Running)).await;
    let done = pen.item(2, kind, call(CallState::Running)).await;
    let body = call(CallState::Completed);
    pen.write([], [Row::ItemBody { item: done, body: body.clone() }]).await;
    let other = ItemId::new(2, 1);
    let fact = pen.added(other, kind);
    let body_of_other = call(CallState::Running);
    pen.write([fact], [Row::ItemBody { item: other, body: body_of_other.clone() }]).await;
    pen.put([Fact::CallsAbandoned { origin: 1 }]).await;
    let body_of =
        async |item| store.item(super::pen::chat_id(1), item).await.unwrap().unwrap().body;
    assert_eq!(body_of(running).await, call(CallState::Unknown));
    assert_eq!(body_of(done).await, body);
    assert_eq!(body_of(other).await, body_of_other);
}

pub(super) async fn the_text_of_a_message_is_shown_by_its_item(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let whole = "é".repeat(ITEM_TEXT_HEAD_BYTES);
    let message = pen.accept(1, &whole).await;
    pen.start().await;
    let item = pen.hand(message, 1).await;
    let row = b.store().item(pen.id, item).await.unwrap().unwrap();
    assert_eq!(row.texts[0].bytes, whole.len() as u64);
    assert_eq!(row.texts[0].head.len(), ITEM_TEXT_HEAD_BYTES);
    let shown = row.message.unwrap();
    assert_eq!((shown.id, shown.state.word()), (message, "taken"));
    assert_eq!(text(&pen, item, Field::Text).await, whole);
    let page = b.store().items(pen.id, PageFrom::Newest, 5).await.unwrap();
    assert_eq!(page[0].message.as_ref().unwrap().id, message);
}

pub(super) async fn rows_of_what_is_not_there_are_refused(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let item = ItemId::new(1, 1);
    for row in [
        Row::MessageText { message: message_id(1), text: "x".to_owned() },
        Row::ItemBody { item, body: Body::Text },
        piece(item, Field::Text, 0, "x"),
        Row::ItemClosed { item },
    ] {
        let error = pen.refused([], [row]).await;
        assert!(matches!(error, CommitError::Refused(_)), "{error}");
    }
    // What a fact of the same unit adds is there.
    let fact = pen.added(item, ItemKind::Message);
    pen.write([fact], [piece(item, Field::Text, 0, "x")]).await;
}
