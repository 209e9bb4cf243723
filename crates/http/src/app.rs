//! What every handler has at hand.

use std::sync::Arc;

use holdfast_store::Store;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::{Names, Principal, Sessions, Tokens};
use crate::events::Hub;
use crate::limits::{BODIES_BYTES_MAX, UPLOADS_MAX};
use crate::port::Host;

/// The border of one host. Cheap to clone.
#[derive(Clone)]
pub struct App {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) tokens: Arc<dyn Tokens>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) names: Arc<Names>,
    pub(crate) hub: Hub,
    /// The bytes that bodies may still take.
    pub(crate) bodies: Arc<Semaphore>,
    /// Places for files that are being taken in.
    pub(crate) uploads: Arc<Semaphore>,
    pub(crate) stopping: CancellationToken,
    /// Whether figures are for everybody who reaches the host.
    pub(crate) open_metrics: bool,
    /// The event sockets, which outlive their requests.
    pub(crate) streams: TaskTracker,
}

impl App {
    /// The border of this host; starts the task that publishes its changes, which ends with
    /// `stopping`, as do all event streams. It has to be called within a tokio runtime.
    pub fn new(
        host: Arc<dyn Host>,
        tokens: Arc<dyn Tokens>,
        names: Names,
        stopping: CancellationToken,
    ) -> Self {
        let store = host.store();
        let hub = Hub::start(Arc::clone(&store), host.deltas(), stopping.clone());
        Self {
            host,
            store,
            tokens,
            sessions: Arc::new(Sessions::new(Principal::person("owner"), "", Vec::new(), |_| {
                Ok(())
            })),
            names: Arc::new(names),
            hub,
            bodies: Arc::new(Semaphore::new(BODIES_BYTES_MAX)),
            uploads: Arc::new(Semaphore::new(UPLOADS_MAX)),
            stopping,
            open_metrics: false,
            streams: TaskTracker::new(),
        }
    }

    /// The same with the sessions of browsers that are kept; without it they end with the process.
    #[must_use]
    pub fn with_sessions(self, sessions: Arc<Sessions>) -> Self {
        Self { sessions, ..self }
    }

    /// The same, with figures for everybody who reaches the host.
    #[must_use]
    pub fn with_open_metrics(mut self) -> Self {
        self.open_metrics = true;
        self
    }

    /// What is published on event streams.
    #[must_use]
    pub const fn hub(&self) -> &Hub {
        &self.hub
    }
}
