//! Pastes of people whose storage fails, without a benchmark in them: the finding is the answer.

use cardproof_import::ImportError;
use cardproof_record::{ErrorCause, FindingKind, OpName};

use crate::{all_of, imported};

/// For each operation that failed: the tool, what it was, how often it failed, the device and the line.
fn told(text: &str) -> Vec<(String, OpName, u64, String, u64)> {
    let record = imported(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(record.phases.is_empty(), "{text}");
    let device = record.conditions.device.name.clone().unwrap_or_default();
    let findings = record.findings.iter().map(|finding| {
        let FindingKind::IoErrors { op, count, cause, .. } = finding.what else {
            panic!("{finding:?}")
        };
        assert_eq!(cause, ErrorCause::Io, "{text}");
        (finding.tool.clone(), op, count, device.clone(), finding.line.unwrap())
    });
    findings.collect()
}

#[test]
fn what_a_copy_could_not_read_is_a_finding() {
    let text = "I tried to back up the card:\n\n\
                pi@raspberrypi:~ $ cp -a /home/pi/photos /mnt/usb/\n\
                cp: error reading '/home/pi/photos/IMG_2032.JPG': Input/output error\n\
                cp: error reading '/home/pi/photos/IMG_2033.JPG': Input/output error\n\
                cp: error writing '/mnt/usb/IMG_2034.JPG': Input/output error\n\nWhat now?\n";
    assert_eq!(imported(text).unwrap().label, None, "a sentence about a card is no name");
    let tool = || "file-tools".to_owned();
    let read = (tool(), OpName::Read, 2, String::new(), 4);
    assert_eq!(told(text), [read, (tool(), OpName::Write, 1, String::new(), 6)]);
    let quoted = "> ls: reading directory '.': Input/output error\n> what does this mean?\n";
    assert_eq!(told(quoted), [(tool(), OpName::Read, 1, String::new(), 1)]);
}

#[test]
fn errors_of_what_is_no_storage_are_no_finding() {
    for text in [
        "cat: /sys/class/hwmon/hwmon0/temp1_input: Input/output error\n",
        "OSError: [Errno 5] Input/output error\n",
        "cat: /dev/i2c-1: Input/output error\n",
    ] {
        assert_eq!(all_of(text).unwrap_err(), ImportError::Unrecognised, "{text}");
    }
}

#[test]
fn bad_blocks_are_counted_by_what_failed() {
    let text = "$ sudo badblocks -sv /dev/mmcblk0\nChecking blocks 0 to 15558143\n\
                Checking for bad blocks (read-only test): 7340032\n7340033\ndone\n\
                Pass completed, 3 bad blocks found. (2/1/0 errors)\n";
    let tool = || "badblocks".to_owned();
    let read = (tool(), OpName::Read, 2, "mmcblk0".to_owned(), 6);
    assert_eq!(told(text), [read, (tool(), OpName::Write, 1, "mmcblk0".to_owned(), 6)]);
    let wrong = imported("Pass completed, 8 bad blocks found. (0/0/8 errors)\n").unwrap();
    assert_eq!(wrong.findings[0].what, FindingKind::Damaged);
    let none = all_of("Pass completed, 0 bad blocks found. (0/0/0 errors)\n").unwrap_err();
    assert!(matches!(none, ImportError::NoFault { .. }), "{none}");
}

#[test]
fn the_last_screen_of_ddrescue_counts() {
    let screen = |areas: u64, errors: u64| {
        format!(
            "     ipos:   15931 MB, non-trimmed:        0 B,  current rate:       0 B/s\n     \
             opos:   15931 MB, non-scraped:        0 B,  average rate:   12003 kB/s\n\
             non-tried:        0 B,  bad-sector:    40960 B,    error rate:     170 B/s\n  \
             rescued:   15931 MB,   bad areas:        {areas},        run time: 22m  7s\n\
             pct rescued:   99.99%, read errors:       {errors},  remaining time:         n/a\n"
        )
    };
    let command = "$ sudo ddrescue -d /dev/sda card.img card.map\nGNU ddrescue 1.27\n";
    let tool = || "ddrescue".to_owned();
    let text = format!("{command}{}{}Finished\n", screen(0, 0), screen(3, 92));
    assert_eq!(told(&text), [(tool(), OpName::Read, 92, "sda".to_owned(), 12)]);
    let none = all_of(&screen(0, 0)).unwrap_err();
    assert!(matches!(none, ImportError::NoFault { .. }), "{none}");
    let old = "rescued:    15931 MB,  errsize:   40960 B,  current rate:        0 B/s\n   \
               ipos:     5324 MB,   errors:       7,    average rate:    11862 kB/s\n";
    assert_eq!(told(old), [(tool(), OpName::Read, 7, String::new(), 2)]);
}

#[test]
fn blocks_that_a_check_of_the_file_system_could_not_read_are_a_finding() {
    let text = "e2fsck 1.47.0 (5-Feb-2023)\n/dev/mmcblk0p2: recovering journal\n\
                Error reading block 131072 (Input/output error).  Ignore error? yes\n\
                Force rewrite? yes\n\
                Error reading block 131073 (Input/output error) while reading inode.\n\
                Error writing block 131072 (Input/output error).  Ignore error? yes\n";
    let tool = || "e2fsck".to_owned();
    let device = || "mmcblk0p2".to_owned();
    let read = (tool(), OpName::Read, 2, device(), 3);
    assert_eq!(told(text), [read, (tool(), OpName::Write, 1, device(), 6)]);
}
