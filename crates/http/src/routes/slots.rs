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
use crate::routes::{Answer, chat, shown, unread};
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

/// How often a slot is taken from whoever took it meanwhile, before that is the answer.
const TRIES_MAX: usize = 4;

/// Gives a slot to a chat, whoever had it. Both chats change, or neither.
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
    // Whoever has it by now keeps it when the request comes again.
    if app.host.replayed(call.caller.clone()).await?.is_none() {
        rebind(&app, id, at.text("slot"), &call.caller).await?;
    }
    Ok(Json(shown(&app, call.caller, id).await?))
}

async fn rebind(app: &App, id: ChatId, slot: &str, caller: &Caller) -> Answer<()> {
    let mut tries = 1;
    loop {
        if chat(app, id).await?.summary.life != Life::Open {
            let text = "The chat is closed, and apps address open ones. Open it again first.";
            return Err(Refusal::new(Code::ChatClosed, text).field("chat").into());
        }
        let holder = app.store.chat_by_slot(slot.to_owned()).await.map_err(unread)?;
        let holder = holder.map(|holder| holder.id).filter(|holder| *holder != id);
        let given = match holder {
            Some(holder) => app.host.give_slot(slot.to_owned(), holder, id, caller.clone()).await,
            None => set(app, id, slot, caller.clone()).await,
        };
        match given {
            Err(refusal) if refusal.code == Code::SlotTaken && tries < TRIES_MAX => tries += 1,
            given => return Ok(given?),
        }
    }
}

async fn set(app: &App, chat: ChatId, slot: &str, caller: Caller) -> Result<(), Refusal> {
    let change = ChangeChat { slot: Some(slot.to_owned()), ..ChangeChat::default() };
    app.host.submit(chat, Command::Change(change), caller).await.map(drop)
}
