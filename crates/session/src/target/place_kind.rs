//! Directories that lie on no storage device: what the kernel shows there is made up or kept in memory.

use std::path::Path;

use cardproof_device::Surroundings;

use crate::failure::Failure;

/// File systems that keep files in memory.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// File systems that keep no files: the kernel makes up what they show.
const MADE_UP: [&str; 12] = [
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "cgroup",
    "cgroup2",
    "debugfs",
    "tracefs",
    "securityfs",
    "configfs",
    "bpf",
    "mqueue",
];

/// What a directory lies on, where that is no storage device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoStorage {
    /// Memory.
    Memory,
    /// Nothing: the kernel makes up its files.
    MadeUp,
}

impl NoStorage {
    /// What the file system of `surroundings` lies on; `None` for a storage device, and where it is not
    /// known.
    #[must_use]
    pub fn find(surroundings: &Surroundings) -> Option<Self> {
        let kind = surroundings.filesystem.as_ref()?.kind.as_str();
        if IN_MEMORY.contains(&kind) {
            Some(Self::Memory)
        } else {
            MADE_UP.contains(&kind).then_some(Self::MadeUp)
        }
    }

    /// That the directory `path` cannot be tested.
    #[must_use]
    pub fn refusal(self, path: &Path) -> Failure {
        let why = match self {
            Self::Memory => "is in memory (tmpfs)",
            Self::MadeUp => "holds no files of a disk",
        };
        Failure::usage(format!(
            "{} {why}, so there is no storage to test; name a directory on the card (`lsblk` shows where it \
             is mounted)",
            path.display()
        ))
    }
}

#[cfg(test)]
mod tests {
    use cardproof_record::FilesystemInfo;

    use super::*;

    #[test]
    fn memory_and_what_the_kernel_makes_up_are_no_storage() {
        for (kind, expected) in [
            ("tmpfs", Some(NoStorage::Memory)),
            ("proc", Some(NoStorage::MadeUp)),
            ("cgroup2", Some(NoStorage::MadeUp)),
            ("ext4", None),
            ("overlay", None),
        ] {
            let kind = kind.to_owned();
            let filesystem = Some(FilesystemInfo { kind, ..FilesystemInfo::default() });
            let found = NoStorage::find(&Surroundings { filesystem, ..Surroundings::default() });
            assert_eq!(found, expected);
        }
    }
}
