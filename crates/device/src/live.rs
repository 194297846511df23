//! What storage and system are doing: the kernel's counters, read at little cost, and the rates
//! between two readings.
//!
//! A [`Sampler`] keeps the kernel's small files open and reads them anew at each look, which costs
//! a tenth of a millisecond; [`Counters::since`] turns two looks into rates as iostat(1) defines
//! them. The time is told by the caller: nothing here reads a clock, so that a test can lay out
//! any hour of any machine. A file that is not there, as `/proc/pressure` on many boards, leaves
//! its figures out; nothing is guessed. No serial number and no name of a process is read.

mod climate;
mod cpu;
mod disk;
mod kept;
mod memory;
mod name;
mod pressure;
mod sampler;
mod waits;

pub use name::{NameError, device_at, worth_watching};
pub use sampler::{Counters, Sampler};
pub use waits::ProcessorWaits;
