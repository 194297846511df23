//! Figures that another tool stated: their names, and what can be told from them.

use std::fs;

use crate::home::{Home, word};
use crate::said::{FIO, in_one_line, measured_with_seed, said};

/// What dd and iozone print of a card.
const DD: &str = "$ dd if=/dev/zero of=test bs=4k count=80k conv=fsync\n\
    335544320 bytes (336 MB, 320 MiB) copied, 17.4 s, 19.3 MB/s\n";

const IOZONE: &str = "\
                                                              random    random
          kB  reclen    write  rewrite    read    reread    read     write
      102400       4     2175     2232     8421     8430     7930     2310
      102400    1024    12010    12100    22310    22320    22300    11800
";

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

/// What fio prints of a job with syncs.
const FIO_WITH_SYNCS: &str = "w: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, \
    (T) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.33\n\
    w: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 20 10:00:00 2026\n\
    \x20 write: IOPS=182, BW=728KiB/s (745kB/s)(42.7MiB/60060msec); 0 zone resets\n\
    \x20 fsync/fdatasync/sync_file_range:\n\
    \x20   sync (usec): min=135, max=60928, avg=26223.68, stdev=9.41\n";

#[test]
fn more_writes_than_any_card_does_may_be_those_of_memory() {
    let home = Home::new();
    let fio = home.place().join("fio.txt");
    fs::write(&fio, FIO).unwrap();
    said(&home, &["import", word(&fio), "--label", "old"], 0);
    let page = said(&home, &["show", "old"], 0).stdout;
    assert!(!page.contains("good"), "{page}");
    assert!(page.contains("fio: 4 KiB random write, depth 1: write iops: 20.5 k IOPS"), "{page}");
    let details = in_one_line(&said(&home, &["show", "old", "--details"], 0).stdout);
    assert!(details.contains("perhaps of the page cache (memory)"), "{details}");
    measured_with_seed(&home, "v30-a2", "one", "5");
    let compared = in_one_line(&said(&home, &["compare", "one", "old"], 0).stdout);
    assert!(compared.contains("20500?"), "{compared}");
    assert!(compared.contains("perhaps of the page cache (memory), as fio"), "{compared}");
    assert!(compared.contains("'old' has no sound figure of 4 KiB random write"), "{compared}");
}

#[test]
fn a_rate_of_small_blocks_is_named_where_a_large_one_is_missing() {
    let home = Home::new();
    for (name, text) in [("dd", DD), ("iozone", IOZONE)] {
        let file = home.place().join(name);
        fs::write(&file, text).unwrap();
        said(&home, &["import", word(&file), "--label", name], 0);
    }
    let text = in_one_line(&said(&home, &["compare", "iozone", "dd"], 0).stdout);
    assert!(text.contains("measured only through the page cache (19.3 MB/s)"), "{text}");
    let page = in_one_line(&said(&home, &["show", "dd"], 0).stdout);
    assert!(page.contains("its figure includes the time to empty it"), "{page}");
    assert!(page.contains("4 KiB sequential write, depth 1, through the page cache"), "{page}");
}

#[test]
fn a_stated_figure_is_the_same_everywhere_and_its_grade_allows_for_other_runs() {
    let home = Home::new();
    let file = home.place().join("iozone.txt");
    fs::write(&file, IOZONE).unwrap();
    said(&home, &["import", word(&file), "--label", "old"], 0);
    let text = in_one_line(&said(&home, &["show", "old", "--details"], 0).stdout);
    // 1982 random reads a second, of which other runs may be fair or good.
    assert!(text.contains("programs: fair to good."), "{text}");
    assert!(!text.contains("577 IOPS") && text.contains("578 IOPS (one iozone"), "{text}");
    assert!(text.contains("Sequential write: 12.3 MB/s as stated"), "{text}");
}

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

/// `qd1-2` reads as a depth of 2.
#[test]
fn a_second_run_of_dd_is_not_called_a_depth() {
    let home = Home::new();
    let run = "$ dd if=/dev/zero of=test bs=1M count=100 oflag=direct\n100+0 records in\n100+0 records out\n\
               104857600 bytes (105 MB, 100 MiB) copied, 6.0 s, 17.5 MB/s\n";
    let file = home.place().join("dd.txt");
    fs::write(&file, run.repeat(2).replacen("6.0 s, 17.5", "7.0 s, 15.0", 1)).unwrap();
    let text = said(&home, &["import", word(&file)], 0).stdout;
    assert!(text.contains("sequential-write-1m-qd1-run2 "), "{text}");
    assert!(!text.contains("qd1-2"), "{text}");
}
