//! Tokens and who holds them. Only digests are kept and compared.

use std::sync::Arc;

use axum::http::{Extensions, HeaderMap, header};
use holdfast_core::fact::Author;
use holdfast_core::refusal::{Code, Refusal};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The name under which operation keys and drafts are kept.
    pub name: Arc<str>,
    /// What a message of this caller is: a person's, or an app's.
    pub author: Author,
}

impl Principal {
    /// A person of this name.
    #[must_use]
    pub fn person(name: &str) -> Self {
        Self { name: name.into(), author: Author::Person }
    }

    /// Who the guard found; a request that passed no guard is nobody's.
    pub(crate) fn of(extensions: &Extensions) -> Result<Self, Refusal> {
        extensions.get::<Self>().cloned().ok_or_else(not_authorised)
    }
}

/// The tokens that a host knows.
pub trait Tokens: Send + Sync + 'static {
    /// Who holds the token with this SHA-256, compared in constant time.
    fn holder(&self, digest: &[u8; 32]) -> Option<Principal>;
}

/// A host with one token.
#[derive(Clone, Debug)]
pub struct OneToken {
    digest: [u8; 32],
    holder: Principal,
}

impl OneToken {
    /// This token belongs to this principal.
    #[must_use]
    pub fn new(token: &str, holder: Principal) -> Self {
        Self { digest: digest(token), holder }
    }
}

impl Tokens for OneToken {
    fn holder(&self, digest: &[u8; 32]) -> Option<Principal> {
        bool::from(self.digest.ct_eq(digest)).then(|| self.holder.clone())
    }
}

/// The SHA-256 of a token.
#[must_use]
pub fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// What stands before the token in `Sec-WebSocket-Protocol`: a browser's `WebSocket` can send no
/// other header.
pub(crate) const PROTOCOL_PREFIX: &str = "holdfast.bearer.";

/// The token of a request: `Authorization: Bearer TOKEN`, or for a socket the protocol
/// `holdfast.bearer.TOKEN`.
pub(crate) fn presented(headers: &HeaderMap) -> Option<&str> {
    let mut headers_of = headers.get_all(header::AUTHORIZATION).iter();
    if let Some(value) = headers_of.next() {
        if headers_of.next().is_some() {
            return None;
        }
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        return scheme.eq_ignore_ascii_case("bearer").then(|| token.trim());
    }
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    offered
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .find_map(|protocol| protocol.trim().strip_prefix(PROTOCOL_PREFIX))
}

/// The refusal of who has no token, or one that is not known.
pub(crate) fn not_authorised() -> Refusal {
    Refusal::new(
        Code::NotAuthorised,
        "This call needs a token: Authorization: Bearer TOKEN. The host says its token when it \
         starts, and keeps it in endpoint.json in its data directory.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn of(pairs: &[(&'static str, &str)]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        presented(&headers).map(str::to_owned)
    }

    #[rstest]
    #[case(&[("authorization", "Bearer t0k")], Some("t0k"))]
    #[case(&[("authorization", "bearer  t0k ")], Some("t0k"))]
    #[case(&[("authorization", "Basic t0k")], None)]
    #[case(&[("authorization", "t0k")], None)]
    #[case(&[("authorization", "Bearer a"), ("authorization", "Bearer b")], None)]
    #[case(&[("sec-websocket-protocol", "holdfast, holdfast.bearer.t0k")], Some("t0k"))]
    #[case(&[("sec-websocket-protocol", "chat")], None)]
    #[case(&[], None)]
    fn a_token_is_found_where_it_may_stand(
        #[case] headers: &[(&'static str, &str)],
        #[case] token: Option<&str>,
    ) {
        assert_eq!(of(headers).as_deref(), token);
    }

    #[test]
    fn only_the_whole_token_is_known() {
        let tokens = OneToken::new("secret", Principal::person("owner"));
        assert_eq!(tokens.holder(&digest("secret")), Some(Principal::person("owner")));
        for other in ["", "secre", "secrets", "Secret"] {
            assert_eq!(tokens.holder(&digest(other)), None, "{other}");
        }
    }
}
