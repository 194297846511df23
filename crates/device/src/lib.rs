//! What storage a path or a block device is, what the host gives it, and whether it may be
//! overwritten.
//!
//! Two things live here. The first look fills the conditions of a record from the kernel's small
//! files, without root. The [`guard`] lists every objection to a destructive run and opens a
//! device for one only when none is left. Both read the system below a [`Sysroot`], so that a
//! test can lay out any machine.
//!
//! Nothing here writes, and no serial number, host name, user name or path gets into a record.

mod block;
mod card_info;
mod condition;
mod device;
mod disk;
mod dump;
pub mod guard;
mod host;
pub mod identify;
mod image;
mod layer;
mod link;
pub mod live;
mod look;
mod messages;
mod mounted_on;
mod mounts;
mod number;
mod options;
mod origin;
mod permission;
mod reconnect;
mod redact;
mod settings;
mod stack;
mod storage_counters;
mod sysroot;
mod task_waits;
mod transport;
mod wear;
mod write_counter;
mod writers;

pub use card_info::{MmcRegisters, SdRegisters};
pub use condition::{
    Condition, LogTroubles, MountCondition, condition, earlier_log_troubles, log_troubles,
    unusable_card,
};
pub use disk::{Disk, Partition, is_disk, is_loop_direct, logical_block, partitions, whole_disk};
pub use dump::DumpError;
pub use host::look_at_host;
pub use image::partitions_of_image;
pub use layer::Layer;
pub use look::{
    LookError, Surroundings, look_at_block_device, look_at_number, look_at_path, missing_hint,
};
pub use mounted_on::{MountedFilesystem, filesystems_on};
pub use number::{DeviceNumber, ParseDeviceNumberError};
pub use origin::ReadWitness;
pub use permission::permission_remedy;
pub use reconnect::{Order, ReconnectError, Reconnection};
pub use storage_counters::{StorageCounters, boot_number, storage_counters};
pub use sysroot::Sysroot;
pub use task_waits::TaskWaits;
pub use wear::{WearFacts, seconds_since_start, wear_facts};
pub use write_counter::WriteCounter;
pub use writers::{GroupWrites, Growth, INIT, ProcessId, ProcessWrites, WriteCounters, Writes};
