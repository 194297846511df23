//! The one rate of a phase, with its one interval, that progress, tables, grades, comparisons and charts
//! show.
//!
//! Where a verdict rests on a phase, the rate of the verdict is shown; everywhere else the phase's own. A
//! second rule would give one card two rates.

use cardproof_record::Phase;
use cardproof_units::Bytes;

use crate::pick::BoundedRate;
use crate::quantity::{Rate, rate_for_verdicts};

/// Up to this block size a rate is in operations a second, above it in bytes a second.
const IOPS_BLOCK_MAX: Bytes = Bytes::kib(64);

/// Whether operations of `block_size` are told in operations a second, not in bytes a second.
pub(crate) fn is_size_told_in_iops(block_size: Bytes) -> bool {
    block_size <= IOPS_BLOCK_MAX && block_size > Bytes::ZERO
}

/// Whether operations a second, not bytes a second, are the unit of `phase`.
#[must_use]
pub fn is_told_in_iops(phase: &Phase) -> bool {
    is_size_told_in_iops(phase.block_size_bytes)
}

/// The rate of `phase` in its unit with its interval; `None` where it has none that is sound.
#[must_use]
pub fn shown_rate(phase: &Phase) -> Option<BoundedRate> {
    let of_verdicts = || rate_for_verdicts(phase).filter(|_| phase.is_measured());
    let own = || {
        if is_told_in_iops(phase) {
            BoundedRate::of_iops(phase)
        } else {
            BoundedRate::of_throughput(phase)
        }
    };
    of_verdicts().or_else(own)
}

/// The rate that another tool stated of `phase` without an interval, in the phase's unit if it stated
/// that one.
#[must_use]
pub fn stated_rate(phase: &Phase) -> Option<Rate> {
    let stated = phase.stated?;
    let iops = stated.iops.map(Rate::Iops);
    let throughput = stated.throughput_bytes_per_s.map(Rate::Throughput);
    if is_told_in_iops(phase) { iops.or(throughput) } else { throughput.or(iops) }
}
