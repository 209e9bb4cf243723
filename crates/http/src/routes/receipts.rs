//! What became of writes.

use axum::Json;
use axum::extract::State;
use holdfast_core::ids::{ReceiptId, Subject};
use holdfast_core::refusal::{Code, Refusal};

use crate::app::App;
use crate::extract::At;
use crate::routes::{Answer, unread};
use crate::wire::receipt::Receipt;

/// What became of the write with this receipt, answered from its own row: for ever, and also where
/// the chat is deleted.
#[utoipa::path(
    get,
    path = "/receipts/{receipt}",
    responses((status = OK, description = "What became of it.", body = Receipt)),
)]
pub(super) async fn one(State(app): State<App>, at: At) -> Answer<Json<Receipt>> {
    let id: ReceiptId = at.id("receipt")?;
    let receipt = match id.subject {
        Subject::Message(message) => {
            let row = app.store.message(id.chat, message).await.map_err(unread)?;
            row.map(|row| Receipt::of_message(id, row))
        }
        Subject::Answer(prompt) => {
            let row = app.store.prompt(id.chat, prompt).await.map_err(unread)?;
            row.and_then(|row| row.given).map(|given| Receipt::of_answer(id, prompt, given))
        }
    };
    let none = || Refusal::new(Code::ReceiptNotFound, format!("There is no receipt {id}."));
    Ok(Json(receipt.ok_or_else(none)?))
}
