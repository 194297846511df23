//! The bus between host and card: what it can carry, and when it and not the card sets a rate.
//!
//! A card in a slow slot must not be blamed for the slot. So a limit above what the bus carries
//! cannot be tested there, and a rate close to what the bus carries says nothing of the card.

use cardproof_record::{BusInfo, Record};
use cardproof_units::Throughput;

/// From this share of the bus's raw rate on, the bus is what limits: real transfers reach 85 to
/// 92 % of it (measured on several boards).
pub(crate) const BUS_BOUND: f64 = 0.8;

/// What a bus can carry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bus {
    /// The raw rate of its data lines.
    pub(crate) ceiling: Throughput,
    /// What it is, in words, such as `SD UHS-I SDR104`.
    pub(crate) name: Option<String>,
}

impl Bus {
    /// The bus that `record` was measured through, if it is known.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let device = &record.conditions.device;
        let told = device.link_ceiling_bytes_per_s.map(|bytes| Throughput(bytes as f64));
        let counted = device.bus.as_ref().and_then(raw_rate);
        let mode = || device.bus.as_ref().and_then(|bus| bus.mode.clone());
        Some(Self { ceiling: told.or(counted)?, name: device.link.clone().or_else(mode) })
    }

    /// Whether nothing on this bus can reach `rate`.
    pub(crate) fn excludes(&self, rate: Throughput) -> bool {
        rate > self.ceiling
    }

    /// Whether `rate` is so close to what this bus carries that it may be the bus's own.
    pub(crate) fn may_set(&self, rate: Throughput) -> bool {
        rate.0 >= BUS_BOUND * self.ceiling.0
    }

    /// In words, such as `25 MB/s bus (SD high speed)`.
    pub(crate) fn label(&self) -> String {
        let name = self.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        format!("{} bus{name}", self.ceiling)
    }
}

/// Clock times width, twice that where both edges of the clock carry data.
fn raw_rate(bus: &BusInfo) -> Option<Throughput> {
    let bits = bus.clock_hz? as f64 * f64::from(bus.width_bits?);
    let has_both_edges =
        bus.mode.as_deref().is_some_and(|mode| mode.contains("DDR") || mode.contains("HS400"));
    Some(Throughput(bits / 8.0 * if has_both_edges { 2.0 } else { 1.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bus_carries_clock_times_width() {
        let cases = [
            ("sd high-speed", 50_000_000, 4, 25.0),
            ("sd uhs DDR50", 50_000_000, 4, 50.0),
            ("sd uhs SDR104", 200_000_000, 4, 100.0),
            ("mmc HS400", 200_000_000, 8, 400.0),
            ("legacy", 25_000_000, 1, 3.125),
        ];
        for (mode, clock_hz, width_bits, mb_per_s) in cases {
            let bus = BusInfo {
                mode: Some(mode.to_owned()),
                clock_hz: Some(clock_hz),
                width_bits: Some(width_bits),
                ..BusInfo::default()
            };
            assert_eq!(raw_rate(&bus), Some(Throughput::from_mb_per_s(mb_per_s)), "{mode}");
        }
        assert_eq!(raw_rate(&BusInfo::default()), None);
    }
}
