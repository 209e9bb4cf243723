//! The body of a write, read within its bounds, and who wants it under which key.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, OriginalUri, Request};
use axum::http::header;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use holdfast_core::limits::{BODY_BYTES_MAX, MESSAGE_BODY_BYTES_MAX};
use holdfast_core::refusal::{Code, Refusal};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::app::App;
use crate::auth::Principal;
use crate::extract::{Fields, json, operation};
use crate::limits::{BODIES_BYTES_MAX, BODY_READ_PATIENCE, DRAIN_BYTES_MAX, DRAIN_PATIENCE};
use crate::port::{Caller, OperationKey};
use crate::problem::Problem;

/// How large a body may be.
pub(crate) trait BodyLimit: Send + Sync + 'static {
    /// Bytes.
    const BYTES: usize;
}

/// The body of a request that carries a message or a draft.
pub(crate) struct MessageBody;
impl BodyLimit for MessageBody {
    const BYTES: usize = MESSAGE_BODY_BYTES_MAX;
}

/// Any other body.
pub(crate) struct PlainBody;
impl BodyLimit for PlainBody {
    const BYTES: usize = BODY_BYTES_MAX;
}

/// A write as it came in.
pub(crate) struct Call<L> {
    /// Who calls.
    pub(crate) principal: Principal,
    /// The same for the host, with the key of the write.
    pub(crate) caller: Caller,
    /// The device by its own word.
    pub(crate) device: Option<String>,
    object: Map<String, Value>,
    /// What the body takes of the bytes of all bodies.
    _share: Option<OwnedSemaphorePermit>,
    limit: PhantomData<L>,
}

impl<L> Call<L> {
    /// The fields of the body, which may be only those that are declared.
    ///
    /// # Errors
    /// `unknown_field`.
    pub(crate) fn fields<R: crate::openapi::Request>(&mut self) -> Result<Fields, Refusal> {
        Fields::of(std::mem::take(&mut self.object), R::FIELDS)
    }

    /// A call that takes no fields.
    ///
    /// # Errors
    /// `unknown_field`.
    pub(crate) fn no_fields(&mut self) -> Result<(), Refusal> {
        Fields::of(std::mem::take(&mut self.object), &[]).map(drop)
    }
}

impl<L: BodyLimit> FromRequest<App> for Call<L> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        Self::read(request, &app.bodies).await
    }
}

impl<L: BodyLimit> Call<L> {
    async fn read(request: Request, bodies: &Arc<Semaphore>) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let principal = Principal::of(&parts.extensions)?;
        let key = operation::key(&parts.headers)?;
        let device = operation::device(&parts.headers)?;
        let (body, share) = read(body, L::BYTES, bodies).await?;
        // The whole path: what a nested router sees of it does not name the chat.
        let path = match parts.extensions.get::<OriginalUri>() {
            Some(OriginalUri(uri)) => uri.path(),
            None => parts.uri.path(),
        };
        let operation = key.map(|key| {
            let mut hash = Sha256::new();
            for part in [parts.method.as_str(), "\n", path, "\n"] {
                hash.update(part);
            }
            hash.update(&body);
            let body = hash.finalize().into();
            OperationKey { key, body }
        });
        let caller = Caller { principal: principal.name.to_string(), operation };
        let object = json::object(&body)?;
        Ok(Self { principal, caller, device, object, _share: share, limit: PhantomData })
    }
}

/// The fields of a write whose sender is not known yet.
pub(crate) struct Unsigned(Map<String, Value>);

impl Unsigned {
    /// The fields of the body, which may be only these.
    ///
    /// # Errors
    /// `unknown_field`.
    pub(crate) fn fields<R: crate::openapi::Request>(self) -> Result<Fields, Refusal> {
        Fields::of(self.0, R::FIELDS)
    }
}

impl FromRequest<App> for Unsigned {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        // There is nobody yet whose key it could be; but an odd one is odd here too.
        operation::key(request.headers())?;
        let (body, _share) = read(request.into_body(), PlainBody::BYTES, &app.bodies).await?;
        Ok(Self(json::object(&body)?))
    }
}

/// Reads a body of at most so many bytes, and takes each from those of all bodies.
async fn read(
    body: Body,
    most: usize,
    bodies: &Arc<Semaphore>,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Refusal> {
    let too_large = || {
        let text = format!("The body is larger than {most} bytes, the most that this call takes.");
        Refusal::new(Code::BodyTooLarge, text).limit(most)
    };
    let declared = body.size_hint().lower();
    if usize::try_from(declared).is_ok_and(|declared| declared > most) {
        drain(body).await;
        return Err(too_large());
    }
    let mut stream = body.into_data_stream();
    let mut taken = BytesMut::new();
    let mut share: Option<OwnedSemaphorePermit> = None;
    let whole = timeout(BODY_READ_PATIENCE, async {
        while let Some(piece) = stream.next().await {
            let piece = piece.map_err(|_| cut())?;
            if taken.len().saturating_add(piece.len()) > most {
                return Err(too_large());
            }
            let bytes = u32::try_from(piece.len()).unwrap_or(u32::MAX);
            let more = Arc::clone(bodies).try_acquire_many_owned(bytes).map_err(|_| crowded())?;
            match &mut share {
                Some(share) => share.merge(more),
                None => share = Some(more),
            }
            taken.extend_from_slice(&piece);
        }
        Ok(())
    });
    match whole.await {
        Ok(Ok(())) => Ok((taken.freeze(), share)),
        Ok(Err(refusal)) => {
            drop((taken, share));
            drain(Body::from_stream(stream)).await;
            Err(refusal)
        }
        Err(_) => Err(cut()),
    }
}

fn crowded() -> Refusal {
    Refusal::new(
        Code::Overloaded,
        "More is being sent to the host at once than it holds. Nothing was stored. Try again in a \
         moment.",
    )
    .limit(BODIES_BYTES_MAX)
}

fn cut() -> Refusal {
    Refusal::new(Code::InvalidJson, "The body ended before it was whole. Nothing was stored.")
}

/// Reads what is left of a body that is refused and throws it away: a connection that is closed on
/// unread bytes is reset, and the caller would not see the answer.
pub(crate) async fn drain(body: Body) {
    let mut stream = body.into_data_stream();
    let mut left = DRAIN_BYTES_MAX;
    let read = timeout(DRAIN_PATIENCE, async {
        while let Some(Ok(piece)) = stream.next().await {
            match left.checked_sub(piece.len()) {
                Some(rest) => left = rest,
                None => break,
            }
        }
    });
    // Where it takes too long, the caller has to do without the answer.
    let _ = read.await;
}

/// Whether a request says that it has a body.
pub(crate) fn has_body(request: &Request) -> bool {
    let headers = request.headers();
    headers.contains_key(header::TRANSFER_ENCODING)
        || headers.get(header::CONTENT_LENGTH).is_some_and(|length| length != "0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use futures_util::stream;
    use std::convert::Infallible;

    fn pool(bytes: usize) -> Arc<Semaphore> {
        Arc::new(Semaphore::new(bytes))
    }

    #[tokio::test]
    async fn a_body_of_exactly_the_limit_is_taken_and_one_more_byte_is_not() {
        assert_eq!(read(Body::from(vec![b' '; 8]), 8, &pool(8)).await.unwrap().0.len(), 8);
        let refusal = read(Body::from(vec![b' '; 9]), 8, &pool(9)).await.unwrap_err();
        assert_eq!((refusal.code, refusal.limit), (Code::BodyTooLarge, Some(8)));
    }

    #[tokio::test]
    async fn a_body_that_does_not_say_its_length_is_counted_as_it_comes() {
        let pieces = stream::iter((0..9).map(|_| Ok::<_, Infallible>(Bytes::from_static(b" "))));
        let refusal = read(Body::from_stream(pieces), 8, &pool(9)).await.unwrap_err();
        assert_eq!(refusal.code, Code::BodyTooLarge);
    }

    #[tokio::test]
    async fn all_bodies_together_are_bounded_too() {
        let pool = pool(10);
        let first = read(Body::from("12345678"), 8, &pool).await.unwrap();
        let refusal = read(Body::from("123"), 8, &pool).await.unwrap_err();
        assert_eq!(refusal.code, Code::Overloaded);
        drop(first);
        assert!(read(Body::from("123"), 8, &pool).await.is_ok());
        assert_eq!(pool.available_permits(), 10);
    }

    #[tokio::test]
    async fn the_key_names_method_path_and_body() {
        let call = async |path: &str, body: &'static str| {
            let mut request = Request::post(path).body(Body::from(body)).unwrap();
            request.headers_mut().insert(operation::HEADER, HeaderValue::from_static("k"));
            request.extensions_mut().insert(Principal::person("owner"));
            Call::<PlainBody>::read(request, &pool(9)).await.map_err(|_| ()).unwrap().caller
        };
        let first = call("/a", "{}").await;
        assert_eq!(first, call("/a", "{}").await);
        let body = |caller: &Caller| caller.operation.as_ref().map(|operation| operation.body);
        assert_ne!(body(&first), body(&call("/b", "{}").await));
        assert_ne!(body(&first), body(&call("/a", "{ }").await));
        assert_eq!(first.principal, "owner");
        assert_eq!(first.operation.unwrap().key, "k");
    }
}
