//! The card of a run vanishes at any request, and another one of its name and size is in its place.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use cardproof_device::Surroundings;
use cardproof_io::{
    Abilities, Completion, Directness, Engine, Fault, Op, OpKind, Slot, Submission, SubmitError,
    Target, TargetError, Wait,
};
use cardproof_probe::endure::Pattern;
use cardproof_record::{EnduranceRun, StoppedBy, TargetKind};
use cardproof_testkit::some_of;

use super::*;
use crate::frontend::Event;
use crate::options::{Access, Identity};
use crate::recorder::Recorder;

const SIZE: Bytes = Bytes::mib(4);

/// A card, and who wrote to it.
struct Card {
    bytes: Vec<u8>,
    /// Writes, flushes and discards that it was asked for.
    changes: u64,
}

type Shared = Rc<RefCell<Card>>;

fn card(bytes: Vec<u8>) -> Shared {
    Rc::new(RefCell::new(Card { bytes, changes: 0 }))
}

fn blank() -> Shared {
    card(vec![0; SIZE.as_len()])
}

/// A card in a reader; after so many requests it is gone, in the middle of the last one.
struct Plugged {
    card: Shared,
    abilities: Abilities,
    buffer: Vec<u8>,
    now: Nanos,
    requests: Rc<RefCell<u64>>,
    gone_after: u64,
    /// A reader that keeps its disk when cards are changed: what is in it when, since the last request of its own card.
    changed: Vec<(Nanos, Option<Shared>)>,
    pulled_at: Option<Nanos>,
}

impl Plugged {
    fn new(card: &Shared, gone_after: u64) -> Self {
        let abilities = Abilities {
            engine: Engine::Psync,
            engine_fallback: None,
            size: SIZE,
            logical_block: Bytes(512),
            directness: Directness::Direct,
            read_only: false,
            written_before: false,
            discard: false,
            keeps_data: true,
            queue_depth_max: 1,
        };
        let (card, requests) = (card.clone(), Rc::default());
        Self {
            card,
            abilities,
            buffer: Vec::new(),
            now: Nanos::ZERO,
            requests,
            gone_after,
            changed: Vec::new(),
            pulled_at: None,
        }
    }

    /// Puts in what is there by now; `false` where there is nothing.
    fn change(&mut self) -> bool {
        let pulled_at = *self.pulled_at.get_or_insert(self.now);
        let passed = self.now.saturating_sub(pulled_at);
        let found = self.changed.iter().rfind(|(time, _)| *time <= passed);
        let Some((_, Some(card))) = found else { return false };
        self.card = Rc::clone(card);
        true
    }

    fn perform(&mut self, op: &Op) -> Result<Bytes, Fault> {
        *self.requests.borrow_mut() += 1;
        let requests = *self.requests.borrow();
        let is_last = requests == self.gone_after;
        let is_reader = !self.changed.is_empty();
        let gone = if is_reader { Fault::InputOutput } else { Fault::Vanished };
        if requests > self.gone_after && !(is_reader && self.change()) {
            return Err(gone);
        }
        let mut card = self.card.borrow_mut();
        card.changes += u64::from(op.kind != OpKind::Read);
        // What is pulled out in the middle of a write has taken a half of it.
        let length = op.length.as_len() / (1 + usize::from(is_last));
        let (at, part) = (op.offset.as_len(), &mut self.buffer[..length]);
        match op.kind {
            OpKind::Write => card.bytes[at..at + length].copy_from_slice(part),
            OpKind::Read => part.copy_from_slice(&card.bytes[at..at + length]),
            _ => {}
        }
        if is_last { Err(gone) } else { Ok(op.length) }
    }
}

impl Target for Plugged {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        self.now
    }

    fn prepare(&mut self, _slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.buffer.resize(buffer_size.as_len(), 0);
        Ok(())
    }

    fn buffer(&mut self, _slot: Slot) -> &mut [u8] {
        &mut self.buffer
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        let submitted = self.now;
        let outcome = self.perform(&op);
        self.now = submitted + Nanos::from_millis(1);
        let Op { slot, kind, .. } = op;
        Ok(Submission::Done(Completion { slot, kind, submitted, completed: self.now, outcome }))
    }

    fn complete(&mut self, wait: Wait, _: &mut Vec<Completion>) -> Result<(), TargetError> {
        if let Wait::Until(time) = wait {
            self.now = self.now.max(time);
        }
        Ok(())
    }
}

/// A reader in which one look after the other finds these cards; patience ends with them.
struct Looks(std::vec::IntoIter<Option<Shared>>, Option<Shared>);

impl Socket for Looks {
    fn vanished(&mut self) {}

    fn waits(&mut self) -> bool {
        let next = self.0.next();
        self.1 = next.clone().flatten();
        next.is_some()
    }

    fn open(&mut self) -> Option<Box<dyn Target>> {
        let target = Plugged::new(self.1.as_ref()?, u64::MAX);
        Some(Box::new(target))
    }
}

/// What the user has read.
#[derive(Default)]
struct Heard(Vec<String>);

impl Frontend for Heard {
    fn tell(&mut self, event: Event<'_>) {
        if let Event::Note(text) = event {
            self.0.push(text.to_owned());
        }
    }
}

fn wish() -> Wish {
    Wish { pattern: Pattern::Random, cycles_max: Some(2), bytes_max: None }
}

fn options(target: &Path) -> Options {
    let identity = Identity { id: "a".to_owned(), label: None, created: String::new() };
    Options {
        target: target.to_owned(),
        size: None,
        seed: Seed::from_bits(3),
        access: Access::default(),
        expect_device: None,
        identity,
        records: Err(Failure::usage("none")),
        does_without_record: true,
    }
}

/// What has come of a run.
struct Ended {
    run: EnduranceRun,
    state: RecordState,
    heard: Vec<String>,
    requests: u64,
    is_kept: bool,
}

/// A run on `own`, which vanishes in the request number `gone_after`; then `looks` are found in its place.
fn run_on(own: &Shared, gone_after: u64, looks: Vec<Option<Shared>>) -> Ended {
    run_in(Plugged::new(own, gone_after), looks)
}

/// A run on what is in `target`.
fn run_in(target: Plugged, looks: Vec<Option<Shared>>) -> Ended {
    let home = tempfile::tempdir().unwrap();
    let image = home.path().join("card");
    std::fs::File::create(&image).unwrap().set_len(SIZE.get()).unwrap();
    let options = options(&image);
    let asked = EndureOptions {
        daily_use: None,
        wish: wish(),
        states: None,
        restart: false,
        patience: Nanos::ZERO,
        csv: None,
        budget: None,
        random_bits: 7,
    };
    let plan = Plan::new(SIZE, wish(), options.seed).unwrap().salted(41);
    let device = Device::at(&image).unwrap();
    let header = journal::Header::new(&device, &plan, &wish(), options.seed);
    let journal = Journal::create(home.path(), &header).unwrap();
    let requests = Rc::clone(&target.requests);
    let mut endurance = Endurance::new(asked, options.clone(), None);
    endurance.ready = Some(Ready {
        state: State::new(&plan),
        plan,
        journal: Some(journal),
        socket: Some(Box::new(Looks(looks.into_iter(), None))),
    });
    let place = Storage {
        target: Box::new(target),
        kind: TargetKind::BlockDevice,
        simulated_card: None,
        simulated_model: None,
        surroundings: Surroundings::default(),
        span: SIZE,
        scratch: None,
    };
    let profile = ProfileInfo::untimed("endure", 1);
    let record =
        crate::session::blank(profile, options.seed, Default::default(), options.identity.clone());
    let (mut heard, stop) = (Heard::default(), AtomicBool::new(false));
    let recorder = Recorder {
        frontend: &mut heard,
        store: None,
        monitor: None,
        filesystem: None,
        unsaved: None,
    };
    let mut bench = Bench { place, record, seed: options.seed, stop: &stop, recorder };
    endurance.run(&mut bench);
    let record = bench.record;
    let state_file = journal::of_device(home.path(), &device.key).unwrap().remove(0);
    let saved = journal::read(&state_file).unwrap();
    let plan = Plan::new(SIZE, wish(), options.seed).unwrap().salted(41);
    let is_kept = saved.state(&plan, &state_file).unwrap().end.is_none();
    let requests = *requests.borrow();
    let run = record.endurance().unwrap().clone();
    Ended { run, state: record.state, heard: heard.0, requests, is_kept }
}

/// A run that nobody disturbs: so many requests it makes.
fn requests_of_whole_run() -> u64 {
    let ended = run_on(&blank(), u64::MAX, Vec::new());
    assert_eq!((ended.state, ended.run.cycles), (RecordState::Complete, 2));
    ended.requests
}

/// Cards that somebody may put in its place: empty, with data, and worn out by a run of the same seed.
fn others() -> Vec<Shared> {
    let photos = (0..SIZE.get()).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
    let worn = blank();
    let plan = Plan::new(SIZE, wish(), Seed::from_bits(3)).unwrap().salted(42);
    struct Nobody;
    impl cardproof_probe::endure::Watch for Nobody {
        fn progress(&mut self, _: &cardproof_probe::endure::Progress) -> bool {
            true
        }
        fn keep_cycle(&mut self, _: &cardproof_probe::endure::Cycle) -> Result<(), String> {
            Ok(())
        }
        fn keep_position(&mut self, _: &cardproof_probe::endure::Position) -> Result<(), String> {
            Ok(())
        }
    }
    let mut target = Plugged::new(&worn, u64::MAX);
    run(&mut target, &plan, &mut State::new(&plan), &mut Nobody).unwrap();
    worn.borrow_mut().changes = 0;
    vec![blank(), card(photos), worn]
}

/// In each request of the run: before the mark, between pieces and in the middle of one, writing and reading.
#[test]
fn nothing_is_written_to_another_card_whenever_it_comes() {
    let requests = requests_of_whole_run();
    assert!(requests > 200, "{requests}");
    let others = others();
    for gone_after in some_of(1..=requests, 4) {
        let other = &others[gone_after as usize % others.len()];
        let before = other.borrow().bytes.clone();
        let looks = vec![None, Some(Rc::clone(other)), Some(Rc::clone(other)), None];
        let ended = run_on(&blank(), gone_after, looks);
        assert_eq!(other.borrow().changes, 0, "request {gone_after}");
        assert!(other.borrow().bytes == before, "request {gone_after}");
        let Ended { run, state, heard, is_kept, .. } = ended;
        assert_eq!(
            (state, run.stopped_by),
            (RecordState::Failed, StoppedBy::OtherCard),
            "{gone_after}"
        );
        assert_eq!(run.end, None, "a card that was taken out has not ended");
        assert!(is_kept, "the run can go on with its own card");
        let told = heard.iter().filter(|text| text.contains("another card")).count();
        assert_eq!(told, 1, "{heard:?}");
    }
}

/// A USB reader keeps its disk, and gives errors of input and output as long as it is empty. The other card is there
/// while the run waits for the device to work again.
#[test]
fn nothing_is_written_to_another_card_in_a_reader_that_keeps_its_disk() {
    let requests = requests_of_whole_run();
    let others = others();
    for gone_after in some_of(2..requests, 7) {
        let other = &others[gone_after as usize % others.len()];
        let mut target = Plugged::new(&blank(), gone_after);
        target.changed = vec![(Nanos::from_secs(3), Some(Rc::clone(other)))];
        let ended = run_in(target, vec![Some(Rc::clone(other)), None]);
        assert_eq!(other.borrow().changes, 0, "request {gone_after}");
        let Ended { run, state, is_kept, .. } = ended;
        assert_eq!(
            (state, run.stopped_by),
            (RecordState::Failed, StoppedBy::OtherCard),
            "{gone_after}"
        );
        assert!(is_kept, "the run can go on with its own card");
    }
}

/// The contact was bad for some seconds.
#[test]
fn the_own_card_is_gone_on_with_in_a_reader_that_keeps_its_disk() {
    let requests = requests_of_whole_run();
    for gone_after in some_of(2..requests, 7) {
        let own = blank();
        let mut target = Plugged::new(&own, gone_after);
        target.changed = vec![(Nanos::from_secs(3), Some(own))];
        let ended = run_in(target, Vec::new());
        assert_eq!(ended.state, RecordState::Complete, "request {gone_after}");
        assert_eq!(
            (ended.run.cycles, ended.run.stopped_by),
            (2, StoppedBy::Cycles),
            "{gone_after}"
        );
    }
}

/// The right card comes back after the wrong one, and the run ends as if nothing had happened.
#[test]
fn the_own_card_is_taken_up_after_another_one() {
    let requests = requests_of_whole_run();
    // The first request is that of the mark.
    for gone_after in 2..=requests {
        let (own, other) = (blank(), blank());
        let looks = vec![Some(Rc::clone(&other)), None, Some(Rc::clone(&own))];
        let ended = run_on(&own, gone_after, looks);
        assert_eq!(other.borrow().changes, 0, "request {gone_after}");
        assert_eq!(ended.state, RecordState::Complete, "request {gone_after}");
        let run = ended.run;
        assert_eq!(
            (run.cycles, run.bad_pages, run.stopped_by),
            (2, 0, StoppedBy::Cycles),
            "{gone_after}"
        );
    }
}

#[test]
fn a_card_that_nothing_replaces_is_gone() {
    let ended = run_on(&blank(), 40, vec![None, None]);
    assert_eq!((ended.state, ended.run.end.as_deref()), (RecordState::Complete, Some("gone")));
}
