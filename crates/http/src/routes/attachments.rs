//! Files that go to agents with messages.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, HttpBody};
use axum::extract::{OriginalUri, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use holdfast_core::attachment::{self, Attachment as Known};
use holdfast_core::head::Life;
use holdfast_core::ids::{AttachmentId, ChatId};
use holdfast_core::input::Reply;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::blobs::refusal;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use crate::app::App;
use crate::auth::Principal;
use crate::extract::body::drain;
use crate::extract::range::{self, Wanted};
use crate::extract::upload::{Received, receive};
use crate::extract::{At, Call, Params, PlainBody, operation};
use crate::limits::TEXT_CHUNK_BYTES;
use crate::openapi::query;
use crate::port::{Caller, OperationKey};
use crate::problem::Problem;
use crate::routes::chats::Done;
use crate::routes::{Answer, chat, odd_reply, unread};
use crate::wire::attachment::{Attachment, Bytes, Kept};
use crate::wire::page::{AttachmentPage, Page};

query! {
    /// What an attachment is called.
    pub(super) struct NameQuery {
        /// The name of the file, without a path.
        name: Option<String>,
    }
}

/// What is said of an attachment before its bytes.
struct Announced {
    chat: ChatId,
    principal: Principal,
    key: Option<String>,
    name: String,
    media_type: String,
}

/// Keeps a file for messages of this chat. The body is the file as it is; its `Content-Type` says what
/// it is.
#[utoipa::path(
    post,
    path = "/chats/{chat}/attachments",
    params(NameQuery),
    request_body(content = Bytes, content_type = "application/octet-stream", description = "The bytes of the file."),
    responses((status = CREATED, description = "It is kept; a message can name it.", body = Attachment)),
    extensions(("x-refusals" = json!([Code::ChatClosed, Code::BodyIncomplete, Code::AttachmentsFull]))),
)]
pub(super) async fn upload(
    State(app): State<App>,
    at: At,
    params: Params,
    request: Request,
) -> Answer<(StatusCode, Json<Attachment>)> {
    let (parts, body) = request.into_parts();
    let announced = match announced(&app, &at, params, &parts, body.size_hint().lower()).await {
        Ok(announced) => announced,
        Err(problem) => {
            drain(body).await;
            return Err(problem);
        }
    };
    let Ok(_place) = Arc::clone(&app.uploads).try_acquire_owned() else {
        drain(body).await;
        let text = "More files are being sent to the host at once than it takes. Nothing was stored. \
            Try again in a moment.";
        return Err(Refusal::new(Code::Overloaded, text).into());
    };
    let (blobs, chat, id) = (app.host.blobs(), announced.chat, app.host.new_attachment());
    let begun = spawn_blocking(move || blobs.begin(chat, id)).await;
    let begun = begun.map_err(io::Error::other).flatten();
    let incoming = match begun {
        Ok(incoming) => incoming,
        Err(error) => {
            drain(body).await;
            return Err(refusal(&error).into());
        }
    };
    let received = receive(body, incoming).await?;
    let caller = announced.caller(&parts, &received.sha256);
    let Received { incoming, bytes, sha256 } = received;
    let sha256 = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    let Announced { name, media_type, .. } = announced;
    let known = Known { id, name, media_type, bytes, sha256 };
    match app.host.attach(chat, incoming, known, caller).await? {
        Reply::Attached(known) => Ok((StatusCode::CREATED, Json(Attachment::of(chat, known)))),
        other => Err(odd_reply(&other)),
    }
}

async fn announced(
    app: &App,
    at: &At,
    params: Params,
    parts: &Parts,
    least: u64,
) -> Answer<Announced> {
    let id = at.id("chat")?;
    let principal = Principal::of(&parts.extensions)?;
    let key = operation::key(&parts.headers)?;
    operation::device(&parts.headers)?;
    let params = params.only::<NameQuery>()?;
    let name = attachment::name(params.one("name")?.unwrap_or(attachment::UNNAMED))?;
    let media_type = media_type(&parts.headers)?;
    // What says that it is too long is not begun.
    if least > 0 {
        attachment::size(least)?;
    }
    // A repeat is answered as the first was, whatever has become of the chat.
    if key.is_none() && chat(app, id).await?.summary.life != Life::Open {
        let text = "The chat is closed. Open it again to attach something.";
        return Err(Refusal::new(Code::ChatClosed, text).into());
    }
    Ok(Announced { chat: id, principal, key, name, media_type })
}

fn media_type(headers: &HeaderMap) -> Result<String, Refusal> {
    let Some(told) = headers.get(header::CONTENT_TYPE) else {
        return Ok(attachment::UNTYPED.to_owned());
    };
    attachment::media_type(&String::from_utf8_lossy(told.as_bytes()))
}

impl Announced {
    /// Who wants it under which key: the same request has the same bytes, name and type.
    fn caller(&self, parts: &Parts, sha256: &[u8; 32]) -> Caller {
        let path = match parts.extensions.get::<OriginalUri>() {
            Some(OriginalUri(uri)) => uri.path(),
            None => parts.uri.path(),
        };
        let operation = self.key.clone().map(|key| {
            let mut hash = Sha256::new();
            for part in [parts.method.as_str(), path, &self.name, &self.media_type] {
                hash.update(part);
                hash.update("\n");
            }
            hash.update(sha256);
            OperationKey { key, body: hash.finalize().into() }
        });
        Caller { principal: self.principal.name.to_string(), operation }
    }
}

/// The attachments of a chat, in the order in which they came.
#[utoipa::path(
    get,
    path = "/chats/{chat}/attachments",
    responses((status = OK, description = "All of them.", body = AttachmentPage)),
)]
pub(super) async fn list(State(app): State<App>, at: At) -> Answer<Json<AttachmentPage>> {
    let id = at.id("chat")?;
    chat(&app, id).await?;
    let rows = app.store.attachments(id).await.map_err(unread)?;
    let items = rows.into_iter().map(|row| Kept::of(id, row)).collect();
    Ok(Json(Page::whole(items)))
}

/// The bytes of an attachment, all or the range that is asked for. Whatever it says that it is, no
/// browser takes it for a page.
#[utoipa::path(
    get,
    path = "/chats/{chat}/attachments/{attachment}",
    params(("Range" = Option<String>, Header, description = "The bytes that are wanted.")),
    responses(
        (status = OK, description = "All of it; an image as such, anything else to be saved.", content((Bytes = "application/octet-stream"), (Bytes = "image/avif"), (Bytes = "image/bmp"), (Bytes = "image/gif"), (Bytes = "image/jpeg"), (Bytes = "image/png"), (Bytes = "image/webp"))),
        (status = PARTIAL_CONTENT, description = "The range that was asked for.", content((Bytes = "application/octet-stream"), (Bytes = "image/avif"), (Bytes = "image/bmp"), (Bytes = "image/gif"), (Bytes = "image/jpeg"), (Bytes = "image/png"), (Bytes = "image/webp"))),
        (status = RANGE_NOT_SATISFIABLE, description = "It ends before the range."),
    ),
)]
pub(super) async fn bytes(State(app): State<App>, at: At, headers: HeaderMap) -> Answer<Response> {
    let (id, wanted): (ChatId, AttachmentId) = (at.id("chat")?, at.id("attachment")?);
    chat(&app, id).await?;
    let row = app.store.attachment(id, wanted).await.map_err(unread)?;
    let known = row.ok_or_else(|| no_attachment(wanted))?.attachment;
    let blobs = app.host.blobs();
    let opened = spawn_blocking(move || {
        let file = blobs.open(id, wanted)?;
        let length = file.metadata()?.len();
        Ok((file, length))
    });
    let opened = opened.await.map_err(io::Error::other).flatten();
    let (file, length) = opened.map_err(|error| Problem::internal(&error))?;
    if length != known.bytes {
        return Err(Problem::internal(&format_args!("{wanted} has {length} bytes on the disk")));
    }
    let (status, part) = match range::wanted(&headers, length) {
        Wanted::Whole => (StatusCode::OK, 0..length),
        Wanted::Part { start, end } => (StatusCode::PARTIAL_CONTENT, start..end),
        Wanted::Outside => {
            let mut response = StatusCode::RANGE_NOT_SATISFIABLE.into_response();
            tell(&mut response, header::CONTENT_RANGE, &format!("bytes */{length}"));
            return Ok(response);
        }
    };
    let body = serve(Arc::new(file), part.start, part.end);
    let mut response = (status, body).into_response();
    if status == StatusCode::PARTIAL_CONTENT {
        let last = part.end.saturating_sub(1);
        let told = format!("bytes {}-{last}/{length}", part.start);
        tell(&mut response, header::CONTENT_RANGE, &told);
    }
    let count = part.end.saturating_sub(part.start).to_string();
    tell(&mut response, header::CONTENT_LENGTH, &count);
    tell(&mut response, header::ACCEPT_RANGES, "bytes");
    harmless(&mut response, &known);
    Ok(response)
}

/// Images that a browser shows and does not run.
const SHOWN: [&str; 6] =
    ["image/avif", "image/bmp", "image/gif", "image/jpeg", "image/png", "image/webp"];

/// Says what it is in a way that nothing in it can be run in our name.
fn harmless(response: &mut Response, known: &Known) {
    let shown = SHOWN.contains(&known.media_type.as_str());
    let media_type = if shown { known.media_type.as_str() } else { attachment::UNTYPED };
    let way = if shown { "inline" } else { "attachment" };
    let mut name = String::new();
    for byte in known.name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                name.push(char::from(byte));
            }
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    tell(response, header::CONTENT_TYPE, media_type);
    tell(response, header::CONTENT_DISPOSITION, &format!("{way}; filename*=UTF-8''{name}"));
    tell(response, header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox");
    let policy = header::HeaderName::from_static("cross-origin-resource-policy");
    tell(response, policy, "same-origin");
}

fn tell(response: &mut Response, name: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// The bytes of a range, read piece by piece as they are taken.
fn serve(file: Arc<File>, start: u64, end: u64) -> Body {
    Body::from_stream(stream::try_unfold((file, start), move |(file, at)| async move {
        let length = end.saturating_sub(at).min(TEXT_CHUNK_BYTES);
        if length == 0 {
            return Ok(None);
        }
        let read = spawn_blocking(move || {
            let mut piece = vec![0; usize::try_from(length).unwrap_or_default()];
            file.read_exact_at(&mut piece, at).map(|()| (piece, file))
        });
        let (piece, file) = read.await.map_err(io::Error::other).flatten()?;
        Ok::<_, io::Error>(Some((piece, (file, at.saturating_add(length)))))
    }))
}

/// Lets go of an attachment that no message names.
#[utoipa::path(
    delete,
    path = "/chats/{chat}/attachments/{attachment}",
    responses((status = OK, description = "It is gone.", body = Done)),
    extensions(("x-refusals" = json!([Code::AttachmentInUse]))),
)]
pub(super) async fn remove(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Done>> {
    call.no_fields()?;
    let (chat, attachment) = (at.id("chat")?, at.id("attachment")?);
    match app.host.detach(chat, attachment, call.caller).await? {
        Reply::Done => Ok(Json(Done {})),
        other => Err(odd_reply(&other)),
    }
}

fn no_attachment(attachment: AttachmentId) -> Refusal {
    Refusal::new(Code::AttachmentNotFound, format!("The chat has no attachment {attachment}."))
}
