//! Timings at the internal boundaries of a flash device: numbers alone.

use super::words::{NUMBER, PATTERN};
use crate::filter::Node;

pub(super) static BOUNDARY_TIMING: Node = Node::Fields(&[
    ("alignment_bytes", &NUMBER),
    ("before_ns", &NUMBER),
    ("across_ns", &NUMBER),
    ("after_ns", &NUMBER),
    ("difference_ns", &NUMBER),
]);

pub(super) static BOUNDARY_RUN: Node =
    Node::Fields(&[("block_bytes", &NUMBER), ("rows", &Node::List(64, &BOUNDARY_TIMING))]);

pub(super) static BLOCK_RATES: Node =
    Node::Fields(&[("block_bytes", &NUMBER), ("bytes_per_s", &Node::List(64, &NUMBER))]);

pub(super) static OPEN_UNITS_RUN: Node = Node::Fields(&[
    ("units", &NUMBER),
    ("order", &PATTERN),
    ("unit_bytes", &NUMBER),
    ("rows", &Node::List(64, &BLOCK_RATES)),
]);

pub(super) static FIRST_AREA_RUN: Node = Node::Fields(&[("rows", &Node::List(64, &BLOCK_RATES))]);

pub(super) static RATE_FALL: Node = Node::Fields(&[
    ("fast_bytes", &NUMBER),
    ("before_bytes_per_s", &NUMBER),
    ("after_bytes_per_s", &NUMBER),
]);

pub(super) static SWEEP_RUN: Node = Node::Fields(&[
    ("block_bytes", &NUMBER),
    ("written_bytes", &NUMBER),
    ("longer_every_bytes", &NUMBER),
    ("fall", &RATE_FALL),
    ("bytes_per_s", &Node::List(256, &NUMBER)),
]);

pub(super) static RECOVERY: Node =
    Node::Fields(&[("rest_ns", &NUMBER), ("fast_bytes", &NUMBER), ("cache_bytes", &NUMBER)]);

pub(super) static TIME_AT: Node = Node::Fields(&[("at_bytes", &NUMBER), ("time_ns", &NUMBER)]);

pub(super) static TIMES_RUN: Node = Node::Fields(&[("rows", &Node::List(256, &TIME_AT))]);

pub(super) static SPREAD: Node =
    Node::Fields(&[("block_bytes", &NUMBER), ("in_order_ns", &NUMBER), ("again_ns", &NUMBER)]);

pub(super) static FRONT: Node =
    Node::Fields(&[("rows", &Node::List(256, &TIME_AT)), ("elsewhere_ns", &NUMBER)]);

pub(super) static PROBE: Node = Node::Fields(&[
    ("sweeps", &Node::List(16, &SWEEP_RUN)),
    ("recoveries", &Node::List(32, &RECOVERY)),
    ("rewrites", &Node::List(16, &TIMES_RUN)),
    ("spreads", &Node::List(32, &SPREAD)),
    ("front", &FRONT),
    ("spans", &Node::List(16, &TIMES_RUN)),
]);

pub(super) static FLASH_TIMINGS: Node = Node::Fields(&[
    ("boundaries", &Node::List(16, &BOUNDARY_RUN)),
    ("open_units", &Node::List(32, &OPEN_UNITS_RUN)),
    ("first_areas", &Node::List(16, &FIRST_AREA_RUN)),
    ("probe", &PROBE),
]);
