//! Counts that a test can give. Bounds are found by sums over what was counted, so a count without a limit would make who
//! judges a document compute for ever.

use cardproof_record::{CheckedRequests, EnduranceRun, IntegrityTest, PowerCutTest, Record, Trial};

/// No test cuts the power more often, finds more wrong pieces, or wears a card for more cycles.
const CUTS_MAX: u64 = 100_000;
const WRONG_MAX: u64 = 100_000;
const CYCLES_MAX: u64 = 1_000_000_000;

/// No card has more pages of 4 KiB.
const PAGES_MAX: u64 = 1 << 40;

/// Whether the tests in `record` can have counted what it says.
pub(crate) fn are_possible(record: &Record) -> bool {
    match &record.trial {
        Some(Trial::PowerCuts(test)) => of_cuts(test),
        Some(Trial::Endurance(run)) => of_endurance(run),
        Some(Trial::Integrity(test)) => of_integrity(test),
        // No bound is found from the counts of these.
        Some(Trial::Setups(_) | Trial::Capacity(_) | Trial::Layout(_)) | None => true,
    }
}

fn of_cuts(test: &PowerCutTest) -> bool {
    test.harmful_cuts <= test.effective_cuts
        && test.effective_cuts <= test.cuts
        && test.cuts <= CUTS_MAX
}

fn of_endurance(run: &EnduranceRun) -> bool {
    let failures = run.failures.iter();
    run.bad_pages <= run.pages
        && run.pages <= PAGES_MAX
        && run.cycles <= CYCLES_MAX
        && run.milestones.values().flatten().all(|cycle| *cycle <= run.cycles + 1)
        && failures.clone().all(|it| it.cycle <= run.cycles + 1 && it.places <= it.pages)
        && failures.map(|it| it.pages.min(PAGES_MAX)).sum::<u64>() <= run.pages
}

fn of_integrity(test: &IntegrityTest) -> bool {
    let of_requests = |part: &CheckedRequests| part.wrong <= WRONG_MAX;
    test.queue.as_ref().is_none_or(|it| of_requests(&it.control) && of_requests(&it.queued))
        && test
            .discard
            .as_ref()
            .is_none_or(|it| it.wrong_places <= WRONG_MAX && it.control_wrong_places <= WRONG_MAX)
}
