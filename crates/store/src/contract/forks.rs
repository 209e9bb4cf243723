//! A fork shows what the other chat had, and keeps it whatever becomes of that one.

use holdfast_core::fact::{Author, Evidence, Fact, Place};
use holdfast_core::fork::{Fork, ForkedFile, TurnPlace};
use holdfast_core::ids::{ItemId, PromptId, TurnId};
use holdfast_core::item::{Body, CallState, Field, ItemKind, Role, Row, ToolCall};
use holdfast_core::limits::{FORK_BYTES_MAX, FORK_ITEMS_MAX};
use holdfast_core::provider::{Asked, Handle, PromptKind, TurnEnd};

use super::Backend;
use super::attachments::{attach, names, same_as_loaded};
use super::pen::{Pen, accepted, chat_id, message_id, opened};
use crate::change::What;
use crate::query::Store;
use crate::rows::{MessageState, PageFrom, PromptStatus};

/// What a fork of this chat at its end begins with.
fn fork_of(pen: &Pen) -> Fork {
    let head = &pen.chat.head;
    Fork {
        from: pen.id,
        at: head.places,
        handle: Handle { root: "r".to_owned(), leaf: "r".to_owned() },
        until: None,
        unreached: 0,
        messages: 1,
        attempts: head.attempts,
        turns: head.turns,
        host_items: head.host_items,
        attachments: pen
            .chat
            .aside
            .attachments
            .iter()
            .filter_map(|(id, held)| {
                Some(ForkedFile { id: *id, bytes: held.bytes, named: held.named? })
            })
            .collect(),
    }
}

pub(super) async fn a_fork_shows_what_the_other_chat_had(mut b: impl Backend) {
    let mut from = Pen::open(b.store(), 1).await;
    let handed = from.accept(1, "hello").await;
    from.start().await;
    let shown = from.hand(handed, 1).await;
    let said = from.say(1, "answer").await;
    let call = from.item(2, ItemKind::ToolCall, running()).await;
    let asks = from.item(3, ItemKind::Prompt, Body::Prompt { prompt: PromptId::new(1, 1) }).await;
    let asked = Asked {
        kind: PromptKind::Question,
        label: "Which?".to_owned(),
        options: Vec::new(),
        questions: Vec::new(),
        deed: None,
    };
    from.put([Fact::PromptOpened { prompt: PromptId::new(1, 1), item: asks, asked }]).await;
    let (turn, how, evidence) = (TurnId(1), TurnEnd::Completed, Evidence::Agent);
    from.put([Fact::TurnEnded { turn, how, evidence, usage: None }]).await;
    let fork = fork_of(&from);
    let later = from.say(4, "after the fork").await;
    let waits = from.accept(2, "waits").await;

    let mut to = Pen::new(b.store(), 2);
    let done = to.put([opened(), Fact::ChatForked(fork)]).await;
    let told = b.store().changes(done.changes().start - 1, 100).await.unwrap();
    for item in [shown, said, call, asks] {
        assert!(told.iter().any(|c| c.what == What::Item(item) && c.chat == Some(to.id)), "{item}");
    }
    // What becomes of the other chat afterwards is nothing to this one.
    from.put([Fact::ChatDeleted]).await;
    for _ in 0..2 {
        let store = b.store();
        let items = store.items(to.id, PageFrom::Newest, 9).await.unwrap();
        let ids: Vec<ItemId> = items.iter().map(|item| item.id).collect();
        assert_eq!(ids, [shown, said, call, asks]);
        let text = store.item_text(to.id, said, Field::Text, 0..99).await.unwrap().unwrap();
        assert_eq!(text.bytes, b"answer");
        let row = store.message(to.id, handed).await.unwrap().unwrap();
        assert_eq!((row.state, row.text.as_str()), (MessageState::Settled, "hello"));
        assert_eq!((row.item, row.turn, row.attempt), (Some(shown), Some(turn), None));
        let of_call = store.item(to.id, call).await.unwrap().unwrap();
        let Body::Call(of_call) = of_call.body else { panic!("{of_call:?}") };
        assert_eq!(of_call.state, CallState::Unknown);
        let prompt = store.prompt(to.id, PromptId::new(1, 1)).await.unwrap().unwrap();
        assert_eq!(prompt.state, PromptStatus::Gone);
        assert_eq!(store.item(to.id, later).await.unwrap(), None);
        assert_eq!(store.message(to.id, waits).await.unwrap(), None);
        let turns = store.turns(to.id, None, 9).await.unwrap();
        assert_eq!(turns.iter().map(|t| (t.id, t.seq.0)).collect::<Vec<_>>(), [(turn, 2)]);
        assert_eq!(turns[0].ended.as_ref().map(|end| end.how), Some(how));
        let row = store.chat(to.id).await.unwrap().unwrap();
        assert_eq!(row.last_prompt, None, "nobody was told what waits");
        assert_eq!(row.first_prompt.as_deref(), Some("hello"));
        b.reopen();
        to.store = b.store();
    }
    // It goes on by itself.
    to.start().await;
    let next = Fact::ItemAdded {
        item: ItemId::new(to.chat.head.attempts, 1),
        place: to.chat.head.places + 1,
        kind: ItemKind::Message,
        role: Role::Agent,
        turn: None,
    };
    to.put([next]).await;
    assert_eq!(b.store().items(to.id, PageFrom::Newest, 9).await.unwrap().len(), 5);
}

pub(super) async fn a_fork_shows_no_prompt_that_waits(b: impl Backend) {
    let mut from = Pen::open(b.store(), 1).await;
    from.accept(1, "only").await;
    let fork = fork_of(&from);
    let mut to = Pen::new(b.store(), 2);
    to.put([opened(), Fact::ChatForked(fork)]).await;
    let row = b.store().chat(to.id).await.unwrap().unwrap();
    assert_eq!((row.first_prompt, row.last_prompt), (None, None), "nobody was told it");
    to.accept(3, "its own").await;
    let row = b.store().chat(to.id).await.unwrap().unwrap();
    assert_eq!(row.first_prompt.as_deref(), Some("its own"));
}

pub(super) async fn a_chat_that_is_gone_is_not_forked(b: impl Backend) {
    let mut from = Pen::open(b.store(), 1).await;
    let fork = fork_of(&from);
    from.put([Fact::ChatDeleted]).await;
    let mut to = Pen::new(b.store(), 2);
    let refused = to.refused([opened(), Fact::ChatForked(fork)], []).await;
    assert_eq!(refused, crate::CommitError::SourceGone { from: from.id });
    assert_eq!(b.store().chat(to.id).await.unwrap(), None);
}

fn running() -> Body {
    Body::Call(ToolCall {
        name: "make".to_owned(),
        tool_kind: "execute".to_owned(),
        state: CallState::Running,
        task: None,
        within: None,
    })
}

pub(super) async fn a_fork_copies_a_bounded_end(b: impl Backend) {
    let mut from = Pen::open(b.store(), 1).await;
    let facts: Vec<Fact> = (1..=FORK_ITEMS_MAX as u32 + 5)
        .map(|n| Fact::ItemAdded {
            item: ItemId::new(1, n),
            place: u64::from(n),
            kind: ItemKind::Message,
            role: Role::Agent,
            turn: None,
        })
        .collect();
    from.put(facts).await;
    let mut many = Pen::new(b.store(), 2);
    many.put([opened(), Fact::ChatForked(fork_of(&from))]).await;
    let first = b.store().items(many.id, PageFrom::Before(7), 9).await.unwrap();
    assert_eq!(first.iter().map(|item| item.place).collect::<Vec<_>>(), [6]);

    // A long message and a long text: what would be over the bound stays with the other chat.
    let half = usize::try_from(FORK_BYTES_MAX / 2).unwrap();
    let mut long = Pen::open(b.store(), 3).await;
    let early = long.say(1, "early").await;
    let text = "x".repeat(half);
    let row = Row::MessageText { message: message_id(9), text: text.clone() };
    long.write([accepted(9, &text, Author::Person, Place::Tail)], [row]).await;
    long.start().await;
    let message = long.hand(message_id(9), 1).await;
    let said = long.say(2, &"y".repeat(half)).await;
    let mut short = Pen::new(b.store(), 4);
    short.put([opened(), Fact::ChatForked(fork_of(&long))]).await;
    let items = b.store().items(short.id, PageFrom::Newest, 9).await.unwrap();
    assert_eq!(items.iter().map(|item| item.id).collect::<Vec<_>>(), [message, said]);
    assert_eq!(b.store().item(short.id, early).await.unwrap(), None);
}

pub(super) async fn a_fork_has_the_attachments_that_its_messages_name(mut b: impl Backend) {
    let mut from = Pen::open(b.store(), 1).await;
    let (one, loose) = (attach(&mut from, 1).await, attach(&mut from, 2).await);
    let message = names(&mut from, 7, &[&one]).await;
    from.start().await;
    from.hand(message, 1).await;
    let fork = fork_of(&from);
    assert_eq!(fork.attachments.len(), 1);
    let mut to = Pen::new(b.store(), 2);
    to.put([opened(), Fact::ChatForked(fork)]).await;
    from.put([Fact::ChatDeleted]).await;
    for _ in 0..2 {
        let store = b.store();
        let all = store.attachments(to.id).await.unwrap();
        assert_eq!(all.len(), 1);
        assert_eq!((&all[0].attachment, all[0].named), (&one, Some(message)));
        assert_eq!(store.attachment(to.id, loose.id).await.unwrap(), None);
        let row = store.message(to.id, message).await.unwrap().unwrap();
        assert_eq!(row.attachments, std::slice::from_ref(&one));
        same_as_loaded(&to).await;
        b.reopen();
        to.store = b.store();
    }
}

pub(super) async fn the_end_of_a_turn_is_a_place_until_it_is_left_behind(mut b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    pen.start().await;
    let (how, evidence) = (TurnEnd::Completed, Evidence::Agent);
    let mut ends = Vec::new();
    for n in 1..=3_u32 {
        let turn = TurnId(n);
        pen.put([Fact::TurnOpened { turn, message: None }]).await;
        let item = ItemId::new(1, n);
        let (kind, role) = (ItemKind::Message, Role::Agent);
        let place = pen.chat.head.places + 1;
        pen.put([Fact::ItemAdded { item, place, kind, role, turn: Some(turn) }]).await;
        let (mark, messages) = (format!("u{n}"), u64::from(n));
        let place = TurnPlace { turn, at: place, mark, messages };
        let ended = Fact::TurnEnded { turn, how, evidence, usage: None };
        // The second has no name.
        let named = (n != 2).then(|| Fact::TurnMarked(place.clone()));
        let told = pen.put([vec![ended], named.into_iter().collect()].concat()).await;
        let told = b.store().changes(told.changes().start - 1, 9).await.unwrap();
        assert_eq!(told.iter().any(|change| change.what == What::Item(item)), n != 2, "{n}");
        ends.push(place);
    }
    let store = b.store();
    for (at, place) in [
        (ends[0].at - 1, None),
        (ends[0].at, Some(&ends[0])),
        (ends[2].at - 1, Some(&ends[0])),
        (ends[2].at, Some(&ends[2])),
        (u64::MAX, Some(&ends[2])),
    ] {
        assert_eq!(store.turn_place(pen.id, at).await.unwrap().as_ref(), place, "{at}");
    }
    let shown = async |store: &dyn Store, chat| {
        let items = store.items(chat, PageFrom::Newest, 9).await.unwrap();
        items.iter().map(|item| item.ends_turn).collect::<Vec<_>>()
    };
    assert_eq!(shown(&*store, pen.id).await, [true, false, true]);

    let handle = Handle { root: "r".to_owned(), leaf: "r".to_owned() };
    pen.put([Fact::ChatRewound { to: ends[0].clone(), handle }]).await;
    // Another chat that begins after that knows the same places.
    let mut to = Pen::new(b.store(), 2);
    to.put([opened(), Fact::ChatForked(fork_of(&pen))]).await;
    for _ in 0..2 {
        let store = b.store();
        for chat in [pen.id, to.id] {
            let last = store.turn_place(chat, u64::MAX).await.unwrap();
            assert_eq!(last.as_ref(), Some(&ends[0]));
            assert_eq!(shown(&*store, chat).await, [true, false, false]);
            let turns = store.turns(chat, None, 9).await.unwrap();
            let left: Vec<bool> = turns.iter().map(|turn| turn.left_behind).collect();
            assert_eq!(left, [false, true, true]);
        }
        b.reopen();
    }
}

pub(super) async fn a_file_goes_with_the_messages_that_are_shown(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let (both, late) = (attach(&mut pen, 1).await, attach(&mut pen, 2).await);
    let (loose, waits) = (attach(&mut pen, 3).await, attach(&mut pen, 4).await);
    pen.start().await;
    let first = names(&mut pen, 7, &[&both]).await;
    pen.hand(first, 1).await;
    let after_first = pen.chat.head.places;
    pen.put([Fact::MessageSettled { message: first, evidence: Evidence::Agent }]).await;
    let second = names(&mut pen, 8, &[&late]).await;
    pen.hand(second, 2).await;
    // A file that waits once more was told all the same.
    names(&mut pen, 9, &[&waits, &both]).await;
    let store = b.store();
    let files = async |at| {
        let files = store.files_until(chat_id(1), at).await.unwrap();
        files.into_iter().map(|file| (file.id, file.bytes, file.named)).collect::<Vec<_>>()
    };
    assert_eq!(files(0).await, []);
    assert_eq!(files(after_first).await, [(both.id, both.bytes, first)]);
    let all = [(both.id, both.bytes, first), (late.id, late.bytes, second)];
    assert_eq!(files(pen.chat.head.places).await, all);
    assert!(![waits.id, loose.id].iter().any(|id| all.iter().any(|(told, ..)| told == id)));
}
