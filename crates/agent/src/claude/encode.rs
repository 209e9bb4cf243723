//! What goes out: one line for each frame. A line that is no JSON ends the CLI.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use holdfast_core::frame::{Outgoing, Setting};
use holdfast_core::ids::FrameNo;
use holdfast_core::provider::ProtocolFrame;
use serde_json::{Map, Value, json};

use super::control::request_id;
use super::{State, ids};
use crate::attached::Takes;
use crate::codec::{Attached, Content, EncodeError, Form, Given};
use crate::tasks::Target;

/// What the CLI takes beside texts.
const TAKES: Takes = Takes { image: true, embedded: true };

impl State {
    /// The form in which each of these (media type, bytes) is given.
    #[must_use]
    pub fn forms(&self, attached: &[(&str, u64)]) -> Vec<Form> {
        TAKES.forms(attached)
    }

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
        let not_json = |source| EncodeError::NotJson { frame, source };
        let line = match out {
            Outgoing::Protocol(
                ProtocolFrame::Request { method, params }
                | ProtocolFrame::Notification { method, params },
            ) => {
                let mut request: Map<String, Value> =
                    serde_json::from_str(params).map_err(not_json)?;
                request.insert("subtype".to_owned(), json!(method));
                control(frame, &Value::Object(request))
            }
            Outgoing::Protocol(ProtocolFrame::Reply { id, outcome }) => {
                let response = format!(r#"{{"request_id":{id},{outcome}}}"#);
                let response: Value = serde_json::from_str(&response).map_err(not_json)?;
                json!({ "type": "control_response", "response": response })
            }
            Outgoing::Message { message: _ } => {
                let text = content.text.ok_or(EncodeError::TextMissing { frame })?;
                let content: Vec<Value> = blocks(text, content.attached);
                json!({
                    "type": "user",
                    "message": { "role": "user", "content": content },
                    "parent_tool_use_id": null,
                    "session_id": self.session,
                    "uuid": ids::message_id(self.attempt, frame).to_string(),
                })
            }
            Outgoing::Answer { prompt, answer } => {
                let gone = EncodeError::PromptGone { prompt: prompt.n };
                let row = self.prompts.get(prompt.n).ok_or(gone)?;
                json!({
                    "type": "control_response",
                    "response": {
                        "subtype": "success",
                        "request_id": row.request,
                        "response": row.response(answer),
                    },
                })
            }
            // What was not begun is not begun any more either: nobody waits for it.
            Outgoing::Interrupt => {
                control(frame, &json!({ "subtype": "interrupt", "cancel_queued": true }))
            }
            Outgoing::StopTask { task } => {
                let id = match self.tasks.target(task.n) {
                    Target::Id(id) => id,
                    Target::NotStoppable => {
                        return Err(EncodeError::TaskNotStoppable { task: task.n });
                    }
                    Target::Gone => return Err(EncodeError::TaskGone { task: task.n }),
                };
                control(frame, &json!({ "subtype": "stop_task", "task_id": id }))
            }
            Outgoing::Set { setting } if !self.control.settable(setting) => {
                return Err(EncodeError::NotSettable);
            }
            Outgoing::Set { setting: Setting::Model(model) } => {
                control(frame, &json!({ "subtype": "set_model", "model": model }))
            }
            Outgoing::Set { setting: Setting::Mode(mode) } => {
                control(frame, &json!({ "subtype": "set_permission_mode", "mode": mode }))
            }
        };
        let mut bytes = serde_json::to_vec(&line).map_err(not_json)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

fn control(frame: FrameNo, request: &Value) -> Value {
    json!({ "type": "control_request", "request_id": request_id(frame), "request": request })
}

/// The blocks of a message: what is attached to it, then its text, the order that the model's maker asks
/// for. Files are texts with their addresses:
/// the CLI's messages have no other form for them, and the model reads them with its tools.
fn blocks(text: &str, attached: &[Attached<'_>]) -> Vec<Value> {
    let words = (!text.trim().is_empty() || attached.is_empty())
        .then(|| json!({ "type": "text", "text": text }));
    attached.iter().map(block).chain(words).collect()
}

fn block(attached: &Attached<'_>) -> Value {
    let Attached { name, media_type, bytes, given } = attached;
    let words = match given {
        Given::Image(data) => {
            let data = STANDARD.encode(data);
            let source = json!({ "type": "base64", "media_type": media_type, "data": data });
            return json!({ "type": "image", "source": source });
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
