//! What tests of a card have shown besides its speed: counts and first findings, from which verdicts with their bounds
//! follow. Of a journal nothing is shared.

use super::words::{CAUSE, FLAG, NUMBER, WARNINGS};
use crate::filter::Node;
use crate::trim::FAILURES_MAX;

/// The verdict of a capacity test, which the sender has found from its journal.
pub(super) static CAPACITY: Node = Node::Fields(&[
    ("verdict", &Node::OneOf(&["genuine", "fake", "damaged", "suspicious", "undecided"])),
    ("kind", &Node::Word),
    ("probability", &NUMBER),
    ("announced_size_bytes", &NUMBER),
    ("real_size_bytes", &Node::Fields(&[("low", &NUMBER), ("high", &NUMBER)])),
    ("excluded_hidden_store_bytes", &NUMBER),
    ("excluded_bad_share", &NUMBER),
    ("bytes_written", &NUMBER),
    ("bytes_read", &NUMBER),
]);

pub(super) static ENDURANCE: Node = Node::Fields(&[
    ("pattern", &Node::OneOf(&["random", "sequential", "hot-spot", "trace", "other"])),
    ("span_bytes", &NUMBER),
    ("cycle_bytes", &NUMBER),
    ("pages", &NUMBER),
    ("cycles", &NUMBER),
    ("written_bytes", &NUMBER),
    ("bad_pages", &NUMBER),
    ("milestones", &MILESTONES),
    ("end", &ENDED),
    ("stopped_by", &Node::Word),
    ("budget_bytes", &NUMBER),
    ("daily_use", &DAILY_USE),
    ("failures", &Node::List(FAILURES_MAX, &FAILURES)),
    ("transient", &NUMBER),
    ("host_errors", &NUMBER),
]);

static ENDED: Node = Node::OneOf(&[
    "read_only",
    "silently_wrong",
    "ignores_writes",
    "times_out",
    "shrinks",
    "gone",
    "unreadable",
    "other",
]);

static DAILY_USE: Node =
    Node::Fields(&[("bytes_per_day", &NUMBER), ("write_amplification", &NUMBER)]);

static MILESTONES: Node = Node::Fields(&[
    ("first_error", &NUMBER),
    ("0.1%", &NUMBER),
    ("1%", &NUMBER),
    ("10%", &NUMBER),
    ("25%", &NUMBER),
    ("50%", &NUMBER),
]);

static FAILURES: Node =
    Node::Fields(&[("cycle", &NUMBER), ("places", &NUMBER), ("pages", &NUMBER)]);

pub(super) static POWER_CUTS: Node = Node::Fields(&[
    ("mode", &Node::Word),
    ("power", &Node::OneOf(&["simulated", "command", "by hand", "other"])),
    ("queue_depth", &NUMBER),
    ("writes_per_flush", &NUMBER),
    ("area_bytes", &NUMBER),
    ("cuts", &NUMBER),
    ("effective_cuts", &NUMBER),
    ("harmful_cuts", &NUMBER),
    ("findings", &CUT_FINDINGS),
    ("unstable_sectors", &NUMBER),
]);

static CUT_FINDINGS: Node = Node::Fields(&[
    ("lost", &NUMBER),
    ("torn", &NUMBER),
    ("reordered", &NUMBER),
    ("collateral", &NUMBER),
    ("misdirected", &NUMBER),
    ("unreadable", &NUMBER),
    ("gone", &NUMBER),
]);

pub(super) static INTEGRITY: Node = Node::Fields(&[("queue", &QUEUE), ("discard", &DISCARD)]);

static QUEUE: Node = Node::Fields(&[
    ("queue_depth", &NUMBER),
    ("pieces", &NUMBER),
    ("span_bytes", &NUMBER),
    ("with_discards", &FLAG),
    ("control", &CHECKED),
    ("queued", &CHECKED),
    ("faults", &NUMBER),
    ("mended", &NUMBER),
    ("origin", &READ_ORIGIN),
]);

static READ_ORIGIN: Node = Node::Fields(&[
    ("read_bytes", &NUMBER),
    ("from_device_bytes", &NUMBER),
    (
        "doubt",
        &Node::OneOf(&[
            "memory",
            "cached_loop",
            "hidden_device",
            "several_devices",
            "no_counters",
            "other",
        ]),
    ),
]);

static CHECKED: Node = Node::Fields(&[
    ("writes", &NUMBER),
    ("reads", &NUMBER),
    ("flushes", &NUMBER),
    ("wrong", &NUMBER),
    ("time_ns", &NUMBER),
]);

static DISCARD: Node = Node::Fields(&[
    ("span_bytes", &NUMBER),
    ("is_unsupported", &FLAG),
    ("discards", &NUMBER),
    ("discarded_bytes", &NUMBER),
    ("live_checked_bytes", &NUMBER),
    ("again_checked_bytes", &NUMBER),
    ("wrong_places", &NUMBER),
    ("wrong", &Node::List(16, &HARM)),
    ("reads_zero_bytes", &NUMBER),
    ("reads_ones_bytes", &NUMBER),
    ("reads_old_bytes", &NUMBER),
    ("reads_other_bytes", &NUMBER),
    ("revived_bytes", &NUMBER),
    ("control_checked_bytes", &NUMBER),
    ("control_wrong_places", &NUMBER),
    ("faults", &NUMBER),
    ("mended", &NUMBER),
    ("origin", &READ_ORIGIN),
    ("time_ns", &NUMBER),
    ("speed", &DISCARD_SPEED),
]);

static HARM: Node = Node::Fields(&[
    ("place", &Node::OneOf(&["live", "written_again", "far", "discarded", "unknown"])),
    ("kind", &Node::OneOf(&["older", "foreign", "torn", "blank", "damaged", "unknown"])),
    ("address_bytes", &NUMBER),
    ("length_bytes", &NUMBER),
    ("distance_bytes", &NUMBER),
]);

static DISCARD_SPEED: Node = Node::Fields(&[
    ("region_bytes", &NUMBER),
    ("before_iops", &Node::List(32, &NUMBER)),
    ("after_iops", &Node::List(32, &NUMBER)),
]);

pub(super) static SETUPS: Node = Node::Fields(&[
    ("rounds", &NUMBER),
    ("ground", &Node::Fields(&[("kind", &Node::Title(24)), ("size_bytes", &NUMBER)])),
    ("comparisons", &Node::List(8, &COMPARISON)),
]);

static COMPARISON: Node = Node::Fields(&[
    ("title", &Node::Title(64)),
    ("baseline", &Node::Title(48)),
    ("confidence", &NUMBER),
    ("results", &Node::List(128, &SETUP_RESULT)),
    ("doubts", &WARNINGS),
]);

static SETUP_RESULT: Node = Node::Fields(&[
    ("setup", &Node::Title(48)),
    ("job", &Node::Title(48)),
    ("deed", &Node::Title(96)),
    ("unit", &Node::Title(24)),
    ("rates", &Node::List(32, &NUMBER)),
    ("mean", &NUMBER),
    ("ratio", &Node::Fields(&[("estimate", &NUMBER), ("low", &NUMBER), ("high", &NUMBER)])),
    ("not_measured", &CAUSE),
    ("costs", &Node::Title(160)),
    ("fit_for", &Node::OneOf(&["anything", "storage_only", "nothing"])),
]);
