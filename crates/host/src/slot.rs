//! A slot changes hands: one commit over two chats.

use std::time::Duration;

use holdfast_core::ids::ChatId;
use holdfast_core::input::{Caller, ChangeChat, Command};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::Unit;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::actor::{Message, Part};
use crate::host::{Host, uncertain};

/// How often a chat that waits for the other one is asked whether the host stops.
const STOP_LOOK: Duration = Duration::from_millis(100);

/// What a chat hands out, and where it hears whether that was stored.
struct Handed {
    unit: Option<Unit>,
    outcome: oneshot::Sender<bool>,
}

impl Host {
    /// Takes a slot from a chat and gives it to another one, both or neither. The operation is
    /// stored with what the new one changes.
    ///
    /// # Errors
    ///
    /// The refusals of the rules, of operations, of commits, of a stop.
    pub async fn give_slot(
        &self,
        slot: String,
        from: ChatId,
        to: ChatId,
        caller: Caller,
    ) -> Result<(), Refusal> {
        if from == to {
            let change = ChangeChat { slot: Some(slot), ..ChangeChat::default() };
            return self.submit(to, Command::Change(change), caller).await.map(drop);
        }
        if self.replayed(&caller).await?.is_some() {
            return Ok(());
        }
        self.takes_writes()?;
        let host = self.clone();
        // By itself: whoever asked may leave, and the chats must hear what came of it.
        let given = tokio::spawn(async move { host.give(slot, from, to, caller).await }).await;
        given.unwrap_or_else(|_| Err(uncertain()))
    }

    async fn give(
        &self,
        slot: String,
        from: ChatId,
        to: ChatId,
        caller: Caller,
    ) -> Result<(), Refusal> {
        let keyless = Caller { operation: None, ..caller.clone() };
        // The smaller id first, whoever gives what: two of these never wait for each other.
        let (old, new) = if from < to {
            let old = self.hand_out(from, String::new(), keyless).await?;
            (old, self.hand_out(to, slot, caller).await?)
        } else {
            let new = self.hand_out(to, slot, caller).await?;
            (self.hand_out(from, String::new(), keyless).await?, new)
        };
        let units: Vec<Unit> = [old.unit, new.unit].into_iter().flatten().collect();
        let committed = match units.is_empty() {
            true => Ok(()),
            false => self.store().commit(units).await.map(drop),
        };
        for outcome in [old.outcome, new.outcome] {
            let _ = outcome.send(committed.is_ok());
        }
        committed.map_err(|error| error.refusal())
    }

    async fn hand_out(
        &self,
        chat: ChatId,
        slot: String,
        caller: Caller,
    ) -> Result<Handed, Refusal> {
        let change = ChangeChat { slot: Some(slot), ..ChangeChat::default() };
        let command = Box::new(Command::Change(change));
        // An actor that was just leaving did not hear it: the next one does.
        for _ in 0..8 {
            let (unit, mut handed) = oneshot::channel();
            let (outcome, decided) = oneshot::channel();
            let (command, caller) = (command.clone(), caller.clone());
            let part = Part { command, caller, unit, outcome: decided };
            if let Err(TrySendError::Full(_)) = self.actor(chat).try_send(Message::Part(part)) {
                break;
            }
            loop {
                match timeout(STOP_LOOK, &mut handed).await {
                    Ok(Ok(part)) => return Ok(Handed { unit: part?, outcome }),
                    Ok(Err(_)) => break,
                    // The other chat may be kept from handing out its part of the stop by this.
                    Err(_) => self.takes_writes()?,
                }
            }
            self.forget_gone(chat);
        }
        let text = "This chat has too many requests at once. Try again in a moment.";
        Err(Refusal::new(Code::Overloaded, text))
    }
}
