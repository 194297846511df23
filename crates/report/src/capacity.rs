//! What a test of the capacity found, in lines.

use cardproof_rating::answer::Standing;
use cardproof_rating::{Capacity, capacity};
use cardproof_record::{CapacityVerdict, Record, TargetKind};

use crate::answer::{BOLD, painted, style_of};
use crate::clean::one_line;
use crate::lead::Lead;
use crate::wrap::sentence;

/// The heading above the verdict on the capacity in every report.
pub(crate) fn heading(record: &Record) -> &'static str {
    match record.conditions.target.kind {
        TargetKind::File => "Does the file keep data?",
        _ => "Is the capacity real?",
    }
}

/// The verdict in a sentence; empty where the capacity was not tested.
pub(crate) fn headline(record: &Record) -> String {
    capacity(record).map_or_else(String::new, |found| found.headline())
}

/// The sentence with the verdict of what was `found`. With `styled`, the verdict is set in an ANSI style.
#[must_use]
pub fn capacity_headline(found: &Capacity, styled: bool) -> String {
    let style = match found.verdict {
        CapacityVerdict::Genuine => style_of(Standing::Good),
        CapacityVerdict::Fake | CapacityVerdict::Damaged => style_of(Standing::Bad),
        CapacityVerdict::Suspicious => style_of(Standing::Warning),
        CapacityVerdict::Undecided => BOLD,
    };
    format!("{}: {}", painted(found.verdict_in_words(), style, styled), found.what_it_says())
}

/// The verdict on the capacity, and its reasons.
fn briefly(record: &Record) -> Vec<String> {
    let Some(found) = capacity(record) else { return Vec::new() };
    let told = found.reasons_in_words();
    let reasons = told.iter().map(|reason| sentence(&one_line(reason)));
    std::iter::once(found.headline()).chain(reasons).collect()
}

/// Whether the test found what leads the report.
pub(crate) fn leads(record: &Record, lead: Option<&Lead>) -> bool {
    let is_bad =
        |found: Capacity| matches!(found.verdict, CapacityVerdict::Fake | CapacityVerdict::Damaged);
    lead.is_some() && capacity(record).is_some_and(is_bad)
}

/// The verdict and its reasons below `lead`, which has the verdict where that is bad.
pub(crate) fn below(record: &Record, lead: Option<&Lead>) -> Vec<String> {
    briefly(record).into_iter().skip(usize::from(leads(record, lead))).collect()
}

/// The same, with all that was excluded and how sure the verdict is.
pub(crate) fn lines(record: &Record) -> Vec<String> {
    let found = capacity(record);
    let details = found.map(|found| (found.exclusions_in_words(), found.certainty_in_words()));
    let details = details.into_iter().flat_map(|(excluded, sure)| excluded.into_iter().chain(sure));
    let details = details.map(|it| sentence(&one_line(&it)));
    briefly(record).into_iter().chain(details).collect()
}
