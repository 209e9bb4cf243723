//! What a chat owes, as orders to the driver of its attempt.

use std::sync::Arc;
use std::time::Duration;

use holdfast_agent::codec::EncodeError;
use holdfast_core::effect::Owed;
use holdfast_core::fact::StopWhy;
use holdfast_core::frame::Outgoing;
use holdfast_core::head::{Life, Phase};
use holdfast_core::limits::{HEAD_BYTES_MAX, STOP_GRACE_MICROS};

use super::shell::Actor;
use crate::attempt::{self, Driver, FrameOrder, StopOrder};

impl Actor {
    /// Has done what the chat owes: the driver of its attempt runs and knows its orders.
    pub(super) async fn reconcile(&mut self, origin: attempt::Origin) {
        debug_assert!(
            serde_json::to_vec(&self.core.chat().head)
                .map_or(true, |head| head.len() <= HEAD_BYTES_MAX * 4),
            "the head of {} has outgrown its bound",
            self.id
        );
        let owed = self.core.owed();
        let current = owed.as_ref().map(|owed| owed.attempt);
        if let Some(driver) = self.driver.take_if(|driver| Some(driver.attempt) != current) {
            driver.finish();
        }
        let Some(owed) = owed else {
            if self.core.chat().head.life == Life::Deleted {
                self.shared.options.agents.remove_temp(self.id);
            }
            return;
        };
        if self.driver.is_none() && self.shared.is_stopping() {
            // What was decided to start after the stop is started by the next host.
            return;
        }
        if self.driver.is_none() {
            self.driver = Some(self.spawn_driver(&owed, origin));
        }
        self.order(&owed).await;
    }

    fn spawn_driver(&self, owed: &Owed, origin: attempt::Origin) -> Driver {
        let head = &self.core.chat().head;
        let start = attempt::StartSpec {
            chat: self.id,
            attempt: owed.attempt,
            secret: owed.secret.clone(),
            agent: head.agent.clone(),
            cwd: head.cwd.clone(),
            position: self.core.position(),
            resuming: head.attempt.as_ref().is_some_and(|attempt| attempt.resuming),
            pid: head.attempt.as_ref().and_then(|attempt| attempt.pid),
            kept: attempt::Known::of(&self.core.chat().aside.leftovers),
        };
        attempt::spawn(Arc::clone(&self.shared), start, origin, self.speak.clone())
    }

    /// The text that a frame needs beside its intent.
    async fn text_of(&self, out: &Outgoing) -> Result<Option<String>, String> {
        let Outgoing::Message { message } = out else { return Ok(None) };
        match self.shared.store.message(self.id, *message).await {
            Ok(Some(row)) => Ok(Some(row.text)),
            Ok(None) => Err(format!("the text of {message} is not there")),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn order(&mut self, owed: &Owed) {
        self.unordered = false;
        let Some(driver) = self.driver.take() else { return };
        let mut orders = driver.orders();
        for issued in &owed.frames {
            if orders.frames.contains_key(&issued.frame.0) {
                continue;
            }
            let text = match self.text_of(&issued.out).await {
                Ok(text) => text,
                Err(why) => {
                    tracing::warn!(chat = %self.id, frame = issued.frame.0, "not yet: {why}");
                    self.unordered = true;
                    break;
                }
            };
            let frame = match self.core.encode(issued, text.as_deref()) {
                Ok(bytes) => FrameOrder::Write(bytes.into()),
                Err(
                    error @ (EncodeError::PromptGone { .. }
                    | EncodeError::TaskGone { .. }
                    | EncodeError::TaskNotStoppable { .. }),
                ) => {
                    tracing::info!(chat = %self.id, frame = issued.frame.0, "passed over: {error}");
                    FrameOrder::Cancel
                }
                Err(error) => {
                    // Frames are written in their order: what comes behind it waits too.
                    tracing::error!(chat = %self.id, frame = issued.frame.0, "{error}");
                    break;
                }
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
        let attempt = self.core.chat().head.attempt.as_ref();
        orders.ready = attempt.is_some_and(|attempt| attempt.phase == Phase::Ready);
        orders.acknowledged = self.core.position().0;
        driver.give(orders);
        self.driver = Some(driver);
    }
}
