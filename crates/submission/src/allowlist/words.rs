//! Words that a record may hold, and the fixed sentences that stand for its free text.

use serde_json::{Map, Value};

use crate::filter::Node;

pub(super) static NUMBER: Node = Node::Number;

pub(super) static FLAG: Node = Node::Flag;

pub(super) static OP: Node = Node::OneOf(&["read", "write", "mixed", "unknown"]);

pub(super) static PATTERN: Node = Node::OneOf(&["sequential", "random", "unknown"]);

pub(super) static PHASE_STATE: Node =
    Node::OneOf(&["measured", "partial", "not_measured", "unknown"]);

pub(super) static STATE: Node =
    Node::OneOf(&["running", "complete", "partial", "failed", "unknown"]);

pub(super) static LAYOUT: Node = Node::OneOf(&["kept", "packed", "wrapped", "other"]);

pub(super) static TARGET_KIND: Node =
    Node::OneOf(&["directory", "file", "block_device", "simulated", "null", "unknown"]);

pub(super) static ENDED_BY: Node = Node::OneOf(&[
    "time",
    "precision",
    "decision",
    "bytes",
    "operations",
    "interrupted",
    "fault",
    "other",
]);

/// Why something was not measured may name a file or a device.
pub(super) static CAUSE: Node = Node::Always("the cause was not shared");

/// Each kind of doubt and the sentence that is shared for it.
const DOUBTS: [(&str, &str); 16] = [
    ("span_reduced", "the range of addresses was smaller than the profile asks for"),
    ("buffered", "the operations went through the page cache"),
    ("cache_unknown", "whether the operations went through the page cache is not known"),
    ("no_page_cache", "the original tool uses the page cache, which the target does not have"),
    ("memory", "the figures come from memory and not from storage"),
    ("layer_unknown", "what the storage rests on is not known"),
    ("copy_on_write", "the file system compresses or never overwrites in place"),
    ("wrong_data", "what was read is not what was written"),
    ("above_link", "the rate is above what the link can carry"),
    ("maybe_unwritten", "the range may hold blocks that were never written"),
    ("few_operations", "there were few operations"),
    ("faults", "some operations failed"),
    ("queue_depth_reduced", "the queue depth that was asked for was not reached"),
    ("unsteady", "the rate did not settle"),
    ("disturbed", "the run was disturbed"),
    ("other", "there is a doubt that this version does not know"),
];

/// Each kind of disturbance and the sentence that is shared for it.
const DISTURBING: [(&str, &str); 6] = [
    ("heat", "the processor was slowed down for its heat"),
    ("under_voltage", "the supply voltage was too low"),
    ("other_io", "other programs used the storage"),
    ("cpu_by_others", "other programs used the processor"),
    ("clock_changed", "the processor's clock changed"),
    ("other", "something else happened meanwhile"),
];

pub(super) static WARNINGS: Node = Node::List(64, &WARNING);

static WARNING: Node = Node::Derived(&WARNING_FIELDS, say_doubt);

static WARNING_FIELDS: Node = Node::Fields(&[("code", &Node::MaybeWord)]);

pub(super) static DISTURBANCES: Node = Node::List(64, &DISTURBANCE);

static DISTURBANCE: Node = Node::Derived(&DISTURBANCE_FIELDS, say_disturbance);

static DISTURBANCE_FIELDS: Node = Node::Fields(&[("kind", &Node::MaybeWord)]);

fn say_doubt(fields: &mut Map<String, Value>) {
    say(fields, "code", &DOUBTS);
}

fn say_disturbance(fields: &mut Map<String, Value>) {
    say(fields, "kind", &DISTURBING);
}

/// Sets the kind to a known one and the message to its sentence.
fn say(fields: &mut Map<String, Value>, kind: &str, known: &[(&'static str, &'static str)]) {
    let told = fields.get(kind).and_then(Value::as_str).unwrap_or_default();
    let found = known.iter().find(|(word, _)| *word == told).or(known.last());
    if let Some((word, sentence)) = found {
        fields.insert(kind.to_owned(), Value::from(*word));
        fields.insert("message".to_owned(), Value::from(*sentence));
    }
}
