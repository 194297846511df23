//! Findings of other tools in words: what happened to the storage, and what to do about it.

use cardproof_record::{ErrorCause, Finding, FindingKind, OpName, Record};
use cardproof_units::Bytes;

use crate::defect_kind::DefectKind;
use crate::findings::{Gravity, by_gravity, gravity};
use crate::wording::grouped;

use super::kernel_log;

impl Gravity {
    /// The word before a finding.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::DataLost => DefectKind::LosesData.word(),
            Self::Failing => DefectKind::Failing.word(),
            Self::Errors => "ERRORS",
            Self::Host => "COMPUTER",
            Self::Notice => "NOTICE",
        }
    }

    /// What to do, as a sentence without its full stop.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::DataLost => {
                "do not keep data on it; copy what can be read, and test the whole capacity with \
                 `cardproof verify`"
            }
            Self::Failing => "copy the data to another device now, then replace this one",
            Self::Errors => {
                "back up, check contacts, power and the reader, then test with `cardproof verify`"
            }
            Self::Host => {
                "check the power supply, the contacts, the cable and the board's settings; the storage \
                 itself may be sound"
            }
            Self::Notice => "test it to the end, for what was not tested may be wrong",
        }
    }
}

/// The gravest finding of `record` in a few words behind the word of its gravity, such as `ERRORS: no answer in
/// time`; `None` where it has none.
#[must_use]
pub fn gravest_in_short(record: &Record) -> Option<String> {
    let gravest = by_gravity(record).into_iter().next()?;
    Some(format!("{}: {}", gravity(&gravest.what).heading(), in_short(&gravest.what)))
}

/// A finding in a few words.
pub(crate) fn in_short(what: &FindingKind) -> String {
    match what {
        FindingKind::WrongSectors { right_to_bytes: Some(right), .. }
        | FindingKind::DataLost { right_to_bytes: Some(right), .. } => {
            return format!("looks like a fake of {right}");
        }
        FindingKind::DataLost { lost_bytes, of_bytes, .. } => {
            return format!("{lost_bytes} of {of_bytes} lost");
        }
        FindingKind::Counterfeit { usable_bytes: Some(usable), announced_bytes } => {
            let of = announced_bytes.map_or_else(String::new, |all| format!(" of {all}"));
            return format!("holds {usable}{of}");
        }
        FindingKind::IoErrors { op, .. } => return failed(*op, 0),
        _ => {}
    }
    let words = match what {
        FindingKind::Damaged => "called damaged by the tool",
        FindingKind::LikelyDefective => "called defective by the tool",
        FindingKind::Counterfeit { .. } => "called a counterfeit by the tool",
        FindingKind::Unfinished { .. } => "the test was not finished",
        FindingKind::SelfAssessmentFailed => "it says so itself",
        FindingKind::SelfTestsFailed { .. } => "its own tests failed",
        FindingKind::BelowThreshold { .. } => "a value is at the maker's limit",
        FindingKind::ReallocatedSectors { .. } => "sectors were replaced",
        FindingKind::PendingSectors { .. } => "sectors cannot be read",
        FindingKind::UncorrectableErrors { .. } => "errors were not corrected",
        FindingKind::CriticalWarning { .. } => "it gives a critical warning",
        FindingKind::MediaErrors { .. } => "it counts media errors",
        FindingKind::SpareBelowThreshold { .. } | FindingKind::SpareLow { .. } => {
            "few spare blocks are left"
        }
        FindingKind::LifeUsedUp { .. } => "its life is used up",
        FindingKind::Stalled { .. } => "it stood still",
        FindingKind::KernelMessages { fault, .. } => kernel_log::in_short(*fault),
        FindingKind::WrongSectors { .. } => "read back wrong",
        FindingKind::DataLost { .. } | FindingKind::IoErrors { .. } | FindingKind::Unknown => {
            "a fault not known here"
        }
    };
    words.to_owned()
}

/// What a sentence adds where next to nothing is right behind `right` from the start.
fn fake_in_words(right: Option<Bytes>) -> String {
    right.map_or_else(String::new, |right| {
        format!(
            "; this looks like a fake: about the first {right} are right, and next to nothing behind them"
        )
    })
}

/// `finding` as a sentence without its full stop.
#[must_use]
pub fn sentence(finding: &Finding) -> String {
    let tool = if finding.tool.is_empty() { "the tool" } else { &finding.tool };
    let device = finding.device.as_deref();
    let on = device.map_or_else(String::new, |device| format!(" on {device}"));
    match &finding.what {
        FindingKind::WrongSectors { ok, corrupted, changed, overwritten, right_to_bytes } => {
            let all = ok + corrupted + changed + overwritten;
            let kinds = [
                (corrupted, "corrupted"),
                (changed, "slightly changed"),
                (overwritten, "overwritten"),
            ];
            let wrong = kinds.iter().filter(|(count, _)| **count > 0);
            let wrong: Vec<String> =
                wrong.map(|(count, word)| format!("{} {word}", grouped(**count))).collect();
            let fake = fake_in_words(*right_to_bytes);
            format!(
                "of {} sectors that {tool} read{on}, {} are ok, {}{fake}",
                grouped(all),
                grouped(*ok),
                wrong.join(", ")
            )
        }
        FindingKind::DataLost { lost_bytes, of_bytes, right_to_bytes } => {
            format!(
                "{tool} lost {lost_bytes} of {of_bytes}{on} ({} sectors){}",
                grouped(lost_bytes.get() / 512),
                fake_in_words(*right_to_bytes)
            )
        }
        FindingKind::Counterfeit { usable_bytes, announced_bytes } => {
            counterfeit(tool, &on, *usable_bytes, *announced_bytes)
        }
        FindingKind::Damaged => format!("{tool} says that the device is damaged{on}"),
        FindingKind::LikelyDefective => {
            format!("{tool} says that the medium is likely to be defective{on}")
        }
        FindingKind::IoErrors { op, count, cause, files, after_bytes, offset_bytes } => {
            let failed = failed(*op, *count);
            let place = place(files, *after_bytes, *offset_bytes);
            format!("{tool} had {failed}{on}{place}: {}", cause_in_words(*cause))
        }
        FindingKind::Unfinished { tested_bytes, of_bytes } => {
            unfinished(tool, *tested_bytes, *of_bytes)
        }
        FindingKind::SelfAssessmentFailed => {
            format!("the device's own assessment{on} says FAILED")
        }
        FindingKind::SelfTestsFailed { count } => {
            format!("the device{on} has failed {} of its own", counted(*count, "test", "tests"))
        }
        FindingKind::BelowThreshold { name, value, threshold } => {
            format!("{name}{on} is {value}; the maker's limit is {threshold}")
        }
        FindingKind::ReallocatedSectors { count } => {
            format!("{}{on} replaced by spare ones", counted(*count, "sector was", "sectors were"))
        }
        FindingKind::PendingSectors { count } => {
            let wait = if *count == 1 { "waits" } else { "wait" };
            let sectors = counted(*count, "sector", "sectors");
            format!("{sectors}{on} could not be read and {wait} to be replaced")
        }
        FindingKind::UncorrectableErrors { count } => {
            format!("{}{on} could not be corrected", counted(*count, "error", "errors"))
        }
        FindingKind::CriticalWarning { bits } => {
            format!("the device{on} gives a critical warning: {}", critical(*bits))
        }
        FindingKind::MediaErrors { count } => {
            format!("the device{on} counts {}", counted(*count, "media error", "media errors"))
        }
        FindingKind::SpareBelowThreshold { left_percent, threshold_percent } => format!(
            "spare blocks{on}: {left_percent} % are left; the maker's limit is {threshold_percent} %"
        ),
        FindingKind::SpareLow { is_urgent } => {
            let used = if *is_urgent { "90 % (urgent)" } else { "80 % (warning)" };
            format!("spare blocks{on}: {used} are used up")
        }
        FindingKind::LifeUsedUp { used_percent } => match used_percent {
            Some(percent) => format!("{percent} % of the estimated life{on} is used"),
            None => format!("the device{on} has exceeded its estimated life"),
        },
        FindingKind::Stalled { reports, waiting } => {
            let times = counted(*reports, "report", "reports");
            format!(
                "the storage{on} answered nothing for {times} while {waiting:.0} requests waited"
            )
        }
        FindingKind::KernelMessages { .. } => kernel_log::sentence(&finding.what, device),
        FindingKind::Unknown => format!("{tool} has found a fault of a kind not known here"),
    }
}

fn counterfeit(tool: &str, on: &str, usable: Option<Bytes>, announced: Option<Bytes>) -> String {
    match (usable, announced) {
        (Some(usable), Some(announced)) => {
            format!("{tool} found {usable} usable{on} of {announced} announced: a counterfeit")
        }
        (Some(usable), None) => format!("{tool} found that only {usable}{on} are usable"),
        _ => format!("{tool} says that the device is a counterfeit{on}"),
    }
}

/// Such as `2 write errors`.
fn failed(op: OpName, count: u64) -> String {
    let (one, many) = match op {
        OpName::Read => ("read error", "read errors"),
        OpName::Write => ("write error", "write errors"),
        OpName::Mixed | OpName::Unknown => ("error", "errors"),
    };
    match count {
        0 => many.to_owned(),
        _ => counted(count, one, many),
    }
}

/// The number of files that are named at most.
const FILES_MAX: usize = 8;

fn place(files: &[u64], after: Option<Bytes>, offset: Option<Bytes>) -> String {
    let mut place = String::new();
    if !files.is_empty() {
        let names: Vec<String> = files.iter().take(FILES_MAX).map(ToString::to_string).collect();
        let more = if files.len() > FILES_MAX { ", …" } else { "" };
        let word = if files.len() == 1 { "file" } else { "files" };
        place.push_str(&format!(" in {word} {}{more}", names.join(", ")));
    }
    if let Some(offset) = offset {
        place.push_str(&format!(" at offset {:#x}", offset.get()));
    }
    if let Some(after) = after {
        place.push_str(&format!(" after {} bytes", grouped(after.get())));
    }
    place
}

const fn cause_in_words(cause: ErrorCause) -> &'static str {
    match cause {
        ErrorCause::Io => "input/output error",
        ErrorCause::Crc => "wrong checksum (CRC error)",
        ErrorCause::Timeout => "no answer in time",
        ErrorCause::ReadOnly => "it takes no more writes",
        ErrorCause::Gone => "the device was no longer there",
        ErrorCause::Unknown => "the cause is not told",
    }
}

fn unfinished(tool: &str, tested: Option<Bytes>, of: Option<Bytes>) -> String {
    match (tested, of) {
        (Some(tested), Some(of)) => format!("{tool} tested only {tested} of {of}"),
        (Some(tested), None) => format!("{tool} did not finish: {tested} were tested"),
        _ => format!("{tool} did not finish"),
    }
}

/// The bits of an NVMe device's critical warning in words.
fn critical(bits: u64) -> String {
    const WORDS: [&str; 6] = [
        "spare blocks are below the limit",
        "the temperature is outside of its limits",
        "reliability is degraded",
        "the device is read-only",
        "the backup of volatile memory failed",
        "persistent memory is unreliable",
    ];
    let set = WORDS.iter().enumerate().filter(|(bit, _)| bits & 1 << bit != 0);
    let words: Vec<&str> = set.map(|(_, words)| *words).collect();
    if words.is_empty() { format!("{bits:#04x}") } else { words.join(", ") }
}

/// `1 error`, `1,204 errors`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(what: FindingKind) -> String {
        sentence(&Finding { device: Some("sdb".to_owned()), ..Finding::at(what, "dd", 3) })
    }

    #[test]
    fn a_finding_is_told_with_its_figures() {
        let errors = |after_bytes| FindingKind::IoErrors {
            op: OpName::Read,
            count: 1,
            cause: ErrorCause::Io,
            files: Vec::new(),
            after_bytes,
            offset_bytes: None,
        };
        let cases = [
            (
                FindingKind::WrongSectors {
                    ok: 6,
                    corrupted: 2,
                    changed: 0,
                    overwritten: 1,
                    right_to_bytes: None,
                },
                "of 9 sectors that dd read on sdb, 6 are ok, 2 corrupted, 1 overwritten",
            ),
            (
                errors(Some(Bytes(7_782_531_072))),
                "dd had 1 read error on sdb after 7,782,531,072 bytes: input/output error",
            ),
            (errors(None), "dd had 1 read error on sdb: input/output error"),
            (
                FindingKind::MediaErrors { count: 1204 },
                "the device on sdb counts 1,204 media errors",
            ),
            (
                FindingKind::CriticalWarning { bits: 4 },
                "the device on sdb gives a critical warning: reliability is degraded",
            ),
        ];
        for (what, expected) in cases {
            assert_eq!(told(what), expected);
        }
    }
}
