//! Writes the history of one chat as a host would: folds what it decides.

use std::sync::Arc;

use holdfast_core::fact::{Author, Evidence, Fact, Place, Secret};
use holdfast_core::fold::fold;
use holdfast_core::head::Chat;
use holdfast_core::ids::{AttemptId, ChatId, FrameNo, ItemId, MessageId, TurnId};
use holdfast_core::item::{Body, Field, ItemKind, Role, Row};
use holdfast_core::summary::Summary;
use holdfast_core::time::Micros;
use uuid::Uuid;

use crate::{CommitError, Committed, Store, Unit};

pub(crate) fn chat_id(n: u128) -> ChatId {
    ChatId::new(Uuid::from_u128(n))
}

pub(crate) fn message_id(n: u128) -> MessageId {
    MessageId::new(Uuid::from_u128(n))
}

pub(crate) fn attempt_id(n: u128) -> AttemptId {
    AttemptId::new(Uuid::from_u128(n))
}

pub(crate) struct Pen {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) id: ChatId,
    pub(crate) chat: Chat,
    pub(crate) now: i64,
}

impl Pen {
    pub(crate) fn new(store: Arc<dyn Store>, n: u128) -> Self {
        Self { store, id: chat_id(n), chat: Chat::default(), now: 1000 }
    }

    /// A chat that exists.
    pub(crate) async fn open(store: Arc<dyn Store>, n: u128) -> Self {
        let mut pen = Self::new(store, n);
        pen.put([opened()]).await;
        pen
    }

    /// The unit that these facts and rows would make.
    pub(crate) fn unit(&self, facts: Vec<Fact>, rows: Vec<Row>) -> Unit {
        let at = Micros(self.now + 1);
        let mut chat = self.chat.clone();
        for fact in &facts {
            fold(&mut chat, fact, at);
        }
        Unit {
            chat: self.id,
            after: self.chat.head.seq,
            at,
            facts,
            rows,
            summary: Summary::of(&chat),
            head: chat.head,
            progress: None,
            operation: None,
            clear_draft: None,
        }
    }

    /// Takes over a unit that is stored.
    pub(crate) fn took(&mut self, unit: &Unit) {
        for fact in &unit.facts {
            fold(&mut self.chat, fact, unit.at);
        }
        self.now = unit.at.0;
    }

    pub(crate) async fn commit(&mut self, unit: Unit) -> Result<Committed<Unit>, CommitError> {
        let mut done = self.store.commit(vec![unit]).await?;
        let done = done.remove(0);
        self.took(&done);
        Ok(done)
    }

    pub(crate) async fn put(&mut self, facts: impl Into<Vec<Fact>>) -> Committed<Unit> {
        self.write(facts, []).await
    }

    pub(crate) async fn write(
        &mut self,
        facts: impl Into<Vec<Fact>>,
        rows: impl Into<Vec<Row>>,
    ) -> Committed<Unit> {
        let unit = self.unit(facts.into(), rows.into());
        self.commit(unit).await.unwrap()
    }

    /// What these facts and rows are answered, when they are not to be stored.
    pub(crate) async fn refused(
        &mut self,
        facts: impl Into<Vec<Fact>>,
        rows: impl Into<Vec<Row>>,
    ) -> CommitError {
        let unit = self.unit(facts.into(), rows.into());
        self.commit(unit).await.unwrap_err()
    }

    /// A message of a person at the tail of the queue.
    pub(crate) async fn accept(&mut self, n: u128, text: &str) -> MessageId {
        let row = Row::MessageText { message: message_id(n), text: text.to_owned() };
        self.write([accepted(n, text, Author::Person, Place::Tail)], [row]).await;
        message_id(n)
    }

    /// An item of the agent.
    pub(crate) async fn item(&mut self, n: u32, kind: ItemKind, body: Body) -> ItemId {
        let item = ItemId::new(1, n);
        let fact = self.added(item, kind);
        self.write([fact], [Row::ItemBody { item, body }]).await;
        item
    }

    /// A whole message of the agent.
    pub(crate) async fn say(&mut self, n: u32, text: &str) -> ItemId {
        let item = self.item(n, ItemKind::Message, Body::Text).await;
        let text = text.to_owned();
        self.write([], [Row::ItemText { item, field: Field::Text, at: 0, text }]).await;
        item
    }

    pub(crate) fn added(&self, item: ItemId, kind: ItemKind) -> Fact {
        let place = self.chat.head.places + 1;
        Fact::ItemAdded { item, place, kind, role: Role::Agent, turn: Some(TurnId(1)) }
    }

    pub(crate) async fn start(&mut self) -> AttemptId {
        let origin = self.chat.head.attempts + 1;
        let attempt = attempt_id(u128::from(origin));
        let secret = Secret("00".to_owned());
        self.put([Fact::AttemptStarting { attempt, origin, secret, resuming: false }]).await;
        attempt
    }

    /// Hands a message over, takes it up and opens its turn.
    pub(crate) async fn hand(&mut self, message: MessageId, turn: u32) -> ItemId {
        let item = ItemId::new(0, self.chat.head.host_items + 1);
        let place = self.chat.head.places + 1;
        let (kind, role) = (ItemKind::Message, Role::User);
        let shown = Row::ItemBody { item, body: Body::Message { message, steer: None } };
        let facts = [
            Fact::ItemAdded { item, place, kind, role, turn: None },
            Fact::MessageHanded {
                message,
                attempt: attempt_id(1),
                frame: FrameNo(1),
                item,
                into: None,
            },
            Fact::MessageTaken { message, evidence: Evidence::Agent },
            Fact::TurnOpened { turn: TurnId(turn), message: Some(message) },
        ];
        self.write(facts, [shown]).await;
        item
    }
}

pub(crate) fn opened() -> Fact {
    Fact::ChatOpened {
        agent: "demo".to_owned(),
        cwd: "/home/ada".to_owned(),
        project: Some("engine".to_owned()),
        title: None,
        slot: None,
        model: None,
        mode: None,
    }
}

pub(crate) fn accepted(n: u128, text: &str, by: Author, place: Place) -> Fact {
    Fact::MessageAccepted {
        message: message_id(n),
        by,
        bytes: text.len() as u64,
        digest: holdfast_core::digest(text),
        place,
        attachments: Vec::new(),
    }
}
