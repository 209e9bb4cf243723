//! The host's end of a fuzzed keeper: it makes calls, and holds what was pushed against the spool.

use super::{ATTEMPT, Given};
use crate::protocol::{Call, Hello, Message, PROTOCOL_VERSION, ReadFrom, Reply, Start};
use crate::registry::{Limits, Secret, Spec};
use crate::spool::Assembler;
use crate::wire::FieldWriter;
use uuid::Uuid;

const INCARNATION: Uuid = Uuid::from_u128(2);
/// The field of a greeting that holds what is to be started.
const START: u8 = 5;
/// Bytes of a message's length, which does not count itself.
const LENGTH_BYTES: usize = 4;

/// The spec of the attempt. Its bounds are small, so that they are met.
pub(super) fn spec() -> Spec {
    Spec {
        attempt: ATTEMPT,
        secret: Secret::from_bytes([1; 32]),
        incarnation: INCARNATION,
        limits: Limits {
            spool_bytes_max: 1024 * 1024,
            host_gone_ms: 60_000,
            start_wait_ms: 5_000,
            grace_ms: 1_000,
        },
    }
}

/// A greeting that is let in, as a message.
pub(super) fn greeting(start: Option<Start>) -> Vec<u8> {
    let Spec { attempt, secret, incarnation, .. } = spec();
    let version = PROTOCOL_VERSION;
    let mut out = Vec::new();
    Call::Hello(Box::new(Hello { version, attempt, secret, incarnation, start }))
        .encode(1, &mut out);
    out
}

/// A greeting that is let in, with any bytes as what is to be started.
pub(super) fn greeting_with(start: &[u8]) -> Vec<u8> {
    let mut out = greeting(None);
    FieldWriter::new(&mut out).bytes(START, start);
    let length = u32::try_from(out.len() - LENGTH_BYTES).unwrap_or(u32::MAX);
    out.splice(..LENGTH_BYTES, length.to_le_bytes());
    out
}

pub(super) fn start() -> Start {
    Start { argv: vec!["agent".into()], env: Vec::new(), cwd: "/".into() }
}

/// What was pushed since reading began.
#[derive(Default)]
pub(super) struct Reading {
    assembler: Option<Assembler>,
    pub(super) given: Vec<Given>,
}

impl Reading {
    /// A call to read was answered: where it names a position, reading begins anew.
    pub(super) fn called(&mut self, message: &Message<'_>) {
        if let Ok(Call::ReadFrom { from: ReadFrom::Position(position), .. }) = Call::decode(message)
        {
            self.assembler = Some(Assembler::new(position));
        }
    }

    /// A message was pushed.
    pub(super) fn pushed(&mut self, out: &[u8]) {
        let message = Message::take(out, usize::MAX);
        let Ok(Some((message, _))) = message else { unreachable!("no message: {message:?}") };
        let reply = Reply::decode(&message);
        let Ok(Reply::Push { position, bytes }) = reply else { unreachable!("{reply:?}") };
        let Some(assembler) = &mut self.assembler else { unreachable!("nothing was asked for") };
        assembler.push(position, bytes.to_vec());
        self.given.extend(std::iter::from_fn(|| assembler.next()));
    }
}
