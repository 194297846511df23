//! What a request costs: the behaviours of managed flash, one to a file.
//!
//! All arithmetic here is on whole numbers, because a simulated record must be the same byte
//! for byte on every machine, and the last digit of a logarithm is not. Nothing here allocates
//! after construction.

mod garbage;
mod grid;
mod heat;
mod hybrid;
mod lanes;
mod map_cache;
mod mechanism;
mod noise;
mod pace;
mod page_map;
mod reader;
mod service;
mod slc;
mod streams;
mod volatile;
mod wear;
mod written;

pub(crate) use mechanism::{Mechanism, Served};
pub(crate) use wear::WearState;
