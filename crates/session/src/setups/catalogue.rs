//! What is compared: file systems with their options, and what each costs in safety.
//!
//! Facts of the file systems are from the kernel's documentation (Documentation/filesystems: ext4,
//! f2fs, xfs, btrfs, vfat, nilfs2) and from the manual pages of their mkfs programs.

use std::ffi::CStr;

use cardproof_units::Bytes;

/// A file system with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    /// Its name here, such as `ext4-noatime`.
    pub(super) name: &'static str,
    /// The kernel's name of the file system.
    pub(super) filesystem: &'static str,
    /// The program that makes it, and the Debian package with that.
    pub(super) maker: (&'static str, &'static str),
    /// The program's options.
    pub(super) make: &'static [&'static str],
    /// Options of the mount.
    pub(super) mount: &'static CStr,
    /// No access times are kept.
    pub(super) no_access_times: bool,
    /// The smallest device that its maker accepts.
    pub(super) size_min: Bytes,
    /// What it costs in safety or otherwise, in words.
    pub(super) costs: &'static str,
    /// Who it is for.
    pub(super) for_whom: ForWhom,
}

/// Who a setup is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForWhom {
    /// Any use, a system's own file system included.
    Anything,
    /// Pictures, music, exchange: it has no owners, rights or links, so no system can be on it.
    StorageOnly,
    /// Nobody with data that matter; measured to show what safety costs.
    Nobody,
}

/// Lazy initialisation would go on writing behind a measurement.
const EXT4: &[&str] = &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"];

const EXT4_DEFAULT: Setup = Setup {
    name: BASELINE,
    filesystem: "ext4",
    maker: ("mkfs.ext4", "e2fsprogs"),
    make: EXT4,
    mount: c"",
    no_access_times: false,
    size_min: Bytes::mib(16),
    costs: "what most systems have: after a crash the journal makes it sound, and what was not \
            synced in the last 5 seconds or so is lost",
    for_whom: ForWhom::Anything,
};

/// The setup that all others are compared with.
pub(super) const BASELINE: &str = "ext4";

/// All setups, the baseline first.
pub(super) const SETUPS: &[Setup] = &[
    EXT4_DEFAULT,
    Setup {
        name: "ext4-commit60",
        mount: c"commit=60",
        costs: "after a crash what was not synced in the last minute is lost, instead of in the \
                last 5 seconds",
        ..EXT4_DEFAULT
    },
    Setup {
        name: "ext4-noatime",
        no_access_times: true,
        costs: "no times of last reading, which next to nothing needs",
        ..EXT4_DEFAULT
    },
    Setup {
        name: "ext4-fast_commit",
        make: &[
            "-q",
            "-F",
            "-O",
            "fast_commit",
            "-E",
            "lazy_itable_init=0,lazy_journal_init=0,nodiscard",
        ],
        costs: "needs Linux 5.10 and e2fsprogs 1.46; young beside the rest of ext4",
        ..EXT4_DEFAULT
    },
    Setup {
        name: "ext4-no-journal",
        make: &["-q", "-F", "-O", "^has_journal", "-E", "lazy_itable_init=0,nodiscard"],
        costs: "after a crash it must be checked as a whole, and files or whole directories can be \
                lost",
        for_whom: ForWhom::Nobody,
        ..EXT4_DEFAULT
    },
    Setup {
        name: "f2fs",
        filesystem: "f2fs",
        maker: ("mkfs.f2fs", "f2fs-tools"),
        make: &["-q", "-f", "-t", "0"],
        size_min: Bytes::mib(100),
        costs: "sound after a crash by its checkpoints; fewer tools to repair it than for ext4, and \
                slower when nearly full",
        ..EXT4_DEFAULT
    },
    Setup {
        name: "xfs",
        filesystem: "xfs",
        maker: ("mkfs.xfs", "xfsprogs"),
        make: &["-q", "-f", "-K"],
        size_min: Bytes::mib(300),
        costs: "sound after a crash by its journal; cannot be made smaller",
        ..EXT4_DEFAULT
    },
    Setup {
        name: "btrfs",
        filesystem: "btrfs",
        maker: ("mkfs.btrfs", "btrfs-progs"),
        make: &["-q", "-f", "-K"],
        size_min: Bytes::mib(128),
        costs: "finds damaged data by checksums and never overwrites in place, so it writes more",
        ..EXT4_DEFAULT
    },
    Setup {
        name: "btrfs-zstd",
        filesystem: "btrfs",
        maker: ("mkfs.btrfs", "btrfs-progs"),
        make: &["-q", "-f", "-K"],
        mount: c"compress=zstd",
        size_min: Bytes::mib(128),
        costs: "as btrfs, and the processor compresses: data that can be compressed is written in \
                fewer bytes, other data is not",
        ..EXT4_DEFAULT
    },
    Setup {
        name: "vfat",
        filesystem: "vfat",
        maker: ("mkfs.vfat", "dosfstools"),
        // As every card above 2 GB has it.
        make: &["-F", "32", "-I"],
        size_min: Bytes::mib(64),
        costs: "no journal, so a crash can lose files and damage others; no owners, rights or \
                links; files below 4 GiB",
        for_whom: ForWhom::StorageOnly,
        ..EXT4_DEFAULT
    },
    Setup {
        name: "exfat",
        filesystem: "exfat",
        maker: ("mkfs.exfat", "exfatprogs"),
        make: &[],
        size_min: Bytes::mib(16),
        costs: "no journal and a single table of what is used, so a crash can lose files; no \
                owners, rights or links",
        for_whom: ForWhom::StorageOnly,
        ..EXT4_DEFAULT
    },
    Setup {
        name: "nilfs2",
        filesystem: "nilfs2",
        maker: ("mkfs.nilfs2", "nilfs-tools"),
        make: &["-q", "-f", "-K", "-B", "256"],
        size_min: Bytes::mib(128),
        costs: "sound after a crash, as it only ever appends; needs its cleaner running beside, \
                which was not, and few use it",
        ..EXT4_DEFAULT
    },
];

/// The setup called `name`.
pub(super) fn find(name: &str) -> Option<&'static Setup> {
    SETUPS.iter().find(|setup| setup.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_one_setup_each_and_the_baseline_is_first() {
        assert_eq!(SETUPS[0].name, BASELINE);
        for setup in SETUPS {
            assert_eq!(find(setup.name), Some(setup));
            assert!(setup.name.starts_with(setup.filesystem));
        }
        assert_eq!(find("ntfs"), None);
    }

    #[test]
    fn a_setup_that_can_lose_data_is_not_recommended() {
        let nobody: Vec<_> =
            SETUPS.iter().filter(|setup| setup.for_whom == ForWhom::Nobody).collect();
        assert_eq!(nobody.len(), 1);
        assert_eq!(nobody[0].name, "ext4-no-journal");
    }
}
