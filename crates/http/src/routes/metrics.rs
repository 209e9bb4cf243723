//! Figures for whoever watches the host, in the text form of Prometheus. No label names a chat, an
//! attempt or a person.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::{Registry, Unit};

use crate::app::App;
use crate::limits::{BODIES_BYTES_MAX, EVENT_STREAMS_MAX};
use crate::problem::Problem;
use crate::routes::{Answer, unread};

/// The form that is answered.
const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByState {
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByQueue {
    queue: &'static str,
}

/// All figures, as they are now.
#[utoipa::path(
    get,
    path = "/metrics",
    responses((status = OK, description = "The figures.", body = String, content_type = TEXT)),
)]
pub(super) async fn show(State(app): State<App>) -> Answer<Response> {
    let registry = registry(&app).await?;
    let mut text = String::new();
    encode(&mut text, &registry).map_err(|error| Problem::internal(&error))?;
    Ok(([(header::CONTENT_TYPE, TEXT)], text).into_response())
}

async fn registry(app: &App) -> Answer<Registry> {
    let mut registry = Registry::with_prefix("holdfast");
    let counts = app.store.counts().await.map_err(unread)?;
    let chats = Family::<ByState, Gauge>::default();
    for (state, count) in [
        ("open", counts.open),
        ("running", counts.running),
        ("to_resume", counts.to_resume),
        ("to_check", counts.to_check),
    ] {
        chats.get_or_create(&ByState { state }).set(whole(count));
    }
    registry.register("chats", "Chats by what they are doing; one may be in several", chats);
    let queued = ConstGauge::new(counts.queued);
    registry.register("messages_queued", "Messages that wait for their agents", queued);

    let host = app.host.figures();
    let attempts = ConstGauge::new(whole(host.attempts));
    registry.register("attempts", "Agents that run, start or stop", attempts);
    let begun = ConstCounter::new(host.attempts_begun);
    registry.register("attempts_begun", "Agents started or found again by this host", begun);
    let loaded = ConstGauge::new(whole(host.chats_loaded));
    registry.register("chats_loaded", "Chats in memory", loaded);

    let store = app.store.figures();
    let text = "From a call to commit until its answer";
    registry.register_with_unit("store_append", text, Unit::Seconds, store.append_seconds);
    let text = "Calls that went into one transaction";
    registry.register("store_batch_calls", text, store.batch_calls);

    let bodies = BODIES_BYTES_MAX.saturating_sub(app.bodies.available_permits());
    let (depth, bound) = (Family::<ByQueue, Gauge>::default(), Family::<ByQueue, Gauge>::default());
    for (queue, now, most) in [
        ("store_calls", store.calls_waiting, store.calls_waiting_max),
        ("event_streams", app.hub.open_streams(), EVENT_STREAMS_MAX),
        ("body_bytes", bodies, BODIES_BYTES_MAX),
    ] {
        depth.get_or_create(&ByQueue { queue }).set(whole(now));
        bound.get_or_create(&ByQueue { queue }).set(whole(most));
    }
    registry.register("queue_depth", "What a bounded queue holds now", depth);
    registry.register("queue_bound", "What it may hold", bound);

    let gaps = ConstCounter::new(app.hub.gaps());
    registry.register("gaps_told", "Clients whose cursor was not kept", gaps);
    let cut = ConstCounter::new(*app.hub.cut().borrow());
    registry.register("streams_cut", "Event streams cut since their client was too slow", cut);
    Ok(registry)
}

fn whole(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}
