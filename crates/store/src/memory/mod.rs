//! A store in memory: for tests, and for the simulation, which restores it to what was committed
//! when it cuts the power.

mod chat;
mod fork;
mod project;
mod query;
mod store;

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use holdfast_core::fork::{ForkedFile, TurnPlace};
use holdfast_core::ids::{AttachmentId, ChatId, ItemId, MessageId, PromptId, Seq, TaskId, TurnId};
use holdfast_core::item::Field;
use holdfast_core::slash::SlashCommand;
use holdfast_core::time::Micros;
use tokio::sync::watch;
use uuid::Uuid;

pub use store::MemoryStore;

use crate::change::{Change, ChangeBounds};
use crate::journal::{CommitError, Committed, Journal, Operation, Pending, Unit};
use crate::query::{Answer, QueryError, Store};
use crate::rows::{
    AttachmentRow, ChatFilter, ChatPage, ChatRow, Counts, Draft, FactRow, FailureRow, GrantRow,
    ItemRow, Loaded, MessageRow, OfferRow, PageFrom, PromptRow, QueueBounds, QueuePage,
    StoredOperation, TaskRow, TextRange, TurnRow,
};

/// A [`MemoryStore`] that is shared, behind the traits.
#[derive(Clone, Debug)]
pub struct Memory {
    store: Arc<Mutex<MemoryStore>>,
    newest: watch::Sender<u64>,
}

impl Memory {
    /// Shares this store.
    #[must_use]
    pub fn new(store: MemoryStore) -> Self {
        let newest = watch::Sender::new(store.change_bounds().newest);
        Self { store: Arc::new(Mutex::new(store)), newest }
    }

    /// What is stored now, for a later [`Memory::new`]: what a power cut would leave.
    #[must_use]
    pub fn snapshot(&self) -> MemoryStore {
        self.with(|store| store.clone())
    }

    /// A store is whole after each call, so a panic elsewhere leaves nothing half done.
    fn with<T>(&self, act: impl FnOnce(&mut MemoryStore) -> T) -> T {
        act(&mut self.store.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn ask<T: Send + 'static>(&self, act: impl FnOnce(&MemoryStore) -> T) -> Answer<T> {
        let answer = self.with(|store| act(store));
        Box::pin(std::future::ready(Ok(answer)))
    }
}

impl Journal for Memory {
    fn commit(&self, units: Vec<Unit>) -> Pending<Vec<Committed<Unit>>, CommitError> {
        let this = self.clone();
        Box::pin(async move {
            let (done, newest) =
                this.with(|store| (store.apply(units), store.change_bounds().newest));
            this.newest.send_if_modified(|n| std::mem::replace(n, newest) != newest);
            done
        })
    }
}

impl Store for Memory {
    fn load(&self, chat: ChatId) -> Answer<Option<Loaded>> {
        self.ask(|store| store.load(chat))
    }
    fn owing(&self) -> Answer<Vec<ChatId>> {
        self.ask(MemoryStore::owing)
    }
    fn chats(&self, filter: ChatFilter, before: Option<String>, limit: usize) -> Answer<ChatPage> {
        let page = self.with(|store| store.chats(filter, before.as_deref(), limit));
        Box::pin(std::future::ready(page.ok_or(QueryError::InvalidPage)))
    }
    fn chat(&self, chat: ChatId) -> Answer<Option<ChatRow>> {
        self.ask(|store| store.chat(chat))
    }
    fn chat_by_slot(&self, slot: String) -> Answer<Option<ChatRow>> {
        self.ask(|store| store.chat_by_slot(&slot))
    }
    fn chats_by_sessions(&self, sessions: Vec<String>) -> Answer<Vec<(String, ChatId)>> {
        self.ask(|store| store.chats_by_sessions(&sessions))
    }
    fn items(&self, chat: ChatId, from: PageFrom, limit: usize) -> Answer<Vec<ItemRow>> {
        self.ask(|store| store.items(chat, from, limit))
    }
    fn item(&self, chat: ChatId, item: ItemId) -> Answer<Option<ItemRow>> {
        self.ask(|store| store.item(chat, item))
    }
    fn item_text(
        &self,
        chat: ChatId,
        item: ItemId,
        field: Field,
        range: Range<u64>,
    ) -> Answer<Option<TextRange>> {
        self.ask(|store| store.item_text(chat, item, field, range))
    }
    fn turns(&self, chat: ChatId, before: Option<TurnId>, limit: usize) -> Answer<Vec<TurnRow>> {
        self.ask(|store| store.turns(chat, before, limit))
    }
    fn turn(&self, chat: ChatId, turn: TurnId) -> Answer<Option<TurnRow>> {
        self.ask(|store| store.turn(chat, turn))
    }
    fn turn_place(&self, chat: ChatId, at: u64) -> Answer<Option<TurnPlace>> {
        self.ask(|store| store.turn_place(chat, at))
    }
    fn files_until(&self, chat: ChatId, at: u64) -> Answer<Vec<ForkedFile>> {
        self.ask(|store| store.files_until(chat, at))
    }
    fn message(&self, chat: ChatId, message: MessageId) -> Answer<Option<MessageRow>> {
        self.ask(|store| store.message(chat, message))
    }
    fn queue(
        &self,
        chat: ChatId,
        from: Option<MessageId>,
        bounds: QueueBounds,
    ) -> Answer<Option<QueuePage>> {
        self.ask(|store| store.queue_page(chat, from, bounds))
    }
    fn attachment(&self, chat: ChatId, id: AttachmentId) -> Answer<Option<AttachmentRow>> {
        self.ask(|store| store.attachment(chat, id))
    }
    fn attachments(&self, chat: ChatId) -> Answer<Vec<AttachmentRow>> {
        self.ask(|store| store.attachments(chat))
    }
    fn prompt(&self, chat: ChatId, prompt: PromptId) -> Answer<Option<PromptRow>> {
        self.ask(|store| store.prompt(chat, prompt))
    }
    fn commands(&self, chat: ChatId) -> Answer<Vec<SlashCommand>> {
        self.ask(|store| store.commands(chat))
    }
    fn grants(&self, chat: ChatId) -> Answer<Vec<GrantRow>> {
        self.ask(|store| store.grants(chat))
    }
    fn task(&self, chat: ChatId, task: TaskId) -> Answer<Option<TaskRow>> {
        self.ask(|store| store.task(chat, task))
    }
    fn facts(&self, chat: ChatId, after: Seq, limit: usize) -> Answer<Vec<FactRow>> {
        self.ask(|store| store.facts(chat, after, limit))
    }
    fn offers(&self) -> Answer<Vec<OfferRow>> {
        self.ask(MemoryStore::offers)
    }
    fn offer(&self, chat: ChatId) -> Answer<Option<OfferRow>> {
        self.ask(|store| store.offer(chat))
    }
    fn failures(&self) -> Answer<Vec<FailureRow>> {
        self.ask(MemoryStore::failures)
    }
    fn operation(&self, principal: String, key: String) -> Answer<Option<StoredOperation>> {
        self.ask(|store| store.operation(&principal, &key))
    }
    fn counts(&self) -> Answer<Counts> {
        self.ask(MemoryStore::counts)
    }
    fn changes(&self, after: u64, limit: usize) -> Answer<Vec<Change>> {
        self.ask(|store| store.changes(after, limit))
    }
    fn change_bounds(&self) -> Answer<ChangeBounds> {
        self.ask(MemoryStore::change_bounds)
    }
    fn subscribe(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }
    fn draft(&self, chat: ChatId, principal: String) -> Answer<Option<Draft>> {
        self.ask(|store| store.draft(chat, &principal))
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
        let done = self.with(|store| store.put_draft(chat, principal, draft, operation));
        Box::pin(std::future::ready(done))
    }
    fn remember(
        &self,
        chat: Option<ChatId>,
        operation: Operation,
        at: Micros,
    ) -> Pending<(), CommitError> {
        let done = self.with(|store| store.remember(chat, operation, at));
        Box::pin(std::future::ready(done))
    }
    fn incarnation(&self) -> Uuid {
        self.with(|store| store.incarnation())
    }
    fn generation(&self) -> u64 {
        self.with(|store| store.generation())
    }
    fn damage(&self) -> Vec<String> {
        Vec::new()
    }
}
