//! Parameters in the query.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use holdfast_core::refusal::{Code, Refusal};

use crate::problem::Problem;

/// The parameters of a query, in order; a name may stand several times.
#[derive(Debug)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    /// Refuses every name but those that are declared.
    ///
    /// # Errors
    /// `unknown_field`.
    pub(crate) fn only<Q: crate::openapi::Query>(self) -> Result<Self, Refusal> {
        self.among(Q::NAMES)
    }

    fn among(self, known: &[&str]) -> Result<Self, Refusal> {
        match self.0.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(self),
            Some((name, _)) => {
                let name: String = name.chars().take(80).collect();
                let text = format!("This call does not know the parameter {name:?}.");
                Err(Refusal::new(Code::UnknownField, text).field(name))
            }
        }
    }

    /// All values of this name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The value of this name; empty is absent.
    pub(crate) fn one<'a>(&'a self, name: &'a str) -> Result<Option<&'a str>, Refusal> {
        let mut values = self.all(name);
        let value = values.next().filter(|value| !value.is_empty());
        match values.next() {
            None => Ok(value),
            Some(_) => Err(invalid(name, "given once")),
        }
    }

    /// A count from 1 to `most`; more is cut to `most`, since pages have a `next`.
    pub(crate) fn limit(&self, usual: usize, most: usize) -> Result<usize, Refusal> {
        let Some(text) = self.one("limit")? else { return Ok(usual) };
        match text.parse::<usize>() {
            Ok(count) if count > 0 => Ok(count.min(most)),
            _ => Err(invalid("limit", "a whole number from 1").limit(most)),
        }
    }

    /// A sequence number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| invalid(name, "a whole number"))
    }

    /// One of these words.
    pub(crate) fn word<T: Copy>(
        &self,
        name: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, meant)) => Ok(Some(*meant)),
            None => {
                let list: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                Err(invalid(name, &format!("one of: {}", list.join(", "))))
            }
        }
    }
}

/// The refusal of a parameter's value.
pub(crate) fn invalid(name: &str, wanted: &str) -> Refusal {
    let text = format!("The parameter {name} has to be {wanted}.");
    Refusal::new(Code::InvalidField, text).field(name)
}

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        let Query(pairs) = query.map_err(|_| {
            Refusal::new(Code::InvalidField, "The query of the address cannot be read.")
        })?;
        Ok(Self(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(pairs: &[(&str, &str)]) -> Params {
        Params(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
    }

    #[test]
    fn an_unknown_or_doubled_parameter_is_refused_by_name() {
        let refusal = params(&[("limt", "3")]).among(&["limit"]).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::UnknownField, Some("limt")));
        let refusal = params(&[("a", "1"), ("a", "2")]).number("a").unwrap_err();
        assert_eq!(refusal.code, Code::InvalidField);
    }

    #[test]
    fn a_limit_is_a_count_that_is_cut_to_the_most() {
        assert_eq!(params(&[]).limit(50, 200), Ok(50));
        assert_eq!(params(&[("limit", "7")]).limit(50, 200), Ok(7));
        assert_eq!(params(&[("limit", "99999")]).limit(50, 200), Ok(200));
        for odd in ["0", "-1", "x", "1e3", "99999999999999999999999"] {
            assert!(params(&[("limit", odd)]).limit(50, 200).is_err(), "{odd}");
        }
    }
}
