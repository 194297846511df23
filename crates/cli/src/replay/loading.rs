//! Traces by their names: the recorded jobs that come with cardproof, trace files, and other tools' traces.

use std::borrow::Cow;
use std::path::Path;

use cardproof_report::CatalogueEntry;
use cardproof_trace::{Header, SHIPPED, TraceError, TraceReader, find_shipped};
use cardproof_units::{Bytes, in_words, nearest};

use super::show::foreign;
use crate::exit::Failure;
use crate::input;

/// No trace is longer: five million requests as blktrace has them.
pub(super) const LENGTH_MAX: Bytes = Bytes::mib(256);

/// The header of the trace `bytes`.
pub(super) fn entry_of(bytes: &[u8]) -> Result<CatalogueEntry, TraceError> {
    let reader = TraceReader::new(bytes)?;
    let Header { name, description, requests, duration_ns, .. } = reader.header().clone();
    Ok(CatalogueEntry {
        name,
        purpose: description,
        requests: Some(requests),
        duration_ns: Some(duration_ns),
        ..CatalogueEntry::default()
    })
}

/// Whether `trace` names one of the recorded jobs that come with cardproof.
pub(super) fn is_shipped(trace: &str) -> bool {
    find_shipped(trace).is_some()
}

/// The bytes of the trace called `trace`: a shipped one's name, or a file's path.
pub(crate) fn load(trace: &str) -> Result<Cow<'static, [u8]>, Failure> {
    load_as(trace, None, "")
}

/// As [`load`]; another tool's trace is called `name` and described by `description`.
pub(super) fn load_as(
    trace: &str,
    name: Option<&str>,
    description: &str,
) -> Result<Cow<'static, [u8]>, Failure> {
    if let Some(shipped) = find_shipped(trace) {
        return Ok(Cow::Borrowed(shipped.bytes));
    }
    let bytes = input::read(Path::new(trace), LENGTH_MAX).map_err(|error| {
        Failure::of_opening(
            &error,
            format!(
                "cannot read the trace {trace}: {error}; {}",
                instead_of(trace),
                error = in_words(&error)
            ),
        )
    })?;
    if foreign::is_ours(&bytes) {
        return Ok(Cow::Owned(bytes));
    }
    let stem = || Path::new(trace).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.map(str::to_owned).or_else(stem).unwrap_or_default();
    foreign::converted(trace, &bytes, &name, description).map(Cow::Owned)
}

/// What to name in place of `trace`, which is not there.
fn instead_of(trace: &str) -> String {
    let names = || SHIPPED.iter().map(|shipped| shipped.name);
    match nearest(trace, names()) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("name a file, or one of {}", names().collect::<Vec<_>>().join(", ")),
    }
}

/// That `trace` cannot be read, and where it is wrong.
pub(crate) fn broken(trace: &str, error: &TraceError) -> Failure {
    Failure::usage(format!("{trace}: {error}"))
}
