//! Outputs as people pasted them that were once refused or misread, in `tests/import/defects`. They are
//! real; names of hosts and users, serial numbers and addresses were replaced.

use std::fs;

use cardproof_import::Imported;
use cardproof_record::{ErrorCause, FindingKind, OpName, Record, State, WarningCode};
use cardproof_units::Bytes;

use crate::compact::compact;
use crate::{all_of, directory, fixture};

fn pasted(name: &str) -> Imported {
    let path = directory().join("defects").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let found = all_of(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(found.refused, [], "{name}");
    found
}

fn one(name: &str) -> Record {
    let found = pasted(name);
    assert_eq!(found.records.len(), 1, "{name}");
    found.records.into_iter().next().unwrap()
}

fn has(record: &Record, code: WarningCode) -> bool {
    record.warnings.iter().any(|warning| warning.code == code)
}

const fn corrupted(ok: u64, corrupted: u64) -> FindingKind {
    FindingKind::WrongSectors { ok, corrupted, changed: 0, overwritten: 0, right_to_bytes: None }
}

#[test]
fn every_paste_becomes_the_records_that_it_holds() {
    let entries = fs::read_dir(directory().join("defects")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    for name in names {
        let records: Vec<String> = pasted(&name).records.iter().map(compact).collect();
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("paste-{}", name.replace('.', "-")), records.join("\n\n"));
        });
    }
}

#[test]
fn what_f3_lost_or_could_not_read_is_a_finding_with_its_figures() {
    let finding = |name: &str| one(name).findings.remove(0);
    let lost = corrupted(6_291_263, 193);
    assert_eq!(finding("f3-steamdeck.txt").what, lost);
    let unread = finding("f3-ioerror.txt");
    let FindingKind::IoErrors { op, cause, files, .. } = unread.what else { panic!("{unread:?}") };
    assert_eq!((op, cause, files, unread.line), (OpName::Read, ErrorCause::Io, vec![460], Some(6)));
    let counterfeit = FindingKind::Counterfeit {
        usable_bytes: Some(Bytes(8_388_608 * 512)),
        announced_bytes: Some(Bytes(15_563_776 * 512)),
    };
    assert_eq!(finding("f3-52.txt").what, counterfeit);
    let record = one("f3-steamdeck.txt");
    assert_eq!(record.phases[1].bytes.0, 6_291_456 * 512, "of sectors and not of rounded GB");
}

#[test]
fn the_tested_drive_is_described_and_not_the_first_of_the_list() {
    let device = one("pibenchmarks-iscsi.txt").conditions.device;
    assert_eq!((device.vendor, device.model, device.size_bytes), (None, None, None));
}

#[test]
fn zeros_of_a_faulty_script_are_fio_s_own_figures() {
    let record = one("ag-issue20.txt");
    let rates: Vec<f64> =
        record.phases.iter().filter_map(|phase| Some(phase.point_iops()?.0)).collect();
    assert!(rates.contains(&884.0) && rates.contains(&1676.0), "{rates:?}");
    assert!(record.phases.iter().any(|phase| phase.name == "sequential-read-4m-qd32"));
}

#[test]
fn several_cards_in_one_file_are_as_many_records() {
    let labels: Vec<Option<String>> =
        pasted("agnostics-4-cards.md").records.into_iter().map(|record| record.label).collect();
    let expected = [
        "Amazon Basics 64GB CQ ON",
        "Amazon Basics 64GB CQ OFF",
        "Amazon Basics 128GB CQ ON",
        "Amazon Basics 128GB CQ OFF",
    ];
    assert_eq!(labels, expected.map(|label| Some(label.to_owned())));
    assert_eq!(pasted("hd-2001two.txt").records.len(), 2, "two devices");
    assert_eq!(pasted("hdmulti.txt").records.len(), 2, "two devices");
}

#[test]
fn without_a_banner_the_page_cache_is_unknown_and_not_used() {
    let record = one("iozone-bare.txt");
    assert_eq!(
        (record.phases.len(), record.label.as_deref()),
        (30, Some("FORESEE SLD64G from 05/2021"))
    );
    for phase in &record.phases {
        let codes: Vec<WarningCode> = phase.warnings.iter().map(|it| it.code).collect();
        assert_eq!(codes, [WarningCode::CacheUnknown], "{}", phase.name);
        assert!(!phase.name.contains("buffered"));
    }
}

#[test]
fn lines_of_progress_are_no_measurement() {
    for (name, bytes) in [("dd-progress.txt", 1_073_741_824), ("dd-ru2.txt", 209_715_200)] {
        let record = one(name);
        assert_eq!(record.phases.len(), 1, "{name}");
        assert_eq!(record.phases[0].bytes.0, bytes, "{name}");
    }
}

#[test]
fn reads_of_the_buffer_cache_are_no_measurement_of_the_disk() {
    let record = one("hd-2004.txt");
    assert_eq!(record.phases.len(), 1);
    assert!(record.phases[0].point_throughput().unwrap().0 < 5e6);
}

#[test]
fn a_run_that_a_signal_ended_is_partial() {
    let record = one("fio-signal.json");
    assert_eq!(record.state, State::Partial);
    assert!(has(&record, WarningCode::Other));
}

#[test]
fn no_host_no_user_and_no_address_is_taken_over() {
    let entries = fs::read_dir(directory().join("defects")).unwrap();
    for entry in entries {
        let name = entry.unwrap().file_name().into_string().unwrap();
        for record in pasted(&name).records {
            let json = record.to_json().unwrap();
            for secret in ["feedbeef", "02:00:00:ab:cd:ef", "/dev/", "user@", "/home", "/media"] {
                assert!(!json.contains(secret), "{name}: {secret}");
            }
        }
    }
}

#[test]
fn sums_of_f3_that_are_cut_hide_no_fault() {
    let text = "F3 write 8.0\nAverage writing speed: 11.20 MB/s\nF3 read 8.0\n\
        \x20                 SECTORS      ok/corrupted/changed/overwritten\n\
        Validating file 1.h2w ... 2096744/      408/      0/      0\n\n  Data OK: 1.00 GB (2096744 sectors)\n";
    let lost = corrupted(2_096_744, 408);
    assert_eq!(all_of(text).unwrap().records[0].findings[0].what, lost);
}

/// What is said to be right from the start where f3read printed these rows, in files of 1 GiB.
fn right_to(rows: &[&str]) -> Option<Bytes> {
    let head = "F3 read 8.0\n                  SECTORS      ok/corrupted/changed/overwritten\n";
    let all = all_of(&format!("{head}{}\n", rows.join("\n"))).unwrap();
    let finding = &all.records[0].findings[0];
    let FindingKind::WrongSectors { right_to_bytes, .. } = finding.what else {
        panic!("{finding:?}")
    };
    right_to_bytes
}

#[test]
fn a_fake_is_right_up_to_a_place_and_a_damaged_card_here_and_there() {
    let right = "Validating file 1.h2w ... 2097152/        0/      0/      0";
    let mostly = "Validating file 2.h2w ... 2096744/      408/      0/      0";
    let wrong = "Validating file 3.h2w ...       0/  2097152/      0/      0";
    let last = "Validating file 4.h2w ...  104857/        0/      0/1992295";
    let sectors = |count: u64| Some(Bytes(512 * count));
    assert_eq!(right_to(&[right, mostly, wrong, last]), sectors(2_097_152 + 2_096_744));
    assert_eq!(right_to(&[right, mostly, wrong]), sectors(2_097_152 + 2_096_744));
    // Nothing lies behind the wrong file that tells a fake from a damaged card.
    assert_eq!(right_to(&[right, mostly]), None);
    let later = "Validating file 3.h2w ... 2097152/        0/      0/      0";
    assert_eq!(right_to(&[right, mostly, later, last]), None, "scattered");
    assert_eq!(right_to(&[right, mostly, last]), None, "a row is not there");
    let changed = "Validating file 3.h2w ...       0/        0/2097152/      0";
    assert_eq!(right_to(&[right, mostly, changed]), None, "bits that differ");
    let none = "Validating file 1.h2w ...       0/  2097152/      0/      0";
    let second = "Validating file 2.h2w ...       0/  2097152/      0/      0";
    assert_eq!(right_to(&[none, second]), None, "nothing is right");
}

#[test]
fn h2testw_tells_a_fake_by_the_place_of_its_first_error() {
    let report = |first: &str| {
        let text = format!(
            "The media is likely to be defective.\n7.4 GByte OK (15600256 sectors)\n\
             22.3 GByte DATA LOST (46767488 sectors)\nFirst error at offset: {first}\n\
             Writing speed: 8.59 MByte/s\nReading speed: 12.1 MByte/s\nH2testw v1.4\n"
        );
        let all = all_of(&text).unwrap();
        let FindingKind::DataLost { right_to_bytes, .. } = all.records[0].findings[0].what else {
            panic!("{all:?}")
        };
        right_to_bytes
    };
    assert_eq!(report("0x00000001dc180000"), Some(Bytes(15_600_256 * 512)));
    // Most of what is right lies behind the first error: a damaged card.
    assert_eq!(report("0x0000000000100000"), None);
}

/// What the phases of the first record of `text` say of data that were compared.
fn compared(text: &str) -> Vec<u64> {
    let found = all_of(text).unwrap();
    let phases = found.records[0].phases.iter();
    phases.filter_map(|phase| Some(phase.verification?.compared_bytes.get())).collect()
}

#[test]
fn a_test_that_found_all_right_says_so_and_one_that_did_not_says_nothing() {
    let speed = "Average reading speed: 17.42 MB/s\n";
    let sums = |lost: &str| {
        format!(
            "F3 read 8.0\n  Data OK: 2.00 GB (4194304 sectors)\nData LOST: {lost}\n\
             Corrupted: {lost}\n{speed}"
        )
    };
    assert_eq!(compared(&sums("0.00 Byte (0 sectors)")), [4_194_304 * 512]);
    assert_eq!(compared(&sums("512.00 Byte (1 sectors)")), [0; 0]);
    assert_eq!(compared(&format!("F3 read 8.0\n{speed}")), [0; 0], "no sums");
    let sound = fixture("h2testw-sound.txt");
    assert_eq!(compared(&sound), [30_436 << 20]);
    let (_, without_amount) = sound.split_once('\n').unwrap();
    assert_eq!(compared(without_amount), [0], "the amount is not told");
    let ends = without_amount.split_once('\n').unwrap().1;
    assert_eq!(compared(ends), [0; 0], "without its verdict");
}
