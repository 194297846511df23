//! Whether a disturbed phase is run a second time, and within which bounds: only what the run was
//! announced to take at the most, in time and in bytes, and nothing that later phases need.

use cardproof_io::FileState;
use cardproof_record::{Phase, PhaseState};
use cardproof_units::{Bytes, Nanos};
use cardproof_workload::{PhaseSpec, Role, TimeLimit};

use crate::plan::{Plan, share_of};

/// A second try.
#[derive(Clone, Debug)]
pub(crate) struct Again {
    /// The phase, with what it may still write.
    pub(crate) spec: PhaseSpec,
    /// How long it may take.
    pub(crate) time: Nanos,
}

impl Again {
    /// The second try of the phase at `index` of `plan`, whose first was `phase`; `None` where it
    /// was not disturbed, where its method allows no other try, or where no room is left: `left`
    /// of the run's time, and what of its bytes is not yet `written`.
    pub(crate) fn new(
        plan: &Plan,
        index: usize,
        phase: &Phase,
        written: Bytes,
        left: Nanos,
    ) -> Option<Self> {
        let spec = plan.profile.phases.get(index)?;
        let is_disturbed = phase.state == PhaseState::Measured && !phase.disturbances.is_empty();
        if !is_disturbed || !may_be_repeated(spec) {
            return None;
        }
        let time = left.saturating_sub(time_of_later(plan, index)).min(phase.duration_ns * 2);
        if time < phase.duration_ns {
            return None;
        }
        let mut spec = spec.clone();
        if spec.writes() {
            let room = bytes_left(plan, index, written)?;
            if room < phase.bytes {
                return None;
            }
            spec.ends.bytes = Some(spec.ends.bytes.map_or(room, |bytes| bytes.min(room)));
        }
        Some(Self { spec, time })
    }
}

/// Whether a second try measures the same: not of what lays out the span or needs the file as
/// another phase has left it, and not of a method of fixed length, which is another tool's.
fn may_be_repeated(spec: &PhaseSpec) -> bool {
    spec.role != Role::LayOut
        && spec.arrangement.file == FileState::AsIs
        && spec.ends.precision.is_some()
        && matches!(spec.ends.time, TimeLimit::Share(_))
}

/// What the phases after `index` would have of a run that is on time.
fn time_of_later(plan: &Plan, index: usize) -> Nanos {
    let shares = |phases: &[PhaseSpec]| phases.iter().map(share_of).sum::<u64>();
    let phases = &plan.profile.phases;
    let later = shares(phases.get(index + 1..).unwrap_or_default());
    let nanos =
        u128::from(plan.time_budget.get()) * u128::from(later) / u128::from(shares(phases).max(1));
    Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// What may still be written without the later phases missing it; nothing where the whole run is
/// not bounded by bytes, for then its bound is not known.
fn bytes_left(plan: &Plan, index: usize, written: Bytes) -> Option<Bytes> {
    let later = plan.profile.phases.get(index + 1..).unwrap_or_default();
    let for_later: Option<Bytes> = later.iter().map(PhaseSpec::bytes_written_max).sum();
    let whole = plan.profile.bytes_written_max()?;
    Some(whole.saturating_sub(written).saturating_sub(for_later?))
}

/// The phase that counts: the second try, with the first kept in it; the first, where the second
/// yielded nothing.
pub(crate) fn better(first: Phase, second: Phase) -> Phase {
    if second.state == PhaseState::Measured {
        Phase { disturbed_try: Some(Box::new(first)), ..second }
    } else {
        first
    }
}
