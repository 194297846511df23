//! What leads every report of a record with a bad finding: one word with one weight, whoever has found it.

use cardproof_rating::answer::{Overall, Standing};
use cardproof_rating::defect;
use cardproof_rating::findings::{Gravity, by_gravity, gravity};
use cardproof_rating::words::findings::{gravest_in_short, sentence};
use cardproof_record::{Reason, ReasonCode, Record, Verdict};

use crate::answer::words;
use crate::clean::one_line;

/// The heading above what another tool has found.
pub(crate) const HEADING: &str = "What was found";

/// Where reads or writes failed and nothing is known to be lost.
const ERRORS: &str = "ERRORS: KEEP A BACKUP";

/// What a reader must know first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lead {
    /// Such as `LOSES DATA: COPY YOUR DATA NOW`.
    pub(crate) headline: &'static str,
    /// How bad it is.
    pub(crate) standing: Standing,
    /// What was found, in a few words.
    pub(crate) what: String,
}

impl Lead {
    /// What leads the reports of `record`; `None` where nothing is known against its storage.
    pub(crate) fn from_record(record: &Record) -> Option<Self> {
        if let Some(defect) = defect(record) {
            let overall = Overall::of_defect(defect.kind);
            return Some(Self {
                headline: words::headline(overall),
                standing: words::standing(overall),
                what: one_line(&defect.what_in_words()),
            });
        }
        let gravest = by_gravity(record).into_iter().next()?;
        let has_errors = gravity(&gravest.what) == Gravity::Errors;
        has_errors.then(|| Self {
            headline: ERRORS,
            standing: Standing::Warning,
            what: found_in_words(record).into_iter().next().unwrap_or_default(),
        })
    }
}

/// What another tool has found, a sentence each, the gravest first.
pub(crate) fn found_in_words(record: &Record) -> Vec<String> {
    by_gravity(record).into_iter().map(|finding| one_line(&sentence(finding))).collect()
}

/// The gravest finding with its word, such as `ERRORS: no answer in time`.
pub(crate) fn in_short(record: &Record) -> Option<String> {
    gravest_in_short(record).map(|words| one_line(&words))
}

/// The alarm about wrong data. What another tool has found is told as its finding.
pub(crate) fn alarm(record: &Record) -> Option<String> {
    let alarm = cardproof_rating::words::data::alarm(record).filter(|_| record.findings.is_empty());
    alarm.map(|alarm| one_line(&alarm))
}

/// The doubts about `record` without what its findings say, which stands by itself.
pub(crate) fn without_findings(record: &Record) -> Record {
    Record { findings: Vec::new(), ..record.clone() }
}

/// Whether `lead` forbids using the storage.
pub(crate) fn is_bad(lead: Option<&Lead>) -> bool {
    lead.is_some_and(|lead| lead.standing == Standing::Bad)
}

/// Why no class is judged where the storage is known to be bad; what is bad stands above.
pub(crate) const SPEED_SAYS_NOTHING: &str =
    "the storage is bad, as said above, so its speed says nothing";

/// `verdicts` for a report that `lead` opens: the doubts that forbid them are not told of each class again.
pub(crate) fn told_once(lead: Option<&Lead>, verdicts: &[Verdict]) -> Vec<Verdict> {
    let mut verdicts = verdicts.to_vec();
    if !is_bad(lead) {
        return verdicts;
    }
    for verdict in &mut verdicts {
        let is_of_doubt = |reason: &Reason| reason.code == ReasonCode::Doubt;
        if verdict.reasons.iter().any(is_of_doubt) {
            verdict.reasons.retain(|reason| !is_of_doubt(reason));
            let text = SPEED_SAYS_NOTHING.to_owned();
            verdict.reasons.insert(0, Reason { code: ReasonCode::Doubt, rate: None, text });
        }
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use cardproof_rating::judge;
    use cardproof_record::{Finding, FindingKind, KernelFault, OpName};
    use cardproof_testkit::records;
    use cardproof_units::Bytes;

    use super::*;

    /// A record of `tool` that found `what`, with the phases of a run or without.
    fn found(what: FindingKind, tool: &str, has_phases: bool) -> Record {
        let mut record = records::typical_a1_card();
        record.findings = vec![Finding::at(what, tool, 3)];
        if !has_phases {
            record.phases.clear();
            record.data_check = None;
        }
        record
    }

    fn wrong_sectors(has_phases: bool) -> Record {
        let what = FindingKind::WrongSectors {
            ok: 4_194_304,
            corrupted: 4_194_304,
            changed: 0,
            overwritten: 0,
            right_to_bytes: Some(Bytes::gib(2)),
        };
        found(what, "f3", has_phases)
    }

    fn message(fault: KernelFault) -> Record {
        let what = FindingKind::KernelMessages {
            fault,
            error: None,
            op: OpName::Unknown,
            count: 1,
            sectors: Vec::new(),
            filesystem: None,
            partition: None,
            width_bits: None,
            clock_hz: None,
            seconds: None,
            first_at: None,
            last_at: None,
        };
        found(what, "kernel-log", false)
    }

    /// All reports of `record`: terminal in short and in full, Markdown in short and in full, page.
    fn reports(record: &Record) -> [String; 5] {
        let verdicts = judge(record);
        [
            crate::brief(record, &verdicts, 80, false),
            crate::summary(record, &verdicts, 80, false),
            crate::markdown_short(record),
            crate::markdown(record, &verdicts),
            crate::html(record, &verdicts).unwrap(),
        ]
    }

    #[test]
    fn a_bad_finding_leads_every_report_with_one_word() {
        for record in [wrong_sectors(false), wrong_sectors(true), message(KernelFault::WriteLost)] {
            for text in reports(&record) {
                let lead = text.find("LOSES DATA: COPY YOUR DATA NOW").expect(&text);
                assert!(!text[..lead].contains("cannot be tested here"), "{text}");
            }
            let list = crate::inventory_text(&[crate::Entry::of(&record)], None, Some(120));
            assert!(list.contains("LOSES DATA: "), "{list}");
            let picture = crate::result_picture(&record).svg();
            assert!(picture.contains("LOSES DATA: COPY YOUR DATA NOW"), "{picture}");
            assert!(picture.to_lowercase().contains("#b3261e"), "it is red: {picture}");
        }
        let fake = wrong_sectors(false);
        assert!(reports(&fake).iter().all(|text| text.contains("looks like a fake")));
    }

    #[test]
    fn a_finding_is_not_told_again_for_every_class_and_phase() {
        for (record, most) in [(wrong_sectors(false), 1), (wrong_sectors(true), 2)] {
            for text in reports(&record) {
                let told = text.matches("8,388,608").count();
                assert!((1..=most).contains(&told), "{told} times: {text}");
            }
        }
        let page = &reports(&wrong_sectors(false))[4];
        assert!(!page.contains("id=\"verdicts\"") && !page.contains("id=\"measured\""), "{page}");
    }

    #[test]
    fn errors_alone_are_a_warning_in_every_report() {
        let record = message(KernelFault::NoAnswer);
        for text in reports(&record) {
            assert!(text.contains("ERRORS: KEEP A BACKUP"), "{text}");
        }
        let list = crate::inventory_text(&[crate::Entry::of(&record)], None, Some(120));
        assert!(list.contains("ERRORS: no answer in time"), "{list}");
        assert_eq!(Lead::from_record(&records::typical_a1_card()), None);
    }
}
