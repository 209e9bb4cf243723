//! What the whole-process tests share: histories, and this test program started again as a child.

#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(clippy::disallowed_methods, reason = "a child is told by its environment what to do")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use holdfast_core::fact::{Author, Fact, Place};
use holdfast_core::fold::fold;
use holdfast_core::head::Chat;
use holdfast_core::ids::{ChatId, MessageId, Seq};
use holdfast_core::item::Row;
use holdfast_core::summary::Summary;
use holdfast_core::time::Micros;
use holdfast_store::{Options, QueueBounds, Sqlite, Store, StoredFact, Unit};
use uuid::Uuid;

/// Tells a child where its store is.
const DIR: &str = "HOLDFAST_TEST_DIR";

pub(crate) fn chat_id(n: u128) -> ChatId {
    ChatId::new(Uuid::from_u128(n))
}

pub(crate) fn message_id(n: u128) -> MessageId {
    MessageId::new(Uuid::from_u128(n))
}

pub(crate) fn opened() -> Fact {
    let (agent, cwd) = ("demo".to_owned(), "/".to_owned());
    let (project, title, slot, model, mode) = (None, None, None, None, None);
    Fact::ChatOpened { agent, cwd, project, title, slot, model, mode }
}

/// A message and its text.
pub(crate) fn message(n: u128, text: &str) -> (Fact, Row) {
    let (message, text) = (message_id(n), text.to_owned());
    let (bytes, digest) = (text.len() as u64, holdfast_core::digest(&text));
    let (by, place) = (Author::Person, Place::Tail);
    (
        Fact::MessageAccepted { message, by, bytes, digest, place, attachments: Vec::new() },
        Row::MessageText { message, text },
    )
}

/// The unit of a decision on this chat.
pub(crate) fn unit(id: ChatId, chat: &Chat, facts: Vec<Fact>, rows: Vec<Row>) -> Unit {
    let mut after = chat.clone();
    let at = Micros(1_000_000);
    for fact in &facts {
        fold(&mut after, fact, at);
    }
    Unit {
        chat: id,
        after: chat.head.seq,
        at,
        facts,
        rows,
        summary: Summary::of(&after),
        head: after.head,
        progress: None,
        operation: None,
        clear_draft: None,
    }
}

pub(crate) fn open(dir: &Path) -> Sqlite {
    Sqlite::open(&Options::new(dir)).unwrap()
}

/// The chat as it is stored; folding its facts gives the same.
pub(crate) async fn load(store: &Sqlite, id: ChatId) -> Option<Chat> {
    let loaded = store.load(id).await.unwrap()?;
    assert_eq!(loaded.read_only, None);
    let mut chat = Chat::default();
    loop {
        let facts = store.facts(id, chat.head.seq, 1000).await.unwrap();
        for row in &facts {
            let StoredFact::Known(fact) = &row.fact else { panic!("{row:?}") };
            assert_eq!(row.seq, Seq(chat.head.seq.0 + 1));
            fold(&mut chat, fact, row.at);
        }
        if facts.is_empty() {
            break;
        }
    }
    assert_eq!(chat, loaded.chat);
    let all = QueueBounds { messages: 10_000, head_bytes: 1 << 20, bytes: usize::MAX };
    let queue = store.queue(id, None, all).await.unwrap().unwrap().rows;
    let ids: Vec<_> = queue.iter().map(|row| row.id).collect();
    let folded: Vec<_> = chat.aside.queue.iter().map(|queued| queued.message).collect();
    assert_eq!(ids, folded);
    for row in queue {
        assert_eq!(holdfast_core::digest(&row.text), row.digest);
    }
    Some(chat)
}

/// The directory of the child that this process is, if it is one.
pub(crate) fn as_child() -> Option<PathBuf> {
    std::env::var_os(DIR).map(PathBuf::from)
}

/// Runs the test of this name again in a child with this store and environment; its output is
/// piped. `limit` bounds every file that it writes, in blocks of 512 bytes.
pub(crate) fn child(test: &str, dir: &Path, env: &[(&str, &str)], limit: Option<u32>) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut command = match limit {
        None => Command::new(program),
        Some(blocks) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", "trap '' XFSZ; ulimit -S -f \"$1\"; shift; exec \"$@\"", "sh"]);
            shell.arg(blocks.to_string()).arg(program);
            shell
        }
    };
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(DIR, dir).envs(env.iter().copied()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}
