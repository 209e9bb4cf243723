use super::events::Events;
use super::{Greeting, dial};
use crate::limits::{
    ATTACH_MAX, CALL_MAX, FRAME_BYTES_MAX, FRAME_BYTES_PER_SECOND_MIN, FRAME_CHUNK_BYTES_MAX,
    MESSAGE_BYTES_MAX,
};
use crate::protocol::{
    Call, Cancelled, Hello, Message, PROTOCOL_VERSION, ProtocolError, ReadFrom, Refusal, Reply,
    Status, Stop, Welcome, WriteChunk, Written,
};
use crate::registry::{AttemptDir, ProbeError};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

/// Calls that wait to be sent.
const CALLS_WAITING_MAX: usize = 64;
/// Pushes that wait to be taken. The window bounds their bytes; this only bounds their number, far above
/// what a keeper sends within a window.
const PUSHES_WAITING_MAX: usize = 65_536;
/// How soon a socket that is not there yet is tried again.
const DIAL_AGAIN: Duration = Duration::from_millis(5);
/// Reading starts with this much room and grows to a message at most.
const READ_BUFFER_BYTES: usize = 16 * 1024;

/// A keeper could not be greeted.
#[derive(Debug, Error)]
pub enum AttachError {
    /// Its lock is free: the keeper is dead.
    #[error("the keeper of attempt {0} is dead")]
    Dead(Uuid),
    /// It lives and does not answer in time.
    #[error("the keeper of attempt {0} does not answer")]
    Silent(Uuid),
    /// Whether it lives cannot be asked.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// It does not take this host.
    #[error("the keeper of attempt {attempt} refuses the greeting: {refusal}")]
    Refused {
        /// Whose.
        attempt: Uuid,
        /// Why.
        refusal: Refusal,
    },
    /// The connection fails.
    #[error("cannot talk to the keeper of attempt {attempt}")]
    Io {
        /// Whose.
        attempt: Uuid,
        /// The error.
        source: io::Error,
    },
    /// What it says is not the protocol.
    #[error("the keeper of attempt {attempt} does not speak the protocol")]
    Protocol {
        /// Whose.
        attempt: Uuid,
        /// The error.
        source: ProtocolError,
    },
}

/// A call that was not carried out, or of which that is not known.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CallError {
    /// The keeper refuses; nothing has changed.
    #[error("the keeper refuses: {0}")]
    Refused(#[from] Refusal),
    /// The connection is lost; whether the call was carried out is not known. Every call may be repeated.
    #[error("the connection to the keeper is lost")]
    Disconnected,
    /// No answer came within [`CALL_MAX`]: the connection is given up, and every call on it is as good as
    /// disconnected.
    #[error("the keeper does not answer")]
    Silent,
    /// The records of this link are read already; attach again to read from elsewhere.
    #[error("the records of this link are being read")]
    ReadingAlready,
    /// The keeper gave the answer of another call.
    #[error("the keeper's answer is not that of the call")]
    WrongAnswer,
}

/// A connection to the keeper of one attempt. Clones share it; it ends with the last of them.
#[derive(Debug, Clone)]
pub struct Link {
    outgoing: mpsc::Sender<Outgoing>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Outgoing {
    what: Sendable,
    answer: oneshot::Sender<Owned>,
}

#[derive(Debug)]
enum Sendable {
    Call(Call<'static>),
    Frame { number: u64, bytes: Arc<[u8]> },
}

/// A reply that has left the buffer it was read into.
type Owned = Reply<'static>;

#[derive(Debug, Default)]
struct Shared {
    pending: Mutex<Pending>,
    pushes: Mutex<Option<mpsc::Receiver<PushedRecords>>>,
    /// Whether the connection was given up because no answer came.
    silent: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Pending {
    last_id: u32,
    answers: HashMap<u32, oneshot::Sender<Owned>>,
    /// Set once nothing will be answered any more.
    over: bool,
}

/// The records of one push.
#[derive(Debug)]
pub(super) struct PushedRecords {
    pub(super) position: u64,
    pub(super) bytes: Vec<u8>,
}

impl Link {
    /// Greets the keeper of `dir`. A keeper that was just spawned is waited for.
    ///
    /// A newer greeting takes the keeper over: the connection of an older host ends.
    ///
    /// # Errors
    /// [`AttachError`].
    pub async fn attach(
        dir: &AttemptDir,
        greeting: Greeting,
    ) -> Result<(Self, Welcome), AttachError> {
        let attempt = dir.attempt();
        let greeted = tokio::time::timeout(ATTACH_MAX, async {
            let stream = Self::dial_living(dir).await?;
            Self::greet(stream, attempt, greeting).await
        });
        greeted.await.unwrap_or(Err(AttachError::Silent(attempt)))
    }

    async fn dial_living(dir: &AttemptDir) -> Result<UnixStream, AttachError> {
        loop {
            match dial::dial(dir).await {
                Ok(stream) => return Ok(stream),
                // Not bound yet, or bound anew, or the keeper is gone: only the lock tells.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::NotFound
                            | io::ErrorKind::ConnectionRefused
                            | io::ErrorKind::WouldBlock
                    ) =>
                {
                    if !dir.is_alive()? {
                        return Err(AttachError::Dead(dir.attempt()));
                    }
                    tokio::time::sleep(DIAL_AGAIN).await;
                }
                Err(source) => return Err(AttachError::Io { attempt: dir.attempt(), source }),
            }
        }
    }

    async fn greet(
        mut stream: UnixStream,
        attempt: Uuid,
        greeting: Greeting,
    ) -> Result<(Self, Welcome), AttachError> {
        let io_error = |source| AttachError::Io { attempt, source };
        let protocol_error = |source| AttachError::Protocol { attempt, source };
        let hello = Call::Hello(Box::new(Hello {
            version: PROTOCOL_VERSION,
            attempt,
            secret: greeting.secret,
            incarnation: greeting.incarnation,
            start: greeting.start,
        }));
        let mut out = Vec::new();
        hello.encode(0, &mut out);
        // A keeper that refuses this peer may have closed already; its word is there all the same.
        let sent = stream.write_all(&out).await;
        let mut buffer = Vec::with_capacity(READ_BUFFER_BYTES);
        let welcome = loop {
            let taken = Message::take(&buffer, MESSAGE_BYTES_MAX).map_err(protocol_error)?;
            if let Some((message, bytes)) = taken {
                let reply = Reply::decode(&message).map_err(protocol_error)?;
                let answer = match reply {
                    Reply::Welcome(welcome) => *welcome,
                    Reply::Refused(refusal) => {
                        return Err(AttachError::Refused { attempt, refusal });
                    }
                    _ => return Err(protocol_error(ProtocolError::UnknownKind(message.kind))),
                };
                buffer.drain(..bytes);
                break answer;
            }
            if stream.read_buf(&mut buffer).await.map_err(io_error)? == 0 {
                let error = sent.err().unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into());
                return Err(io_error(error));
            }
        };
        Ok((Self::run(stream, buffer), welcome))
    }

    fn run(stream: UnixStream, buffer: Vec<u8>) -> Self {
        let (reading, writing) = stream.into_split();
        let (outgoing, calls) = mpsc::channel(CALLS_WAITING_MAX);
        let (pushed, pushes) = mpsc::channel(PUSHES_WAITING_MAX);
        let shared = Arc::new(Shared::default());
        *lock(&shared.pushes) = Some(pushes);
        let (gone, is_gone) = oneshot::channel::<()>();
        tokio::spawn({
            let shared = Arc::clone(&shared);
            async move {
                // Ends when the keeper goes, or with the last handle: `write` drops its end of `gone`.
                tokio::select! {
                    () = read(reading, buffer, &shared, pushed) => {}
                    _ = is_gone => {}
                    () = shared.given_up() => {}
                }
                shared.end();
            }
        });
        tokio::spawn({
            let shared = Arc::clone(&shared);
            async move {
                tokio::select! {
                    () = write(writing, calls, &shared) => {}
                    () = shared.given_up() => {}
                }
                shared.end();
                drop(gone);
            }
        });
        Self { outgoing, shared }
    }

    /// The attempt's records from `position` on, and then those to come.
    ///
    /// # Errors
    /// [`Refusal::Ahead`] where the spool does not reach to `position`, [`Refusal::Gone`] where the records
    /// there were acknowledged; [`CallError::ReadingAlready`] the second time.
    pub async fn read_from(&self, position: u64) -> Result<Events, CallError> {
        let pushes = lock(&self.shared.pushes).take().ok_or(CallError::ReadingAlready)?;
        let from = ReadFrom::Position(position);
        let call = Call::ReadFrom { from, window: crate::limits::WINDOW_BYTES };
        match self.call(call).await {
            Ok(Reply::Reading) => Ok(Events::new(position, pushes, self.clone())),
            Ok(_) => Err(CallError::WrongAnswer),
            Err(error) => {
                *lock(&self.shared.pushes) = Some(pushes);
                Err(error)
            }
        }
    }

    /// Grants the keeper more records. Not waited for: a lost connection shows in the events.
    pub(super) async fn grant(&self, window: u64) {
        let (answer, _) = oneshot::channel();
        let call = Call::ReadFrom { from: ReadFrom::Cursor, window };
        let _ = self.outgoing.send(Outgoing { what: Sendable::Call(call), answer }).await;
    }

    /// Says that everything before `position` is durable with the host and may be deleted. Once the
    /// position behind an attempt's last record is acknowledged, its keeper ends.
    ///
    /// # Errors
    /// [`CallError`]; [`Refusal::Ahead`] beyond the end.
    pub async fn acknowledge(&self, position: u64) -> Result<(), CallError> {
        match self.call(Call::Acknowledge { position }).await? {
            Reply::Acknowledged => Ok(()),
            _ => Err(CallError::WrongAnswer),
        }
    }

    /// Hands over frame `number`, as the agent will read it (its newline included). Repeating it is safe.
    ///
    /// # Errors
    /// [`CallError`]: among others [`Refusal::Busy`] while too many wait, [`Refusal::OutOfOrder`],
    /// [`Refusal::StdinClosed`], [`Refusal::Ended`].
    pub async fn write_frame(&self, number: u64, bytes: Arc<[u8]>) -> Result<Written, CallError> {
        if bytes.len() as u64 > FRAME_BYTES_MAX {
            return Err(Refusal::TooLarge { max: FRAME_BYTES_MAX }.into());
        }
        let max = CALL_MAX + Duration::from_secs(bytes.len() as u64 / FRAME_BYTES_PER_SECOND_MIN);
        match self.send(Sendable::Frame { number, bytes }, max).await? {
            Reply::Written(written) => Ok(written),
            _ => Err(CallError::WrongAnswer),
        }
    }

    /// Takes frame `number` back, if it has not begun; a number that never arrived is used up by this.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn cancel_frame(&self, number: u64) -> Result<Cancelled, CallError> {
        match self.call(Call::CancelFrame { number }).await? {
            Reply::Cancelled(cancelled) => Ok(cancelled),
            _ => Err(CallError::WrongAnswer),
        }
    }

    /// Signals or stops. The answer says that it is under way; the end is the record `Exited`.
    ///
    /// # Errors
    /// [`CallError`]: among others [`Refusal::NotIdle`] where the condition does not hold.
    pub async fn stop(&self, stop: Stop) -> Result<(), CallError> {
        match self.call(Call::Stop(stop)).await? {
            Reply::Stopping => Ok(()),
            _ => Err(CallError::WrongAnswer),
        }
    }

    /// How things are.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn status(&self) -> Result<Status, CallError> {
        match self.call(Call::Status).await? {
            Reply::Status(status) => Ok(*status),
            _ => Err(CallError::WrongAnswer),
        }
    }

    /// Whether this connection was given up because the keeper did not answer.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        *self.shared.silent.borrow()
    }

    async fn call(&self, call: Call<'static>) -> Result<Owned, CallError> {
        self.send(Sendable::Call(call), CALL_MAX).await
    }

    async fn send(&self, what: Sendable, max: Duration) -> Result<Owned, CallError> {
        let answer = tokio::time::timeout(max, self.send_and_wait(what)).await;
        answer.unwrap_or_else(|_| {
            self.shared.silent.send_replace(true);
            Err(CallError::Silent)
        })
    }

    async fn send_and_wait(&self, what: Sendable) -> Result<Owned, CallError> {
        let (answer, answered) = oneshot::channel();
        let sent = self.outgoing.send(Outgoing { what, answer }).await;
        sent.map_err(|_| CallError::Disconnected)?;
        match answered.await {
            Ok(Reply::Refused(refusal)) => Err(refusal.into()),
            Ok(reply) => Ok(reply),
            Err(_) => Err(CallError::Disconnected),
        }
    }
}

impl Shared {
    /// Registers a call, unless nothing will be answered any more: then `answer` is dropped.
    fn register(&self, answer: oneshot::Sender<Owned>) -> Option<u32> {
        let mut pending = lock(&self.pending);
        if pending.over {
            return None;
        }
        // Id 0 belongs to the greeting and to pushes.
        pending.last_id = pending.last_id.checked_add(1).unwrap_or(1);
        let id = pending.last_id;
        pending.answers.insert(id, answer);
        Some(id)
    }

    fn answer(&self, id: u32, reply: Owned) {
        // A keeper may refuse each piece of one frame; the first refusal was the answer.
        if let Some(answer) = lock(&self.pending).answers.remove(&id) {
            let _ = answer.send(reply);
        }
    }

    async fn given_up(&self) {
        let _ = self.silent.subscribe().wait_for(|silent| *silent).await;
    }

    fn end(&self) {
        let mut pending = lock(&self.pending);
        pending.over = true;
        pending.answers.clear();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn read(
    mut stream: OwnedReadHalf,
    mut buffer: Vec<u8>,
    shared: &Shared,
    pushed: mpsc::Sender<PushedRecords>,
) {
    loop {
        let mut taken = 0;
        while let Ok(Some((message, bytes))) =
            Message::take(buffer.get(taken..).unwrap_or_default(), MESSAGE_BYTES_MAX)
        {
            taken += bytes;
            match Reply::decode(&message) {
                Ok(Reply::Push { position, bytes }) => {
                    // Full means that the keeper does not keep to the window: as good as damaged.
                    // Closed means that the events were dropped: what still comes is not wanted.
                    let records = PushedRecords { position, bytes: bytes.to_vec() };
                    if let Err(mpsc::error::TrySendError::Full(_)) = pushed.try_send(records) {
                        return;
                    }
                }
                Ok(reply) => shared.answer(message.id, owned(reply)),
                // An answer that a newer keeper has extended beyond recognition fails its call only.
                Err(_) => shared.answer(message.id, Reply::Refused(Refusal::Unsupported)),
            }
        }
        buffer.drain(..taken);
        if Message::take(&buffer, MESSAGE_BYTES_MAX).is_err() {
            return;
        }
        match stream.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

fn owned(reply: Reply<'_>) -> Owned {
    match reply {
        Reply::Welcome(welcome) => Reply::Welcome(welcome),
        Reply::Reading => Reply::Reading,
        Reply::Acknowledged => Reply::Acknowledged,
        Reply::Written(written) => Reply::Written(written),
        Reply::Cancelled(cancelled) => Reply::Cancelled(cancelled),
        Reply::Stopping => Reply::Stopping,
        Reply::Status(status) => Reply::Status(status),
        Reply::Refused(refusal) => Reply::Refused(refusal),
        // Pushes are taken out before; one that comes here carries nothing.
        Reply::Push { position, .. } => Reply::Push { position, bytes: &[] },
    }
}

async fn write(mut stream: OwnedWriteHalf, mut calls: mpsc::Receiver<Outgoing>, shared: &Shared) {
    let mut out = Vec::new();
    while let Some(Outgoing { what, answer }) = calls.recv().await {
        let Some(id) = shared.register(answer) else { return };
        match what {
            Sendable::Call(call) => {
                out.clear();
                call.encode(id, &mut out);
                if stream.write_all(&out).await.is_err() {
                    return;
                }
            }
            Sendable::Frame { number, bytes } => {
                let total = bytes.len() as u64;
                let mut offset = 0;
                loop {
                    let end = bytes.len().min(offset + FRAME_CHUNK_BYTES_MAX);
                    let piece = bytes.get(offset..end).unwrap_or_default();
                    out.clear();
                    let chunk = WriteChunk { number, total, offset: offset as u64, bytes: piece };
                    Call::WriteFrame(chunk).encode(id, &mut out);
                    if stream.write_all(&out).await.is_err() {
                        return;
                    }
                    offset = end;
                    if offset == bytes.len() {
                        break;
                    }
                }
            }
        }
    }
}
