//! Bodies: read in bounded time, at a bounded length, within a bounded memory of all requests together.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use cardproof_submission::LENGTH_MAX;
use http_body_util::BodyExt;
use tokio::sync::OwnedSemaphorePermit;

use super::Hub;
use super::crowd::Counted;
use crate::error::Error;
use crate::network::Block;
use crate::pack::gunzipped;

/// How long a body may take, its wait for memory included.
const TIME_MAX: Duration = Duration::from_secs(15);

/// The most bodies of one client at once.
const OF_ONE_CLIENT: usize = 8;

/// Bytes with their share of the memory that all bodies have together; whoever works on them keeps it.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) bytes: Vec<u8>,
    pub(super) share: Share,
}

/// A share of the memory for bodies.
#[derive(Debug)]
pub(super) struct Share {
    _bytes: OwnedSemaphorePermit,
    _of_client: Counted,
}

/// The JSON in `body` from `client`, unpacked where it is gzip. It waits for its share of the memory, in turn.
pub(super) async fn json_bytes(
    hub: &Hub,
    client: Block,
    headers: &HeaderMap,
    body: Body,
) -> Result<Held, Error> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Error::Encoding);
    }
    let is_gzip = match headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes) {
        None | Some(b"identity") => false,
        Some(b"gzip") => true,
        Some(_) => return Err(Error::Encoding),
    };
    let announced = headers.get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse().ok());
    let length = announced.unwrap_or(LENGTH_MAX);
    if length > LENGTH_MAX {
        return Err(Error::TooLong(LENGTH_MAX));
    }
    // The owner of a desk's own hub is not held up.
    let most = if client.is_loopback() { usize::MAX } else { OF_ONE_CLIENT };
    let of_client = hub.bodies.enter(client, most).ok_or(Error::Busy)?;
    let needed = if is_gzip { length + LENGTH_MAX } else { length };
    let reading = async {
        let needed = u32::try_from(needed).unwrap_or(u32::MAX);
        let budget = Arc::clone(&hub.body_budget);
        let share = budget.acquire_many_owned(needed).await.map_err(|_| Error::Busy)?;
        Ok((read(body, LENGTH_MAX).await?, Share { _bytes: share, _of_client: of_client }))
    };
    let read: Result<_, Error> =
        tokio::time::timeout(TIME_MAX, reading).await.map_err(|_| Error::TooSlow)?;
    let (bytes, share) = read?;
    let bytes = if is_gzip { gunzipped(&bytes, LENGTH_MAX)? } else { bytes };
    Ok(Held { bytes, share })
}

/// The bytes of `body`, at most `length_max`.
async fn read(mut body: Body, length_max: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Error::Request("the body broke off".to_owned()))?;
        let Some(chunk) = frame.data_ref() else { continue };
        if bytes.len() + chunk.len() > length_max {
            return Err(Error::TooLong(length_max));
        }
        bytes.extend_from_slice(chunk);
    }
    Ok(bytes)
}
