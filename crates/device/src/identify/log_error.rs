//! Which lines of the kernel's log tell of an error of storage, and which error.

use serde::Serialize;

/// A kind of error in the kernel's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LogError {
    /// The card or its host did not answer in time: error -110 (ETIMEDOUT), or no interrupt.
    Timeout,
    /// A checksum of the bus was wrong: error -84 (EILSEQ).
    Checksum,
    /// The card stayed busy.
    StuckBusy,
    /// A request of the block layer failed.
    Io,
    /// A file system found itself damaged.
    FileSystem,
    /// A file system was made read-only after an error.
    ReadOnly,
}

/// The phrases of the log, each with what it means. Those of the card's host begin its lines with `mmcN`.
const PHRASES: [(&str, LogError); 9] = [
    ("error -110", LogError::Timeout),
    ("Timeout waiting for hardware interrupt", LogError::Timeout),
    ("error -84", LogError::Checksum),
    ("Card stuck being busy", LogError::StuckBusy),
    ("I/O error, dev ", LogError::Io),
    ("Buffer I/O error", LogError::Io),
    ("EXT4-fs error", LogError::FileSystem),
    ("Remounting filesystem read-only", LogError::ReadOnly),
    ("Aborting journal on device", LogError::FileSystem),
];

impl LogError {
    /// In words, such as `timeouts`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Timeout => "timeouts",
            Self::Checksum => "wrong checksums on the bus",
            Self::StuckBusy => "times stuck busy",
            Self::Io => "failed requests",
            Self::FileSystem => "errors of a file system",
            Self::ReadOnly => "times made read-only after an error",
        }
    }

    /// The error that `line` of the kernel's log is about.
    pub(crate) fn of(line: &str) -> Option<Self> {
        PHRASES.iter().find(|(phrase, _)| line.contains(phrase)).map(|(_, error)| *error)
    }
}

/// Whether `line` of the kernel's log is about an error of a storage. The same numbers are printed of other
/// devices.
pub(crate) fn is_error(line: &str) -> bool {
    let is_number = line.contains("error -110") || line.contains("error -84");
    LogError::of(line).is_some() && (!is_number || line.contains("mmc"))
}

/// `line` without what it says of programs: the kernel prints the name of the one that met the error.
pub(crate) fn without_program(line: &str) -> &str {
    line.split_once(" comm ").map_or(line, |(before, _)| before.trim_end_matches(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_phrases_are_errors_of_storage_or_of_nothing() {
        for (line, expected) in [
            ("mmc0: error -110 whilst initialising SD card", Some(LogError::Timeout)),
            ("mmc1: Timeout waiting for hardware interrupt.", Some(LogError::Timeout)),
            ("mmcblk0: error -84 transferring data, sector 8, nr 8", Some(LogError::Checksum)),
            ("mmc0: Card stuck being busy! __mmc_poll_for_busy", Some(LogError::StuckBusy)),
            ("I/O error, dev mmcblk0, sector 262144 op 0x0:(READ)", Some(LogError::Io)),
            ("blk_update_request: I/O error, dev sda, sector 8", Some(LogError::Io)),
            ("Buffer I/O error on dev mmcblk0p2, logical block 1", Some(LogError::Io)),
            ("EXT4-fs error (device mmcblk0p2): ext4_lookup:1", Some(LogError::FileSystem)),
            ("Aborting journal on device mmcblk0p2-8.", Some(LogError::FileSystem)),
            ("EXT4-fs (mmcblk0p2): Remounting filesystem read-only", Some(LogError::ReadOnly)),
            ("brcmfmac: brcmf_sdio_htclk: error -110", None),
            ("mmc0: new ultra high speed SDR104 SDXC card at address aaaa", None),
        ] {
            let found = LogError::of(line).filter(|_| is_error(line));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn no_program_is_named() {
        let line =
            "EXT4-fs error (device mmcblk0p2): ext4_lookup:1700: inode #123: comm secret: deleted";
        let kept = without_program(line);
        assert_eq!(kept, "EXT4-fs error (device mmcblk0p2): ext4_lookup:1700: inode #123");
    }
}
