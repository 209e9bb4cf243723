//! What goes out: one line for each frame. A line that is no JSON ends the CLI.

use holdfast_core::frame::{Outgoing, Setting};
use holdfast_core::ids::FrameNo;
use holdfast_core::provider::ProtocolFrame;
use serde_json::{Map, Value, json};

use super::control::request_id;
use super::{State, ids};
use crate::codec::{Content, EncodeError};
use crate::tasks::Target;

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
            // What comes while a turn runs is taken up between two of its tools, or opens the next.
            Outgoing::Message { message: _ } | Outgoing::Steer { message: _ } => {
                let text = content.text.ok_or(EncodeError::TextMissing { frame })?;
                json!({
                    "type": "user",
                    "message": {
                        "role": "user",
                        "content": super::attached::content(text, content.attached),
                    },
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
            Outgoing::Set { setting: Setting::Effort(effort) } => {
                let settings = json!({ "effortLevel": effort });
                control(frame, &json!({ "subtype": "apply_flag_settings", "settings": settings }))
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
