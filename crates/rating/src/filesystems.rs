//! File systems that stand between an operation and the storage.
//!
//! A verdict is about the storage, so a file system that answers from memory, moves data instead
//! of overwriting it, or hands operations to another cache forbids one. Its figures may still be
//! true of the system as it is used.

use cardproof_record::{FilesystemInfo, Warning, WarningCode};

/// The doubt that the file system alone raises, if any.
pub(crate) fn doubt(filesystem: &FilesystemInfo) -> Option<Warning> {
    let has = |option: &str| filesystem.options.iter().any(|given| given == option);
    let kind = filesystem.kind.as_str();
    let warning = |code, message: String| Some(Warning { code, message });
    match kind {
        "tmpfs" | "ramfs" => warning(
            WarningCode::Memory,
            format!("{kind} keeps its files in memory, so no storage was measured"),
        ),
        "overlay" => warning(
            WarningCode::CopyOnWrite,
            "the target is on an overlay file system; its storage is unknown and may be memory (as \
             on a Raspberry Pi with the overlay file system switched on)"
                .to_owned(),
        ),
        "btrfs" if has("nodatacow") => None,
        "bcachefs" if has("nocow") => None,
        "btrfs" | "bcachefs" | "zfs" | "nilfs2" => warning(
            WarningCode::CopyOnWrite,
            format!(
                "{kind} does not overwrite blocks in place, so the storage sees other writes than \
                 this run issues"
            ),
        ),
        "f2fs" if has("mode=lfs") || compresses(filesystem) => warning(
            WarningCode::CopyOnWrite,
            "f2fs with these mount options compresses, or does not overwrite blocks in place"
                .to_owned(),
        ),
        "nfs" | "nfs4" | "cifs" | "smb3" | "9p" | "virtiofs" | "ceph" => warning(
            WarningCode::Buffered,
            format!("{kind} is served by another system, so the result includes its cache"),
        ),
        _ if kind == "fuseblk" || kind == "fuse" || kind.starts_with("fuse.") => warning(
            WarningCode::Buffered,
            format!("{kind} is served by a program, which may use the page cache itself"),
        ),
        _ => None,
    }
}

fn compresses(filesystem: &FilesystemInfo) -> bool {
    filesystem.options.iter().any(|option| option.starts_with("compress_"))
}

#[cfg(test)]
mod tests {
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
