//! Slots: the names under which apps address chats.

use axum::Json;
use axum::extract::State;
use holdfast_core::head::Life;
use holdfast_core::ids::ChatId;
use holdfast_core::input::{ChangeChat, Command};
use holdfast_core::refusal::{Code, Refusal};

use crate::app::App;
use crate::extract::{At, Call, PlainBody};
use crate::openapi::request;
use crate::port::Caller;
use crate::routes::{Answer, chat, unread};
use crate::wire::ids;
use crate::wire::row::Row;

request! {
    /// Whose a slot is to be.
    pub(super) struct NewHolder {
        /// The chat; an open one.
        #[schema(value_type = ids::ChatId)]
        chat: ChatId,
    }
}

/// Gives a slot to a chat, whoever had it. The two chats change one after the other: cut short in
/// between the slot is nobody's, and a repeat gives it to whom it was to go.
#[utoipa::path(
    put,
    path = "/slots/{slot}",
    request_body = NewHolder,
    responses((status = OK, description = "The chat that has it now.", body = Row)),
    extensions(("x-refusals" = json!([
        Code::ChatNotFound, Code::ChatClosed, Code::ChatReadOnly, Code::SlotTaken,
    ]))),
)]
pub(super) async fn bind(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Row>> {
    let mut fields = call.fields::<NewHolder>()?;
    let id: ChatId = fields.id("chat")?.ok_or_else(|| fields.missing("chat"))?;
    let slot = at.text("slot").to_owned();
    let wanted = chat(&app, id).await?;
    if wanted.summary.life != Life::Open {
        let text = "The chat is closed, and apps address open ones. Open it again first.";
        return Err(Refusal::new(Code::ChatClosed, text).field("chat").into());
    }
    let holder = app.store.chat_by_slot(slot.clone()).await.map_err(unread)?;
    if let Some(holder) = holder.filter(|holder| holder.id != id) {
        set(&app, holder.id, String::new(), &call.caller).await?;
    }
    set(&app, id, slot, &call.caller).await?;
    Ok(Json(Row::of(chat(&app, id).await?)))
}

async fn set(app: &App, chat: ChatId, slot: String, caller: &Caller) -> Result<(), Refusal> {
    let change = ChangeChat { slot: Some(slot), ..ChangeChat::default() };
    app.host.submit(chat, Command::Change(change), caller.for_chat(chat)).await.map(drop)
}
