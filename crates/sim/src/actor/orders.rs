//! What a chat owes, as orders to the driver of its attempt.

use std::time::Duration;

use holdfast_core::effect::Owed;
use holdfast_core::fact::StopWhy;
use holdfast_core::frame::Outgoing;
use holdfast_core::limits::STOP_GRACE_MICROS;

use holdfast_host::attempt::{FrameOrder, StopOrder};

use super::Actor;
use crate::driver::{Driver, Origin};
use crate::host::Host;
use crate::world::World;

/// How long commands wait for an attempt of an earlier host to be found, in microseconds.
const FINDING_MICROS: u64 = 5_000_000;

impl Actor {
    /// Has done what the chat owes: the driver of its attempt runs and knows its orders.
    pub(super) fn reconcile(&mut self, w: &mut World, host: &mut Host, origin: Origin) {
        let owed = self.core.owed();
        let current = owed.as_ref().map(|owed| owed.attempt);
        if let Some(over) = self.driver.take_if(|driver| Some(*driver) != current)
            && let Some(driver) = host.drivers.get_mut(&over)
        {
            driver.finish();
        }
        let Some(owed) = owed else { return };
        if self.driver.is_none() && host.is_stopping() {
            // What was decided to start after the stop is started by the next host.
            return;
        }
        if self.driver.is_none() {
            if origin == Origin::Adopted {
                self.finding = Some(w.clock.awake + FINDING_MICROS);
            }
            let (secret, position) = (owed.secret.clone(), self.core.position());
            let driver = Driver::new(self.id, owed.attempt, secret, position, origin);
            host.drivers.insert(owed.attempt, driver);
            self.driver = Some(owed.attempt);
        }
        self.order(w, host, &owed);
    }

    pub(super) fn order(&self, w: &mut World, host: &mut Host, owed: &Owed) {
        let Some(driver) = host.drivers.get_mut(&owed.attempt) else { return };
        let mut orders = driver.orders.clone();
        for issued in &owed.frames {
            if orders.frames.contains_key(&issued.frame.0) {
                continue;
            }
            let text = match &issued.out {
                Outgoing::Message { message } => {
                    w.journal.store.message(self.id, *message).map(|row| row.text)
                }
                Outgoing::Protocol(_)
                | Outgoing::Answer { .. }
                | Outgoing::Interrupt
                | Outgoing::StopTask { .. } => None,
            };
            let frame = match self.core.encode(issued, text.as_deref()) {
                Ok(bytes) => FrameOrder::Write(bytes.into()),
                Err(_) => FrameOrder::Cancel,
            };
            orders.frames.insert(issued.frame.0, frame);
        }
        if let Some(frame) = owed.withdraw {
            orders.frames.insert(frame.0, FrameOrder::Cancel);
        }
        let first = owed.frames.first().map(|issued| issued.frame.0);
        orders.frames.retain(|number, _| first.is_some_and(|first| *number >= first));
        orders.stop = owed.stop.map(|why| StopOrder {
            leaving: why == StopWhy::CloseLeaving,
            grace: Duration::from_micros(STOP_GRACE_MICROS),
            unless_after: match why {
                StopWhy::Idle => Some(self.core.position().0),
                StopWhy::Offered(_)
                | StopWhy::Close
                | StopWhy::CloseLeaving
                | StopWhy::Delete
                | StopWhy::Ordered
                | StopWhy::StartFailed => None,
            },
        });
        orders.acknowledged = self.core.position().0;
        driver.order(orders);
    }
}
