//! The loop device that file systems are compared on: past the page cache where that can be had, and
//! gone with this process, however that ends.
//!
//! The kernel goes through the page cache without a word where it cannot go past it. So what it does
//! is asked of it afterwards, and a device that goes through is told from one that does not.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cardproof_device::{DeviceNumber, Sysroot, is_loop_direct, logical_block};
use cardproof_units::Bytes;

use super::programs::find_program;
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
        let mut attached = Attached::start(words)?;
        let node = attached.node()?;
        let open = File::options().read(true).write(true).open(&node);
        attached.detach()?;
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

/// Attaches a device by the program and the words that follow, names it, and detaches it at the end of the
/// input, which comes too when this process is killed. The kernel puts that off until nobody has it open
/// any more. The program has its whole path, because the shell of busybox takes its own losetup otherwise.
const ATTACH: &str = r#"
trap '' HUP INT TERM
losetup=$1
shift
device=$("$losetup" --find --show "$@") || exit
echo "$device"
read -r _
exec "$losetup" --detach "$device"
"#;

/// A device that a shell has attached and will detach.
struct Attached {
    shell: Child,
}

impl Attached {
    fn start(words: &[&str]) -> Result<Self, Failure> {
        let losetup = find_program("losetup").ok_or_else(|| {
            Failure::incomplete("losetup is not installed; on Debian: apt-get install mount")
        })?;
        let mut command = Command::new("sh");
        command.args(["-c", ATTACH, "sh"]).arg(losetup).args(words).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let shell = command.spawn().map_err(Failure::because("cannot start a shell"))?;
        Ok(Self { shell })
    }

    /// The device's node.
    fn node(&mut self) -> Result<PathBuf, Failure> {
        let mut said = String::new();
        if let Some(output) = self.shell.stdout.take() {
            let read = BufReader::new(output).read_line(&mut said);
            read.map_err(Failure::because("losetup (util-linux) says nothing"))?;
        }
        match said.trim() {
            "" => Err(self.end("no loop device is available")),
            node => Ok(PathBuf::from(node)),
        }
    }

    fn detach(mut self) -> Result<(), Failure> {
        drop(self.shell.stdin.take());
        match self.shell.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(self.end("a loop device cannot be detached")),
        }
    }

    /// What the shell has complained of.
    fn end(&mut self, what: &str) -> Failure {
        drop(self.shell.stdin.take());
        let complaint = self.shell.stderr.take().map(io::read_to_string);
        let said = complaint.and_then(Result::ok).unwrap_or_default();
        Failure::incomplete(format!("{what}: {}; losetup is of util-linux", said.trim()))
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // A drop has nobody to tell.
        let _ = self.shell.wait();
    }
}
