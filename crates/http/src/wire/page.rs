//! Lists.

use serde::Serialize;
use utoipa::ToSchema;

/// A page of a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct Page<T, N = String> {
    /// The rows.
    pub(crate) items: Vec<T>,
    /// What to ask the next page with; `null` at the end.
    pub(crate) next: Option<N>,
}

impl<T> Page<T> {
    /// A list that has but one page.
    pub(crate) const fn whole(items: Vec<T>) -> Self {
        Self { items, next: None }
    }
}
