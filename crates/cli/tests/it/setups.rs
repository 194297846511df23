//! `cardproof compare-setups`: what it compares, what it lists as not tried, and that it leaves
//! nothing behind, however it ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use cardproof_testkit::{
    Filesystem, LoopDevice, Mount, Tree, lab_or_skip, require_root, run as tool,
};
use cardproof_units::Bytes;
use rustix::process::Signal;
use serde_json::Value;

use crate::home::{Home, our_directories, word};
use crate::process::{run, start};
use crate::refusals::as_nobody;
use crate::said::in_one_line;

/// As little as can be compared.
const LITTLE: &[&str] =
    &["--jobs", "fsync-4k", "--rounds", "2", "--size", "96M", "--seed", "1", "--quiet"];

/// How often is looked whether what is on its way out has gone: for seconds, at some 100 us each.
const LOOKS: u32 = 100_000;

fn compare(home: &Home, target: &Path, words: &[&str]) -> Command {
    home.cardproof(&[&["compare-setups", word(target)], words].concat())
}

fn outcome<'a>(document: &'a Value, setup: &str, job: &str) -> &'a Value {
    let comparisons = document["setups"]["comparisons"].as_array().unwrap();
    let mut results = comparisons.iter().flat_map(|one| one["results"].as_array().unwrap());
    results
        .find(|result| result["setup"] == setup && result["job"] == job)
        .unwrap_or_else(|| panic!("no {setup} {job} in {document:#}"))
}

/// The command with a `program` of ours, the shell commands `script`, before the system's own.
fn with_tool(mut command: Command, tools: &Path, program: &str, script: &str) -> Command {
    let tool = tools.join(program);
    fs::write(&tool, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}:/usr/sbin:/sbin", word(tools)));
    command
}

/// The command with a `losetup` that asks for no direct I/O, whatever it is told: a system on which
/// the loop device goes through the page cache.
fn through_the_cache(command: Command, tools: &Path) -> Command {
    let script = "for word; do shift; case $word in --direct-io=*) ;; \
                  *) set -- \"$@\" \"$word\" ;; esac; done\nPATH=${PATH#*:} exec losetup \"$@\"\n";
    with_tool(command, tools, "losetup", script)
}

/// Nothing of ours in `place`: no directory, no loop device over a file in it, no mount.
fn assert_clean(place: &Path, moment: &str) {
    assert_eq!(our_directories(place), Vec::<String>::new(), "{moment}");
    assert_no_kernel_traces(place, moment);
}

fn assert_no_kernel_traces(place: &Path, moment: &str) {
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    assert!(!mounts.contains(word(place)), "{moment}: {mounts}");
    assert!(!is_under_a_loop_device(place), "{moment}: a loop device stays");
}

/// Whether a loop device is over a file in `place`. To ask `losetup` would keep other tests' devices
/// open.
fn is_under_a_loop_device(place: &Path) -> bool {
    let devices = fs::read_dir("/sys/class/block").unwrap();
    let files = devices.map(|device| device.unwrap().path().join("loop/backing_file"));
    files.filter_map(|file| fs::read_to_string(file).ok()).any(|file| file.contains(word(place)))
}

#[test]
fn file_systems_and_journal_modes_are_compared_in_a_directory_and_nothing_stays() {
    lab_or_skip!(require_root());
    let home = Home::new();
    let before = Tree::of_user(home.place()).unwrap();
    let words = [LITTLE, &["--only", "ext4-noatime,sqlite-wal-normal", "--json", "-"]].concat();
    let ended = run(compare(&home, home.place(), &words)).expect(0);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(document["schema"], "cardproof.record/1");
    assert_eq!(document["state"], "complete");
    assert_eq!(document["setups"]["ground"]["kind"], "loop image");
    let rates = outcome(&document, "ext4", "fsync-4k")["rates"].as_array().unwrap().len();
    assert_eq!(rates, 2, "{document:#}");
    assert!(outcome(&document, "ext4", "fsync-4k").get("ratio").is_none());
    assert!(outcome(&document, "ext4-noatime", "fsync-4k")["ratio"]["estimate"].is_number());
    assert!(outcome(&document, "sqlite-wal-normal", "sqlite")["ratio"]["low"].is_number());
    assert!(!ended.stdout.contains(word(home.place())), "a path is told");
    let kept = home.records();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let report = fs::read_to_string(kept[0].with_extension("html")).unwrap();
    assert!(report.contains("ext4-noatime"), "the report lacks a setup");
    assert_eq!(before.changes(&Tree::of_user(home.place()).unwrap()), "");
    assert_clean(home.place(), "at the end");
}

#[test]
fn a_loop_device_through_the_page_cache_is_a_doubt_in_every_output_and_nothing_is_advised() {
    lab_or_skip!(require_root());
    let home = Home::new();
    let tools = tempfile::tempdir().unwrap();
    let [json, markdown] = ["doubt.json", "doubt.md"].map(|name| tools.path().join(name));
    let outputs = ["--json", word(&json), "--markdown", word(&markdown)];
    let words = [&LITTLE[..LITTLE.len() - 1], &["--only", "ext4-no-journal"], &outputs].concat();
    let ended =
        run(through_the_cache(compare(&home, home.place(), &words), tools.path())).expect(0);
    let document: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let comparison = &document["setups"]["comparisons"][0];
    assert_eq!(comparison["doubts"][0]["code"], "buffered", "{document:#}");
    let doubt = "No advice, because of a doubt: the loop device under the file systems goes through \
                 the page cache";
    for text in [&ended.stdout, &fs::read_to_string(&markdown).unwrap()] {
        let text = in_one_line(text);
        assert!(text.contains(doubt), "{text}");
        assert!(!text.contains("as fast as ext4"), "{text}");
    }
    assert_clean(home.place(), "at the end");
}

/// What is compared in an image is not compared on the card where the file system below takes part;
/// what the user's own file system does is what the user has.
#[test]
fn a_place_that_is_no_plain_storage_is_a_doubt() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(400)));
    lab_or_skip!(Filesystem::Btrfs.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Btrfs, ""));
    let home = Home::new();
    let words = [LITTLE, &["--only", "ext4,sqlite-persist", "--json", "-"]].concat();
    let ended = run(compare(&home, mount.path(), &words)).expect(0);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    let codes = |comparison: usize| {
        let doubts = document["setups"]["comparisons"][comparison]["doubts"].as_array().unwrap();
        doubts.iter().map(|doubt| doubt["code"].as_str().unwrap()).collect::<Vec<_>>()
    };
    let in_memory = device.image().starts_with("/dev/shm");
    let memory = if in_memory { &["memory"][..] } else { &[] };
    assert_eq!(codes(0), [&["copy_on_write"], memory].concat(), "{document:#}");
    assert_eq!(codes(1), memory, "{document:#}");
}

#[test]
fn what_cannot_be_tried_is_refused_with_what_helps_before_anything_is_written() {
    lab_or_skip!(require_root());
    lab_or_skip!(tool("mkfs.xfs", ["-V"]));
    let home = Home::new();
    let words = [LITTLE, &["--only", "xfs"]].concat();
    let ended = run(compare(&home, home.place(), &words)).expect(2);
    let reason = "xfs needs 300 MiB, and there are 96 MiB; give a larger --size.";
    assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    assert!(home.records().is_empty(), "nothing was compared");
    assert_clean(home.place(), "at the refusal");
}

#[test]
fn without_root_what_needs_none_is_compared() {
    let home = Home::for_others();
    let words =
        ["compare-setups", word(home.place()), "--only", "f2fs,sqlite-persist", "--rounds", "2"];
    let (command, _program) = as_nobody(&home, &words);
    for directory in [home.place(), home.data()] {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let ended = run(command).expect(0);
    let said = ended.stdout;
    let not_tried = "file systems: loop devices and mounts need root";
    for part in [not_tried, "as it is", "sqlite-delete", "sqlite-persist"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_clean(home.place(), "without root");
}

#[test]
fn interrupted_it_leaves_nothing() {
    lab_or_skip!(require_root());
    let home = Home::new();
    let before = Tree::of_user(home.place()).unwrap();
    let words = endless(&["--only", "ext4"]);
    let mut running = start(compare(&home, home.place(), &words));
    assert!(running.until(|| !our_directories(home.place()).is_empty()), "ended before it began");
    running.ends_within(std::time::Duration::from_millis(1500));
    running.signal(Signal::INT);
    running.end().expect(130);
    assert_eq!(before.changes(&Tree::of_user(home.place()).unwrap()), "");
    assert_clean(home.place(), "after Ctrl-C");
}

#[test]
fn killed_it_leaves_what_the_next_run_removes() {
    lab_or_skip!(require_root());
    let home = Home::new();
    let words = endless(&["--only", "ext4"]);
    let mut running = start(compare(&home, home.place(), &words));
    assert!(running.until(|| !our_directories(home.place()).is_empty()), "ended before it began");
    running.ends_within(std::time::Duration::from_millis(1500));
    running.signal(Signal::KILL);
    running.end();
    // A tool that the program had started, such as mkfs, may still be at its end.
    let _ = (0..LOOKS).any(|_| !is_under_a_loop_device(home.place()));
    assert_no_kernel_traces(home.place(), "after kill -9");
    let words = [LITTLE, &["--only", "sqlite-persist"]].concat();
    run(compare(&home, home.place(), &words)).expect(0);
    assert_clean(home.place(), "after the next run");
}

/// A comparison that does not end by itself.
fn endless<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let long = ["--jobs", "fsync-4k", "--rounds", "50", "--size", "96M", "--quiet"];
    [&long, words].concat()
}

#[test]
fn a_device_is_compared_on_only_with_leave_and_left_empty() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(128)));
    let home = Home::new();
    let words = [LITTLE, &["--only", "ext4,sqlite-persist"]].concat();
    let refused = run(compare(&home, device.path(), &words)).expect(3);
    assert!(refused.stderr.contains("--destroy"), "{}", refused.stderr);

    Filesystem::Ext4.make(&device).unwrap();
    let willing = [&words[..], &["--destroy"]].concat();
    let refused = run(compare(&home, device.path(), &willing)).expect(3);
    assert!(refused.stderr.contains("ext4"), "{}", refused.stderr);

    let named = format!("--destroy={}", device.identity().unwrap());
    let willing = [&words[..], &[&named, "--json", "-"]].concat();
    let ended = run(compare(&home, device.path(), &willing)).expect(0);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(document["setups"]["ground"]["kind"], "device");
    for comparison in document["setups"]["comparisons"].as_array().unwrap() {
        let doubts = comparison["doubts"].as_array().unwrap();
        assert!(doubts.iter().all(|doubt| doubt["code"] != "buffered"), "{doubts:?}");
    }
    assert!(outcome(&document, "ext4", "fsync-4k")["mean"].is_number());
    assert!(outcome(&document, "sqlite-persist", "sqlite")["ratio"]["high"].is_number());
    let signatures = tool("wipefs", [device.path()]).unwrap();
    assert_eq!(signatures, "", "a file system stays on the device");
}

/// What a program has written to the loop device waits in memory until that is closed, and would
/// come after the clearing.
#[test]
fn a_maker_that_fails_halfway_leaves_no_signature_on_a_device() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(128)));
    let home = Home::new();
    let tools = tempfile::tempdir().unwrap();
    let image = tools.path().join("image");
    fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
    lab_or_skip!(tool("mkfs.ext4", ["-q", "-F", word(&image)]));
    let script = format!(
        "for node; do :; done; dd if={} of=$node bs=64k count=4 conv=notrunc status=none; exit 1",
        word(&image)
    );
    let destroy = format!("--destroy={}", device.identity().unwrap());
    let words = [LITTLE, &["--only", "ext4", &destroy]].concat();
    let command = compare(&home, device.path(), &words);
    let ended = run(with_tool(command, tools.path(), "mkfs.ext4", &script)).expect(1);
    assert_eq!(ended.stdout, "");
    assert_eq!(tool("wipefs", [device.path()]).unwrap(), "", "a file system stays on the device");
}

#[test]
fn mistakes_are_told_before_anything_is_written() {
    let home = Home::new();
    let place = home.place();
    for (words, says) in [
        (&["--only", "ntfs"][..], "there is no setup 'ntfs'"),
        (&["--jobs", "boot"], "fsync-4k, sqlite, browser, package-install"),
        (&["--size", "0"], "holds no file system"),
        (&["--destroy"], "is for block devices"),
        (&["--json", "-", "--markdown", "-"], "cannot both"),
    ] {
        let ended = run(compare(&home, place, words)).expect(2);
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
        assert_eq!(our_directories(place), Vec::<String>::new());
    }
    let ended = run(compare(&home, &place.join("photo.jpg"), &[])).expect(2);
    assert!(ended.stderr.contains("neither a directory nor a block device"), "{}", ended.stderr);
}
