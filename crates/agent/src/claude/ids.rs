//! The ids that the host gives the CLI, made from the attempt's own so that they are known before
//! anything is said and come out again after a crash.

use holdfast_core::ids::{AttemptId, FrameNo};
use uuid::Uuid;

/// The id of the session that an attempt begins.
#[must_use]
pub fn session_id(attempt: AttemptId) -> String {
    attempt.uuid().to_string()
}

/// The id of the message in a frame of an attempt: another one for each hand-over.
#[must_use]
pub fn message_id(attempt: AttemptId, frame: FrameNo) -> Uuid {
    Uuid::from_u128(attempt.uuid().as_u128().wrapping_add(u128::from(frame.0)))
}

/// The frame of an attempt whose message has this id.
#[must_use]
pub fn frame_of(attempt: AttemptId, id: &str) -> Option<FrameNo> {
    let id = Uuid::try_parse(id).ok()?.as_u128();
    let n = id.wrapping_sub(attempt.uuid().as_u128());
    let n = u32::try_from(n).ok().filter(|n| *n > 0)?;
    Some(FrameNo(u64::from(n)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_leads_back_to_its_frame_and_no_other_id_does() {
        let attempt = AttemptId::new(Uuid::from_u128(u128::MAX - 3));
        for n in [1, 2, 7, 4_000_000_000] {
            let id = message_id(attempt, FrameNo(n)).to_string();
            assert_eq!(frame_of(attempt, &id), Some(FrameNo(n)));
        }
        assert_eq!(frame_of(attempt, &session_id(attempt)), None);
        assert_eq!(frame_of(attempt, "5bd6d049-a0e5-44a5-ba08-7e61552c83ac"), None);
        assert_eq!(frame_of(attempt, "no id"), None);
    }
}
