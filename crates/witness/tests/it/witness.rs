//! The witness over a real connection: what it keeps, whom it refuses, and what happens when it goes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use cardproof_evidence::powercut::{CutReport, Promise};
use cardproof_testkit::wait_until;
use cardproof_units::{Bytes, Seed};
use cardproof_witness::{Client, Event, Journal, Secret, Setup, Witness, WitnessError};

struct Lab {
    address: String,
    stop: Arc<AtomicBool>,
    events: Receiver<Event>,
    thread: Option<JoinHandle<Result<(), WitnessError>>>,
    directory: tempfile::TempDir,
}

fn secret(text: &str) -> Secret {
    Secret::new(text.as_bytes()).unwrap()
}

const SECRET: &str = "sixteen bytes at least";

fn setup() -> Setup {
    Setup {
        seed: Seed::from_bits(7),
        start: Bytes::ZERO,
        size: Bytes::mib(1),
        block: Bytes(512),
        epoch_writes: 8,
        queue_depth: 4,
        mode: "flush".to_owned(),
    }
}

impl Lab {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let journal = Journal::open(&directory.path().join("journal")).unwrap();
        Self::with(directory, journal)
    }

    fn with(directory: tempfile::TempDir, journal: Journal) -> Self {
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let silence = Duration::from_secs(30);
        let witness = Witness::listen(any, secret(SECRET), journal, silence).unwrap();
        let address = witness.address().unwrap().to_string();
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, events) = channel();
        let ends = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut number = 0;
            let mut nonce = || {
                number += 1;
                number
            };
            witness.serve(&ends, &mut nonce, &mut |event| sender.send(event.clone()).unwrap())
        });
        Self { address, stop, events, thread: Some(thread), directory }
    }

    fn client(&self) -> Client {
        Client::connect(&self.address, secret(SECRET), "a nonce").unwrap()
    }

    fn next(&self) -> Event {
        self.events.recv().unwrap()
    }

    /// Waits until the journal holds `line`.
    fn wait_for(&self, line: &str) {
        let path = self.directory.path().join("journal");
        wait_until(|| {
            let journal = std::fs::read_to_string(&path).unwrap_or_default();
            journal.lines().any(|it| it == line)
        });
    }

    fn end(&mut self) -> Result<(), WitnessError> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

#[test]
fn what_was_promised_is_known_after_the_writer_vanished() {
    let mut lab = Lab::new();
    let mut writer = lab.client();
    writer.begin(&setup()).unwrap();
    for epoch in 1..=100 {
        writer.issued(8 * epoch).unwrap();
        writer.durable(8 * epoch).unwrap();
    }
    writer.issued(805).unwrap();
    // A connection that breaks may take with it what it has not delivered yet.
    lab.wait_for("issued 805");
    drop(writer);
    let gone = std::iter::repeat_with(|| lab.next()).find(|it| matches!(it, Event::Gone { .. }));
    assert_eq!(gone, Some(Event::Gone { issued: 805, durable: 800 }));
    let mut verifier = lab.client();
    let told = verifier.ask().unwrap();
    assert_eq!(
        (told.setup, told.promise),
        (setup(), Promise { issued: 805, durable: 800, unheard: 8 })
    );
    let report = CutReport { had_writes_in_flight: true, ..CutReport::default() };
    let tally = verifier.judged(&report).unwrap();
    assert_eq!((tally.cuts, tally.effective_cuts, tally.harmful_cuts), (1, 1, 0));
    let harmed = cardproof_evidence::powercut::gone(true);
    // Harm that is seen later counts for the same cut, and once.
    for _ in 0..2 {
        let mut again = lab.client();
        assert!(again.ask().unwrap().is_judged);
        let tally = again.judged_again(&harmed).unwrap();
        assert_eq!((tally.cuts, tally.effective_cuts, tally.harmful_cuts), (1, 1, 1));
        assert_eq!(tally.findings.values().sum::<u64>(), 1);
    }
    lab.end().unwrap();
    let path = lab.directory.path().join("journal");
    let tally = Journal::open(&path).unwrap().tally().clone();
    assert_eq!((tally.cuts, tally.harmful_cuts), (1, 1));
}

#[test]
fn a_second_writer_is_refused_and_the_first_goes_on() {
    let mut lab = Lab::new();
    let mut first = lab.client();
    first.begin(&setup()).unwrap();
    let refused = lab.client().begin(&setup()).unwrap_err();
    assert!(refused.to_string().contains("another writer"), "{refused}");
    assert!(lab.client().ask().unwrap_err().to_string().contains("still at work"));
    first.issued(8).unwrap();
    first.durable(8).unwrap();
    first.end().unwrap();
    lab.end().unwrap();
}

#[test]
fn a_wrong_secret_is_told_and_nothing_is_kept() {
    let mut lab = Lab::new();
    let wrong = Client::connect(&lab.address, secret("another of enough bytes"), "n");
    let refused = wrong.unwrap().begin(&setup()).unwrap_err();
    assert!(matches!(refused, WitnessError::WrongSecret), "{refused}");
    assert!(matches!(lab.next(), Event::Refused(_)));
    lab.end().unwrap();
    let path = lab.directory.path().join("journal");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "");
}

#[test]
fn a_witness_that_vanishes_ends_the_writer() {
    let mut lab = Lab::new();
    let mut writer = lab.client();
    writer.begin(&setup()).unwrap();
    lab.end().unwrap();
    // What is sent may be on its way before the kernel hears that nobody is there.
    let failed = (1..).find_map(|number| writer.durable(number).err());
    assert!(failed.unwrap().to_string().contains("vanished"));
    let nobody = Client::connect(&lab.address, secret(SECRET), "n").unwrap_err();
    assert!(nobody.to_string().contains("cannot reach the witness"), "{nobody}");
}

#[test]
fn a_full_disk_ends_the_witness_and_the_writer_hears_why() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut lab = Lab::with(tempfile::tempdir().unwrap(), Journal::begin(full));
    let refused = lab.client().begin(&setup()).unwrap_err();
    assert!(refused.to_string().contains("journal cannot be written"), "{refused}");
    assert!(matches!(lab.thread.take().unwrap().join().unwrap(), Err(WitnessError::Journal(_))));
}
