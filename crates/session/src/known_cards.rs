//! What earlier tests have found of the capacity of a card, so that it need not be tested again.
//!
//! The file is kept beside the user's records. It knows a card by a keyed hash of what its registers say
//! of it, the serial number among them; key and hash never leave this computer. Without the file, or with one that cannot be read, nothing is known.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cardproof_device::Sysroot;
use cardproof_device::identify::{Identity, StorageChoice, identify};
use cardproof_rating::answer::{Earlier, Real};
use cardproof_record::Record;
use serde::{Deserialize, Serialize};

use cardproof_units::in_words;

use crate::failure::Failure;
use crate::file::replace_all;
use crate::keyed_hash::{KEY_BYTES, keyed_hash, new_key};
use crate::owner::make_private_directories;
use crate::store::Store;

const SCHEMA: &str = "cardproof.cards/1";

/// The file, below the directory `known`.
const FILE: &str = "cards.json";

/// The most cards that are remembered. Beyond it those with the oldest tests go.
const CARDS_MAX: usize = 1000;

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct Cards {
    schema: String,
    /// The key of the hashes.
    key: [u8; KEY_BYTES],
    /// By the hash of each card the last test that says something of its capacity.
    cards: BTreeMap<u64, Earlier>,
}

/// What an earlier test found of the card that `identity` describes; `None` where nothing tells it from others.
#[must_use]
pub fn of_card(identity: &Identity) -> Option<Earlier> {
    of_identity(&Store::beside("known").ok()?, &distinction(identity)?)
}

/// Keeps what the test of `record` has found of the card at `target`, if it says something and the card can be told
/// from others. The answer of the test does not depend on it.
///
/// # Errors
/// It cannot be kept, so the next check will not know of it.
pub fn keep(target: &Path, record: &Record) -> Result<(), Failure> {
    let choice = StorageChoice::Named(target.to_owned());
    let Ok(identity) = identify(&Sysroot::default(), &choice) else { return Ok(()) };
    let Some(card) = distinction(&identity) else { return Ok(()) };
    let day = record.created.get(..10).unwrap_or_default().to_owned();
    let Some(found) = Earlier::new(day, &Real::of_test(record)) else { return Ok(()) };
    keep_of(&Store::beside("known")?, &card, found)
}

/// What tells a card from all others. It is private. `None` for a card without a serial number, and for one with
/// signs of a counterfeit: these copy the registers of other cards, or all have the same.
fn distinction(identity: &Identity) -> Option<String> {
    let serial = identity.serial?.shown();
    let card = identity.device.card.as_ref().filter(|card| card.counterfeit_signs.is_empty())?;
    let size = identity.device.size_bytes?.get();
    let words = [&card.manufacturer_id, &card.oem_id, &card.product, &card.manufactured];
    let words = words.map(|word| word.as_deref().unwrap_or_default());
    Some(format!("{serial} {size} {}", words.join(" ")))
}

fn of_identity(place: &Path, card: &str) -> Option<Earlier> {
    let cards = read(place)?;
    cards.cards.get(&hash(&cards.key, card)).cloned()
}

fn keep_of(place: &Path, card: &str, found: Earlier) -> Result<(), Failure> {
    let failed = |error| {
        Failure::incomplete(format!(
            "cannot write {}: {error}",
            place.join(FILE).display(),
            error = in_words(&error)
        ))
    };
    let mut cards = match read(place) {
        Some(cards) => cards,
        None => {
            let key = new_key().map_err(failed)?;
            Cards { schema: SCHEMA.to_owned(), key, cards: BTreeMap::new() }
        }
    };
    let hash = hash(&cards.key, card);
    if cards.cards.get(&hash).is_some_and(|before| says_less(&found, before)) {
        return Ok(());
    }
    cards.cards.insert(hash, found);
    while cards.cards.len() > CARDS_MAX {
        let oldest = cards.cards.iter().min_by(|a, b| a.1.date.cmp(&b.1.date));
        let Some(oldest) = oldest.map(|(hash, _)| *hash) else { break };
        cards.cards.remove(&oldest);
    }
    let text = serde_json::to_string(&cards)
        .map_err(Failure::because("what is known of cards cannot be put into JSON"))?;
    make_private_directories(place).map_err(failed)?;
    replace_all(place, &[(FILE.to_owned(), text.into_bytes())]).map_err(failed)
}

/// Whether a test of a part, as `found`, comes after one that settled the question.
const fn says_less(found: &Earlier, before: &Earlier) -> bool {
    use Real::{No, SoFar, Yes};
    matches!((&found.real, &before.real), (SoFar { .. }, Yes { .. } | No { .. }))
}

/// The file, where it is there and of this form.
fn read(place: &Path) -> Option<Cards> {
    let text = fs::read_to_string(place.join(FILE)).ok()?;
    let cards: Cards = serde_json::from_str(&text).ok()?;
    (cards.schema == SCHEMA).then_some(cards)
}

fn hash(key: &[u8], card: &str) -> u64 {
    u64::from_be_bytes(keyed_hash(key, card))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use cardproof_units::Bytes;

    use super::*;

    fn genuine(day: &str) -> Earlier {
        let real = Real::Yes { size: Bytes::gib(32), in_full: true };
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
        let cards = (0..CARDS_MAX as u64).map(|n| (n, genuine("2026-10-02"))).collect();
        let full = Cards { schema: SCHEMA.to_owned(), key: new_key().unwrap(), cards };
        fs::write(directory.path().join(FILE), serde_json::to_vec(&full).unwrap()).unwrap();
        keep_of(directory.path(), "new", genuine("2026-10-03")).unwrap();
        let kept = read(directory.path()).unwrap();
        assert_eq!(kept.cards.len(), CARDS_MAX);
        assert!(of_identity(directory.path(), "new").is_some());
    }

    #[test]
    fn a_card_that_may_be_a_copy_is_not_known_again() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../device/tests/trees/pi4_a2_ddr50.txt");
        let root = Sysroot::open(Path::new(path)).unwrap();
        let mut identity = identify(&root, &StorageChoice::System).unwrap();
        let known = distinction(&identity).unwrap();
        let change = |change: &dyn Fn(&mut Identity)| {
            let mut other = identity.clone();
            change(&mut other);
            distinction(&other)
        };
        let older = |other: &mut Identity| {
            other.device.card.as_mut().unwrap().manufactured = Some("2011-01".to_owned());
        };
        assert!(change(&older).is_some_and(|other| other != known));
        assert!(
            change(&|other| other.device.size_bytes = Some(Bytes(512)))
                .is_some_and(|it| it != known)
        );
        assert_eq!(change(&|other| other.serial = None), None);
        let card = identity.device.card.as_mut().unwrap();
        card.counterfeit_signs.push("the serial number is zero".to_owned());
        assert_eq!(distinction(&identity), None);
    }
}
