//! Ids in the path.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use holdfast_core::ids::InvalidId;
use holdfast_core::refusal::{Code, Refusal};

use crate::problem::Problem;

/// The named parts of the path.
pub(crate) struct At(Vec<(String, String)>);

impl At {
    /// The text that stands under this name.
    pub(crate) fn text(&self, name: &str) -> &str {
        let part = self.0.iter().find(|(key, _)| key == name);
        part.map_or("", |(_, text)| text.as_str())
    }

    /// The id that stands under this name.
    ///
    /// # Errors
    /// `invalid_id` where the text has not its form; one that has, and names nothing, is 404 later.
    pub(crate) fn id<T: std::str::FromStr<Err = InvalidId>>(
        &self,
        name: &str,
    ) -> Result<T, Refusal> {
        self.text(name).parse().map_err(|fault: InvalidId| {
            Refusal::new(Code::InvalidId, format!("In the path, {fault}.")).field(name)
        })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for At {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| {
            Refusal::new(Code::InvalidId, "The path is not UTF-8 behind its percent signs.")
        })?;
        Ok(Self(params.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()))
    }
}
