//! Why the reads of a test of the capacity may have come from memory, in words.

use cardproof_record::{OriginDoubt, ReadOrigin};

/// Why the reads may have come from memory, and what to do.
pub(super) fn in_words(origin: &ReadOrigin) -> String {
    let ReadOrigin { read_bytes, from_device_bytes, doubt } = origin;
    let why = match doubt {
        Some(OriginDoubt::Memory) => {
            return "the data is in the memory of the computer, so no storage device was tested; name the \
                    device itself"
                .to_owned();
        }
        Some(OriginDoubt::CachedLoop) => {
            "a loop device reads its file through the page cache; attach it with losetup --direct-io=on"
        }
        Some(OriginDoubt::HiddenDevice) => {
            "the file system does not tell which device it is on; name the device itself"
        }
        Some(OriginDoubt::SeveralDevices) => {
            "the file system is on several devices; name one device itself"
        }
        Some(OriginDoubt::NoCounters) => {
            "the device does not count its reads; turn on /sys/block/NAME/queue/iostats"
        }
        Some(OriginDoubt::Other) | None => {
            return format!(
                "the device read only {from_device_bytes} of the {read_bytes} that the test has read, so the \
                 rest came from memory; name the device itself, or, as another user than root, run the test as \
                 root, which can empty the caches"
            );
        }
    };
    format!("it is not shown that the data came from the device: {why}")
}

#[cfg(test)]
mod tests {
    use cardproof_record::{CapacityFiles, CapacityTest, CapacityVerdict, Trial};
    use cardproof_testkit::records;
    use cardproof_units::Bytes;

    use super::*;
    use crate::capacity;

    /// Files over a card of 8 GiB, of which `bad` sectors hold data of another address.
    fn files(bad: u64) -> CapacityFiles {
        CapacityFiles {
            tested_bytes: Bytes::gib(8),
            right_sectors: Bytes::gib(8).get() / 512 - bad,
            foreign_sectors: bad,
            longest_bad_sectors: bad,
            is_all_free_space: true,
            ..CapacityFiles::default()
        }
    }

    /// A daemon, a loop device or the kernel has answered from memory.
    #[test]
    fn what_may_have_come_from_memory_is_never_genuine() {
        let judged = |origin: ReadOrigin, bad: u64| {
            let mut record = records::typical_a1_card();
            record.conditions.target.size_bytes = Bytes::gib(8);
            record.trial = Some(Trial::Capacity(CapacityTest {
                files: Some(files(bad)),
                origin: Some(origin),
                ..CapacityTest::default()
            }));
            capacity(&record).unwrap()
        };
        let all =
            ReadOrigin { read_bytes: Bytes::gib(8), from_device_bytes: Bytes::gib(8), doubt: None };
        assert_eq!(judged(all, 0).verdict, CapacityVerdict::Genuine);
        let half = ReadOrigin { from_device_bytes: Bytes::gib(4), ..all };
        let doubts = [
            OriginDoubt::Memory,
            OriginDoubt::CachedLoop,
            OriginDoubt::HiddenDevice,
            OriginDoubt::SeveralDevices,
            OriginDoubt::NoCounters,
            OriginDoubt::Other,
        ];
        let doubted = doubts.map(|doubt| ReadOrigin { doubt: Some(doubt), ..all });
        for origin in doubted.into_iter().chain([half]) {
            let found = judged(origin, 0);
            assert_eq!(found.verdict, CapacityVerdict::Undecided, "{origin:?}");
            assert!(found.reasons_in_words()[0].contains("; "), "no remedy in {:?}", found.reasons);
            // What was shown to be lost is lost, wherever it was read.
            assert_eq!(judged(origin, 1 << 22).verdict, CapacityVerdict::Fake, "{origin:?}");
        }
    }
}
