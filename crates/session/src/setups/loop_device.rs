//! The loop device that file systems are compared on: past the page cache where that can be had, and
//! gone with this process, however that ends.
//!
//! The kernel goes through the page cache without a word where it cannot go past it. So what it does
//! is asked of it afterwards, and a device that goes through is told from one that does not.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use cardproof_device::{DeviceNumber, Sysroot, is_loop_direct, logical_block};
use cardproof_units::Bytes;

use crate::failure::Failure;

/// The units tried where that of the storage below is not known, as on a file system over several
/// devices: nearly all have one of the two.
const LOGICAL_BLOCKS: [Bytes; 2] = [Bytes(512), Bytes(4096)];

/// An attached loop device.
#[derive(Debug)]
pub(super) struct LoopDevice {
    node: PathBuf,
    is_direct: bool,
    /// Keeps it attached.
    _open: File,
}

impl LoopDevice {
    /// One over the first `size` of `below`. It is told to go when nobody has it open any more.
    pub(super) fn attach(below: &File, size: Bytes) -> Result<Self, Failure> {
        // The child has its own `/proc/self`.
        let path = format!("/proc/{}/fd/{}", std::process::id(), below.as_raw_fd());
        let limit = format!("--sizelimit={}", size.get());
        // Smaller blocks than those of what is below could not be written past the cache.
        let blocks = block_below(below).map_or(LOGICAL_BLOCKS.to_vec(), |block| vec![block]);
        for block in blocks {
            let block = format!("--sector-size={}", block.get());
            let direct = Self::attach_as(&["--direct-io=on", &block, &limit, &path]);
            if let Ok(device) = direct
                && device.is_direct
            {
                return Ok(device);
            }
        }
        Self::attach_as(&[&limit, &path])
    }

    fn attach_as(words: &[&str]) -> Result<Self, Failure> {
        let said = losetup(&[&["--find", "--show"], words].concat())?;
        let node = PathBuf::from(said.trim());
        let open = File::options().read(true).write(true).open(&node);
        // Put off by the kernel until the last one closes it.
        losetup(&["--detach", &node.to_string_lossy()])?;
        let open = open.map_err(Failure::because(format!("cannot open {}", node.display())))?;
        let number = open.metadata().map(|metadata| DeviceNumber::from_raw(metadata.rdev()));
        let is_direct = number.is_ok_and(|number| {
            is_loop_direct(&Sysroot::default(), number).is_some_and(|direct| direct)
        });
        Ok(Self { node, is_direct, _open: open })
    }

    /// Its node.
    pub(super) fn node(&self) -> &Path {
        &self.node
    }

    /// Whether it surely goes past the page cache.
    pub(super) const fn is_direct(&self) -> bool {
        self.is_direct
    }
}

/// The unit of the device that `below` is or lies on; `None` where that is not one device.
fn block_below(below: &File) -> Option<Bytes> {
    let metadata = below.metadata().ok()?;
    let is_device = metadata.file_type().is_block_device();
    let number = if is_device { metadata.rdev() } else { metadata.dev() };
    logical_block(&Sysroot::default(), DeviceNumber::from_raw(number))
}

fn losetup(words: &[&str]) -> Result<String, Failure> {
    let output = Command::new("losetup").args(words).output();
    let output = output.map_err(Failure::because("cannot start losetup (util-linux)"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::incomplete(format!("no loop device is available: {}", said.trim())))
}
