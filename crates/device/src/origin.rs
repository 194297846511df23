//! Whether what is read comes from the storage: the device at the bottom must have counted the reads.
//!
//! Between a program and a card may lie the page cache of a file system, that of a device which a FUSE
//! daemon reads through, that of a loop device's file, or no card at all. Each of them answers from memory
//! what was just written, and a card that has kept nothing looks genuine. So the caches are emptied as far
//! as this user may, and the counters of the lowest device (`/sys/block/NAME/stat`, Documentation/block/stat.rst)
//! are compared with what was read. This module asks and judges nothing.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use cardproof_io::LoopBacking;
use cardproof_record::{OriginDoubt, ReadOrigin, Transport};
use cardproof_units::Bytes;

use crate::block::BlockDevice;
use crate::device::LAYERS_MAX;
use crate::mounts::Mounts;
use crate::stack::{Storage, told_backing};
use crate::transport::transport_of;
use crate::{DeviceNumber, Sysroot};

/// What a sector of the counters is.
const SECTOR: u64 = 512;

/// How far the kernel may read ahead of the program: reads that it has counted earlier are those of a later
/// part.
const AHEAD_MAX: u64 = 16 << 20;

/// The reads of a test, watched from its first to its last.
#[derive(Debug)]
pub struct ReadWitness {
    root: Sysroot,
    target: PathBuf,
    origin: ReadOrigin,
    /// The counters of the device, and the sectors that it had read when it was last asked.
    counted: Option<(PathBuf, u64)>,
    /// What the device has read ahead.
    ahead: u64,
}

impl ReadWitness {
    /// Watches the reads of the directory, file or block device at `target` from here on. What was written
    /// is brought to the device, and the caches of the devices below are emptied, as far as this user may.
    #[must_use]
    pub fn begin(root: &Sysroot, target: &Path) -> Self {
        let way = Way::down(root, target);
        way.empty_caches();
        let (counted, doubt) = match way.counters() {
            // What lies in the cache of its file the loop device gives back without any device.
            Ok(_) if way.has_cached_loop => (None, Some(OriginDoubt::CachedLoop)),
            Ok(counted) => (Some(counted), None),
            Err(doubt) => (None, Some(doubt)),
        };
        let origin = ReadOrigin { doubt, ..ReadOrigin::default() };
        Self { root: root.clone(), target: target.to_owned(), origin, counted, ahead: 0 }
    }

    /// Notes that `read` were read since the last note. So what others read at another time counts for
    /// nothing.
    pub fn note(&mut self, read: Bytes) {
        self.origin.read_bytes += read;
        let Some((counters, before)) = self.counted.take() else { return };
        let now = match sectors_read(&self.root, &counters) {
            Ok(now) => Ok((counters, now)),
            // It was plugged in again, under another name.
            Err(_) => Way::down(&self.root, &self.target).counters(),
        };
        let Ok((counters, now)) = now else { return };
        // A device that was plugged in again counts from the beginning.
        let grown = now.checked_sub(before).unwrap_or(now).saturating_mul(SECTOR);
        self.counted = Some((counters, now));
        let all = self.ahead.saturating_add(grown);
        let shown = all.min(read.get());
        self.ahead = (all - shown).min(AHEAD_MAX);
        self.origin.from_device_bytes += Bytes(shown);
    }

    /// What the counters have shown.
    #[must_use]
    pub fn end(self) -> ReadOrigin {
        self.origin
    }
}

/// The lowest device below the directory, file or block device `target`, as far as it is known.
pub(crate) fn lowest_device(root: &Sysroot, target: &Path) -> Option<DeviceNumber> {
    Way::down(root, target).bottom.ok()?.number()
}

/// The way from a target down to the device that counts.
struct Way<'root> {
    /// The devices on the way, the file system's own first.
    devices: Vec<BlockDevice<'root>>,
    /// The lowest one, or why there is none.
    bottom: Result<BlockDevice<'root>, OriginDoubt>,
    /// Whether a loop device on the way reads its file through the page cache.
    has_cached_loop: bool,
}

impl<'root> Way<'root> {
    fn down(root: &'root Sysroot, target: &Path) -> Self {
        let mut way = Self::new();
        let Ok(mounts) = Mounts::read(root) else { return way };
        way.bottom = way.first(root, target, &mounts).and_then(|first| way.below(first, &mounts));
        way
    }

    const fn new() -> Self {
        let bottom = Err(OriginDoubt::HiddenDevice);
        Self { devices: Vec::new(), bottom, has_cached_loop: false }
    }

    /// The lowest device below `here`.
    fn below(
        &mut self,
        mut here: Storage<'root>,
        mounts: &Mounts,
    ) -> Result<BlockDevice<'root>, OriginDoubt> {
        let mut direct_loop = None;
        for _ in 0..=LAYERS_MAX {
            let device = match here {
                // A loop device that passes the page cache by has what it holds from its file alone, so the
                // file is its storage, even where that lies in memory.
                Storage::Memory if !self.has_cached_loop => {
                    return direct_loop.ok_or(OriginDoubt::Memory);
                }
                Storage::Memory => return Err(OriginDoubt::Memory),
                Storage::Several(_) => return Err(OriginDoubt::SeveralDevices),
                Storage::Device(device) => device,
            };
            if matches!(transport_of(&device), Some(Transport::Ram | Transport::Zram)) {
                return Err(OriginDoubt::Memory);
            }
            let below = Storage::below(&device, mounts);
            let is_loop = device.backing_file().is_some();
            let is_cached = is_loop && device.switch("loop/dio") != Some(true);
            self.has_cached_loop |= is_cached;
            self.devices.push(device.clone());
            direct_loop = (is_loop && !is_cached).then(|| device.clone());
            here = match below {
                Some(below) => below,
                None if !is_loop => return Ok(device),
                // A program that serves the file of a loop device is the storage, as far as can be told.
                None if !is_cached && is_over_served_file(&device, mounts) => return Ok(device),
                None if is_cached => return Err(OriginDoubt::CachedLoop),
                None => return Err(OriginDoubt::HiddenDevice),
            };
        }
        Err(OriginDoubt::HiddenDevice)
    }

    /// What the target itself is on.
    fn first(
        &mut self,
        root: &'root Sysroot,
        target: &Path,
        mounts: &Mounts,
    ) -> Result<Storage<'root>, OriginDoubt> {
        let hidden = OriginDoubt::HiddenDevice;
        let real = fs::canonicalize(target).map_err(|_| hidden)?;
        let found = fs::metadata(&real).map_err(|_| hidden)?;
        if found.file_type().is_block_device() {
            let number = DeviceNumber::from_raw(found.rdev());
            let device = BlockDevice::by_number(root, number).ok_or(hidden)?;
            self.devices.push(device.clone());
            return Ok(Storage::Device(device.whole()));
        }
        let number = DeviceNumber::from_raw(found.dev());
        // A daemon of FUSE reads through the cache of the partition itself.
        self.devices.extend(BlockDevice::by_number(root, number));
        let mount = mounts.holding(&real, number).ok_or(hidden)?;
        self.devices.extend(BlockDevice::by_node(root, &mount.source));
        Storage::of_mount(root, mount).ok_or(hidden)
    }

    /// The counters of the lowest device, and what it has read since it appeared.
    fn counters(&self) -> Result<(PathBuf, u64), OriginDoubt> {
        let device = self.bottom.as_ref().map_err(|doubt| *doubt)?;
        if device.switch("queue/iostats") == Some(false) {
            return Err(OriginDoubt::NoCounters);
        }
        let counters = device.directory().join("stat");
        let sectors = sectors_read(device.root(), &counters)?;
        Ok((counters, sectors))
    }

    /// Brings what was written to the devices, and lets the kernel forget what it keeps of them. Without
    /// root nothing is forgotten, and the counters show that.
    fn empty_caches(&self) {
        for device in &self.devices {
            let Some(number) = device.number() else { continue };
            let is_it = |found: &fs::Metadata| {
                found.file_type().is_block_device()
                    && DeviceNumber::from_raw(found.rdev()) == number
            };
            if let Ok(file) = File::open(device.node())
                && file.metadata().is_ok_and(|found| is_it(&found))
            {
                forget(&file);
            }
        }
    }
}

/// Writes back what the kernel keeps of `file`, and forgets it.
fn forget(file: &File) {
    // What cannot be written or forgotten shows in the counters.
    let _ = file.sync_all();
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
}

/// Whether the file of the loop device `device` lies on a file system that a program serves.
fn is_over_served_file(device: &BlockDevice<'_>, mounts: &Mounts) -> bool {
    let Ok(Some(LoopBacking::File { device: on, .. })) = told_backing(device) else {
        return false;
    };
    let number = DeviceNumber::from_raw(on);
    mounts.iter().any(|mount| mount.device == number && mount.kind.starts_with("fuse"))
}

/// How many sectors the device with the `counters` has read since it appeared.
fn sectors_read(root: &Sysroot, counters: &Path) -> Result<u64, OriginDoubt> {
    let line = root.text(counters).ok_or(OriginDoubt::NoCounters)?;
    let sectors = line.split_ascii_whitespace().nth(2).and_then(|word| word.parse().ok());
    sectors.ok_or(OriginDoubt::NoCounters)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with a card, a memory disk, and loop devices, of which a laid-out tree tells the path.
    fn machine() -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = tree.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("proc/self/mountinfo", "21 1 179:0 / / rw - ext4 /dev/mmcblk0 rw\n");
        for (name, number) in [("mmcblk0", "179:0"), ("zram0", "252:0"), ("loop0", "7:0")] {
            put(&format!("sys/devices/{name}/dev"), number);
            put(&format!("sys/devices/{name}/stat"), "1 0 100 0 0 0 0 0 0 0 0");
            let link = tree.path().join(format!("sys/dev/block/{number}"));
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(format!("../../devices/{name}"), link).unwrap();
        }
        tree
    }

    fn witness(tree: &Path, name: &str) -> ReadWitness {
        let root = Sysroot::new(tree);
        let counters = PathBuf::from(format!("sys/devices/{name}/stat"));
        let counted = sectors_read(&root, &counters).ok().map(|sectors| (counters, sectors));
        let target = PathBuf::from("/nowhere");
        ReadWitness { root, target, origin: ReadOrigin::default(), counted, ahead: 0 }
    }

    fn counts(tree: &Path, sectors: u64) {
        let line = format!("1 0 {sectors} 0 0 0 0 0 0 0 0\n");
        fs::write(tree.join("sys/devices/mmcblk0/stat"), line).unwrap();
    }

    #[test]
    fn reads_that_the_device_has_not_counted_are_not_shown() {
        let tree = machine();
        let mut witness = witness(tree.path(), "mmcblk0");
        let mib = Bytes::mib(1);
        counts(tree.path(), 100 + 2048);
        witness.note(mib);
        // From memory.
        witness.note(mib);
        let origin = witness.end();
        assert_eq!((origin.read_bytes, origin.from_device_bytes), (Bytes::mib(2), mib));
        assert!(!origin.is_shown());
    }

    #[test]
    fn what_the_kernel_reads_ahead_counts_and_what_others_read_does_not() {
        let tree = machine();
        let mut witness = witness(tree.path(), "mmcblk0");
        // Three parts are read with the first; another program reads 64 MiB with the fourth.
        counts(tree.path(), 100 + 3 * 2048);
        (0..3).for_each(|_| witness.note(Bytes::mib(1)));
        assert!(witness.origin.is_shown());
        counts(tree.path(), 100 + (3 + 64) * 2048);
        witness.note(Bytes::mib(1));
        (0..100).for_each(|_| witness.note(Bytes::mib(1)));
        let origin = witness.end();
        assert_eq!(origin.from_device_bytes, Bytes::mib(3 + 1 + 16));
        assert!(!origin.is_shown());
    }

    #[test]
    fn a_device_that_counts_from_the_beginning_again_is_followed() {
        let tree = machine();
        let mut witness = witness(tree.path(), "mmcblk0");
        counts(tree.path(), 64);
        witness.note(Bytes::kib(32));
        assert!(witness.end().is_shown());
    }

    #[test]
    fn memory_is_no_storage() {
        let tree = machine();
        let root = Sysroot::new(tree.path());
        let mounts = Mounts::read(&root).unwrap();
        for (number, bottom) in [("179:0", Ok("mmcblk0")), ("252:0", Err(OriginDoubt::Memory))] {
            let device = BlockDevice::by_number(&root, number.parse().unwrap()).unwrap();
            let mut way = Way::new();
            let found = way.below(Storage::Device(device), &mounts);
            let name = found.as_ref().map(BlockDevice::name).map_err(|doubt| *doubt);
            assert_eq!(name, bottom, "{number}");
        }
    }
}
