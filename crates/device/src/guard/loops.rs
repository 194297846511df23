//! Loop devices and the file or device that each goes to, told apart by device and inode.
//!
//! A path does not tell a file from another: the image of a mounted loop device has as many names as
//! somebody gave it, by hard links, bind mounts and other views of the mounts. So the kernel is asked
//! for the file itself. Two things can keep that from deciding, and both are reported rather than
//! passed over: a loop device that this user may not open, and a file system that shows files of
//! another one under numbers of its own, such as overlay.
//!
//! Of a loop device that may not be opened sysfs still tells the size, and the path as it is by now. So
//! it stands in the way of what that path leads to, and of what is as large as it. A loop device whose
//! file lies on a file system that has gone stands in nobody's way: what is below it can neither be a
//! device nor a file that somebody can open.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use cardproof_io::LoopBacking;
use cardproof_units::{Bytes, in_words};
use rustix::io::Errno;

use super::objection::{Holder, Objection};
use crate::block::BlockDevice;
use crate::mounts::{Mount, Mounts};
use crate::stack::told_backing;
use crate::{DeviceNumber, Sysroot};

/// What sysfs counts the sizes of devices in.
const SECTOR: Bytes = Bytes(512);

/// A file, whatever its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(super) fn from_metadata(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    fn is_anonymous(self) -> bool {
        DeviceNumber::from_raw(self.device).is_anonymous()
    }
}

/// A file that is to be overwritten, or that lies below a device that is.
#[derive(Clone, Debug)]
pub(super) struct FileInUse {
    /// A path to it, for messages.
    pub(super) path: PathBuf,
    /// Nothing in a laid-out tree, where the path decides.
    pub(super) id: Option<FileId>,
    /// What only a file that is a target itself has.
    pub(super) as_target: Option<TargetFile>,
}

/// What is known of a file that the user named.
#[derive(Clone, Debug)]
pub(super) struct TargetFile {
    pub(super) size: Bytes,
    /// Whether anything was ever written to it.
    pub(super) holds_data: bool,
    /// Whether its numbers may be those of its file system alone.
    is_view: bool,
}

impl FileInUse {
    /// The open regular file `file`, which the user knows as `path`.
    pub(super) fn target(path: &Path, file: &File, holds_data: bool) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let id = FileId::from_metadata(&metadata);
        let is_view = id.is_anonymous() && !has_own_numbers(file);
        let size = Bytes(metadata.len());
        let as_target = Some(TargetFile { size, holds_data, is_view });
        Ok(Self { path: path.to_owned(), id: Some(id), as_target })
    }
}

/// What a loop device goes to.
#[derive(Clone, Debug)]
pub(super) enum Backing<'root> {
    Device(BlockDevice<'root>),
    File {
        path: PathBuf,
        id: Option<FileId>,
        /// Whether its numbers may be those of its file system alone.
        is_view: bool,
        /// Whether it is a simulated card that a program of ours serves.
        is_served_card: bool,
    },
}

/// A loop device in use.
#[derive(Clone, Debug)]
pub(super) struct Loop<'root> {
    pub(super) device: BlockDevice<'root>,
    pub(super) backing: Backing<'root>,
}

/// All loop devices in use.
pub(super) struct Loops<'root> {
    pub(super) known: Vec<Loop<'root>>,
    /// Those that this user may not ask, with what the kernel said of the last.
    unasked: Vec<Unasked>,
    reason: String,
}

/// Which part of what is below it a loop device shows, as sysfs tells everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    /// How large the loop device is; `None` where sysfs does not tell.
    size: Option<Bytes>,
    /// Where it begins in what is below it (`loop/offset` of sysfs).
    offset: Bytes,
    /// Whether it was told to end before its file does (`loop/sizelimit`).
    is_limited: bool,
}

/// A loop device that cannot be asked what it goes to.
#[derive(Clone, Debug)]
struct Unasked {
    node: PathBuf,
    extent: Extent,
}

impl<'root> Loops<'root> {
    /// Asks each of the loop devices that sysfs shows in use.
    ///
    /// # Errors
    /// sysfs does not show its devices.
    pub(super) fn read(root: &'root Sysroot, mounts: &Mounts) -> io::Result<Self> {
        let mut loops = Self { known: Vec::new(), unasked: Vec::new(), reason: String::new() };
        for device in BlockDevice::all(root, "loop")? {
            let Some(path) = device.backing_file() else { continue };
            match backing(root, mounts, &device, &path) {
                Ok(Some(backing)) => loops.known.push(Loop { device, backing }),
                Ok(None) => {}
                Err(error) if is_of_gone_filesystem(&error) => {}
                Err(error) => {
                    loops.reason = in_words(&error);
                    loops.unasked.push(Unasked::from_device(&device));
                    let backing = backing_at(root, mounts, path);
                    loops.known.extend(backing.map(|backing| Loop { device, backing }));
                }
            }
        }
        Ok(loops)
    }

    /// That loop devices which cannot be asked may go to something of one of the `sizes`.
    pub(super) fn unknown(&self, sizes: &[Option<Bytes>]) -> Option<Objection> {
        let may_be_below = |unasked: &&Unasked| {
            sizes.iter().any(|size| size.is_none_or(|size| unasked.extent.may_lie_in(size)))
        };
        let nodes: Vec<PathBuf> =
            self.unasked.iter().filter(may_be_below).map(|unasked| unasked.node.clone()).collect();
        let reason = self.reason.clone();
        (!nodes.is_empty()).then_some(Objection::UnknownLoops { nodes, reason })
    }

    /// What the loop device `device` goes to.
    pub(super) fn backing_of(&self, device: &BlockDevice<'root>) -> Option<&Backing<'root>> {
        self.known
            .iter()
            .find(|looped| looped.device.name() == device.name())
            .map(|looped| &looped.backing)
    }

    /// The loop devices that go to `device`.
    pub(super) fn over_device(
        &self,
        device: &BlockDevice<'root>,
    ) -> impl Iterator<Item = &BlockDevice<'root>> {
        let goes_there = |looped: &&Loop<'root>| match &looped.backing {
            Backing::Device(below) => below.name() == device.name(),
            Backing::File { .. } => false,
        };
        self.known.iter().filter(goes_there).map(|looped| &looped.device)
    }

    /// What the loop devices, but for the one called `but`, say against overwriting `file`.
    pub(super) fn over_file(&self, file: &FileInUse, but: Option<&str>) -> Vec<Objection> {
        let others = self.known.iter().filter(|looped| Some(looped.device.name()) != but);
        others.filter_map(|looped| looped.objection_to(file)).collect()
    }
}

impl Unasked {
    fn from_device(device: &BlockDevice<'_>) -> Self {
        let number = |attribute: &str| {
            device.text(attribute).and_then(|text| text.parse().ok()).map_or(Bytes::ZERO, Bytes)
        };
        let extent = Extent {
            size: device.size(),
            offset: number("loop/offset"),
            is_limited: number("loop/sizelimit") > Bytes::ZERO,
        };
        Self { node: device.node(), extent }
    }
}

impl Extent {
    /// Whether it may be a part of something of `size`: one without a limit reaches to its end, but for
    /// what is less than a sector.
    fn may_lie_in(self, size: Bytes) -> bool {
        let Some(own) = self.size else { return true };
        let Some(left) = size.get().checked_sub(self.offset.get()) else { return false };
        if self.is_limited {
            return own.get() <= left;
        }
        own == Bytes(left).round_down_to(SECTOR)
    }
}

impl Loop<'_> {
    fn objection_to(&self, file: &FileInUse) -> Option<Objection> {
        let Backing::File { path, id, is_view, is_served_card } = &self.backing else {
            return None;
        };
        let is_same = match (file.id, *id) {
            (Some(one), Some(other)) => one == other,
            _ => file.path == *path,
        };
        if is_same {
            let by = Holder::Loop { node: self.device.node() };
            return Some(Objection::Held { node: file.path.clone(), by });
        }
        let target = file.as_target.as_ref()?;
        let may_be = (*is_view || target.is_view)
            && target.holds_data
            && (self.is_as_large(target) || have_one_inode(file.id?, (*id)?));
        let is_served_card = *is_served_card;
        may_be.then(|| Objection::MayBeHeld { node: self.device.node(), is_served_card })
    }

    /// Whether the device is as large as `target`, a file, makes it.
    fn is_as_large(&self, target: &TargetFile) -> bool {
        self.device.size().is_none_or(|size| size == target.size.round_down_to(SECTOR))
    }
}

/// Whether two files of different file systems have one inode, but for the bits that overlay adds at
/// the top.
fn have_one_inode(one: FileId, other: FileId) -> bool {
    let low = |id: FileId| id.inode & u64::from(u32::MAX);
    one.device != other.device && low(one) == low(other)
}

/// What `device` goes to, whose file's path is `path`; nothing where it was detached meanwhile.
fn backing<'root>(
    root: &'root Sysroot,
    mounts: &Mounts,
    device: &BlockDevice<'root>,
    path: &Path,
) -> io::Result<Option<Backing<'root>>> {
    if !root.is_running_system() {
        return Ok(Some(backing_by_path(root, path.to_owned())));
    }
    let Some(told) = told_backing(device)? else { return Ok(None) };
    match told {
        LoopBacking::Device { number } => {
            BlockDevice::by_number(root, DeviceNumber::from_raw(number))
                .map(|below| Some(Backing::Device(below)))
                .ok_or_else(|| io::Error::other("sysfs does not show the device below it"))
        }
        LoopBacking::File { device, inode } => {
            let id = FileId { device, inode };
            Ok(Some(backing_file(path.to_owned(), id, mounts)))
        }
    }
}

/// The file `id`, which may be at `path`, as what a loop device goes to.
fn backing_file<'root>(path: PathBuf, id: FileId, mounts: &Mounts) -> Backing<'root> {
    let is_view = id.is_anonymous() && !has_own_numbers_at(&path, id, mounts);
    let is_served_card = mount_of(id, mounts).is_some_and(is_of_served_card);
    Backing::File { path, id: Some(id), is_view, is_served_card }
}

/// What is at `path`, where sysfs shows the file of a loop device that cannot be asked; nothing where
/// this user cannot see it.
fn backing_at<'root>(
    root: &'root Sysroot,
    mounts: &Mounts,
    path: PathBuf,
) -> Option<Backing<'root>> {
    let found = std::fs::metadata(&path).ok()?;
    if found.file_type().is_block_device() {
        let number = DeviceNumber::from_raw(found.rdev());
        return BlockDevice::by_number(root, number).map(Backing::Device);
    }
    Some(backing_file(path, FileId::from_metadata(&found), mounts))
}

/// Whether `error` says that the file system of a loop device's file has gone: the server of a FUSE mount
/// has ended, or that of a network has forgotten the file. The kernel asks that file system for the
/// numbers, as it does when anybody looks at the file.
fn is_of_gone_filesystem(error: &io::Error) -> bool {
    let gone = [Errno::NOTCONN, Errno::CONNABORTED, Errno::STALE, Errno::HOSTDOWN, Errno::SHUTDOWN];
    error.raw_os_error().is_some_and(|code| gone.iter().any(|errno| errno.raw_os_error() == code))
}

/// A laid-out tree has no kernel to ask.
fn backing_by_path(root: &Sysroot, path: PathBuf) -> Backing<'_> {
    match BlockDevice::by_node(root, &path) {
        Some(below) => Backing::Device(below),
        None => Backing::File { path, id: None, is_view: false, is_served_card: false },
    }
}

/// Whether the file system of the file `id`, which may be at `path`, shows files of its own only.
fn has_own_numbers_at(path: &Path, id: FileId, mounts: &Mounts) -> bool {
    let is_there = std::fs::symlink_metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && FileId::from_metadata(&metadata) == id);
    if is_there && let Ok(filesystem) = rustix::fs::statfs(path) {
        return OWN_NUMBERS.iter().any(|own| is_magic(&filesystem, own.magic));
    }
    mount_of(id, mounts).is_some_and(|mount| OWN_NUMBERS.iter().any(|own| own.name == mount.kind))
}

/// The mounted file system of the file `id`.
fn mount_of(id: FileId, mounts: &Mounts) -> Option<&Mount> {
    let number = DeviceNumber::from_raw(id.device);
    mounts.iter().find(|mount| mount.device == number)
}

/// Whether the file system of `file` shows files of its own only.
fn has_own_numbers(file: impl AsFd) -> bool {
    rustix::fs::fstatfs(file)
        .is_ok_and(|status| OWN_NUMBERS.iter().any(|own| is_magic(&status, own.magic)))
}

fn is_magic(filesystem: &rustix::fs::StatFs, magic: u32) -> bool {
    // The type's width and sign differ between machines; the numbers have 32 bits on all of them.
    filesystem.f_type as u32 == magic
}

/// Whether a program of ours serves a simulated card there.
fn is_of_served_card(mount: &Mount) -> bool {
    mount.kind.starts_with("fuse") && mount.source == Path::new("cardproof")
}

/// A file system without a block device of its own number.
struct OwnNumbers {
    name: &'static str,
    /// Of statfs(2) and `linux/magic.h`.
    magic: u32,
}

/// The file systems with anonymous device numbers on which a file is nobody else's under other
/// numbers. Overlay, FUSE and network file systems are not among them.
const OWN_NUMBERS: [OwnNumbers; 6] = [
    OwnNumbers { name: "tmpfs", magic: 0x0102_1994 },
    OwnNumbers { name: "ramfs", magic: 0x8584_58f6 },
    OwnNumbers { name: "btrfs", magic: 0x9123_683e },
    OwnNumbers { name: "zfs", magic: 0x2fc1_2fc1 },
    OwnNumbers { name: "ubifs", magic: 0x2405_1905 },
    OwnNumbers { name: "bcachefs", magic: 0xca45_1a4e },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_device_that_cannot_be_asked_may_lie_only_in_what_fits() {
        let whole = Extent { size: Some(Bytes(4096)), offset: Bytes::ZERO, is_limited: false };
        let behind = Extent { offset: Bytes(1024), ..whole };
        let limited = Extent { is_limited: true, ..whole };
        let unknown = Extent { size: None, ..whole };
        for (extent, size, expected) in [
            (whole, 4096, true),
            (whole, 4600, true),
            (whole, 4608, false),
            (whole, 4095, false),
            (whole, 0, false),
            (behind, 4096, false),
            (behind, 5120, true),
            (behind, 512, false),
            (limited, 4095, false),
            (limited, 1 << 40, true),
            (unknown, 1, true),
        ] {
            assert_eq!(extent.may_lie_in(Bytes(size)), expected, "{extent:?} in {size}");
        }
    }

    #[test]
    fn a_file_system_that_has_gone_is_told_from_missing_permission() {
        let of = |errno: Errno| is_of_gone_filesystem(&errno.into());
        assert!([Errno::NOTCONN, Errno::STALE, Errno::CONNABORTED].into_iter().all(of));
        assert!(![Errno::ACCESS, Errno::PERM, Errno::NOENT, Errno::IO].into_iter().any(of));
    }
}
