//! File systems that stand between an operation and the storage.
//!
//! A verdict is about the storage, so a file system that answers from memory, moves data instead
//! of overwriting it, or hands operations to another cache forbids one. Its figures may still be
//! true of the system as it is used.

use cardproof_record::{FilesystemInfo, Warning, WarningCause};

/// The doubt that the file system alone raises, if any.
pub(crate) fn doubt(filesystem: &FilesystemInfo) -> Option<Warning> {
    let has = |option: &str| filesystem.options.iter().any(|given| given == option);
    let kind = filesystem.kind.as_str();
    let name = || kind.to_owned();
    let cause = match kind {
        "tmpfs" | "ramfs" => WarningCause::FilesInMemory { filesystem: name() },
        "overlay" => WarningCause::OverlayFilesystem,
        "btrfs" if has("nodatacow") => return None,
        "bcachefs" if has("nocow") => return None,
        "btrfs" | "bcachefs" | "zfs" | "nilfs2" => WarningCause::NotInPlace { filesystem: name() },
        "f2fs" if has("mode=lfs") || compresses(filesystem) => WarningCause::F2fsNotInPlace,
        "nfs" | "nfs4" | "cifs" | "smb3" | "9p" | "virtiofs" | "ceph" => {
            WarningCause::ServedBySystem { filesystem: name() }
        }
        _ if kind == "fuseblk" || kind == "fuse" || kind.starts_with("fuse.") => {
            WarningCause::ServedByProgram { filesystem: name() }
        }
        _ => return None,
    };
    Some(cause.into())
}

fn compresses(filesystem: &FilesystemInfo) -> bool {
    filesystem.options.iter().any(|option| option.starts_with("compress_"))
}

#[cfg(test)]
mod tests {
    use cardproof_record::WarningCode;

    use super::*;

    fn code(kind: &str, options: &[&str]) -> Option<WarningCode> {
        let filesystem = FilesystemInfo {
            kind: kind.to_owned(),
            options: options.iter().map(|&option| option.to_owned()).collect(),
            ..FilesystemInfo::default()
        };
        doubt(&filesystem).map(|warning| warning.code)
    }

    #[test]
    fn file_systems_that_hide_the_storage_are_doubted() {
        use WarningCode::{Buffered, CopyOnWrite, Memory};
        let cases: [(&str, &[&str], Option<WarningCode>); 14] = [
            ("ext4", &["rw"], None),
            ("vfat", &[], None),
            ("exfat", &[], None),
            ("xfs", &["rw"], None),
            ("tmpfs", &[], Some(Memory)),
            ("overlay", &[], Some(CopyOnWrite)),
            ("btrfs", &["rw", "compress=zstd:1"], Some(CopyOnWrite)),
            ("btrfs", &["nodatacow"], None),
            ("zfs", &[], Some(CopyOnWrite)),
            ("f2fs", &["mode=adaptive"], None),
            ("f2fs", &["compress_algorithm=lz4"], Some(CopyOnWrite)),
            ("f2fs", &["mode=lfs"], Some(CopyOnWrite)),
            ("nfs4", &[], Some(Buffered)),
            ("fuse.sshfs", &[], Some(Buffered)),
        ];
        for (kind, options, expected) in cases {
            assert_eq!(code(kind, options), expected, "{kind} {options:?}");
        }
    }
}
