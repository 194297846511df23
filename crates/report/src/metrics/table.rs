//! The table of metrics: names, units and meanings. What each holds is filled in beside it.
//!
//! Names follow Prometheus (<https://prometheus.io/docs/practices/naming/>): base units, the unit at the end, `_total`
//! behind what only grows, shares as ratios. Sums are those of the ledger, so they survive a restart of the computer.

/// How a metric moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// It is always 1, and its labels tell.
    Info,
}

/// A metric: what it is called and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name without the suffix of a kind: `_total` and `_info`.
    pub(super) base: &'static str,
    /// How it moves.
    pub(super) kind: Kind,
    /// Its unit, which is also the end of its name; empty for a pure number.
    pub(super) unit: &'static str,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// What it means.
    pub(super) help: &'static str,
}

impl Metric {
    /// The name of its samples.
    #[must_use]
    pub fn name(&self) -> String {
        let suffix = match self.kind {
            Kind::Counter => "_total",
            Kind::Gauge => "",
            Kind::Info => "_info",
        };
        format!("{}{suffix}", self.base)
    }
}

/// The labels of a card; and with one more.
const CARD: &[&str] = &["device", "card"];
const CARD_KIND: &[&str] = &["device", "card", "kind"];
const CARD_BOUND: &[&str] = &["device", "card", "bound"];
const CARD_PARTITION: &[&str] = &["device", "card", "partition"];

const fn counter(
    base: &'static str,
    unit: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { base, kind: Kind::Counter, unit, labels, help }
}

const fn gauge(
    base: &'static str,
    unit: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { base, kind: Kind::Gauge, unit, labels, help }
}

const fn info(base: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    Metric { base, kind: Kind::Info, unit: "", labels, help }
}

pub(super) const BUILD: Metric = info("cardproof_build", &["version"], "The version of cardproof.");
pub(super) const LOOK: Metric = gauge(
    "cardproof_look_timestamp_seconds",
    "seconds",
    &[],
    "When these facts were gathered, in seconds since 1970.",
);
pub(super) const TEMPERATURE: Metric =
    gauge("cardproof_temperature_celsius", "celsius", &["sensor"], "What a sensor shows.");
pub(super) const THROTTLED: Metric = gauge(
    "cardproof_throttling",
    "",
    &["cause", "when"],
    "1 where the board reports low voltage or a lowered clock, now or since its start.",
);
pub(super) const UNDER_VOLTAGE: Metric =
    gauge("cardproof_under_voltage", "", &[], "1 while the supply voltage is too low.");
pub(super) const CARD_INFO: Metric = info(
    "cardproof_card",
    &["device", "card", "product", "transport"],
    "The storage; card is a hash that only this computer can make.",
);
pub(super) const SIZE: Metric = gauge("cardproof_size_bytes", "bytes", CARD, "The capacity.");
pub(super) const WRITTEN: Metric =
    counter("cardproof_written_bytes", "bytes", CARD, "Bytes written, as the ledger counts them.");
pub(super) const READ: Metric =
    counter("cardproof_read_bytes", "bytes", CARD, "Bytes read, as the ledger counts them.");
pub(super) const WRITES: Metric = counter("cardproof_writes", "", CARD, "Writes that were ended.");
pub(super) const READS: Metric = counter("cardproof_reads", "", CARD, "Reads that were ended.");
pub(super) const FLUSHES: Metric = counter("cardproof_flushes", "", CARD, "Flushes of the cache.");
pub(super) const WRITE_TIME: Metric = counter(
    "cardproof_write_time_seconds",
    "seconds",
    CARD,
    "Time that all writes took; over their number it is the mean latency.",
);
pub(super) const READ_TIME: Metric = counter(
    "cardproof_read_time_seconds",
    "seconds",
    CARD,
    "Time that all reads took; over their number it is the mean latency.",
);
pub(super) const BUSY: Metric =
    counter("cardproof_busy_seconds", "seconds", CARD, "Time with at least one request under way.");
pub(super) const PARTITION_WRITTEN: Metric = counter(
    "cardproof_partition_written_bytes",
    "bytes",
    CARD_PARTITION,
    "Bytes written to a partition; 0 stands for those beyond the fourth.",
);
pub(super) const PARTITION_READ: Metric = counter(
    "cardproof_partition_read_bytes",
    "bytes",
    CARD_PARTITION,
    "Bytes read from a partition; 0 stands for those beyond the fourth.",
);
pub(super) const ERRORS: Metric = counter(
    "cardproof_errors",
    "",
    CARD_KIND,
    "Errors: failed reads and writes, transfers that were repeated, errors of file systems.",
);
pub(super) const LOW_POWER: Metric = counter(
    "cardproof_low_voltage_looks",
    "",
    CARD,
    "Looks at which the supply voltage was too low.",
);
pub(super) const LEDGER: Metric =
    counter("cardproof_ledger_seconds", "seconds", CARD, "Running time that the ledger covers.");
pub(super) const PACE: Metric = gauge(
    "cardproof_write_pace_bytes_per_second",
    "bytes_per_second",
    CARD_BOUND,
    "Bytes written in a second of running, over 30 days, with its 95 % interval.",
);
pub(super) const LIFE_USED: Metric =
    gauge("cardproof_life_used_ratio", "ratio", CARD_BOUND, "The share of the life that is used.");
pub(super) const LIFE_LEFT: Metric =
    gauge("cardproof_life_left_seconds", "seconds", CARD_BOUND, "The time left at this pace.");
pub(super) const REQUEST_TIME: Metric = gauge(
    "cardproof_request_time_ratio",
    "ratio",
    CARD,
    "Time for a request in the last days over that when the card was new.",
);
pub(super) const SLOWER: Metric = gauge(
    "cardproof_slower_than_new",
    "",
    CARD,
    "1 where the card is slower than when it was new; wrong for 1 % of cards and years.",
);
pub(super) const HEALTH: Metric = gauge(
    "cardproof_health",
    "",
    &["device", "card", "verdict"],
    "1 for the verdict of the signs, 0 for the others.",
);
pub(super) const AT_RISK: Metric =
    gauge("cardproof_data_at_risk", "", CARD, "1 where the signs say: copy your data now.");
pub(super) const SIGN: Metric = gauge(
    "cardproof_sign",
    "",
    &["device", "card", "kind", "source", "weight"],
    "A sign of trouble: how often since the start of the computer, 1 for a state.",
);
pub(super) const LOG: Metric = gauge(
    "cardproof_kernel_log_seconds",
    "seconds",
    CARD,
    "How far back the kernel's log was read.",
);
pub(super) const UNKNOWN: Metric = info(
    "cardproof_unknown",
    &["device", "card", "fact", "reason"],
    "A fact that is not known, and why.",
);

/// All metrics that there can be, in the order in which they are told.
static METRICS: [Metric; 30] = [
    BUILD,
    LOOK,
    TEMPERATURE,
    THROTTLED,
    UNDER_VOLTAGE,
    CARD_INFO,
    SIZE,
    WRITTEN,
    READ,
    WRITES,
    READS,
    FLUSHES,
    WRITE_TIME,
    READ_TIME,
    BUSY,
    PARTITION_WRITTEN,
    PARTITION_READ,
    ERRORS,
    LOW_POWER,
    LEDGER,
    PACE,
    LIFE_USED,
    LIFE_LEFT,
    REQUEST_TIME,
    SLOWER,
    HEALTH,
    AT_RISK,
    SIGN,
    LOG,
    UNKNOWN,
];

/// All metrics that there can be.
#[must_use]
pub fn metrics() -> &'static [Metric] {
    &METRICS
}
