//! What goes out: one line for each frame.

use holdfast_core::frame::Outgoing;
use holdfast_core::ids::FrameNo;
use holdfast_core::provider::ProtocolFrame;
use serde_json::json;

use super::{State, blocks, prompts};
use crate::codec::{Content, EncodeError, Form};
use crate::jsonrpc::Dialect;
use crate::tasks::Target;

const NAMED: Dialect = Dialect::Named;

impl State {
    /// The bytes of a frame.
    ///
    /// # Errors
    ///
    /// See [`EncodeError`].
    pub fn encode(
        &self,
        frame: FrameNo,
        out: &Outgoing,
        content: &Content<'_>,
    ) -> Result<Vec<u8>, EncodeError> {
        let line = match out {
            Outgoing::Protocol(ProtocolFrame::Request { method, params }) => {
                NAMED.request(frame.0, method, params)
            }
            Outgoing::Protocol(ProtocolFrame::Notification { method, params }) => {
                NAMED.notification(method, params)
            }
            Outgoing::Protocol(ProtocolFrame::Reply { id, outcome }) => NAMED.reply(id, outcome),
            Outgoing::Message { message: _ } => {
                let text = content.text.ok_or(EncodeError::TextMissing { frame })?;
                let prompt = blocks::prompt(text, content.attached);
                let params = json!({ "sessionId": self.named(frame)?, "prompt": prompt });
                NAMED.request(frame.0, "session/prompt", &params.to_string())
            }
            Outgoing::Answer { prompt, answer } => {
                let gone = EncodeError::PromptGone { prompt: prompt.n };
                let row = self.prompts.get(prompt.n).ok_or(gone)?;
                NAMED.reply(&row.request, &prompts::outcome(&row.shape, answer))
            }
            // Nothing is given to a turn of an agent that does not say that it takes it.
            Outgoing::Steer { message: _ } => return Err(EncodeError::NoTurn),
            Outgoing::Interrupt => {
                let params = json!({ "sessionId": self.named(frame)? });
                NAMED.notification("session/cancel", &params.to_string())
            }
            Outgoing::Set { setting: _ } => return Err(EncodeError::NotSettable),
            Outgoing::StopTask { task } => {
                let id = match self.tasks.target(task.n) {
                    Target::Id(id) => id,
                    Target::NotStoppable => {
                        return Err(EncodeError::TaskNotStoppable { task: task.n });
                    }
                    Target::Gone => return Err(EncodeError::TaskGone { task: task.n }),
                };
                let params = json!({ "sessionId": self.named(frame)?, "taskId": id });
                NAMED.request(frame.0, "_holdfast/task_stop", &params.to_string())
            }
        };
        line.map_err(|source| EncodeError::NotJson { frame, source })
    }

    /// The form in which the agent takes what is attached to one message.
    pub(crate) fn forms(&self, attached: &[(&str, u64)]) -> Vec<Form> {
        self.takes.forms(attached)
    }

    fn named(&self, frame: FrameNo) -> Result<&str, EncodeError> {
        if self.session.is_empty() {
            return Err(EncodeError::NoSession { frame });
        }
        Ok(&self.session)
    }
}
