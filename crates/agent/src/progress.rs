//! How far the answer to a prompt is, whatever the agent asked.

use holdfast_core::ids::FrameNo;
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};

/// How far an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Progress {
    /// Nobody has answered.
    Open,
    /// The answer has a frame.
    Answered(FrameNo),
    /// The frame was written.
    Written,
}

impl Progress {
    /// A frame was written; it may be the answer.
    pub(crate) fn written(&mut self, frame: FrameNo) {
        if *self == Self::Answered(frame) {
            *self = Self::Written;
        }
    }

    /// What the end of this prompt means: what was written arrived, nothing else is waited for.
    pub(crate) const fn over(self, prompt: u32) -> ProviderEvent {
        match self {
            Self::Written => ProviderEvent::AnswerTaken { prompt },
            Self::Open | Self::Answered(_) => ProviderEvent::PromptGone { prompt },
        }
    }
}
