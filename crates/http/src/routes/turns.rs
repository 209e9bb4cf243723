//! Turns, in pages.

use axum::Json;
use axum::extract::State;
use holdfast_core::ids::TurnId;
use holdfast_core::limits::PAGE_ITEMS_MAX;

use crate::app::App;
use crate::extract::{At, Params, params};
use crate::limits::PAGE_ITEMS;
use crate::openapi::query;
use crate::routes::{Answer, chat, unread};
use crate::wire::page::{Page, TurnPage};
use crate::wire::turn::Turn;

query! {
    /// A page of turns: the newest one, or that before a turn.
    pub(super) struct TurnsQuery {
        /// The `seq` before which the page ends.
        before: Option<u32>,
        /// Turns of the page, at most; more than the host gives at once is cut.
        #[param(minimum = 1)]
        limit: Option<u64>,
    }
}

/// A page of turns, newest last.
#[utoipa::path(
    get,
    path = "/chats/{chat}/turns",
    params(TurnsQuery),
    responses((status = OK, description = "A page; `next` is the `before` of the one before it.", body = TurnPage)),
)]
pub(super) async fn list(State(app): State<App>, at: At, params: Params) -> Answer<Json<TurnPage>> {
    let params = params.only::<TurnsQuery>()?;
    let limit = params.limit(PAGE_ITEMS, PAGE_ITEMS_MAX)?;
    let before = match params.number("before")? {
        None => None,
        Some(n) => Some(u32::try_from(n).map_err(|_| params::invalid("before", "a turn's seq"))?),
    };
    let id = at.id("chat")?;
    chat(&app, id).await?;
    let rows = app.store.turns(id, before.map(TurnId), limit).await.map_err(unread)?;
    // Turns are numbered from 1: before the first there is nothing.
    let next = rows.first().map(|row| row.id.0).filter(|n| *n > 1);
    Ok(Json(Page { items: rows.into_iter().map(Turn::of).collect(), next }))
}
