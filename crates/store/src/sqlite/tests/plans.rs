//! What is asked often is answered from an index, whatever the number of chats.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use holdfast_core::fact::Fact;
use holdfast_core::ids::{ItemId, TurnId};
use holdfast_core::item::{Body, Field, ItemKind, Role, Row};

use super::{chat, open, raw};
use crate::PageFrom;

/// How SQLite would answer this.
fn plan(db: &rusqlite::Connection, sql: &str) -> String {
    let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let nothing = vec![rusqlite::types::Null; plan.parameter_count()];
    let steps = plan.query_map(rusqlite::params_from_iter(nothing), |row| row.get::<_, String>(3));
    steps.unwrap().map(Result::unwrap).collect::<Vec<_>>().join("; ")
}

#[test]
fn lists_and_counts_are_read_from_indices() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).stop();
    let db = raw(dir.path());
    for (sql, index) in [
        (
            "SELECT SUM(running), SUM(to_resume), SUM(to_check), SUM(queued), SUM(life = 1)
            FROM chats WHERE life <= 2",
            "COVERING INDEX chats_counts",
        ),
        ("SELECT chat FROM chats WHERE owes = 1 ORDER BY n", "chats_owing"),
        (
            "SELECT chat, touched FROM chats WHERE life = ? AND touched < ?
            ORDER BY touched DESC LIMIT ?",
            "chats_life",
        ),
        (
            "SELECT chat, touched FROM chats WHERE +life <= ? AND touched < ?
            ORDER BY touched DESC LIMIT ?",
            "chats_touched",
        ),
        ("SELECT 1 FROM chats WHERE slot = ? AND life = 1", "chats_slot"),
        (
            "SELECT n FROM messages WHERE chat = ? AND place IS NOT NULL ORDER BY place",
            "messages_queue",
        ),
        ("SELECT n FROM items WHERE chat = ? AND place < ? ORDER BY place DESC LIMIT ?", "items"),
        ("SELECT n FROM items WHERE chat = ? AND origin = ? AND running = 1", "items_running"),
        ("SELECT n FROM facts WHERE chat = ? AND seq > ? ORDER BY seq LIMIT ?", "facts"),
    ] {
        let plan = plan(&db, sql);
        assert!(plan.contains(index) && plan.contains("INDEX"), "{sql}: {plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{sql}: {plan}");
    }
}

/// What a page costs, in steps of SQLite's machine: the same however long the transcript is and
/// wherever the page lies.
#[tokio::test]
async fn a_page_costs_the_same_in_a_transcript_of_a_hundred_thousand_items() {
    const ITEMS: u32 = 100_000;
    const AT_ONCE: u32 = 1000;
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut pen = chat(&sqlite, 1).await;
    for first in (1..=ITEMS).step_by(AT_ONCE as usize) {
        let (mut facts, mut rows) = (Vec::new(), Vec::new());
        for n in first..first + AT_ONCE {
            let item = ItemId::new(1, n);
            let (kind, role, turn) = (ItemKind::Message, Role::Agent, Some(TurnId(1)));
            facts.push(Fact::ItemAdded { item, place: n.into(), kind, role, turn });
            rows.push(Row::ItemBody { item, body: Body::Text });
            let text = format!("said {n}");
            rows.push(Row::ItemText { item, field: Field::Text, at: 0, text });
        }
        pen.write(facts, rows).await;
    }
    let mut db = raw(dir.path());
    let steps = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&steps);
    let counted = move || {
        count.fetch_add(1, Ordering::Relaxed);
        false
    };
    db.progress_handler(1, Some(counted)).unwrap();
    let key = *pen.id.uuid().as_bytes();
    let mut costs = Vec::new();
    let all = u64::from(ITEMS);
    for from in [
        PageFrom::Newest,
        PageFrom::Before(all - 50),
        PageFrom::Before(all / 2),
        PageFrom::Before(101),
        PageFrom::After(all / 3),
    ] {
        steps.store(0, Ordering::Relaxed);
        let page = crate::sqlite::read::items(&db, &key, from, 100).unwrap();
        assert_eq!(page.len(), 100, "{from:?}");
        costs.push(steps.load(Ordering::Relaxed));
    }
    let (least, most) = (costs.iter().min().unwrap(), costs.iter().max().unwrap());
    assert!(*least > 100 && most - least < least / 5, "{costs:?}");
}
