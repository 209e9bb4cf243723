//! Headers of a write: `Idempotency-Key`, the name of an operation, unique for its principal; and
//! `Holdfast-Device`, what the caller calls the device that it runs on.

use axum::http::{HeaderMap, HeaderValue};
use holdfast_core::limits::OPERATION_KEY_CHARS_MAX;
use holdfast_core::refusal::{Code, Refusal};

use crate::limits::NAME_CHARS_MAX;

/// The header that carries the key.
pub(crate) const HEADER: &str = "idempotency-key";

/// The key of a request, if it has one: 1 to 128 printable ASCII characters.
///
/// # Errors
/// `invalid_operation_key` for anything else, also for two keys.
pub(crate) fn key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let mut keys = headers.get_all(HEADER).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    match printable(key, OPERATION_KEY_CHARS_MAX) {
        Some(text) if keys.next().is_none() => Ok(Some(text.to_owned())),
        _ => Err(Refusal::new(
            Code::InvalidOperationKey,
            format!(
                "The Idempotency-Key has to be one text of 1 to {OPERATION_KEY_CHARS_MAX} printable \
                 ASCII characters. Make a new one for each operation, a UUID for example."
            ),
        )
        .limit(OPERATION_KEY_CHARS_MAX)),
    }
}

/// The header that names the caller's device, for whoever comes too late with an answer.
pub(crate) const DEVICE_HEADER: &str = "holdfast-device";

/// The device by the caller's word, if it has one.
///
/// # Errors
/// `invalid_field` for a name that is empty, long or not printable ASCII.
pub(crate) fn device(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let Some(device) = headers.get(DEVICE_HEADER) else { return Ok(None) };
    match printable(device, NAME_CHARS_MAX) {
        Some(text) => Ok(Some(text.to_owned())),
        None => Err(Refusal::new(
            Code::InvalidField,
            format!("Holdfast-Device has to be 1 to {NAME_CHARS_MAX} printable ASCII characters."),
        )
        .field(DEVICE_HEADER)
        .limit(NAME_CHARS_MAX)),
    }
}

/// The text of a header that has 1 to `most` printable ASCII characters; a tab is none.
fn printable(value: &HeaderValue, most: usize) -> Option<&str> {
    let printable = |byte: &u8| (0x20..=0x7e).contains(byte);
    let bytes = value.as_bytes();
    let sound = (1..=most).contains(&bytes.len()) && bytes.iter().all(printable);
    std::str::from_utf8(bytes).ok().filter(|_| sound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const LONG: &str = match std::str::from_utf8(&[b'x'; OPERATION_KEY_CHARS_MAX + 1]) {
        Ok(text) => text,
        Err(_) => "",
    };

    #[rstest]
    #[case::empty(&[""])]
    #[case::too_long(&[LONG])]
    #[case::not_ascii(&["é"])]
    #[case::tab(&["a\tb"])]
    #[case::twice(&["a", "a"])]
    fn an_odd_key_is_refused(#[case] keys: &[&'static str]) {
        let mut headers = HeaderMap::new();
        for key in keys {
            headers.append(HEADER, HeaderValue::from_bytes(key.as_bytes()).unwrap());
        }
        assert_eq!(key(&headers).unwrap_err().code, Code::InvalidOperationKey);
    }

    #[rstest]
    #[case::empty("")]
    #[case::too_long(LONG.repeat(2).leak())]
    #[case::not_ascii("é")]
    #[case::tab("a\tb")]
    fn an_odd_device_is_refused(#[case] text: &'static str) {
        let mut headers = HeaderMap::new();
        headers.append(DEVICE_HEADER, HeaderValue::from_bytes(text.as_bytes()).unwrap());
        assert_eq!(device(&headers).unwrap_err().code, Code::InvalidField);
    }

    #[test]
    fn a_key_is_optional_and_kept_as_it_is() {
        let mut headers = HeaderMap::new();
        assert_eq!(key(&headers), Ok(None));
        let text = "x".repeat(128);
        headers.insert(HEADER, text.parse().unwrap());
        assert_eq!(key(&headers), Ok(Some(text)));
    }
}
