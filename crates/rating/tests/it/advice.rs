//! The next steps that a record and its verdicts lead to.

use cardproof_rating::next_steps;
use cardproof_record::{EndedBy, OpName, Outcome, Phase, Record, Transport, Verdict};
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
    assert!(of_part.ends_with("tested 256 MiB of 32 GiB. `cardproof verify` checks the capacity."));
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
