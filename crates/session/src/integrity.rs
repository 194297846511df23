//! Does a command queue or a discard harm data? The tests of `cardproof_probe` on an open target, put into
//! the record.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_device::{ReadWitness, Sysroot};
use cardproof_evidence::integrity::{Sector, WrongKind};
use cardproof_probe::DriveError;
use cardproof_probe::integrity::{
    self as probe, DiscardOutcome, DiscardPlan, End, PlaceKind, QueueOutcome, QueuePlan, SpeedPlan,
    Tally,
};
use cardproof_record::{
    CheckedRequests, DiscardHarm, DiscardSpeed, DiscardTest, HarmedPlace, IntegrityTest,
    ProfileInfo, QueueTest, ReadOrigin, Record, State, TargetKind, Trial, WrongData, WrongPiece,
};
use cardproof_sim::Keeping;
use cardproof_units::{Bytes, Nanos, Seed, with_causes};

use crate::announcement::{Effect, Prepared, Writes};
use crate::capacity::SHORTHAND;
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::frontend::{Event, Frontend};
use crate::recorder::Recorder;
use crate::session::Bench;
use crate::target::{Span, Storage, StorageNeeds, Writing};

/// The size of a file of our own.
const OWN_FILE: Bytes = Bytes::mib(256);

/// The queue is filled with so many requests: as many as an SD card's queue takes.
const DEPTH: u16 = 32;

/// By default the share of writes that a queue may spoil unseen.
const QUEUE_SHARE: f64 = 0.000_05;

/// By default the share of discards that may do harm unseen.
const DISCARD_SHARE: f64 = 0.003;

/// What a card of class A1 writes in pieces of these lengths: 350 a second, of 15 KiB in the mean; assumed.
const SMALL_WRITES_BYTES_PER_S: f64 = 5e6;

/// What is tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntegrityWish {
    /// The command queue.
    pub queue: bool,
    /// Discards.
    pub discard: bool,
    /// The share of requests gone wrong that is to be found with 95 % confidence, between 0 and 1; `None` for
    /// that of each test.
    pub share: Option<f64>,
}

/// The experiment.
#[derive(Debug)]
pub struct IntegrityCheck {
    wish: IntegrityWish,
    /// What is tested, where it is real.
    target: Option<PathBuf>,
    queue: Option<QueuePlan>,
    discard: Option<DiscardPlan>,
    speed: Option<SpeedPlan>,
}

impl IntegrityCheck {
    /// The tests that `wish` asks for.
    #[must_use]
    pub const fn new(wish: IntegrityWish) -> Self {
        Self { wish, target: None, queue: None, discard: None, speed: None }
    }

    /// The same tests, which look whether their reads come from the storage of `target`, the device, file or
    /// directory that is tested.
    #[must_use]
    pub fn with_witness(self, target: &Path) -> Self {
        Self { target: Some(target.to_owned()), ..self }
    }

    /// Makes the plans for what is open.
    fn plan(&mut self, place: &Storage, seed: Seed) -> Result<(), Failure> {
        let unfit = |error: probe::PlanError| Failure::usage(error.to_string());
        if self.wish.queue {
            let share = self.wish.share.unwrap_or(QUEUE_SHARE);
            let plan = QueuePlan::new(place.span, DEPTH, share, self.wish.discard, seed);
            self.queue = Some(plan.map_err(unfit)?);
        }
        if self.wish.discard {
            let share = self.wish.share.unwrap_or(DISCARD_SHARE);
            self.discard = Some(DiscardPlan::new(place.span, share, seed).map_err(unfit)?);
            self.speed = Some(SpeedPlan::new(place.span, seed).map_err(unfit)?);
        }
        Ok(())
    }

    fn bytes_to_write(&self) -> Bytes {
        let parts = [
            self.queue.map(|plan| plan.bytes_to_write()),
            self.discard.map(|plan| plan.bytes_to_write()),
            self.speed.map(|plan| plan.bytes_to_write()),
        ];
        parts.into_iter().flatten().fold(Bytes::ZERO, |sum, part| sum + part)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(plan) = &self.queue {
            notes.push(format!(
                "Tests the queue: {} writes with up to {} requests at a time, to {} pieces all over the test \
                 range. Each is read back, and read again after a flush. Before that, {} writes one at a time.",
                plan.writes(),
                plan.depth(),
                plan.pieces(),
                plan.writes_before()
            ));
            notes.push(format!(
                "If some data is wrong at depth, the test goes on to find out whether it is wrong without a queue \
                 too. That writes up to {}.",
                plan.bytes_at_most()
            ));
        }
        if let Some(plan) = &self.discard {
            notes.push(format!(
                "Tests discards: {} ranges of 4 KiB to 1 MiB with live data between them; then the speed of \
                 writes before and after a discard.",
                plan.discards()
            ));
            notes.push(format!(
                "If data is wrong after discards, the test goes on to find out whether it is wrong without discards \
                 too. That writes up to {}.",
                plan.bytes_at_most()
            ));
        }
        let seconds = self.bytes_to_write().as_f64() / SMALL_WRITES_BYTES_PER_S;
        notes.push(format!(
            "Reads up to twice as much as it writes. On a card with 5 MB/s of small writes, the writes take about {}.",
            Nanos::from_secs(seconds.ceil() as u64)
        ));
        notes
    }
}

impl Experiment for IntegrityCheck {
    type Place = Storage;

    fn needs(&mut self, _seed: Seed) -> StorageNeeds {
        StorageNeeds {
            whole_device: true,
            ..StorageNeeds::new(
                Span { own_file: OWN_FILE, existing: Bytes(u64::MAX) },
                Writing::Always,
                Keeping::Short(SHORTHAND),
            )
        }
    }

    fn prepare(
        &mut self,
        place: &mut Storage,
        draft: &mut Record,
        _frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        draft.profile = ProfileInfo::untimed("integrity", 1);
        if self.wish.discard
            && !matches!(place.kind, TargetKind::BlockDevice | TargetKind::Simulated)
        {
            return Err(Failure::usage(
                "--discard needs a device: a hole in a file reads as zeros whatever the card does, so a test \
                 in a file says nothing; name the device with --destroy",
            ));
        }
        self.plan(place, draft.seed)?;
        let writes = Writes::About(self.bytes_to_write());
        let effect = Effect { writes, span: place.span, ..Effect::default() };
        let IntegrityWish { queue, discard, share } = self.wish;
        let decided_by = serde_json::json!([place.span.get(), queue, discard, share]).to_string();
        Ok(Prepared { name: "integrity".to_owned(), decided_by, effect, notes: self.notes() })
    }

    fn run(&mut self, bench: &mut Bench<'_, Storage>) {
        bench.record.trial = Some(Trial::Integrity(IntegrityTest::default()));
        bench.record.state = State::Complete;
        let can_discard = bench.place.target.abilities().discard;
        if let Some(plan) = self.queue {
            let plan = if can_discard { plan } else { plan.without_discards() };
            queue(bench, &plan, self.target.as_deref());
            bench.checkpoint();
        }
        if bench.record.state == State::Complete
            && let Some(plan) = self.discard
        {
            if can_discard {
                discards(bench, &plan, self.speed.as_ref(), self.target.as_deref());
            } else {
                let span_bytes = bench.place.span;
                let test = DiscardTest { span_bytes, is_unsupported: true, ..Default::default() };
                set_discard(&mut bench.record, test);
            }
        }
    }
}

/// Tests the queue and puts what it saw into the record.
fn queue(bench: &mut Bench<'_, Storage>, plan: &QueuePlan, witnessed: Option<&Path>) {
    let witness = witness(witnessed);
    let Bench { place, record, recorder, stop, .. } = bench;
    match probe::run_queue(&mut *place.target, plan, &mut Steps { recorder, stop }) {
        Ok(outcome) => {
            record.bytes_written += outcome.bytes_written;
            record.bytes_read += outcome.bytes_read;
            end(record, recorder, outcome.end);
            let origin = shown(witness, outcome.bytes_read);
            let test = QueueTest { origin, ..queue_test(&outcome, plan, place.span) };
            if let Some(Trial::Integrity(integrity)) = &mut record.trial {
                integrity.queue = Some(test);
            }
        }
        Err(error) => fail(record, recorder, &error),
    }
}

/// Tests discards, then what speed they give back where they do no harm.
fn discards(
    bench: &mut Bench<'_, Storage>,
    plan: &DiscardPlan,
    speed: Option<&SpeedPlan>,
    witnessed: Option<&Path>,
) {
    let witness = witness(witnessed);
    let Bench { place, record, recorder, stop, .. } = bench;
    let mut steps = Steps { recorder, stop };
    let outcome = match probe::run_discards(&mut *place.target, plan, &mut steps) {
        Ok(outcome) => outcome,
        Err(error) => return fail(record, recorder, &error),
    };
    record.bytes_written += outcome.bytes_written;
    record.bytes_read += outcome.bytes_read;
    let origin = shown(witness, outcome.bytes_read);
    let mut test = DiscardTest { origin, ..discard_test(&outcome, place.span) };
    let goes_on = outcome.end == End::Done && !outcome.is_unsupported && outcome.control_wrong == 0;
    if let Some(plan) = speed.filter(|_| goes_on) {
        match probe::run_speed(&mut *place.target, plan, &mut steps) {
            Ok(measured) => {
                record.bytes_written += measured.bytes_written;
                if measured.is_stopped {
                    record.state = State::Partial;
                }
                test.faults += measured.faults;
                test.mended += measured.mended;
                if let Some(fault) = measured.fault {
                    steps.recorder.note(&format!(
                        "The speed after discards was not measured to its end, after too many errors: {fault}."
                    ));
                }
                test.speed = Some(DiscardSpeed {
                    region_bytes: measured.region,
                    before_iops: measured.before,
                    after_iops: measured.after,
                });
            }
            Err(error) => fail(record, steps.recorder, &error),
        }
    }
    end(record, recorder, outcome.end);
    set_discard(record, test);
}

fn witness(target: Option<&Path>) -> Option<ReadWitness> {
    target.map(|target| ReadWitness::begin(&Sysroot::default(), target))
}

/// What the counters of the device show of the `read` bytes of a test.
fn shown(witness: Option<ReadWitness>, read: Bytes) -> Option<ReadOrigin> {
    let mut witness = witness?;
    witness.note(read);
    Some(witness.end())
}

fn set_discard(record: &mut Record, test: DiscardTest) {
    if let Some(Trial::Integrity(integrity)) = &mut record.trial {
        integrity.discard = Some(test);
    }
}

fn fail(record: &mut Record, recorder: &mut Recorder<'_>, error: &DriveError) {
    record.state = State::Failed;
    recorder.note(&format!("The test has ended early: {}.", with_causes(error)));
}

fn end(record: &mut Record, recorder: &mut Recorder<'_>, end: End) {
    match end {
        End::Done | End::Certain => {}
        End::Stopped => record.state = State::Partial,
        End::Failing(fault) => {
            record.state = State::Failed;
            recorder.note(&format!("The test has ended early, after too many errors: {fault}.",));
        }
    }
}

/// Hands on how far the test is.
struct Steps<'a, 'b> {
    recorder: &'a mut Recorder<'b>,
    stop: &'a AtomicBool,
}

impl probe::Progress for Steps<'_, '_> {
    fn step(&mut self, deed: &'static str, done: f64) -> bool {
        // A thousandth is fine enough for a bar.
        self.recorder.tell(Event::Part { deed, done: (done * 1000.0) as u64, of: 1000 });
        !self.stop.load(Ordering::Relaxed)
    }
}

fn queue_test(outcome: &QueueOutcome, plan: &QueuePlan, span: Bytes) -> QueueTest {
    let wrong = outcome.wrong.iter().map(|(piece, is_queued)| WrongPiece {
        kind: wrong_data(piece.kind),
        address_bytes: Bytes(piece.address_bytes),
        length_bytes: Bytes(piece.length_bytes),
        from_bytes: piece.from_bytes.map(Bytes),
        depth: piece.depth,
        is_queued: *is_queued,
        is_stored: piece.is_stored,
        was_right: piece.was_right,
    });
    QueueTest {
        queue_depth: plan.depth(),
        pieces: plan.pieces(),
        span_bytes: span,
        with_discards: plan.discards(),
        control: requests(&outcome.control),
        queued: requests(&outcome.queued),
        faults: outcome.faults,
        mended: outcome.mended,
        origin: None,
        wrong: wrong.collect(),
        extra: Default::default(),
    }
}

fn requests(tally: &Tally) -> CheckedRequests {
    CheckedRequests {
        writes: tally.writes,
        reads: tally.reads,
        flushes: tally.flushes,
        wrong: tally.wrong,
        time_ns: tally.time,
        extra: Default::default(),
    }
}

fn discard_test(outcome: &DiscardOutcome, span: Bytes) -> DiscardTest {
    let wrong = outcome.wrong.iter().map(|wrong| DiscardHarm {
        place: match wrong.place {
            PlaceKind::Live => HarmedPlace::Live,
            PlaceKind::WrittenAgain => HarmedPlace::WrittenAgain,
            PlaceKind::Far => HarmedPlace::Far,
            PlaceKind::Discarded => HarmedPlace::Discarded,
        },
        kind: match wrong.found {
            Sector::OtherWriting(_) => WrongData::Older,
            Sector::Foreign(_) => WrongData::Foreign,
            Sector::Zeros | Sector::Ones => WrongData::Blank,
            Sector::Right | Sector::Damaged => WrongData::Damaged,
        },
        address_bytes: Bytes(wrong.address_bytes),
        length_bytes: Bytes(wrong.length_bytes),
        distance_bytes: Bytes(wrong.distance_bytes),
    });
    let [zeros, ones, old, other] = outcome.reads;
    DiscardTest {
        span_bytes: span,
        is_unsupported: outcome.is_unsupported,
        discards: outcome.discards,
        discarded_bytes: outcome.discarded,
        live_checked_bytes: outcome.live_checked,
        again_checked_bytes: outcome.again_checked,
        wrong_places: outcome.wrong_count,
        wrong: wrong.collect(),
        reads_zero_bytes: zeros,
        reads_ones_bytes: ones,
        reads_old_bytes: old,
        reads_other_bytes: other,
        revived_bytes: outcome.revived,
        control_checked_bytes: outcome.control_checked,
        control_wrong_places: outcome.control_wrong,
        faults: outcome.faults,
        mended: outcome.mended,
        origin: None,
        time_ns: outcome.time,
        speed: None,
        extra: Default::default(),
    }
}

const fn wrong_data(kind: WrongKind) -> WrongData {
    match kind {
        WrongKind::Older => WrongData::Older,
        WrongKind::Foreign => WrongData::Foreign,
        WrongKind::Torn => WrongData::Torn,
        WrongKind::Blank => WrongData::Blank,
        WrongKind::Damaged => WrongData::Damaged,
    }
}
