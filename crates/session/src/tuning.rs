//! Setting a card up: partition and file system with leave to destroy, settings at once, and what they gain.

mod gain;
mod ground;
mod mounts;
mod state;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use cardproof_device::{Sysroot, logical_block};
use cardproof_evidence::geometry::Geometry;
use cardproof_rating::tuning::Layout;
use cardproof_record::DeviceInfo;
use cardproof_sim::Keeping;
use cardproof_units::{Bytes, Seed, in_words};

use crate::failure::Failure;
use crate::frontend::Silent;
use crate::options::{Access, Identity, Options};
use crate::store::Store;
use crate::target::{Span, Storage, StorageNeeds, Writing, open_storage};
use crate::whole_device::block_device;

pub use gain::{GainWish, Starts};
pub use ground::{has_swap, mount_point_of, partitions_of, refuse_no_image};
pub use mounts::{is_on_whole_disk, mounted_on};
pub use state::{ChangedSetting, change_setting, restore_settings};

/// What is set up.
#[derive(Clone, Debug)]
pub struct SetUp<'a> {
    /// A block device or an image.
    pub target: &'a Path,
    /// How it may be used.
    pub access: Access,
    /// What is known of it.
    pub device: &'a DeviceInfo,
    /// Its geometry, where it was measured.
    pub geometry: Option<&'a Geometry>,
}

/// What was made.
#[derive(Clone, Debug)]
pub struct LaidOut {
    /// The partition and its file system.
    pub layout: Layout,
    /// The extended options with which ext4 was made.
    pub options: String,
}

impl SetUp<'_> {
    /// Writes the partition table and makes the file system.
    ///
    /// # Errors
    /// The guard does not let it be destroyed, it is too small, or a program is missing or fails.
    pub fn lay_out(&self) -> Result<LaidOut, Failure> {
        let size = self.may_be_destroyed()?;
        let layout = self.layout(size).ok_or_else(|| {
            Failure::usage(format!(
                "{} holds {size}, too little for a partition",
                self.target.display()
            ))
        })?;
        // Both are asked for before the first write, so that no partition is left without a file system.
        perform(Command::new("sfdisk").arg("--version"), None)?;
        perform(Command::new("mkfs.ext4").arg("-V"), None)?;
        write_table(self.target, &layout.sfdisk_script(logical_block_of(self.target)))?;
        let mut mkfs = Command::new("mkfs.ext4");
        let offset = format!("offset={}", layout.unit.get());
        let options = match layout.extended_options() {
            Some(known) => format!("{known},{offset}"),
            None => offset,
        };
        mkfs.args(["-q", "-F", "-E", &options]);
        if let Some(mib) = layout.journal_mib() {
            mkfs.args(["-J", &format!("size={mib}")]);
        }
        mkfs.arg(self.target);
        mkfs.arg(format!("{}k", layout.size.get() >> 10));
        perform(&mut mkfs, None)?;
        reread_partitions(self.target);
        Ok(LaidOut { layout, options })
    }

    /// The layout for a target of `size`.
    fn layout(&self, size: Bytes) -> Option<Layout> {
        let card = self.device.card.as_ref();
        Layout::new(size, self.geometry, card.and_then(|card| card.allocation_unit_bytes))
    }

    /// The size of the target, if the guard lets it be destroyed; it is opened for that, and let go.
    fn may_be_destroyed(&self) -> Result<Bytes, Failure> {
        if self.target.is_dir() {
            return Err(Failure::usage(
                "a directory cannot be partitioned; name the block device, which must not be mounted",
            ));
        }
        Ok(self.open(None, Seed::from_bits(0), Bytes(u64::MAX))?.span)
    }

    /// Opens the target to overwrite at most `wanted` of it, or `size` where the user says so.
    fn open(&self, size: Option<Bytes>, seed: Seed, wanted: Bytes) -> Result<Storage, Failure> {
        let options = Options {
            target: self.target.to_owned(),
            size,
            seed,
            access: self.access.clone(),
            expect_device: None,
            identity: Identity::default(),
            records: Store::of_user(),
            does_without_record: true,
        };
        let needs = StorageNeeds::new(Span::new(wanted), Writing::Always, Keeping::Nothing);
        open_storage(&needs, &options, &mut Silent)
    }
}

/// Makes the partition that `script` tells `sfdisk` on `target`, of which everything is lost.
///
/// # Errors
/// `sfdisk` is not installed, or fails.
pub fn make_partition(target: &Path, script: &str) -> Result<(), Failure> {
    write_table(target, script)?;
    reread_partitions(target);
    Ok(())
}

fn write_table(target: &Path, script: &str) -> Result<(), Failure> {
    let mut sfdisk = Command::new("sfdisk");
    sfdisk.args(["--quiet", "--wipe", "always", "--wipe-partitions", "always"]).arg(target);
    perform(&mut sfdisk, Some(script))
}

/// The blocks in which the device at `target` is addressed, which its partition table counts in; 512 bytes
/// for a file.
#[must_use]
pub fn logical_block_of(target: &Path) -> Bytes {
    let number = block_device(target);
    number.and_then(|number| logical_block(&Sysroot::default(), number)).unwrap_or(Bytes(512))
}

/// Runs `command` with `input`; what it says on failure becomes the error.
fn perform(command: &mut Command, input: Option<&str>) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let cannot = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::incomplete(format!(
            "{name} is not installed; install it (Debian: fdisk, e2fsprogs) and try again"
        )),
        _ => Failure::incomplete(format!("cannot run {name}: {error}", error = in_words(&error))),
    };
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut child = command
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    if let (Some(text), Some(mut pipe)) = (input, child.stdin.take()) {
        // A program that ended early says so by its status.
        let _ = pipe.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(cannot)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::incomplete(format!("{name} failed: {}", said.trim())))
}

/// Lets the kernel see the partition; where it does not, the next plugging in does.
fn reread_partitions(target: &Path) {
    let mut command = Command::new("partx");
    command.arg("--update").arg(target).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.status();
}
