//! The fields of a body, read one by one, each refused by its name.

use holdfast_core::refusal::{Code, Refusal};
use serde_json::{Map, Value};

/// How long a text may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Most {
    /// Unicode scalar values.
    Chars(usize),
    /// Bytes of UTF-8.
    Bytes(usize),
}

/// The fields of one object. `null` is the same as absent.
#[derive(Debug)]
pub(crate) struct Fields {
    object: Map<String, Value>,
    /// What stands before a field's name in a refusal: `answers[2].`.
    within: String,
}

impl Fields {
    /// The fields of an object that may have only these.
    ///
    /// # Errors
    /// `unknown_field`, with the name of the first that is not known.
    pub(crate) fn of(object: Map<String, Value>, known: &[&str]) -> Result<Self, Refusal> {
        Self::within(object, known, String::new())
    }

    /// The same for an object within another one.
    pub(crate) fn within(
        object: Map<String, Value>,
        known: &[&str],
        within: String,
    ) -> Result<Self, Refusal> {
        if let Some(name) = object.keys().find(|key| !known.contains(&key.as_str())) {
            let name: String = name.chars().take(80).collect();
            let list = known.join(", ");
            let text = if known.is_empty() {
                format!("This call takes no fields, so not {name:?}.")
            } else {
                format!("This call does not know the field {name:?}. It knows: {list}.")
            };
            return Err(Refusal::new(Code::UnknownField, text).field(format!("{within}{name}")));
        }
        Ok(Self { object, within })
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.object.remove(name).filter(|value| !value.is_null())
    }

    /// Whether a field is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.object.get(name).is_some_and(|value| !value.is_null())
    }

    /// A refusal of this field's value.
    pub(crate) fn invalid(&self, name: &str, wanted: &str) -> Refusal {
        let text = format!("The field {}{name} has to be {wanted}.", self.within);
        Refusal::new(Code::InvalidField, text).field(format!("{}{name}", self.within))
    }

    /// A refusal of this field's absence.
    pub(crate) fn missing(&self, name: &str) -> Refusal {
        let text = format!("The field {}{name} is missing.", self.within);
        Refusal::new(Code::MissingField, text).field(format!("{}{name}", self.within))
    }

    /// A text as it is; it may be empty.
    pub(crate) fn raw_text(&mut self, name: &str, most: Most) -> Result<Option<String>, Refusal> {
        let text = match self.take(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text,
            Some(_) => return Err(self.invalid(name, "a text")),
        };
        self.fits(name, &text, most)?;
        Ok(Some(text))
    }

    /// A text that says something: white space alone is empty.
    pub(crate) fn text(&mut self, name: &str, most: Most) -> Result<Option<String>, Refusal> {
        let text = self.raw_text(name, most)?;
        match text {
            Some(text) if text.trim().is_empty() => Err(self.empty(name)),
            text => Ok(text),
        }
    }

    /// One line: trimmed, then not empty, without control characters.
    pub(crate) fn line(&mut self, name: &str, most: Most) -> Result<Option<String>, Refusal> {
        let text = match self.take(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text,
            Some(_) => return Err(self.invalid(name, "a text")),
        };
        let line = text.trim();
        if line.is_empty() {
            return Err(self.empty(name));
        }
        if line.chars().any(char::is_control) {
            return Err(self.invalid(name, "one line without control characters"));
        }
        self.fits(name, line, most)?;
        Ok(Some(line.to_owned()))
    }

    /// A list of lines.
    pub(crate) fn lines(
        &mut self,
        name: &str,
        at_most: usize,
        most: Most,
    ) -> Result<Option<Vec<String>>, Refusal> {
        let list = match self.take(name) {
            None => return Ok(None),
            Some(Value::Array(list)) if list.len() <= at_most => list,
            Some(_) => {
                let wanted = format!("a list of at most {at_most} texts");
                return Err(self.invalid(name, &wanted).limit(at_most));
            }
        };
        let mut lines = Vec::with_capacity(list.len());
        for (n, value) in list.into_iter().enumerate() {
            let alone = [(format!("{name}[{n}]"), value)].into_iter().collect();
            let mut one = Self { object: alone, within: self.within.clone() };
            let name = format!("{name}[{n}]");
            lines.push(one.line(&name, most)?.ok_or_else(|| one.missing(&name))?);
        }
        Ok(Some(lines))
    }

    /// One of these words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        name: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, Refusal> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let found = words.iter().find(|(word, _)| value.as_str() == Some(word));
        let Some((_, meant)) = found else {
            let list: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            return Err(self.invalid(name, &format!("one of: {}", list.join(", "))));
        };
        Ok(Some(*meant))
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(self.invalid(name, "true or false")),
        }
    }

    /// A whole number that is not negative.
    pub(crate) fn number(&mut self, name: &str) -> Result<Option<u64>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => match value.as_u64() {
                Some(number) => Ok(Some(number)),
                None => Err(self.invalid(name, "a whole number, not negative")),
            },
        }
    }

    /// An id.
    pub(crate) fn id<T: std::str::FromStr>(&mut self, name: &str) -> Result<Option<T>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => self.as_id(name, &value).map(Some),
        }
    }

    /// A list of ids, without doubles being looked for.
    pub(crate) fn ids<T: std::str::FromStr>(
        &mut self,
        name: &str,
        most: usize,
    ) -> Result<Option<Vec<T>>, Refusal> {
        let Some(list) = self.list(name, most)? else { return Ok(None) };
        list.iter().map(|value| self.as_id(name, value)).collect::<Result<_, _>>().map(Some)
    }

    /// A list of texts.
    pub(crate) fn texts(
        &mut self,
        name: &str,
        most: usize,
        each: usize,
    ) -> Result<Option<Vec<String>>, Refusal> {
        let Some(list) = self.list(name, most)? else { return Ok(None) };
        let mut texts = Vec::with_capacity(list.len());
        for value in list {
            let Value::String(text) = value else {
                return Err(self.invalid(name, "a list of texts"));
            };
            self.fits(name, &text, Most::Bytes(each))?;
            texts.push(text);
        }
        Ok(Some(texts))
    }

    /// A list of anything.
    pub(crate) fn list(&mut self, name: &str, most: usize) -> Result<Option<Vec<Value>>, Refusal> {
        let list = match self.take(name) {
            None => return Ok(None),
            Some(Value::Array(list)) => list,
            Some(_) => return Err(self.invalid(name, "a list")),
        };
        if list.len() > most {
            let text = format!("The list {}{name} may have at most {most} entries.", self.within);
            let field = format!("{}{name}", self.within);
            return Err(Refusal::new(Code::FieldTooLong, text).field(field).limit(most));
        }
        Ok(Some(list))
    }

    /// Anything.
    pub(crate) fn value(&mut self, name: &str) -> Option<Value> {
        self.take(name)
    }

    fn as_id<T: std::str::FromStr>(&self, name: &str, value: &Value) -> Result<T, Refusal> {
        let text = value.as_str().ok_or_else(|| self.invalid(name, "an id, as text"))?;
        text.parse().map_err(|_| {
            let shown: String = text.chars().take(80).collect();
            let text = format!("In the field {}{name}, {shown:?} is no id.", self.within);
            Refusal::new(Code::InvalidId, text).field(format!("{}{name}", self.within))
        })
    }

    fn empty(&self, name: &str) -> Refusal {
        let text = format!("The field {}{name} must not be empty.", self.within);
        Refusal::new(Code::EmptyField, text).field(format!("{}{name}", self.within))
    }

    fn fits(&self, name: &str, text: &str, most: Most) -> Result<(), Refusal> {
        let (length, limit, unit) = match most {
            Most::Chars(limit) => (text.chars().count(), limit, "characters"),
            Most::Bytes(limit) => (text.len(), limit, "bytes of UTF-8"),
        };
        if length <= limit {
            return Ok(());
        }
        let field = format!("{}{name}", self.within);
        let text = format!("The field {field} has {length} {unit}; at most {limit} are taken.");
        Err(Refusal::new(Code::FieldTooLong, text).field(field).limit(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(value: Value, known: &[&str]) -> Result<Fields, Refusal> {
        let Value::Object(object) = value else { panic!("no object") };
        Fields::of(object, known)
    }

    #[test]
    fn an_unknown_field_is_refused_by_name() {
        let refusal = fields(json!({"texte": "a"}), &["text"]).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::UnknownField, Some("texte")));
        let refusal = fields(json!({"a": null}), &[]).unwrap_err();
        assert_eq!(refusal.code, Code::UnknownField);
    }

    #[test]
    fn null_is_absent() {
        let mut fields = fields(json!({"title": null, "on": null}), &["title", "on"]).unwrap();
        assert!(!fields.has("title"));
        assert_eq!(fields.line("title", Most::Chars(9)), Ok(None));
        assert_eq!(fields.flag("on"), Ok(None));
    }

    #[test]
    fn each_kind_of_value_is_refused_by_its_field() {
        let known = ["text", "line", "word", "flag", "id", "ids", "list"];
        let value = json!({"text": 1, "line": "a\u{7}b", "word": "x", "flag": 1, "id": 5,
            "ids": ["x"], "list": {}});
        let mut fields = fields(value, &known).unwrap();
        let refusals = [
            fields.text("text", Most::Chars(9)).unwrap_err(),
            fields.line("line", Most::Chars(9)).unwrap_err(),
            fields.word("word", &[("a", 1), ("b", 2)]).unwrap_err(),
            fields.flag("flag").unwrap_err(),
            fields.id::<holdfast_core::ids::ChatId>("id").unwrap_err(),
            fields.ids::<holdfast_core::ids::ChatId>("ids", 9).unwrap_err(),
            fields.list("list", 9).unwrap_err(),
        ];
        for (refusal, name) in refusals.iter().zip(known) {
            assert_eq!(refusal.field.as_deref(), Some(name));
            let wanted = if name == "ids" { Code::InvalidId } else { Code::InvalidField };
            assert_eq!(refusal.code, wanted, "{name}");
        }
    }

    #[test]
    fn lengths_are_judged_after_trimming_and_in_their_unit() {
        let value = json!({"a": "  ééé  ", "b": "éé", "c": " \n", "d": " "});
        let mut fields = fields(value, &["a", "b", "c", "d"]).unwrap();
        assert_eq!(fields.line("a", Most::Chars(3)), Ok(Some("ééé".to_owned())));
        let refusal = fields.text("b", Most::Bytes(3)).unwrap_err();
        assert_eq!((refusal.code, refusal.limit), (Code::FieldTooLong, Some(3)));
        assert_eq!(fields.text("c", Most::Bytes(3)).unwrap_err().code, Code::EmptyField);
        assert_eq!(fields.line("d", Most::Chars(3)).unwrap_err().code, Code::EmptyField);
    }

    #[test]
    fn a_long_list_is_refused() {
        let mut fields = fields(json!({"l": [1, 2, 3]}), &["l"]).unwrap();
        assert_eq!(fields.list("l", 2).unwrap_err().limit, Some(2));
    }
}
