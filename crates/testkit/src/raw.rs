//! HTTP written by hand, for requests that no client library would send.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// How long a raw connection waits for a byte.
const BYTE_BOUND: Duration = Duration::from_secs(60);

/// An answer, as it came.
#[derive(Clone, Debug)]
pub struct RawAnswer {
    /// The status.
    pub status: u16,
    /// The headers; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Vec<u8>,
}

impl RawAnswer {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A request: its parts are written as they are, however wrong.
#[derive(Clone, Debug)]
pub struct RawRequest {
    method: String,
    target: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl RawRequest {
    /// A request to this target, without any header.
    pub fn new(method: &str, target: &str) -> Self {
        let (method, target) = (method.to_owned(), target.to_owned());
        Self { method, target, headers: Vec::new(), body: Vec::new() }
    }

    /// With a header; one of the same name that is there already stays.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// With a body and its length.
    #[must_use]
    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let length = body.len().to_string();
        Self { body, ..self.header("content-length", length) }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.method, self.target).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"connection: close\r\n\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// `HOST:PORT` of a URL.
pub fn address(url: &str) -> &str {
    url.strip_prefix("http://").unwrap_or(url)
}

/// Sends a request over a connection of its own and reads the whole answer.
///
/// # Panics
///
/// When no whole answer comes.
#[track_caller]
pub fn exchange(url: &str, request: &RawRequest) -> RawAnswer {
    let mut stream = connect(url);
    // A host that refuses a long body may close before all of it is written: its answer counts.
    let _ = stream.write_all(&request.bytes());
    let answer = read_answer(stream);
    answer.unwrap_or_else(|error| {
        panic!("no answer to {} {}: {error}", request.method, request.target)
    })
}

/// A connection, with a bound on each read.
pub(crate) fn connect(url: &str) -> TcpStream {
    let stream = TcpStream::connect(address(url)).expect("the host listens");
    stream.set_read_timeout(Some(BYTE_BOUND)).unwrap();
    stream.set_write_timeout(Some(BYTE_BOUND)).unwrap();
    stream
}

/// Sends a request and reads the head of its answer; the body is left to the caller.
pub(crate) fn begin(mut stream: TcpStream, request: &RawRequest) -> (BufReader<TcpStream>, u16) {
    stream.write_all(&request.bytes()).expect("the host reads");
    let mut reader = BufReader::new(stream);
    let head = read_head(&mut reader).expect("the host answers");
    (reader, head.status)
}

/// What is left of an answer, for the words of a failing test.
pub(crate) fn rest(reader: &mut impl Read) -> String {
    let mut rest = Vec::new();
    let _ = reader.take(4096).read_to_end(&mut rest);
    String::from_utf8_lossy(&rest).into_owned()
}

/// The head of an answer, and whether its body comes in chunks.
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) chunked: bool,
}

pub(crate) fn read_head(reader: &mut impl BufRead) -> std::io::Result<Head> {
    let odd = || std::io::Error::from(std::io::ErrorKind::InvalidData);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(odd)?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let chunked =
        headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    Ok(Head { status, headers, chunked })
}

fn read_answer(stream: TcpStream) -> std::io::Result<RawAnswer> {
    let mut reader = BufReader::new(stream);
    let Head { status, headers, chunked } = read_head(&mut reader)?;
    let mut body = Vec::new();
    if chunked {
        while let Some(chunk) = read_chunk(&mut reader)? {
            body.extend_from_slice(&chunk);
        }
    } else {
        let length = headers.iter().find(|(name, _)| name == "content-length");
        match length.and_then(|(_, length)| length.parse::<u64>().ok()) {
            Some(length) => reader.take(length).read_to_end(&mut body)?,
            None => reader.read_to_end(&mut body)?,
        };
    }
    Ok(RawAnswer { status, headers, body })
}

/// One chunk of a chunked body; none at its end.
pub(crate) fn read_chunk(reader: &mut impl BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let odd = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let size = line.trim_end().split(';').next().unwrap_or_default();
    let size = usize::from_str_radix(size, 16).map_err(|_| odd())?;
    let mut chunk = vec![0; size + 2];
    reader.read_exact(&mut chunk)?;
    chunk.truncate(size);
    Ok((size > 0).then_some(chunk))
}
