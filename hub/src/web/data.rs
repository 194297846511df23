//! The raw data over HTTP: the manifest, and the files with ranges.

use std::io::SeekFrom;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::Hub;
use super::guard::{Failed, json_response, tagged, typed};
use crate::dump::description;
use crate::error::Error;

/// Mirrors the tables into a directory.
const MIRROR: &str = include_str!("../../templates/mirror.sh");

/// The manifest.
pub(super) async fn manifest(State(hub): State<Hub>) -> Result<Response, Failed> {
    let manifest = hub.dump.manifest()?;
    let text =
        serde_json::to_string_pretty(&manifest).map_err(|e| Error::Internal(e.to_string()))?;
    Ok(tagged("application/json", text))
}

/// The description of the tables.
pub(super) async fn schema() -> Response {
    json_response(&description())
}

/// The script that mirrors the tables.
pub(super) async fn mirror() -> Response {
    typed("text/x-shellscript; charset=utf-8", MIRROR.to_owned())
}

/// A file of the dump, or the part of it that is asked for.
pub(super) async fn file(
    State(hub): State<Hub>,
    Path((table, name)): Path<(String, String)>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Failed> {
    let path = hub.dump.file(&table, &name).ok_or(Error::NotFound)?;
    let kind = match path.extension().and_then(|extension| extension.to_str()) {
        Some("parquet") => "application/vnd.apache.parquet",
        _ => "application/gzip",
    };
    let mut file = tokio::fs::File::open(&path).await.map_err(|_| Error::NotFound)?;
    let length = file.metadata().await.map_err(|e| Error::File(name.clone(), e))?.len();
    // A file's name has its hash in it.
    let tag = format!("\"{name}\"");
    // Who goes on with another file than this one gets this one whole.
    let is_same = names(&headers, &header::IF_RANGE, &tag).unwrap_or(true);
    let asked = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let asked = asked.filter(|_| is_same && method == Method::GET);
    let (status, start, end) = match asked.map(|range| part(range, length)) {
        None | Some(Part::Whole) => (StatusCode::OK, 0, length),
        Some(Part::From(start, end)) => (StatusCode::PARTIAL_CONTENT, start, end),
        Some(Part::Outside) => (StatusCode::RANGE_NOT_SATISFIABLE, 0, 0),
    };
    file.seek(SeekFrom::Start(start)).await.map_err(|e| Error::File(name.clone(), e))?;
    let mut response = typed(kind, stream(file, end - start));
    *response.status_mut() = status;
    let fields = response.headers_mut();
    fields.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    fields.insert(header::CONTENT_LENGTH, HeaderValue::from(end - start));
    let range = match status {
        StatusCode::PARTIAL_CONTENT => Some(format!("bytes {start}-{}/{length}", end - 1)),
        StatusCode::RANGE_NOT_SATISFIABLE => Some(format!("bytes */{length}")),
        _ => None,
    };
    if let Some(range) = range.and_then(|range| HeaderValue::from_str(&range).ok()) {
        fields.insert(header::CONTENT_RANGE, range);
    }
    if status != StatusCode::RANGE_NOT_SATISFIABLE {
        keep_forever(fields, &tag);
    }
    Ok(response)
}

/// Whether the header `name`, where it is there, names `tag` or anything.
fn names(headers: &HeaderMap, name: &HeaderName, tag: &str) -> Option<bool> {
    let listed = headers.get(name)?.to_str().ok()?;
    let is_named = |one: &str| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag;
    Some(listed.split(',').any(|one| is_named(one.trim())))
}

/// What is under one name never changes.
fn keep_forever(fields: &mut HeaderMap, tag: &str) {
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    fields.insert(header::CACHE_CONTROL, forever);
    if let Ok(tag) = HeaderValue::from_str(tag) {
        fields.insert(header::ETAG, tag);
    }
}

/// `length` bytes of `file` from where it stands, 64 KiB in memory at a time.
fn stream(file: tokio::fs::File, length: u64) -> Body {
    let parts = futures_util::stream::try_unfold((file, length), |(mut file, left)| async move {
        if left == 0 {
            return Ok::<_, std::io::Error>(None);
        }
        let mut chunk = vec![0; usize::try_from(left.min(64 << 10)).unwrap_or(64 << 10)];
        let count = file.read(&mut chunk).await?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        chunk.truncate(count);
        Ok(Some((chunk, (file, left - count as u64))))
    });
    Body::from_stream(parts)
}

/// What part of a file is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// All of it: no range, or one of a form that may be ignored.
    Whole,
    /// From here to before there.
    From(u64, u64),
    /// Nothing that it has.
    Outside,
}

fn part(range: &str, length: u64) -> Part {
    let Some((start, end)) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-'))
    else {
        return Part::Whole;
    };
    match (start.parse::<u64>(), end.parse::<u64>()) {
        (Ok(start), _) if start >= length => Part::Outside,
        (Ok(start), Ok(end)) if end >= start => {
            Part::From(start, end.saturating_add(1).min(length))
        }
        (Ok(start), Err(_)) if end.is_empty() => Part::From(start, length),
        (Err(_), Ok(0)) if start.is_empty() => Part::Outside,
        (Err(_), Ok(last)) if start.is_empty() && length > 0 => {
            Part::From(length.saturating_sub(last), length)
        }
        _ => Part::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_has_them() {
        for (range, expected) in [
            ("bytes=0-9", Part::From(0, 10)),
            ("bytes=90-", Part::From(90, 100)),
            ("bytes=-10", Part::From(90, 100)),
            ("bytes=-1000", Part::From(0, 100)),
            ("bytes=99-200", Part::From(99, 100)),
            ("bytes=100-", Part::Outside),
            ("bytes=-0", Part::Outside),
            ("bytes=9-3", Part::Whole),
            ("bytes=0-1,5-6", Part::Whole),
            ("lines=0-1", Part::Whole),
        ] {
            assert_eq!(part(range, 100), expected, "{range}");
        }
    }
}
