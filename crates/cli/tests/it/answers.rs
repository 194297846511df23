//! The answers that docs/reading-the-result.md shows: each is what the program prints. With
//! `CARDPROOF_WRITE_PAGES=1` the tests write the page instead of comparing with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use cardproof_testkit::{Filesystem, LabError, Limits, LoopDevice, Mount, Throttle, lab_or_skip};
use cardproof_units::Bytes;

use crate::home::{Home, word};
use crate::process::{Ended, run};

/// Says that the page is to be written.
const WRITE: &str = "CARDPROOF_WRITE_PAGES";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reading-the-result.md")
}

/// What stands around the answer called `name`.
fn fences(name: &str) -> (String, &'static str) {
    (format!("<!-- answer: {name} -->\n\n```text\n"), "\n```\n")
}

/// Compares the answer called `name` with that on the page, both as `seen` leaves them.
fn is_on_the_page(name: &str, text: &str, seen: impl Fn(&str) -> String) {
    let whole = fs::read_to_string(page()).unwrap();
    let (start, end) = fences(name);
    let from =
        whole.find(&start).unwrap_or_else(|| panic!("{name} is not on the page")) + start.len();
    let to = from + whole[from..].find(end).unwrap();
    let text = text.trim();
    if std::env::var_os(WRITE).is_some() {
        fs::write(page(), format!("{}{text}{}", &whole[..from], &whole[to..])).unwrap();
        return;
    }
    assert_eq!(seen(&whole[from..to]), seen(text), "{name}: run the test with {WRITE}=1");
}

fn as_it_is(text: &str) -> String {
    text.to_owned()
}

/// The questions with their verdicts: figures and the machine that ran the test are left out.
fn verdicts(text: &str) -> String {
    let is_reply = |line: &&str| line.starts_with("  ") && line.contains('?');
    let verdict = |line: &str| line.chars().take(26).collect::<String>().trim().to_owned();
    text.lines().filter(is_reply).map(verdict).collect::<Vec<_>>().join("\n")
}

fn answer(words: &[&str], status: i32) -> Ended {
    let mut command = Home::new().cardproof(&[&["check"], words].concat());
    command.env("COLUMNS", "80");
    run(command).expect(status)
}

fn of_card(name: &str, card: &str, status: i32) {
    let ended = answer(&[&format!("sim:{card}"), "--seed", "1"], status);
    is_on_the_page(name, &ended.stdout, as_it_is);
}

/// The recorded machine `tree` with the value of each of `files` replaced, or added.
fn of_machine(name: &str, tree: &str, files: &[(&str, &str)], status: i32) {
    let source = format!("../device/tests/trees/{tree}.txt");
    let dump = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(source)).unwrap();
    let is_kept = |line: &&str| {
        !files.iter().any(|(file, _)| line.split(" = ").next().is_some_and(|it| it.ends_with(file)))
    };
    let prefix = |file: &str| {
        let line =
            dump.lines().find(|line| line.split(" = ").next().is_some_and(|it| it.ends_with(file)));
        line.map_or(file.to_owned(), |line| line.split(" = ").next().unwrap().to_owned())
    };
    let mut lines: Vec<String> = dump.lines().filter(is_kept).map(str::to_owned).collect();
    lines.extend(files.iter().map(|(file, value)| format!("{} = {value}", prefix(file))));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("machine.txt");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let ended = answer(&["--sysroot", word(&path)], status);
    is_on_the_page(name, &ended.stdout, as_it_is);
}

#[test]
fn the_answers_on_the_page_are_those_of_the_program() {
    of_card("a good card", "sandisk-extreme-a1", 0);
    of_card("a fake", "fake-wrap", 4);
    of_card("a slow card", "intenso-class-4", 4);
    of_machine("a worn eMMC", "nanopi_emmc_hs200", &[("life_time", "0x0a 0x0a")], 0);
    of_machine("a weak power supply", "pi4_a2_ddr50", &[("in0_lcrit_alarm", "1")], 0);
    let log = "[  814.392213] I/O error, dev mmcblk0, sector 3125248 op 0x0:(READ) flags 0x80700";
    of_machine("errors in the kernel log", "pi4_a2_ddr50", &[("dmesg", log)], 4);
}

#[test]
fn memory_is_no_storage() {
    let memory = lab_or_skip!(Mount::tmpfs("size=16M"));
    let ended = answer(&[word(memory.path())], 2);
    let text = ended.stderr.replace(word(memory.path()), "/tmp");
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    is_on_the_page("a directory in memory", &one_line(&text), one_line);
}

/// A card of 1 GiB behind a loop device.
fn card(directory: &Path) -> Result<(LoopDevice, Mount), LabError> {
    let device = LoopDevice::sparse_in(directory, Bytes::gib(2))?;
    Filesystem::Ext4.make(&device)?;
    let mount = Mount::new(&device, Filesystem::Ext4, "")?;
    Ok((device, mount))
}

#[test]
fn a_directory_that_cannot_be_written_leaves_two_questions_open() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (_device, mount) = lab_or_skip!(card(directory.path()));
    lab_or_skip!(mount.remount("ro"));
    // Nothing was tested, and that is no success.
    let ended = answer(&[word(mount.path())], 1);
    let text = ended.stdout.replace(word(mount.path()), "/media/pi/CARD");
    is_on_the_page("a read-only directory", &text, verdicts);
}

/// The answer of the card mounted at `mount`, as `command` gives it.
fn of_directory(name: &str, mut command: Command, mount: &Mount, seen: impl Fn(&str) -> String) {
    command.env("COLUMNS", "80");
    let ended = run(command);
    assert!(matches!(ended.code(), 0 | 4), "{}", ended.stderr);
    let text = ended.stdout.replace(word(mount.path()), "/media/pi/CARD");
    is_on_the_page(name, &text, seen);
}

/// Whether the speed is called good. On a busy machine it may not be called slow.
fn is_good(text: &str) -> String {
    let found = verdicts(text);
    found.lines().any(|line| line.starts_with("Fast?") && line.ends_with("good")).to_string()
}

/// Whether the answer says that tests were disturbed.
fn disturbance(text: &str) -> String {
    text.contains("other programs disturbed").to_string()
}

#[test]
#[ignore = "measures in real time; nightly"]
fn a_device_that_the_kernel_holds_back_is_slow() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (device, mount) = lab_or_skip!(card(directory.path()));
    let limits = Limits {
        read_iops: Some(400),
        write_iops: Some(60),
        read_bytes: Some(Bytes(20_000_000)),
        write_bytes: Some(Bytes(8_000_000)),
    };
    let throttle = lab_or_skip!(Throttle::new(&device, &limits));
    let words = ["check", word(mount.path()), "--seed", "1"];
    let command = Home::new().cardproof_in(&throttle, &words);
    of_directory("a device that is held back", command, &mount, is_good);
}

/// Programs that compute as long as this lives.
struct Busy(Vec<Child>);

impl Busy {
    fn new() -> Self {
        let count = 3 * std::thread::available_parallelism().map_or(1, usize::from);
        let start = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Self((0..count).map(|_| start()).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
#[ignore = "measures in real time; nightly"]
fn a_busy_computer_is_told() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (device, mount) = lab_or_skip!(card(directory.path()));
    let limits = Limits { read_iops: Some(2500), write_iops: Some(500), ..Limits::default() };
    let throttle = lab_or_skip!(Throttle::new(&device, &limits));
    let _busy = Busy::new();
    let words = ["check", word(mount.path()), "--seed", "1"];
    let command = Home::new().cardproof_in(&throttle, &words);
    of_directory("a busy computer", command, &mount, disturbance);
}
