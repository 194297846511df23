//! What is to be run, where and for how long.

use cardproof_units::{Bytes, Nanos, Seed};
use cardproof_workload::{PhaseSpec, Profile, TimeLimit};

use crate::check::{AFTER_PHASE, AT_END};
use crate::spread::SPREAD_TIME;

/// One run to come.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is run. Its span is the one that was wanted; [`span`](Self::span) may be smaller.
    pub profile: Profile,
    /// Seed for addresses and data.
    pub seed: Seed,
    /// Where on the target the span begins.
    pub span_offset: Bytes,
    /// How much of the target is worked in.
    pub span: Bytes,
    /// How long the whole run may take.
    pub time_budget: Nanos,
}

impl Plan {
    /// The most time that comparing data takes beside the phases, unless a few reads or writes alone
    /// take longer.
    #[must_use]
    pub fn check_time_max(&self) -> Nanos {
        let writing = self.profile.phases.iter().filter(|phase| phase.writes()).count() as u64;
        if writing == 0 {
            return Nanos::ZERO;
        }
        AFTER_PHASE.time * writing + AT_END.time + SPREAD_TIME
    }
}

/// The share that `phase` asks for, if it asks for one.
pub(crate) fn share_of(phase: &PhaseSpec) -> u64 {
    match phase.ends.time {
        TimeLimit::Share(share) => u64::from(share),
        TimeLimit::Fixed(_) | TimeLimit::None => 0,
    }
}

/// How long the first of `phases` may take when `left` is left for all of them.
pub(crate) fn time_for_first<'a>(
    mut phases: impl Iterator<Item = &'a PhaseSpec>,
    left: Nanos,
) -> Option<Nanos> {
    let first = phases.next()?;
    let share = match first.ends.time {
        TimeLimit::Share(share) => u64::from(share),
        TimeLimit::Fixed(time) => return Some(time),
        TimeLimit::None => return None,
    };
    let all = share + phases.map(share_of).sum::<u64>();
    let nanos = u128::from(left.get()) * u128::from(share) / u128::from(all.max(1));
    Some(Nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_one_phase_saves_is_shared_by_those_to_come() {
        let profile = cardproof_workload::standard::profile();
        let minute = Nanos::from_secs(60);
        assert_eq!(time_for_first(profile.phases.iter(), minute), Some(Nanos::from_secs(27)));
        let later = time_for_first(profile.phases.iter().skip(1), Nanos::from_secs(55));
        assert_eq!(later, Some(Nanos::from_secs(6)));
        let last = time_for_first(profile.phases.iter().skip(9), Nanos::from_secs(3));
        assert_eq!(last, Some(Nanos::from_secs(3)));
    }
}
