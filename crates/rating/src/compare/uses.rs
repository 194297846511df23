//! What a card is wanted for, and how much each quantity weighs for it.
//!
//! A use is an amount of work: so many operations and bytes of each kind, whose time at the measured
//! rates is the card's figure. Work has a unit that people know, seconds, and no scale to be chosen.
//!
//! - **System** is fitted: over eight published devices (sd-card-bench.sh, 2018) the time of a
//!   desktop install is 162 s + 31,900 / (4 KiB write IOPS) with a mean error of 8 %, and the start
//!   goes with 13,100 / (4 KiB read IOPS); sequential rates say less of either.
//! - **Desktop**, **server** and **retro** are conventions of this project: typical amounts for each
//!   use. Every result shows them, so that a reader can disagree.
//! - **Database** counts transactions of SQLite with its default journal, 4.1 synced writes each.
//! - **Camera** takes the lowest sustained sequential write rate: a recorder must not drop frames once
//!   the cache is full.

use serde::Serialize;

use super::column::Column;
use crate::meaning::SQLITE_FLUSHES;

/// What a card is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// To run a system from, as a Raspberry Pi does.
    System,
    /// To run a desktop from, with a browser and large programs.
    Desktop,
    /// To run services day and night, such as home automation.
    Server,
    /// To keep a database.
    Database,
    /// To record video or to take photos.
    Camera,
    /// To load games from.
    Retro,
}

/// How much of one quantity a use needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// The quantity.
    pub column: Column,
    /// How many operations, or how many bytes.
    pub amount: f64,
}

const fn weight(column: Column, amount: f64) -> Weight {
    Weight { column, amount }
}

const MB: f64 = 1e6;

impl Use {
    /// All uses.
    pub const ALL: [Self; 6] =
        [Self::System, Self::Desktop, Self::Server, Self::Database, Self::Camera, Self::Retro];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Desktop => "desktop",
            Self::Server => "server",
            Self::Database => "database",
            Self::Camera => "camera",
            Self::Retro => "retro",
        }
    }

    /// The unit of its figure.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::System | Self::Desktop | Self::Server | Self::Retro => "s",
            Self::Camera => "MB/s",
            Self::Database => "/s",
        }
    }

    /// Whether a lower figure is better: a time.
    #[must_use]
    pub const fn is_better_low(self) -> bool {
        matches!(self, Self::System | Self::Desktop | Self::Server | Self::Retro)
    }

    /// What it weighs.
    #[must_use]
    pub const fn weights(self) -> &'static [Weight] {
        const SYSTEM: [Weight; 2] =
            [weight(Column::RandomWrite, 32_000.0), weight(Column::RandomRead, 13_000.0)];
        const DESKTOP: [Weight; 4] = [
            weight(Column::RandomRead, 40_000.0),
            weight(Column::RandomWrite, 8_000.0),
            weight(Column::SequentialRead, 500.0 * MB),
            weight(Column::SequentialWrite, 100.0 * MB),
        ];
        const SERVER: [Weight; 3] = [
            weight(Column::SyncedWrite, 20_000.0),
            weight(Column::RandomRead, 10_000.0),
            weight(Column::RandomWrite, 5_000.0),
        ];
        const DATABASE: [Weight; 1] = [weight(Column::SyncedWrite, SQLITE_FLUSHES)];
        const CAMERA: [Weight; 1] = [weight(Column::SustainedWrite, MB)];
        const RETRO: [Weight; 3] = [
            weight(Column::SequentialRead, 1000.0 * MB),
            weight(Column::RandomRead, 10_000.0),
            weight(Column::SyncedWrite, 500.0),
        ];
        match self {
            Self::System => &SYSTEM,
            Self::Desktop => &DESKTOP,
            Self::Server => &SERVER,
            Self::Database => &DATABASE,
            Self::Camera => &CAMERA,
            Self::Retro => &RETRO,
        }
    }

    /// The use's figure from the seconds that its work takes.
    pub(super) fn of_seconds(self, seconds: f64) -> f64 {
        if self.is_better_low() { seconds } else { 1.0 / seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_use_weighs_something_and_says_so() {
        for wanted in Use::ALL {
            assert!(!wanted.weights().is_empty(), "{wanted:?}");
            for Weight { amount, .. } in wanted.weights().iter().filter(|it| it.amount >= 500.0) {
                let is_bytes = *amount >= MB;
                let number = if is_bytes { amount / MB } else { *amount };
                let digits = format!("{number:.0}");
                let plain = wanted.formula().replace(',', "");
                let is_rate = matches!(wanted, Use::Camera);
                assert!(is_rate || plain.contains(&digits), "{wanted:?}: {digits}");
            }
        }
    }
}
