//! Eight storage devices with published measurements, for comparison.
//!
//! They were all measured on one board, so they can be compared with each other. They cannot be
//! compared exactly with a card on another host: it is a rough comparison, not a
//! prediction. The random figures are iozone's, one operation at a time over a file of 100 MiB.

use cardproof_record::{OpName, PatternName, Phase, Record, WarningCode};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};

use crate::pick::is_synced;

/// Where the figures of [`PUBLISHED_CARDS`] come from.
pub const PUBLISHED_SOURCE: &str = "T. Kaiser, \"Performance impact of MMC storage used on SBC\" \
    (2018): sd-card-bench.sh on a NanoPi M4, 4 KiB iozone over 100 MiB";

/// A device with published figures.
#[derive(Clone, Copy, Debug)]
pub struct PublishedCard {
    /// Its name in the source.
    pub name: &'static str,
    /// 4 KiB random read, one at a time.
    pub random_read: Iops,
    /// 4 KiB random write, one at a time.
    pub random_write: Iops,
    /// 16 KiB random read, one at a time.
    pub random_read_16k: Iops,
    /// Sequential read in records of 16 MiB.
    pub sequential_read: Throughput,
    /// Sequential write in records of 16 MiB.
    pub sequential_write: Throughput,
    /// How long the system took to start.
    pub boot: Nanos,
    /// How long a desktop (about 400 packages) took to install.
    pub desktop_install: Nanos,
    /// How long 150 of its packages took to remove.
    pub removal: Nanos,
    /// How long the same 150 took to install again.
    pub reinstall: Nanos,
}

const fn card(
    name: &'static str,
    iops: (f64, f64, f64),
    mb_per_s: (f64, f64),
    boot_ms: u64,
    jobs_s: [u64; 3],
) -> PublishedCard {
    PublishedCard {
        name,
        random_read: Iops(iops.0),
        random_write: Iops(iops.1),
        random_read_16k: Iops(iops.2),
        sequential_read: Throughput::from_mb_per_s(mb_per_s.0),
        sequential_write: Throughput::from_mb_per_s(mb_per_s.1),
        boot: Nanos::from_millis(boot_ms),
        desktop_install: Nanos::from_secs(jobs_s[0]),
        removal: Nanos::from_secs(jobs_s[1]),
        reinstall: Nanos::from_secs(jobs_s[2]),
    }
}

/// The devices, in the source's order: IOPS (4 KiB read, 4 KiB write, 16 KiB read), MB/s (read,
/// write), milliseconds to start, seconds to install, remove and install again.
pub static PUBLISHED_CARDS: [PublishedCard; 8] = [
    card("Intenso Class 4", (1926.0, 33.0, 726.0), (43.0, 10.0), 26700, [1070, 149, 470]),
    card("SanDisk Ultra", (2139.0, 133.0, 1421.0), (45.0, 8.0), 20900, [430, 68, 157]),
    card("SanDisk Industrial", (1853.0, 762.0, 1571.0), (66.0, 29.0), 20700, [253, 49, 113]),
    card("SanDisk Extreme Plus", (2344.0, 770.0, 1915.0), (66.0, 62.0), 13400, [216, 33, 76]),
    card("SanDisk Ultra A1", (2867.0, 787.0, 1784.0), (66.0, 18.0), 14200, [207, 31, 75]),
    card("SanDisk Extreme A1", (3201.0, 1480.0, 2030.0), (66.0, 59.0), 16200, [161, 28, 57]),
    card("SanDisk Extreme Pro A2", (1766.0, 732.0, 1660.0), (65.0, 50.0), 17000, [190, 36, 75]),
    card("Samsung eMMC", (5083.0, 1943.0, 3707.0), (128.0, 32.0), 15500, [178, 27, 65]),
];

/// How far a stated figure may be from a published card's, in shares, to count as the same: reads vary by
/// 1 % and writes by 7 %, and megabytes of both kinds are in use.
const SAME: f64 = 0.08;

/// The published card whose figures those of `record` are, measured one operation at a time: all that it
/// has are the same, and both random rates of 4 KiB and one more are among them. Of several the nearest.
pub(crate) fn like(record: &Record) -> Option<&'static PublishedCard> {
    let random = |op: OpName, kib: u64| {
        let phase = record.phases.iter().find(|phase| {
            is_like(phase, op, PatternName::Random) && phase.block_size_bytes == Bytes::kib(kib)
        });
        phase.and_then(|phase| Some(phase.point_iops()?.0))
    };
    let sequential = |op: OpName| {
        let fits = |phase: &&Phase| {
            is_like(phase, op, PatternName::Sequential) && phase.block_size_bytes >= Bytes::mib(1)
        };
        let largest = record.phases.iter().filter(fits).max_by_key(|phase| phase.block_size_bytes);
        largest.and_then(|phase| Some(phase.point_throughput()?.0))
    };
    let own = [
        random(OpName::Read, 4),
        random(OpName::Write, 4),
        random(OpName::Read, 16),
        sequential(OpName::Read),
        sequential(OpName::Write),
    ];
    let is_enough = own[..2].iter().all(Option::is_some) && own[2..].iter().any(Option::is_some);
    let distance = |card: &'static PublishedCard| {
        let published = [
            card.random_read.0,
            card.random_write.0,
            card.random_read_16k.0,
            card.sequential_read.0,
            card.sequential_write.0,
        ];
        let pairs =
            own.iter().zip(published).filter_map(|(own, other)| Some(((*own)? / other).ln()));
        let squares: Option<f64> =
            pairs.map(|log| (log.abs() <= SAME).then_some(log * log)).sum::<Option<f64>>();
        squares.map(|squares| (squares, card))
    };
    let near = PUBLISHED_CARDS.iter().filter_map(distance);
    let nearest = near.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, card)| card);
    nearest.filter(|_| is_enough)
}

fn is_like(phase: &Phase, op: OpName, pattern: PatternName) -> bool {
    phase.op == op
        && phase.pattern == pattern
        && phase.queue_depth == 1
        && phase.is_measured()
        && !is_synced(phase)
        && !phase.warnings.iter().any(|warning| warning.code == WarningCode::Buffered)
        && phase.stated.is_some()
}

/// The published devices on either side of a rate: the fastest that is not faster, and the
/// slowest that is faster.
pub(crate) fn neighbours(
    rate: Iops,
    column: impl Fn(&PublishedCard) -> Iops,
) -> [Option<&'static PublishedCard>; 2] {
    let by_rate = |a: &&PublishedCard, b: &&PublishedCard| column(a).0.total_cmp(&column(b).0);
    let (faster, others): (Vec<_>, Vec<_>) =
        PUBLISHED_CARDS.iter().partition(|card| column(card) > rate);
    [others.into_iter().max_by(by_rate), faster.into_iter().min_by(by_rate)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_stands_between_its_neighbours() {
        let names = |iops| {
            neighbours(Iops(iops), |card| card.random_write).map(|card| card.map(|card| card.name))
        };
        assert_eq!(names(20.0), [None, Some("Intenso Class 4")]);
        assert_eq!(names(690.0), [Some("SanDisk Ultra"), Some("SanDisk Extreme Pro A2")]);
        assert_eq!(names(1480.0), [Some("SanDisk Extreme A1"), Some("Samsung eMMC")]);
        assert_eq!(names(9000.0), [Some("Samsung eMMC"), None]);
    }
}
