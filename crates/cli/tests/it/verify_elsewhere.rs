//! `cardproof verify DIR` on a card whose addresses repeat farther apart than its free space is long: the data of the
//! test appear elsewhere.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::process::Command;

use cardproof_testkit::{Filesystem, LabError, Mount, lab_or_skip, require_root};
use cardproof_units::Bytes;
use rustix::fs::FallocateFlags;
use serde_json::Value;

use crate::home::{Home, word};
use crate::process::{Ended, run};
use crate::refusals::as_nobody;
use crate::served::Served;
use crate::verify::answer;

/// A simulated card with ext4, mounted.
struct Card {
    mounted: Mount,
    _served: Served,
}

impl Card {
    /// A card that announces `size`, with what `description` says of it beside that.
    fn new(size: Bytes, description: &str) -> Result<Self, LabError> {
        Self::mounted(size, description, &["-O", "^has_journal"], "")
    }

    /// The same, with a file system made with `features` and mounted with `options`.
    fn mounted(
        size: Bytes,
        description: &str,
        features: &[&str],
        options: &str,
    ) -> Result<Self, LabError> {
        require_root()?;
        let home = Home::new();
        let [card, backing] = ["card.toml", "data"].map(|name| home.place().join(name));
        fs::write(&card, format!("size = \"{}\"\n{description}", size.get())).unwrap();
        let serving = ["--speed", "1000", "--backing", word(&backing)];
        let served = Served::new(home, word(&card), &serving)?;
        let made = Command::new("mke2fs")
            .args(["-q", "-F", "-t", "ext4", "-E", "lazy_itable_init=1"])
            .args(features)
            .arg(&served.device)
            .status();
        if !made.is_ok_and(|status| status.success()) {
            return Err(LabError::Unavailable("mke2fs cannot make a file system".to_owned()));
        }
        let mounted = Mount::node(&served.device, Filesystem::Ext4, options)?;
        Ok(Self { mounted, _served: served })
    }

    fn path(&self) -> &Path {
        self.mounted.path()
    }

    /// Takes `size` of the space away, without writing it.
    fn take(&self, name: &str, size: Bytes) {
        let file = File::create(self.path().join(name)).unwrap();
        rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, size.get()).unwrap();
    }
}

const STORE: [&str; 2] = ["--exclude-store", "64M"];

fn elsewhere(home: &Home) -> Value {
    let record = fs::read_to_string(home.records().last().unwrap()).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    record["capacity"]["elsewhere"].clone()
}

/// 16 GiB sold as 32, and 12.5 GiB, behind a hidden store too: the free space of 10 GiB alone shows nothing.
#[test]
fn addresses_that_repeat_beyond_the_free_space_are_found() {
    for fake in [
        "real_size = \"16GiB\"\nbeyond = \"wrap\"",
        "real_size = \"12800MiB\"\nbeyond = \"wrap\"\n[store]\nsize = \"4MiB\"",
    ] {
        let card = lab_or_skip!(Card::new(Bytes::gib(32), fake));
        card.take("films", Bytes::gib(18));
        let home = Home::new();
        let found = answer(&home, &[&[word(card.path())], &STORE[..]].concat(), 4);
        assert_eq!(found["verdict"], "fake", "{fake}: {found}");
        let real = if fake.contains("16GiB") { 16 << 30 } else { 12_800 << 20 };
        assert!(found["real_size_bytes"]["high"].as_u64().unwrap() >= real, "{fake}: {found}");
    }
}

#[test]
fn a_sound_card_is_not_blamed_and_its_files_stay_as_they_are() {
    let card = lab_or_skip!(Card::new(Bytes::gib(32), ""));
    card.take("films", Bytes::gib(15));
    let photo = card.path().join("photo");
    fs::write(&photo, vec![7; 1 << 20]).unwrap();
    let before = fs::metadata(&photo).unwrap();
    let home = Home::new();
    // What the first test has left lies elsewhere for the second.
    for more in ["", "more films"] {
        if !more.is_empty() {
            card.take(more, Bytes::gib(2));
        }
        let found = answer(&home, &[&[word(card.path())], &STORE[..]].concat(), 0);
        assert_eq!(found["verdict"], "genuine", "{found}");
        let elsewhere = elsewhere(&home);
        assert!(elsewhere["places"].as_u64().unwrap() > 1000, "{elsewhere}");
        assert_eq!(elsewhere["found"], 0, "{elsewhere}");
    }
    let after = fs::metadata(&photo).unwrap();
    assert_eq!((after.atime(), after.atime_nsec()), (before.atime(), before.atime_nsec()));
    assert_eq!(fs::read(&photo).unwrap(), vec![7; 1 << 20]);
}

/// A journal for all data holds what the test has written, twice. That is no sign of a fake.
#[test]
fn a_journal_that_holds_the_tests_data_does_not_make_a_card_a_fake() {
    let features = ["-J", "size=64"];
    let card = lab_or_skip!(Card::mounted(Bytes::gib(8), "", &features, "data=journal"));
    let home = Home::new();
    let found = answer(&home, &[&[word(card.path())], &STORE[..]].concat(), 4);
    assert_eq!(found["verdict"], "undecided", "{found}");
    let elsewhere = elsewhere(&home);
    assert!(elsewhere["found"].as_u64().unwrap() > 0, "{elsewhere}");
    assert_eq!(elsewhere["changed"], 0, "{elsewhere}");
}

/// An ordinary user may not read the disk, but files.
#[test]
fn an_ordinary_user_finds_repeated_addresses_in_files() {
    let fake = "real_size = \"4GiB\"\nbeyond = \"wrap\"";
    let card = lab_or_skip!(Card::new(Bytes::gib(8), fake));
    let mut photos = File::create(card.path().join("photos")).unwrap();
    let data = vec![b'u'; 1 << 20];
    (0..600).for_each(|_| photos.write_all(&data).unwrap());
    photos.sync_all().unwrap();
    card.take("films", Bytes::gib(3));
    let home = Home::for_others();
    for path in [card.path().to_owned(), card.path().join("photos"), home.data().to_owned()] {
        chown(&path, Some(65_534), Some(65_534)).unwrap();
    }
    let words = [&["verify", word(card.path()), "--quiet", "--json", "-"], &STORE[..]].concat();
    let (command, _program) = as_nobody(&home, &words);
    let Ended { stdout, .. } = run(command).expect(4);
    let found: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(found["verdict"], "fake", "{found}");
}
