//! Every field that may be shared, with the kind of its value. What is not here never leaves the computer.
//!
//! Left out on purpose: the record's name, seed and hour, serial numbers, free messages and causes, every journal
//! of a test, and all that is derived (limits, quantities, verdicts; of a capacity test alone the verdict is shared).

mod around;
mod flash;
mod measured;
mod proved;
mod words;

use crate::LABEL_CHARACTERS_MAX;
use crate::filter::Node;
use around::{CONDITIONS, MONITOR};
use flash::FLASH_TIMINGS;
use measured::{DATA_CHECK, FIGURE, JOB, JOB_RUN, PHASE, REPLAY};
use proved::{CAPACITY, ENDURANCE, INTEGRITY, POWER_CUTS, SETUPS};
use words::{NUMBER, STATE, WARNINGS};

/// The whole document.
pub(crate) static DOCUMENT: Node = Node::Fields(&[
    ("schema", &Node::Name(48)),
    ("licence", &Node::Name(48)),
    ("label", &Node::Label(LABEL_CHARACTERS_MAX)),
    ("price", &PRICE),
    ("capacity", &CAPACITY),
    ("record", &RECORD),
]);

static PRICE: Node =
    Node::Fields(&[("amount", &NUMBER), ("currency", &Node::Word), ("date", &Node::Date)]);

static TOOL: Node = Node::Fields(&[("name", &Node::Word), ("version", &Node::Word)]);

static PROFILE: Node =
    Node::Fields(&[("name", &Node::Word), ("version", &NUMBER), ("time_budget_ns", &NUMBER)]);

static RECORD: Node = Node::Fields(&[
    ("schema", &Node::Name(48)),
    ("id", &Node::Always("shared")),
    ("created", &Node::Day),
    ("tool", &TOOL),
    ("seed", &Node::Zero),
    ("state", &STATE),
    ("conditions", &CONDITIONS),
    ("profile", &PROFILE),
    ("phases", &Node::List(64, &PHASE)),
    ("jobs", &Node::List(64, &JOB)),
    ("job_runs", &Node::List(64, &JOB_RUN)),
    ("replays", &Node::List(16, &REPLAY)),
    ("setups", &SETUPS),
    ("endurance", &ENDURANCE),
    ("power_cuts", &POWER_CUTS),
    ("integrity", &INTEGRITY),
    ("figures", &Node::List(64, &FIGURE)),
    ("flash_timings", &FLASH_TIMINGS),
    ("monitor", &MONITOR),
    ("bytes_written", &NUMBER),
    ("bytes_read", &NUMBER),
    ("measured_to_bytes", &NUMBER),
    ("data_check", &DATA_CHECK),
    ("warnings", &WARNINGS),
]);

/// Every path of the allowlist, such as `record.phases[].ops`; what is nested in itself once.
#[must_use]
pub fn paths() -> Vec<String> {
    let mut paths = Vec::new();
    collect(&DOCUMENT, "", &mut Vec::new(), &mut paths);
    paths
}

fn collect(node: &'static Node, path: &str, above: &mut Vec<*const Node>, paths: &mut Vec<String>) {
    match node {
        Node::Fields(fields) => {
            let here: *const Node = node;
            if above.contains(&here) {
                return;
            }
            above.push(here);
            for (name, node) in *fields {
                let dot = if path.is_empty() { "" } else { "." };
                collect(node, &format!("{path}{dot}{name}"), above, paths);
            }
            above.pop();
        }
        Node::Derived(node, _) => collect(node, path, above, paths),
        Node::List(_, node) => collect(node, &format!("{path}[]"), above, paths),
        _ => paths.push(path.to_owned()),
    }
}
