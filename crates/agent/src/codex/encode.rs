//! What goes out: one line for each frame.

use holdfast_core::frame::{Outgoing, Setting};
use holdfast_core::ids::FrameNo;
use holdfast_core::provider::ProtocolFrame;
use serde_json::{Map, Value, json};

use super::handshake::SET;
use super::subagents::Unstoppable;
use super::{State, prompts};
use crate::codec::{Content, EncodeError};
use crate::jsonrpc::Dialect;

const BARE: Dialect = Dialect::Bare;

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
                BARE.request(frame.0, method, params)
            }
            Outgoing::Protocol(ProtocolFrame::Notification { method, params }) => {
                BARE.notification(method, params)
            }
            Outgoing::Protocol(ProtocolFrame::Reply { id, outcome }) => BARE.reply(id, outcome),
            Outgoing::Message { message } => {
                let text = content.text.ok_or(EncodeError::TextMissing { frame })?;
                let params = json!({
                    "threadId": self.named(frame)?,
                    "input": super::attached::input(text, content.attached),
                    "clientUserMessageId": message.to_string(),
                });
                BARE.request(frame.0, "turn/start", &params.to_string())
            }
            Outgoing::Steer { message } => {
                let text = content.text.ok_or(EncodeError::TextMissing { frame })?;
                let turn = self.turns.steered_turn(frame).ok_or(EncodeError::NoTurn)?;
                let params = json!({
                    "threadId": self.named(frame)?,
                    "expectedTurnId": turn,
                    "input": super::attached::input(text, content.attached),
                    "clientUserMessageId": message.to_string(),
                });
                BARE.request(frame.0, "turn/steer", &params.to_string())
            }
            Outgoing::Answer { prompt, answer } => {
                let gone = EncodeError::PromptGone { prompt: prompt.n };
                let row = self.prompts.get(prompt.n).ok_or(gone)?;
                BARE.reply(&row.request, &prompts::outcome(&row.shape, answer))
            }
            Outgoing::Interrupt => {
                // A turn without a name is whichever runs when the request is read.
                let turn = self.turns.current().unwrap_or_default();
                let params = json!({ "threadId": self.named(frame)?, "turnId": turn });
                BARE.request(frame.0, "turn/interrupt", &params.to_string())
            }
            Outgoing::Set { setting } => {
                let mut params = match setting {
                    Setting::Model(model) => {
                        Some(Map::from_iter([("model".to_owned(), json!(model))]))
                    }
                    Setting::Effort(effort) => {
                        Some(Map::from_iter([("effort".to_owned(), json!(effort))]))
                    }
                    Setting::Mode(mode) => self.settings.towards(mode),
                }
                .ok_or(EncodeError::NotSettable)?;
                params.insert("threadId".to_owned(), json!(self.named(frame)?));
                BARE.request(frame.0, SET, &Value::Object(params).to_string())
            }
            Outgoing::StopTask { task } => {
                let (method, params) = self.stopping(task.n).map_err(|why| match why {
                    Unstoppable::Gone => EncodeError::TaskGone { task: task.n },
                    Unstoppable::Nameless => EncodeError::TaskNotStoppable { task: task.n },
                })?;
                BARE.request(frame.0, method, &params.to_string())
            }
        };
        line.map_err(|source| EncodeError::NotJson { frame, source })
    }

    fn named(&self, frame: FrameNo) -> Result<&str, EncodeError> {
        if self.thread.is_empty() {
            return Err(EncodeError::NoSession { frame });
        }
        Ok(&self.thread)
    }
}
