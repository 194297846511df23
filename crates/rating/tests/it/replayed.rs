//! The table of simulated replays holds what the models give, for every trace that is shipped.

use std::sync::atomic::AtomicBool;

use cardproof_rating::{PUBLISHED_CARDS, simulated_replays, standing};
use cardproof_record::{PhaseState, Replay};
use cardproof_runner::{ReplayPlan, replay};
use cardproof_sim::Keeping;
use cardproof_sim::calibration::PUBLISHED;
use cardproof_trace::{SHIPPED, ShippedTrace, TraceReader, find_shipped};
use cardproof_units::{Nanos, Seed};

/// A replay of `trace` on the simulated card called `card`, as `cargo xtask prove
/// replay-cards` makes it.
fn replayed(trace: &ShippedTrace, card: &str) -> Replay {
    let seed = Seed::from_bits(1);
    let reader = TraceReader::new(trace.bytes).unwrap();
    let mut target = cardproof_sim::find(card).unwrap().open(seed, Keeping::Nothing).unwrap();
    let span = target.abilities().size;
    let plan = ReplayPlan { think_factor: 1.0, queue_depth: 32, span, seed, lay_out: false };
    replay(&mut *target, &reader, &plan, &mut |_| {}, &AtomicBool::new(false), None)
}

#[test]
fn every_shipped_trace_is_in_the_table() {
    for trace in &SHIPPED {
        let requests = TraceReader::new(trace.bytes).unwrap().header().requests;
        let cards = simulated_replays(trace.name, requests).len();
        assert_eq!(cards, PUBLISHED_CARDS.len(), "{}: run the experiment again", trace.name);
    }
}

#[test]
fn a_time_in_the_table_is_what_the_model_takes() {
    let trace = find_shipped("desktop-removal").unwrap();
    let place = PUBLISHED.iter().position(|card| card.card == "sandisk-ultra-a1").unwrap();
    let replay = replayed(trace, PUBLISHED[place].card);
    let table = simulated_replays(&replay.trace, replay.requests_of);
    let known = table.iter().find(|known| known.card == PUBLISHED_CARDS[place].name).unwrap();
    let milliseconds = |time: Nanos| (time.as_secs_f64() * 1e3).round();
    assert!(
        (milliseconds(known.took) - milliseconds(replay.duration_ns)).abs() < 1.5,
        "the table says {}, the model takes {}; run cargo xtask prove replay-cards",
        known.took,
        replay.duration_ns
    );
    let told = standing(&replay);
    assert!(told[0].starts_with("8 simulated cards did the same job: "), "{told:?}");
    assert!(
        told.iter().any(|line| line.contains("Published times of real cards for removing")),
        "{told:?}"
    );
}

#[test]
fn a_replay_with_other_pauses_or_a_stopped_one_is_not_compared() {
    let trace = find_shipped("desktop-removal").unwrap();
    let whole = replayed(trace, "sandisk-ultra-a1");
    for other in [
        Replay { think_factor: 0.0, ..whole.clone() },
        Replay { state: PhaseState::Partial, ..whole.clone() },
        Replay { requests_of: 5, ..whole.clone() },
        Replay { trace: "holiday".to_owned(), ..whole },
    ] {
        assert_eq!(standing(&other), Vec::<String>::new());
    }
}
