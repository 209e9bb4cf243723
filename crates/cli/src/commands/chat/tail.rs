//! `holdfast chat tail`.

use std::time::Duration;

use serde_json::Value;

use super::Scene;
use super::transcript::Transcript;
use crate::events::{Event, Events};
use crate::fault::{Exit, Fault};
use crate::rows::{list, number, word};

/// Items of one page.
const PAGE_ITEMS_MAX: usize = 200;
/// Time between two attempts to reach a host, at first and at most.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// What `chat tail` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The chat.
    chat: String,
    /// Show so many of the last items.
    #[arg(short = 'n', long, default_value_t = 20, value_name = "COUNT")]
    items: usize,
    /// Go on with what follows, also when the host is replaced, until it is interrupted.
    #[arg(short, long)]
    follow: bool,
    /// Show the number of each item, with a `*` where the agent can be taken back to.
    #[arg(long)]
    numbers: bool,
}

impl Args {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let chat = scene.chat(&self.chat)?;
        let mut transcript = Transcript::new(&scene.client, scene.out, self.numbers);
        if self.follow {
            let (items, begun) = (self.items, false);
            return Follow { scene, chat, items, begun, cursor: None, transcript }.run();
        }
        for item in newest(scene, &chat, self.items)?.items {
            transcript.take(&item)?;
        }
        transcript.finish()?;
        scene.seen(&chat);
        Ok(())
    }
}

/// The end of a transcript.
struct Newest {
    /// In order.
    items: Vec<Value>,
    /// The place at which they begin, or would.
    from: u64,
}

/// The last items of a chat.
fn newest(scene: &Scene<'_>, chat: &str, count: usize) -> Result<Newest, Fault> {
    let mut pages: Vec<Vec<Value>> = Vec::new();
    let mut have = 0;
    let mut before = String::new();
    // One call at least: a chat that is not there is told also to who wants nothing of it.
    loop {
        let limit = count.saturating_sub(have).clamp(1, PAGE_ITEMS_MAX);
        let page = scene.client.get(&format!("/chats/{chat}/items?limit={limit}{before}"))?;
        let items = list(&page, "items").to_vec();
        have += items.len();
        pages.push(items);
        match page["next"].as_u64() {
            Some(next) if have < count => before = format!("&before={next}"),
            _ => break,
        }
    }
    let mut items: Vec<Value> = pages.into_iter().rev().flatten().collect();
    let end = items.last().map_or(1, |item| number(item, "seq") + 1);
    items.drain(..items.len().saturating_sub(count));
    let from = items.first().map_or(end, |item| number(item, "seq"));
    Ok(Newest { items, from })
}

/// Follows one chat across the lives of its host.
struct Follow<'a> {
    scene: &'a Scene<'a>,
    chat: String,
    /// Items of the past that are wanted.
    items: usize,
    /// Whether they were shown.
    begun: bool,
    /// Everything up to here was taken.
    cursor: Option<String>,
    transcript: Transcript<'a>,
}

impl Follow<'_> {
    fn run(&mut self) -> Result<(), Fault> {
        // The first time a host has to be there.
        let mut events = self.scene.client.events(&self.chat, None)?;
        loop {
            self.listen(&mut events)?;
            events = self.connect()?;
        }
    }

    /// Comes back with the cursor, however long no host answers.
    fn connect(&self) -> Result<Events, Fault> {
        let mut pause = PAUSE;
        let mut told = false;
        loop {
            self.scene.client.pause(pause);
            match self.scene.client.events(&self.chat, self.cursor.as_deref()) {
                Err(fault) if fault.passes() => {}
                other => return other,
            }
            pause = (pause * 2).min(PAUSE_MAX);
            if pause == PAUSE_MAX && !told {
                told = true;
                self.scene.out.note("The host is gone; waiting for the next one.");
            }
        }
    }

    /// Takes what a stream tells, to its end.
    fn listen(&mut self, events: &mut Events) -> Result<(), Fault> {
        while let Ok(event) = self.scene.client.run(events.next()) {
            let Event { cursor, frame } = event;
            let taken = match word(&frame, "type") {
                "snapshot" => self.catch_up(),
                "changes" => self.changes(&frame),
                _ => Ok(()),
            };
            match taken {
                Ok(()) => {}
                // The host went while something was read from it: the next one is asked again.
                Err(fault) if fault.passes() => return Ok(()),
                Err(fault) => return Err(fault),
            }
            // Only what was taken is behind the cursor.
            if cursor.is_some() && word(&frame, "type") != "hello" {
                self.cursor = cursor;
            }
        }
        Ok(())
    }

    fn changes(&mut self, frame: &Value) -> Result<(), Fault> {
        for change in list(frame, "changes") {
            if word(change, "chat") != self.chat {
                continue;
            }
            match word(change, "what") {
                "item" if !change["value"].is_null() => self.transcript.take(&change["value"])?,
                "chat" if change["value"]["unread"] == true => self.scene.seen(&self.chat),
                "removed" => {
                    self.transcript.finish()?;
                    let text = format!("{} was deleted.", self.chat);
                    return Err(Fault::new(Exit::NotFound, "chat_not_found", text));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads what the stream does not tell: the past at first, after a gap all that was missed.
    fn catch_up(&mut self) -> Result<(), Fault> {
        if !self.begun {
            let newest = newest(self.scene, &self.chat, self.items)?;
            self.transcript.begin(newest.from);
            self.begun = true;
            newest.items.iter().try_for_each(|item| self.transcript.take(item))?;
            self.scene.seen(&self.chat);
            return Ok(());
        }
        let mut after = self.transcript.last();
        // What was under way when it was last heard of.
        for item in newest(self.scene, &self.chat, PAGE_ITEMS_MAX)?.items {
            if number(&item, "seq") <= after {
                self.transcript.take(&item)?;
            }
        }
        loop {
            let path = format!("/chats/{}/items?after={after}&limit={PAGE_ITEMS_MAX}", self.chat);
            let page = self.scene.client.get(&path)?;
            let items = list(&page, "items");
            let Some(newest) = items.last() else { return Ok(()) };
            after = number(newest, "seq");
            for item in items {
                self.transcript.take(item)?;
            }
        }
    }
}
