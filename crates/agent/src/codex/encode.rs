//! What goes out: one line for each frame.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use holdfast_core::frame::{Outgoing, Setting};
use holdfast_core::ids::FrameNo;
use holdfast_core::provider::ProtocolFrame;
use serde_json::{Map, Value, json};

use super::handshake::SET;
use super::subagents::Unstoppable;
use super::{State, prompts};
use crate::attached::Takes;
use crate::codec::{Attached, Content, EncodeError, Form, Given};
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
                    "input": input(text, content.attached),
                    "clientUserMessageId": message.to_string(),
                });
                BARE.request(frame.0, "turn/start", &params.to_string())
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

    /// The form in which the agent takes what is attached to one message: what is no image it reads
    /// itself.
    #[expect(clippy::unused_self, reason = "the other agents say what they take")]
    pub(crate) fn forms(&self, attached: &[(&str, u64)]) -> Vec<Form> {
        Takes { image: true, embedded: false }.forms(attached)
    }

    fn named(&self, frame: FrameNo) -> Result<&str, EncodeError> {
        if self.thread.is_empty() {
            return Err(EncodeError::NoSession { frame });
        }
        Ok(&self.thread)
    }
}

/// What a message consists of: its text, then what is attached to it.
fn input(text: &str, attached: &[Attached<'_>]) -> Vec<Value> {
    let words = (!text.trim().is_empty() || attached.is_empty())
        .then(|| json!({ "type": "text", "text": text }));
    words.into_iter().chain(attached.iter().map(piece)).collect()
}

fn piece(attached: &Attached<'_>) -> Value {
    let Attached { name, media_type, bytes, given } = attached;
    let words = match given {
        Given::Image(data) => {
            let url = format!("data:{media_type};base64,{}", STANDARD.encode(data));
            return json!({ "type": "image", "url": url });
        }
        Given::Text { text, uri } => {
            format!("[Attached file {name:?} ({media_type}), at {uri}:]\n{text}")
        }
        Given::Link { uri } => {
            format!("[Attached file {name:?} ({media_type}, {bytes} bytes), at {uri}]")
        }
        Given::Lost => format!(
            "[The attached file {name:?} ({media_type}, {bytes} bytes) is damaged on the disk of the \
             host and could not be given to you.]"
        ),
    };
    json!({ "type": "text", "text": words })
}
