//! A served card under other people's tools. Speed is not the matter here: the cards run many
//! times faster than real time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use cardproof_sim::{Card, Model, catalogue, find};
use cardproof_sim_serve::{ServeError, ServeOptions, Server};
use cardproof_testkit::{
    Filesystem, LabError, Mount, lab_or_skip, require_root, run, skip, some_of, wait_until,
};
use cardproof_units::{Bytes, Seed};
use tempfile::TempDir;

/// A card that is up, with the directory it is in.
struct Lab {
    server: Server,
    directory: TempDir,
}

/// Puts `card` up; a machine without FUSE or loop devices cannot.
fn lab(card: &Card, block_device: bool) -> Result<Lab, LabError> {
    lab_with(card, block_device, None)
}

fn lab_with(card: &Card, block_device: bool, backing: Option<&Path>) -> Result<Lab, LabError> {
    require_root()?;
    let directory = tempfile::Builder::new().prefix("cardproof-lab-card-").tempdir().unwrap();
    let options = ServeOptions {
        is_temporary: false,
        directory: directory.path().to_owned(),
        speed: 1000.0,
        block_device,
        backing: backing.map(Path::to_owned),
        log: None,
    };
    match Server::start(card, Seed::from_bits(1), &options) {
        Ok(server) => Ok(Lab { server, directory }),
        Err(error @ (ServeError::Mount { .. } | ServeError::NoLosetup(_))) => {
            Err(LabError::Unavailable(error.to_string()))
        }
        Err(error) => panic!("{error}"),
    }
}

/// What f3probe says of the device at `path`, whatever its verdict.
fn probed(path: &Path) -> Result<String, LabError> {
    let output = Command::new("f3probe").arg("--destructive").arg(path).output();
    match output {
        Ok(output) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => Err(LabError::Unavailable(format!("f3probe cannot be started ({error})"))),
    }
}

/// The usable size in what f3probe says.
fn usable(said: &str) -> Bytes {
    let line = said.lines().find(|line| line.contains("*Usable* size:")).unwrap_or_default();
    let blocks = line.split(['(', ' ']).rev().find_map(|word| word.parse::<u64>().ok());
    Bytes(512 * blocks.unwrap_or_else(|| panic!("f3probe gave no size:\n{said}")))
}

/// `card` with another capacity.
fn of_size(card: &Card, capacity: Bytes) -> Card {
    Card { model: Model { capacity, ..card.model }, ..*card }
}

#[test]
fn f3probe_finds_the_true_size_of_every_fake() {
    for card in some_of(catalogue().iter().filter(|card| card.fake.is_some()), 12) {
        let mut lab = lab_or_skip!(lab(card, true));
        let said = lab_or_skip!(probed(lab.server.device().unwrap()));
        let size = usable(&said);
        let off = size.get().abs_diff(card.model.capacity.get());
        assert!(off <= 512, "{}: {size} instead of {}\n{said}", card.name, card.model.capacity);
        lab.server.stop().unwrap();
    }
}

#[test]
fn f3probe_finds_nothing_wrong_with_an_honest_card() {
    let card = of_size(find("sandisk-ultra-a1").unwrap(), Bytes::gib(2));
    let mut lab = lab_or_skip!(lab(&card, true));
    let said = lab_or_skip!(probed(lab.server.device().unwrap()));
    assert!(said.contains("is the real thing"), "{said}");
    assert_eq!(usable(&said), Bytes::gib(2));
    lab.server.stop().unwrap();
}

#[test]
fn a_file_system_is_made_mounted_filled_and_checked() {
    let card = of_size(find("intenso-class-4").unwrap(), Bytes::mib(256));
    let mut lab = lab_or_skip!(lab(&card, true));
    let device = lab.server.device().unwrap().to_owned();
    lab_or_skip!(run("mkfs.ext4", ["-q", "-F", device.to_str().unwrap()]));
    let mount = lab_or_skip!(Mount::node(&device, Filesystem::Ext4, ""));
    let mut written = 0_u64;
    let mut file = std::fs::File::create(mount.path().join("filler")).unwrap();
    let full = loop {
        let part: Vec<u8> =
            (0..1_u64 << 20).map(|n| (n.wrapping_mul(written + 7) >> 9) as u8).collect();
        match file.write_all(&part) {
            Ok(()) => written += part.len() as u64,
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    assert!(written > Bytes::mib(200).get(), "{written}");
    file.sync_all().unwrap();
    drop(file);
    assert!(matches!(lab.server.stop(), Err(ServeError::InUse { .. })), "it is mounted");
    drop(mount);
    run("e2fsck", ["-f", "-n", device.to_str().unwrap()]).unwrap();
    lab.server.stop().unwrap();
}

#[test]
fn a_card_that_is_stopped_leaves_nothing_behind() {
    let mut lab = lab_or_skip!(lab(find("v30-a2-queued").unwrap(), true));
    let device = lab.server.device().unwrap().to_owned();
    let open = std::fs::File::open(lab.server.file()).unwrap();
    assert_eq!(open.metadata().unwrap().len(), find("v30-a2-queued").unwrap().model.capacity.get());
    drop(open);
    lab.server.stop().unwrap();
    lab.server.stop().unwrap();
    assert!(std::fs::read_dir(lab.directory.path()).unwrap().next().is_none());
    let attached = run("losetup", ["--list", "--noheadings", "--output=NAME,BACK-FILE"]).unwrap();
    let name = device.to_str().unwrap();
    let ours = lab.directory.path().to_str().unwrap();
    assert!(!attached.lines().any(|line| line.contains(name) && line.contains(ours)), "{attached}");
}

/// The variable that makes a process the one that is to be killed, and tells it where.
const VICTIM: &str = "CARDPROOF_TEST_VICTIM";

/// A second process puts a card up and is killed: its directory can be used again, and no block
/// device stays that only fails.
#[test]
fn a_card_whose_program_is_killed_is_taken_down() {
    if let Some(directory) = std::env::var_os(VICTIM) {
        return serve_for_ever(Path::new(&directory));
    }
    lab_or_skip!(require_root());
    for name in ["a card", "temporary"] {
        kill_one_in(name);
    }
}

/// Kills a card in a directory called `name`, which goes with the card where it is temporary.
fn kill_one_in(name: &str) {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join(name);
    std::fs::create_dir(&directory).unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "serve::a_card_whose_program_is_killed_is_taken_down", "--nocapture"])
        .env(VICTIM, &directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(victim.stderr.take().unwrap()).lines().map(Result::unwrap);
    let up = said.find(|line| line.starts_with("up: ") || line.starts_with("skipped: "));
    let up = up.expect("it ended before the card was up");
    if let Some(reason) = up.strip_prefix("skipped: ") {
        victim.wait().unwrap();
        return skip(cardproof_testkit::test_name!(), reason);
    }
    let backing = Path::new("/sys/class/block").join(&up["up: /dev/".len()..]).join("loop");
    assert!(backing.exists());
    // Whoever still uses it does not keep it up.
    let user = std::fs::File::open(directory.join("intenso-class-4.img")).unwrap();
    victim.kill().unwrap();
    victim.wait().unwrap();
    // Who takes it down says nothing, and ends: then nobody has this pipe any more.
    assert_eq!(said.collect::<Vec<_>>(), Vec::<String>::new());
    if name == "temporary" {
        assert!(!directory.exists(), "an empty directory stays");
    } else {
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0, "it is mounted");
    }
    // Others, such as udev, may have it open for a moment; the kernel waits for them.
    wait_until(|| !backing.exists());
    drop(user);
}

fn serve_for_ever(directory: &Path) {
    let options = ServeOptions {
        is_temporary: directory.ends_with("temporary"),
        directory: directory.to_owned(),
        speed: 1.0,
        block_device: true,
        backing: None,
        log: None,
    };
    match Server::start(find("intenso-class-4").unwrap(), Seed::from_bits(1), &options) {
        Ok(server) => {
            eprintln!("up: {}", server.device().unwrap().display());
            // The other process keeps this input open until it kills us.
            std::io::stdin().read_exact(&mut [0]).unwrap_err();
        }
        Err(error) => eprintln!("skipped: {error}"),
    }
}

#[test]
fn an_open_file_keeps_the_card_up() {
    let mut lab = lab_or_skip!(lab(find("sandisk-ultra-a1").unwrap(), false));
    let open = std::fs::File::open(lab.server.file()).unwrap();
    assert!(matches!(lab.server.stop(), Err(ServeError::InUse { .. })));
    drop(open);
    lab.server.stop().unwrap();
}

#[test]
fn the_cards_bytes_outlive_it_in_a_backing_file() {
    let place = tempfile::tempdir().unwrap();
    let backing = place.path().join("card");
    let card = find("sandisk-ultra-a1").unwrap();
    let words = b"what was written stays";
    for round in 0..2 {
        let mut lab = lab_or_skip!(lab_with(card, false, Some(&backing)));
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.read(true).write(true).open(lab.server.file()).unwrap();
        file.seek(SeekFrom::Start(1 << 30)).unwrap();
        if round == 0 {
            file.write_all(words).unwrap();
            file.sync_all().unwrap();
        } else {
            let mut back = [0; 22];
            file.read_exact(&mut back).unwrap();
            assert_eq!(&back, words);
        }
        drop(file);
        lab.server.stop().unwrap();
    }
}

#[test]
fn what_is_discarded_reads_as_zeros() {
    let mut lab = lab_or_skip!(lab(find("sandisk-ultra-a1").unwrap(), true));
    let device = lab.server.device().unwrap().to_owned();
    let mut file = std::fs::OpenOptions::new().read(true).write(true).open(&device).unwrap();
    file.write_all(&[7; 1 << 16]).unwrap();
    file.sync_all().unwrap();
    drop(file);
    lab_or_skip!(run("blkdiscard", ["-f", "-o", "4096", "-l", "8192", device.to_str().unwrap()]));
    let mut bytes = vec![1; 1 << 16];
    std::fs::File::open(&device).unwrap().read_exact(&mut bytes).unwrap();
    assert!(bytes[..4096].iter().all(|&byte| byte == 7));
    assert!(bytes[4096..12_288].iter().all(|&byte| byte == 0));
    assert!(bytes[12_288..].iter().all(|&byte| byte == 7));
    lab.server.stop().unwrap();
}

#[test]
fn impossible_options_are_refused() {
    let card = find("sandisk-ultra-a1").unwrap();
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = ServeOptions {
            is_temporary: false,
            directory: std::env::temp_dir(),
            speed,
            block_device: false,
            backing: None,
            log: None,
        };
        let refused = Server::start(card, Seed::from_bits(1), &options);
        assert!(matches!(refused, Err(ServeError::Speed(_))), "{speed}");
    }
}
