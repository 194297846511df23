//! What warms a card, and what it does when it is too warm.

use serde::{Deserialize, Serialize};

/// The heat of a card: one mass, warmed by the power that it takes and cooled by the air around it.
///
/// How well it is cooled is the host's ([`Cooling`](crate::host::Cooling)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heat {
    /// The heat that warms the card, and what it is fixed to, by one kelvin: in millijoules.
    pub capacity_mj_per_k: u32,
    /// The power of an idle card, in milliwatts.
    pub idle_mw: u32,
    /// What reading takes beside that, in milliwatts.
    pub reading_mw: u32,
    /// What writing takes beside that, in milliwatts.
    pub writing_mw: u32,
    /// What it does when it is too warm.
    pub throttle: Throttle,
}

/// Two temperatures at which a card slows down, as NVMe's host controlled thermal management has them
/// (TMT1 and TMT2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// From here on it works at `light_percent` of its pace (TMT1), in thousandths of a degree Celsius.
    pub light_from_millicelsius: i32,
    /// From here on it works at `heavy_percent` of its pace (TMT2), in thousandths of a degree Celsius.
    pub heavy_from_millicelsius: i32,
    /// By how much it must be cooler to work faster again, in thousandths of a kelvin.
    pub hysteresis_mk: u32,
    /// 1 to 100.
    pub light_percent: u32,
    /// 1 to 100.
    pub heavy_percent: u32,
}
