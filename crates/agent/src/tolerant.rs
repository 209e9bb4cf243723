//! What agents send, read tolerantly: everything is optional, a member of the wrong type is as good as
//! absent, unknown members are passed over. Lists are cut at a bound.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Members of one list or map of an agent that are looked at.
pub(crate) const LIST_MAX: usize = 200;

/// Reads parameters or a result; absent ones are an empty object.
pub(crate) fn read<'a, T: Deserialize<'a>>(
    raw: Option<&'a RawValue>,
) -> Result<T, serde_json::Error> {
    serde_json::from_str(raw.map_or("{}", RawValue::get))
}

/// The first members of a list.
#[derive(Default)]
pub(crate) struct List<'a>(pub(crate) Vec<&'a RawValue>);

impl<'a> List<'a> {
    /// The members that can be read as `T`.
    pub(crate) fn each<T: Deserialize<'a>>(&self) -> impl Iterator<Item = T> {
        self.0.iter().filter_map(|raw| serde_json::from_str(raw.get()).ok())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for List<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Vec<&'de RawValue>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while members.len() < LIST_MAX {
                    match seq.next_element()? {
                        Some(member) => members.push(member),
                        None => return Ok(members),
                    }
                }
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(members)
            }
        }
        deserializer.deserialize_seq(Members).map(List)
    }
}

/// The first members of a map, in the agent's order.
#[derive(Default)]
pub(crate) struct Entries<'a>(pub(crate) Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(String, &'de RawValue)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while members.len() < LIST_MAX {
                    match map.next_entry()? {
                        Some(member) => members.push(member),
                        None => return Ok(members),
                    }
                }
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(members)
            }
        }
        deserializer.deserialize_map(Members).map(Entries)
    }
}

/// A text where there is one.
pub(crate) type Text = Option<String>;
/// Any JSON where there is some other than `null`.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// Declares a frame of an agent: every field is optional. (Each has its default by itself: with one for all
/// of a frame the compiler would not see which nobody reads.)
macro_rules! wire {
    ($(#[$doc:meta])* $name:ident { $($field:ident $(as $rename:literal)?: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Default, Deserialize)]
        pub(crate) struct $name {
            $($(#[serde(rename = $rename)])? #[serde(default, deserialize_with = "crate::jsonrpc::lenient")] pub(crate) $field: $type,)*
        }
    };
    ($(#[$doc:meta])* $name:ident<'a> { $($field:ident $(as $rename:literal)?: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Default, Deserialize)]
        #[serde(bound(deserialize = "'de: 'a"))]
        pub(crate) struct $name<'a> {
            $($(#[serde(rename = $rename)])? #[serde(default, deserialize_with = "crate::jsonrpc::lenient")] pub(crate) $field: $type,)*
        }
    };
}

pub(crate) use wire;

/// A count, where the JSON is one.
pub(crate) fn count(raw: Option<&RawValue>) -> Option<u64> {
    serde_json::from_str(raw?.get()).ok()
}

/// A text, where the JSON is one.
pub(crate) fn text(raw: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}

/// Whether something was declared: there, and neither `null` nor `false`.
pub(crate) fn declared(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| !matches!(raw.get(), "null" | "false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_maps_are_cut_at_a_bound() {
        let many = vec!["7"; LIST_MAX * 2].join(",");
        let text = format!("[{many}]");
        let list: List<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!(list.0.len(), LIST_MAX);
        let many: Vec<_> = (0..LIST_MAX * 2).map(|n| format!("\"k{n}\":7")).collect();
        let text = format!("{{{}}}", many.join(","));
        let entries: Entries<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!(entries.0.len(), LIST_MAX);
    }
}
