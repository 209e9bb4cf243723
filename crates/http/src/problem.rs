//! Problem documents (RFC 9457): how every refusal is answered.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use holdfast_core::refusal::{Code, Refusal};
use serde::Serialize;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::wire::prompt::Answered;
use serde_json::Value;

/// A refusal on its way to the caller, as `application/problem+json`.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    refusal: Refusal,
    winner: Option<Value>,
}

impl Problem {
    /// Adds what came first: for `already_answered`, the answer that won.
    #[must_use]
    pub fn winner(mut self, winner: Value) -> Self {
        self.winner = Some(winner);
        self
    }

    /// The refusal of a defect of ours; the cause goes to the log, not to the caller.
    #[must_use]
    pub fn internal(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(%cause, "a request failed by a defect of the host");
        Refusal::new(
            Code::Internal,
            "The host failed at this request. Nothing is known to be lost; the cause is in the \
             host's log. Try again, with the same idempotency key.",
        )
        .into()
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, winner: None }
    }
}

/// A refusal (RFC 9457).
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct Document<'a> {
    /// Where the code is explained: `/errors/CODE`.
    r#type: String,
    /// The code as words.
    title: String,
    /// The status of the answer.
    status: u16,
    #[schema(value_type = AnyCode)]
    code: &'static str,
    /// What is wrong and what to do.
    detail: &'a str,
    /// The field, parameter or header that it is about.
    field: Option<&'a str>,
    /// The limit that was met, in the unit that `detail` names.
    limit: Option<u64>,
    /// Of `already_answered`: the answer that won.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Answered>)]
    winner: Option<&'a Value>,
}

/// A code in the document: one of all.
struct AnyCode;

impl PartialSchema for AnyCode {
    fn schema() -> RefOr<Schema> {
        let codes = Code::ALL.iter().map(|code| code.as_str());
        let schema = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(codes));
        schema.description(Some("The stable code of a refusal.")).into()
    }
}

impl ToSchema for AnyCode {
    fn name() -> Cow<'static, str> {
        "Code".into()
    }
}

/// The code as words: `chat_not_found` is titled "Chat not found".
fn title(code: Code) -> String {
    let words = code.as_str().replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let code = self.refusal.code;
        let document = Document {
            r#type: format!("/errors/{}", code.as_str()),
            title: title(code),
            status: code.status(),
            code: code.as_str(),
            detail: &self.refusal.text,
            field: self.refusal.field.as_deref(),
            limit: self.refusal.limit,
            winner: self.winner.as_ref(),
        };
        let status = StatusCode::from_u16(code.status());
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"))];
        let mut response =
            (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), kind, body).into_response();
        if code == Code::NotAuthorised {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_refusal_is_a_problem_document_with_all_its_fields() {
        let refusal = Refusal::new(Code::FieldTooLong, "too long").field("title").limit(200);
        let response = Problem::from(refusal).into_response();
        assert_eq!(response.status(), 400);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
        let body = axum::body::to_bytes(response.into_body(), 4096).await.unwrap();
        assert_eq!(
            serde_json::from_slice::<Value>(&body).unwrap(),
            serde_json::json!({
                "type": "/errors/field_too_long", "title": "Field too long", "status": 400,
                "code": "field_too_long", "detail": "too long", "field": "title", "limit": 200,
            })
        );
    }

    #[test]
    fn every_code_has_a_valid_status() {
        for code in Code::ALL {
            let response = Problem::from(Refusal::new(*code, "x")).into_response();
            assert_eq!(response.status().as_u16(), code.status(), "{code:?}");
        }
    }

    #[test]
    fn who_is_not_authorised_is_told_how_to_be() {
        let response = Problem::from(Refusal::new(Code::NotAuthorised, "x")).into_response();
        assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer");
    }
}
