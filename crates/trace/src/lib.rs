//! Traces: the requests that a real job made of a block device, without their contents.
//!
//! A trace keeps what a device sees: which ranges are read and written in which order, where the
//! job waited for everything to be durable, and how long it thought in between. It holds no data,
//! no file names and, unless somebody asked for them, no names of programs. The form is described
//! in `docs/design/traces.md`.
//!
//! Nothing here touches a file: bytes go in, bytes come out.

mod blkparse;
mod blktrace;
mod csv;
mod error;
mod fold;
mod frame;
mod header;
mod iolog;
mod model;
mod packed;
mod pipe;
mod range;
mod reader;
mod recording;
mod request;
mod seconds;
mod shape;
mod shipped;
mod steps;
mod summary;
mod writer;

pub use blkparse::{is_blkparse, read_blkparse};
pub use blktrace::{BlktraceReader, is_blktrace};
pub use csv::{is_csv, read_csv};
pub use error::{ByteError, TextError, TraceError};
pub use fold::{Fold, FoldError, Layout, Piece, REGION, Reach};
pub use header::{Header, Source};
pub use iolog::{is_iolog, read_iolog};
pub use pipe::PipeReader;
pub use reader::TraceReader;
pub use request::{Request, RequestKind};
pub use shape::{Shape, SizeClass};
pub use shipped::{SHIPPED, ShippedTrace, find_shipped};
pub use steps::{Step, Steps};
pub use summary::{RECORDING_SCHEMA, RecordingSummary};
pub use writer::TraceWriter;
