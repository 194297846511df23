//! The bus between host and card: its highest rate, and when the bus and not the card limits a rate.
//!
//! A card must not be blamed for a slow slot. So a limit above the bus limit cannot be tested there, and
//! a rate close to the bus limit does not show the limit of the card.

use cardproof_record::Record;
use cardproof_units::Throughput;

/// The share of its raw rate that every bus carries: real transfers reach 85 to 92 % of it (measured
/// on several boards). So from this share on, the bus may be what limits.
pub(crate) const BUS_BOUND: f64 = 0.8;

/// A bus with its highest rate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bus {
    /// The raw rate of its data lines.
    pub(crate) ceiling: Throughput,
    /// Its name, such as `SD UHS-I SDR104`.
    pub(crate) name: Option<String>,
}

impl Bus {
    /// The bus that `record` was measured through, if it is known.
    pub(crate) fn from_record(record: &Record) -> Option<Self> {
        let device = &record.conditions.device;
        let ceiling = Throughput(device.link_ceiling_bytes_per_s? as f64);
        Some(Self { ceiling, name: device.link.clone() })
    }

    /// Whether nothing on this bus can reach `rate`.
    pub(crate) fn excludes(&self, rate: Throughput) -> bool {
        rate > self.ceiling
    }

    /// The highest rate that the storage alone can have if it reaches `rate` through this bus: the bus
    /// carries at least its usable share, and at worst both work one after the other. `None` where the
    /// bus may take all the time.
    pub(crate) fn without(&self, rate: Throughput) -> Option<Throughput> {
        let seconds_per_byte = 1.0 / rate.0 - 1.0 / (BUS_BOUND * self.ceiling.0);
        (rate.0 > 0.0 && seconds_per_byte > 0.0).then(|| Throughput(1.0 / seconds_per_byte))
    }

    /// Whether `rate` is so close to what this bus carries that it may be the bus's own.
    pub(crate) fn may_set(&self, rate: Throughput) -> bool {
        rate.0 >= BUS_BOUND * self.ceiling.0
    }
}
