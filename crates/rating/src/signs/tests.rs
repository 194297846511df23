//! Made conditions with their truth: what was seen, and what has to be said of it.

use cardproof_kernel_log::{self as kernel_log, Trouble};
use cardproof_record::FindingKind;

use super::*;

const READ: LogRead = LogRead::Read { days: Some(41), earlier: None };

/// What a log tells of `mmcblk0` and of the computer's power.
fn troubles(log: &str) -> Vec<Trouble> {
    let read = kernel_log::read((1..).zip(log.lines()));
    let of_card = read.devices.iter().flat_map(|device| device.troubles.clone());
    of_card.chain(read.others.clone()).collect()
}

fn card(log: &str) -> Seen {
    Seen {
        log: READ,
        troubles: troubles(log),
        attachment: Attachment::Slot,
        is_present: Some(true),
        ..Seen::default()
    }
}

fn kinds(signs: &Signs) -> Vec<SignKind> {
    signs.signs.iter().map(|sign| sign.kind).collect()
}

const WRITE_ERROR: &str =
    "[  303.2] I/O error, dev mmcblk0, sector 10372992 op 0x1:(WRITE) flags 0x800 phys_seg 1\n";
const ABORTED: &str = "[  304.0] Aborting journal on device mmcblk0p2-8.\n";
const READ_ONLY: &str = "[  304.1] EXT4-fs (mmcblk0p2): Remounting filesystem read-only\n";
const CRC: &str = "[  100.0] mmcblk0: error -84 transferring data, sector 1, nr 8, cmd response 0x900, card status 0x0\n";
const TIMEOUT: &str = "[  100.0] mmc0: Timeout waiting for hardware interrupt.\n";
const NO_START: &str = "[    1.2] mmc0: error -110 whilst initialising SD card\n";
const UNDER: &str = "[   50.0] hwmon hwmon1: Undervoltage detected!\n";

/// The verdict of each log, and whether it is a bad one.
#[test]
fn each_log_gets_its_verdict() {
    use HealthVerdict::{CopyNow, Fine, WatchIt};
    let cases = [
        ("", Fine),
        ("[    0.7] mmc0: new ultra high speed SDR104 SDXC card at address 59b4\n", Fine),
        (WRITE_ERROR, CopyNow),
        (ABORTED, CopyNow),
        (READ_ONLY, CopyNow),
        (CRC, WatchIt),
        (TIMEOUT, WatchIt),
        (NO_START, WatchIt),
        (UNDER, WatchIt),
        (
            "[ 9.0] Buffer I/O error on dev mmcblk0p2, logical block 1, lost async page write\n",
            CopyNow,
        ),
        (
            "[ 9.0] critical medium error, dev mmcblk0, sector 2048 op 0x0:(READ) flags 0x0\n",
            CopyNow,
        ),
        ("[ 9.0] EXT4-fs error (device mmcblk0p2): ext4_lookup:1700: inode #1: deleted\n", CopyNow),
        ("[ 9.0] mmc0: Card stuck being busy! __mmc_poll_for_busy\n", WatchIt),
        ("[ 9.0] mmc0: running CQE recovery\n", WatchIt),
        (
            "[ 9.0] FAT-fs (mmcblk0p1): Volume was not properly unmounted. Some data may be corrupt.\n",
            Fine,
        ),
        // The boot area of an eMMC, which some boards do not let be read.
        ("[ 9.0] I/O error, dev mmcblk0boot0, sector 8064 op 0x0:(READ) flags 0x80700\n", Fine),
    ];
    for (log, expected) in cases {
        let signs = Signs::new(&card(log));
        assert_eq!(signs.verdict, expected, "{log}\n{signs:#?}");
        assert_eq!(signs.is_bad(), expected == CopyNow, "{log}");
    }
}

#[test]
fn a_card_that_breaks_is_told_by_all_its_signs() {
    let seen = Seen {
        host_counters: Some(vec![
            (HostCounter::CommandTimeout, 4),
            (HostCounter::CommandChecksum, 345),
        ]),
        mounted: vec![MountedState {
            filesystem: "ext4".to_owned(),
            partition: "mmcblk0p2".to_owned(),
            is_turned_read_only: true,
            noted_errors: Some(7),
        }],
        ..card(&[WRITE_ERROR, ABORTED, READ_ONLY].concat())
    };
    let signs = Signs::new(&seen);
    assert_eq!(signs.verdict, HealthVerdict::CopyNow);
    for kind in [
        SignKind::FailedRequests,
        SignKind::FilesystemErrors,
        SignKind::TurnedReadOnly,
        SignKind::NotedFilesystemErrors,
        SignKind::WrongChecksums,
    ] {
        assert!(kinds(&signs).contains(&kind), "{kind:?} {signs:#?}");
    }
    assert_eq!(signs.signs[0].certainty, Certainty::Certain, "the surest of the gravest leads");
    assert!(signs.suspects.contains(&Suspect::Reader), "{:?}", signs.suspects);
    assert!(signs.experiments.contains(&Experiment::SwapReader));
}

#[test]
fn without_anything_to_read_nothing_is_said() {
    for log in [LogRead::NotPermitted, LogRead::Absent] {
        let seen = Seen { log, is_present: Some(true), ..Seen::default() };
        assert_eq!(Signs::new(&seen).verdict, HealthVerdict::NotKnown);
        let with_report = Seen { has_report: true, ..seen.clone() };
        assert_eq!(Signs::new(&with_report).verdict, HealthVerdict::Fine);
        // What is seen elsewhere counts without a log.
        let mounted = vec![MountedState { is_turned_read_only: true, ..MountedState::default() }];
        assert_eq!(Signs::new(&Seen { mounted, ..seen }).verdict, HealthVerdict::CopyNow);
    }
}

#[test]
fn counters_of_the_host_are_weighed_against_what_is_usual() {
    use HostCounter::{CommandChecksum, CommandTimeout, DataChecksum, DataTimeout, Queue, Tuning};
    for (counters, expected) in [
        (vec![(CommandTimeout, 12)], HealthVerdict::Fine),
        (vec![(CommandTimeout, 900)], HealthVerdict::WatchIt),
        (vec![(CommandChecksum, 1)], HealthVerdict::Fine),
        (vec![(CommandChecksum, 2), (DataChecksum, 2)], HealthVerdict::WatchIt),
        (vec![(DataTimeout, 1)], HealthVerdict::WatchIt),
        (vec![(Queue, 1)], HealthVerdict::WatchIt),
        (vec![(Tuning, 40)], HealthVerdict::Fine),
    ] {
        let seen = Seen { host_counters: Some(counters.clone()), ..card("") };
        assert_eq!(Signs::new(&seen).verdict, expected, "{counters:?}");
    }
    assert_eq!(HostCounter::named("Data CRC Errors Occurred"), DataChecksum);
    assert_eq!(HostCounter::named("something new"), HostCounter::Other);
}

#[test]
fn wear_is_told_by_registers_and_reports() {
    use HealthVerdict::{CopyNow, Fine, WatchIt};
    let life = |low, high| Seen { life_used_percent: Some((low, high)), ..card("") };
    let spare = |state| Seen { spare_blocks: state, ..card("") };
    let report = |what| Seen { report: vec![what], has_report: true, ..card("") };
    for (seen, expected) in [
        (life(0, Some(10)), Fine),
        (life(80, Some(90)), Fine),
        (life(90, Some(100)), WatchIt),
        (life(100, None), CopyNow),
        (spare(SpareBlocks::Normal), Fine),
        (spare(SpareBlocks::Warning), WatchIt),
        (spare(SpareBlocks::Urgent), CopyNow),
        (report(FindingKind::SelfAssessmentFailed), CopyNow),
        (report(FindingKind::PendingSectors { count: 3 }), CopyNow),
        (report(FindingKind::ReallocatedSectors { count: 3 }), WatchIt),
        (report(FindingKind::LifeUsedUp { used_percent: Some(104) }), WatchIt),
        (report(FindingKind::CriticalWarning { bits: 2 }), Fine),
        (report(FindingKind::CriticalWarning { bits: 4 }), CopyNow),
        (Seen { read_back: Some(false), ..card("") }, CopyNow),
        (Seen { is_write_protected: true, ..card("") }, WatchIt),
    ] {
        let signs = Signs::new(&seen);
        assert_eq!(signs.verdict, expected, "{signs:#?}");
    }
}

#[test]
fn a_card_that_does_not_start_is_dead_where_there_is_none() {
    let absent = Seen { is_present: Some(false), ..card(NO_START) };
    assert_eq!(Signs::new(&absent).verdict, HealthVerdict::Dead);
    // It was found at a later try.
    assert_eq!(Signs::new(&card(NO_START)).verdict, HealthVerdict::WatchIt);
    // A failed start of an earlier day says nothing of today.
    let earlier = Seen {
        troubles: Vec::new(),
        earlier_troubles: troubles(NO_START),
        is_present: Some(false),
        ..card("")
    };
    assert_eq!(Signs::new(&earlier).verdict, HealthVerdict::WatchIt);
}

/// A card that stands still once may go on for years; one that does so again and again is about to stop.
#[test]
fn standing_still_again_and_again_is_worse_than_once() {
    for message in [
        "mmc0: Timeout waiting for hardware interrupt.",
        "mmc0: Card stuck being busy! __mmc_poll_for_busy",
    ] {
        let with = |times: &[&str]| {
            let log: String = times.iter().map(|time| format!("{time} {message}\n")).collect();
            Signs::new(&card(&log)).verdict
        };
        assert_eq!(with(&["[  100.0]"; 9]), HealthVerdict::WatchIt, "one burst");
        let days = ["[  100.0]", "[ 9000.0]", "[80000.0]", "[90000.0]", "[99000.0]"];
        assert_eq!(with(&days), HealthVerdict::CopyNow, "{message}");
        assert_eq!(with(&days[..4]), HealthVerdict::WatchIt, "too few");
        let dates: Vec<String> =
            (1..6).map(|day| format!("2026-11-{:02}T10:00:00Z", 10 + day)).collect();
        let dates: Vec<&str> = dates.iter().map(String::as_str).collect();
        assert_eq!(with(&dates), HealthVerdict::CopyNow, "{message}");
    }
}

/// What went wrong before the last start is told; what is long ago may have been dealt with.
#[test]
fn errors_of_earlier_starts_are_told_and_fade() {
    let recent = Seen { earlier_troubles: troubles(WRITE_ERROR), ..card("") };
    let signs = Signs::new(&recent);
    assert_eq!(signs.verdict, HealthVerdict::CopyNow);
    assert_eq!(signs.signs[0].source, SignSource::EarlierLog);
    for (log, expected) in [(WRITE_ERROR, HealthVerdict::WatchIt), (UNDER, HealthVerdict::Fine)] {
        let old = Seen { old_troubles: troubles(log), ..card("") };
        assert_eq!(Signs::new(&old).verdict, expected, "{log}");
    }
    let log = LogRead::Read { days: Some(3), earlier: Some(EarlierLogs { starts: 4, days: 38 }) };
    assert_eq!((log.days(), log.starts()), (Some(41), 5));
    assert_eq!((LogRead::Absent.days(), LogRead::Absent.starts()), (None, 0));
}

/// They are told once, whatever their number and kind.
#[test]
fn errors_of_an_earlier_medium_are_a_note() {
    let before = troubles(&[WRITE_ERROR, WRITE_ERROR, READ_ONLY].concat());
    let signs = Signs::new(&Seen { errors_before: before, ..card("") });
    assert_eq!(signs.verdict, HealthVerdict::Fine);
    let [note] = signs.signs.as_slice() else { panic!("{signs:#?}") };
    assert_eq!((note.kind, note.weight, note.count), (SignKind::EarlierMedium, Weight::Note, 3));
    assert_eq!(note.evidence.last_at.as_deref(), Some("304.1 s"));
    // The kind that was seen first goes on when another has ended.
    let before = troubles(&[READ_ONLY, WRITE_ERROR, &READ_ONLY.replace("304.1", "999.5")].concat());
    let signs = Signs::new(&Seen { errors_before: before, ..card("") });
    assert_eq!(signs.signs[0].evidence.last_at.as_deref(), Some("999.5 s"));
}

/// Errors of two numbers that are one kind of sign, by turns: the one that was seen first goes on.
#[test]
fn the_time_of_a_sign_is_that_of_all_its_errors() {
    let crc = |error: u16, at: &str| CRC.replace("-84", &format!("-{error}")).replace("100.0", at);
    let log = [crc(84, "100.0"), crc(74, "200.0"), crc(84, "300.0")].concat();
    let signs = Signs::new(&card(&log));
    let [sign] = signs.signs.as_slice() else { panic!("{signs:#?}") };
    let evidence = &sign.evidence;
    let times = (evidence.first_at.as_deref(), evidence.last_at.as_deref());
    assert_eq!((sign.kind, sign.count), (SignKind::WrongChecksums, 3));
    assert_eq!(times, (Some("100.0 s"), Some("300.0 s")));
    assert_eq!(evidence.error, None, "it is of two numbers");
    let one = Signs::new(&card(&[crc(84, "100.0"), crc(84, "300.0")].concat()));
    assert_eq!(one.signs[0].evidence.error, Some(84));
}

/// Each log has its own clock, and the messages before a crash may be in both.
#[test]
fn a_crash_log_and_the_journal_have_no_time_in_common() {
    let of = |log: &str| troubles(log);
    let crash = [WRITE_ERROR, WRITE_ERROR].concat();
    let crash_only = Seen { crash_troubles: of(&crash), ..card("") };
    let both = Seen { earlier_troubles: of(WRITE_ERROR), ..crash_only.clone() };
    for (seen, last_at) in [(crash_only, Some("303.2 s")), (both, None)] {
        let signs = Signs::new(&seen);
        let [sign] = signs.signs.as_slice() else { panic!("{signs:#?}") };
        assert_eq!((sign.kind, sign.count), (SignKind::FailedRequests, 2));
        assert_eq!(sign.evidence.last_at.as_deref(), last_at);
    }
}

/// Whoever pulls a stick out makes errors, and the stick is sound.
#[test]
fn what_fails_after_removal_is_no_fault_of_the_medium() {
    let gone =
        "[ 8.0] sd 0:0:0:0: [sda] Synchronize Cache(10) failed: Result: hostbyte=DID_NO_CONNECT\n";
    let error = "[ 9.0] I/O error, dev sda, sector 8 op 0x1:(WRITE) flags 0x800\n";
    let usb = |log: &str| Seen { attachment: Attachment::Usb, ..card(log) };
    let after = Signs::new(&usb(&[gone, error].concat()));
    assert_eq!(after.verdict, HealthVerdict::WatchIt, "{after:#?}");
    assert_eq!(after.suspects[0], Suspect::Cable);
    let before = Signs::new(&usb(&[error, gone].concat()));
    assert_eq!(before.verdict, HealthVerdict::CopyNow, "{before:#?}");
    let mark = "[ 9.1] FAT-fs (sda1): unable to read boot sector to mark fs as dirty\n";
    let marked = Signs::new(&usb(&[gone, error, mark].concat()));
    assert_eq!(marked.verdict, HealthVerdict::WatchIt, "{marked:#?}");
    // It was put in again, and fails.
    let back = "[ 9.5] sd 0:0:0:0: [sda] 62333952 512-byte logical blocks: (31.9 GB/29.7 GiB)\n";
    let again = Signs::new(&usb(&[gone, back, error].concat()));
    assert_eq!(again.verdict, HealthVerdict::CopyNow, "{again:#?}");
}

/// What rests on a storage in part may fail for another one.
#[test]
fn an_error_above_a_storage_is_a_reason_to_look_at_it() {
    let mut seen = card(WRITE_ERROR);
    seen.troubles[0].is_indirect = true;
    assert_eq!(Signs::new(&seen).verdict, HealthVerdict::WatchIt);
    seen.troubles.extend(troubles(WRITE_ERROR));
    assert_eq!(Signs::new(&seen).verdict, HealthVerdict::CopyNow);
}

#[test]
fn suspects_and_experiments_follow_from_the_kinds_of_signs() {
    use Attachment::{Cable, Drive, Slot, Soldered, Usb};
    use Suspect::{Card, Power, Reader};
    let medium = "[ 9.0] critical medium error, dev mmcblk0, sector 8 op 0x0:(READ) flags 0x0\n";
    let busy = "[ 9.0] mmc0: Card stuck being busy! __mmc_poll_for_busy\n";
    for (log, attachment, suspects, first) in [
        (medium.to_owned(), Slot, vec![Card], Experiment::SwapReader),
        (medium.to_owned(), Soldered, vec![Card], Experiment::VerifyFull),
        (medium.to_owned(), Drive, vec![Card], Experiment::VerifyFull),
        (medium.to_owned(), Cable, vec![Card], Experiment::VerifyFull),
        (busy.to_owned(), Slot, vec![Card], Experiment::SwapReader),
        (UNDER.to_owned(), Slot, vec![Power], Experiment::SwapSupply),
        ([CRC, UNDER].concat(), Slot, vec![Power], Experiment::SwapSupply),
        (CRC.to_owned(), Slot, vec![Reader, Power], Experiment::SwapReader),
        (CRC.to_owned(), Soldered, vec![Power], Experiment::SwapSupply),
        (TIMEOUT.to_owned(), Slot, vec![Card, Reader, Power], Experiment::SwapReader),
    ] {
        let signs = Signs::new(&Seen { attachment, ..card(&log) });
        assert_eq!(signs.suspects, suspects, "{attachment:?} {log}");
        assert_eq!(signs.experiments.first(), Some(&first), "{attachment:?} {log}");
    }
    let link = Signs::new(&Seen { attachment: Usb, ..card(&CRC.replace("mmcblk0", "mmcblk1")) });
    assert!(link.suspects.contains(&Suspect::Cable), "{link:?}");
    assert_eq!(Signs::new(&card("")).suspects, []);
}
