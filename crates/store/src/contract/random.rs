//! Random histories: both backends answer every query alike, and folding the facts again gives the
//! head that is stored.

use std::sync::Arc;

use holdfast_core::activity::Leftover;
use holdfast_core::fact::{Author, Death, Evidence, Fact, Place, RefusedWhy, WithdrawnWhy};
use holdfast_core::fold::fold;
use holdfast_core::fork::TurnPlace;
use holdfast_core::frame::Answer;
use holdfast_core::head::{Chat, Life};
use holdfast_core::ids::{AttemptId, FrameNo, ItemId, PromptId, Seq, TaskId, TurnId};
use holdfast_core::item::{Body, CallState, Field, ItemKind, Role, Row, ToolCall};
use holdfast_core::offer::Failure;
use holdfast_core::provider::{Handle, TaskEnd, TaskKind, TurnEnd};
use holdfast_core::time::Micros;
use proptest::prelude::*;

use super::attachments::file;
use super::feed::offered;
use super::pen::{accepted, message_id, opened};
use super::prompts::asked;
use super::{Backend, InMemory, OnSqlite, Pen};
use crate::{CommitError, PageFrom, Store, StoredFact, Unit};

/// One step of a history: what is done and to which of the things that are there.
type Roll = (u8, u8, u8);

/// Facts and rows for a roll. Many fit the chat, some do not: they must not matter.
fn step(chat: &Chat, (what, a, b): Roll) -> (Vec<Fact>, Vec<Row>) {
    let head = &chat.head;
    let some = u128::from(a % 12) + 1;
    let message = message_id(some);
    let place = if b % 2 == 0 { Place::Tail } else { Place::Head };
    let queued = chat.aside.queue.get(usize::from(a) % chat.aside.queue.len().max(1));
    let origin = head.attempts;
    let small = u32::from(b % 5) + 1;
    let item = ItemId::new(origin, small);
    let prompt = PromptId::new(origin, small);
    let (task, turn) = (TaskId::new(origin, small), TurnId(head.turns));
    let evidence = Evidence::Agent;
    let attempt = head.attempt.as_ref().map_or(AttemptId::new(uuid::Uuid::nil()), |a| a.id);
    let recorded_at = Micros(i64::from(a));
    let fact = match what % 30 {
        0 | 1 => {
            let by = if b % 3 == 0 { Author::App } else { Author::Person };
            let text = format!("text {some} {b}");
            let row = Row::MessageText { message, text: text.clone() };
            let mut fact = accepted(some, &text, by, place);
            if let Fact::MessageAccepted { attachments, .. } = &mut fact {
                let there = chat.aside.attachments.keys().filter(|_| a % 2 == 0);
                attachments.extend(there.take(usize::from(b % 3)));
            }
            return (vec![fact], vec![row]);
        }
        2 => {
            let (text, digest) = (format!("edited {b}"), format!("{b}"));
            let row = Row::MessageText { message, text };
            return (vec![Fact::MessageEdited { message, bytes: 8, digest }], vec![row]);
        }
        3 => Fact::QueueOrdered { order: vec![message, message_id(u128::from(b % 12) + 1)] },
        4 => Fact::MessageWithdrawn { message, why: WithdrawnWhy::Person },
        5..=7 => {
            // At most one message is at the agent.
            let Some(queued) = queued.filter(|_| head.outstanding.is_none()) else {
                return (Vec::new(), Vec::new());
            };
            let shown = ItemId::new(0, head.host_items + 1);
            let message = queued.message;
            let (place, kind, role) = (head.places + 1, ItemKind::Message, Role::User);
            let added = Fact::ItemAdded { item: shown, place, kind, role, turn: None };
            let (frame, item) = (FrameNo(1), shown);
            let handed = Fact::MessageHanded { message, attempt, frame, item, into: None };
            let row = Row::ItemBody { item: shown, body: Body::Message { message, steer: None } };
            return (vec![added, handed], vec![row]);
        }
        8 => Fact::MessageTaken { message, evidence },
        9 => Fact::MessageSettled { message, evidence },
        10 => Fact::MessageRefused { message, why: RefusedWhy::NotWritten },
        11 => Fact::MessageDoubted { message, asking: b % 2 == 0 },
        12 => Fact::MessageRequeued { message, place },
        13 => Fact::TurnOpened { turn: TurnId(head.turns + 1), message: Some(message) },
        14 if b % 4 == 1 => {
            let (at, mark, messages) = (head.places, format!("u{b}"), u64::from(a));
            Fact::TurnMarked(TurnPlace { turn, at, mark, messages })
        }
        14 if b % 4 == 2 => {
            let (at, mark, messages) = (head.places, format!("u{b}"), u64::from(a));
            let handle = Handle { root: "r".to_owned(), leaf: "l".to_owned() };
            Fact::ChatRewound { to: TurnPlace { turn, at, mark, messages }, handle }
        }
        14 => Fact::TurnEnded { turn, how: TurnEnd::Completed, evidence, usage: None },
        15 => {
            let added = head.places + 1;
            let (kind, role) = (ItemKind::ToolCall, Role::Agent);
            let (name, tool_kind) = ("ls".to_owned(), String::new());
            let state = if b % 2 == 0 { CallState::Running } else { CallState::Completed };
            let body = Body::Call(ToolCall { name, tool_kind, state, task: None, within: None });
            let added = Fact::ItemAdded { item, place: added, kind, role, turn: Some(turn) };
            return (vec![added], vec![Row::ItemBody { item, body }]);
        }
        16 | 17 => {
            let field = [Field::Text, Field::Input, Field::Output][usize::from(a % 3)];
            let text = "wörd ".repeat(usize::from(a % 4) * 7000 + 1);
            let row = Row::ItemText { item, field, at: u64::from(b % 2) * 6, text };
            return (Vec::new(), vec![row]);
        }
        18 => return (Vec::new(), vec![Row::ItemClosed { item }]),
        19 if b % 3 == 0 => {
            let (id, command) = ("l1".to_owned(), format!("serve {a}"));
            let since = Micros(3);
            let named = vec![Leftover { id, command, ports: vec![8080], since }];
            Fact::LeftoversSeen { count: 1, named }
        }
        19 => Fact::CallsAbandoned { origin: u32::from(a % 3) },
        20 => Fact::PromptOpened { prompt, item, asked: asked() },
        21 => {
            let answer = Answer::Option { option: "a".to_owned(), text: None };
            let (by, device, frame) = ("ada".to_owned(), None, FrameNo(2));
            Fact::PromptAnswered { prompt, answer, by, device, frame }
        }
        22 => match a % 4 {
            0 => Fact::AnswerWritten { prompt },
            1 => Fact::AnswerTaken { prompt },
            2 => Fact::AnswerLost { prompt, written: b % 2 == 0 },
            _ => Fact::PromptGone { prompt },
        },
        23 => {
            let (kind, label) = (TaskKind::Agent, format!("task {b}"));
            Fact::TaskStarted { task, kind, label, foreground: false }
        }
        24 => Fact::TaskEnded { task, how: TaskEnd::Stopped },
        25 => {
            let secret = holdfast_core::fact::Secret("s".to_owned());
            let attempt = super::pen::attempt_id(u128::from(origin) + 1);
            Fact::AttemptStarting { attempt, origin: origin + 1, secret, resuming: false }
        }
        26 => Fact::AttemptEnded { attempt, death: Death::HostLost },
        27 => match b % 5 {
            0 => offered(i64::from(a)),
            1 => Fact::OfferShown { recorded_at },
            2 => Fact::ResumeStarted { recorded_at, choice: None },
            3 => Fact::ResumeStopped { recorded_at },
            _ => Fact::OfferEnded { recorded_at, how: holdfast_core::fact::OfferEnd::Dismissed },
        },
        28 => {
            let (code, text) = ("agent_died".to_owned(), "x".to_owned());
            let failed = Fact::FailureFiled(Failure { code, text, actions: Vec::new() });
            if b % 2 == 0 { failed } else { Fact::FailureCleared }
        }
        _ => match b % 8 {
            0..=2 => Fact::ChatTitled {
                title: format!("title {a}"),
                by: holdfast_core::fact::Namer::Person,
            },
            3 => Fact::SlotBound { slot: Some(format!("slot-{}", a % 2)) },
            4 => Fact::ChatClosed,
            5 => Fact::ChatReopened,
            6 if a % 4 == 0 => {
                let free = chat.aside.attachments.iter().find(|(_, held)| held.named.is_none());
                match free {
                    Some((id, _)) => Fact::AttachmentRemoved { attachment: *id },
                    None => Fact::ChatReopened,
                }
            }
            6 => {
                let added = file(u128::from(head.seq.0));
                return (vec![Fact::AttachmentAdded(added)], Vec::new());
            }
            _ if head.life == Life::Closed && a % 4 == 0 => Fact::ChatDeleted,
            _ => Fact::QueueResumed,
        },
    };
    (vec![fact], Vec::new())
}

/// Everything that a store answers about a chat, as text.
async fn told(store: &Arc<dyn Store>, pen: &Pen) -> Vec<String> {
    let id = pen.id;
    let mut all = Vec::new();
    all.push(format!("{:?}", store.load(id).await));
    all.push(format!("{:?}", store.chat(id).await));
    all.push(format!("{:?}", store.items(id, PageFrom::Newest, 100).await));
    all.push(format!("{:?}", store.turns(id, None, 100).await));
    all.push(format!("{:?}", super::messages::queue(&**store, id).await));
    all.push(format!("{:?}", store.facts(id, Seq(0), 1000).await));
    all.push(format!("{:?}", store.offer(id).await));
    all.push(format!("{:?}", store.attachments(id).await));
    for n in 1..=12 {
        all.push(format!("{:?}", store.message(id, message_id(n)).await));
    }
    for origin in 0..=pen.chat.head.attempts {
        for n in 1..=5 {
            all.push(format!("{:?}", store.prompt(id, PromptId::new(origin, n)).await));
            all.push(format!("{:?}", store.task(id, TaskId::new(origin, n)).await));
            for field in [Field::Text, Field::Input, Field::Output] {
                let item = ItemId::new(origin, n);
                all.push(format!("{:?}", store.item_text(id, item, field, 5..90_000).await));
            }
        }
    }
    all
}

/// Shows the place of the first difference and not megabytes of texts.
fn assert_same(one: &[String], two: &[String]) {
    assert_eq!(one.len(), two.len());
    for (one, two) in one.iter().zip(two) {
        if one != two {
            let differ = one.bytes().zip(two.bytes()).take_while(|(a, b)| a == b).count();
            let near = |text: &str| {
                let bytes = text.as_bytes();
                let from = differ.saturating_sub(300);
                String::from_utf8_lossy(&bytes[from..bytes.len().min(differ + 200)]).into_owned()
            };
            panic!("they differ:\n{}\n{}", near(one), near(two));
        }
    }
}

async fn told_of_the_host(store: &Arc<dyn Store>) -> Vec<String> {
    vec![
        format!("{:?} {:?}", store.offers().await, store.failures().await),
        format!("{:?}", store.chats(crate::ChatFilter::All, None, 100).await),
        format!("{:?} {:?}", store.counts().await, store.owing().await),
        format!("{:?} {:?}", store.changes(0, 1000).await, store.change_bounds().await),
    ]
}

/// The head that the stored facts give.
async fn refolded(store: &Arc<dyn Store>, pen: &Pen) -> Chat {
    let mut chat = Chat::default();
    for row in store.facts(pen.id, Seq(0), 1000).await.unwrap() {
        let StoredFact::Known(fact) = row.fact else { panic!("unreadable") };
        fold(&mut chat, &fact, row.at);
    }
    chat
}

async fn run(rolls: Vec<Roll>) {
    let (mut memory, mut sqlite) = (InMemory::make(), OnSqlite::make());
    let mut pens = [Pen::new(memory.store(), 1), Pen::new(memory.store(), 2)];
    for pen in &mut pens {
        let unit = pen.unit(vec![opened()], Vec::new());
        for store in [memory.store(), sqlite.store()] {
            store.commit(vec![unit.clone()]).await.unwrap();
        }
        pen.took(&unit);
    }
    for (n, roll) in rolls.iter().enumerate() {
        // Some steps go together, in one group over both chats.
        let both = roll.2 % 7 == 0;
        let mut units: Vec<Unit> = Vec::new();
        for (which, pen) in pens.iter().enumerate() {
            if pen.chat.head.life != Life::Deleted && (both || which == usize::from(roll.2 % 2)) {
                let (facts, rows) = step(&pen.chat, *roll);
                units.push(pen.unit(facts, rows));
            }
        }
        let answers: [Result<Vec<_>, CommitError>; 2] = [
            memory.store().commit(units.clone()).await,
            sqlite.store().commit(units.clone()).await,
        ];
        let [by_memory, by_sqlite] = answers;
        assert!(
            by_memory == by_sqlite,
            "step {n} {roll:?} {:?} {:?}",
            by_memory.err(),
            by_sqlite.err()
        );
        if by_memory.is_ok() {
            for unit in &units {
                let pen = pens.iter_mut().find(|pen| pen.id == unit.chat).unwrap();
                pen.took(unit);
            }
        }
    }
    for again in [false, true] {
        if again {
            memory.reopen();
            sqlite.reopen();
        }
        let stores = [memory.store(), sqlite.store()];
        for pen in &pens {
            assert_same(&told(&stores[0], pen).await, &told(&stores[1], pen).await);
            let loaded = stores[1].load(pen.id).await.unwrap().unwrap();
            if pen.chat.head.life != Life::Deleted {
                assert_eq!(loaded.chat, pen.chat);
                assert_eq!(refolded(&stores[1], pen).await, pen.chat);
            }
        }
        assert_same(&told_of_the_host(&stores[0]).await, &told_of_the_host(&stores[1]).await);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn backends_agree_and_refolding_gives_the_stored_head(
        rolls in proptest::collection::vec(any::<Roll>(), 1..90)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run(rolls));
    }
}
