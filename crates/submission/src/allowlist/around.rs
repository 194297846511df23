//! The surroundings of a measurement: the product that was measured, the kind of its host, and what was seen
//! of the system. No serial number, no name of a host or a user, no path.

use super::words::{FLAG, NUMBER, TARGET_KIND};
use crate::filter::Node;
use crate::trim::INTERVALS_MAX;

pub(super) static REQUESTS: Node = Node::Fields(&[
    ("count", &NUMBER),
    ("merged", &NUMBER),
    ("bytes", &NUMBER),
    ("per_s", &NUMBER),
    ("bytes_per_s", &NUMBER),
    ("await_ns", &NUMBER),
]);

pub(super) static DEVICE_ACTIVITY: Node = Node::Fields(&[
    ("name", &Node::Device),
    ("reads", &REQUESTS),
    ("writes", &REQUESTS),
    ("discards", &REQUESTS),
    ("flushes", &REQUESTS),
    ("queue", &NUMBER),
    ("utilisation", &NUMBER),
]);

pub(super) static CPU_ACTIVITY: Node = Node::Fields(&[
    ("cpus", &NUMBER),
    ("user", &NUMBER),
    ("nice", &NUMBER),
    ("system", &NUMBER),
    ("interrupts", &NUMBER),
    ("iowait", &NUMBER),
    ("steal", &NUMBER),
    ("idle", &NUMBER),
    ("busiest", &NUMBER),
]);

pub(super) static PRESSURE: Node = Node::Fields(&[
    ("io_some", &NUMBER),
    ("io_full", &NUMBER),
    ("memory_some", &NUMBER),
    ("memory_full", &NUMBER),
    ("cpu_some", &NUMBER),
]);

pub(super) static MEMORY_ACTIVITY: Node = Node::Fields(&[
    ("total_bytes", &NUMBER),
    ("available_bytes", &NUMBER),
    ("swapped_in_bytes", &NUMBER),
    ("swapped_out_bytes", &NUMBER),
]);

pub(super) static CLIMATE: Node = Node::Fields(&[
    ("temperature_celsius", &NUMBER),
    ("clock_hz", &NUMBER),
    ("clock_allowed_hz", &NUMBER),
    ("clock_max_hz", &NUMBER),
    ("under_voltage", &FLAG),
    ("clock_capped", &FLAG),
    ("throttled", &FLAG),
    ("soft_temperature_limit", &FLAG),
]);

pub(super) static ACTIVITY: Node = Node::Fields(&[
    ("window_ns", &NUMBER),
    ("devices", &Node::List(8, &DEVICE_ACTIVITY)),
    ("cpu", &CPU_ACTIVITY),
    ("pressure", &PRESSURE),
    ("memory", &MEMORY_ACTIVITY),
    ("climate", &CLIMATE),
]);

pub(super) static MOMENT: Node = Node::Fields(&[
    ("end_ns", &NUMBER),
    ("cpu_busy", &NUMBER),
    ("temperature_celsius", &NUMBER),
    ("clock_hz", &NUMBER),
]);

static OWN_ACTIVITY: Node = Node::Fields(&[
    ("block_size_bytes", &NUMBER),
    ("ops", &NUMBER),
    ("flushes", &NUMBER),
    ("read_bytes", &NUMBER),
    ("written_bytes", &NUMBER),
    ("direct", &FLAG),
    ("fetched", &FLAG),
]);

static CLIMATE_EXTREMES: Node = Node::Fields(&[
    ("under_voltage_windows", &NUMBER),
    ("throttled_windows", &NUMBER),
    ("temperature_max_celsius", &NUMBER),
    ("temperature_max_slowed_celsius", &NUMBER),
    ("clock_allowed_min_hz", &NUMBER),
    ("clock_allowed_max_hz", &NUMBER),
]);

pub(super) static SURROUNDINGS: Node = Node::Fields(&[
    ("activity", &ACTIVITY),
    ("own_bytes", &NUMBER),
    ("own_cpu", &NUMBER),
    ("own", &OWN_ACTIVITY),
    ("climate", &CLIMATE_EXTREMES),
    ("moments", &Node::List(INTERVALS_MAX, &MOMENT)),
]);

pub(super) static SEEN: Node = Node::Fields(&[
    ("samples", &NUMBER),
    ("cpu_ns", &NUMBER),
    ("watched_ns", &NUMBER),
    ("temperature_max_celsius", &NUMBER),
    ("clock_min_hz", &NUMBER),
    ("clock_max_hz", &NUMBER),
    ("disturbed_phases", &NUMBER),
    ("repeated_phases", &NUMBER),
]);

pub(super) static MONITOR: Node = Node::Fields(&[
    ("cpu_user_ns", &NUMBER),
    ("cpu_system_ns", &NUMBER),
    ("memory_peak_bytes", &NUMBER),
    ("seen", &SEEN),
]);

pub(super) static CLAIMS: Node = Node::Fields(&[
    ("speed_class", &NUMBER),
    ("uhs_grade", &NUMBER),
    ("video_class", &NUMBER),
    ("application_class", &NUMBER),
]);

pub(super) static FEATURE: Node =
    Node::Fields(&[("card", &FLAG), ("kernel", &FLAG), ("host", &FLAG), ("enabled", &FLAG)]);

pub(super) static CARD: Node = Node::Fields(&[
    ("manufacturer_id", &Node::MaybeWord),
    ("oem_id", &Node::Name(16)),
    ("maker_maybe", &Node::Name(48)),
    ("product", &Node::Name(16)),
    ("hardware_revision", &NUMBER),
    ("firmware_revision", &Node::Name(24)),
    ("manufactured", &Node::Name(16)),
    ("specification", &Node::Name(24)),
    ("capacity_bytes", &NUMBER),
    ("claims", &CLAIMS),
    ("allocation_unit_bytes", &NUMBER),
    ("command_queue", &FEATURE),
    ("command_queue_depth", &NUMBER),
    ("cache", &FEATURE),
    ("write_protected", &FLAG),
    ("life_used_percent_max", &NUMBER),
    ("spare_blocks", &Node::Name(32)),
    ("counterfeit_signs", &Node::List(8, &Node::Name(160))),
    ("quirks", &Node::List(8, &Node::Name(96))),
    ("harmed_by_trimming", &FLAG),
    ("cache_is_faulty", &FLAG),
    ("queue_setting", &Node::MaybeWord),
    ("queue_is_trusted", &FLAG),
    ("product_revision", &Node::Name(16)),
]);

pub(super) static BUS: Node = Node::Fields(&[
    ("mode", &Node::Name(48)),
    ("clock_hz", &NUMBER),
    ("width_bits", &NUMBER),
    ("signal_voltage_millivolts", &NUMBER),
    ("driver", &Node::MaybeWord),
]);

pub(super) static DEVICE: Node = Node::Fields(&[
    ("name", &Node::Device),
    ("model", &Node::Name(128)),
    ("vendor", &Node::Name(48)),
    ("revision", &Node::Name(16)),
    ("transport", &Node::MaybeWord),
    ("size_bytes", &NUMBER),
    ("removable", &FLAG),
    ("rotational", &FLAG),
    ("link_ceiling_bytes_per_s", &NUMBER),
    ("link", &Node::Name(64)),
    ("card", &CARD),
    ("bus", &BUS),
    ("beneath", &DEVICE),
    ("device_count", &NUMBER),
    ("layer", &Node::MaybeWord),
    ("usb_driver", &Node::MaybeWord),
    ("usb_id", &Node::MaybeWord),
]);

pub(super) static TARGET: Node = Node::Fields(&[
    ("kind", &TARGET_KIND),
    ("size_bytes", &NUMBER),
    ("logical_block_bytes", &NUMBER),
    ("engine", &Node::Word),
    ("direct", &FLAG),
    ("read_only", &FLAG),
    ("written_before", &FLAG),
]);

pub(super) static HOST: Node = Node::Fields(&[
    ("board", &Node::Name(64)),
    ("kernel", &Node::Kernel),
    ("architecture", &Node::MaybeWord),
    ("cpus", &NUMBER),
    ("memory_bytes", &NUMBER),
    ("soc", &Node::Name(48)),
]);

pub(super) static FILESYSTEM: Node = Node::Fields(&[
    ("kind", &Node::Word),
    ("options", &Node::List(32, &Node::MountOption)),
    ("size_bytes", &NUMBER),
    ("free_bytes", &NUMBER),
    ("partition_start_bytes", &NUMBER),
    ("is_aligned", &FLAG),
]);

pub(super) static SETTINGS: Node = Node::Fields(&[
    ("scheduler", &Node::MaybeWord),
    ("nr_requests", &NUMBER),
    ("read_ahead_bytes", &NUMBER),
    ("write_cache", &Node::Name(24)),
    ("governor", &Node::MaybeWord),
    ("processor_clock_max_hz", &NUMBER),
    ("beneath", &SETTINGS),
]);

pub(super) static CONDITIONS: Node = Node::Fields(&[
    ("target", &TARGET),
    ("device", &DEVICE),
    ("host", &HOST),
    ("filesystem", &FILESYSTEM),
    ("settings", &SETTINGS),
]);
