//! What `cardproof health --json` writes, for scripts.

use cardproof_units::Bytes;
use serde::Serialize;

/// The form's name and version.
pub const HEALTH_SCHEMA: &str = "cardproof.health/1";

/// What a device says of its wear, and what of it can be true.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HealthDocument {
    /// The form's name and version.
    pub schema: &'static str,
    /// What the device is.
    pub device: String,
    /// Readings in the order of time; one, where a device was asked.
    pub readings: Vec<HealthReading>,
    /// The values of the last reading.
    pub values: Vec<HealthValue>,
    /// What follows from all readings.
    pub wear: WearOutlook,
    /// What could not be read, and why.
    pub unknown: Vec<String>,
}

/// One reading.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HealthReading {
    /// Where it comes from, in words.
    pub source: String,
    /// When it was read, as far as known.
    pub time: Option<String>,
    /// What the device says that is wrong, in words, the gravest first.
    pub findings: Vec<String>,
    /// Its values.
    pub values: Vec<HealthValue>,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HealthValue {
    /// Its name.
    pub name: String,
    /// The number; of a band, such as an eMMC's used life, its upper end.
    pub value: f64,
    /// The true number is at least this; null for counts and for what cannot be true.
    pub low: Option<f64>,
    /// The true number is at most this; null also where nothing bounds it.
    pub high: Option<f64>,
    /// Whether the rated life of the device is over: replace it.
    pub beyond_life: bool,
    /// What it counts: `percent_used`, `percent_left`, `count`, `level` or `bytes_written`.
    pub unit: String,
    /// Whether it can be true.
    pub plausible: bool,
    /// Why not, or null.
    pub reason: Option<String>,
}

/// Wear per day, and the days left.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WearOutlook {
    /// Bytes that the host writes in a day; null where not known.
    pub bytes_per_day: Option<Bytes>,
    /// Wear in per cent a day, at least; null where not known.
    pub percent_per_day_low: Option<f64>,
    /// The same, at most.
    pub percent_per_day_high: Option<f64>,
    /// Days left.
    pub days_left: DaysLeftInterval,
    /// What that rests on, or why it cannot be known.
    pub reason: String,
}

/// Days left with bounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DaysLeftInterval {
    /// The middle of what is possible; null where only bounds are known.
    pub estimate: Option<f64>,
    /// At least; null where not known.
    pub low: Option<f64>,
    /// At most; null where nothing bounds it.
    pub high: Option<f64>,
}
