//! What the places of a test mean, inferred once for all who ask.

use std::cell::RefCell;

use cardproof_evidence::capacity::{Evidence, Finding, Retried, Spread, Writes, infer};
use cardproof_record::CapacityTest;
use cardproof_units::Bytes;

use super::places::observation;

thread_local! {
    /// The test that was judged last, and what it means. An answer and its page ask some ten times for the same, and to
    /// weigh 5,000 places once takes 280 million instructions.
    static LAST: RefCell<Option<(CapacityTest, Option<Finding>)>> = const { RefCell::new(None) };
}

/// What the places of `test` mean; `None` where none was written, or they cannot be read.
pub(super) fn finding(test: &CapacityTest) -> Option<Finding> {
    LAST.with_borrow_mut(|last| match last {
        Some((judged, found)) if judged == test => found.clone(),
        _ => last.insert((test.clone(), inferred(test))).1.clone(),
    })
}

fn inferred(test: &CapacityTest) -> Option<Finding> {
    if test.places.is_empty() || !is_possible(test) {
        return None;
    }
    let places: Option<Vec<_>> = test.places.iter().map(observation).collect();
    let mut writes = Writes::default();
    test.written.iter().for_each(|[start, length]| writes.note(start.get(), length.get()));
    Some(infer(&Evidence {
        announced_bytes: test.announced_bytes.get(),
        writes,
        observations: places?,
        filler_bytes: test.filler_bytes.get(),
        grid_bytes: test.grid_bytes.get(),
        spread: Spread { pieces: test.spread_pieces, bytes: test.spread_bytes.get() },
        shared_again: retried(test.shared_again),
        right_at_once: retried(test.right_at_once),
        rewritten: retried(test.rewritten),
        guessed_period: test.guessed_period_bytes.map(Bytes::get),
        unshared_distances: test.unshared_distances.iter().map(|bytes| bytes.get()).collect(),
        guessed_modulus: test.guessed_modulus_bytes.map(Bytes::get),
        is_unordered: test.cover.is_some_and(|cover| cover.is_by_allocation),
        is_full: test.is_full,
        is_cut_short: test.is_cut_short,
    }))
}

const fn retried([tried, again]: [u64; 2]) -> Retried {
    Retried { tried, again }
}

/// More places and stretches than a test ever has; judging takes time by both.
const LISTED_MAX: usize = 100_000;

/// Whether a test can have written what `test` lists.
fn is_possible(test: &CapacityTest) -> bool {
    let size = test.announced_bytes.get();
    let is_inside = |[start, length]: &[Bytes; 2]| {
        start.get().checked_add(length.get()).is_some_and(|end| end <= size)
    };
    size <= 1 << 62
        && test.places.len() <= LISTED_MAX
        && test.written.len() <= LISTED_MAX
        && test.written.iter().all(is_inside)
        && test.spread_pieces <= LISTED_MAX as u64
        && test.spread_bytes <= test.announced_bytes
        && [test.shared_again, test.right_at_once, test.rewritten]
            .iter()
            .all(|[tried, again]| again <= tried && *tried <= LISTED_MAX as u64)
}
