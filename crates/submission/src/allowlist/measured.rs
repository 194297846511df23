//! What was measured: phases, jobs, replays and their figures. Numbers, and words of the programs.

use super::around::SURROUNDINGS;
use super::words::{
    CAUSE, DISTURBANCES, ENDED_BY, FLAG, LAYOUT, NUMBER, OP, PATTERN, PHASE_STATE, WARNINGS,
};
use crate::filter::Node;
use crate::trim::{BUCKETS_MAX, INTERVALS_MAX};

pub(super) static ESTIMATE: Node = Node::Fields(&[
    ("estimate", &NUMBER),
    ("low", &NUMBER),
    ("high", &NUMBER),
    ("confidence", &NUMBER),
]);

pub(super) static STATED: Node = Node::Fields(&[
    ("iops", &NUMBER),
    ("throughput_bytes_per_s", &NUMBER),
    ("read_iops", &NUMBER),
    ("write_iops", &NUMBER),
]);

pub(super) static LATENCY: Node = Node::Fields(&[
    ("min", &NUMBER),
    ("mean", &NUMBER),
    ("p50", &NUMBER),
    ("p90", &NUMBER),
    ("p99", &NUMBER),
    ("p999", &NUMBER),
    ("max", &NUMBER),
]);

pub(super) static PERCENTILE: Node = Node::Fields(&[("low", &NUMBER), ("high", &NUMBER)]);

pub(super) static LATENCY_INTERVALS: Node = Node::Fields(&[
    ("confidence", &NUMBER),
    ("p50", &PERCENTILE),
    ("p90", &PERCENTILE),
    ("p99", &PERCENTILE),
    ("p999", &PERCENTILE),
]);

pub(super) static BUCKET: Node = Node::Fields(&[("up_to_ns", &NUMBER), ("ops", &NUMBER)]);

pub(super) static INTERVAL: Node = Node::Fields(&[
    ("start_ns", &NUMBER),
    ("duration_ns", &NUMBER),
    ("ops", &NUMBER),
    ("bytes", &NUMBER),
    ("latency_max_ns", &NUMBER),
]);

pub(super) static DIRECTION: Node = Node::Fields(&[
    ("ops", &NUMBER),
    ("bytes", &NUMBER),
    ("iops", &NUMBER),
    ("latency_ns", &LATENCY),
]);

pub(super) static LEVEL: Node = Node::Fields(&[
    ("start_ns", &NUMBER),
    ("duration_ns", &NUMBER),
    ("bytes_before", &NUMBER),
    ("ops", &NUMBER),
    ("bytes", &NUMBER),
    ("iops", &ESTIMATE),
    ("throughput_bytes_per_s", &ESTIMATE),
]);

pub(super) static PHASE_RUN: Node = Node::Fields(&[
    ("counts", &FLAG),
    ("position", &NUMBER),
    ("start_ns", &NUMBER),
    ("ops", &NUMBER),
    ("bytes", &NUMBER),
    ("duration_ns", &NUMBER),
    ("iops", &ESTIMATE),
    ("throughput_bytes_per_s", &ESTIMATE),
    ("latency_ns", &LATENCY),
]);

pub(super) static VERIFICATION: Node =
    Node::Fields(&[("compared_bytes", &NUMBER), ("wrong_bytes", &NUMBER)]);

pub(super) static DATA_CHECK: Node = Node::Fields(&[
    ("places", &NUMBER),
    ("place_bytes", &NUMBER),
    ("wrong_places", &NUMBER),
    ("unreadable_places", &NUMBER),
    ("first_wrong_bytes", &NUMBER),
    ("from_bytes", &NUMBER),
    ("to_bytes", &NUMBER),
    ("spread_bytes", &NUMBER),
    ("duration_ns", &NUMBER),
    ("direct", &FLAG),
]);

static UNDISTURBED: Node = Node::Fields(&[("duration_ns", &NUMBER), ("iops", &ESTIMATE)]);

pub(super) static PHASE: Node = Node::Fields(&[
    ("name", &Node::Word),
    ("op", &OP),
    ("pattern", &PATTERN),
    ("read_percent", &NUMBER),
    ("block_size_bytes", &NUMBER),
    ("span_offset_bytes", &NUMBER),
    ("span_bytes", &NUMBER),
    ("queue_depth", &NUMBER),
    ("sync", &Node::Word),
    ("alignment_offset_bytes", &NUMBER),
    ("rate_limit_iops", &NUMBER),
    ("state", &PHASE_STATE),
    ("cause", &CAUSE),
    ("ended_by", &ENDED_BY),
    ("ops", &NUMBER),
    ("bytes", &NUMBER),
    ("duration_ns", &NUMBER),
    ("iops", &ESTIMATE),
    ("throughput_bytes_per_s", &ESTIMATE),
    ("anytime_iops", &ESTIMATE),
    ("undisturbed", &UNDISTURBED),
    ("stated", &STATED),
    ("latency_ns", &LATENCY),
    ("latency_intervals", &LATENCY_INTERVALS),
    ("flush_latency_ns", &LATENCY),
    ("flushes", &NUMBER),
    ("reads", &DIRECTION),
    ("writes", &DIRECTION),
    ("histogram", &Node::List(BUCKETS_MAX, &BUCKET)),
    ("intervals", &Node::List(INTERVALS_MAX, &INTERVAL)),
    ("levels", &Node::List(64, &LEVEL)),
    ("runs", &Node::List(64, &PHASE_RUN)),
    ("verification", &VERIFICATION),
    ("data_check", &DATA_CHECK),
    ("surroundings", &SURROUNDINGS),
    ("disturbances", &DISTURBANCES),
    ("warnings", &WARNINGS),
]);

pub(super) static JOB: Node = Node::Fields(&[("name", &Node::Word), ("duration_ns", &NUMBER)]);

pub(super) static JOB_STEP: Node = Node::Fields(&[
    ("name", &Node::Word),
    ("duration_ns", &NUMBER),
    ("sync_ns", &NUMBER),
    ("syncs", &NUMBER),
]);

pub(super) static JOB_SYNCS: Node =
    Node::Fields(&[("count", &NUMBER), ("total_ns", &NUMBER), ("latency_ns", &LATENCY)]);

pub(super) static JOB_TRANSACTIONS: Node = Node::Fields(&[
    ("count", &NUMBER),
    ("per_s", &ESTIMATE),
    ("latency_ns", &LATENCY),
    ("a_crash_costs", &Node::Title(96)),
    ("is_durable", &FLAG),
]);

pub(super) static JOB_RUN: Node = Node::Fields(&[
    ("name", &Node::Word),
    ("version", &NUMBER),
    ("deed", &Node::Title(96)),
    ("state", &PHASE_STATE),
    ("cause", &CAUSE),
    ("duration_ns", &NUMBER),
    ("settle_ns", &NUMBER),
    ("steps", &Node::List(64, &JOB_STEP)),
    ("ops", &NUMBER),
    ("bytes_written", &NUMBER),
    ("bytes_read", &NUMBER),
    ("bytes_written_in_all", &NUMBER),
    ("bytes_from_storage", &NUMBER),
    ("empties_cache", &FLAG),
    ("syncs", &JOB_SYNCS),
    ("transactions", &JOB_TRANSACTIONS),
    ("disturbances", &DISTURBANCES),
    ("surroundings", &SURROUNDINGS),
    ("warnings", &WARNINGS),
]);

pub(super) static REPLAYED: Node =
    Node::Fields(&[("ops", &NUMBER), ("bytes", &NUMBER), ("latency_ns", &LATENCY)]);

pub(super) static WAITING: Node =
    Node::Fields(&[("reads_ns", &NUMBER), ("writes_ns", &NUMBER), ("flushes_ns", &NUMBER)]);

pub(super) static REPLAY: Node = Node::Fields(&[
    ("trace", &Node::Word),
    ("state", &PHASE_STATE),
    ("cause", &CAUSE),
    ("duration_ns", &NUMBER),
    ("recorded_ns", &NUMBER),
    ("requests", &NUMBER),
    ("requests_of", &NUMBER),
    ("think_factor", &NUMBER),
    ("queue_depth", &NUMBER),
    ("layout", &LAYOUT),
    ("thought_ns", &NUMBER),
    ("waited", &WAITING),
    ("reads", &REPLAYED),
    ("writes", &REPLAYED),
    ("flushes", &REPLAYED),
    ("epochs", &NUMBER),
    ("epoch_ns", &LATENCY),
    ("discards_left_out", &NUMBER),
    ("disturbances", &DISTURBANCES),
    ("surroundings", &SURROUNDINGS),
]);

pub(super) static FIGURE: Node = Node::Fields(&[
    ("name", &Node::Title(64)),
    ("tool", &Node::Word),
    ("value", &NUMBER),
    ("unit", &Node::Title(16)),
    ("unit_bytes_per_s", &NUMBER),
    ("phases", &Node::List(16, &Node::Word)),
]);
