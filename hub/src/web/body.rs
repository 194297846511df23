//! Bodies: read in bounded time, at a bounded length, within a bounded memory of all requests together.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use tokio::sync::OwnedSemaphorePermit;

use super::Hub;
use crate::error::Error;
use crate::pack::gunzipped;
use cardproof_submission::LENGTH_MAX;

/// How long a body may take.
const TIME_MAX: Duration = Duration::from_secs(15);

/// Bytes with their share of the memory that all bodies have together; whoever works on them keeps it.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) bytes: Vec<u8>,
    share: Vec<OwnedSemaphorePermit>,
}

impl Held {
    /// Adds room for `count` more bytes. Who comes too much is told so at once.
    fn claim(&mut self, hub: &Hub, count: usize) -> Result<(), Error> {
        let wanted = u32::try_from(count).unwrap_or(u32::MAX);
        let budget = Arc::clone(&hub.body_budget);
        self.share.push(budget.try_acquire_many_owned(wanted).map_err(|_| Error::Busy)?);
        Ok(())
    }

    /// The bytes, and what must be kept as long as anything of their size is in memory.
    pub(super) fn into_parts(self) -> (Vec<u8>, Vec<OwnedSemaphorePermit>) {
        (self.bytes, self.share)
    }
}

/// The JSON in `body`, unpacked where it is gzip.
pub(super) async fn json_bytes(hub: &Hub, headers: &HeaderMap, body: Body) -> Result<Held, Error> {
    let kind = headers.get(header::CONTENT_TYPE).map(|kind| kind.to_str().unwrap_or_default());
    if !kind.unwrap_or_default().starts_with("application/json") {
        return Err(Error::Request(
            "send the document as Content-Type: application/json".to_owned(),
        ));
    }
    let announced =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: usize| length > LENGTH_MAX) {
        return Err(Error::TooLong(LENGTH_MAX));
    }
    let mut held = read(hub, body, LENGTH_MAX).await?;
    match headers.get(header::CONTENT_ENCODING).map(axum::http::HeaderValue::as_bytes) {
        None | Some(b"identity") => Ok(held),
        Some(b"gzip") => {
            held.bytes = gunzipped(&held.bytes, LENGTH_MAX)?;
            held.claim(hub, held.bytes.len())?;
            Ok(held)
        }
        Some(_) => Err(Error::Encoding),
    }
}

/// The bytes of `body`, at most `length_max`.
pub(super) async fn read(hub: &Hub, body: Body, length_max: usize) -> Result<Held, Error> {
    tokio::time::timeout(TIME_MAX, collected(hub, body, length_max))
        .await
        .map_err(|_| Error::TooSlow)?
}

async fn collected(hub: &Hub, mut body: Body, length_max: usize) -> Result<Held, Error> {
    let mut held = Held { bytes: Vec::new(), share: Vec::new() };
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Error::Request("the body broke off".to_owned()))?;
        let Some(chunk) = frame.data_ref() else { continue };
        if held.bytes.len() + chunk.len() > length_max {
            return Err(Error::TooLong(length_max));
        }
        held.claim(hub, chunk.len())?;
        held.bytes.extend_from_slice(chunk);
    }
    Ok(held)
}
