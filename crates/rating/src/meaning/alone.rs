//! What a figure could have been on an idle computer. A disturbance only slows, and a grade covers all that
//! may be, so that a good card on a busy computer is not called slow.

use cardproof_record::Record;
use cardproof_units::{Iops, Throughput};

use crate::pick::{BoundedRate, Finding};
use crate::quantity::Rate;
use crate::slowdown::faster_alone;

/// `figure` of the phase that was found, with the upper end that it could have reached without what disturbed it.
pub(crate) fn alone(record: &Record, finding: Finding<'_>, figure: &BoundedRate) -> BoundedRate {
    let Some(phase) = finding.measured() else { return *figure };
    let high = figure.high.per_second() * faster_alone(record, phase, phase.duration_ns);
    let high = match figure.high {
        Rate::Iops(_) => Rate::Iops(Iops(high)),
        Rate::Throughput(_) => Rate::Throughput(Throughput(high)),
    };
    BoundedRate { high, ..*figure }
}

#[cfg(test)]
mod tests {
    use cardproof_record::{OpName, Warning, WarningCode};
    use cardproof_testkit::records;

    use super::*;
    use crate::meaning::{Grade, Purpose, grades};
    use crate::sound::find_random_4k;

    fn grade(record: &Record, purpose: Purpose) -> Grade {
        let found = grades(record);
        found.iter().find(|it| it.purpose == purpose).unwrap().grade
    }

    /// The record of a slow card, with `writes` a second in its small writes, which other programs disturbed.
    fn disturbed(writes: f64) -> Record {
        let mut record = records::slow_class4();
        for phase in &mut record.phases {
            if let Some(iops) = phase.iops.as_mut().filter(|_| phase.op == OpName::Write) {
                (iops.low, iops.estimate, iops.high) =
                    (Iops(0.9 * writes), Iops(writes), Iops(1.1 * writes));
            }
            let message = "other programs had half of the processors' time".to_owned();
            phase.warnings.push(Warning::stated(WarningCode::Disturbed, message));
        }
        record
    }

    #[test]
    fn a_slow_figure_is_poor_only_where_a_disturbance_cannot_have_made_it_so() {
        assert_eq!(grade(&disturbed(10.0), Purpose::Programs), Grade::Poor);
        assert_eq!(grade(&disturbed(100.0), Purpose::Programs), Grade::PoorOrFair);
        assert_eq!(grade(&disturbed(400.0), Purpose::Programs), Grade::FairOrGood);
        assert_eq!(grade(&disturbed(2000.0), Purpose::Programs), Grade::Good);
    }

    #[test]
    fn pauses_of_disturbed_tests_are_not_the_storage_s() {
        let mut record = records::slow_class4();
        let before = grade(&record, Purpose::Pauses);
        assert!(matches!(before, Grade::Poor | Grade::Fair), "{before:?}");
        for phase in &mut record.phases {
            let message = "other programs had half of the processors' time".to_owned();
            phase.warnings.push(Warning::stated(WarningCode::Disturbed, message));
        }
        assert_eq!(grade(&record, Purpose::Pauses), Grade::Unknown);
        record.phases.iter_mut().for_each(|phase| phase.warnings.clear());
        assert_eq!(grade(&record, Purpose::Pauses), before);
    }

    #[test]
    fn an_undisturbed_figure_stays_as_it_is() {
        let record = records::typical_a1_card();
        let finding = find_random_4k(&record, OpName::Write);
        let figure = BoundedRate::of_iops(finding.measured().unwrap()).unwrap();
        assert_eq!(alone(&record, finding, &figure), figure);
    }
}
