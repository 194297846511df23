//! Disturbances of a phase, as values with their figures, and the sentence of each.

use std::fmt;

use cardproof_units::Bytes;
use serde::{Deserialize, Deserializer, Serialize};

/// A disturbance of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DisturbanceKind {
    /// The system throttled itself for heat.
    Heat,
    /// The supply voltage was too low.
    UnderVoltage,
    /// The device did more than this run asked of it.
    OtherIo,
    /// Others had the processors.
    CpuByOthers,
    /// The highest clock that was allowed changed.
    ClockChanged,
    /// Any of a later version.
    #[serde(other)]
    Other,
}

/// One disturbance of a phase, with its figure. A record holds those by the rules of the version that
/// ran it, which repeated the phase for them. The counts that they follow from are in the phase's
/// surroundings, so that newer rules can judge again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Stored", into = "Stored")]
pub struct Disturbance {
    /// What it was.
    pub kind: DisturbanceKind,
    /// Its figures.
    pub figures: DisturbanceFigures,
}

/// The figures of a disturbance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "of")]
pub enum DisturbanceFigures {
    /// The board throttled itself.
    Heat {
        /// The highest temperature, in degrees Celsius, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        celsius: Option<f64>,
    },
    /// The supply voltage was too low.
    UnderVoltage,
    /// The device was used by others.
    Used {
        /// The kernel's name of the device.
        device: String,
        /// Bytes that others read.
        read_bytes: Bytes,
        /// Bytes that others wrote.
        written_bytes: Bytes,
        /// Requests of others, where they can be told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requests: Option<u64>,
    },
    /// Others read the device.
    Read {
        /// The kernel's name of the device.
        device: String,
        /// Bytes that others read.
        read_bytes: Bytes,
    },
    /// Others had the processors.
    Processors {
        /// Their share of all processors' time, 0 to 1.
        share: f64,
    },
    /// The highest clock allowed was not the same all the time.
    Clock {
        /// The lowest of them.
        lowest_hz: u64,
        /// The highest of them.
        highest_hz: u64,
    },
    /// Nothing is known but the words of the program that saw it.
    #[serde(skip)]
    Stated(String),
}

impl DisturbanceFigures {
    const fn kind(&self) -> DisturbanceKind {
        match self {
            Self::Heat { .. } => DisturbanceKind::Heat,
            Self::UnderVoltage => DisturbanceKind::UnderVoltage,
            Self::Used { .. } | Self::Read { .. } => DisturbanceKind::OtherIo,
            Self::Processors { .. } => DisturbanceKind::CpuByOthers,
            Self::Clock { .. } => DisturbanceKind::ClockChanged,
            Self::Stated(_) => DisturbanceKind::Other,
        }
    }
}

impl From<DisturbanceFigures> for Disturbance {
    fn from(figures: DisturbanceFigures) -> Self {
        Self { kind: figures.kind(), figures }
    }
}

impl Disturbance {
    /// One of which only `words` are known.
    #[must_use]
    pub fn stated(kind: DisturbanceKind, words: impl Into<String>) -> Self {
        Self { kind, figures: DisturbanceFigures::Stated(words.into()) }
    }

    /// Whether `other` says the same, figures aside.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        use DisturbanceFigures::Stated;
        match (&self.figures, &other.figures) {
            (Stated(of), Stated(other)) => of == other,
            (of, other) => std::mem::discriminant(of) == std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use DisturbanceFigures as Of;
        match &self.figures {
            Of::Heat { celsius } => {
                f.write_str("the board throttled itself")?;
                celsius.map_or(Ok(()), |celsius| write!(f, " at {celsius:.0} °C"))
            }
            Of::UnderVoltage => {
                f.write_str("the supply voltage was too low, for which boards lower their clock")
            }
            Of::Used { device, read_bytes, written_bytes, requests } => {
                write!(
                    f,
                    "other programs or the file system also used {device}: they read {read_bytes} and \
                     wrote {written_bytes}"
                )?;
                requests.map_or(Ok(()), |count| write!(f, " in {count} requests"))
            }
            Of::Read { device, read_bytes } => {
                write!(f, "other programs read {read_bytes} from {device}")
            }
            Of::Processors { share } => {
                write!(f, "other programs had {:.0} % of the processors' time", 100.0 * share)
            }
            Of::Clock { lowest_hz, highest_hz } => write!(
                f,
                "the highest clock allowed changed between {} and {} MHz",
                lowest_hz / 1_000_000,
                highest_hz / 1_000_000
            ),
            Of::Stated(words) => f.write_str(words),
        }
    }
}

/// The stored form: the sentence beside the figures.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Disturbance"))]
struct Stored {
    /// What it was.
    kind: DisturbanceKind,
    /// Its figures; absent where only the words are known.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    figures: Option<DisturbanceFigures>,
    /// The same in words.
    message: String,
}

impl From<Stored> for Disturbance {
    fn from(stored: Stored) -> Self {
        let Stored { kind, figures, message } = stored;
        Self { kind, figures: figures.unwrap_or(DisturbanceFigures::Stated(message)) }
    }
}

impl From<Disturbance> for Stored {
    fn from(of: Disturbance) -> Self {
        let message = of.to_string();
        let is_told = !matches!(of.figures, DisturbanceFigures::Stated(_));
        Self { kind: of.kind, figures: Some(of.figures).filter(|_| is_told), message }
    }
}

/// What this version knows of a value; nothing of one of a later version.
pub(crate) fn known<'de, D: Deserializer<'de>, T: serde::de::DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(deserializer)?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}
