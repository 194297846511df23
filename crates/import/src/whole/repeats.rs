//! Outputs that stand in a text twice, as where an answer quotes the question.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;

use crate::draft::RecordDraft;

/// Leaves out of `found` what stands in the text a second time.
pub(super) fn leave_out(found: &mut Vec<(usize, RecordDraft)>) {
    let mut kept: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut is_new = Vec::with_capacity(found.len());
    for (index, (_, draft)) in found.iter().enumerate() {
        let alike = kept.entry(digest(draft)).or_default();
        is_new.push(!alike.iter().any(|earlier| tell_the_same(&found[*earlier].1, draft)));
        if is_new[index] {
            alike.push(index);
        }
    }
    let mut is_new = is_new.into_iter();
    found.retain(|_| is_new.next().unwrap_or_default());
}

/// Whether both tell the same of the same device, apart from the places in the text.
fn tell_the_same(one: &RecordDraft, other: &RecordDraft) -> bool {
    one.tools == other.tools
        && one.label == other.label
        && one.figures == other.figures
        && one.phases.len() == other.phases.len()
        && one.phases.iter().zip(&other.phases).all(|(a, b)| a.figures == b.figures)
        && one.conditions.device == other.conditions.device
        && one.findings.len() == other.findings.len()
        && one.findings.iter().zip(&other.findings).all(|(a, b)| a.what == b.what)
        && one.phases.iter().zip(&other.phases).all(|(a, b)| a.has_the_name_of(b))
}

/// A number that is equal for drafts that tell the same.
fn digest(draft: &RecordDraft) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&draft.label, &draft.conditions.device.name, draft.phases.len()).hash(&mut hasher);
    draft.tools.iter().for_each(|tool| tool.name().hash(&mut hasher));
    draft.findings.iter().for_each(|finding| mem::discriminant(&finding.what).hash(&mut hasher));
    let of_phases = draft.phases.iter().flat_map(|phase| &phase.figures);
    of_phases.chain(&draft.figures).for_each(|it| it.value.to_bits().hash(&mut hasher));
    hasher.finish()
}
