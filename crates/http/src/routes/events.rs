//! The event stream.

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use holdfast_core::ids::ChatId;
use holdfast_core::refusal::{Code, Refusal};

use crate::app::App;
use crate::events::{Filter, Subscriber, socket, sse};
use crate::extract::{Params, params};
use crate::limits::{EVENT_CHATS_MAX, SOCKET_INBOUND_BYTES_MAX, SOCKET_READ_BUFFER_BYTES};
use crate::openapi::query;
use crate::problem::Problem;
use crate::routes::Answer;
use crate::wire::change::Frame;
use crate::wire::ids;

/// The protocol that is agreed on where a client offers protocols: a browser that sends its token
/// as one has to offer this one too.
const PROTOCOL: &str = "holdfast";

query! {
    /// What a stream tells.
    pub(super) struct EventsQuery {
        /// The cursor after which the stream goes on; a snapshot where there is none.
        after: Option<String>,
        /// A chat of which items, turns, prompts, tasks and the queue are told; all where none is
        /// named. It may stand several times.
        #[param(value_type = Option<Vec<ids::ChatId>>)]
        chat: Option<Vec<String>>,
    }
}

/// Tells what changes from now on, or from a cursor on.
#[utoipa::path(
    get,
    path = "/events",
    params(
        EventsQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "The cursor, as a browser sends it."),
    ),
    responses(
        (status = SWITCHING_PROTOCOLS, description = "A WebSocket whose text messages are frames."),
        (status = OK, description = "Server-sent events whose data are frames.",
            body = Frame, content_type = "text/event-stream"),
    ),
    extensions(("x-refusals" = json!([Code::InvalidId]))),
)]
pub(super) async fn listen(
    State(app): State<App>,
    params: Params,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let params = params.only::<EventsQuery>()?;
    let filter = filter(&params)?;
    // A browser that comes back by itself keeps the address and says in a header where it was.
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let after = last.or(params.one("after")?);
    let carrier = carrier(&headers, upgrade)?;
    let seat = app.hub.seat()?;
    let subscriber = Subscriber::new(app.hub.clone(), filter, after).await;
    let subscriber = subscriber.map_err(|fault| Problem::internal(&fault))?;
    let stopping = app.stopping.clone();
    Ok(match carrier {
        Carrier::Events => sse(subscriber, stopping, seat),
        Carrier::Socket(upgrade) => upgrade
            .on_upgrade(move |ws| app.streams.track_future(socket(ws, subscriber, stopping, seat))),
    })
}

/// What carries the frames.
enum Carrier {
    Events,
    Socket(WebSocketUpgrade),
}

fn carrier(
    headers: &HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Carrier, Refusal> {
    if let Ok(upgrade) = upgrade {
        let upgrade = upgrade
            .protocols([PROTOCOL])
            .read_buffer_size(SOCKET_READ_BUFFER_BYTES)
            // Each frame is written at once; a buffer would only hold it twice.
            .write_buffer_size(0)
            .max_message_size(SOCKET_INBOUND_BYTES_MAX)
            .max_frame_size(SOCKET_INBOUND_BYTES_MAX);
        return Ok(Carrier::Socket(upgrade));
    }
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    if accepts.is_some_and(|accept| accept.contains("text/event-stream")) {
        return Ok(Carrier::Events);
    }
    Err(Refusal::new(
        Code::InvalidField,
        "This call is a stream: connect with a WebSocket, or ask with Accept: text/event-stream.",
    )
    .field("accept"))
}

fn filter(params: &Params) -> Result<Filter, Refusal> {
    let mut chats: Vec<ChatId> = Vec::new();
    for text in params.all("chat") {
        let id = text.parse().map_err(|fault: holdfast_core::ids::InvalidId| {
            Refusal::new(Code::InvalidId, format!("In the query, {fault}.")).field("chat")
        })?;
        chats.push(id);
    }
    if chats.len() > EVENT_CHATS_MAX {
        let wanted = format!("given at most {EVENT_CHATS_MAX} times");
        return Err(params::invalid("chat", &wanted).limit(EVENT_CHATS_MAX));
    }
    Ok(Filter::of(chats))
}
