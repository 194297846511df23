//! Journals as files: locked, kept, found, and of which card.

use std::os::unix::fs::PermissionsExt;

use cardproof_evidence::capacity::stamp::SECTOR;
use cardproof_probe::Drive;
use cardproof_sim::Keeping;

use super::super::journal::Piece;
use super::super::steady::Moved;
use super::*;
use crate::frontend::{Event, Question, Silent};

/// Keeps what was said.
#[derive(Default)]
struct Heard(Vec<String>);

impl Frontend for Heard {
    fn note(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }

    fn tell(&mut self, _: Event<'_>) {}

    fn ask(&mut self, _: Question<'_>) -> Option<String> {
        None
    }
}

fn journals(home: &Path, random_bits: u64) -> Journals {
    let (device, now) = ("64000000000".to_owned(), SystemTime::now());
    Journals { home: home.to_owned(), named: None, device, random_bits, now }
}

fn card() -> Box<dyn Target> {
    let card = cardproof_sim::find("sandisk-ultra-a1").unwrap();
    card.open(Seed::from_bits(1), Keeping::Bytes).unwrap()
}

const MARKS: [u64; 2] = [4096, 1 << 20];

/// A journal of a test that was killed on `target` with its marks on it.
fn killed(target: &mut dyn Target, journals: &Journals) -> PathBuf {
    let mut begun = begin(journals).unwrap();
    marks::set(target, &mut begun.journal, &MARKS, &mut Moved::default()).unwrap();
    begun.path.clone()
}

fn sector(target: &mut dyn Target, at: u64) -> Vec<u8> {
    let mut drive = Drive::new(target, Bytes(4096)).unwrap();
    drive.read(at, SECTOR as u64).unwrap().unwrap().to_vec()
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_card_without_marks_neither_uses_nor_ends_a_journal() {
    let place = tempfile::tempdir().unwrap();
    let journals = journals(place.path(), 7);
    let (mut one, mut other) = (card(), card());
    let before = sector(&mut *one, MARKS[0]);
    let path = killed(&mut *one, &journals);
    assert_ne!(sector(&mut *one, MARKS[0]), before);
    let mut heard = Heard::default();
    recover(&mut *other, &journals, None, &mut heard).unwrap();
    assert!(path.exists(), "a blank card of the same size is no reason to end it");
    assert!(
        heard.0.iter().any(|said| said.contains("may belong to another device")),
        "{heard:?}",
        heard = heard.0
    );
    recover(&mut *one, &journals, None, &mut Silent).unwrap();
    assert_eq!(sector(&mut *one, MARKS[0]), before);
    assert_eq!(names(place.path()), [format!("{:016x}.restored", journals.salt())]);
}

#[test]
fn a_journal_in_use_is_refused_and_stays() {
    let place = tempfile::tempdir().unwrap();
    let mut target = card();
    let mut running = begin(&journals(place.path(), 7)).unwrap();
    marks::set(&mut *target, &mut running.journal, &MARKS, &mut Moved::default()).unwrap();
    let second = journals(place.path(), 8);
    let own = begin(&second).unwrap();
    let refused = recover(&mut *target, &second, Some(&own.path), &mut Silent).unwrap_err();
    assert!(refused.message.contains("another cardproof verify is at work"), "{refused}");
    let path = own.path.clone();
    drop(own);
    assert!(running.path.exists() && !path.exists(), "what holds nothing goes");
    let elsewhere = Journals { device: "32000000000".to_owned(), ..second };
    recover(&mut *target, &elsewhere, None, &mut Silent).unwrap();
    assert!(running.path.exists());
}

#[test]
fn a_journal_that_has_ended_is_kept_for_a_week() {
    let place = tempfile::tempdir().unwrap();
    let mut target = card();
    let mut journals = journals(place.path(), 7);
    killed(&mut *target, &journals);
    recover(&mut *target, &journals, None, &mut Silent).unwrap();
    let kept = names(place.path());
    assert!(kept[0].ends_with(".restored"), "{kept:?}");
    journals.now += Duration::from_secs(6 * 24 * 3600);
    recover(&mut *target, &journals, None, &mut Silent).unwrap();
    assert_eq!(names(place.path()), kept);
    fs::write(place.path().join("mine.restored"), "mine").unwrap();
    journals.now += Duration::from_secs(2 * 24 * 3600);
    recover(&mut *target, &journals, None, &mut Silent).unwrap();
    assert_eq!(names(place.path()), ["mine.restored"], "only journals go");
}

#[test]
fn a_journal_elsewhere_is_found_by_its_note_and_kept_too() {
    let home = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut target = card();
    let journals = journals(home.path(), 7);
    let there = Journals { named: Some(elsewhere.path().to_owned()), ..journals.clone() };
    killed(&mut *target, &there);
    recover(&mut *target, &journals, None, &mut Silent).unwrap();
    assert!(names(elsewhere.path())[0].ends_with(".restored"));
    assert!(names(home.path())[0].ends_with(".restored-elsewhere"));
    let later = Journals { now: journals.now + 2 * KEPT, ..journals };
    recover(&mut *target, &later, None, &mut Silent).unwrap();
    assert!(names(elsewhere.path()).is_empty() && names(home.path()).is_empty());
}

#[test]
fn two_tests_with_one_seed_have_two_salts() {
    let place = tempfile::tempdir().unwrap();
    let salts: std::collections::HashSet<u64> =
        (0..1000).map(|bits| journals(place.path(), bits).salt()).collect();
    assert_eq!(salts.len(), 1000);
    assert!(salts.iter().all(|salt| (16..=48).contains(&salt.count_ones())));
}

#[test]
fn other_users_cannot_read_what_was_saved() {
    let place = tempfile::tempdir().unwrap();
    let journal = begin(&journals(place.path(), 7)).unwrap();
    let mode = fs::metadata(&journal.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_pipe_with_the_name_of_a_journal_is_none_and_is_not_waited_for() {
    let place = tempfile::tempdir().unwrap();
    let pipe = place.path().join("pipe.undo");
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let journals = journals(place.path(), 7);
    assert!(matches!(look_at(&journals, &pipe), Ok(Found::Nothing)));
    recover(&mut *card(), &journals, None, &mut Silent).unwrap();
}

#[test]
fn a_damaged_journal_is_put_back_as_far_as_it_goes_and_stays() {
    let place = tempfile::tempdir().unwrap();
    let mut target = card();
    let journals = journals(place.path(), 7);
    let mut begun = begin(&journals).unwrap();
    marks::set(&mut *target, &mut begun.journal, &MARKS, &mut Moved::default()).unwrap();
    let piece = |offset| Piece { offset, sectors: vec![([5; SECTOR], false); 2] };
    begun.journal.save(&[piece(8192), piece(16384)], false).unwrap();
    let path = begun.path.clone();
    drop(begun);
    let salt = journals.salt();
    let mut drive = Drive::new(&mut *target, Bytes(4096)).unwrap();
    for address_bytes in [8192, 16384] {
        let stamp =
            cardproof_evidence::capacity::stamp::Stamp { salt, address_bytes, generation: 1 };
        drive.write(address_bytes, 1024, |data| stamp.fill(data)).unwrap().unwrap();
    }
    drop(drive);
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 4 * 544 + 100;
    bytes[last..last + 9].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let failure = recover(&mut *target, &journals, None, &mut Silent).unwrap_err();
    assert!(failure.message.contains("1 sectors do not hold what was saved"), "{failure}");
    assert!(failure.message.contains("damaged in the journal"), "{failure}");
    assert!(path.exists());
    assert_eq!(sector(&mut *target, 16384), [5; SECTOR]);
    assert_eq!(sector(&mut *target, 8192 + 512), [5; SECTOR]);
}
