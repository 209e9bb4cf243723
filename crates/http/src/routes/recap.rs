//! The recap that is proposed for a new session of a chat.

use axum::Json;
use axum::extract::State;
use holdfast_core::fact::Author;
use holdfast_core::ids::ChatId;
use holdfast_core::item::{Body, CallState, Field, Notice, Role};
use holdfast_core::limits::{MESSAGE_BYTES_MAX, PAGE_ITEMS_MAX};
use holdfast_core::recap::{Line, Speaker, recap};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::{ItemRow, MessageState, PageFrom, QueryError};
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::ids;

use crate::app::App;
use crate::extract::At;
use crate::routes::{Answer, chat};

/// Pages of a transcript that are looked through for what belongs into a recap.
const PAGES_MAX: usize = 5;

/// A recap, and how long it may become.
#[derive(Serialize, ToSchema)]
pub(super) struct Recap {
    #[schema(value_type = ids::ChatId)]
    chat: ChatId,
    /// The proposed text.
    text: String,
    /// Bytes that a recap may have.
    bytes_max: usize,
}

/// The proposed recap.
#[utoipa::path(
    get,
    path = "/offers/{chat}/recap",
    responses((status = OK, description = "The recap.", body = Recap)),
)]
pub(super) async fn show(State(app): State<App>, at: At) -> Answer<Json<Recap>> {
    let id = at.id("chat")?;
    chat(&app, id).await?;
    let text = proposed(&app, id).await.map_err(super::unread)?;
    Ok(Json(Recap { chat: id, text, bytes_max: MESSAGE_BYTES_MAX }))
}

/// What a new session would be told of this chat.
pub(super) async fn proposed(app: &App, chat: ChatId) -> Result<String, QueryError> {
    let carries_on = app.store.offer(chat).await?.is_some();
    let mut lines = Vec::new();
    let mut from = PageFrom::Newest;
    let mut there = u64::MAX;
    for _ in 0..PAGES_MAX {
        let page = app.store.items(chat, from, PAGE_ITEMS_MAX).await?;
        let Some(first) = page.first().map(|row| row.place) else { break };
        let told = page.into_iter().rev().filter(|row| counts(row, &mut there));
        lines.extend(told.filter_map(line));
        from = PageFrom::Before(first);
    }
    Ok(recap(lines, carries_on))
}

/// Why there is none, as the result of one of several.
pub(super) fn unread(fault: &QueryError) -> Refusal {
    match fault {
        QueryError::Overloaded => {
            Refusal::new(Code::Overloaded, "The host is busy. Nothing was sent; try again.")
        }
        QueryError::Stopped => Refusal::new(Code::Stopping, "The host is stopping."),
        QueryError::InvalidPage | QueryError::Unreadable(_) => Refusal::new(
            Code::ChatReadOnly,
            "The transcript could not be read for a recap. Give one of your own.",
        ),
    }
}

/// Whether an item counts, looking back: what the chat has left behind does not. `there` is the last place
/// that does, as far as has been looked.
fn counts(row: &ItemRow, there: &mut u64) -> bool {
    let counts = row.place <= *there;
    if let (true, Body::Notice(Notice::WentBack { to })) = (counts, &row.body) {
        *there = *to;
    }
    counts
}

/// What an item adds to a recap. What the host said adds nothing, and neither does a message that
/// the agent did not get: it is sent after the recap.
fn line(row: ItemRow) -> Option<Line> {
    let own = row.message.as_ref().is_some_and(|message| message.by == Author::Host);
    let sent = row.message.as_ref().is_none_or(|message| match message.state {
        MessageState::Taken | MessageState::Settled | MessageState::Unknown { .. } => true,
        MessageState::Queued
        | MessageState::Handed
        | MessageState::Refused(_)
        | MessageState::Withdrawn(_) => false,
    });
    let message = row.message.into_iter().flat_map(|message| message.attachments);
    let names: Vec<String> = message.map(|one| one.name).collect();
    let text = row.texts.into_iter().find(|text| text.field == Field::Text).map(|text| text.head);
    match (row.body, row.role) {
        (Body::Call(call), _) => {
            let state = match call.state {
                CallState::Running | CallState::Unknown => "its end was not seen",
                CallState::Completed => "completed",
                CallState::Failed => "failed",
            };
            Some(Line { by: Speaker::Tool, text: format!("{} ({state})", call.name) })
        }
        (Body::Message { .. }, Role::User) if !own && sent => {
            // The files themselves are not told again.
            let files = (!names.is_empty()).then(|| format!("[attached: {}]", names.join(", ")));
            let parts: Vec<String> = text.into_iter().chain(files).collect();
            (!parts.is_empty()).then(|| Line { by: Speaker::User, text: parts.join("\n") })
        }
        // Of a session that was there before the chat.
        (Body::Text, Role::User) if row.kind == holdfast_core::item::ItemKind::Message => {
            text.map(|text| Line { by: Speaker::User, text })
        }
        (Body::Text, Role::Agent) if row.kind == holdfast_core::item::ItemKind::Message => {
            text.map(|text| Line { by: Speaker::Agent, text })
        }
        _ => None,
    }
}
