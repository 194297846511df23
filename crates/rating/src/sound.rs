//! Phases that something may be said by: found by what they did, and none that is in doubt.
//!
//! What went through the page cache, or lies on what copies on write, is marked in the phase and
//! says nothing of the storage, however much it moved.

use cardproof_facts::GRADED_RANGE_MIN;
use cardproof_record::{OpName, PatternName, Phase, Record, Warning};

use cardproof_units::Bytes;

use crate::pick::{BoundedRate, Finding, NoFigure, is_random_4k, is_synced};
use crate::stated::is_too_short;

/// Why a phase says nothing of the storage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Unsound {
    /// Something was seen of it that forbids a verdict.
    InDoubt(Warning),
    /// Its test range was smaller than [`GRADED_RANGE_MIN`].
    RangeSmall,
    /// It took less than a second.
    Short,
    /// It has no figure.
    NoFigure(NoFigure),
}

/// The phase of `record` for which `fits` holds, among several one that nothing speaks against.
pub(crate) fn find(record: &Record, fits: impl Fn(&Phase) -> bool) -> Finding<'_> {
    match Finding::find(record, |phase| fits(phase) && doubt_on(phase).is_none()) {
        Finding::Absent { .. } => Finding::find(record, fits),
        found => found,
    }
}

/// The phase of `record` that does 4 KiB operations of one kind at random, one at a time, as
/// [`find`] finds it.
pub(crate) fn find_random_4k(record: &Record, op: OpName) -> Finding<'_> {
    find(record, |phase| is_random_4k(phase, op, 1) && !is_synced(phase))
}

/// The figure of the phase that was found, unless it is in doubt.
pub(crate) fn figure_of(
    finding: Finding<'_>,
    of: impl Fn(&Phase) -> Option<BoundedRate>,
) -> Option<BoundedRate> {
    finding.measured().filter(|phase| doubt_on(phase).is_none()).and_then(of)
}

/// Why there is no figure.
pub(crate) fn cause(finding: Finding<'_>) -> Unsound {
    let doubt = finding.measured().and_then(doubt_on);
    doubt.unwrap_or_else(|| Unsound::NoFigure(finding.cause()))
}

/// Whether each phase of `record` that was measured had a range too small to say anything of the storage.
pub(crate) fn is_range_small(record: &Record) -> bool {
    let mut measured = record.phases.iter().filter(|phase| phase.is_measured()).peekable();
    measured.peek().is_some() && measured.all(is_small)
}

fn is_small(phase: &Phase) -> bool {
    let range = range_of(phase);
    range > Bytes::ZERO && range < GRADED_RANGE_MIN
}

/// The range that `phase` has worked in. What writes the test file has got no further than it has written, however large
/// the file was to be.
fn range_of(phase: &Phase) -> Bytes {
    let is_of_file = phase.op == OpName::Write && phase.pattern == PatternName::Sequential;
    if is_of_file { phase.span_bytes.min(phase.bytes) } else { phase.span_bytes }
}

/// What was seen of `phase` that forbids to build on it.
fn doubt_on(phase: &Phase) -> Option<Unsound> {
    let mut doubts = phase.warnings.iter().filter(|warning| warning.code.forbids_verdict());
    let of_test = [(is_small(phase), Unsound::RangeSmall), (is_too_short(phase), Unsound::Short)];
    let of_test = of_test.into_iter().find(|(is_so, _)| *is_so).map(|(_, why)| why);
    doubts.next().map(|warning| Unsound::InDoubt(warning.clone())).or(of_test)
}

#[cfg(test)]
mod tests {
    use cardproof_testkit::records::typical_a1_card;

    use super::*;

    /// The time ended while the test file was written: what follows has worked in the part that was written.
    #[test]
    fn a_range_that_the_time_has_cut_short_is_as_small_as_one_that_was_asked_for() {
        let written = |bytes: Bytes| {
            let mut record = typical_a1_card();
            for phase in &mut record.phases {
                let is_of_file =
                    phase.op == OpName::Write && phase.pattern == PatternName::Sequential;
                phase.bytes = if is_of_file { bytes } else { phase.bytes };
                phase.span_bytes = if is_of_file { Bytes::mib(256) } else { bytes };
            }
            record
        };
        assert!(is_range_small(&written(Bytes::mib(8))));
        assert!(!is_range_small(&written(Bytes::mib(16))));
        let record = written(Bytes::mib(8));
        assert!(record.phases.iter().all(|phase| doubt_on(phase).is_some()));
    }
}
