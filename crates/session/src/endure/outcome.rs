//! A run as a record keeps it.

use cardproof_probe::endure::{Cycle, MILESTONES, Plan, State, Why};
use cardproof_record::{EnduranceCycle, EnduranceFailures, EnduranceRun, StoppedBy};
use cardproof_units::Bytes;

use super::EndureOptions;
use super::journal::cycle_line;

/// The most cycles that a record keeps; charts show no more.
const COURSE_MAX: usize = 400;

/// The run of `plan` that stands at `state` and has stopped for `why`.
pub(super) fn stored(plan: &Plan, state: &State, why: &Why, asked: &EndureOptions) -> EnduranceRun {
    let milestones = MILESTONES.iter().zip(state.milestones);
    let sum = |of: fn(&Cycle) -> u64| state.cycles.iter().map(of).sum::<u64>();
    EnduranceRun {
        pattern: asked.wish.pattern.name().to_owned(),
        span_bytes: Bytes(plan.span_bytes()),
        cycle_bytes: Bytes(plan.cycle_bytes()),
        pages: plan.pages(),
        cycles: state.cycles.len() as u64,
        written_bytes: Bytes(state.position.written_bytes),
        bad_pages: state.bad.count(),
        milestones: milestones.map(|((name, _), cycle)| ((*name).to_owned(), cycle)).collect(),
        end: state.end.map(|end| end.name().to_owned()),
        stopped_by: stopped_by(why, asked),
        budget_bytes: asked.budget,
        daily_use: asked.daily_use,
        failures: state.cycles.iter().filter_map(failures).collect(),
        course: thinned(&state.cycles),
        transient: sum(|cycle| cycle.tally.transient) + state.position.tally.transient,
        host_errors: sum(|cycle| cycle.tally.host_errors) + state.position.tally.host_errors,
        extra: Default::default(),
    }
}

const fn stopped_by(why: &Why, asked: &EndureOptions) -> StoppedBy {
    match why {
        Why::Ended | Why::Vanished => StoppedBy::End,
        Why::OtherCard => StoppedBy::OtherCard,
        Why::WishMet if asked.wish.bytes_max.is_some() => StoppedBy::Budget,
        Why::WishMet => StoppedBy::Cycles,
        Why::Stopped => StoppedBy::User,
        Why::HostFails => StoppedBy::HostError,
        Why::Unsaved(_) => StoppedBy::NoState,
    }
}

fn failures(cycle: &Cycle) -> Option<EnduranceFailures> {
    let pages = cycle.new_bad.iter().map(|(_, count)| count).sum();
    let places = cycle.new_bad.len() as u64;
    (places > 0).then_some(EnduranceFailures { cycle: cycle.number, places, pages })
}

/// Cycles for charts: evenly chosen of many, the last among them. Counts of those between go to the one
/// that is kept, so that no error is left out.
fn thinned(cycles: &[Cycle]) -> Vec<EnduranceCycle> {
    let step = cycles.len().div_ceil(COURSE_MAX).max(1);
    cycles
        .chunks(step)
        .filter_map(|part| {
            let mut kept = cycle_line(part.last()?);
            kept.new_bad.clear();
            let sum = |of: fn(&Cycle) -> u64| part.iter().map(of).sum::<u64>();
            kept.write_errors = sum(|cycle| cycle.tally.write_errors);
            kept.read_errors = sum(|cycle| cycle.tally.read_errors);
            kept.stale_pages = sum(|cycle| cycle.tally.stale_pages);
            kept.wrong_pages = sum(|cycle| cycle.tally.wrong_pages);
            kept.transient = sum(|cycle| cycle.tally.transient);
            kept.host_errors = sum(|cycle| cycle.tally.host_errors);
            Some(kept)
        })
        .collect()
}
