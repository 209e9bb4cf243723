//! What the memory store keeps of one chat.

use std::collections::BTreeMap;
use std::sync::Arc;

use holdfast_core::attachment::{Attachments, Held};
use holdfast_core::fact::Fact;
use holdfast_core::head::{Head, Life};
use holdfast_core::ids::{GrantId, ItemId, MessageId, PromptId, TaskId, TurnId};
use holdfast_core::item::{Body, Field, ItemKind, Role};
use holdfast_core::offer::Failure;
use holdfast_core::slash::SlashCommand;
use holdfast_core::summary::Summary;
use holdfast_core::time::Micros;

use crate::journal::Progress;
use crate::rows::{
    AttachmentRow, Draft, GrantRow, MessageRow, OfferRow, PromptRow, TaskRow, TurnRow,
};

/// An item, apart from what belongs to its message or prompt.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) id: ItemId,
    pub(super) place: u64,
    pub(super) turn: Option<TurnId>,
    pub(super) kind: ItemKind,
    pub(super) role: Role,
    pub(super) at: Micros,
    pub(super) body: Body,
    pub(super) texts: BTreeMap<Field, String>,
    pub(super) closed: bool,
    pub(super) version: u64,
}

/// A chat. Cloning it is cheap beside its texts, which are shared: that is how a group of units is
/// taken back.
#[derive(Clone, Debug)]
pub(super) struct StoredChat {
    pub(super) head: Head,
    pub(super) summary: Summary,
    pub(super) slot: Option<String>,
    pub(super) title: Option<String>,
    pub(super) project: Option<String>,
    pub(super) created_at: Micros,
    pub(super) updated_at: Micros,
    /// The number of the change to its row that counted last: the order of lists.
    pub(super) touched: u64,
    pub(super) last_prompt: Option<(MessageId, String)>,
    pub(super) first_prompt: Option<(MessageId, String)>,
    pub(super) progress: Option<Progress>,
    pub(super) facts: Vec<Arc<(Micros, Fact)>>,
    pub(super) items: BTreeMap<u64, Arc<Item>>,
    pub(super) places: BTreeMap<ItemId, u64>,
    pub(super) messages: BTreeMap<MessageId, Arc<MessageRow>>,
    /// The messages that wait, in order.
    pub(super) queue: Vec<MessageId>,
    pub(super) prompts: BTreeMap<PromptId, Arc<PromptRow>>,
    pub(super) grants: BTreeMap<GrantId, GrantRow>,
    pub(super) tasks: BTreeMap<TaskId, Arc<TaskRow>>,
    pub(super) turns: BTreeMap<TurnId, Arc<TurnRow>>,
    pub(super) offer: Option<OfferRow>,
    pub(super) failure: Option<(Failure, Micros)>,
    pub(super) drafts: BTreeMap<String, Draft>,
    /// What its agent's commands are, and the number of the word that told it among all such.
    pub(super) commands: (u64, Vec<SlashCommand>),
    /// What is attached, in the order in which it came.
    pub(super) attachments: Vec<AttachmentRow>,
}

impl StoredChat {
    pub(super) fn new(head: Head, summary: Summary, at: Micros) -> Self {
        Self {
            head,
            summary,
            slot: None,
            title: None,
            project: None,
            created_at: at,
            updated_at: at,
            touched: 0,
            last_prompt: None,
            first_prompt: None,
            progress: None,
            facts: Vec::new(),
            items: BTreeMap::new(),
            places: BTreeMap::new(),
            messages: BTreeMap::new(),
            queue: Vec::new(),
            prompts: BTreeMap::new(),
            grants: BTreeMap::new(),
            tasks: BTreeMap::new(),
            turns: BTreeMap::new(),
            offer: None,
            failure: None,
            drafts: BTreeMap::new(),
            commands: (0, Vec::new()),
            attachments: Vec::new(),
        }
    }

    /// What a decision needs to know of what is attached.
    pub(super) fn held(&self) -> Attachments {
        let held = |row: &AttachmentRow| Held { bytes: row.attachment.bytes, named: row.named };
        let kept = self.attachments.iter().filter(|_| self.head.life != Life::Deleted);
        kept.map(|row| (row.attachment.id, held(row))).collect()
    }

    /// The item with this id.
    pub(super) fn item_mut(&mut self, id: ItemId) -> Option<&mut Item> {
        let place = self.places.get(&id)?;
        self.items.get_mut(place).map(Arc::make_mut)
    }
}
