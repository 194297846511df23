//! The units in which cardproof speaks: bytes, nanoseconds, addresses, rates, seeds.
//!
//! A number that crosses a crate boundary carries its unit in its type, so that
//! a KiB can never be added to a kB, nor a rate to a count. This crate parses and
//! prints those numbers, and names as words of a shell; it reads no clock and no file.

mod bytes;
mod lba;
mod nanos;
mod nearest;
mod rate;
mod seed;
mod shell;

pub use bytes::{Bytes, ParseBytesError};
pub use lba::Lba;
pub use nanos::{Nanos, ParseNanosError};
pub use nearest::nearest;
pub use rate::{Iops, Throughput};
pub use seed::{ParseSeedError, Seed};
pub use shell::{shell_path, shell_word};
