//! Problem documents (RFC 9457): how every refusal is answered.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use holdfast_core::refusal::{Code, Refusal};
use serde::Serialize;
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

#[derive(Serialize)]
struct Document<'a> {
    r#type: String,
    title: String,
    status: u16,
    code: &'static str,
    detail: &'a str,
    field: Option<&'a str>,
    limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<&'a Value>,
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
