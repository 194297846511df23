//! By how much disturbances can have slowed a phase, at the most.
//!
//! A disturbance only slows. So a rate above a limit in spite of one is a pass, and a rate below it is a fail where
//! even the most that was lost would not have made up for it. The bounds:
//!
//! - **Processors of others.** The kernel counts for how long threads were ready to run and had no processor. A
//!   run is a net of steps, each of which begins when those before it have ended. Its time is that of the longest
//!   chain of steps. Taking waits out of it that are D together shortens no chain by more than D. So what was done
//!   in the time T would have taken T - D at the least, and the rate is at most T / (T - D) times what was seen.
//! - **I/O of others** in the same direction. If a request costs a fixed time and a time for its bytes, both alike for
//!   all, the share of the device's time that was ours is at least the smaller of our shares of requests and bytes.
//!   Requests in the other direction may cost any multiple, and bound nothing.
//! - **Heat, too low a voltage, a lowered clock** halve a rate at most: boards lower their clock to about half.
//!
//! Several disturbances are taken to add up: their factors are multiplied.

use cardproof_record::{
    Disturbance, DisturbanceKind, Phase, PhaseRun, PhaseSurroundings, Record, Requests,
};
use cardproof_units::Nanos;

use crate::disturbance;

/// What a disturbance may cost that no count bounds: other programs that use half of all processors count as one,
/// and hot boards lower their clock to about half.
const UNCOUNTED_FACTOR: f64 = 2.0;

/// What full processors can cost beside the waits and our own processor time: a worker of the kernel is counted by what
/// it did last.
const WORKERS_FACTOR: f64 = 1.05;

/// Others share caches, memory and the two halves of a processor with hyper-threading, which at most doubles our own
/// processor time: this share of it would not have been needed.
const SHARED_CPU: f64 = 0.5;

/// With less than this share of the time left, a bound by waits says nothing.
const TIME_LEFT_MIN: f64 = 0.1;

/// The factor by which `phase`, which was disturbed, would have been faster alone, at the most, for a figure that rests
/// on `judged` of its time; `None` where nothing bounds it.
pub(crate) fn slowdown_max(record: &Record, phase: &Phase, judged: Nanos) -> Option<f64> {
    let kinds: Vec<DisturbanceKind> =
        disturbance::of_phase(record, phase).iter().map(|Disturbance { kind, .. }| *kind).collect();
    // What the run itself noted, without its kind.
    let mut worst = if kinds.is_empty() { UNCOUNTED_FACTOR } else { 1.0_f64 };
    for (seen, judged) in observed(phase, judged) {
        let mut factor = 1.0;
        for kind in &kinds {
            factor *= factor_of(*kind, seen, judged)?;
        }
        worst = worst.max(factor);
    }
    Some(worst)
}

/// How many times as fast `phase` could have been without what disturbed it, at the most, for a figure that rests on
/// `judged` of its time: 1 where nothing disturbed it, infinite where nothing bounds what was lost.
pub(crate) fn faster_alone(record: &Record, phase: &Phase, judged: Nanos) -> f64 {
    if !disturbance::is_disturbed(record, phase) {
        return 1.0;
    }
    slowdown_max(record, phase, judged).unwrap_or(f64::INFINITY)
}

/// What was seen of the system in each run that counts, and the time that a figure rests on in it. A phase that was
/// not watched has one entry, with nothing seen.
fn observed(phase: &Phase, judged: Nanos) -> Vec<(Option<&PhaseSurroundings>, Nanos)> {
    if phase.runs.is_empty() {
        return vec![(phase.surroundings.as_deref(), judged)];
    }
    let of_run = |run: &'_ PhaseRun| run.duration_ns;
    phase
        .runs
        .iter()
        .filter(|run| run.counts)
        .map(|run| (run.surroundings.as_deref(), of_run(run)))
        .collect()
}

/// The factor that a disturbance of `kind` may have cost.
fn factor_of(
    kind: DisturbanceKind,
    seen: Option<&PhaseSurroundings>,
    judged: Nanos,
) -> Option<f64> {
    match kind {
        DisturbanceKind::CpuByOthers => {
            match seen.and_then(|seen| Some((seen.processor_wait_ns?, own_cpu_time(seen)?))) {
                Some((waited, worked)) => by_waits(waited, worked, judged),
                None => Some(UNCOUNTED_FACTOR),
            }
        }
        DisturbanceKind::OtherIo => by_other_io(seen?),
        DisturbanceKind::Heat
        | DisturbanceKind::UnderVoltage
        | DisturbanceKind::ClockChanged
        | DisturbanceKind::Other => Some(UNCOUNTED_FACTOR),
    }
}

fn by_waits(waited: Nanos, worked: Nanos, judged: Nanos) -> Option<f64> {
    let lost = waited.as_secs_f64() + SHARED_CPU * worked.as_secs_f64();
    let left = 1.0 - lost / judged.as_secs_f64();
    (left >= TIME_LEFT_MIN).then(|| WORKERS_FACTOR / left)
}

/// The processor time of the run itself in the time that was seen.
fn own_cpu_time(seen: &PhaseSurroundings) -> Option<Nanos> {
    let cpus = f64::from(seen.activity.cpu.as_ref()?.cpus);
    Some(Nanos::from_secs_f64(seen.own_cpu? * cpus * seen.activity.window_ns.as_secs_f64()))
}

fn by_other_io(seen: &PhaseSurroundings) -> Option<f64> {
    let own = seen.own?;
    let device = seen.activity.devices.first()?;
    let share = |own: f64, requests: f64| if requests > own { own / requests } else { 1.0 };
    let of = |bytes: f64, ops: f64, requests: &Requests| {
        share(bytes, requests.bytes.as_f64()).min(share(ops, requests.count as f64))
    };
    // One operation may be several requests, which only makes our share of them look smaller.
    let ops = own.ops as f64;
    let (read, written) = (own.read_bytes.as_f64(), own.written_bytes.as_f64());
    let smaller = match (read > 0.0, written > 0.0) {
        (true, false) if device.writes.count == 0 => of(read, ops, &device.reads),
        (false, true) if device.reads.count == 0 => of(written, ops, &device.writes),
        _ => return None,
    };
    (smaller > 0.0).then(|| 1.0 / smaller)
}

#[cfg(test)]
mod tests {
    use cardproof_record::{Activity, DeviceActivity, OwnActivity};
    use cardproof_units::Bytes;

    use super::*;

    /// A phase of ten seconds and 1,000 reads of 4 KiB beside `reads` and `writes` of others of this size.
    fn beside(reads: u64, writes: u64) -> PhaseSurroundings {
        let requests =
            |count| Requests { count, bytes: Bytes::kib(4) * count, ..Requests::default() };
        let device = DeviceActivity {
            reads: requests(1000 + reads),
            writes: requests(writes),
            ..DeviceActivity::default()
        };
        let own = OwnActivity {
            ops: 1000,
            read_bytes: Bytes::kib(4) * 1000,
            direct: true,
            ..OwnActivity::default()
        };
        PhaseSurroundings {
            activity: Activity { devices: vec![device], ..Activity::default() },
            own: Some(own),
            ..PhaseSurroundings::default()
        }
    }

    #[test]
    fn waits_for_processors_bound_what_was_lost() {
        let factor = |waited_ms, worked_ms| {
            let [waited, worked] = [waited_ms, worked_ms].map(Nanos::from_millis);
            by_waits(waited, worked, Nanos::from_secs(10))
        };
        assert_eq!(factor(0, 0), Some(WORKERS_FACTOR));
        assert_eq!(factor(5_000, 0), Some(2.0 * WORKERS_FACTOR));
        assert_eq!(factor(4_000, 2_000), Some(2.0 * WORKERS_FACTOR));
        assert_eq!(factor(9_500, 0), None, "hardly any time is left");
        assert_eq!(factor(20_000, 0), None, "many threads may wait at once");
    }

    #[test]
    fn reads_of_others_bound_what_was_lost_and_writes_do_not() {
        assert_eq!(by_other_io(&beside(1000, 0)), Some(2.0));
        assert_eq!(by_other_io(&beside(3000, 0)), Some(4.0), "more than twice");
        assert_eq!(by_other_io(&beside(0, 1)), None, "a write may take as long as many reads");
    }

    /// Simulated: a queue of 32 on a device that serves one request after the other, and a thread that is kept from
    /// running. The bound is never below what the same device does with the thread alone.
    #[test]
    fn the_bound_by_waits_holds_for_any_pattern_of_waits() {
        let mut random = 12345_u64;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        for depth in [1_usize, 4, 32] {
            for _ in 0..200 {
                let services: Vec<u64> = (0..500).map(|_| 100 + draw(900)).collect();
                let likely = draw(100);
                let most = 1 + draw(4_000);
                let waits: Vec<u64> =
                    (0..500).map(|_| if draw(100) < likely { draw(most) } else { 0 }).collect();
                let (alone, _) = time_of(&services, &[0; 500], depth);
                let (disturbed, waited) = time_of(&services, &waits, depth);
                assert!(alone >= disturbed.saturating_sub(waited), "depth {depth}: {alone}");
            }
        }
    }

    /// The time that a closed loop with `depth` requests takes on a device that serves one at a time, where the thread
    /// waits for a processor before it handles each completion; and how long it waited in all.
    fn time_of(services: &[u64], waits: &[u64], depth: usize) -> (u64, u64) {
        let (mut device_free, mut thread_free, mut waited) = (0, 0, 0);
        let mut submitted = vec![0_u64; depth];
        for (number, service) in services.iter().enumerate() {
            let slot = number % depth;
            device_free = submitted[slot].max(device_free) + service;
            let ready = device_free.max(thread_free);
            thread_free = ready + waits[number] + 5;
            waited += waits[number];
            submitted[slot] = thread_free;
        }
        (thread_free, waited)
    }
}
