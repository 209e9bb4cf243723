//! What is asked often is answered from an index, whatever the number of chats.

use super::{open, raw};

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
