//! Signs in a device's health report (SMART, NVMe).

use cardproof_record::FindingKind;

use super::seen::Seen;
use super::sign::{Sign, SignKind, SignSource, Weight};

/// The bit of NVMe's critical warning that only tells of the temperature (NVM Express, SMART log).
const TOO_WARM: u64 = 1 << 1;

/// The signs in the report.
pub(super) fn signs(seen: &Seen) -> Vec<Sign> {
    let has = |kind: fn(&FindingKind) -> bool| seen.report.iter().any(kind);
    // A drive that is too warm, or over its rated life, calls itself failed.
    let is_warm = has(|it| matches!(it, FindingKind::CriticalWarning { bits: TOO_WARM }));
    let has_other = has(|it| {
        sign(it).is_some_and(|sign| sign.weight > Weight::Watch)
            && !matches!(it, FindingKind::SelfAssessmentFailed)
    });
    let is_counted = |what: &&FindingKind| {
        has_other || !is_warm || !matches!(what, FindingKind::SelfAssessmentFailed)
    };
    let mut signs: Vec<Sign> = Vec::new();
    for found in seen.report.iter().filter(is_counted).filter_map(sign) {
        match signs.iter_mut().find(|known| known.kind == found.kind) {
            Some(known) => join(known, &found),
            None => signs.push(found),
        }
    }
    signs
}

/// Adds to `known` what `other` of its kind tells: a report says one thing in several places, of which the gravest counts.
fn join(known: &mut Sign, other: &Sign) {
    known.weight = known.weight.max(other.weight);
    known.count = known.count.max(other.count);
    let used = &mut known.evidence.used_percent_min;
    *used = (*used).max(other.evidence.used_percent_min);
}

/// What a finding means; nothing for what is no sign of the device's health.
fn sign(what: &FindingKind) -> Option<Sign> {
    let sign = |kind, count| Sign::new(kind, SignSource::DriveReport, count);
    let worn = |used_percent| {
        // A drive may work for long beyond the life that its maker states.
        let mut sign = Sign { weight: Weight::Watch, ..sign(SignKind::BeyondLife, 0) };
        sign.evidence.used_percent_min = used_percent;
        sign
    };
    Some(match what {
        FindingKind::BelowThreshold { name, .. } if is_of_temperature(name) => return None,
        FindingKind::BelowThreshold { name, .. } if is_of_life(name) => worn(None),
        FindingKind::SelfAssessmentFailed | FindingKind::BelowThreshold { .. } => {
            sign(SignKind::SelfReportedFailure, 0)
        }
        FindingKind::SelfTestsFailed { count } => sign(SignKind::SelfReportedFailure, *count),
        FindingKind::CriticalWarning { bits: TOO_WARM } => return None,
        FindingKind::CriticalWarning { .. } => sign(SignKind::SelfReportedFailure, 0),
        FindingKind::PendingSectors { count }
        | FindingKind::UncorrectableErrors { count }
        | FindingKind::MediaErrors { count } => sign(SignKind::UnreadablePlaces, *count),
        FindingKind::ReallocatedSectors { count } => sign(SignKind::ReplacedBlocks, *count),
        FindingKind::SpareBelowThreshold { .. } | FindingKind::SpareLow { is_urgent: true } => {
            sign(SignKind::FewSpareBlocks, 0)
        }
        FindingKind::SpareLow { is_urgent: false } => {
            Sign { weight: Weight::Watch, ..sign(SignKind::FewSpareBlocks, 0) }
        }
        FindingKind::LifeUsedUp { used_percent } => worn(*used_percent),
        _ => return None,
    })
}

/// Whether an attribute called `name` tells a temperature.
fn is_of_temperature(name: &str) -> bool {
    name.contains("Temp")
}

/// Whether an attribute called `name` tells how much of the rated life is left.
fn is_of_life(name: &str) -> bool {
    ["Wear", "wear", "Life", "Lifetime"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signs::{HealthVerdict, Signs};

    fn verdict(report: Vec<FindingKind>) -> HealthVerdict {
        Signs::new(&Seen { report, has_report: true, ..Seen::default() }).verdict
    }

    fn below(name: &str) -> FindingKind {
        FindingKind::BelowThreshold { name: name.to_owned(), value: 1, threshold: 5 }
    }

    #[test]
    fn a_sign_that_a_report_tells_twice_is_told_once() {
        let report = vec![
            FindingKind::SelfAssessmentFailed,
            FindingKind::CriticalWarning { bits: 1 << 2 },
            FindingKind::PendingSectors { count: 3 },
            FindingKind::UncorrectableErrors { count: 8 },
        ];
        let signs = Signs::new(&Seen { report, has_report: true, ..Seen::default() }).signs;
        let told: Vec<(SignKind, u64)> = signs.iter().map(|it| (it.kind, it.count)).collect();
        let expected = [(SignKind::SelfReportedFailure, 0), (SignKind::UnreadablePlaces, 8)];
        assert_eq!(told.len(), expected.len(), "{told:?}");
        assert!(expected.iter().all(|it| told.contains(it)), "{told:?}");
    }

    #[test]
    fn each_finding_of_a_drive_weighs_what_it_means_for_the_data() {
        use FindingKind::{
            CriticalWarning, LifeUsedUp, MediaErrors, PendingSectors, ReallocatedSectors,
            SelfAssessmentFailed, SelfTestsFailed, UncorrectableErrors,
        };
        use HealthVerdict::{CopyNow, Fine, WatchIt};
        for (report, expected) in [
            (vec![], Fine),
            (vec![ReallocatedSectors { count: 2 }], WatchIt),
            (vec![PendingSectors { count: 8 }], CopyNow),
            (vec![UncorrectableErrors { count: 8 }], CopyNow),
            (vec![MediaErrors { count: 3 }], CopyNow),
            (vec![SelfTestsFailed { count: 1 }], CopyNow),
            (vec![SelfAssessmentFailed], CopyNow),
            (vec![LifeUsedUp { used_percent: Some(103) }], WatchIt),
            (vec![below("Reallocated_Sector_Ct")], CopyNow),
            (vec![below("Airflow_Temperature_Cel")], Fine),
            (vec![below("Wear_Leveling_Count")], WatchIt),
            (vec![SelfAssessmentFailed, CriticalWarning { bits: 1 << 1 }], Fine),
            (vec![SelfAssessmentFailed, CriticalWarning { bits: 1 << 2 }], CopyNow),
            (
                vec![
                    SelfAssessmentFailed,
                    CriticalWarning { bits: 1 << 1 },
                    MediaErrors { count: 1 },
                ],
                CopyNow,
            ),
        ] {
            assert_eq!(verdict(report.clone()), expected, "{report:?}");
        }
    }
}
