//! Which of the devices with published measurements a record is like, and between which a rate stands.

use cardproof_facts::{PUBLISHED_CARDS, PublishedCard};
use cardproof_record::{OpName, PatternName, Phase, Record, WarningCode};
use cardproof_units::{Bytes, Iops};

use crate::pick::is_synced;

/// How far a stated figure may be from a published card's, in shares, to count as the same: reads vary by
/// 1 % and writes by 7 %, and megabytes of both kinds are in use.
pub(crate) const SAME: f64 = 0.08;

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
