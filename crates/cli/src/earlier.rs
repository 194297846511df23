//! What earlier tests have found of the capacity of a card, so that it need not be tested again.
//!
//! The file is kept beside the user's records. It knows a card by a keyed hash of its serial number; key and
//! hash never leave this computer. Without the file, or with one that cannot be read, nothing is known.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cardproof_device::Sysroot;
use cardproof_device::identify::{Identity, StorageChoice, identify};
use cardproof_rating::answer::{self, Earlier, Known, PowerFacts, Question, Untested};
use cardproof_rating::signs::{Seen, Signs};
use cardproof_record::Record;
use cardproof_session::{Store, make_private_directories, replace_all};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::exit::Failure;

const SCHEMA: &str = "cardproof.cards/1";

/// The file, below the directory of [`place`].
const FILE: &str = "cards.json";

/// The bytes of the key.
const KEY_BYTES: usize = 32;

/// So many cards are remembered; beyond that those tested longest ago are forgotten.
const CARDS_MAX: usize = 1000;

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct Cards {
    schema: String,
    /// The key of the hashes, in hexadecimal digits.
    key: String,
    /// By the hash of each card the last test that says something of its capacity.
    cards: BTreeMap<String, Earlier>,
}

/// What an earlier test found of the card that `identity` describes; `None` where it has no serial number.
pub(crate) fn of_card(identity: &Identity) -> Option<Earlier> {
    of_identity(&place().ok()?, &distinction(identity)?)
}

/// Keeps what the test of `record` has found of the card at `target`.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn keep(target: &Path, record: &Record) -> Result<(), Failure> {
    let choice = StorageChoice::Named(target.to_owned());
    let Ok(identity) = identify(&Sysroot::default(), &choice) else { return Ok(()) };
    let Some(card) = distinction(&identity) else { return Ok(()) };
    let day = record.created.get(..10).unwrap_or_default().to_owned();
    let Some(found) = real(record).and_then(|real| Earlier::new(day, &real)) else {
        return Ok(());
    };
    keep_of(&place()?, &card, found)
}

fn place() -> Result<PathBuf, Failure> {
    let records = Store::of_user()?;
    Ok(records.parent().unwrap_or(&records).join("known"))
}

/// What tells a card from all others. It is private.
fn distinction(identity: &Identity) -> Option<String> {
    let serial = identity.serial?.shown();
    let device = &identity.device;
    let size = device.size_bytes.map_or(0, cardproof_units::Bytes::get);
    Some(format!("{serial} {} {size}", device.model.as_deref().unwrap_or_default()))
}

/// What the test of `record` says of the capacity, as `cardproof check` would.
fn real(record: &Record) -> Option<answer::Real> {
    let signs = Signs::of(&Seen::default());
    let known = Known {
        conditions: &record.conditions,
        speed: None,
        capacity: Some(record),
        signs: &signs,
        power: PowerFacts::default(),
        untested: Untested::default(),
        earlier: None,
    };
    answer::Answer::new(&known, &[Question::Real]).real
}

fn of_identity(place: &Path, card: &str) -> Option<Earlier> {
    let cards = read(place)?;
    cards.cards.get(&hash(&cards.key, card)).cloned()
}

fn keep_of(place: &Path, card: &str, found: Earlier) -> Result<(), Failure> {
    let mut cards = match read(place) {
        Some(cards) => cards,
        None => Cards { schema: SCHEMA.to_owned(), key: new_key()?, cards: BTreeMap::new() },
    };
    let hash = hash(&cards.key, card);
    if cards.cards.get(&hash).is_some_and(|before| says_less(&found, before)) {
        return Ok(());
    }
    cards.cards.insert(hash, found);
    while cards.cards.len() > CARDS_MAX {
        let oldest = cards.cards.iter().min_by(|a, b| a.1.date.cmp(&b.1.date));
        let Some(oldest) = oldest.map(|(hash, _)| hash.clone()) else { break };
        cards.cards.remove(&oldest);
    }
    let text = serde_json::to_string(&cards)
        .map_err(Failure::because("what is known of cards cannot be put into JSON"))?;
    let failed = |error| {
        Failure::incomplete(format!("cannot write {}: {error}", place.join(FILE).display()))
    };
    make_private_directories(place).map_err(failed)?;
    replace_all(place, &[(FILE.to_owned(), text.into_bytes())]).map_err(failed)
}

/// Whether a test of a part, as `found`, comes after one that settled the question.
const fn says_less(found: &Earlier, before: &Earlier) -> bool {
    use answer::Real::{No, SoFar, Yes};
    matches!((&found.real, &before.real), (SoFar { .. }, Yes { .. } | No { .. }))
}

/// The file, where it is there and of this form.
fn read(place: &Path) -> Option<Cards> {
    let text = fs::read_to_string(place.join(FILE)).ok()?;
    let cards: Cards = serde_json::from_str(&text).ok()?;
    (cards.schema == SCHEMA && cards.key.len() == 2 * KEY_BYTES).then_some(cards)
}

fn new_key() -> Result<String, Failure> {
    let mut key = [0; KEY_BYTES];
    rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Failure::incomplete(format!("cannot get random bytes: {error}")))?;
    Ok(hexadecimal(&key))
}

fn hash(key: &str, card: &str) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return String::new() };
    mac.update(card.as_bytes());
    hexadecimal(&mac.finalize().into_bytes())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use cardproof_rating::answer::Real;
    use cardproof_units::Bytes;

    use super::*;

    fn genuine(day: &str) -> Earlier {
        let real = Real::Yes { size: Bytes::gib(32) };
        Earlier { date: day.to_owned(), real }
    }

    #[test]
    fn a_card_is_known_again_and_no_other_card() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("known");
        assert_eq!(of_identity(&place, "0x1 A 32"), None);
        keep_of(&place, "0x1 A 32", genuine("2026-10-02")).unwrap();
        keep_of(&place, "0x2 A 32", genuine("2026-10-03")).unwrap();
        assert_eq!(of_identity(&place, "0x1 A 32"), Some(genuine("2026-10-02")));
        assert_eq!(of_identity(&place, "0x1 A 64"), None, "another size");
        let text = fs::read_to_string(place.join(FILE)).unwrap();
        assert!(!text.contains("0x1"), "{text}");
        let mode = fs::metadata(&place).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "for the user alone");
        let part = Real::SoFar { tested: Bytes::gib(4), of: Bytes::gib(32) };
        keep_of(&place, "0x1 A 32", Earlier { date: "2026-11-01".to_owned(), real: part }).unwrap();
        assert_eq!(of_identity(&place, "0x1 A 32"), Some(genuine("2026-10-02")), "all of it");
        // The same card is known by another hash on another computer.
        let elsewhere = directory.path().join("elsewhere");
        keep_of(&elsewhere, "0x1 A 32", genuine("2026-10-02")).unwrap();
        let hashes = |place: &Path| read(place).unwrap().cards.into_keys().collect::<Vec<_>>();
        assert!(hashes(&place).iter().all(|hash| !hashes(&elsewhere).contains(hash)));
    }

    #[test]
    fn a_file_that_is_broken_is_begun_again() {
        let directory = tempfile::tempdir().unwrap();
        for broken in ["", "{", "{\"schema\":\"cardproof.cards/9\",\"key\":\"\",\"cards\":{}}"] {
            fs::write(directory.path().join(FILE), broken).unwrap();
            assert_eq!(of_identity(directory.path(), "0x1 A 32"), None, "{broken}");
            keep_of(directory.path(), "0x1 A 32", genuine("2026-10-02")).unwrap();
            assert!(of_identity(directory.path(), "0x1 A 32").is_some(), "{broken}");
        }
    }

    #[test]
    fn the_cards_of_longest_ago_are_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let cards = (0..CARDS_MAX).map(|n| (format!("{n}"), genuine("2026-10-02"))).collect();
        let full = Cards { schema: SCHEMA.to_owned(), key: new_key().unwrap(), cards };
        fs::write(directory.path().join(FILE), serde_json::to_vec(&full).unwrap()).unwrap();
        keep_of(directory.path(), "new", genuine("2026-10-03")).unwrap();
        let kept = read(directory.path()).unwrap();
        assert_eq!(kept.cards.len(), CARDS_MAX);
        assert!(of_identity(directory.path(), "new").is_some());
    }
}
