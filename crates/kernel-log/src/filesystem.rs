//! Messages of file systems about errors of what they read and write.

use super::event::{Cause, EventKind, Filesystem};
use super::name;
use crate::text::word_after;

/// How each driver begins its messages. The device stands in brackets.
const DRIVERS: [(&str, Filesystem); 12] = [
    ("EXT4-fs", Filesystem::Ext4),
    ("EXT3-fs", Filesystem::Ext4),
    ("EXT2-fs", Filesystem::Ext4),
    ("F2FS-fs", Filesystem::F2fs),
    ("BTRFS", Filesystem::Btrfs),
    ("XFS", Filesystem::Xfs),
    ("FAT-fs", Filesystem::Fat),
    ("exFAT-fs", Filesystem::Exfat),
    ("exfat-fs", Filesystem::Exfat),
    ("ntfs3", Filesystem::Ntfs),
    ("NTFS-fs", Filesystem::Ntfs),
    ("SQUASHFS", Filesystem::Squashfs),
];

/// The event in a message of a file system or of its journal.
pub(super) fn event(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    of_journal(message).or_else(|| of_driver(message))
}

/// What ext4's journal and the layer above all file systems say.
fn of_journal(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let after = |words| message.strip_prefix(words);
    if let Some(journal) = after("JBD2: Detected IO errors while flushing file data on ") {
        return Some((Some(journal_of(journal)?), EventKind::WriteLost));
    }
    if let Some(device) = after("VFS: Dirty inode writeback failed for block device ") {
        let device = word_after(device, "").filter(|device| name::block(device).is_some())?;
        return Some((Some(device), EventKind::WriteLost));
    }
    let is_error =
        message.starts_with("JBD2: Error -") || message.starts_with("JBD2: I/O error detected");
    let journal = match after("Aborting journal on device ") {
        Some(journal) => journal,
        None => message.rsplit_once(" for ").filter(|_| is_error)?.1,
    };
    Some((Some(journal_of(journal)?), EventKind::FilesystemError(Filesystem::Ext4)))
}

/// What a file system's driver says.
fn of_driver(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let (driver, filesystem) =
        DRIVERS.iter().find(|(driver, _)| message.starts_with(driver)).copied()?;
    let rest = &message[driver.len()..];
    if filesystem == Filesystem::Squashfs {
        return rest
            .starts_with(" error: ")
            .then_some((None, EventKind::FilesystemError(filesystem)));
    }
    let device = device_in(rest)?;
    if let Some(cause) = cause(filesystem, rest) {
        return Some((Some(device), EventKind::Explains(cause)));
    }
    if filesystem == Filesystem::Btrfs && rest.contains(" errs: wr ") {
        return counted_by_btrfs(rest, device);
    }
    let kind = kind(filesystem, rest)?;
    Some((Some(device), kind))
}

/// What of a message makes the next one harmless for the device.
fn cause(filesystem: Filesystem, rest: &str) -> Option<Cause> {
    match filesystem {
        Filesystem::F2fs => rest.contains("Magic Mismatch").then_some(Cause::OtherFilesystem),
        Filesystem::Ext4 => {
            // ENOSPC and EDQUOT; and BLK_STS_NOSPC of the block layer, which counts in its own way.
            let is_full = rest.contains("Delayed block allocation failed")
                && (rest.ends_with("with error 28") || rest.ends_with("with error 122"))
                || rest.contains(": I/O error 3 writing to inode");
            is_full.then_some(Cause::NoSpace)
        }
        _ => None,
    }
}

/// `BTRFS error (device sda1): bdev /dev/mmcblk0p3 errs: wr 4, rd 0, flush 0, corrupt 3, gen 0`: the errors that
/// Btrfs has counted on one of its devices, which need not be the one by which it is called.
fn counted_by_btrfs<'t>(rest: &'t str, named: &'t str) -> Option<(Option<&'t str>, EventKind<'t>)> {
    let counts = rest.split_once(" errs: ")?.1;
    let is_zero = |part: &str| part.trim().ends_with(" 0");
    if counts.split(',').all(is_zero) {
        return None;
    }
    let member = word_after(rest, "bdev /dev/").filter(|member| name::block(member).is_some());
    let device = member.unwrap_or(named);
    Some((Some(device), EventKind::FilesystemError(Filesystem::Btrfs)))
}

/// The device of a journal's name, such as `mmcblk0p2` of `mmcblk0p2-8.`.
fn journal_of(journal: &str) -> Option<&str> {
    let journal = journal.trim().trim_end_matches('.');
    // `dm-0-8`, but also `sda1-8`, and `sda1` of a journal on a device of its own.
    let device = match journal.rsplit_once('-') {
        Some((device, _)) if name::block(device).is_some() => device,
        _ => journal,
    };
    name::block(device).map(|_| device)
}

/// The device in the first brackets: `(mmcblk0p2)`, `(device sda1)`, `(device sda1: state EA)`.
fn device_in(rest: &str) -> Option<&str> {
    let inside = word_after(rest, "(")?;
    let device = if inside == "device" { word_after(rest, "(device ")? } else { inside };
    name::block(device).map(|_| device)
}

/// What a message says behind the name of its driver.
fn kind(filesystem: Filesystem, rest: &str) -> Option<EventKind<'static>> {
    let lower = rest.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let is_read_only = has(&[
        "remounting filesystem read-only",
        "forced readonly",
        "filesystem has been set read-only",
        "filesystem has been shut down",
        "stopped filesystem due to reason",
    ]);
    if is_read_only {
        return Some(EventKind::ReadOnly(filesystem));
    }
    if has(&["not properly unmounted", "recovery required on readonly filesystem"]) {
        return Some(EventKind::Unclean(filesystem));
    }
    let is_error = match filesystem {
        Filesystem::Ext4 => {
            lower.starts_with(" error (device ")
                || lower.starts_with(" warning (device ") && lower.contains("i/o error")
                || has(&[
                    "i/o error while writing superblock",
                    "previous i/o error to superblock",
                    "error count since last fsck",
                    "mounting fs with errors",
                    "this should not happen!! data will be lost",
                    "delayed block allocation failed",
                    "potential data loss",
                    "with error 5",
                    "with error 30",
                    "invalid checksum",
                    "group descriptors corrupted",
                    "unable to read superblock",
                ])
        }
        Filesystem::F2fs => has(&[
            "invalid crc",
            "inconsistent",
            "sanity_check",
            "sanity check",
            "invalid blkaddr",
            "corrupted",
            "can't find valid f2fs filesystem",
            "i/o error",
        ]),
        Filesystem::Btrfs => {
            lower.starts_with(" error")
                || lower.starts_with(": error")
                || has(&["csum failed", "io failure"])
        }
        Filesystem::Xfs => has(&[
            "metadata i/o error",
            "metadata corruption",
            "corruption detected",
            "corruption of in-memory data",
            "log i/o error",
        ]),
        Filesystem::Fat | Filesystem::Exfat => {
            has(&["error, ", "bread(block", "fat read failed", "unable to read boot sector"])
        }
        Filesystem::Ntfs => has(&["error", "is corrupted"]),
        Filesystem::Squashfs => false,
    };
    is_error.then_some(EventKind::FilesystemError(filesystem))
}
