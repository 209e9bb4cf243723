//! Every bound of the keeper, with its unit.
//!
//! The keeper is one of many on a machine, so its memory is counted in KiB: all its buffers together are a
//! fraction of the 1.5 MiB of private memory that a keeper may have, because the greater part of that goes
//! to what the loader relocates in a big program.

use std::time::Duration;

/// Payload of one part of a line in the spool; also how much is read from the agent at once.
pub const LINE_PART_BYTES_MAX: usize = 16 * 1024;
/// Longest line kept whole. One byte more makes it an `Oversized` record.
pub const LINE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// What is kept of a line beyond [`LINE_BYTES_MAX`].
pub const OVERSIZED_HEAD_BYTES: usize = 64 * 1024;

/// Size at which a segment of the spool is closed and the next is begun.
pub const SEGMENT_BYTES: u64 = 1024 * 1024;
/// Space kept preallocated behind the end of the spool, which only frame, signal and death records and
/// the last bytes of a dead agent may use.
pub const RESERVE_BYTES: u64 = 1024 * 1024;
/// Part of the reserve that the last bytes of a dead agent leave for the records of its death.
pub const RESERVE_FOR_DEATH_BYTES: u64 = 64 * 1024;
/// Step in which space for lines is preallocated in front of the reserve.
pub const PREALLOCATE_STEP_BYTES: u64 = 256 * 1024;
/// Largest payload of any record in the spool. Part of the frozen format: readers refuse larger ones.
pub const RECORD_PAYLOAD_BYTES_MAX: usize = 24 * 1024;
/// Default bound of what one attempt may have spooled and not acknowledged.
pub const SPOOL_BYTES_MAX_DEFAULT: u64 = 1024 * 1024 * 1024;

/// Largest frame to an agent.
pub const FRAME_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Bytes of a frame that travel in one `write_frame` message.
pub const FRAME_CHUNK_BYTES_MAX: usize = 16 * 1024;
/// Accepted frames that wait for their turn.
pub const FRAMES_WAITING_MAX: usize = 64;
/// Bytes of waiting frames held in memory; what goes beyond is collected on disk.
pub const FRAMES_IN_MEMORY_BYTES_MAX: usize = 32 * 1024;
/// Runs of cancelled frame numbers that are remembered for repeated cancels.
pub const CANCELLED_RUNS_MAX: usize = 1024;

/// Largest protocol message but a greeting.
pub const MESSAGE_BYTES_MAX: usize = 128 * 1024;
/// Largest greeting: it may carry an environment.
pub const HELLO_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of records in one push.
pub const PUSH_BYTES_MAX: usize = 32 * 1024;
/// Unsent bytes beyond which a keeper reads no further calls from a connection.
pub const UNSENT_BYTES_MAX: usize = 32 * 1024;
/// Connections that have not greeted yet; one more closes the oldest.
pub const UNGREETED_CONNECTIONS_MAX: usize = 4;
/// How long a connection may stay without a greeting.
pub const UNGREETED_MAX: Duration = Duration::from_secs(10);

/// What is kept of the agent's stderr, at least.
pub const STDERR_TAIL_BYTES_MAX: u64 = 64 * 1024;
/// What a status reports of the agent's stderr.
pub const STDERR_STATUS_BYTES_MAX: usize = 16 * 1024;
/// Processes that a status or a death record names; further ones are counted.
pub const PROCESSES_NAMED_MAX: usize = 32;
/// Bytes of a command line that are shown.
pub const COMMAND_BYTES_MAX: usize = 256;
/// Bytes of an error's words that are recorded.
pub const ERROR_TEXT_BYTES_MAX: usize = 1024;
/// Listening ports that are shown for one process.
pub const PORTS_SHOWN_MAX: usize = 16;

/// How long a keeper waits for the greeting that starts its agent (awake time).
pub const START_WAIT: Duration = Duration::from_secs(60);
/// Default of how long a keeper keeps an agent without any host (awake time).
pub const HOST_GONE_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// Default grace between TERM and KILL where no host names one.
pub const GRACE_DEFAULT: Duration = Duration::from_secs(5);
/// Longest grace that a stop may ask for.
pub const GRACE_MAX: Duration = Duration::from_secs(600);
/// How long stdout may stay open after the agent's own exit before what holds it is ended.
pub const DRAIN_MAX: Duration = Duration::from_secs(2);
/// How long an agent may live on after its stdout or stdin has closed before that is told: most exit in
/// that moment.
pub const CUT_OFF_AFTER: Duration = Duration::from_secs(3);
/// How long a keeper goes on killing before it reports what survives.
pub const KILL_MAX: Duration = Duration::from_secs(5);
/// How often the tree is looked at while it is being ended.
pub const LOOK_EVERY: Duration = Duration::from_millis(25);
/// How often a full disk is tried again, and how often an unwatched spool is synced.
pub const RETRY_EVERY: Duration = Duration::from_secs(1);
/// How often a keeper checks that its socket file is still there.
pub const SOCKET_CHECK_EVERY: Duration = Duration::from_secs(1);

/// How long the host waits for a keeper to answer its greeting.
pub const ATTACH_MAX: Duration = Duration::from_secs(10);
/// How long the host waits for the answer to a call: a keeper does nothing that takes longer. One that does
/// not answer is given up, and greeted anew.
pub const CALL_MAX: Duration = Duration::from_secs(5);
/// Bytes of a frame for which a keeper is given a further second to take them.
pub const FRAME_BYTES_PER_SECOND_MIN: u64 = 1024 * 1024;
/// How long the host goes on ending what a lost keeper left.
pub const END_SURVIVORS_MAX: Duration = Duration::from_secs(5);
/// Records that a host takes ahead of what it has processed.
pub const WINDOW_BYTES: u64 = 1024 * 1024;
/// Largest `spec` or `record` file that is read.
pub const SMALL_FILE_BYTES_MAX: u64 = 64 * 1024;
