//! Where cardproof meets storage: the [`Target`] contract and the engines behind it.
//!
//! Everything above this crate drives a `Target` and cannot tell a file from a device or from a
//! model of one. This is the only crate with `unsafe` code, and the only one that reads a real
//! clock. It prints nothing, picks no pattern of operations and judges nothing.

#![allow(unsafe_code)]
#![warn(clippy::undocumented_unsafe_blocks)]

mod arrangement;
mod block_map;
mod buffers;
mod clock;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod descriptor;
mod discard;
mod extents;
pub mod faulty;
pub mod files;
mod filling;
mod flight;
mod free_space;
mod in_turn;
mod loop_device;
mod medium;
mod mmc_command;
mod mounts;
mod null;
mod op;
mod open;
mod place_reader;
mod psync;
mod sampled_space;
pub mod scratch;
mod slots;
mod target;
#[cfg(target_pointer_width = "64")]
mod uring;
mod usage;

pub use arrangement::{Arrangement, Caching, Calls, FileState};
pub use descriptor::duplicate;
pub use extents::{Extent, extents};
pub use free_space::{FreeSpaceError, FreeSpaceTarget};
pub use loop_device::{LoopBacking, loop_backing};
pub use medium::OpenError;
pub use mmc_command::{CMD56_BLOCK_LEN, CardChannel};
pub use mounts::{Flags as MountFlags, PrivateMount, PrivateMounts};
pub use null::NullTarget;
pub use op::{Completion, Fault, Op, OpKind, Slot, Submission};
pub use open::{EngineChoice, OpenOptions, TargetOpenError, open, open_new};
pub use place_reader::{PlaceReader, open_unnoticed};
pub use psync::PsyncTarget;
pub use sampled_space::{Layer, SampledSpace};
pub use target::{
    Abilities, Described, Directness, Engine, Filling, PowerSwitch, SubmitError, Target,
    TargetError, Wait,
};
#[cfg(target_pointer_width = "64")]
pub use uring::UringTarget;
pub use usage::{Usage, usage};
