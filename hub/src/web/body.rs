//! Bodies: read in bounded time, at a bounded length, within a bounded memory of all requests together.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;

use super::Hub;
use crate::error::Error;
use crate::pack::gunzipped;
use cardproof_submission::LENGTH_MAX;

/// How long a body may take.
const TIME_MAX: Duration = Duration::from_secs(15);

/// The JSON in `body`, unpacked where it is gzip.
pub(super) async fn json_bytes(
    hub: &Hub,
    headers: &HeaderMap,
    body: Body,
) -> Result<Vec<u8>, Error> {
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
    let bytes = read(hub, body, LENGTH_MAX).await?;
    match headers.get(header::CONTENT_ENCODING).map(axum::http::HeaderValue::as_bytes) {
        None | Some(b"identity") => Ok(bytes),
        Some(b"gzip") => gunzipped(&bytes, LENGTH_MAX),
        Some(_) => Err(Error::Encoding),
    }
}

/// The bytes of `body`, at most `length_max`.
pub(super) async fn read(hub: &Hub, body: Body, length_max: usize) -> Result<Vec<u8>, Error> {
    tokio::time::timeout(TIME_MAX, collected(hub, body, length_max))
        .await
        .map_err(|_| Error::TooSlow)?
}

async fn collected(hub: &Hub, mut body: Body, length_max: usize) -> Result<Vec<u8>, Error> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut permits = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Error::Request("the body broke off".to_owned()))?;
        let Some(chunk) = frame.data_ref() else { continue };
        if bytes.len() + chunk.len() > length_max {
            return Err(Error::TooLong(length_max));
        }
        // What all requests hold together is bounded; who comes too much is told so at once.
        let wanted = u32::try_from(chunk.len()).unwrap_or(u32::MAX);
        permits.push(hub.body_budget.try_acquire_many(wanted).map_err(|_| Error::Busy)?);
        bytes.extend_from_slice(chunk);
    }
    Ok(bytes)
}
