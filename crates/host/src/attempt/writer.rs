//! What goes to a keeper: the stop first, then acknowledgements, then frames in their order.

use std::time::Duration;

use holdfast_core::ids::AttemptId;
use holdfast_core::input::KeeperEvent;
use holdfast_keeper::connect::{CallError, Link};
use holdfast_keeper::protocol::{Refusal, Stop, StopScope};
use tokio::sync::{mpsc, watch};

use super::{FrameOrder, Orders, StopOrder, Word};

/// How soon a frame for which the keeper has no room is tried again.
const BUSY_RETRY: Duration = Duration::from_millis(50);

pub(super) struct Writer {
    link: Link,
    orders: watch::Receiver<Orders>,
    speak: mpsc::Sender<(AttemptId, Word)>,
    stopped: Option<StopOrder>,
    acknowledged: u64,
    written: u64,
    cancelled: u64,
}

/// How the writer goes on.
enum Next {
    /// With the next orders, which may be there already.
    Wait,
    /// With these, in a moment.
    Again,
    /// Not at all.
    Over,
}

impl Writer {
    pub(super) fn new(
        link: Link,
        orders: watch::Receiver<Orders>,
        speak: mpsc::Sender<(AttemptId, Word)>,
    ) -> Self {
        Self { link, orders, speak, stopped: None, acknowledged: 0, written: 0, cancelled: 0 }
    }

    pub(super) async fn run(mut self, attempt: AttemptId) {
        loop {
            let orders = self.orders.borrow_and_update().clone();
            match self.carry_out(attempt, &orders).await {
                Next::Over => return,
                Next::Again => tokio::time::sleep(BUSY_RETRY).await,
                Next::Wait => {
                    if self.orders.changed().await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    async fn carry_out(&mut self, attempt: AttemptId, orders: &Orders) -> Next {
        if orders.finished {
            return Next::Over;
        }
        if orders.stop != self.stopped {
            self.stopped = orders.stop;
            if let Some(stop) = orders.stop {
                self.stop(attempt, stop).await;
            }
        }
        if orders.acknowledged > self.acknowledged {
            self.acknowledged = orders.acknowledged;
            let _ = self.link.acknowledge(orders.acknowledged).await;
        }
        if orders.stop.is_some() {
            return Next::Wait;
        }
        for (number, frame) in orders.frames.range(..=self.written) {
            // It was given to the keeper, and is to be had back; what the spool says of it counts.
            if matches!(frame, FrameOrder::Cancel) && self.cancelled < *number {
                self.cancelled = *number;
                let _ = self.link.cancel_frame(*number).await;
            }
        }
        let waiting = orders.frames.range(self.written + 1..);
        for (number, frame) in waiting {
            holdfast_fault::point("host.frame.write.before");
            let result = match frame {
                FrameOrder::Write(bytes) => {
                    self.link.write_frame(*number, bytes.clone()).await.map(|_| ())
                }
                FrameOrder::Cancel => self.link.cancel_frame(*number).await.map(|_| ()),
            };
            holdfast_fault::point("host.frame.write.after");
            match result {
                Ok(()) => {
                    self.written = *number;
                    if matches!(frame, FrameOrder::Cancel) {
                        self.cancelled = *number;
                    }
                }
                Err(CallError::Refused(Refusal::Busy | Refusal::NoSpace)) => return Next::Again,
                Err(CallError::Disconnected) => return Next::Over,
                Err(error) => {
                    tracing::warn!(%attempt, frame = number, "the keeper did not take it: {error}");
                    return Next::Wait;
                }
            }
            if self.orders.has_changed().unwrap_or(true) {
                // A stop goes first.
                return Next::Wait;
            }
        }
        Next::Wait
    }

    async fn stop(&self, attempt: AttemptId, stop: StopOrder) {
        holdfast_fault::point("host.stop.before");
        let grace = stop.grace;
        let scope =
            if stop.leaving { StopScope::Agent { grace } } else { StopScope::Tree { grace } };
        let call = Stop { scope, unless_after: stop.unless_after };
        match self.link.stop(call).await {
            Ok(()) | Err(CallError::Disconnected | CallError::Silent) => {}
            Err(CallError::Refused(Refusal::NotIdle { .. })) => {
                let word = Word::Event(KeeperEvent::StopRefused);
                let _ = self.speak.send((attempt, word)).await;
            }
            Err(error) => tracing::info!(%attempt, "the stop found nothing to do: {error}"),
        }
    }
}
