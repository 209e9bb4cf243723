//! One attempt, from the committed intent to the proven death. The driver's orders are a level, not
//! a stream: they say what is owed now, so that a lost connection or a new host goes on from what
//! the keeper has.

mod bury;
mod claude;
mod driver;
mod leftovers;
mod record;
mod silent;
mod turn;
pub mod verdict;
mod writer;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use holdfast_core::fact::Secret;
use holdfast_core::ids::{AttemptId, ChatId, Position};
use holdfast_core::input::KeeperEvent;
use holdfast_core::provider::{Handle, Trunk};
use holdfast_keeper::Record;
use holdfast_keeper::registry::AttemptDir;
use tokio::sync::{oneshot, watch};

pub use driver::spawn;
pub use leftovers::Known;
pub use record::{Reading, death_of};
pub use writer::{After, Ask, BUSY_RETRY, Next, Writer};

/// How often it is looked whether a keeper that was let go, or killed, is gone.
const GONE_POLL: Duration = Duration::from_millis(20);
/// How often at most; then it lives.
const GONE_POLLS_MAX: u32 = 500;

/// Waits until the keeper of this attempt is gone. `false` if it still lives after ten seconds.
pub(crate) async fn is_gone(dir: &AttemptDir) -> bool {
    for _ in 0..GONE_POLLS_MAX {
        match dir.is_alive() {
            Ok(false) => return true,
            Ok(true) | Err(_) => tokio::time::sleep(GONE_POLL).await,
        }
    }
    false
}

/// Whether an attempt begins, or was there before this host, or this load of the chat, was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Its beginning was just committed here.
    Fresh,
    /// It was found in the head.
    Adopted,
}

/// What an attempt is started, or found again, with.
#[derive(Clone, Debug)]
pub struct StartSpec {
    /// The chat.
    pub chat: ChatId,
    /// The attempt.
    pub attempt: AttemptId,
    /// What keeper and host know of each other by.
    pub secret: Secret,
    /// The agent's id in the configuration.
    pub agent: String,
    /// The working directory.
    pub cwd: String,
    /// The agent's session, where the chat has one.
    pub handle: Option<Handle>,
    /// The other session that its first one is a copy of, where it is.
    pub fork_of: Option<Trunk>,
    /// How many messages that session holds at most.
    pub holds: u64,
    /// The model that the chat wants.
    pub model: Option<String>,
    /// The mode that the chat wants.
    pub mode: Option<String>,
    /// The effort that the chat wants.
    pub effort: Option<String>,
    /// The next record to read.
    pub position: Position,
    /// Whether it is started to resume an offer.
    pub resuming: bool,
    /// The agent's pid, as far as known.
    pub pid: Option<u32>,
    /// What its keeper was seen to keep beside the agent.
    pub kept: Known,
}

/// What a driver tells its actor.
#[derive(Clone, Debug)]
pub enum Word {
    /// One record, and the position behind it.
    Record(Record, Position),
    /// What is not in the spool.
    Event(KeeperEvent),
}

/// What is to become of a frame.
#[derive(Clone, Debug)]
pub enum FrameOrder {
    /// It is written.
    Write(Arc<[u8]>),
    /// The agent no longer waits for it.
    Cancel,
}

/// A stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopOrder {
    /// Time between TERM and KILL.
    pub grace: Duration,
    /// Whether what outlived its tool call is left.
    pub leaving: bool,
    /// Only if nothing was spooled at or after this position.
    pub unless_after: Option<u64>,
}

/// The session that an attempt works with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOrder {
    /// The agent's id of it.
    pub id: String,
    /// How many messages it holds at most, the one at the agent not counted.
    pub holds: u64,
}

/// What is owed to an attempt.
#[derive(Clone, Debug, Default)]
pub struct Orders {
    /// Frames that are not known to be written, by number.
    pub frames: BTreeMap<u64, FrameOrder>,
    /// That it is to stop.
    pub stop: Option<StopOrder>,
    /// Whether its session stands.
    pub ready: bool,
    /// Its session, once that is known.
    pub session: Option<SessionOrder>,
    /// Whether it starts without a place among the resumes: it resumes nothing, or not any more.
    pub at_once: bool,
    /// The position before which everything is committed.
    pub acknowledged: u64,
    /// The death is committed: its traces can go.
    pub finished: bool,
}

/// The actor's end of a driver.
#[derive(Debug)]
pub struct Driver {
    /// The attempt.
    pub attempt: AttemptId,
    orders: watch::Sender<Orders>,
    finding: Option<oneshot::Receiver<()>>,
}

impl Driver {
    /// Ends once the actor has been told all that says whether the attempt lives: its death, or
    /// what its keeper had when it was attached to. To be asked once.
    pub fn finding(&mut self) -> Option<oneshot::Receiver<()>> {
        self.finding.take()
    }

    /// The orders as they are.
    #[must_use]
    pub fn orders(&self) -> Orders {
        self.orders.borrow().clone()
    }

    /// Gives these orders.
    pub fn give(&self, orders: Orders) {
        self.orders.send_replace(orders);
    }

    /// Says that the death is committed.
    pub fn finish(self) {
        self.orders.send_modify(|orders| orders.finished = true);
    }
}
