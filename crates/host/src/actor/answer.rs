//! What a caller is told of a commit that did not come about.

use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::CommitError;

/// What a caller is told of a commit that did not come about.
pub(crate) fn refusal_of(error: &CommitError) -> Refusal {
    match error {
        CommitError::StorageFull => {
            let text = "The disk is full: nothing was stored. Make room and try again.";
            Refusal::new(Code::StorageFull, text)
        }
        CommitError::SlotTaken { slot } => {
            let text = format!("The slot {slot:?} belongs to another open chat.");
            Refusal::new(Code::SlotTaken, text).field("slot")
        }
        CommitError::OperationExists => {
            let text = "This Idempotency-Key was used for another request.";
            Refusal::new(Code::OperationConflict, text)
        }
        CommitError::Uncertain(_) | CommitError::Fenced { .. } => {
            let text = "This may have been stored and may not. Try again with the same \
                        Idempotency-Key.";
            Refusal::new(Code::NotDurable, text)
        }
        CommitError::Failed(why) => {
            tracing::error!("the store failed: {why}");
            Refusal::new(Code::NotDurable, "The store failed: nothing was stored. Try again.")
        }
        CommitError::Stopped => Refusal::new(Code::Stopping, "The host is stopping."),
        CommitError::Refused(why) => {
            tracing::error!("the store refused a unit: {why}");
            Refusal::new(Code::Internal, "The host could not store this. It is in the log.")
        }
    }
}
