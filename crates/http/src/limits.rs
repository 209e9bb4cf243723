//! The bounds of the border itself; what a chat may hold is bounded by `holdfast_core::limits`.

use std::time::Duration;

/// Event streams (WebSocket and SSE together) that may be open at once.
pub const EVENT_STREAMS_MAX: usize = 1024;
/// Chats that one event stream may be narrowed to.
pub const EVENT_CHATS_MAX: usize = 64;
/// Bytes of a message that a client sends on the event socket; the socket only tells.
pub const SOCKET_INBOUND_BYTES_MAX: usize = 4 * 1024;
/// Bytes of the read buffer of one event socket.
pub const SOCKET_READ_BUFFER_BYTES: usize = 4 * 1024;
/// Changes that are read from the store and sent in one go.
pub const BATCH_CHANGES_MAX: usize = 512;
/// Bytes of serialised changes after which a frame is closed.
pub const FRAME_BYTES_MAX: usize = 256 * 1024;
/// Frames that are kept for all subscribers.
pub const RING_FRAMES_MAX: usize = 1024;
/// Bytes of the frames that are kept for all subscribers.
pub const RING_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Deltas that a subscriber may be behind before it misses some.
pub const DELTAS_MAX: usize = 256;
/// Bytes of waiting texts in one page of a queue.
pub const QUEUE_PAGE_BYTES_MAX: usize = 1024 * 1024;
/// Messages that a change of a queue tells of.
pub const QUEUE_TOLD_MESSAGES_MAX: usize = 16;
/// Bytes of the beginning of a waiting text that a change of a queue tells.
pub const QUEUE_TOLD_HEAD_BYTES: usize = 1024;
/// Bytes of waiting texts that a change of a queue tells.
pub const QUEUE_TOLD_BYTES_MAX: usize = 4 * 1024;
/// Bytes of the items in one snapshot, beside one item of each chat that is named.
pub const SNAPSHOT_ITEMS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of a text that is read from the store at once while it is served.
pub const TEXT_CHUNK_BYTES: u64 = 256 * 1024;
/// Rows of a page of chats, at most.
pub const PAGE_CHATS_MAX: usize = 500;
/// Rows of a page of chats, where the caller does not say.
pub const PAGE_CHATS: usize = 100;
/// Items or turns of a page, where the caller does not say.
pub const PAGE_ITEMS: usize = 50;
/// Sessions of an agent in one page.
pub const PAGE_SESSIONS_MAX: usize = 200;
/// Sessions of an agent in one page, where nothing is said.
pub const PAGE_SESSIONS: usize = 50;
/// Offers that one call may name.
pub const OFFERS_AT_ONCE_MAX: usize = 10_000;
/// Characters of the name of an agent, a model, a mode or a device.
pub const NAME_CHARS_MAX: usize = 200;
/// Bytes of all bodies that are being read or decided about at once.
pub const BODIES_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of a refused body that are read and thrown away, so that the answer reaches a caller that
/// is still writing.
pub const DRAIN_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Files that are taken in at once.
pub const UPLOADS_MAX: usize = 16;
/// Bytes of a file that are gathered before they are written.
pub const UPLOAD_PIECE_BYTES: usize = 256 * 1024;
/// Changes that are resolved at the same time.
pub const RESOLVES_AT_ONCE: usize = 4;
/// TCP connections that are served at once; further ones wait to be accepted.
pub const CONNECTIONS_MAX: usize = 4096;

/// Time between two heartbeats of an event stream.
pub const HEARTBEAT: Duration = Duration::from_secs(15);
/// Heartbeats of an event socket that may go unanswered.
pub const HEARTBEATS_MISSED_MAX: u32 = 3;
/// Time in which a frame has to be written, beside [`WRITE_BYTES_PER_SECOND`].
pub const WRITE_PATIENCE: Duration = Duration::from_secs(5);
/// The slowest reader that is waited for.
pub const WRITE_BYTES_PER_SECOND: usize = 64 * 1024;
/// Time in which a client that is cut may still read why.
pub const CLOSE_GRACE: Duration = Duration::from_secs(30);
/// Time after which the publisher asks a store again that could not be read.
pub const STORE_RETRY: Duration = Duration::from_secs(1);
/// Time in which the body of a request has to arrive.
pub const BODY_READ_PATIENCE: Duration = Duration::from_secs(60);
/// Time in which the next piece of a file that is sent has to arrive.
pub const UPLOAD_PIECE_PATIENCE: Duration = Duration::from_secs(30);
/// Time in which a refused body is thrown away.
pub const DRAIN_PATIENCE: Duration = Duration::from_secs(5);
/// Time that a connection has for its first byte when the host stops.
pub const FIRST_WORD_PATIENCE: Duration = Duration::from_millis(1000);
/// Time in which open requests may end when the host stops.
pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);
/// Connections that the system holds until they are accepted.
pub const LISTEN_BACKLOG: u32 = 1024;
/// Bytes of the system's send buffer of one connection.
pub const SEND_BUFFER_BYTES: u32 = 256 * 1024;
/// Hits of a page of a search, unless another number is asked for.
pub const PAGE_HITS: usize = 20;
