//! What agents run in.

use axum::Json;
use axum::extract::State;
use holdfast_core::refusal::{Code, Refusal};

use crate::app::App;
use crate::extract::{At, Call, Params, PlainBody};
use crate::openapi::query;
use crate::routes::Answer;
use crate::wire::environment::{Environment, Source, Values};

query! {
    /// How an environment is shown.
    pub(super) struct HowShown {
        /// Whether values are shown; they may be secrets.
        /// Whether values are shown; they may be secrets.
        #[param(inline)]
        values: Option<Values>,
    }
}

/// The variables that an agent would get now, each with its origin. Values may be secrets: they are
/// shown to whoever asks for them.
#[utoipa::path(
    get,
    path = "/agents/{agent}/environment",
    params(HowShown),
    responses((status = OK, description = "The environment.", body = Environment)),
    extensions(("x-refusals" = json!([Code::AgentNotFound]))),
)]
pub(super) async fn show(
    State(app): State<App>,
    at: At,
    params: Params,
) -> Answer<Json<Environment>> {
    let words = [("shown", Values::Shown), ("masked", Values::Masked)];
    let values = params.only::<HowShown>()?.word("values", &words)?.unwrap_or(Values::Masked);
    let agent = at.text("agent");
    let none = || {
        let name: String = agent.chars().take(80).collect();
        let text =
            format!("The configuration has no agent {name:?}. GET /agents lists those there are.");
        Refusal::new(Code::AgentNotFound, text)
    };
    let info = app.host.environment(agent).ok_or_else(none)?;
    Ok(Json(Environment::of(info, values)))
}

/// Asks the login shell again. A repeat asks once more, which does no harm.
#[utoipa::path(
    post,
    path = "/agents/environment/refresh",
    responses((status = OK, description = "What came of it.", body = Source)),
)]
pub(super) async fn refresh(
    State(app): State<App>,
    mut call: Call<PlainBody>,
) -> Answer<Json<Source>> {
    call.no_fields()?;
    Ok(Json(Source::of(app.host.refresh_environment().await)))
}
