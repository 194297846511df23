//! Swap in use: devices, and files by device and inode.
//!
//! The table tells paths only, and a path may lead nowhere or elsewhere from here (a container, a
//! deleted file). A swap file always bears the signature of swap. So a file with that signature is
//! refused while any swap file in use cannot be found.

use std::fs;
use std::path::PathBuf;

use super::loops::{FileId, FileInUse};
use super::objection::Objection;
use crate::Sysroot;
use crate::block::BlockDevice;
use crate::mounts::unescaped;

/// A line of the swap table.
struct Swap {
    path: PathBuf,
    is_file: bool,
    size_bytes: u64,
}

/// All swap in use.
pub(super) struct Swaps<'root> {
    root: &'root Sysroot,
    areas: Vec<Swap>,
}

impl<'root> Swaps<'root> {
    /// Reads the table; a kernel without swap has none.
    ///
    /// # Errors
    /// There is one and it cannot be read.
    pub(super) fn read(root: &'root Sysroot) -> std::io::Result<Self> {
        let table = match root.bytes("proc/swaps") {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            other => other?,
        };
        let lines = table.split(|&byte| byte == b'\n').skip(1);
        Ok(Self { root, areas: lines.filter_map(parse_line).collect() })
    }

    /// Whether `device` is in use.
    pub(super) fn on_device(&self, device: &BlockDevice<'root>) -> Option<Objection> {
        let is_device = |swap: &&Swap| {
            BlockDevice::by_node(self.root, &swap.path)
                .is_some_and(|named| named.name() == device.name())
        };
        self.areas.iter().find(is_device).map(|_| Objection::Swap { node: device.node() })
    }

    /// Whether `file` is in use, or may be, since it `bears_swap`'s signature.
    pub(super) fn on_file(&self, file: &FileInUse, bears_swap: bool) -> Option<Objection> {
        if self.areas.iter().any(|swap| swap.is(file)) {
            return Some(Objection::Swap { node: file.path.clone() });
        }
        let is_lost = |swap: &&Swap| {
            bears_swap && self.root.is_running_system() && swap.is_file && !swap.is_found()
        };
        self.areas.iter().find(is_lost).map(|swap| Objection::MayBeSwap { path: swap.path.clone() })
    }
}

impl Swap {
    fn is(&self, file: &FileInUse) -> bool {
        let there = fs::metadata(&self.path).map(|metadata| FileId::from_metadata(&metadata));
        match (file.id, there) {
            (Some(one), Ok(other)) => one == other,
            (Some(_), Err(_)) => false,
            (None, _) => self.path == file.path,
        }
    }

    /// Whether its path leads to a file that is large enough to be it.
    fn is_found(&self) -> bool {
        fs::metadata(&self.path)
            .is_ok_and(|metadata| metadata.is_file() && metadata.len() >= self.size_bytes)
    }
}

/// `PATH TYPE SIZE_KIB USED_KIB PRIORITY`.
fn parse_line(line: &[u8]) -> Option<Swap> {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let path = fields.next()?;
    let is_file = fields.next().is_none_or(|kind| kind == b"file");
    let size = fields.next().and_then(|size| std::str::from_utf8(size).ok()?.parse::<u64>().ok());
    let size_bytes = size.unwrap_or(0).saturating_mul(1024);
    Some(Swap { path: unescaped(path), is_file, size_bytes })
}

/// Whether the kernel says of the open file `file` that it is swap in use. It refuses every write to
/// such a file since Linux 5.3, one of no bytes too, which changes nothing.
pub(super) fn kernel_says_swap(file: &fs::File) -> bool {
    rustix::io::pwrite(file, &[], 0) == Err(rustix::io::Errno::TXTBSY)
}
