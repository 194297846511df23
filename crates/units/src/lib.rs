//! The units in which cardproof speaks: bytes, nanoseconds, addresses, rates, seeds.
//!
//! A number that crosses a crate boundary carries its unit in its type, so that
//! a KiB can never be added to a kB, nor a rate to a count. This crate parses and
//! prints those numbers, names as words of a shell, and errors as words for people; it reads no clock and no file.

mod bytes;
mod in_words;
mod lba;
mod limits;
mod nanos;
mod nearest;
mod rate;
mod seed;
mod shell;

pub use bytes::{Bytes, ParseBytesError};
pub use in_words::{in_words, with_causes};
pub use lba::Lba;
pub use limits::{rounded_down, rounded_up};
pub use nanos::{Nanos, ParseNanosError};
pub use nearest::nearest;
pub use rate::{Iops, Throughput};
pub use seed::{ParseSeedError, Seed};
pub use shell::{shell_path, shell_word};
