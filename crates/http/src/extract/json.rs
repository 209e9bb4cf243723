//! Reading a body as one JSON object.

use std::fmt;

use holdfast_core::refusal::{Code, Refusal};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The object that a body holds; an empty body is an empty object.
///
/// A key that stands twice in one object is refused: two readers could understand it in two ways.
///
/// # Errors
/// `invalid_json` where the body is no UTF-8, no JSON or no object.
pub(crate) fn object(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    let refuse = |text: String| Refusal::new(Code::InvalidJson, text);
    let text = std::str::from_utf8(body)
        .map_err(|_| refuse("The body is not UTF-8. Send a JSON object in UTF-8.".to_owned()))?;
    if text.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Strict(Value::Object(object))) => Ok(object),
        Ok(Strict(_)) => Err(refuse("The body has to be a JSON object.".to_owned())),
        Err(fault) => Err(refuse(format!("The body is not valid JSON: {fault}."))),
    }
}

/// A value without double keys.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number out of range"))?;
        Ok(Value::Number(number))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }
    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = entries.next_entry::<String, _>()? {
            if object.contains_key(&key) {
                let key: String = key.chars().take(80).collect();
                return Err(A::Error::custom(format_args!("the key {key:?} stands twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::truncated(b"{\"text\": \"a".as_slice(), "valid JSON")]
    #[case::no_object(b"[]".as_slice(), "JSON object")]
    #[case::null(b"null".as_slice(), "JSON object")]
    #[case::not_utf8(b"{\"text\": \"\xff\"}".as_slice(), "UTF-8")]
    #[case::lone_surrogate(b"{\"text\": \"\\ud800\"}".as_slice(), "valid JSON")]
    #[case::trailing(b"{} {}".as_slice(), "valid JSON")]
    #[case::doubled(b"{\"a\": 1, \"a\": 2}".as_slice(), "stands twice")]
    #[case::doubled_within(b"{\"a\": [{\"b\": 1, \"b\": 1}]}".as_slice(), "stands twice")]
    #[case::endless(b"{\"a\": 1e999}".as_slice(), "valid JSON")]
    fn what_is_no_object_is_refused(#[case] body: &[u8], #[case] says: &str) {
        let refusal = object(body).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidJson);
        assert!(refusal.text.contains(says), "{}", refusal.text);
    }

    #[test]
    fn a_deep_body_is_refused_and_nothing_overflows() {
        let deep = format!("{{\"a\":{}", "[".repeat(200_000));
        assert_eq!(object(deep.as_bytes()).unwrap_err().code, Code::InvalidJson);
    }

    #[test]
    fn an_empty_body_is_an_empty_object() {
        assert!(object(b"").unwrap().is_empty());
        assert!(object(b" \n").unwrap().is_empty());
        assert_eq!(object(b"{\"a\": null}").unwrap().len(), 1);
    }
}
