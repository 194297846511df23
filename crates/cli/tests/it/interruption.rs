//! Killed at random moments: by the user, by the system, without warning.
//!
//! A moment is drawn from a seed that a failure prints; `CARDPROOF_TEST_SEED` repeats it. Half of
//! them lie in the first fortieth of a run, where directories, markers and files come into being.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use cardproof_record::{PhaseState, Record, State};
use cardproof_testkit::{Contents, LoopDevice, Noise, Tree, exploring_seed, lab_or_skip};
use cardproof_units::Bytes;
use rustix::process::Signal;

use crate::home::{Home, our_directories, word};
use crate::process::{run, start};
use crate::records;

/// How many moments for each kind of target; `cargo xtask prove kill` tries more.
const MOMENTS: usize = 30;

/// A whole run takes about this long, so that a moment can fall anywhere in it.
const RUN: &[&str] = &["--size", "16M", "--time-budget", "1s", "--quiet"];

/// The moments in which a run is killed, how, and what came of it.
struct Moments {
    seed: u64,
    noise: Noise,
    count: usize,
    /// How long a whole run takes.
    range: Duration,
    /// How many signals were sent before the end.
    sent: usize,
    /// How many of those came too late to change it.
    too_late: usize,
}

impl Moments {
    /// Moments in a run by `command`, which is run once to learn how long it takes.
    fn in_run(command: Command) -> Self {
        let seed = exploring_seed();
        let start = Instant::now();
        run(command).expect(0);
        let range = start.elapsed();
        Self { seed, noise: Noise::new(seed), count: 0, range, sent: 0, too_late: 0 }
    }

    /// Starts `command`, sends `signal` after `delay` if it still runs then, and checks how it
    /// ends.
    fn kill(&mut self, command: Command, signal: Signal, delay: Duration) {
        let mut running = start(command);
        let is_sent = !running.ends_within(delay);
        if is_sent {
            running.signal(signal);
        }
        let ended = running.end();
        let (code, wanted) = (ended.code(), 128 + signal.as_raw());
        let moment = self.name();
        assert!(!ended.stderr.contains("panicked"), "{moment}: {}", ended.stderr);
        assert!(
            code == 0 || (is_sent && code == wanted),
            "{moment}: status {code} after {signal:?}: {}",
            ended.stderr
        );
        self.sent += usize::from(is_sent);
        self.too_late += usize::from(is_sent && code == 0);
    }

    /// Checks that the signals hit: all but those that fell into a run's last instant.
    fn assert_hit(&self) {
        let Self { seed, sent, too_late, .. } = self;
        assert!(
            *sent >= MOMENTS / 2 && *too_late <= MOMENTS / 10,
            "of {sent} signals {too_late} had no effect, CARDPROOF_TEST_SEED={seed}"
        );
    }

    /// A line for failures.
    fn name(&self) -> String {
        format!("moment {} of CARDPROOF_TEST_SEED={}", self.count, self.seed)
    }
}

impl Iterator for Moments {
    type Item = (Signal, Duration);

    fn next(&mut self) -> Option<Self::Item> {
        self.count += 1;
        if self.count > MOMENTS {
            return None;
        }
        let signal = [Signal::INT, Signal::TERM, Signal::KILL][self.count % 3];
        let range = if self.noise.bits() & 1 == 0 { self.range / 40 } else { self.range };
        let range_ns = u64::try_from(range.as_nanos()).unwrap();
        Some((signal, Duration::from_nanos(self.noise.below(range_ns))))
    }
}

/// What a record says must go with how the run ended.
fn assert_state(record: &Record, signal: Signal, moment: &str) {
    let is_allowed = match record.state {
        State::Complete => true,
        State::Partial => signal != Signal::KILL,
        State::Running => signal == Signal::KILL,
        State::Failed | State::Unknown => false,
    };
    assert!(is_allowed, "{moment}: {:?} after {signal:?}", record.state);
    assert!(record.verdicts.is_none(), "{moment}: a stored record has verdicts");
    for phase in &record.phases {
        if phase.state == PhaseState::Measured {
            assert!(phase.ops > 0, "{moment}: {} is measured without an operation", phase.name);
        }
    }
}

/// The records that are new since `known`, which then knows them; each is read and judged.
fn new_records(home: &Home, known: &mut Vec<std::path::PathBuf>, signal: Signal, moment: &str) {
    for path in home.records() {
        if !known.contains(&path) {
            assert_state(&records::read(&path), signal, moment);
            known.push(path);
        }
    }
}

#[test]
#[ignore = "kills at moments of the clock; nightly"]
fn on_a_file_system_no_user_file_is_touched_and_nothing_of_ours_stays() {
    let home = Home::new();
    let before = Tree::of_user(home.place()).unwrap();
    let words = [&["run", word(home.place())], RUN].concat();
    let mut moments = Moments::in_run(home.cardproof(&words));
    let mut known = home.records();
    while let Some((signal, delay)) = moments.next() {
        let moment = moments.name();
        let left = our_directories(home.place()).len();
        moments.kill(home.cardproof(&words), signal, delay);
        assert_eq!(before.changes(&Tree::of_user(home.place()).unwrap()), "", "{moment}");
        let leaves = our_directories(home.place()).len();
        if signal == Signal::KILL {
            assert!(leaves <= left + 1, "{moment}: {leaves} directories");
        } else {
            assert!(leaves <= left, "{moment}: {signal:?} leaves a directory behind");
        }
        new_records(&home, &mut known, signal, &moment);
    }
    run(home.cardproof(&words)).expect(0);
    assert_eq!(our_directories(home.place()), [""; 0], "the next run does not clean up");
    assert_eq!(before.changes(&Tree::of_user(home.place()).unwrap()), "");
    moments.assert_hit();
    lab_or_skip!(records::assert_valid(&known));
}

#[test]
#[ignore = "kills at moments of the clock; nightly"]
fn on_a_device_nothing_beyond_the_range_is_touched() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(32), 8));
    let home = Home::new();
    let before = Contents::read(device.image()).unwrap();
    let destroy = format!("--destroy={}:{}", device.name(), Bytes::mib(32).get());
    let words = [&["run", word(device.path()), &destroy], RUN].concat();
    let mut moments = Moments::in_run(home.cardproof(&words));
    let mut known = home.records();
    while let Some((signal, delay)) = moments.next() {
        let moment = moments.name();
        moments.kill(home.cardproof(&words), signal, delay);
        let changed = before.differing_mib(&Contents::read(device.image()).unwrap());
        assert!(changed.iter().all(|&mib| mib < 16), "{moment}: {changed:?}");
        new_records(&home, &mut known, signal, &moment);
    }
    moments.assert_hit();
    lab_or_skip!(records::assert_valid(&known));
}

/// A run that only reads is killed: the device is as it was, wherever it was hit.
#[test]
#[ignore = "kills at moments of the clock; nightly"]
fn a_device_that_is_only_read_stays_as_it_was() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(32), 9));
    let home = Home::new();
    let before = Contents::read(device.image()).unwrap();
    let words = [&["run", word(device.path())], RUN].concat();
    let mut moments = Moments::in_run(home.cardproof(&words));
    for _ in 0..9 {
        let (signal, delay) = moments.next().unwrap();
        moments.kill(home.cardproof(&words), signal, delay);
    }
    let changed = before.differing_mib(&Contents::read(device.image()).unwrap());
    assert_eq!(changed, [0; 0], "CARDPROOF_TEST_SEED={}", moments.seed);
}

/// Ctrl-C in the middle of a phase, for certain: the record says partial and keeps what there was.
#[test]
fn an_interrupted_run_keeps_what_it_has() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let home = Home::new();
        let words = ["run", word(home.place()), "--size", "16M", "--time-budget", "60s"];
        let mut running = start(home.cardproof(&words));
        assert!(running.until(|| has_phase(&home)), "the run ended before its first phase");
        running.signal(signal);
        running.end().expect(code);
        let saved = home.records();
        assert_eq!(saved.len(), 1);
        let record = records::read(&saved[0]);
        assert_eq!(record.state, State::Partial);
        assert!(record.phases.iter().any(cardproof_record::Phase::is_measured));
        assert_eq!(our_directories(home.place()), [""; 0]);
    }
}

/// With `--json -` there is one document even then.
#[test]
fn an_interrupted_run_prints_its_record() {
    let home = Home::new();
    let words = ["run", word(home.place()), "--size", "16M", "--time-budget", "60s", "--json", "-"];
    let mut running = start(home.cardproof(&words));
    assert!(running.until(|| has_phase(&home)), "the run ended before its first phase");
    running.signal(Signal::INT);
    let ended = running.end().expect(130);
    let record = records::parse(&ended.stdout);
    assert_eq!(record.state, State::Partial);
    records::assert_no_rating(&record);
}

/// Whether a record has been saved that holds a phase.
fn has_phase(home: &Home) -> bool {
    home.records().first().is_some_and(|path| !records::read(path).phases.is_empty())
}

/// What a killed run left behind is not all that carries its name: a directory that only looks
/// like ours belongs to the user.
#[test]
fn the_next_run_takes_away_only_what_is_ours() {
    let home = Home::new();
    let words = ["run", word(home.place()), "--size", "16M", "--time-budget", "60s", "--quiet"];
    let mut running = start(home.cardproof(&words));
    assert!(running.until(|| has_phase(&home)), "the run ended before its first phase");
    running.signal(Signal::KILL);
    running.end().expect(137);
    assert_eq!(our_directories(home.place()).len(), 1, "a killed run leaves its directory");
    let lookalike = home.place().join(".cardproof-00000000");
    fs::create_dir(&lookalike).unwrap();
    fs::write(lookalike.join("thesis.txt"), "years of work").unwrap();
    run(home.cardproof(&[&["run", word(home.place())], RUN].concat())).expect(0);
    assert_eq!(our_directories(home.place()), [".cardproof-00000000"]);
    assert_eq!(read_text(&lookalike.join("thesis.txt")), "years of work");
}

/// Another run that is still at work keeps its directory.
#[test]
fn a_run_beside_another_leaves_it_alone() {
    let home = Home::new();
    let words = ["run", word(home.place()), "--size", "16M", "--time-budget", "60s", "--quiet"];
    let mut first = start(home.cardproof(&words));
    assert!(first.until(|| has_phase(&home)), "the run ended before its first phase");
    let of_first = our_directories(home.place());
    run(home.cardproof(&[&["run", word(home.place())], RUN].concat())).expect(0);
    assert_eq!(our_directories(home.place()), of_first);
    first.signal(Signal::INT);
    first.end().expect(130);
    assert_eq!(our_directories(home.place()), [""; 0]);
}

fn read_text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
