//! A block device as sysfs shows it: its name, its whole device, its partitions, what lies over
//! and under it.
//!
//! A device is found by its number (`/sys/dev/block/MAJOR:MINOR`) or its name
//! (`/sys/class/block/NAME`); both lead to one directory below `/sys/devices`, whose parents are
//! the buses it hangs on. Everything else in this crate starts from that directory.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cardproof_units::Bytes;

use crate::mounts::below_dev;
use crate::{DeviceNumber, Sysroot};

/// sysfs counts in these, whatever the device's own block size is.
const SECTOR: u64 = 512;

/// A block device that sysfs knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockDevice<'root> {
    root: &'root Sysroot,
    /// Its directory, below the root, without links.
    directory: PathBuf,
    /// Its name in sysfs.
    name: String,
}

impl<'root> BlockDevice<'root> {
    pub(crate) fn by_number(root: &'root Sysroot, number: DeviceNumber) -> Option<Self> {
        Self::in_directory(root, &format!("sys/dev/block/{number}"))
    }

    pub(crate) fn by_name(root: &'root Sysroot, name: &str) -> Option<Self> {
        if name.is_empty() || name.starts_with('.') || name.contains('/') {
            return None;
        }
        Self::in_directory(root, &format!("sys/class/block/{name}"))
    }

    /// The device behind `node`, a path such as `/dev/sda1` or `/dev/mapper/home`.
    pub(crate) fn by_node(root: &'root Sysroot, node: &Path) -> Option<Self> {
        let name = below_dev(node)?;
        if let Some(number) = root.node(node) {
            return Self::by_number(root, number);
        }
        match name.strip_prefix("mapper/") {
            Some(label) => Self::mapped_as(root, label),
            None => Self::by_name(root, &name.replace('/', "!")),
        }
    }

    /// The device-mapper device that its owner called `label`.
    fn mapped_as(root: &'root Sysroot, label: &str) -> Option<Self> {
        let names = root.list("sys/class/block").ok()?;
        names
            .iter()
            .filter(|name| name.starts_with("dm-"))
            .filter_map(|name| Self::by_name(root, name))
            .find(|device| device.text("dm/name").as_deref() == Some(label))
    }

    fn in_directory(root: &'root Sysroot, link: &str) -> Option<Self> {
        let directory = root.resolve(link)?;
        let name = directory.file_name()?.to_str()?.to_owned();
        directory.starts_with("sys").then_some(Self { root, directory, name })
    }

    /// Its name in sysfs, such as `mmcblk0p2`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where its node is, by the kernel's rule.
    pub(crate) fn node(&self) -> PathBuf {
        node_of(&self.name)
    }

    /// What the kernel counts of it: the fields of `stat` (Documentation/block/stat.rst).
    pub(crate) fn counters(&self) -> Option<Vec<u64>> {
        self.text("stat")?.split_ascii_whitespace().map(|word| word.parse().ok()).collect()
    }

    pub(crate) fn root(&self) -> &'root Sysroot {
        self.root
    }

    /// Its directory below the root.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its directory and all those above it, nearest first, up to `/sys/devices`.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = &Path> {
        self.directory.ancestors().take_while(|path| path.components().count() > 2)
    }

    pub(crate) fn text(&self, attribute: &str) -> Option<String> {
        self.root.text(self.directory.join(attribute))
    }

    pub(crate) fn has(&self, attribute: &str) -> bool {
        self.root.has(self.directory.join(attribute))
    }

    pub(crate) fn switch(&self, attribute: &str) -> Option<bool> {
        self.root.switch(self.directory.join(attribute))
    }

    pub(crate) fn number(&self) -> Option<DeviceNumber> {
        self.root.number(self.directory.join("dev"))
    }

    pub(crate) fn size(&self) -> Option<Bytes> {
        let sectors: u64 = self.root.number(self.directory.join("size"))?;
        sectors.checked_mul(SECTOR).map(Bytes)
    }

    pub(crate) fn is_partition(&self) -> bool {
        self.has("partition")
    }

    /// The device that this is a partition of, or this one.
    pub(crate) fn whole(&self) -> Self {
        if !self.is_partition() {
            return self.clone();
        }
        let parent = self.directory.parent().and_then(|directory| {
            let name = directory.file_name()?.to_str()?.to_owned();
            Some(Self { root: self.root, directory: directory.to_owned(), name })
        });
        parent.filter(|parent| parent.has("dev")).unwrap_or_else(|| self.clone())
    }

    /// The partitions that the kernel knows on this device.
    pub(crate) fn partitions(&self) -> Vec<Self> {
        let names = self.root.list(&self.directory).unwrap_or_default();
        names
            .into_iter()
            .filter(|name| self.has(&format!("{name}/partition")))
            .map(|name| Self { root: self.root, directory: self.directory.join(&name), name })
            .collect()
    }

    /// The devices made of this one, such as a volume or an array.
    pub(crate) fn holders(&self) -> Vec<Self> {
        self.linked("holders")
    }

    /// The devices that this one is made of.
    pub(crate) fn slaves(&self) -> Vec<Self> {
        self.linked("slaves")
    }

    fn linked(&self, directory: &str) -> Vec<Self> {
        let names = self.root.list(self.directory.join(directory)).unwrap_or_default();
        names.iter().filter_map(|name| Self::by_name(self.root, name)).collect()
    }

    /// The file or device behind a loop device, as the kernel writes it: without escapes.
    pub(crate) fn backing_file(&self) -> Option<PathBuf> {
        let bytes = self.root.bytes(self.directory.join("loop/backing_file")).ok()?;
        let path = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        (!path.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(path)))
    }

    /// All devices whose name begins with `prefix`.
    pub(crate) fn all(root: &'root Sysroot, prefix: &str) -> std::io::Result<Vec<Self>> {
        let names = root.list("sys/class/block")?;
        let named = names.iter().filter(|name| name.starts_with(prefix));
        Ok(named.filter_map(|name| Self::by_name(root, name)).collect())
    }
}

/// Where the node of the device called `name` is.
pub(crate) fn node_of(name: &str) -> PathBuf {
    Path::new("/dev").join(name.replace('!', "/"))
}
