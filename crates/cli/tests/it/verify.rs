//! `cardproof verify` through the program: its contract for scripts, on simulated cards, loop devices
//! and directories.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use cardproof_testkit::{Filesystem, LoopDevice, Mount, lab_or_skip, require_root, wait_until};
use cardproof_units::Bytes;
use serde_json::Value;

use crate::home::Home;
use crate::process::run;

pub(crate) fn answer(home: &Home, words: &[&str], status: i32) -> Value {
    let words = [&["verify", "--quiet", "--json", "-", "--seed", "1"], words].concat();
    serde_json::from_str(&run(home.cardproof(&words)).expect(status).stdout).unwrap()
}

#[test]
fn the_status_is_0_for_genuine_alone_and_the_fields_are_there() {
    let home = Home::new();
    for (card, verdict, kind, status) in [
        ("size = \"200MB\"", "genuine", "honest", 0),
        ("size = \"64GB\"\nreal_size = \"7GB\"\nbeyond = \"wrap\"", "fake", "wrap", 4),
        (
            "size = \"64GB\"\nreal_size = \"7GB\"\nbeyond = \"drop\"\n[store]\nsize = \"3MiB\"",
            "fake",
            "drop",
            4,
        ),
        ("size = \"200MB\"\n[damage]\nshare = 0.01", "damaged", "damaged", 4),
        ("size = \"200MB\"\n[damage]\ntransient_read = 300", "genuine", "honest", 0),
    ] {
        let file = home.place().join("card.toml");
        fs::write(&file, card).unwrap();
        let target = format!("sim:{}", file.display());
        let answer = answer(&home, &[&target, "--exclude-store", "64M"], status);
        assert_eq!(
            (&answer["verdict"], &answer["kind"]),
            (&verdict.into(), &kind.into()),
            "{card}"
        );
        let size = &answer["real_size_bytes"];
        let (low, high) = (size["low"].as_u64().unwrap(), size["high"].as_u64().unwrap());
        let real = if verdict == "fake" { 7_000_000_000 } else { 200_000_000 };
        assert!(low <= real && real <= high, "{card}: {answer}");
        for number in
            ["excluded_hidden_store_bytes", "excluded_bad_share", "bytes_written", "bytes_read"]
        {
            assert!(answer[number].is_number(), "{card}: {number}");
        }
        assert!((0.9..=1.0).contains(&answer["probability"].as_f64().unwrap()), "{answer}");
        assert!(!answer["reasons"].as_array().unwrap().is_empty(), "{answer}");
    }
    assert!(!home.records().is_empty(), "a record is saved");
}

#[test]
fn every_form_of_a_record_says_that_the_card_is_a_fake() {
    let home = Home::new();
    let verify =
        home.cardproof(&["verify", "sim:fake-drop", "--exclude-store", "64M", "--seed", "1"]);
    run(verify).expect(4);
    let page = home.place().join("report.html");
    let page = page.to_str().unwrap();
    for (words, wanted) in [
        (vec!["show", "latest"], "FAKE: DO NOT USE IT"),
        (vec!["show", "latest", "--markdown", "-"], "FAKE: announced capacity"),
        (vec!["show", "latest", "--markdown", "short"], "FAKE: DO NOT USE IT"),
        (vec!["list"], "FAKE: holds"),
        (vec!["list"], "FAKE: holds"),
        (vec!["list", "--markdown", "-"], "FAKE: holds"),
        (vec!["list", "--csv", "-"], "FAKE: holds"),
    ] {
        let shown = run(home.cardproof(&words)).expect(0).stdout;
        assert!(shown.contains(wanted), "{words:?}\n{shown}");
    }
    run(home.cardproof(&["show", "latest", "--html", page])).expect(0);
    let text = fs::read_to_string(page).unwrap();
    assert!(
        text.contains("FAKE: announced capacity") && text.contains("Return the device"),
        "{text}"
    );
    assert!(!text.contains("No action is needed"));
}

#[test]
fn the_last_line_says_what_to_do() {
    let home = Home::new();
    let said =
        run(home.cardproof(&["verify", "sim:fake-wrap", "--exclude-store", "64M"])).expect(4);
    assert!(said.stdout.starts_with("\nFAKE: announced capacity 64 GiB"), "{}", said.stdout);
    let last = said.stdout.lines().last().unwrap();
    assert!(last.starts_with("Next: Return the device"), "{last}");
}

#[test]
fn an_option_for_reports_leads_to_the_command_that_makes_them() {
    let home = Home::new();
    let refused = run(home.cardproof(&["verify", "sim:v30-a2", "--markdown", "-"])).expect(2);
    assert!(refused.stderr.contains("cardproof show latest"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("-- --markdown"), "{}", refused.stderr);
}

#[test]
fn a_wrong_description_is_one_clear_error() {
    let home = Home::new();
    let file = home.place().join("card.toml");
    fs::write(&file, "size = \"64GB\"\nreal_size = \"8GB\"\n").unwrap();
    let target = format!("sim:{}", file.display());
    for command in ["verify", "run"] {
        let said = run(home.cardproof(&[command, &target])).expect(2);
        assert!(said.stderr.contains("needs beyond"), "{}", said.stderr);
    }
}

#[test]
fn a_device_is_only_read_without_leave() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(16)));
    let home = Home::new();
    let path = device.path().to_str().unwrap();
    let answer = answer(&home, &[path], 4);
    assert_eq!((&answer["verdict"], &answer["bytes_written"]), (&"undecided".into(), &0.into()));
    let refused = run(home.cardproof(&["verify", path, "--restore=nobody"])).expect(3);
    assert!(refused.stderr.contains("--restore="), "{}", refused.stderr);
}

#[test]
fn a_kill_at_any_moment_loses_nothing_of_what_was_there() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(12)));
    let home = Home::new();
    let path = device.path().to_str().unwrap();
    let before: Vec<u8> =
        (0..12_u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(device.path(), &before).unwrap();
    let name = device.path().file_name().unwrap().to_str().unwrap();
    let restore = format!("--restore={name}:{}", 12 << 20);
    for wait in [20, 70, 110, 150, 230, 310, 400, 520, 680, 900] {
        let mut command = home.cardproof(&["verify", path, &restore, "--quiet"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let is_over = (0..wait / 10).any(|_| {
            std::thread::park_timeout(Duration::from_millis(10));
            child.try_wait().unwrap().is_some()
        });
        if !is_over {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    let answer = answer(&home, &[path, &restore], 0);
    assert_eq!(answer["verdict"], "genuine");
    assert!(fs::read(device.path()).unwrap() == before, "data were lost");
    assert_eq!(needed_journals(&home.data().join("cardproof/journals")), 0);
}

/// How many journals lie in `directory` of which more than the marks may be needed: the phases of a
/// journal lie at 8192 and 9216, and are zeros before they are reached.
fn needed_journals(directory: &Path) -> usize {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let open = paths.filter(|path| path.extension().is_some_and(|ending| ending == "undo"));
    let is_needed = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        bytes[8192..8200] != [0; 8] && bytes[9216..9224] == [0; 8]
    };
    open.filter(is_needed).count()
}

/// The endings of the names in `directory`, in order.
fn endings(directory: &Path) -> Vec<String> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let ending = |path: PathBuf| path.extension().unwrap().to_str().unwrap().to_owned();
    let mut endings: Vec<String> = paths.map(ending).collect();
    endings.sort();
    endings.dedup();
    endings
}

/// Nothing that came from memory shows what a card keeps.
#[test]
fn what_was_read_from_memory_is_never_called_genuine() {
    lab_or_skip!(require_root());
    let home = Home::new();
    // A loop device that reads its file through the page cache.
    let image = home.place().join("card.img");
    fs::File::create(&image).unwrap().set_len(12 << 20).unwrap();
    let words = ["--find", "--show", "--direct-io=off", image.to_str().unwrap()];
    let node = lab_or_skip!(cardproof_testkit::run("losetup", words)).trim().to_owned();
    let destroy = format!("--destroy={}:{}", node.trim_start_matches("/dev/"), 12 << 20);
    let found = run(home.cardproof(&["verify", &node, &destroy, "--quiet", "--json", "-"]));
    cardproof_testkit::run("losetup", ["--detach", &node]).unwrap();
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(found["verdict"], "undecided", "{found}");
    assert!(found["reasons"][0].as_str().unwrap().contains("losetup --direct-io=on"), "{found}");
}

/// A loop device, known data on it, and the words that let verify write to it and restore it.
struct Filled {
    device: LoopDevice,
    before: Vec<u8>,
    restore: String,
}

impl Filled {
    fn new(size: Bytes) -> Result<Self, cardproof_testkit::LabError> {
        let device = LoopDevice::filled(size, 17)?;
        let before = fs::read(device.path()).unwrap();
        let restore = format!("--restore={}", device.identity()?);
        Ok(Self { device, before, restore })
    }

    fn path(&self) -> &str {
        self.device.path().to_str().unwrap()
    }

    fn is_as_before(&self) -> bool {
        fs::read(self.device.path()).unwrap() == self.before
    }

    /// Starts a test with `words` and kills it once the device holds something else.
    fn kill_while_overwritten(&self, home: &Home, words: &[&str]) {
        let words = [&["verify", self.path(), &self.restore, "--quiet"], words].concat();
        for _ in 0..20 {
            let mut command = home.cardproof(&words);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            while self.is_as_before() && child.try_wait().unwrap().is_none() {}
            child.kill().unwrap();
            child.wait().unwrap();
            if !self.is_as_before() {
                return;
            }
        }
        panic!("never killed in time");
    }
}

#[test]
fn a_journal_elsewhere_is_found_without_being_told() {
    let filled = lab_or_skip!(Filled::new(Bytes::mib(12)));
    let home = Home::new();
    let elsewhere = home.place().join("elsewhere");
    filled.kill_while_overwritten(&home, &["--journal", elsewhere.to_str().unwrap()]);
    let read = run(home.cardproof(&["verify", filled.path()])).expect(4);
    assert!(read.stderr.contains("--restore puts it back"), "{}", read.stderr);
    assert!(!filled.is_as_before(), "reading alone restores nothing");
    answer(&home, &[filled.path(), &filled.restore], 0);
    assert!(filled.is_as_before());
    assert_eq!(endings(&elsewhere), ["restored"], "the journal has ended and is kept");
    let notes = endings(&home.data().join("cardproof/journals"));
    assert!(notes.iter().all(|ending| ending.starts_with("restored")), "{notes:?}");
}

#[test]
fn a_card_from_the_same_image_does_not_end_the_journal_of_another() {
    let killed = lab_or_skip!(Filled::new(Bytes::mib(12)));
    let clone = lab_or_skip!(Filled::new(Bytes::mib(12)));
    let home = Home::new();
    killed.kill_while_overwritten(&home, &["--seed", "1"]);
    answer(&home, &[clone.path(), &clone.restore], 0);
    assert!(clone.is_as_before() && !killed.is_as_before());
    answer(&home, &[killed.path(), &killed.restore], 0);
    assert!(killed.is_as_before());
}

#[test]
fn a_second_verify_is_refused_while_a_journal_is_in_use() {
    let first = lab_or_skip!(Filled::new(Bytes::mib(24)));
    let second = lab_or_skip!(Filled::new(Bytes::mib(24)));
    let home = Home::new();
    let words = ["verify", first.path(), &first.restore, "--quiet"];
    let child = RefCell::new(home.cardproof(&words).stdout(Stdio::null()).spawn().unwrap());
    wait_until(|| !first.is_as_before() || child.borrow_mut().try_wait().unwrap().is_some());
    let refused = run(home.cardproof(&["verify", second.path(), &second.restore])).expect(3);
    child.borrow_mut().kill().unwrap();
    child.borrow_mut().wait().unwrap();
    assert!(refused.stderr.contains("another cardproof verify is at work"), "{}", refused.stderr);
    assert!(second.is_as_before());
    answer(&home, &[first.path(), &first.restore], 0);
    assert!(first.is_as_before());
}

#[test]
fn a_bad_bit_in_the_middle_of_a_journal_loses_nothing() {
    let filled = lab_or_skip!(Filled::new(Bytes::mib(12)));
    let home = Home::new();
    filled.kill_while_overwritten(&home, &[]);
    let directory = home.data().join("cardproof/journals");
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 8;
        fs::write(&path, bytes).unwrap();
    }
    answer(&home, &[filled.path(), &filled.restore], 0);
    assert!(filled.is_as_before());
}

#[test]
fn the_journal_of_another_device_of_the_same_size_stays() {
    let killed = lab_or_skip!(Filled::new(Bytes::mib(12)));
    let other = lab_or_skip!(LoopDevice::filled(Bytes::mib(12), 18));
    let home = Home::new();
    killed.kill_while_overwritten(&home, &[]);
    let restore = format!("--restore={}", lab_or_skip!(other.identity()));
    answer(&home, &[other.path().to_str().unwrap(), &restore], 0);
    answer(&home, &[killed.path(), &killed.restore], 0);
    assert!(killed.is_as_before());
}

#[test]
fn a_journal_that_finds_no_room_ends_the_test_and_loses_nothing() {
    let filled = lab_or_skip!(Filled::new(Bytes::mib(32)));
    let home = Home::new();
    let small = lab_or_skip!(Mount::tmpfs("size=40m"));
    let words = |journal| {
        let restore = filled.restore.as_str();
        ["verify", filled.path(), restore, "--journal", journal, "--json", "-"]
    };
    let refused = run(home.cardproof(&words(small.path().to_str().unwrap()))).expect(3);
    assert!(refused.stderr.contains("the journal needs"), "{}", refused.stderr);
    // A thin volume says that it has room until it has none.
    let thin = lab_or_skip!(LoopDevice::sparse_in(small.path(), Bytes::mib(256)));
    lab_or_skip!(Filesystem::Ext4.make(&thin));
    let mount = lab_or_skip!(Mount::new(&thin, Filesystem::Ext4, ""));
    let ended = run(home.cardproof(&words(mount.path().to_str().unwrap()))).expect(1);
    assert!(ended.stderr.contains("The journal cannot be written"), "{}", ended.stderr);
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(answer["verdict"], "undecided", "{answer}");
    assert!(filled.is_as_before());
}

#[test]
fn a_device_in_use_by_its_own_journal_is_refused() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(64)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, ""));
    let home = Home::new();
    let restore = format!("--restore={}", lab_or_skip!(device.identity()));
    let path = device.path().to_str().unwrap();
    let journal = mount.path().to_str().unwrap();
    run(home.cardproof(&["verify", path, &restore, "--journal", journal])).expect(3);
    assert!(
        fs::read_dir(mount.path())
            .unwrap()
            .all(|entry| { entry.unwrap().file_name() == "lost+found" })
    );
}

#[test]
fn announced_bytes_and_time_are_those_that_it_takes() {
    let home = Home::new();
    for card in ["sandisk-extreme-a1", "sandisk-ultra-a1"] {
        for extra in [&["--exclude-store", "64M"][..], &["--exclude-store", "256M"]] {
            let target = format!("sim:{card}");
            let answer = answer(&home, &[&[target.as_str()], extra].concat(), 0);
            let number = |name: &str| answer[name].as_f64().unwrap();
            assert_eq!(answer["planned_write_bytes"], answer["bytes_written"], "{answer}");
            for (planned, real) in
                [("planned_read_bytes", "bytes_read"), ("planned_seconds", "seconds")]
            {
                let ratio = number(planned) / number(real);
                assert!((0.8..=1.2).contains(&ratio), "{planned}: {ratio} {answer}");
            }
        }
    }
}

#[test]
fn a_surface_that_cannot_be_read_is_damage() {
    let home = Home::new();
    let file = home.place().join("card.toml");
    let target = format!("sim:{}", file.display());
    fs::write(&file, "size = \"64MB\"\n[damage]\nshare = 0.001\ngives = \"error\"\n").unwrap();
    let answer = answer(&home, &[&target, "--surface"], 4);
    assert_eq!(answer["verdict"], "damaged", "{answer}");
    assert!(!answer["damaged_ranges_bytes"].as_array().unwrap().is_empty(), "{answer}");
}
