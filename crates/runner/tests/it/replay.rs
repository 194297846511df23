//! Replays on models whose truth is known: what waits for what, and how long it takes.

use std::sync::atomic::AtomicBool;

use cardproof_io::{NullTarget, Target};
use cardproof_record::{Disturbance, PhaseState, PhaseSurroundings, Replay, ReplayLayout};
use cardproof_runner::{Monitor, MonitorCost, Observation, ReplayPlan, Watcher, replay};
use cardproof_sim::Keeping;
use cardproof_trace::{Request, RequestKind, Source, TraceReader, TraceWriter};
use cardproof_units::{Bytes, Nanos, Seed};

const CARD: &str = "sandisk-extreme-a1";

fn card() -> Box<dyn Target + Send> {
    cardproof_sim::find(CARD).unwrap().open(Seed::from_bits(1), Keeping::Nothing).unwrap()
}

fn plan(think_factor: f64) -> ReplayPlan {
    ReplayPlan {
        think_factor,
        queue_depth: 32,
        span: Bytes::gib(8),
        seed: Seed::from_bits(1),
        lay_out: false,
    }
}

fn trace(requests: &[Request]) -> Vec<u8> {
    let mut writer = TraceWriter::new("job", "", Source::Synthetic);
    requests.iter().for_each(|request| writer.push(request));
    writer.finish(Nanos::ZERO)
}

fn replayed(target: &mut dyn Target, bytes: &[u8], plan: &ReplayPlan) -> Replay {
    let reader = TraceReader::new(bytes).unwrap();
    replay(target, &reader, plan, &mut |_| {}, &AtomicBool::new(false), None)
}

fn request(kind: RequestKind, at_ms: u64, block: u64) -> Request {
    let length = if kind == RequestKind::Flush { Bytes::ZERO } else { Bytes::kib(4) };
    let offset = if kind == RequestKind::Flush { Bytes::ZERO } else { Bytes::kib(4 * block) };
    Request::new(Nanos::from_millis(at_ms), kind, offset, length)
}

/// `epochs` times four writes and a flush, `gap_ms` apart.
fn epochs(epochs: u64, gap_ms: u64) -> Vec<Request> {
    (0..epochs * 5)
        .map(|number| {
            let flushes = number % 5 == 4;
            let kind = if flushes { RequestKind::Flush } else { RequestKind::Write };
            request(kind, number * gap_ms, number * 7919 % 100_000)
        })
        .collect()
}

#[test]
fn thinking_is_kept_scaled_or_left_out() {
    let bytes = trace(&epochs(20, 50));
    let [none, kept, double] =
        [0.0, 1.0, 2.0].map(|factor| replayed(&mut *card(), &bytes, &plan(factor)));
    assert_eq!(kept.state, PhaseState::Measured);
    // 99 gaps of 50 ms; the writes are served meanwhile, the flushes are not.
    let thinking = Nanos::from_millis(99 * 50);
    assert!(kept.duration_ns >= thinking, "{kept:?}");
    assert!(kept.duration_ns < thinking + none.duration_ns, "{kept:?}");
    assert!(double.duration_ns >= thinking * 2, "{double:?}");
    assert_eq!(none.thought_ns, Nanos::ZERO);
}

#[test]
fn everything_is_counted_once() {
    let mut requests = epochs(20, 0);
    requests.push(request(RequestKind::Read, 1, 5));
    requests.push(Request { durable: true, ..request(RequestKind::Write, 1, 5) });
    let replay = replayed(&mut *card(), &trace(&requests), &plan(1.0));
    assert_eq!((replay.requests, replay.requests_of), (102, 102));
    assert_eq!(replay.reads.unwrap().ops, 1);
    assert_eq!(replay.writes.as_ref().unwrap().ops, 81);
    assert_eq!(replay.writes.unwrap().bytes, Bytes::kib(4 * 81));
    assert_eq!((replay.flushes.unwrap().ops, replay.epochs), (21, 21));
}

#[test]
fn a_slow_card_stretches_the_job_and_a_fast_one_does_not() {
    let bytes = trace(&epochs(50, 1));
    let slow = cardproof_sim::find("intenso-class-4").unwrap();
    let mut slow = slow.open(Seed::from_bits(1), Keeping::Nothing).unwrap();
    let slow = replayed(&mut *slow, &bytes, &plan(1.0));
    let fast = replayed(&mut *card(), &bytes, &plan(1.0));
    assert!(slow.duration_ns > fast.duration_ns * 3, "{slow:?} {fast:?}");
    assert!(slow.waited.total() > slow.thought_ns, "{slow:?}");
}

#[test]
fn addresses_beyond_the_span_are_packed() {
    let far = [request(RequestKind::Write, 0, 0), request(RequestKind::Write, 1, 1 << 24)];
    let plan = ReplayPlan { span: Bytes::mib(8), ..plan(1.0) };
    let replay = replayed(&mut *card(), &trace(&far), &plan);
    assert_eq!((replay.state, replay.layout), (PhaseState::Measured, ReplayLayout::Packed));
}

#[test]
fn a_wish_to_stop_leaves_a_part() {
    let bytes = trace(&epochs(20, 1));
    let reader = TraceReader::new(&bytes).unwrap();
    let stop = AtomicBool::new(true);
    let replay = replay(&mut *card(), &reader, &plan(1.0), &mut |_| {}, &stop, None);
    assert_eq!(replay.state, PhaseState::Partial);
    assert!(replay.requests < replay.requests_of);
}

#[test]
fn a_fault_is_named_and_is_no_measurement() {
    let mut null = NullTarget::new(Bytes::mib(64)).unwrap();
    let mut damaged = trace(&epochs(20, 0));
    let middle = damaged.len() - 20;
    damaged[middle] ^= 0x55;
    let PhaseState::NotMeasured { cause } = replayed(&mut null, &damaged, &plan(0.0)).state else {
        unreachable!("a damaged trace was replayed")
    };
    assert!(cause.contains("at byte"), "{cause}");
}

/// Counts how often it was asked.
#[derive(Default)]
struct Counting {
    begun: u32,
    ended: u32,
}

impl Monitor for Counting {
    fn begin(&mut self) {
        self.begun += 1;
    }

    fn end(&mut self) -> Option<Observation> {
        self.ended += 1;
        Some(Observation::default())
    }

    fn disturbances(
        &self,
        surroundings: &PhaseSurroundings,
        filesystem: Option<&str>,
    ) -> Vec<Disturbance> {
        cardproof_rating::disturbances(surroundings, filesystem)
    }

    fn cost(&self) -> MonitorCost {
        MonitorCost::default()
    }
}

#[test]
fn a_replay_that_does_not_begin_has_nothing_beside_it() {
    let bytes = trace(&[request(RequestKind::Write, 0, 4096)]);
    for (span, watched) in [(Bytes::mib(1), 0), (Bytes::gib(1), 1)] {
        let mut monitor = Counting::default();
        let beside = Watcher { monitor: &mut monitor, filesystem: None };
        let plan = ReplayPlan { span, ..plan(0.0) };
        let reader = TraceReader::new(&bytes).unwrap();
        let stop = AtomicBool::new(false);
        let replay = replay(&mut *card(), &reader, &plan, &mut |_| {}, &stop, Some(beside));
        assert_eq!((monitor.begun, monitor.ended), (watched, watched), "{span}");
        assert_eq!(replay.surroundings.is_some(), watched == 1, "{span}");
        assert_eq!(replay.state == PhaseState::Measured, watched == 1, "{span}");
    }
}
