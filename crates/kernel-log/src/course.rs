//! What came before a message: it may explain it.

use super::event::{Cause, EventKind, Filesystem};

/// What is known of a device at a line of the log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    /// It has gone, and was not found again.
    pub(super) is_gone: bool,
    /// A request beyond its end was the last that was said of it.
    is_beyond_end: bool,
    /// What was said last explains what comes.
    cause: Option<Cause>,
}

impl Course {
    /// Whether what came before explains `event`.
    pub(super) fn explains(self, event: &EventKind<'_>) -> bool {
        let is_loss = matches!(event, EventKind::WriteLost | EventKind::FilesystemError(_));
        match self.cause {
            Some(Cause::NoSpace) => is_loss,
            Some(Cause::OtherFilesystem) => *event == EventKind::FilesystemError(Filesystem::F2fs),
            // The page that was asked for is not there.
            None => {
                let is_page =
                    matches!(event, EventKind::IoError { sector: None, is_medium: false, .. });
                self.is_beyond_end && is_page
            }
        }
    }

    /// Takes over what `event` says.
    pub(super) fn follow(&mut self, event: &EventKind<'_>) {
        self.is_beyond_end = *event == EventKind::BeyondEnd;
        self.cause = if let EventKind::Explains(cause) = event { Some(*cause) } else { None };
        match event {
            EventKind::Gone => self.is_gone = true,
            EventKind::Disk { .. } | EventKind::Card { .. } | EventKind::Attached { .. } => {
                self.is_gone = false;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Trouble, TroubleKind, read_named};

    fn troubles(text: &str) -> Vec<Trouble> {
        let log = read_named((1..).zip(text.lines()));
        log.devices.into_iter().flat_map(|it| it.troubles).collect()
    }

    fn kinds(text: &str) -> Vec<TroubleKind> {
        troubles(text).into_iter().map(|it| it.kind).collect()
    }

    #[test]
    fn a_page_beyond_the_end_is_no_failed_request() {
        let text = "mmcblk0: rw=0, want=124735496, limit=124735488\n\
                    Buffer I/O error on dev mmcblk0, logical block 15591936, async page read\n";
        assert_eq!(kinds(text), [TroubleKind::BeyondEnd]);
        let later = format!("{text}I/O error, dev mmcblk0, sector 8 op 0x0:(READ)\n");
        assert_eq!(kinds(&later), [TroubleKind::BeyondEnd, TroubleKind::Io]);
    }

    #[test]
    fn a_search_for_another_file_system_finds_no_error() {
        let text = "F2FS-fs (mmcblk0p2): Magic Mismatch, valid(0xf2f52010) - read(0x0)\n\
                    F2FS-fs (mmcblk0p2): Can't find valid F2FS filesystem in 1th superblock\n";
        assert_eq!(kinds(text), []);
        let alone = "F2FS-fs (mmcblk0p2): Can't find valid F2FS filesystem in 1th superblock\n";
        assert_eq!(kinds(alone), [TroubleKind::Filesystem]);
    }

    #[test]
    fn a_full_file_system_or_pool_is_no_failing_device() {
        for text in [
            "EXT4-fs (mmcblk0p2): Delayed block allocation failed for inode 1 at logical offset 0 with max blocks 2 with error 28\n\
             EXT4-fs (mmcblk0p2): This should not happen!! Data will be lost\n",
            "critical space allocation error, dev dm-2, sector 66051 op 0x1:(WRITE) flags 0x0\n\
             Buffer I/O error on dev dm-2, logical block 8256, lost async page write\n\
             EXT4-fs warning (device dm-2): ext4_end_bio:343: I/O error 3 writing to inode 12 starting block 8256)\n",
        ] {
            assert_eq!(kinds(text), [], "{text}");
        }
        let failing = "EXT4-fs (mmcblk0p2): Delayed block allocation failed for inode 1 at logical offset 0 with max blocks 2 with error 117\n";
        assert_eq!(kinds(failing), [TroubleKind::Filesystem]);
    }

    #[test]
    fn what_fails_after_a_disk_is_gone_is_told_apart_until_it_is_back() {
        let text = "sd 0:0:0:0: [sda] 976773168 512-byte logical blocks: (500 GB/466 GiB)\n\
                    sd 0:0:0:0: [sda] Synchronize Cache(10) failed: Result: hostbyte=DID_NO_CONNECT\n\
                    I/O error, dev sda, sector 8 op 0x0:(READ)\n\
                    sd 0:0:0:0: [sda] 976773168 512-byte logical blocks: (500 GB/466 GiB)\n\
                    I/O error, dev sda, sector 8 op 0x0:(READ)\n";
        let found: Vec<_> =
            troubles(text).into_iter().map(|it| (it.kind, it.is_after_gone)).collect();
        let expected =
            [(TroubleKind::Gone, false), (TroubleKind::Io, true), (TroubleKind::Io, false)];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_fails_after_a_card_was_pulled_out_is_told_apart() {
        let card = "mmcblk0: mmc0:aaaa SC16G 14.8 GiB\n";
        let lost = "Buffer I/O error on dev mmcblk0p1, logical block 5, lost async page write\n";
        let text = format!("{card}mmc0: card aaaa removed\n{lost}{card}{lost}");
        let found: Vec<_> =
            troubles(&text).into_iter().map(|it| (it.kind, it.is_after_gone)).collect();
        let lost = TroubleKind::WriteLost;
        assert_eq!(found, [(TroubleKind::Gone, false), (lost, true), (lost, false)]);
        let stick = "device offline error, dev sda, sector 8 op 0x0:(READ) flags 0x0\n\
                     FAT-fs (sda1): unable to read boot sector to mark fs as dirty\n";
        let found: Vec<_> =
            troubles(stick).into_iter().map(|it| (it.kind, it.is_after_gone)).collect();
        assert_eq!(found, [(TroubleKind::Gone, false), (TroubleKind::Filesystem, true)]);
    }

    #[test]
    fn an_nvme_drive_that_is_gone_has_failed() {
        let text = "nvme nvme0: Disabling device after reset failure: -19\n\
                    I/O error, dev nvme0n1, sector 8 op 0x1:(WRITE)\n";
        assert!(troubles(text).iter().all(|it| !it.is_after_gone));
    }

    #[test]
    fn a_disk_of_another_size_is_another_disk() {
        let text = "sd 0:0:0:0: [sda] 62333952 512-byte logical blocks: (31.9 GB/29.7 GiB)\n\
                    critical medium error, dev sda, sector 66051 op 0x0:(READ) flags 0x0\n\
                    sd 0:0:0:0: [sda] 976773168 512-byte logical blocks: (500 GB/466 GiB)\n";
        let log = read_named((1..).zip(text.lines()));
        assert_eq!(log.devices.len(), 2);
        assert_eq!(log.of("sda", None).map(|it| it.troubles.len()), Some(0));
    }
}
