//! The event stream, as server-sent events.

use std::time::Duration;

use reqwest::Response;
use serde_json::Value;

/// How long a stream may be silent: three heartbeats.
const SILENCE_MAX: Duration = Duration::from_secs(45);
/// Bytes of one event: a snapshot of ten thousand chats is near 20 MiB.
const EVENT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A stream of events.
#[derive(Debug)]
pub(crate) struct Events {
    answer: Response,
    bytes: Vec<u8>,
    /// Bytes at the beginning in which no event ends.
    looked: usize,
}

/// One event.
#[derive(Debug, PartialEq)]
pub(crate) struct Event {
    /// The cursor with which whoever has it may come back.
    pub(crate) cursor: Option<String>,
    /// What is told; null in a heartbeat.
    pub(crate) frame: Value,
}

/// The stream has ended: the host is gone, or this client was too slow.
#[derive(Debug)]
pub(crate) struct Ended;

impl Events {
    pub(crate) fn of(answer: Response) -> Self {
        Self { answer, bytes: Vec::new(), looked: 0 }
    }

    /// The next event, a heartbeat among them.
    pub(crate) async fn next(&mut self) -> Result<Event, Ended> {
        loop {
            if let Some(event) = self.cut()? {
                return Ok(event);
            }
            let chunk = tokio::time::timeout(SILENCE_MAX, self.answer.chunk()).await;
            let chunk = chunk.ok().and_then(Result::ok).flatten().ok_or(Ended)?;
            self.bytes.extend_from_slice(&chunk);
            if self.bytes.len() > EVENT_BYTES_MAX {
                return Err(Ended);
            }
        }
    }

    fn cut(&mut self) -> Result<Option<Event>, Ended> {
        let from = self.looked.saturating_sub(1);
        let Some(at) = self.bytes[from..].windows(2).position(|two| two == b"\n\n") else {
            self.looked = self.bytes.len();
            return Ok(None);
        };
        let rest = self.bytes.split_off(from + at + 2);
        let event = read(&self.bytes).ok_or(Ended)?;
        self.bytes = rest;
        self.looked = 0;
        Ok(Some(event))
    }
}

/// One event, as it was written; none where its data are no JSON.
fn read(bytes: &[u8]) -> Option<Event> {
    let text = std::str::from_utf8(bytes).ok()?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let frame = field("data: ").map_or(Ok(Value::Null), serde_json::from_str).ok()?;
    Some(Event { cursor: field("id: ").map(str::to_owned), frame })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_event_has_data_and_mostly_a_cursor() {
        let event = read(b"id: a-7\ndata: {\"type\":\"changes\"}\n\n").unwrap();
        assert_eq!(event.cursor.as_deref(), Some("a-7"));
        assert_eq!(event.frame, json!({ "type": "changes" }));
        assert_eq!(read(b":\n\n"), Some(Event { cursor: None, frame: Value::Null }));
        assert_eq!(read(b"data: {\n\n"), None);
    }
}
