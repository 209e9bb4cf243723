use super::{Program, keeper};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::protocol::{Call, Message, Reply};

/// The input as messages of either end, and as a program of what reaches a keeper.
///
/// # Panics
///
/// When a promise is broken: a message that was read and written is another one, or the keeper's
/// record is not what happened.
pub fn protocol(data: &[u8]) {
    let mut rest = data;
    while let Ok(Some((message, taken))) = Message::take(rest, MESSAGE_BYTES_MAX) {
        look_at(&message);
        rest = rest.get(taken..).unwrap_or_default();
    }
    keeper::run(Program(data));
}

/// What a message says, it says also when it is written by this end.
pub(super) fn look_at(message: &Message<'_>) {
    if let Ok(call) = Call::decode(message) {
        let mut once = Vec::new();
        call.encode(message.id, &mut once);
        let again = Message::take(&once, usize::MAX);
        let Ok(Some((again, _))) = again else { unreachable!("a call is no message: {again:?}") };
        assert_eq!(Call::decode(&again), Ok(call));
    }
    if let Ok(reply) = Reply::decode(message) {
        let (mut once, mut twice) = (Vec::new(), Vec::new());
        reply.encode(message.id, &mut once);
        let again = Message::take(&once, usize::MAX);
        let Ok(Some((again, _))) = again else { unreachable!("a reply is no message: {again:?}") };
        // Lists are shortened when they are written.
        let read = Reply::decode(&again);
        assert!(read.is_ok(), "{reply:?} is read as {read:?}");
        read.into_iter().for_each(|reply| reply.encode(again.id, &mut twice));
        assert_eq!(once, twice);
    }
}
