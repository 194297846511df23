//! What a fifth reader found wrong or misleading.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::first_reader::{in_one_line, said};
use crate::home::{Home, word};

/// A program that makes small synced writes until it is dropped.
struct SyncedWriter(Child);

impl SyncedWriter {
    fn start(file: &Path) -> Self {
        let mut command = Command::new("dd");
        command.args(["if=/dev/zero", "bs=4k", "count=10000000", "oflag=dsync", "conv=notrunc"]);
        command.arg(format!("of={}", file.display()));
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for SyncedWriter {
    fn drop(&mut self) {
        // It may have ended, where the disk is full.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What costs a card most is told, however few bytes it has beside other programs'.
#[test]
#[ignore = "on a busy computer the writer waits for a processor; nightly"]
fn who_makes_the_synced_writes_is_named() {
    let home = Home::new();
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let _writer = SyncedWriter::start(&place.path().join("synced"));
    let words = ["watch", "--who", "--time", "3s", word(place.path())];
    let text = in_one_line(&said(&home, &words, 0).stdout);
    let (_, synced) = text.split_once("Synced writes, which slow a card most, come from ").unwrap();
    assert!(synced.contains("dd (waits "), "{text}");
    assert!(synced.contains(" flushes a minute)"), "{text}");
    let diagnose = ["diagnose", "--time", "3s", word(place.path())];
    let text = in_one_line(&said(&home, &diagnose, 0).stdout);
    assert!(text.contains("dd waited for its synced writes in "), "{text}");
    assert!(text.contains("See which program writes: cardproof watch --who"), "{text}");
}

/// A step that follows a grade says the same as the grade.
#[test]
fn a_fair_storage_is_not_called_slow_below() {
    let home = Home::new();
    let words = ["run", "sim:sandisk-ultra", "--time-budget", "15s", "--seed", "1", "-q"];
    said(&home, &words, 0);
    let text = in_one_line(&said(&home, &["show", "latest"], 0).stdout);
    assert!(text.contains("FAIR FOR A SYSTEM"), "{text}");
    assert!(text.contains("is only fair for an operating system"), "{text}");
    assert!(!text.contains("slow for an operating system"), "{text}");
    let long = said(&home, &["show", "latest", "--markdown", "-"], 0).stdout;
    assert!(long.contains("**FAIR FOR A SYSTEM**"), "{long}");
}

#[test]
fn wear_that_an_emmc_reports_leads_to_another_emmc_and_to_no_test() {
    let home = Home::new();
    let file = home.place().join("emmc.txt");
    fs::write(&file, "life_time 0x09 0x0a\npre_eol_info 0x02\n").unwrap();
    let text = in_one_line(&said(&home, &["health", "--raw", word(&file)], 0).stdout);
    assert!(text.contains("Next: 1. get another one, and copy your data to it"), "{text}");
    assert!(!text.contains("old one") && !text.contains("verify"), "{text}");
    assert!(text.contains("few spare blocks are left"), "{text}");
    fs::write(&file, "life_time 0x09 0x0a\npre_eol_info 0x03\n").unwrap();
    let text = in_one_line(&said(&home, &["health", "--raw", word(&file)], 4).stdout);
    assert!(text.contains("almost no spare blocks are left"), "{text}");
    assert!(text.contains("copy your data to another device now 2. replace it"), "{text}");
}

#[test]
fn the_two_files_of_an_emmc_are_one_output() {
    let home = Home::new();
    let file = |directory: &str, name: &str, text: &str| {
        let place = home.place().join(directory);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(name), text).unwrap();
        place.join(name)
    };
    let life = file("old", "life_time", "0x05 0x06\n");
    let reserve = file("old", "pre_eol_info", "0x02\n");
    for files in [[&life, &reserve], [&reserve, &life]] {
        let words = ["health", "--raw", word(files[0]), word(files[1])];
        let text = in_one_line(&said(&home, &words, 0).stdout);
        assert!(
            text.contains("life, type B 50 to 60 % used spare blocks 80 to 90 % used"),
            "{text}"
        );
    }
    let text = in_one_line(&said(&home, &["health", "--raw", word(&reserve)], 0).stdout);
    assert!(text.contains("spare blocks 80 to 90 % used"), "{text}");
    // One code in a file of another name may be anything.
    let other = file("old", "number", "0x02\n");
    said(&home, &["health", "--raw", word(&other)], 2);
}

/// fio 2.1 counts no operations and repeats no options.
const FIO_WITHOUT_OPTIONS: &str = r#"{"fio version": "fio-2.1.4", "jobs": [
    {"jobname": "random_write_test", "error": 0,
     "read": {"io_bytes": 0, "bw": 0, "iops": 0, "runtime": 0},
     "write": {"io_bytes": 36244, "bw": 6443, "iops": 1610, "runtime": 5625}},
    {"jobname": "random_read_test", "error": 0,
     "read": {"io_bytes": 36244, "bw": 1269, "iops": 317, "runtime": 28540},
     "write": {"io_bytes": 0, "bw": 0, "iops": 0, "runtime": 0}},
    {"jobname": "random_read_parallel", "error": 0,
     "read": {"io_bytes": 36244, "bw": 1292, "iops": 323, "runtime": 28045},
     "write": {"io_bytes": 0, "bw": 0, "iops": 0, "runtime": 0}}]}"#;

#[test]
fn a_job_of_fio_keeps_its_name_and_its_block_size_follows_from_its_rates() {
    let home = Home::new();
    let file = home.place().join("fio.json");
    fs::write(&file, FIO_WITHOUT_OPTIONS).unwrap();
    let ended = said(&home, &["import", word(&file)], 0);
    let text = in_one_line(&ended.stdout);
    assert!(text.contains("write-4k-random-write-test 1610 IOPS"), "{text}");
    assert!(text.contains("read-4k-random-read-parallel 323 IOPS"), "{text}");
    assert!(!text.contains("block size of some"), "{text}");
    let details = in_one_line(&said(&home, &["show", "latest", "--details"], 0).stdout);
    assert!(details.contains("read-4k-random-read-parallel: read bw: 1292 KiB/s"), "{details}");
}

/// What fio prints of a job with syncs.
const FIO_WITH_SYNCS: &str = "w: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, \
    (T) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.33\n\
    w: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 20 10:00:00 2026\n\
    \x20 write: IOPS=182, BW=728KiB/s (745kB/s)(42.7MiB/60060msec); 0 zone resets\n\
    \x20 fsync/fdatasync/sync_file_range:\n\
    \x20   sync (usec): min=135, max=60928, avg=26223.68, stdev=9.41\n";

#[test]
fn a_line_of_the_tool_is_not_called_unknown() {
    let home = Home::new();
    let file = home.place().join("fio.txt");
    fs::write(&file, FIO_WITH_SYNCS).unwrap();
    let ended = said(&home, &["import", word(&file)], 0);
    assert!(!ended.stderr.contains("skipped"), "{}", ended.stderr);
    fs::write(&file, format!("{FIO_WITH_SYNCS}\nSome other words\n")).unwrap();
    let notes = said(&home, &["import", word(&file)], 0).stderr;
    assert!(notes.contains("skipped") && !notes.contains("known tool"), "{notes}");
}

#[test]
fn a_limited_rate_has_no_grade() {
    let home = Home::new();
    let file = home.place().join("fio.txt");
    let limited = "fio --name=r --rw=randread --bs=4k --direct=1 --rate_iops=50 --size=64M\n";
    let report = "r: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, \
        ioengine=psync, iodepth=1\nfio-3.33\n\
        r: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 20 10:00:00 2026\n\
        \x20 read: IOPS=50, BW=200KiB/s (205kB/s)(11.7MiB/60060msec)\n";
    fs::write(&file, format!("{limited}{report}")).unwrap();
    said(&home, &["import", word(&file)], 0);
    let text = in_one_line(&said(&home, &["show", "latest", "--details"], 0).stdout);
    assert!(text.contains("opening programs: not known"), "{text}");
    assert!(text.contains("fio was told to limit the rate"), "{text}");
}

#[test]
fn a_test_that_puts_data_back_writes_and_reads_as_much_as_it_announces() {
    let home = Home::new();
    let image = home.place().join("card.img");
    fs::write(&image, vec![7_u8; 16 << 20]).unwrap();
    let option = format!("--restore=card.img:{}", 16 << 20);
    let ended = crate::process::run(home.cardproof(&["verify", &option, word(&image)]));
    let (plan, result) = (in_one_line(&ended.stderr), in_one_line(&ended.stdout));
    assert!(plan.contains("That writes 32 MiB to the file and reads 82 MiB"), "{plan}");
    assert!(plan.contains("Estimated time: at least "), "{plan}");
    assert!(result.contains("Written 32 MiB, read 82 MiB."), "{result}");
    assert!(result.contains("a file has no capacity of its own"), "{result}");
    assert!(!result.contains("--full") && !result.contains("You can use"), "{result}");
}

#[test]
fn the_map_of_a_surface_is_part_of_the_plan() {
    let home = Home::new();
    let words = ["verify", "sim:fake-cached", "--surface", "--seed", "1"];
    let plan = in_one_line(&said(&home, &words, 4).stderr);
    assert!(plan.contains(", and then all 64 GiB for the map. Estimated time:"), "{plan}");
    let (_, hours) = plan.split_once("Estimated time: ").unwrap();
    assert!(!hours.starts_with('1') || hours.contains("hours"), "{plan}");
}

#[test]
fn records_of_one_simulated_card_have_ends_of_their_own() {
    let home = Home::new();
    for seed in ["1", "2"] {
        said(&home, &["geometry", "sim:sandisk-ultra", "--seed", seed, "-q"], 0);
    }
    let list = said(&home, &["list"], 0).stdout;
    let ids: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(ids.len(), 2, "{list}");
    assert!(ids[0] != ids[1] && ids.iter().all(|id| id.len() == 8), "{list}");
}

#[test]
fn the_honesty_profile_says_what_it_cannot_see() {
    let home = Home::new();
    let words = ["run", "--profile", "honesty", "sim:ignores-flushes", "--seed", "1"];
    let text = in_one_line(&said(&home, &words, 0).stdout);
    assert!(
        text.contains("A card that ignores flushes and takes its usual time looks honest here")
    );
    assert!(!text.contains("measure again when the system feels slower"), "{text}");
}

/// The fit is of another method, and gives another rate.
#[test]
fn a_simulated_card_has_no_place_that_its_original_has_not() {
    let home = Home::new();
    let text = said(&home, &["check", "sim:sandisk-ultra", "--seed", "3"], 0).stdout;
    assert!(!text.contains("published results"), "{text}");
    let list = in_one_line(&said(&home, &["sim", "list"], 0).stdout);
    assert!(list.contains("A fit holds for the tests that were published"), "{list}");
}

#[test]
fn a_comparison_profile_is_not_told_to_test_another_range() {
    let home = Home::new();
    let words = ["run", "--profile", "sd-card-bench", "sim:sandisk-ultra", "--seed", "1"];
    let text = in_one_line(&said(&home, &words, 0).stdout);
    assert!(!text.contains("--size 256M"), "{text}");
}
