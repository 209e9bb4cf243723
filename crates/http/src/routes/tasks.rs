//! Background tasks.

use axum::Json;
use axum::extract::State;
use holdfast_core::input::Command;
use holdfast_core::refusal::Code;

use crate::app::App;
use crate::extract::{At, Call, PlainBody};
use crate::routes::Answer;
use crate::routes::chats::Done;

/// Ends one task.
#[utoipa::path(
    post,
    path = "/chats/{chat}/tasks/{task}/stop",
    responses((status = OK, description = "The agent is told.", body = Done)),
    extensions(("x-refusals" = json!([Code::NotSupported]))),
)]
pub(super) async fn stop(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Done>> {
    call.no_fields()?;
    let command = Command::StopTask { task: at.id("task")? };
    app.host.submit(at.id("chat")?, command, call.caller).await?;
    Ok(Json(Done {}))
}
