//! The advice for storage that nobody should use: what protects data, and nothing that makes it faster.

use super::{
    Adviser, Case, distrust, distrust_after_cuts, distrust_worn, integrity, look_into_faults,
};
use crate::defect::Defect;
use crate::defect_kind::DefectKind;

const OF_BAD: [Adviser; 6] = [
    distrust,
    distrust_after_cuts,
    integrity::distrust_queue,
    integrity::judge_discards,
    distrust_worn,
    look_into_faults,
];

/// What to do with storage that has `defect`; never empty.
pub(super) fn steps(case: &Case<'_>, defect: &Defect) -> Vec<String> {
    let steps: Vec<String> = OF_BAD.iter().filter_map(|adviser| adviser(case)).collect();
    if steps.is_empty() { vec![without_more(defect.kind).to_owned()] } else { steps }
}

/// The advice where no other says what to do.
const fn without_more(kind: DefectKind) -> &'static str {
    match kind {
        DefectKind::Fake => {
            "Copy your data to another device now. Then give it back and ask for your money back."
        }
        _ => "Copy your data to another device now. Then replace it, and do not store data on it.",
    }
}
