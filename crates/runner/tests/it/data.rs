//! Storage that loses data is found out by every profile, and honest storage is never accused.

use std::sync::atomic::AtomicBool;

use cardproof_io::faulty::{Failure, FaultyTarget};
use cardproof_io::{
    Abilities, Arrangement, Completion, Directness, Op, OpKind, Slot, Submission, SubmitError,
    Target, TargetError, Wait,
};
use cardproof_record::{DataCheck, Record};
use cardproof_runner::Silent;
use cardproof_sim::{Keeping, catalogue, find};
use cardproof_units::{Bytes, Nanos, Seed};
use cardproof_workload::{Profile, user_profile};

use crate::support::{Memory, phase, plan, run_plan};

/// A user's own profile: nothing in it reads.
const OWN: &str = r#"
span = "4G"

[[phase]]
name = "film"
op = "write"
pattern = "sequential"
block-size = "1M"
queue-depth = 2
time = "6s"

[[phase]]
name = "log"
op = "write"
pattern = "random"
block-size = "4k"
queue-depth = 32
time = "3s"
"#;

/// Every way in which writes may overlap: many in flight on few places, off their boundaries, with
/// reads between, over one another.
const TANGLED: &str = r#"
span = "256k"

[[phase]]
name = "fill"
op = "write"
pattern = "sequential"
block-size = "64k"
bytes = "256k"
lays-out = true

[[phase]]
name = "few-places"
op = "write"
pattern = "random"
block-size = "16k"
queue-depth = 32
ops = 2000

[[phase]]
name = "off-boundaries"
op = "mixed"
read-percent = 40
pattern = "random"
block-size = "4k"
alignment-offset = "512"
queue-depth = 16
ops = 2000

[[phase]]
name = "again-and-again"
op = "write"
pattern = "random-once"
block-size = "8k"
fsync-every = 3
queue-depth = 4
ops = 100
"#;

fn own_profile(text: &str) -> Profile {
    user_profile::from_toml("own", text).unwrap()
}

fn run_on(target: &mut dyn Target, profile: Profile, seed: u64) -> Record {
    let span = profile.span;
    let mut plan = plan(profile, span.min(target.abilities().size));
    plan.seed = Seed::from_bits(seed);
    run_plan(target, &plan, &mut Silent, &AtomicBool::new(false))
}

fn checks(record: &Record) -> Vec<DataCheck> {
    let of_phases = record.phases.iter().filter_map(|phase| phase.data_check);
    of_phases.chain(record.data_check).collect()
}

fn wrong(record: &Record) -> u64 {
    checks(record).iter().map(|check| check.wrong_places + check.unreadable_places).sum()
}

#[test]
fn no_fake_passes_a_profile_of_the_users_own() {
    for card in catalogue().iter().filter(|card| card.fake.is_some()) {
        for seed in 1..4 {
            let mut target = card.open(Seed::from_bits(seed), Keeping::Bytes).unwrap();
            let record = run_on(&mut *target, own_profile(OWN), seed);
            assert!(wrong(&record) > 0, "{} with seed {seed} passes", card.name);
        }
    }
}

#[test]
fn honest_storage_is_never_accused() {
    for name in ["intenso-class-4", "sandisk-ultra-a1", "v30-a2-queued", "usb-stick"] {
        for text in [OWN, TANGLED] {
            let mut target = find(name).unwrap().open(Seed::from_bits(1), Keeping::Bytes).unwrap();
            let record = run_on(&mut *target, own_profile(text), 1);
            assert_eq!(wrong(&record), 0, "{name}: {:?}", checks(&record));
        }
    }
    for profile in
        cardproof_workload::names().iter().filter_map(|name| cardproof_workload::find(name))
    {
        let mut target = Memory::new(Bytes::mib(8)).with_service(Nanos::from_millis(4));
        let name = profile.name.clone();
        let mut plan = plan(profile, Bytes::mib(8));
        plan.time_budget = plan.time_budget.min(Nanos::from_secs(10));
        let record = run_plan(&mut target, &plan, &mut Silent, &AtomicBool::new(false));
        assert_eq!(wrong(&record), 0, "{name}: {:?}", checks(&record));
        let writes = record.phases.iter().any(|phase| phase.read_percent < 100 && phase.ops > 0);
        // A method that ends on a fresh file has nothing left to compare at its end.
        let places: u64 = checks(&record).iter().map(|check| check.places).sum();
        assert!(!writes || places > 50, "{name} compares {places} places");
    }
}

#[test]
fn writes_that_change_their_order_in_flight_are_no_lost_data() {
    let mut target = Liar::new(Memory::new(Bytes::kib(256)), Lie::Reverses);
    let record = run_on(&mut target, own_profile(TANGLED), 3);
    assert_eq!(wrong(&record), 0, "{:?}", checks(&record));
}

#[test]
fn writes_that_say_they_are_done_and_are_not_are_found_out() {
    for every in [2, 20, 100] {
        let mut target = Liar::new(
            Memory::new(Bytes::mib(8)).with_service(Nanos::from_millis(4)),
            Lie::Drops { every },
        );
        let record = run_on(&mut target, own_profile(OWN), 3);
        assert!(wrong(&record) > 0, "one write of {every} is dropped");
    }
}

#[test]
fn places_that_cannot_be_read_back_are_counted() {
    let profile = own_profile(OWN);
    let failure =
        Failure::From { nth: 1, kind: Some(OpKind::Read), fault: cardproof_io::Fault::InputOutput };
    let mut target = FaultyTarget::new(
        Memory::new(Bytes::mib(8)).with_service(Nanos::from_millis(4)),
        vec![failure],
    );
    let record = run_on(&mut target, profile, 1);
    let check = record.data_check.unwrap();
    assert_eq!((check.wrong_places, check.unreadable_places), (0, check.places));
}

#[test]
fn comparing_takes_no_phase_time_and_no_run_time() {
    let profile = own_profile(OWN);
    let record = run_on(
        &mut Memory::new(Bytes::mib(8)).with_service(Nanos::from_millis(4)),
        profile.clone(),
        1,
    );
    // Four milliseconds an operation: nothing but the phase's own operations is in its time.
    for spec in &profile.phases {
        let measured = phase(&record, &spec.name);
        assert_eq!(measured.duration_ns, Nanos::from_millis(4 * measured.ops), "{}", spec.name);
        assert!(measured.data_check.unwrap().places >= 32);
    }
    let taken = checks(&record).iter().fold(Nanos::ZERO, |sum, check| sum + check.duration_ns);
    assert!(taken <= Nanos::from_secs(3), "{taken}");
}

#[test]
fn the_sample_reaches_the_end_of_a_span_that_no_phase_could_fill() {
    let mut target =
        find("intenso-class-4").unwrap().open(Seed::from_bits(1), Keeping::Bytes).unwrap();
    let profile = Profile { phases: own_profile(OWN).phases[..1].to_vec(), ..own_profile(OWN) };
    let record = run_on(&mut *target, profile, 1);
    let measured = record.measured_to_bytes.unwrap();
    let check = record.data_check.unwrap();
    assert!(measured < Bytes::mib(400), "{measured}");
    assert!(check.to_bytes > Bytes::mib(3400), "{}", check.to_bytes);
    assert!(check.spread_bytes >= Bytes::mib(4), "{}", check.spread_bytes);
    assert!(check.spread_bytes <= Bytes::mib(9), "{}", check.spread_bytes);
    assert_eq!(check.wrong_places, 0);
}

/// How storage may treat writes.
#[derive(Clone, Copy)]
enum Lie {
    /// One of so many is not done.
    Drops { every: u64 },
    /// What is in flight is done in the opposite order, which it may be.
    Reverses,
}

/// Memory that lies, or that takes the freedom it has.
struct Liar {
    inner: Memory,
    lie: Lie,
    writes: u64,
    held_back: Vec<Op>,
}

impl Liar {
    fn new(inner: Memory, lie: Lie) -> Self {
        Self { inner, lie, writes: 0, held_back: Vec::new() }
    }
}

impl Target for Liar {
    fn abilities(&self) -> &Abilities {
        self.inner.abilities()
    }

    fn now(&mut self) -> Nanos {
        self.inner.now()
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.inner.prepare(slots, buffer_size)
    }

    fn arrange(&mut self, wanted: Arrangement) -> Result<Directness, TargetError> {
        self.inner.arrange(wanted)
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        if self.held_back.iter().any(|op| op.slot == slot) {
            return &mut [];
        }
        self.inner.buffer(slot)
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        match self.lie {
            Lie::Reverses => {
                self.held_back.push(op);
                Ok(Submission::Queued)
            }
            Lie::Drops { every } => {
                self.writes += u64::from(op.kind == OpKind::Write);
                let is_dropped = op.kind == OpKind::Write && self.writes.is_multiple_of(every);
                // A read in its place takes as long and changes nothing.
                let done = if is_dropped { Op { kind: OpKind::Read, ..op } } else { op };
                self.inner.submit(done)
            }
        }
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        for op in std::mem::take(&mut self.held_back).into_iter().rev() {
            self.inner.submit(op).unwrap();
        }
        self.inner.complete(wait, completions)
    }
}
