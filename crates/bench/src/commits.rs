//! What bounds every post: how often this disk syncs, and how often the store commits.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use holdfast_core::decide::decide;
use holdfast_core::fact::{Author, Secret};
use holdfast_core::head::Chat;
use holdfast_core::ids::{AttemptId, ChatId, MessageId};
use holdfast_core::input::{Command, Given, Input, Send};
use holdfast_core::summary::Summary;
use holdfast_core::time::{Awake, Micros};
use holdfast_store::{Journal, Options, Sqlite, Unit};
use uuid::Uuid;

/// Bytes of each message.
pub(crate) const MESSAGE_BYTES: usize = 1024;
/// Messages that one chat takes before the next one is used: less than its queue holds.
pub(crate) const MESSAGES_A_CHAT: usize = 900;

/// Appends to a plain file, each synced, one after the other: how many a second.
pub(crate) fn syncs(dir: &Path, lasts: Duration) -> anyhow::Result<f64> {
    let mut file = File::create(dir.join("probe"))?;
    let (begun, mut done) = (Instant::now(), 0_u32);
    while begun.elapsed() < lasts {
        file.write_all(&[b'x'; MESSAGE_BYTES])?;
        file.sync_data()?;
        done += 1;
    }
    Ok(f64::from(done) / begun.elapsed().as_secs_f64())
}

/// Messages accepted by a store in this process, from so many tasks at once: how many a second.
pub(crate) async fn commits(dir: &Path, tasks: usize, lasts: Duration) -> anyhow::Result<f64> {
    let dir = dir.join(format!("commits-{tasks}"));
    let store = Arc::new(Sqlite::open(&Options::new(&dir))?);
    let begun = Instant::now();
    let writers = (0..tasks).map(|task| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut done = 0_u32;
            let mut chat = Chats::new(task);
            while begun.elapsed() < lasts {
                for unit in chat.next()? {
                    store.commit(vec![unit]).await?;
                }
                done += 1;
            }
            anyhow::Ok(done)
        })
    });
    let mut done = 0;
    for writer in writers.collect::<Vec<_>>() {
        done += writer.await??;
    }
    let rate = f64::from(done) / begun.elapsed().as_secs_f64();
    store.stop();
    Ok(rate)
}

/// Chats of one task, one after the other, each with a paused queue.
struct Chats {
    task: usize,
    n: u128,
    chat: Chat,
    messages: usize,
}

impl Chats {
    fn new(task: usize) -> Self {
        Self { task, n: 0, chat: Chat::default(), messages: MESSAGES_A_CHAT }
    }

    /// The commits of the next message: now and then a new chat comes first.
    fn next(&mut self) -> anyhow::Result<Vec<Unit>> {
        let mut units = Vec::new();
        if self.messages == MESSAGES_A_CHAT {
            self.messages = 0;
            self.n += 1;
            self.chat = Chat::default();
            units.push(self.unit(Command::Open {
                agent: "demo".to_owned(),
                cwd: "/".to_owned(),
                project: None,
                title: None,
                slot: None,
                model: None,
                effort: None,
                mode: None,
                fork: None,
                adopt: None,
                message: None,
            })?);
            units.push(self.unit(Command::PauseQueue)?);
        }
        self.messages += 1;
        units.push(self.unit(Command::Send {
            message: MessageId::new(Uuid::new_v4()),
            text: "x".repeat(MESSAGE_BYTES),
            by: Author::Person,
            send: Send::Queue,
            attachments: Vec::new(),
        })?);
        Ok(units)
    }

    fn unit(&mut self, command: Command) -> anyhow::Result<Unit> {
        let id = (u128::try_from(self.task)? << 64) + self.n;
        let given = Given {
            chat: ChatId::new(Uuid::from_u128(id)),
            at: Micros(1_764_000_000_000_000),
            awake: Awake(0),
            attempt: AttemptId::new(Uuid::new_v4()),
            secret: Secret("00".to_owned()),
        };
        let after = self.chat.head.seq;
        let decision = decide(&mut self.chat, Input::Command(command), &given)
            .map_err(|refusal| anyhow::anyhow!("{refusal}"))?;
        Ok(Unit {
            chat: given.chat,
            after,
            at: given.at,
            facts: decision.facts,
            rows: decision.rows,
            head: self.chat.head.clone(),
            summary: Summary::of(&self.chat),
            progress: None,
            operation: None,
            clear_draft: None,
        })
    }
}
