//! JSON-RPC 2.0 over lines, as the agents speak it: what comes in is told apart by what it has, not
//! by what it should have, and what goes out is one line, in the [`Dialect`] of its agent.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The method does not exist or is not available.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are not right.
pub const INVALID_PARAMS: i64 = -32602;
/// Not a request.
pub const INVALID_REQUEST: i64 = -32600;
/// Not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The request was taken back by its sender.
pub const REQUEST_CANCELLED: i64 = -32800;

/// Bytes of the JSON text of a peer's request id. It has to be kept and given back exactly, so a
/// longer one is refused.
pub const REQUEST_ID_BYTES_MAX: usize = 256;

/// Whether a line of ours names the version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `"jsonrpc":"2.0"` comes first.
    Named,
    /// It does not (the app-server of Codex).
    Bare,
}

impl Dialect {
    const fn member(self) -> &'static str {
        match self {
            Self::Named => r#""jsonrpc":"2.0","#,
            Self::Bare => "",
        }
    }
}

/// One line of a peer.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// The peer asks; it waits for a reply with this id.
    Request {
        /// The id as JSON text: a number or a string.
        id: &'a str,
        /// The method.
        method: String,
        /// The parameters, where there are any.
        params: Option<&'a RawValue>,
    },
    /// The peer tells.
    Notification {
        /// The method.
        method: String,
        /// The parameters, where there are any.
        params: Option<&'a RawValue>,
    },
    /// The peer answers a request of ours.
    Reply {
        /// The number of the request, where the id is one.
        id: Option<u64>,
        /// The result or the error.
        outcome: Result<Option<&'a RawValue>, PeerError<'a>>,
    },
}

/// An error reply.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PeerError<'a> {
    /// The code; any number, or none.
    #[serde(deserialize_with = "lenient")]
    pub code: Option<i64>,
    /// The peer's words.
    #[serde(deserialize_with = "lenient")]
    pub message: Option<String>,
    /// Whatever else it says.
    #[serde(borrow, deserialize_with = "present")]
    pub data: Option<&'a RawValue>,
}

/// Why a line is no JSON-RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineFault {
    /// It is no JSON.
    InvalidJson,
    /// It is JSON, but neither a request nor a notification nor a reply.
    NotJsonRpc,
    /// It is a request whose id cannot be given back.
    BadRequestId,
}

impl LineFault {
    /// The stable word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid_json",
            Self::NotJsonRpc => "not_json_rpc",
            Self::BadRequestId => "bad_request_id",
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Envelope<'a> {
    #[serde(borrow, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(deserialize_with = "lenient")]
    method: Option<String>,
    #[serde(borrow, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Tells what a line is.
///
/// # Errors
///
/// [`LineFault`] where it is nothing of JSON-RPC.
pub fn parse(line: &str) -> Result<Incoming<'_>, LineFault> {
    let whole: &RawValue = serde_json::from_str(line).map_err(|_| LineFault::InvalidJson)?;
    let envelope: Envelope<'_> =
        serde_json::from_str(whole.get()).map_err(|_| LineFault::NotJsonRpc)?;
    let id = envelope.id.map(RawValue::get).filter(|id| *id != "null");
    match (id, envelope.method) {
        (Some(id), Some(method)) => {
            let plain = id.starts_with('"') || id.starts_with('-') || starts_with_digit(id);
            if !plain || id.len() > REQUEST_ID_BYTES_MAX {
                return Err(LineFault::BadRequestId);
            }
            Ok(Incoming::Request { id, method, params: envelope.params })
        }
        (None, Some(method)) => Ok(Incoming::Notification { method, params: envelope.params }),
        (id, None) => {
            let outcome = match (envelope.error, envelope.result) {
                (Some(error), _) => Err(serde_json::from_str(error.get()).unwrap_or_default()),
                (None, Some(result)) => Ok(Some(result).filter(|result| result.get() != "null")),
                (None, None) => return Err(LineFault::NotJsonRpc),
            };
            Ok(Incoming::Reply { id: id.and_then(number), outcome })
        }
    }
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// The number that an id is. Some peers give a number back as a string.
fn number(id: &str) -> Option<u64> {
    let bare = id.strip_prefix('"').and_then(|id| id.strip_suffix('"')).unwrap_or(id);
    bare.parse().ok()
}

/// Replaces escaped lone surrogates (`\ud800`) by U+FFFD: half a character is what an agent leaves
/// that cuts a text in the middle, and no parser takes it.
#[must_use]
pub fn repaired(line: &str) -> Cow<'_, str> {
    if !line.contains("\\ud") && !line.contains("\\uD") {
        return Cow::Borrowed(line);
    }
    let mut mended = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let (kept, taken) = match (surrogate(escape), surrogate(escape.get(6..).unwrap_or(""))) {
            (Some(Half::High), Some(Half::Low)) => (escape.get(..12), 12),
            (Some(Half::High | Half::Low), _) => (Some("\\ufffd"), 6),
            // An escape of two characters; a longer one goes on with plain text.
            (None, _) => {
                let second = escape.chars().nth(1).map_or(0, char::len_utf8);
                (escape.get(..1 + second), 1 + second)
            }
        };
        mended.push_str(kept.unwrap_or_default());
        rest = escape.get(taken..).unwrap_or_default();
    }
    mended.push_str(rest);
    Cow::Owned(mended)
}

enum Half {
    High,
    Low,
}

/// Which half of a pair the escape at the beginning of this text is.
fn surrogate(text: &str) -> Option<Half> {
    let hex = text.strip_prefix("\\u")?.get(..4)?;
    if !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    match u16::from_str_radix(hex, 16).ok()? {
        0xD800..=0xDBFF => Some(Half::High),
        0xDC00..=0xDFFF => Some(Half::Low),
        _ => None,
    }
}

impl Dialect {
    /// A request of ours as one line.
    ///
    /// # Errors
    ///
    /// When the parameters are no JSON.
    pub fn request(
        self,
        id: u64,
        method: &str,
        params: &str,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let (version, method) = (self.member(), serde_json::to_string(method)?);
        checked(format!(r#"{{{version}"id":{id},"method":{method},"params":{params}}}"#))
    }

    /// A notification of ours as one line.
    ///
    /// # Errors
    ///
    /// When the parameters are no JSON.
    pub fn notification(self, method: &str, params: &str) -> Result<Vec<u8>, serde_json::Error> {
        let (version, method) = (self.member(), serde_json::to_string(method)?);
        checked(format!(r#"{{{version}"method":{method},"params":{params}}}"#))
    }

    /// A reply of ours as one line. `id` is JSON text, `member` is the whole member `"result":…` or
    /// `"error":…`.
    ///
    /// # Errors
    ///
    /// When id or member are no JSON.
    pub fn reply(self, id: &str, member: &str) -> Result<Vec<u8>, serde_json::Error> {
        let version = self.member();
        checked(format!(r#"{{{version}"id":{id},{member}}}"#))
    }
}

/// The member of a reply that refuses a request.
#[must_use]
pub fn error_member(code: i64, message: &str) -> String {
    let error = serde_json::json!({ "code": code, "message": message });
    format!(r#""error":{error}"#)
}

/// The line, if it is one JSON object in one line.
fn checked(mut line: String) -> Result<Vec<u8>, serde_json::Error> {
    let _: serde::de::IgnoredAny = serde_json::from_str(&line)?;
    if line.contains('\n') {
        return Err(serde_json::Error::custom("a line break within a frame"));
    }
    line.push('\n');
    Ok(line.into_bytes())
}

/// A member that is there with any value, `null` too.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A member that counts only if it has the right type: what has another one is as good as absent.
///
/// # Errors
///
/// When the text is no JSON.
pub fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> String {
        match parse(line) {
            Ok(Incoming::Request { id, method, .. }) => format!("request {id} {method}"),
            Ok(Incoming::Notification { method, .. }) => format!("notification {method}"),
            Ok(Incoming::Reply { id, outcome }) => match outcome {
                Ok(result) => format!("result {id:?} {:?}", result.map(RawValue::get)),
                Err(error) => format!("error {id:?} {:?}", error.code),
            },
            Err(fault) => fault.word().to_owned(),
        }
    }

    #[test]
    fn a_line_is_told_by_what_it_has() {
        let long = format!(r#"{{"id":"{}","method":"m"}}"#, "x".repeat(REQUEST_ID_BYTES_MAX));
        for (line, told) in [
            (r#"{"id":1,"method":"m"}"#, "request 1 m"),
            (r#"{"id":"a","method":"m","params":[]}"#, r#"request "a" m"#),
            (r#"{"id":-1.5e3,"method":"m"}"#, "request -1.5e3 m"),
            (r#"{"id":null,"method":"m"}"#, "notification m"),
            (r#"{"method":"m","extra":{"x":1e999}}"#, "notification m"),
            (r#"{"id":3,"result":null}"#, "result Some(3) None"),
            (r#"{"id":"3","result":{}}"#, r#"result Some(3) Some("{}")"#),
            (r#"{"id":3.5,"result":{}}"#, r#"result None Some("{}")"#),
            (r#"{"id":3,"error":{"code":-1}}"#, "error Some(3) Some(-1)"),
            (r#"{"id":3,"error":"no"}"#, "error Some(3) None"),
            (r#"{"id":3,"error":{"code":1e99}}"#, "error Some(3) None"),
            (r#"{"id":3}"#, "not_json_rpc"),
            (r#"{"id":[],"method":"m"}"#, "bad_request_id"),
            (&long, "bad_request_id"),
            ("[]", "not_json_rpc"),
            ("7", "not_json_rpc"),
            (r#"{"id":1,"method":"m"} {}"#, "invalid_json"),
            ("warning: x", "invalid_json"),
        ] {
            assert_eq!(kind(line), told, "{line}");
        }
    }

    #[test]
    fn lone_surrogates_are_mended_and_pairs_are_kept() {
        for (line, mended) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83dx""#, r#""\ufffdx""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\uD8""#, r#""\uD8""#),
            (r#""\ud83é""#, r#""\ud83é""#),
            (r#"\ud83d\"#, r"\ufffd\"),
        ] {
            assert_eq!(repaired(line), mended, "{line}");
        }
    }

    #[test]
    fn no_line_break_leaves_in_a_frame() {
        for dialect in [Dialect::Named, Dialect::Bare] {
            let line = dialect.request(1, "m\n", "{}").unwrap();
            assert_eq!(line.iter().filter(|b| **b == b'\n').count(), 1);
            assert!(dialect.request(1, "m", "{\n}").is_err());
            assert!(dialect.request(1, "m", "{").is_err());
            assert!(dialect.reply("1", r#""result":{}},{"#).is_err());
        }
    }

    #[test]
    fn a_bare_line_names_no_version() {
        let named = Dialect::Named.notification("m", "{}").unwrap();
        assert_eq!(named, b"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{}}\n");
        let bare = Dialect::Bare.notification("m", "{}").unwrap();
        assert_eq!(bare, b"{\"method\":\"m\",\"params\":{}}\n");
    }
}
