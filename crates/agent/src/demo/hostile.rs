//! The directives that make the agent misbehave.

use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::json;

use super::acts::end_call;
use super::agent::Agent;
use super::session::Session;
use super::settings::{ROLE_GRANDCHILD, ROLE_VARIABLE};
use super::store::Record;
use super::turn::{Cut, Turn};

/// Size of the chunks of a flood, in bytes.
const FLOOD_CHUNK_BYTES: u64 = 16 * 1024;
/// The text of a flood, again and again.
const FLOOD_PATTERN: &[u8; 16] = b"0123456789abcde\n";
/// Replaced by the session's id in a raw line.
const SESSION_PLACEHOLDER: &[u8] = b"$SESSION";

pub(super) fn flood(
    agent: &Agent,
    session: &Session,
    turn: &Arc<Turn>,
    bytes: u64,
) -> Result<(), Cut> {
    let message_id = agent.new_id("msg");
    let chunk = pattern(FLOOD_CHUNK_BYTES);
    let mut left = bytes;
    let mut ended = Ok(());
    while left > 0 && ended.is_ok() {
        let now = usize::try_from(left).unwrap_or(chunk.len()).min(chunk.len());
        session.chunk(agent, "agent_message_chunk", &message_id, &chunk[..now]);
        left -= now as u64;
        ended = turn.rest(std::time::Duration::ZERO);
    }
    let text = format!("(a flood of {} bytes)", bytes - left);
    session.store(&Record::Agent { text, message_id });
    ended
}

/// That many bytes of the pattern.
fn pattern(bytes: u64) -> String {
    (0..bytes).map(|at| char::from(FLOOD_PATTERN[(at % 16) as usize])).collect()
}

/// A tool call with a large output, told in one update.
pub(super) fn output(agent: &Agent, session: &Session, bytes: u64) {
    let call = agent.new_id("call");
    agent.out.update(
        &session.id,
        &json!({
            "sessionUpdate": "tool_call",
            "toolCallId": call,
            "title": format!("{bytes} bytes of output"),
            "kind": "other",
            "status": "in_progress",
        }),
    );
    end_call(agent, session, &call, "completed", &pattern(bytes));
}

pub(super) fn raw(agent: &Agent, session: &Session, bytes: &[u8]) {
    let mut line = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(&byte) = rest.first() {
        if let Some(after) = rest.strip_prefix(SESSION_PLACEHOLDER) {
            line.extend_from_slice(session.id.as_bytes());
            rest = after;
        } else {
            line.push(byte);
            rest = &rest[1..];
        }
    }
    agent.out.line(&line);
}

/// A chunk whose line has exactly so many bytes; one that is too short for a chunk gets the
/// shortest one.
pub(super) fn line(agent: &Agent, session: &Session, bytes: u64) {
    const FILLER: &str = "$FILLER";
    let message = json!({
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": session.id,
            "update": {
                "sessionUpdate": "agent_message_chunk",
                "messageId": agent.new_id("msg"),
                "content": { "type": "text", "text": FILLER },
            },
        },
    })
    .to_string();
    let Some((head, tail)) = message.split_once(FILLER) else { return };
    let filler = bytes.saturating_sub((head.len() + tail.len()) as u64);
    agent.out.filled_line(head.as_bytes(), filler, tail.as_bytes());
}

/// Leaves a grandchild behind and says its pid.
pub(super) fn fork(agent: &Agent, session: &Session) {
    match leave_grandchild() {
        Ok(pid) => session.say(agent, &format!("forked {pid}")),
        Err(error) => session.say(agent, &format!("fork failed: {error}")),
    }
}

/// Starts this program in its grandchild role behind a shell that ignores SIGTERM: the disposition
/// is inherited, which spares unsafe code here. The shell ends at once.
fn leave_grandchild() -> std::io::Result<String> {
    const SCRIPT: &str = r#"trap "" TERM; "$0" "$@" </dev/null >/dev/null 2>&1 & echo $!"#;
    let shell = Command::new("/bin/sh")
        .args(["-c", SCRIPT])
        .arg(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(ROLE_VARIABLE, ROLE_GRANDCHILD)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    Ok(String::from_utf8_lossy(&shell.stdout).trim().to_owned())
}
