//! The few calls that are made by hand, over one connection each.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Longer than any of these calls takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Calls `http://HOST:PORT` and returns what a 2xx says.
///
/// # Errors
/// It cannot be reached, or answers with anything else.
pub(super) fn call(
    url: &str,
    token: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value> {
    let address = url.strip_prefix("http://").context("no http address")?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).context("cannot reach the host")?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).with_context(|| format!("{method} {path}"))?;
    let (head, body) = answer.split_once("\r\n\r\n").context("half an answer")?;
    let status = head.split(' ').nth(1).unwrap_or_default();
    if !status.starts_with('2') {
        bail!("{method} {path} was answered {status}: {body}");
    }
    serde_json::from_str(body).with_context(|| format!("{method} {path} answered no JSON"))
}
