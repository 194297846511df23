//! The facts: what the ledger, the signs and the sensors tell, in base units, each with the reason where it is not
//! known.

use cardproof_rating::ledger::{Day, Outlook, Slower, UsedPercent};
use cardproof_rating::signs::{HealthVerdict, LogRead, Signs};
use cardproof_units::Bytes;
use serde::Serialize;
use serde_json::Value;

/// So many seconds has a day.
const DAY_S: f64 = 86_400.0;

/// An eMMC tells its used life in bands of so many per cent (JESD84-B51, `DEVICE_LIFE_TIME_EST`).
const BAND_PERCENT: u8 = 10;

/// Beyond this, in per cent, the used life has no upper end.
const LIFE_PERCENT: u8 = 100;

/// Why a fact is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The ledger covers too little time.
    TooShort,
    /// The card reports no wear, and no endurance was stated.
    NoWear,
    /// Nothing bounds it on this side.
    NoBound,
    /// This user may not read the kernel's log.
    LogNotPermitted,
    /// There is no kernel log, and the device reports nothing.
    NoLog,
    /// The kernel does not tell.
    NotTold,
    /// The board has no such sensor.
    NoSensor,
}

/// A fact, or why it is not known.
pub(super) type Known = Result<f64, Missing>;

impl Missing {
    /// A word for programs.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooShort => "ledger_too_short",
            Self::NoWear => "no_wear_report",
            Self::NoBound => "no_bound",
            Self::LogNotPermitted => "kernel_log_not_permitted",
            Self::NoLog => "no_kernel_log",
            Self::NotTold => "kernel_does_not_tell",
            Self::NoSensor => "no_sensor",
        }
    }

    /// The reason as a sentence without a full stop.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::TooShort => "the ledger covers too little time",
            Self::NoWear => "the storage reports no wear, and no endurance is stated",
            Self::NoBound => "nothing bounds it on this side",
            Self::LogNotPermitted => "this user may not read the kernel log",
            Self::NoLog => "there is no kernel log, and its wear is not known",
            Self::NotTold => "the kernel does not tell",
            Self::NoSensor => "the board has no such sensor",
        }
    }
}

/// All that is told of a computer and its storage.
#[derive(Clone, Debug)]
pub struct Facts<'f> {
    /// The version of the program.
    pub version: &'f str,
    /// When the facts were gathered, in seconds since 1970.
    pub time_s: u64,
    /// The computer.
    pub machine: MachineFacts<'f>,
    /// The storage that is in it now.
    pub cards: Vec<CardFacts<'f>>,
}

/// Power and heat of the computer.
#[derive(Clone, Debug, Default)]
pub struct MachineFacts<'f> {
    /// Raspberry Pi's flags of power and heat (documentation of `get_throttled`).
    pub throttled_flags: Option<u32>,
    /// Whether the supply is too low now, by the flags or by a sensor.
    pub is_under_voltage: Option<bool>,
    /// Each sensor with thousandths of a degree Celsius.
    pub temperatures: Vec<(&'f str, i32)>,
}

/// One storage device.
#[derive(Clone, Debug)]
pub struct CardFacts<'f> {
    /// The kernel's name, such as `mmcblk0`.
    pub device: &'f str,
    /// What its maker calls it.
    pub product: Option<&'f str>,
    /// How it is attached, such as `sd`.
    pub transport: Option<&'f str>,
    /// Its capacity.
    pub size: Option<Bytes>,
    /// What the ledger has summed up.
    pub totals: &'f Day,
    /// What follows from the ledger.
    pub outlook: &'f Outlook,
    /// The signs of trouble.
    pub signs: &'f Signs,
}

/// The bits of the flags, with what they mean; 16 bits further up stands what has been since the start.
pub(super) const THROTTLING: [(u32, &str); 4] = [
    (0, "under_voltage"),
    (1, "frequency_capped"),
    (2, "throttled"),
    (3, "soft_temperature_limit"),
];

impl MachineFacts<'_> {
    /// Whether the supply is too low now, as 0 or 1.
    pub(super) fn under_voltage(&self) -> Known {
        self.is_under_voltage.map(flag).ok_or(Missing::NoSensor)
    }

    /// Whether the processor is slowed down now, as 0 or 1.
    pub(super) fn throttled(&self) -> Known {
        let slowed = |flags: u32| flag(flags & 0b1110 != 0);
        self.throttled_flags.map(slowed).ok_or(Missing::NoSensor)
    }

    /// The highest temperature, in degrees Celsius.
    pub(super) fn temperature_celsius(&self) -> Known {
        let degrees = self.temperatures.iter().map(|(_, degrees)| f64::from(*degrees) / 1000.0);
        degrees.reduce(f64::max).ok_or(Missing::NoSensor)
    }
}

impl CardFacts<'_> {
    pub(super) fn size_bytes(&self) -> Known {
        self.size.map(Bytes::as_f64).ok_or(Missing::NotTold)
    }

    pub(super) const fn written_bytes(&self) -> f64 {
        self.totals.counters.sectors_written as f64 * 512.0
    }

    pub(super) const fn read_bytes(&self) -> f64 {
        self.totals.counters.sectors_read as f64 * 512.0
    }

    /// Bytes written in a second of running: the mean of the last days.
    pub(super) fn pace(&self) -> Known {
        let pace = self.outlook.pace.ok_or(Missing::TooShort)?;
        Ok(pace.bytes_a_day.as_f64() / DAY_S)
    }

    /// The lower end of its 95 % interval.
    pub(super) fn pace_low(&self) -> Known {
        let low = self.outlook.pace.and_then(|pace| pace.low);
        low.map(|bytes| bytes.as_f64() / DAY_S).ok_or(Missing::TooShort)
    }

    /// The upper end of its 95 % interval.
    pub(super) fn pace_high(&self) -> Known {
        let high = self.outlook.pace.and_then(|pace| pace.high);
        high.map(|bytes| bytes.as_f64() / DAY_S).ok_or(Missing::TooShort)
    }

    /// The share of its life that is used, at least.
    pub(super) fn life_used_low(&self) -> Known {
        match self.outlook.used.ok_or(Missing::NoWear)? {
            UsedPercent::Card { used_percent_max } => {
                Ok(f64::from(used_percent_max.saturating_sub(BAND_PERCENT)) / 100.0)
            }
            UsedPercent::Stated { used_percent_min } => Ok(used_percent_min / 100.0),
        }
    }

    /// The same, at most.
    pub(super) fn life_used_high(&self) -> Known {
        match self.outlook.used.ok_or(Missing::NoWear)? {
            UsedPercent::Card { used_percent_max } if used_percent_max <= LIFE_PERCENT => {
                Ok(f64::from(used_percent_max) / 100.0)
            }
            UsedPercent::Card { .. } | UsedPercent::Stated { .. } => Err(Missing::NoBound),
        }
    }

    /// The time left at this pace, at least, in seconds.
    pub(super) fn life_left_low(&self) -> Known {
        self.life_left(self.outlook.days_left_min, self.outlook.days_left_max)
    }

    /// The same, at most.
    pub(super) fn life_left_high(&self) -> Known {
        self.life_left(self.outlook.days_left_max, self.outlook.days_left_min)
    }

    fn life_left(&self, days: Option<f64>, other: Option<f64>) -> Known {
        self.outlook.used.ok_or(Missing::NoWear)?;
        let why = if other.is_some() { Missing::NoBound } else { Missing::TooShort };
        days.map(|days| days * DAY_S).ok_or(why)
    }

    /// How many times as long a request takes as when the card was new.
    pub(super) const fn request_time(&self) -> Known {
        match self.outlook.slower {
            Slower::NotKnown { .. } => Err(Missing::TooShort),
            Slower::NotSlower { ratio } | Slower::Slower { ratio } => Ok(ratio),
        }
    }

    /// Whether it is slower than when it was new, as 0 or 1.
    pub(super) const fn is_slower(&self) -> Known {
        match self.outlook.slower {
            Slower::NotKnown { .. } => Err(Missing::TooShort),
            Slower::NotSlower { .. } => Ok(0.0),
            Slower::Slower { .. } => Ok(1.0),
        }
    }

    /// The verdict of the signs, or why there is none.
    pub(super) const fn verdict(&self) -> Result<HealthVerdict, Missing> {
        match (self.signs.verdict, self.signs.log) {
            (HealthVerdict::NotKnown, LogRead::NotPermitted) => Err(Missing::LogNotPermitted),
            (HealthVerdict::NotKnown, _) => Err(Missing::NoLog),
            (verdict, _) => Ok(verdict),
        }
    }

    /// Whether the data are at risk, as 0 or 1.
    pub(super) fn is_at_risk(&self) -> Known {
        self.verdict().map(|_| flag(self.signs.is_bad()))
    }

    /// How far back the kernel's log was read, in seconds.
    pub(super) fn log_seconds(&self) -> Known {
        match self.signs.log {
            LogRead::Read { .. } => {
                self.signs.log.days().map(|days| days as f64 * DAY_S).ok_or(Missing::NotTold)
            }
            LogRead::NotPermitted => Err(Missing::LogNotPermitted),
            LogRead::Lines | LogRead::Absent => Err(Missing::NoLog),
        }
    }
}

/// `is_so` as 0 or 1.
pub(super) const fn flag(is_so: bool) -> f64 {
    if is_so { 1.0 } else { 0.0 }
}

/// A value of a published form as the word that stands for it there.
pub(super) fn word(value: &impl Serialize) -> String {
    let word = serde_json::to_value(value).ok();
    word.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// All verdicts, the best first.
pub(super) const VERDICTS: [HealthVerdict; 5] = [
    HealthVerdict::Fine,
    HealthVerdict::WatchIt,
    HealthVerdict::CopyNow,
    HealthVerdict::Dead,
    HealthVerdict::NotKnown,
];
