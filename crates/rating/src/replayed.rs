//! Where a replay's time lies among those of others that did the same recorded job.
//!
//! The others are the eight simulated cards that are fitted to published figures; their times stand
//! in a table, computed beforehand by `cargo xtask prove replay-cards`, with the job thinking as
//! it did when it was recorded. Only such a replay is compared with them. They are models and are
//! called so. Published times of jobs of the same kind are a rough comparison only: another number of
//! packages, on a board that thinks longer.

use cardproof_record::{PhaseState, Replay};
use cardproof_units::Nanos;

use crate::prediction::PredictedJob;

/// Lines of trace, its number of requests, the published name of the card, milliseconds.
const TABLE: &str = include_str!("../data/simulated-replays.csv");

/// Times in the table are rounded to this.
const TABLE_STEP: Nanos = Nanos::from_millis(1);

/// A simulated card that did the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedReplay {
    /// The published card that it is modelled on.
    pub card: &'static str,
    /// How long it took.
    pub took: Nanos,
}

/// The replays of `trace` on simulated cards, the fastest first; none where it is no shipped trace
/// with `requests` requests.
#[must_use]
pub fn simulated_replays(trace: &str, requests: u64) -> Vec<SimulatedReplay> {
    let mut all: Vec<SimulatedReplay> = TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut columns = line.split(',');
            let is_it = columns.next()? == trace && columns.next()?.parse() == Ok(requests);
            let card = columns.next()?;
            let took = Nanos::from_millis(columns.next()?.parse().ok()?);
            is_it.then_some(SimulatedReplay { card, took })
        })
        .collect();
    all.sort_by_key(|replay| replay.took);
    all
}

/// The replays on simulated cards with which `replay` can be compared, the fastest first, and how many of them took its
/// time or less; `None` where it is not comparable or there is nothing to compare with.
pub(crate) fn place(replay: &Replay) -> Option<(Vec<SimulatedReplay>, usize)> {
    let is_whole = replay.state == PhaseState::Measured;
    let thought_the_same = (replay.think_factor - 1.0).abs() < 1e-9;
    if !is_whole || !thought_the_same {
        return None;
    }
    let others = simulated_replays(&replay.trace, replay.requests_of);
    let took = replay.duration_ns + TABLE_STEP;
    let place = others.partition_point(|other| other.took <= took);
    (!others.is_empty()).then_some((others, place))
}

/// The job of which times on real cards were published, of the kind of `trace`.
pub(crate) fn published_job(trace: &str) -> Option<PredictedJob> {
    match trace {
        "desktop-install" => Some(PredictedJob::Install),
        "desktop-removal" => Some(PredictedJob::Removal),
        "desktop-reinstall" => Some(PredictedJob::Reinstall),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use cardproof_facts::PUBLISHED_CARDS;

    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        let mut traces: Vec<(&str, u64)> = lines
            .map(|line| {
                let columns: Vec<&str> = line.split(',').collect();
                (columns[0], columns[1].parse().unwrap())
            })
            .collect();
        let count = traces.len();
        traces.dedup();
        let read: usize =
            traces.iter().map(|(trace, requests)| simulated_replays(trace, *requests).len()).sum();
        assert_eq!(read, count);
        for (trace, requests) in traces {
            let all = simulated_replays(trace, requests);
            assert_eq!(all.len(), PUBLISHED_CARDS.len(), "{trace}");
            assert!(all.iter().all(|it| PUBLISHED_CARDS.iter().any(|card| card.name == it.card)));
        }
        assert!(simulated_replays("desktop-removal", 5).is_empty());
    }
}
