//! What goes to a keeper: the stop first, then acknowledgements, then frames in their order. The
//! [`Writer`] says what is next, without any I/O, here and in the simulation; [`run`] asks for it.

use std::time::Duration;

use holdfast_core::ids::AttemptId;
use holdfast_core::input::KeeperEvent;
use holdfast_keeper::connect::{CallError, Link};
use holdfast_keeper::protocol::{Refusal, Stop, StopScope};
use tokio::sync::{mpsc, watch};

use super::{FrameOrder, Orders, StopOrder, Word};

/// How soon a frame for which the keeper has no room is tried again.
pub const BUSY_RETRY: Duration = Duration::from_millis(50);

/// What a keeper is asked for.
#[derive(Clone, Debug)]
pub enum Ask {
    /// To stop the agent.
    Stop(Stop),
    /// To forget what is before this position.
    Acknowledge(u64),
    /// To give back a frame that it has already; what the spool says of it counts.
    TakeBack(u64),
    /// To take the next frame, or to pass over it.
    Frame(u64, FrameOrder),
}

/// What is next.
#[derive(Clone, Debug)]
pub enum Next {
    /// This is asked for; nothing else is before it is answered.
    Ask(Ask),
    /// Nothing, until the orders change.
    Wait,
    /// Nothing any more.
    Over,
}

/// What follows an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    /// Whatever is next by the orders as they are then.
    Next,
    /// The same, once the actor has been told this.
    Tell(KeeperEvent),
    /// The same, after [`BUSY_RETRY`].
    Again,
    /// Nothing, until the orders change.
    Wait,
    /// Nothing any more.
    Over,
}

/// What one connection to a keeper was given.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    stopped: Option<StopOrder>,
    acknowledged: u64,
    written: u64,
    cancelled: u64,
}

impl Writer {
    /// What is next by these orders.
    pub fn next(&mut self, orders: &Orders) -> Next {
        if orders.finished {
            return Next::Over;
        }
        if orders.stop != self.stopped {
            self.stopped = orders.stop;
            if let Some(stop) = orders.stop {
                return Next::Ask(Ask::Stop(call_of(stop)));
            }
        }
        if orders.acknowledged > self.acknowledged {
            self.acknowledged = orders.acknowledged;
            return Next::Ask(Ask::Acknowledge(orders.acknowledged));
        }
        if orders.stop.is_some() {
            return Next::Wait;
        }
        let mut given = orders.frames.range(..=self.written);
        let back = given.find(|(number, frame)| match frame {
            FrameOrder::Cancel => self.cancelled < **number,
            FrameOrder::Write(_) => false,
        });
        if let Some((number, _)) = back {
            self.cancelled = *number;
            return Next::Ask(Ask::TakeBack(*number));
        }
        match orders.frames.range(self.written + 1..).next() {
            Some((number, frame)) => Next::Ask(Ask::Frame(*number, frame.clone())),
            None => Next::Wait,
        }
    }

    /// What follows the keeper's answer.
    pub fn answered(&mut self, ask: &Ask, answer: &Result<(), CallError>) -> After {
        match (ask, answer) {
            (Ask::Frame(number, order), Ok(())) => {
                self.written = *number;
                if let FrameOrder::Cancel = order {
                    self.cancelled = *number;
                }
                After::Next
            }
            (Ask::Frame(..), Err(CallError::Refused(Refusal::Busy | Refusal::NoSpace))) => {
                After::Again
            }
            (Ask::Frame(..), Err(CallError::Disconnected | CallError::Silent)) => After::Over,
            (Ask::Frame(..), Err(_)) => After::Wait,
            (Ask::Stop(_), Err(CallError::Refused(Refusal::NotIdle { .. }))) => {
                After::Tell(KeeperEvent::StopRefused)
            }
            // What was spooled, and what was not, is read there.
            (Ask::Stop(_) | Ask::Acknowledge(_) | Ask::TakeBack(_), _) => After::Next,
        }
    }
}

fn call_of(stop: StopOrder) -> Stop {
    let grace = stop.grace;
    let scope = if stop.leaving { StopScope::Agent { grace } } else { StopScope::Tree { grace } };
    Stop { scope, unless_after: stop.unless_after }
}

/// Gives a keeper what is ordered while its connection lasts.
pub(super) async fn run(
    attempt: AttemptId,
    link: Link,
    mut orders: watch::Receiver<Orders>,
    speak: mpsc::Sender<(AttemptId, Word)>,
) {
    let mut writer = Writer::default();
    loop {
        let next = writer.next(&orders.borrow_and_update());
        let after = match next {
            Next::Ask(ask) => {
                let answer = call(&link, &ask).await;
                if let Err(error) = &answer {
                    log(attempt, &ask, error);
                }
                writer.answered(&ask, &answer)
            }
            Next::Wait => After::Wait,
            Next::Over => After::Over,
        };
        match after {
            After::Next => {}
            After::Tell(event) => {
                let _ = speak.send((attempt, Word::Event(event))).await;
            }
            After::Again => tokio::time::sleep(BUSY_RETRY).await,
            After::Wait => {
                if orders.changed().await.is_err() {
                    return;
                }
            }
            After::Over => return,
        }
    }
}

async fn call(link: &Link, ask: &Ask) -> Result<(), CallError> {
    match ask {
        Ask::Stop(stop) => {
            holdfast_fault::point("host.stop.before");
            link.stop(*stop).await
        }
        Ask::Acknowledge(position) => link.acknowledge(*position).await.map(drop),
        Ask::TakeBack(number) => link.cancel_frame(*number).await.map(drop),
        Ask::Frame(number, order) => {
            holdfast_fault::point("host.frame.write.before");
            let answer = match order {
                FrameOrder::Write(bytes) => {
                    link.write_frame(*number, bytes.clone()).await.map(drop)
                }
                FrameOrder::Cancel => link.cancel_frame(*number).await.map(drop),
            };
            holdfast_fault::point("host.frame.write.after");
            answer
        }
    }
}

fn log(attempt: AttemptId, ask: &Ask, error: &CallError) {
    match (ask, error) {
        (_, CallError::Disconnected | CallError::Silent)
        | (_, CallError::Refused(Refusal::Busy | Refusal::NoSpace | Refusal::NotIdle { .. }))
        | (Ask::Acknowledge(_) | Ask::TakeBack(_), _) => {}
        (Ask::Stop(_), _) => tracing::info!(%attempt, "the stop found nothing to do: {error}"),
        (Ask::Frame(frame, _), _) => {
            tracing::warn!(%attempt, frame, "the keeper did not take it: {error}");
        }
    }
}
