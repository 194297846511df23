//! The system calls of a real job that touch files, without contents and without names.
//!
//! A trace of block requests is what a device saw; this is what a job asked of its file system,
//! so it can be looked at, or done again, on any file system. Names are numbers; what is kept of
//! them is which directory each is in. The form is described in `docs/design/traces.md`.
//!
//! Nothing here touches a file: bytes go in, bytes come out.

mod call;
mod codec;
mod form;
mod shape;
mod strace;

pub use call::{Call, CallKind, OpenHow};
pub use form::{CallTrace, CallsHeader, is_calls};
pub use shape::{CallShape, KindCount};
pub use strace::{StraceReader, is_strace, read_strace};
