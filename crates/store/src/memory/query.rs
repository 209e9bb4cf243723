//! What the memory store answers.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use holdfast_core::fork::{ForkedFile, TurnPlace};
use holdfast_core::head::{Aside, Chat, Life, Queued};
use holdfast_core::ids::{AttachmentId, ChatId, ItemId, MessageId, PromptId, Seq, TaskId, TurnId};
use holdfast_core::item::{Body, Field};
use holdfast_core::limits::PAGE_ITEMS_MAX;
use holdfast_core::slash::SlashCommand;

use super::chat::{Item, StoredChat};
use super::store::MemoryStore;
use crate::change::{Change, ChangeBounds};
use crate::derive::{counted, owes, text_head, valid_head};
use crate::query::QUERY_ROWS_MAX;
use crate::rows::{
    AttachmentRow, ChatFilter, ChatPage, ChatRow, Counts, Draft, FactRow, FailureRow, GrantRow,
    ItemRow, Loaded, MessageRow, OfferRow, PageFrom, PromptRow, QueueBounds, QueuePage, StoredFact,
    StoredOperation, TEXT_RANGE_BYTES_MAX, TaskRow, TextRange, TurnRow,
};

/// Each answers as the method of the same name of [`crate::Store`].
#[allow(missing_docs, reason = "the trait says it")]
impl MemoryStore {
    #[must_use]
    pub fn load(&self, chat: ChatId) -> Option<Loaded> {
        let stored = self.chats.get(&chat)?;
        let queue: VecDeque<Queued> = stored
            .queue
            .iter()
            .filter_map(|id| stored.messages.get(id))
            .map(|row| row.queued())
            .collect();
        let head = stored.head.clone();
        let tasks = head.tasks.keys().filter_map(|id| stored.tasks.get(id));
        let prompts = head.prompts.keys().filter_map(|id| stored.prompts.get(id));
        let aside = Aside {
            queue,
            tasks: tasks.map(|row| (row.id, row.label.clone())).collect(),
            prompts: prompts.map(|row| (row.id, row.asked.clone())).collect(),
            grants: stored.grants.values().map(|row| (row.id, row.deed.clone())).collect(),
            leftovers: stored.summary.activity.leftovers.clone(),
            attachments: Arc::new(stored.held()),
        };
        let chat = Chat { head, aside };
        Some(Loaded { chat, progress: stored.progress.clone(), read_only: None })
    }

    #[must_use]
    pub fn owing(&self) -> Vec<ChatId> {
        let owing = self.chats.iter().filter(|(_, chat)| owes(&chat.head, &chat.summary));
        owing.map(|(id, _)| *id).collect()
    }

    /// None for a page that begins nowhere.
    #[must_use]
    pub fn chats(
        &self,
        filter: ChatFilter,
        before: Option<&str>,
        limit: usize,
    ) -> Option<ChatPage> {
        let before = match before {
            Some(text) => text.parse::<u64>().ok()?,
            None => u64::MAX,
        };
        let limit = limit.clamp(1, QUERY_ROWS_MAX);
        let listed = |chat: &StoredChat| match chat.head.life {
            Life::Open => filter != ChatFilter::Closed,
            Life::Closed => filter != ChatFilter::Open,
            Life::Unborn | Life::Deleted => false,
        };
        let mut found: Vec<(u64, ChatId)> = self
            .chats
            .iter()
            .filter(|(_, chat)| listed(chat) && chat.touched < before)
            .map(|(id, chat)| (chat.touched, *id))
            .collect();
        found.sort_by(|a, b| b.cmp(a));
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(touched, _)| touched.to_string());
        let rows = found.iter().filter_map(|(_, id)| self.chat(*id)).collect();
        Some(ChatPage { rows, next })
    }

    #[must_use]
    pub fn chats_by_sessions(&self, sessions: &[String]) -> Vec<(String, ChatId)> {
        let looked_at = sessions.iter().take(QUERY_ROWS_MAX);
        looked_at.filter_map(|it| Some((it.clone(), self.by_session(it)?))).collect()
    }

    #[must_use]
    pub fn chat(&self, id: ChatId) -> Option<ChatRow> {
        let chat = self.chats.get(&id)?;
        Some(ChatRow {
            id,
            slot: chat.slot.clone(),
            title: chat.title.clone(),
            project: chat.project.clone(),
            created_at: chat.created_at,
            updated_at: chat.updated_at,
            last_prompt: chat.last_prompt.as_ref().map(|(_, text)| text.clone()),
            first_prompt: chat.first_prompt.as_ref().map(|(_, text)| text.clone()),
            summary: chat.summary.clone(),
            unreadable: None,
        })
    }

    #[must_use]
    pub fn chat_by_slot(&self, slot: &str) -> Option<ChatRow> {
        self.chat(self.open_slot(slot)?)
    }

    /// The chat, unless it is deleted.
    fn here(&self, chat: ChatId) -> Option<&StoredChat> {
        self.chats.get(&chat).map(Arc::as_ref).filter(|chat| chat.head.life != Life::Deleted)
    }

    #[must_use]
    pub fn items(&self, chat: ChatId, from: PageFrom, limit: usize) -> Vec<ItemRow> {
        let Some(chat) = self.here(chat) else { return Vec::new() };
        let limit = limit.clamp(1, PAGE_ITEMS_MAX);
        if let PageFrom::After(place) = from {
            let after = chat.items.range(place.saturating_add(1)..).take(limit);
            return after.map(|(_, item)| item_row(chat, item)).collect();
        }
        let end = match from {
            PageFrom::Before(place) => place,
            PageFrom::Newest | PageFrom::After(_) => u64::MAX,
        };
        let newest = chat.items.range(..end).rev().take(limit);
        let mut page: Vec<ItemRow> = newest.map(|(_, item)| item_row(chat, item)).collect();
        page.reverse();
        page
    }

    #[must_use]
    pub fn item(&self, chat: ChatId, item: ItemId) -> Option<ItemRow> {
        let chat = self.here(chat)?;
        chat.places.get(&item).and_then(|at| chat.items.get(at)).map(|item| item_row(chat, item))
    }

    #[must_use]
    pub fn item_text(
        &self,
        chat: ChatId,
        item: ItemId,
        field: Field,
        range: Range<u64>,
    ) -> Option<TextRange> {
        let chat = self.here(chat)?;
        let item = chat.places.get(&item).and_then(|at| chat.items.get(at))?;
        let text = text_of_item(chat, item, field).unwrap_or_default().as_bytes();
        let total = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let start = range.start.min(total);
        let end = range.end.min(total).min(start.saturating_add(TEXT_RANGE_BYTES_MAX)).max(start);
        let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let bytes = text.get(at(start)..at(end)).unwrap_or_default().to_vec();
        Some(TextRange { start, bytes, total })
    }

    #[must_use]
    pub fn turns(&self, chat: ChatId, before: Option<TurnId>, limit: usize) -> Vec<TurnRow> {
        let Some(chat) = self.here(chat) else { return Vec::new() };
        let before = before.unwrap_or(TurnId(u32::MAX));
        let newest = chat.turns.range(..before).rev().take(limit.clamp(1, QUERY_ROWS_MAX));
        let mut page: Vec<TurnRow> = newest.map(|(_, row)| row.as_ref().clone()).collect();
        page.reverse();
        page
    }

    #[must_use]
    pub fn turn(&self, chat: ChatId, turn: TurnId) -> Option<TurnRow> {
        self.here(chat)?.turns.get(&turn).map(|row| row.as_ref().clone())
    }

    #[must_use]
    pub fn turn_place(&self, chat: ChatId, at: u64) -> Option<TurnPlace> {
        let turns = self.here(chat)?.turns.values().rev().filter(|row| !row.left_behind);
        turns.filter_map(|row| row.place.clone()).find(|place| place.at <= at)
    }

    #[must_use]
    pub fn files_until(&self, chat: ChatId, at: u64) -> Vec<ForkedFile> {
        let Some(chat) = self.here(chat) else { return Vec::new() };
        let messages = chat.items.range(..=at).rev().filter_map(|(_, item)| match &item.body {
            Body::Message { message, .. } => chat.messages.get(message),
            _ => None,
        });
        let messages: Vec<_> = messages.collect();
        let file = |row: &AttachmentRow| {
            let (id, bytes) = (row.attachment.id, row.attachment.bytes);
            let named = messages.iter().find(|m| m.attachments.iter().any(|it| it.id == id))?;
            Some(ForkedFile { id, bytes, named: named.id })
        };
        chat.attachments.iter().filter_map(file).collect()
    }

    #[must_use]
    pub fn message(&self, chat: ChatId, message: MessageId) -> Option<MessageRow> {
        let chat = self.chats.get(&chat)?;
        let mut row = chat.messages.get(&message)?.as_ref().clone();
        if chat.head.life == Life::Deleted {
            row.text.clear();
            row.attachments.clear();
        }
        Some(row)
    }

    #[must_use]
    pub fn queue(&self, chat: ChatId) -> Vec<MessageRow> {
        let Some(chat) = self.here(chat) else { return Vec::new() };
        let rows = chat.queue.iter().filter_map(|id| chat.messages.get(id));
        rows.map(|row| row.as_ref().clone()).collect()
    }

    /// A page of the messages that wait; none if there is no such message to begin with.
    #[must_use]
    pub fn queue_page(
        &self,
        chat: ChatId,
        from: Option<MessageId>,
        bounds: QueueBounds,
    ) -> Option<QueuePage> {
        let rows = self.queue(chat);
        let first = match from {
            None => 0,
            Some(from) => rows.iter().position(|row| row.id == from)?,
        };
        let mut page = QueuePage::default();
        let mut bytes = 0;
        for row in rows.into_iter().skip(first) {
            let text = valid_head(row.text.as_bytes(), bounds.head_bytes).to_owned();
            bytes += text.len();
            if bounds.is_full(page.rows.len(), bytes) {
                page.next = Some(row.id);
                break;
            }
            page.rows.push(MessageRow { text, ..row });
        }
        Some(page)
    }

    #[must_use]
    pub fn attachment(&self, chat: ChatId, id: AttachmentId) -> Option<AttachmentRow> {
        self.here(chat)?.attachments.iter().find(|row| row.attachment.id == id).cloned()
    }

    #[must_use]
    pub fn attachments(&self, chat: ChatId) -> Vec<AttachmentRow> {
        self.here(chat).map(|chat| chat.attachments.clone()).unwrap_or_default()
    }

    #[must_use]
    pub fn prompt(&self, chat: ChatId, prompt: PromptId) -> Option<PromptRow> {
        self.here(chat)?.prompts.get(&prompt).map(|row| row.as_ref().clone())
    }

    #[must_use]
    pub fn grants(&self, chat: ChatId) -> Vec<GrantRow> {
        self.here(chat).map(|chat| chat.grants.values().cloned().collect()).unwrap_or_default()
    }

    #[must_use]
    pub fn commands(&self, chat: ChatId) -> Vec<SlashCommand> {
        let Some(here) = self.here(chat) else { return Vec::new() };
        if here.commands.0 > 0 {
            return here.commands.1.clone();
        }
        let (agent, cwd) = (&here.summary.agent, &here.summary.cwd);
        let told = self.chats.values().filter(|chat| {
            chat.commands.0 > 0 && chat.summary.agent == *agent && chat.summary.cwd == *cwd
        });
        told.max_by_key(|chat| chat.commands.0)
            .map(|chat| chat.commands.1.clone())
            .unwrap_or_default()
    }

    #[must_use]
    pub fn task(&self, chat: ChatId, task: TaskId) -> Option<TaskRow> {
        self.here(chat)?.tasks.get(&task).map(|row| row.as_ref().clone())
    }

    #[must_use]
    pub fn facts(&self, chat: ChatId, after: Seq, limit: usize) -> Vec<FactRow> {
        let Some(chat) = self.here(chat) else { return Vec::new() };
        let skip = usize::try_from(after.0).unwrap_or(usize::MAX);
        let facts = (after.0 + 1..).zip(chat.facts.iter().skip(skip));
        facts
            .take(limit.clamp(1, QUERY_ROWS_MAX))
            .map(|(n, stored)| FactRow {
                seq: Seq(n),
                at: stored.0,
                fact: StoredFact::Known(stored.1.clone()),
            })
            .collect()
    }

    #[must_use]
    pub fn offers(&self) -> Vec<OfferRow> {
        let mut rows: Vec<OfferRow> =
            self.chats.values().filter_map(|chat| chat.offer.clone()).collect();
        rows.sort_by_key(|row| (row.recorded_at, row.chat));
        rows
    }

    #[must_use]
    pub fn offer(&self, chat: ChatId) -> Option<OfferRow> {
        self.chats.get(&chat)?.offer.clone()
    }

    #[must_use]
    pub fn failures(&self) -> Vec<FailureRow> {
        let row = |(id, chat): (&ChatId, &Arc<StoredChat>)| {
            let (failure, at) = chat.failure.clone()?;
            let (code, text, actions) = (failure.code, failure.text, failure.actions);
            Some(FailureRow { chat: *id, code, text, actions, at })
        };
        let mut rows: Vec<FailureRow> = self.chats.iter().filter_map(row).collect();
        rows.sort_by_key(|row| (row.at, row.chat));
        rows
    }

    #[must_use]
    pub fn operation(&self, principal: &str, key: &str) -> Option<StoredOperation> {
        self.operations.get(&(principal.to_owned(), key.to_owned())).cloned()
    }

    #[must_use]
    pub fn counts(&self) -> Counts {
        self.chats.values().map(|chat| counted(&chat.summary)).fold(
            Counts::default(),
            |sum, one| Counts {
                running: sum.running + one.running,
                to_resume: sum.to_resume + one.to_resume,
                to_check: sum.to_check + one.to_check,
                queued: sum.queued + one.queued,
                open: sum.open + one.open,
            },
        )
    }

    #[must_use]
    pub fn changes(&self, after: u64, limit: usize) -> Vec<Change> {
        let first = self.changes.partition_point(|change| change.n <= after);
        self.changes.iter().skip(first).take(limit.clamp(1, QUERY_ROWS_MAX)).copied().collect()
    }

    #[must_use]
    pub fn change_bounds(&self) -> ChangeBounds {
        let oldest = self.changes.front().map_or(self.newest, |change| change.n - 1);
        ChangeBounds { complete_after: oldest, newest: self.newest }
    }

    #[must_use]
    pub fn draft(&self, chat: ChatId, principal: &str) -> Option<Draft> {
        self.here(chat)?.drafts.get(principal).cloned()
    }
}

fn text_of_item<'a>(chat: &'a StoredChat, item: &'a Item, field: Field) -> Option<&'a str> {
    match (&item.body, field) {
        (Body::Message { message, .. }, Field::Text) => {
            chat.messages.get(message).map(|row| row.text.as_str())
        }
        _ => item.texts.get(&field).map(String::as_str),
    }
}

fn item_row(chat: &StoredChat, item: &Item) -> ItemRow {
    let texts = [Field::Text, Field::Input, Field::Output].into_iter().filter_map(|field| {
        let text = text_of_item(chat, item, field).filter(|text| !text.is_empty())?;
        Some(text_head(field, text.as_bytes(), u64::try_from(text.len()).unwrap_or(u64::MAX)))
    });
    let (message, prompt) = match &item.body {
        Body::Message { message, .. } => (chat.messages.get(message).map(|row| row.brief()), None),
        Body::Prompt { prompt } => (None, chat.prompts.get(prompt).map(|row| row.as_ref().clone())),
        Body::Text | Body::Within { .. } | Body::Call(_) | Body::Plan { .. } => (None, None),
        Body::Notice(_) | Body::Unrecognised { .. } => (None, None),
    };
    ItemRow {
        id: item.id,
        place: item.place,
        turn: item.turn,
        kind: item.kind,
        role: item.role,
        at: item.at,
        body: item.body.clone(),
        texts: texts.collect(),
        closed: item.closed,
        message,
        prompt,
        version: item.version,
        ends_turn: item.turn.and_then(|turn| chat.turns.get(&turn)).is_some_and(|turn| {
            !turn.left_behind && turn.place.as_ref().is_some_and(|it| it.at == item.place)
        }),
    }
}
