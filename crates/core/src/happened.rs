//! Which facts are something that happened in a chat: by these it is dated, and lists are ordered.

use crate::fact::Fact;

/// Whether a person or the agent did something in the chat that is there to be looked at. That
/// somebody looked, arranged it, or that a process came and went without a word is nothing that
/// happened in it.
#[must_use]
pub const fn happened(fact: &Fact) -> bool {
    match fact {
        Fact::ChatOpened { .. }
        | Fact::ChatForked(_)
        | Fact::ChatRewound { .. }
        | Fact::ChatAdopted { .. }
        | Fact::ChatClosed
        | Fact::ChatReopened
        | Fact::MessageAccepted { .. }
        | Fact::MessageEdited { .. }
        | Fact::MessageHanded { .. }
        | Fact::MessageRefused { .. }
        | Fact::MessageDisproved { .. }
        | Fact::TurnOpened { .. }
        | Fact::TurnClaimed { .. }
        | Fact::TurnEnded { .. }
        | Fact::InterruptRequested { .. }
        | Fact::ItemAdded { .. }
        | Fact::PromptOpened { .. }
        | Fact::PromptAnswered { .. }
        | Fact::TaskStarted { .. }
        | Fact::TaskDetached { .. }
        | Fact::TaskEnded { .. }
        | Fact::OfferShown { .. }
        | Fact::FailureFiled(_) => true,

        Fact::ChatTitled { .. }
        | Fact::SlotBound { .. }
        | Fact::ChatPinned { .. }
        | Fact::ChatFiled { .. }
        | Fact::ChatTagged { .. }
        | Fact::ChatMuted { .. }
        | Fact::ChatSeen { .. }
        | Fact::ChatTuned { .. }
        | Fact::SettingDeferred
        | Fact::AgentRetuned { .. }
        | Fact::EffortsTold { .. }
        | Fact::SessionMoved { .. }
        | Fact::StoreRead { .. }
        | Fact::ChatDeleted
        | Fact::AttachmentAdded(_)
        | Fact::AttachmentRemoved { .. }
        | Fact::QueueOrdered { .. }
        | Fact::QueuePaused { .. }
        | Fact::QueueResumed
        | Fact::QueueExempted { .. }
        | Fact::SteerWished { .. }
        | Fact::WithdrawRequested { .. }
        | Fact::MessageWithdrawn { .. }
        | Fact::MessageTaken { .. }
        | Fact::MessageSettled { .. }
        | Fact::MessageDoubted { .. }
        | Fact::SettledSuspected { .. }
        | Fact::MessageRequeued { .. }
        | Fact::CallsAbandoned { .. }
        | Fact::TurnMarked(_)
        | Fact::AnswerWritten { .. }
        | Fact::AnswerTaken { .. }
        | Fact::AnswerLost { .. }
        | Fact::PromptGone { .. }
        | Fact::GrantGiven { .. }
        | Fact::GrantEnded { .. }
        | Fact::LeftoversSeen { .. }
        | Fact::AttemptStarting { .. }
        | Fact::AttemptBorn { .. }
        | Fact::AttemptReady { .. }
        | Fact::FrameIssued { .. }
        | Fact::FrameBegun { .. }
        | Fact::FrameDone { .. }
        | Fact::FrameCancelled { .. }
        | Fact::StopRequested { .. }
        | Fact::StopWithdrawn { .. }
        | Fact::AttemptStalled { .. }
        | Fact::AttemptGoesOn { .. }
        | Fact::AttemptEnded { .. }
        | Fact::TreeMayLive { .. }
        | Fact::StartedAnyway
        | Fact::OfferRecorded { .. }
        | Fact::OfferEnded { .. }
        | Fact::ResumeStarted { .. }
        | Fact::SessionLeft { .. }
        | Fact::ResumeStopped { .. }
        | Fact::FailureCleared => false,
    }
}
