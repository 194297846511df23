//! Advice for figures that another tool has measured.

use cardproof_record::{PatternName, Record};

use super::{Case, Step};
use crate::compare::has_compared_figure;
use crate::reference::is_published;
use crate::transports::may_be_sd_card;

/// A fake is as fast as other cards, and a dying one often too.
pub(super) fn tell_no_fake(case: &Case<'_>) -> Option<Step> {
    speed_tells_no_fake(case.record).then_some(Step::SpeedTellsNoFake)
}

/// Whether `record` has nothing but figures of another tool about the speed of storage.
#[must_use]
pub fn speed_tells_no_fake(record: &Record) -> bool {
    let is_measured = record.phases.iter().any(|phase| phase.pattern != PatternName::Unknown);
    let is_proved =
        !record.findings.is_empty() || record.capacity().is_some() || is_published(record);
    record.is_imported() && is_measured && !is_proved && may_be_sd_card(&record.conditions.device)
}

pub(super) fn measure_with_intervals(case: &Case<'_>) -> Option<Step> {
    // The rates of a load tell nothing of the card.
    let is_load = case.record.phases.iter().all(|phase| phase.pattern == PatternName::Unknown);
    let is_compared = !is_load && has_compared_figure(case.record);
    let tool = is_compared.then(|| case.record.tool.name.clone());
    Some(Step::MeasureWithIntervals { tool })
}

#[cfg(test)]
mod tests {
    use cardproof_record::{Finding, FindingKind, Record, Transport};
    use cardproof_testkit::records;

    use super::*;
    use crate::advice::steps;

    fn imported() -> Record {
        let mut record = records::typical_a1_card();
        record.tool.name = "fio".to_owned();
        record
    }

    #[test]
    fn figures_of_speed_lead_to_the_command_that_finds_fakes() {
        let is_told = |record: &Record| {
            steps(record, &[]).iter().filter(|step| **step == Step::SpeedTellsNoFake).count()
        };
        assert_eq!(is_told(&imported()), 1);
        assert_eq!(is_told(&records::typical_a1_card()), 0, "a run of ours names verify by itself");
        let mut drive = imported();
        drive.conditions.device.transport = Some(Transport::Nvme);
        assert_eq!(is_told(&drive), 0, "nobody sells fakes of these as cards");
        let mut found = imported();
        let what = FindingKind::WrongSectors {
            ok: 1,
            corrupted: 1,
            changed: 0,
            overwritten: 0,
            right_to_bytes: None,
        };
        found.findings = vec![Finding::at(what, "f3", 3)];
        assert!(!speed_tells_no_fake(&found), "it was tested");
    }
}
