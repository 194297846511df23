//! `--require`, for scripts: a status of its own where a class is missed or cannot be told.

use cardproof_record::Outcome;
use cardproof_testkit::{Filesystem, Limits, LoopDevice, Mount, Throttle, lab_or_skip};
use cardproof_units::Bytes;

use crate::aliases::in_another_view;
use crate::home::{Home, SMALL, word};
use crate::process::run;
use crate::records;

/// A device on which the kernel allows a tenth of what A1 asks for. On a busy computer the undisturbed parts may be too
/// short to decide; then the record says what disturbed them.
#[test]
fn a_slow_device_does_not_meet_a1_and_the_status_says_so() {
    // On a disk: what rests on memory is not judged at all.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let device = lab_or_skip!(LoopDevice::sparse_in(directory.path(), Bytes::mib(128)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, ""));
    let limits = Limits { read_iops: Some(150), write_iops: Some(50), ..Limits::default() };
    let throttle = lab_or_skip!(Throttle::new(&device, &limits));
    let home = Home::new();
    let words = ["run", word(mount.path()), "--size", "16M", "--time-budget", "10s"];
    let more = ["--quiet", "--json", "-", "--require", "A1"];
    let ended = run(home.cardproof_in(&throttle, &[&words[..], &more[..]].concat())).expect(4);
    let record = records::parse(&ended.stdout);
    let a1 = record.verdicts.iter().flatten().find(|verdict| verdict.rule == "A1").unwrap();
    let is_disturbed = record.phases.iter().any(|phase| !phase.disturbances.is_empty());
    match a1.outcome {
        Outcome::Misses => {}
        Outcome::Undecided => assert!(is_disturbed, "{a1:?}"),
        other => panic!("{other:?}: {a1:?}"),
    }
    assert!(!a1.reasons.is_empty());
}

/// The path of the image leads to a directory on a disk, once over the memory and once without it.
#[test]
fn memory_beneath_a_loop_device_is_no_storage_where_the_path_of_its_image_is_hidden() {
    let memory = lab_or_skip!(Mount::tmpfs("size=400M"));
    let device = lab_or_skip!(LoopDevice::sparse_in(memory.path(), Bytes::mib(384)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, ""));
    let cases = [
        ("mount --bind \"$1\" \"$0\" && shift && exec \"$@\"", "is in memory"),
        ("umount --lazy \"$0\" && shift && exec \"$@\"", "may be memory"),
    ];
    for (script, says) in cases {
        let home = Home::new();
        let words = ["run", word(mount.path()), "--size", "256M", "--time-budget", "6s"];
        let words = [&words[..], &["--quiet", "--json", "-", "--require", "C2"]].concat();
        let command = in_another_view(&home, script, memory.path(), home.place(), &words);
        let ended = run(lab_or_skip!(command)).expect(4);
        let record = records::parse(&ended.stdout);
        let verdicts = record.verdicts.unwrap();
        let c2 = verdicts.iter().find(|verdict| verdict.rule == "C2").unwrap();
        assert!(c2.reasons[0].text.contains(says), "{script}: {c2:?}");
        let is_met = verdicts.iter().any(|verdict| verdict.outcome == Outcome::Meets);
        assert!(!is_met, "{script}: {verdicts:?}");
    }
}

/// Half of each is not there, and it is too slow to be filled in a minute.
#[test]
fn no_fake_of_the_catalogue_meets_a_class() {
    let home = Home::new();
    let fakes = cardproof_sim::catalogue().iter().filter(|card| card.fake.is_some());
    assert_eq!(fakes.clone().count(), 5);
    for card in fakes {
        let target = format!("sim:{}", card.name);
        let words =
            ["run", &target, "--size", "4G", "--seed", "1", "--details", "--require", "C10"];
        let ended = run(home.cardproof(&words)).expect(4);
        let text = ended.stdout;
        let (lead, _) = text.split_once("Verdicts").unwrap();
        assert!(lead.contains("LOSES DATA"), "{}: {lead}", card.name);
        assert!(!text.contains("passed on this computer"), "{}: {text}", card.name);
    }
}

#[test]
fn a_verdict_names_the_part_of_the_storage_that_it_is_about() {
    let home = Home::new();
    let words = ["run", "sim:sandisk-ultra-a1", "--seed", "1", "--json", "-", "--quiet"];
    let record = records::parse(&run(home.cardproof(&words)).expect(0).stdout);
    assert_eq!(record.measured_to_bytes, Some(Bytes::mib(256)));
    let c10 = record.verdicts.iter().flatten().find(|verdict| verdict.rule == "C10").unwrap();
    assert_eq!(c10.outcome, Outcome::Meets);
    assert!(
        c10.reasons[0].text.contains("above the limit of 10.0 MB/s (tested on the first 256 MiB)"),
        "{c10:?}"
    );
}

#[test]
fn what_cannot_be_told_is_not_met() {
    let home = Home::new();
    let words = [&["run", word(home.place()), "--require", "A1"], SMALL].concat();
    // 16 MiB are less than the span of the classes, so nothing can be said to meet them.
    run(home.cardproof(&words)).expect(4);
}

#[test]
fn an_unknown_class_is_a_mistake_of_the_command_line() {
    let home = Home::new();
    run(home.cardproof(&["run", word(home.place()), "--require", "A9"])).expect(2);
}

#[test]
fn every_class_can_be_required_in_any_case() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("record.json");
    std::fs::write(&path, cardproof_testkit::records::typical_a1_card().to_json().unwrap())
        .unwrap();
    let home = Home::new();
    // It writes at 15.8 to 19.8 MB/s.
    let cases = [("C10", 0), ("u1", 0), ("v10", 0), ("A1", 0), ("V30", 4), ("U3", 4), ("A2", 4)];
    for (class, status) in cases {
        run(home.cardproof(&["show", word(&path), "--require", class])).expect(status);
    }
}
