//! Lists.

use std::borrow::Cow;

use serde::Serialize;
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::wire::agent::Agent;
use crate::wire::attachment::Kept;
use crate::wire::command::AgentCommand;
use crate::wire::grant::Grant;
use crate::wire::host::Left;
use crate::wire::item::Item;
use crate::wire::row::Row;
use crate::wire::session::Session;
use crate::wire::turn::Turn;

/// A page of a list.
#[derive(Serialize)]
pub(crate) struct Page<T, N = String> {
    /// The rows.
    pub(crate) items: Vec<T>,
    /// What to ask the next page with; `null` at the end.
    pub(crate) next: Option<N>,
}

/// The attachments of a chat.
pub(crate) type AttachmentPage = Page<Kept>;
/// A page of agents.
pub(crate) type AgentPage = Page<Agent>;
/// A page of chats.
pub(crate) type RowPage = Page<Row>;
/// A page of a transcript.
pub(crate) type ItemPage = Page<Item, u64>;
/// The commands of a chat's agent.
pub(crate) type AgentCommandPage = Page<AgentCommand>;
/// What closed chats left running.
pub(crate) type LeftPage = Page<Left>;
/// What is allowed for good in a chat.
pub(crate) type GrantPage = Page<Grant>;
/// A page of the sessions that an agent keeps itself.
pub(crate) type SessionPage = Page<Session>;
/// A page of turns.
pub(crate) type TurnPage = Page<Turn, u32>;

impl<T> Page<T> {
    /// A list that has but one page.
    pub(crate) const fn whole(items: Vec<T>) -> Self {
        Self { items, next: None }
    }
}

// By hand: what is derived for a type with parameters repeats the row in every page.
impl<T: ToSchema, N: PartialSchema> PartialSchema for Page<T, N> {
    fn schema() -> RefOr<Schema> {
        let items = ArrayBuilder::new()
            .items(Ref::from_schema_name(T::name()))
            .description(Some("The rows."));
        let nothing = ObjectBuilder::new().schema_type(Type::Null);
        let next = OneOfBuilder::new().item(N::schema()).item(nothing);
        ObjectBuilder::new()
            .property("items", items)
            .description(Some("A page of a list."))
            .property("next", next.description(Some("What to ask for the next page with.")))
            .into()
    }
}

impl<T: ToSchema, N: PartialSchema> ToSchema for Page<T, N> {
    fn name() -> Cow<'static, str> {
        format!("{}Page", T::name()).into()
    }
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}
