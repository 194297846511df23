//! Advice for figures that another tool has measured.

use cardproof_record::{PatternName, Record};

use super::{Case, say};
use crate::compare::has_compared_figure;
use crate::reference::is_published;
use crate::transports::may_be_sd_card;

/// A fake is as fast as other cards, and a dying one often too.
pub(super) fn tell_no_fake(case: &Case<'_>) -> Option<String> {
    say(speed_tells_no_fake(case.record), SPEED_TELLS_NO_FAKE)
}

/// Whether `record` has nothing but figures of another tool about the speed of storage.
#[must_use]
pub fn speed_tells_no_fake(record: &Record) -> bool {
    let is_measured = record.phases.iter().any(|phase| phase.pattern != PatternName::Unknown);
    let is_proved =
        !record.findings.is_empty() || record.capacity().is_some() || is_published(record);
    record.is_imported() && is_measured && !is_proved && may_be_sd_card(&record.conditions.device)
}

/// What figures of speed leave open, and the command that tells it.
pub const SPEED_TELLS_NO_FAKE: &str = "Speed does not show whether a card is a fake or keeps data. Whoever \
                                       has the card can find out with `cardproof verify`.";

pub(super) fn measure_with_intervals(case: &Case<'_>) -> Option<String> {
    let measure = "Verdicts and exact grades need a measurement with `cardproof run`, on the computer that has the \
                   storage.";
    // The rates of a load tell nothing of the card.
    if case.record.phases.iter().all(|phase| phase.pattern == PatternName::Unknown) {
        return Some(measure.to_owned());
    }
    if !has_compared_figure(case.record) {
        return Some(measure.to_owned());
    }
    Some(format!(
        "{measure} To compare the figures of {} with other cards, use `cardproof compare`.",
        case.record.tool.name
    ))
}

#[cfg(test)]
mod tests {
    use cardproof_record::{Finding, FindingKind, Record, Transport};
    use cardproof_testkit::records;

    use super::*;
    use crate::advice::next_steps;

    fn imported() -> Record {
        let mut record = records::typical_a1_card();
        record.tool.name = "fio".to_owned();
        record
    }

    #[test]
    fn figures_of_speed_lead_to_the_command_that_finds_fakes() {
        let is_told = |record: &Record| {
            next_steps(record, &[]).iter().filter(|step| *step == SPEED_TELLS_NO_FAKE).count()
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
