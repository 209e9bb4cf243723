//! The traits, handed on to the threads.

use std::ops::Range;

use holdfast_core::fork::{ForkedFile, TurnPlace};
use holdfast_core::ids::{AttachmentId, ChatId, ItemId, MessageId, PromptId, Seq, TaskId, TurnId};
use holdfast_core::item::Field;
use holdfast_core::slash::SlashCommand;
use holdfast_core::time::Micros;
use rusqlite::Connection;
use tokio::sync::{oneshot, watch};
use uuid::Uuid;

use super::Sqlite;
use super::fail::Fail;
use super::operations;
use super::read;
use super::writer::{Answered, CALLS_WAITING_MAX, Call};
use crate::change::{Change, ChangeBounds};
use crate::figures::{Figures, Since};
use crate::journal::{CommitError, Committed, Journal, Operation, Pending, Unit};
use crate::query::{Answer, QueryError, Store};
use crate::rows::{
    AttachmentRow, ChatFilter, ChatPage, ChatRow, Counts, Draft, FactRow, FailureRow, GrantRow,
    ItemRow, Loaded, MessageRow, OfferRow, PageFrom, PromptRow, QueueBounds, QueuePage,
    StoredOperation, TaskRow, TextRange, TurnRow,
};

impl Sqlite {
    fn ask<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Fail> + Send + 'static,
    ) -> Answer<T> {
        match self.inner.readers() {
            Some(readers) => readers.ask(query),
            None => Box::pin(std::future::ready(Err(QueryError::Stopped))),
        }
    }

    /// Asks about one chat, by its key.
    fn ask_chat<T: Send + 'static>(
        &self,
        chat: ChatId,
        query: impl FnOnce(&Connection, &[u8]) -> Result<T, Fail> + Send + 'static,
    ) -> Answer<T> {
        let key = *chat.uuid().as_bytes();
        self.ask(move |db| query(db, &key))
    }

    /// Asks about one chat that is not deleted; of another nothing is answered.
    fn ask_here<T: Default + Send + 'static>(
        &self,
        chat: ChatId,
        query: impl FnOnce(&Connection, &[u8]) -> Result<T, Fail> + Send + 'static,
    ) -> Answer<T> {
        self.ask_chat(
            chat,
            |db, key| {
                if read::is_here(db, key)? { query(db, key) } else { Ok(T::default()) }
            },
        )
    }

    fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(Answered<T>) -> Call + Send + 'static,
    ) -> Pending<T, CommitError> {
        let calls = self.inner.calls();
        Box::pin(async move {
            let calls = calls.ok_or(CommitError::Stopped)?;
            let (answer, answered) = oneshot::channel();
            calls.send(call(answer)).await.map_err(|_| CommitError::Stopped)?;
            drop(calls);
            // Without an answer the writer ended in the middle of it.
            let lost = || CommitError::Uncertain("the writer ended".to_owned());
            answered.await.unwrap_or_else(|_| Err(lost()))
        })
    }
}

impl Journal for Sqlite {
    fn commit(&self, units: Vec<Unit>) -> Pending<Vec<Committed<Unit>>, CommitError> {
        let (since, seconds) = (Since::now(), self.inner.figures.append_seconds.clone());
        let committing = self.call(|answer| Call::Commit { units, answer });
        Box::pin(async move {
            let committed = committing.await;
            since.observe(&seconds);
            committed
        })
    }
}

impl Store for Sqlite {
    fn figures(&self) -> Figures {
        let calls = self.inner.calls();
        let waiting = calls.map_or(0, |calls| calls.max_capacity() - calls.capacity());
        Figures {
            calls_waiting: waiting,
            calls_waiting_max: CALLS_WAITING_MAX,
            ..self.inner.figures.clone()
        }
    }
    fn load(&self, chat: ChatId) -> Answer<Option<Loaded>> {
        let damage = self.inner.damage.clone();
        self.ask(move |db| {
            let loaded = read::load(db, chat)?;
            if let Some(Loaded { read_only: Some(why), .. }) = &loaded {
                damage.note(why.clone());
            }
            Ok(loaded)
        })
    }
    fn owing(&self) -> Answer<Vec<ChatId>> {
        self.ask(read::owing)
    }
    fn chats(&self, filter: ChatFilter, before: Option<String>, limit: usize) -> Answer<ChatPage> {
        let page = self.ask(move |db| read::chats(db, filter, before.as_deref(), limit));
        Box::pin(async move { page.await?.ok_or(QueryError::InvalidPage) })
    }
    fn chat(&self, chat: ChatId) -> Answer<Option<ChatRow>> {
        self.ask(move |db| read::chat(db, chat))
    }
    fn chat_by_slot(&self, slot: String) -> Answer<Option<ChatRow>> {
        self.ask(move |db| read::chat_by_slot(db, &slot))
    }
    fn chats_by_sessions(&self, sessions: Vec<String>) -> Answer<Vec<(String, ChatId)>> {
        self.ask(move |db| read::by_sessions(db, &sessions))
    }
    fn items(&self, chat: ChatId, from: PageFrom, limit: usize) -> Answer<Vec<ItemRow>> {
        self.ask_here(chat, move |db, key| read::items(db, key, from, limit))
    }
    fn item(&self, chat: ChatId, item: ItemId) -> Answer<Option<ItemRow>> {
        self.ask_here(chat, move |db, key| read::item(db, key, item))
    }
    fn item_text(
        &self,
        chat: ChatId,
        item: ItemId,
        field: Field,
        range: Range<u64>,
    ) -> Answer<Option<TextRange>> {
        self.ask_here(chat, move |db, key| read::item_text(db, key, item, field, range))
    }
    fn turns(&self, chat: ChatId, before: Option<TurnId>, limit: usize) -> Answer<Vec<TurnRow>> {
        self.ask_here(chat, move |db, key| read::turns(db, key, before, limit))
    }
    fn turn(&self, chat: ChatId, turn: TurnId) -> Answer<Option<TurnRow>> {
        self.ask_here(chat, move |db, key| read::turn(db, key, turn))
    }
    fn turn_place(&self, chat: ChatId, at: u64) -> Answer<Option<TurnPlace>> {
        self.ask_here(chat, move |db, key| read::turn_place(db, key, at))
    }
    fn files_until(&self, chat: ChatId, at: u64) -> Answer<Vec<ForkedFile>> {
        self.ask_here(chat, move |db, key| read::files_until(db, key, at))
    }
    fn message(&self, chat: ChatId, message: MessageId) -> Answer<Option<MessageRow>> {
        self.ask_chat(chat, move |db, key| read::message(db, key, message))
    }
    fn queue(
        &self,
        chat: ChatId,
        from: Option<MessageId>,
        bounds: QueueBounds,
    ) -> Answer<Option<QueuePage>> {
        self.ask_chat(chat, move |db, key| read::queue(db, key, from, bounds))
    }
    fn attachment(&self, chat: ChatId, id: AttachmentId) -> Answer<Option<AttachmentRow>> {
        self.ask_here(chat, move |db, key| read::attachment(db, key, id))
    }
    fn attachments(&self, chat: ChatId) -> Answer<Vec<AttachmentRow>> {
        self.ask_here(chat, read::attachments)
    }
    fn prompt(&self, chat: ChatId, prompt: PromptId) -> Answer<Option<PromptRow>> {
        self.ask_here(chat, move |db, key| read::prompt(db, key, prompt))
    }
    fn commands(&self, chat: ChatId) -> Answer<Vec<SlashCommand>> {
        self.ask_here(chat, read::commands)
    }
    fn grants(&self, chat: ChatId) -> Answer<Vec<GrantRow>> {
        self.ask_here(chat, read::grants)
    }
    fn task(&self, chat: ChatId, task: TaskId) -> Answer<Option<TaskRow>> {
        self.ask_here(chat, move |db, key| read::task(db, key, task))
    }
    fn facts(&self, chat: ChatId, after: Seq, limit: usize) -> Answer<Vec<FactRow>> {
        self.ask_here(chat, move |db, key| read::facts(db, key, after, limit))
    }
    fn offers(&self) -> Answer<Vec<OfferRow>> {
        self.ask(read::offers)
    }
    fn offer(&self, chat: ChatId) -> Answer<Option<OfferRow>> {
        self.ask(move |db| read::offer(db, chat))
    }
    fn failures(&self) -> Answer<Vec<FailureRow>> {
        self.ask(read::failures)
    }
    fn operation(&self, principal: String, key: String) -> Answer<Option<StoredOperation>> {
        self.ask(move |db| operations::get(db, principal, key))
    }
    fn counts(&self) -> Answer<Counts> {
        self.ask(read::counts)
    }
    fn changes(&self, after: u64, limit: usize) -> Answer<Vec<Change>> {
        self.ask(move |db| read::changes(db, after, limit))
    }
    fn change_bounds(&self) -> Answer<ChangeBounds> {
        self.ask(read::change_bounds)
    }
    fn subscribe(&self) -> watch::Receiver<u64> {
        self.inner.newest.subscribe()
    }
    fn draft(&self, chat: ChatId, principal: String) -> Answer<Option<Draft>> {
        self.ask_here(chat, move |db, key| read::draft(db, key, &principal))
    }
    fn put_draft(
        &self,
        chat: ChatId,
        principal: String,
        text: String,
        at: Micros,
        operation: Option<Operation>,
    ) -> Pending<(), CommitError> {
        let draft = Draft { text, at };
        self.call(move |answer| Call::Draft { chat, principal, draft, operation, answer })
    }
    fn remember(
        &self,
        chat: Option<ChatId>,
        operation: Operation,
        at: Micros,
    ) -> Pending<(), CommitError> {
        self.call(move |answer| Call::Remember { chat, operation, at, answer })
    }
    fn incarnation(&self) -> Uuid {
        self.inner.identity.incarnation
    }
    fn generation(&self) -> u64 {
        self.inner.identity.generation
    }
    fn damage(&self) -> Vec<String> {
        self.inner.damage.all()
    }
}
