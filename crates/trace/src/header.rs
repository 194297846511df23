//! What a trace says of itself before its requests.

use cardproof_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// The first bytes of every trace; the form's number follows.
pub(super) const MAGIC: [u8; 7] = *b"CPTRACE";

/// The same as text, for messages.
pub(super) const MAGIC_TEXT: &str = "CPTRACE";

/// The number of the form that is written here.
pub(super) const FORM: u8 = 2;

/// Where the requests come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The kernel's block tracepoints.
    BlockTracepoints,
    /// A file of blktrace.
    Blktrace,
    /// An iolog of fio.
    FioIolog,
    /// A table of requests.
    Csv,
    /// A description, without a device.
    Synthetic,
}

/// What a trace says of itself. Nothing in it names a person, a host or a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// A short name, such as `desktop-install`.
    pub name: String,
    /// What the job was and where it was recorded, in a sentence or two.
    #[serde(default)]
    pub description: String,
    /// Where the requests come from.
    pub source: Source,
    /// The size of the device on which it was recorded, where known; else the end of the
    /// furthest request.
    pub device_bytes: Bytes,
    /// How many requests there are.
    pub requests: u64,
    /// From the first request's issue to the job's end.
    pub duration_ns: Nanos,
}
