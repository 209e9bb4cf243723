//! Has done what a chat owes, by the driver of its attempt: [`plan`] and [`draw_up`] say what.

use std::collections::BTreeMap;
use std::sync::Arc;

use holdfast_core::effect::Owed;
use holdfast_core::head::Life;
use holdfast_core::ids::MessageId;
use holdfast_core::limits::HEAD_BYTES_MAX;
use holdfast_store::Blobs;

use super::orders::{HostLife, Then, draw_up, letters_needed, plan};
use super::shell::Actor;
use crate::attachments::letter::{Letter, Shelf};
use crate::attempt::{self, Driver, Orders};

impl Actor {
    /// Has done what the chat owes: the driver of its attempt runs and knows its orders.
    pub(super) async fn reconcile(&mut self, origin: attempt::Origin) {
        debug_assert!(
            serde_json::to_vec(&self.work.core().chat().head)
                .map_or(true, |head| head.len() <= HEAD_BYTES_MAX * 4),
            "the head of {} has outgrown its bound",
            self.id
        );
        let owed = self.work.owed();
        let host = if self.shared.is_stopping() { HostLife::Stops } else { HostLife::Runs };
        let plan = plan(self.driver.as_ref().map(|driver| driver.attempt), owed.as_ref(), host);
        if let Some(driver) = self.driver.take_if(|driver| Some(driver.attempt) == plan.finished) {
            driver.finish();
        }
        let Some(owed) = owed else {
            if self.work.core().chat().head.life == Life::Deleted {
                self.shared.options.agents.remove_temp(self.id);
            }
            return;
        };
        match plan.then {
            Then::Nothing => return,
            Then::Start => self.driver = Some(self.spawn_driver(&owed, origin)),
            Then::Order => {}
        }
        self.order(&owed).await;
    }

    fn spawn_driver(&self, owed: &Owed, origin: attempt::Origin) -> Driver {
        let head = &self.work.core().chat().head;
        let start = attempt::StartSpec {
            chat: self.id,
            attempt: owed.attempt,
            secret: owed.secret.clone(),
            agent: head.agent.clone(),
            cwd: head.cwd.clone(),
            handle: head.handle.clone(),
            fork_of: head.fork.clone().or_else(|| head.copied_from.clone()),
            holds: head.session_messages,
            model: head.model.clone(),
            mode: head.mode.clone(),
            effort: head.effort.clone(),
            position: self.work.core().position(),
            resuming: head.attempt.as_ref().is_some_and(|attempt| attempt.resuming),
            pid: head.attempt.as_ref().and_then(|attempt| attempt.pid),
            kept: attempt::Known::of(&self.work.core().chat().aside.leftovers),
        };
        attempt::spawn(Arc::clone(&self.shared), start, origin, self.speak.clone())
    }

    async fn order(&mut self, owed: &Owed) {
        let Some(before) = self.driver.as_ref().map(Driver::orders) else { return };
        let letters = self.letters(owed, &before).await;
        let drawn = draw_up(self.work.core(), owed, before, &letters);
        self.work.ordered(drawn.unordered);
        if let Some(driver) = &self.driver {
            driver.give(drawn.orders);
        }
    }

    /// The messages that are to be written, as far as they can be had.
    async fn letters(&self, owed: &Owed, before: &Orders) -> BTreeMap<MessageId, Letter> {
        let mut letters = BTreeMap::new();
        for message in letters_needed(owed, before) {
            match self.letter(message).await {
                Ok(letter) => drop(letters.insert(message, letter)),
                Err(why) => tracing::warn!(chat = %self.id, "not yet: {message}: {why}"),
            }
        }
        letters
    }

    async fn letter(&self, message: MessageId) -> Result<Letter, String> {
        let found = self.shared.store.message(self.id, message).await;
        let row = found.map_err(|error| error.to_string())?.ok_or("it is not there")?;
        if row.attachments.is_empty() {
            return Ok(Letter { text: row.text, enclosed: Vec::new() });
        }
        let options = &self.shared.options;
        let (blobs, temp) = (Blobs::of(&options.data_dir), options.agents.temp_dir(self.id));
        let shelf = Shelf { blobs, chat: self.id, temp };
        let forms = self.work.core().forms(&row.attachments);
        let wanted = row.attachments.into_iter().zip(forms).collect();
        let enclosed = tokio::task::spawn_blocking(move || shelf.enclose(wanted)).await;
        let enclosed = enclosed.map_err(|error| error.to_string())?;
        Ok(Letter { text: row.text, enclosed: enclosed.map_err(|error| error.to_string())? })
    }
}
