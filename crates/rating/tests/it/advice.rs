//! The next steps that a record and its verdicts lead to.

use cardproof_rating::next_steps;
use cardproof_record::{
    CardInfo, EndedBy, OpName, Outcome, Phase, QueueSetting, Record, Transport, Verdict, Warning,
    WarningCode,
};
use cardproof_testkit::records;
use cardproof_units::Bytes;

#[test]
fn a_longer_run_is_advised_unless_the_class_of_the_profile_is_decided() {
    let mut record = records::typical_a1_card();
    record.profile.name = "a1".to_owned();
    record.phases[0].ended_by = Some(EndedBy::Decision);
    let advice = |a1| {
        let verdict =
            |rule: &str, outcome| Verdict { rule: rule.to_owned(), outcome, reasons: Vec::new() };
        let verdicts = [verdict("A1", a1), verdict("A2", Outcome::Undecided)];
        next_steps(&record, &verdicts).join("\n")
    };
    let decided = advice(Outcome::Meets);
    assert!(decided.contains("--profile a2") && !decided.contains("--time-budget"), "{decided}");
    let open = advice(Outcome::Undecided);
    assert!(open.contains("--time-budget") && !open.contains("--profile a"), "{open}");
}

#[test]
fn a_profile_that_has_written_what_it_may_is_not_advised_again() {
    let mut record = records::typical_a1_card();
    record.profile.name = "a2".to_owned();
    let writes = |phase: &&mut Phase| phase.op == OpName::Write && phase.queue_depth == 32;
    record.phases.iter_mut().find(writes).unwrap().ended_by = Some(EndedBy::Bytes);
    let (rule, outcome) = ("A2".to_owned(), Outcome::Undecided);
    let verdicts = [Verdict { rule, outcome, reasons: Vec::new() }];
    let advice = next_steps(&record, &verdicts).join("\n");
    assert!(advice.contains("--profile standard --time-budget 5m"), "{advice}");
}

#[test]
fn a_card_that_was_tested_in_part_is_to_be_verified() {
    let advice = |record: &Record| next_steps(record, &[]).join("\n");
    let mut record = records::typical_a1_card();
    record.conditions.device.transport = Some(Transport::Sd);
    record.conditions.device.size_bytes = Some(Bytes::gib(32));
    record.measured_to_bytes = Some(Bytes::mib(256));
    let of_part = advice(&record);
    let last = "A run does not show whether all 32 GiB are real. `cardproof verify` does.";
    assert!(of_part.ends_with(last), "{of_part}");
    for not_to_be_verified in
        [Record { measured_to_bytes: Some(Bytes::gib(32)), ..record.clone() }, {
            let mut disk = record.clone();
            disk.conditions.device.transport = Some(Transport::Nvme);
            disk
        }]
    {
        assert!(!advice(&not_to_be_verified).contains("verify"));
    }
}

#[test]
fn a_test_range_that_the_time_cut_short_is_told() {
    let mut record = records::typical_a1_card();
    for phase in &mut record.phases {
        phase.span_bytes = Bytes::mib(464);
    }
    let named = |phase: &&mut Phase| phase.name == "sequential-write-1m";
    let layout = record.phases.iter_mut().find(named).unwrap();
    layout.span_bytes = Bytes::gib(4);
    layout.ended_by = Some(EndedBy::Time);
    record.measured_to_bytes = Some(Bytes::mib(464));
    let steps = next_steps(&record, &[]).join("\n");
    assert!(
        steps.contains("464 MiB instead of 4 GiB") && steps.contains("--time-budget"),
        "{steps}"
    );
}

/// On a Raspberry Pi 5 `sd_cqe` is 1 by default, which is the kernel's list alone: no advice sets that. The value 2
/// is for other cards, and has a risk.
#[test]
fn a_queue_that_is_off_is_advised_by_card_and_setting() {
    let advice = |board: &str, is_trusted: bool, setting: QueueSetting| {
        let mut record = records::typical_a1_card();
        record.conditions.host.board = Some(board.to_owned());
        record.conditions.device.transport = Some(Transport::Sd);
        let (queue_is_trusted, queue_setting) = (Some(is_trusted), Some(setting));
        let card = CardInfo { queue_is_trusted, queue_setting, ..CardInfo::default() };
        record.conditions.device.card = Some(card);
        let verdict =
            |rule: &str, outcome| Verdict { rule: rule.to_owned(), outcome, reasons: Vec::new() };
        let verdicts = [verdict("A1", Outcome::Meets), verdict("A2", Outcome::NotTestable)];
        next_steps(&record, &verdicts).join("\n")
    };
    let five = "Raspberry Pi 5 Model B Rev 1.0";
    for (board, is_trusted, setting, word) in [
        (five, false, QueueSetting::TrustedCards, "dtparam=sd_cqe=2"),
        (five, false, QueueSetting::TrustedCards, "read back wrong without an error"),
        (five, false, QueueSetting::TrustedCards, "verify DIRECTORY --queue"),
        (five, true, QueueSetting::TrustedCards, "update the kernel"),
        (five, true, QueueSetting::Off, "remove the line dtparam=sd_cqe=0"),
        ("Raspberry Pi 4 Model B Rev 1.4", false, QueueSetting::Off, "cannot test A2"),
    ] {
        let text = advice(board, is_trusted, setting);
        assert!(text.contains(word), "{board} {is_trusted} {setting:?}: {text}");
        assert!(!text.contains("sd_cqe=1"), "{text}");
        assert!(is_trusted || board != five || !text.contains("sd_cqe=0"), "{text}");
    }
}

/// A list that names the card, or no list at all, comes before the advice to run fstrim.
#[test]
fn fstrim_is_advised_only_for_a_card_that_lists_do_not_name() {
    for (harmed_by_trimming, advised, warned) in
        [(Some(false), true, false), (Some(true), false, true), (None, false, false)]
    {
        let mut record = records::with_pauses();
        record.conditions.device.transport = Some(Transport::Sd);
        let card = CardInfo { harmed_by_trimming, ..CardInfo::default() };
        record.conditions.device.card = Some(card);
        let text = next_steps(&record, &[]).join("\n");
        assert!(text.contains("paused for a second"), "{text}");
        assert_eq!(text.contains(", run fstrim"), advised, "{harmed_by_trimming:?}: {text}");
        assert_eq!(text.contains("do not run fstrim"), warned, "{harmed_by_trimming:?}: {text}");
    }
}

#[test]
fn a_disturbed_run_is_to_be_run_again_and_not_kept() {
    let mut record = records::typical_a1_card();
    let steps = |record: &Record| next_steps(record, &[]).join("\n");
    assert!(steps(&record).contains("Keep this record"), "{}", steps(&record));
    let message = "another program read".to_owned();
    for phase in &mut record.phases {
        phase.warnings.push(Warning::stated(WarningCode::Disturbed, message.clone()));
    }
    let disturbed = steps(&record);
    assert!(disturbed.contains("Close other programs"), "{disturbed}");
    assert!(!disturbed.contains("Keep this record"), "{disturbed}");
}
