//! The counters of one block device, and the rates between two readings of them.
//!
//! The fields are those of `/sys/block/NAME/stat` in the kernel's
//! `Documentation/block/stat.rst`: 11 of old, 4 of discards since 4.18, 2 of flushes since 5.5.
//! Sectors are of 512 bytes whatever the device's own blocks; times are milliseconds. The rates
//! are those of sysstat's iostat(1): `aqu-sz` is the weighted time over the window, `%util` the
//! busy time over the window, `await` the time of a kind over its number of requests.

use cardproof_record::{DeviceActivity, Requests};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};

/// What a sector of the counters is.
const SECTOR: u64 = 512;

/// Counters that the kernel keeps in 32 bits begin again here: the times everywhere, all of them
/// on 32-bit machines.
const WRAP: u64 = 1 << 32;

const MILLISECOND: u64 = 1_000_000;

/// Completed requests of one kind: number, merges, sectors, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kind {
    count: u64,
    merged: u64,
    sectors: u64,
    millis: u64,
}

/// The counters of a device since it appeared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DiskCounters {
    reads: Kind,
    writes: Kind,
    discards: Kind,
    flushes: Kind,
    busy_millis: u64,
    weighted_millis: u64,
}

impl DiskCounters {
    /// From a line of `stat`; `None` for one that is none.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut fields = [0_u64; 17];
        let mut count = 0;
        for (field, word) in fields.iter_mut().zip(line.split_ascii_whitespace()) {
            *field = word.parse().ok()?;
            count += 1;
        }
        if count < 11 {
            return None;
        }
        let kind = |at: usize| Kind {
            count: fields[at],
            merged: fields[at + 1],
            sectors: fields[at + 2],
            millis: fields[at + 3],
        };
        Some(Self {
            reads: kind(0),
            writes: kind(4),
            busy_millis: fields[9],
            weighted_millis: fields[10],
            discards: kind(11),
            flushes: Kind { count: fields[15], millis: fields[16], ..Kind::default() },
        })
    }

    /// What the device called `name` did in `window`, from `earlier` to these counters.
    ///
    /// Counters that went backwards belong to a device that was taken out and put in again: then
    /// all that these hold has happened since.
    pub(super) fn since(&self, earlier: &Self, name: &str, window: Nanos) -> DeviceActivity {
        let grown = self.grown(earlier).unwrap_or(*self);
        let share = |millis: u64| {
            let window = window.get().max(1) as f64;
            millis as f64 * MILLISECOND as f64 / window
        };
        DeviceActivity {
            name: name.to_owned(),
            reads: grown.reads.requests(window),
            writes: grown.writes.requests(window),
            discards: grown.discards.requests(window),
            flushes: grown.flushes.requests(window),
            queue: share(grown.weighted_millis),
            utilisation: share(grown.busy_millis).min(1.0),
        }
    }

    /// How far these are from `earlier`; `None` where a counter went backwards.
    fn grown(&self, earlier: &Self) -> Option<Self> {
        Some(Self {
            reads: self.reads.grown(&earlier.reads)?,
            writes: self.writes.grown(&earlier.writes)?,
            discards: self.discards.grown(&earlier.discards)?,
            flushes: self.flushes.grown(&earlier.flushes)?,
            busy_millis: grown(self.busy_millis, earlier.busy_millis)?,
            weighted_millis: grown(self.weighted_millis, earlier.weighted_millis)?,
        })
    }
}

impl Kind {
    fn grown(&self, earlier: &Self) -> Option<Self> {
        Some(Self {
            count: grown(self.count, earlier.count)?,
            merged: grown(self.merged, earlier.merged)?,
            sectors: grown(self.sectors, earlier.sectors)?,
            millis: grown(self.millis, earlier.millis)?,
        })
    }

    fn requests(&self, window: Nanos) -> Requests {
        let bytes = Bytes(self.sectors.saturating_mul(SECTOR));
        let time = self.millis.saturating_mul(MILLISECOND);
        Requests {
            count: self.count,
            merged: self.merged,
            bytes,
            per_s: Iops::from_ops(self.count, window).unwrap_or_default(),
            bytes_per_s: Throughput::from_bytes(bytes, window).unwrap_or_default(),
            await_ns: (self.count > 0).then(|| Nanos(time / self.count.max(1))),
        }
    }
}

/// How far a counter has come: past its end in 32 bits, if it was in the last half of them and is
/// in the first; `None` where it can only have been set back.
fn grown(later: u64, earlier: u64) -> Option<u64> {
    if later >= earlier {
        return Some(later - earlier);
    }
    let has_wrapped = (WRAP / 2..WRAP).contains(&earlier) && later < WRAP / 2;
    has_wrapped.then(|| later + WRAP - earlier)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::from_secs(1);

    #[test]
    fn rates_are_those_of_iostat() {
        let before = DiskCounters::parse("100 0 800 50 10 0 80 20 0 60 70").unwrap();
        let after =
            DiskCounters::parse("  300 5 4000 150 60 40 1680 2020 3 1560 2170 2 0 4096 8 25 1250")
                .unwrap();
        let device = after.since(&before, "mmcblk0", Nanos::from_secs(2));
        assert_eq!(device.reads.count, 200);
        assert_eq!(device.reads.per_s, Iops(100.0));
        assert_eq!(device.reads.bytes, Bytes(3200 * 512));
        assert_eq!(device.reads.await_ns, Some(Nanos(500_000)));
        assert_eq!(device.writes.mean_bytes(), Some(1600.0 * 512.0 / 50.0));
        assert_eq!(device.writes.await_ns, Some(Nanos::from_millis(40)));
        assert_eq!(device.writes.merged, 40);
        assert_eq!(device.discards.bytes, Bytes::mib(2));
        assert_eq!(device.flushes.per_s, Iops(12.5));
        assert_eq!(device.flushes.await_ns, Some(Nanos::from_millis(50)));
        assert!((device.utilisation - 0.75).abs() < 1e-12);
        assert!((device.queue - 1.05).abs() < 1e-12);
        assert_eq!(device.transactions_per_s(), Iops(126.0));
    }

    #[test]
    fn kernels_without_discards_and_flushes_have_none() {
        let counters = DiskCounters::parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!(counters.discards, Kind::default());
        assert_eq!(DiskCounters::parse("1 2 3 4 5 6 7 8 9 10"), None);
        assert_eq!(DiskCounters::parse("1 2 3 x 5 6 7 8 9 10 11"), None);
    }

    #[test]
    fn a_counter_of_32_bits_goes_on_past_its_end() {
        let before = DiskCounters::parse("5 0 4294967290 4294967295 0 0 0 0 0 0 0").unwrap();
        let after = DiskCounters::parse("9 0 10 4 0 0 0 0 0 0 0").unwrap();
        let device = after.since(&before, "sda", SECOND);
        assert_eq!(device.reads.count, 4);
        assert_eq!(device.reads.bytes, Bytes(16 * 512));
        assert_eq!(device.reads.await_ns, Some(Nanos(1_250_000)));
    }

    #[test]
    fn a_card_put_back_begins_anew() {
        let before = DiskCounters::parse("500 0 9000 50 700 0 9000 20 0 60 70").unwrap();
        let after = DiskCounters::parse("3 0 24 1 0 0 0 0 0 1 1").unwrap();
        let device = after.since(&before, "mmcblk0", SECOND);
        assert_eq!((device.reads.count, device.writes.count), (3, 0));
    }
}
