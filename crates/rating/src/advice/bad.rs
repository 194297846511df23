//! The advice for storage that nobody should use: what protects data, and nothing that makes it faster.

use super::{
    Adviser, Case, Step, distrust, distrust_after_cuts, distrust_worn, integrity, look_into_faults,
};
use crate::defect::Defect;

const OF_BAD: [Adviser; 6] = [
    distrust,
    distrust_after_cuts,
    integrity::distrust_queue,
    integrity::judge_discards,
    distrust_worn,
    look_into_faults,
];

/// What to do with storage that has `defect`; never empty.
pub(super) fn steps(case: &Case<'_>, defect: &Defect) -> Vec<Step> {
    let steps: Vec<Step> = OF_BAD.iter().filter_map(|adviser| adviser(case)).collect();
    if steps.is_empty() { vec![Step::OfDefect(defect.kind)] } else { steps }
}
