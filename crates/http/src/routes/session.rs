//! Signing a browser in and out.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use holdfast_core::refusal::{Code, Refusal};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{NotSignedIn, Principal, Sessions, cookie, digest};
use crate::extract::fields::Most;
use crate::extract::{Call, PlainBody, Unsigned};
use crate::openapi::request;
use crate::problem::Problem;
use crate::routes::Answer;
use crate::routes::chats::Done;

/// Characters of a code or a token.
const SECRET_CHARS_MAX: usize = 256;

/// Who is signed in.
#[derive(Serialize, ToSchema)]
pub(super) struct Who {
    /// The name under which drafts and operation keys are kept.
    name: String,
}

/// A link with which another browser can be signed in, once.
#[derive(Serialize, ToSchema)]
pub(super) struct Link {
    /// What follows the address of the host.
    path: String,
}

/// Who calls.
#[utoipa::path(
    get,
    path = "/session",
    responses((status = OK, description = "Who is signed in.", body = Who)),
)]
pub(super) async fn who(Extension(principal): Extension<Principal>) -> Json<Who> {
    Json(Who { name: principal.name.to_string() })
}

request! {
    /// What signs a browser in: one of the two.
    pub(super) struct SignIn {
        /// The code of a link.
        code: Option<String>,
        /// The owner's token.
        token: Option<String>,
    }
}

/// Makes a session of a link's code, or of the token, and gives the browser its cookie.
#[utoipa::path(
    post,
    path = "/session",
    request_body = SignIn,
    responses((status = OK, description = "Signed in; the cookie is set.", body = Who)),
)]
pub(super) async fn sign_in(
    State(app): State<App>,
    headers: HeaderMap,
    body: Unsigned,
) -> Answer<Response> {
    let mut fields = body.fields::<SignIn>()?;
    let most = Most::Chars(SECRET_CHARS_MAX);
    let (code, token) = (fields.raw_text("code", most)?, fields.raw_text("token", most)?);
    let holder = token.as_deref().and_then(|token| app.tokens.holder(&digest(token)));
    let session = match (code, holder) {
        (Some(code), _) => kept(&app, move |sessions| sessions.sign_in(&code)).await?,
        (None, Some(_)) => kept(&app, |sessions| Ok(sessions.admit()?)).await?,
        (None, None) => return Err(unknown().into()),
    };
    let who = Json(Who { name: "owner".to_owned() });
    Ok(with_cookie(who, cookie::set(app.sessions.cookie(), &session, &headers)))
}

/// Ends the session of this browser.
#[utoipa::path(
    delete,
    path = "/session",
    responses((status = OK, description = "Signed out; the cookie is taken back.", body = Done)),
)]
pub(super) async fn sign_out(
    State(app): State<App>,
    headers: HeaderMap,
    mut call: Call<PlainBody>,
) -> Answer<Response> {
    call.no_fields()?;
    let name = app.sessions.cookie();
    if let Some(session) = cookie::presented(&headers, name) {
        let session = session.to_owned();
        kept(&app, move |sessions| Ok(sessions.end(&session)?)).await?;
    }
    Ok(with_cookie(Json(Done {}), cookie::clear(name, &headers)))
}

/// Makes a link for another browser.
#[utoipa::path(
    post,
    path = "/session/links",
    responses((status = OK, description = "The link; it counts once.", body = Link)),
)]
pub(super) async fn link(State(app): State<App>, mut call: Call<PlainBody>) -> Answer<Json<Link>> {
    call.no_fields()?;
    Ok(Json(Link { path: app.sessions.link().map_err(|fault| Problem::internal(&fault))? }))
}

/// Does what blocks until the sessions are kept.
async fn kept<T: Send + 'static>(
    app: &App,
    act: impl FnOnce(&Sessions) -> Result<T, NotSignedIn> + Send + 'static,
) -> Answer<T> {
    let sessions = Arc::clone(&app.sessions);
    let done = tokio::task::spawn_blocking(move || act(&sessions)).await;
    match done.map_err(|fault| Problem::internal(&fault))? {
        Ok(done) => Ok(done),
        Err(NotSignedIn::UnknownCode) => Err(unknown().into()),
        Err(NotSignedIn::NotKept(fault)) => Err(Problem::internal(&fault)),
    }
}

fn unknown() -> Refusal {
    Refusal::new(
        Code::NotAuthorised,
        "This link or token does not count: a link counts once, and only until the host starts \
         again. Make a new one, or use the token in endpoint.json in the data directory.",
    )
}

fn with_cookie(answer: impl IntoResponse, cookie: Option<HeaderValue>) -> Response {
    let mut response = answer.into_response();
    if let Some(cookie) = cookie {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
