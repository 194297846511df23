//! The jobs: what each asks of a card, counted, and where the counts come from.
//!
//! The three package jobs were timed on one board, a NanoPi M4 of 2018, with about 400 packages installed, 150
//! removed and 150 installed again. Their requests are those of our own block traces of such jobs
//! (Debian 12, a desktop of 380 packages, ext4 on a fast machine), per package: 43 134 writes for
//! 380 packages installed, 20 347 for 375 removed, 42 504 for 380 installed again. Reads are left
//! out there: 2 508, 73 and 2 447 of them are less than 2 % of any job's time on any of the cards.

use cardproof_units::Nanos;

use cardproof_facts::PublishedCard;

/// Packages in the timed jobs.
const INSTALLED: f64 = 400.0;
const REMOVED: f64 = 150.0;

/// Reads and writes of a boot: 125 MB in pieces of about 48 KB are read, and up to 1 MB is written,
/// which is at most 244 requests of 4 KiB (counted on several boots, which differ by 8 %).
const BOOT_READS: f64 = 2_600.0;
const BOOT_WRITES: f64 = 244.0;

/// A job that a user waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PredictedJob {
    /// From power to a working system.
    Boot,
    /// About 400 packages of a desktop, for the first time.
    Install,
    /// 150 of them removed.
    Removal,
    /// The same 150 installed again.
    Reinstall,
}

impl PredictedJob {
    /// Every job, in the order in which they were timed.
    pub const ALL: [Self; 4] = [Self::Boot, Self::Install, Self::Removal, Self::Reinstall];

    /// The jobs of the package manager.
    pub(super) const OF_PACKAGES: [Self; 3] = [Self::Install, Self::Removal, Self::Reinstall];

    /// How long it took on `card`.
    #[must_use]
    pub const fn published(self, card: &PublishedCard) -> Nanos {
        match self {
            Self::Boot => card.boot,
            Self::Install => card.desktop_install,
            Self::Removal => card.removal,
            Self::Reinstall => card.reinstall,
        }
    }

    /// Write requests on a fast machine, where none waits long enough to be merged.
    pub(super) const fn writes(self) -> f64 {
        match self {
            Self::Boot => BOOT_WRITES,
            Self::Install => INSTALLED * 43_134.0 / 380.0,
            Self::Removal => REMOVED * 20_347.0 / 375.0,
            Self::Reinstall => REMOVED * 42_504.0 / 380.0,
        }
    }

    /// Read requests, each of about 48 KiB.
    pub(super) const fn reads(self) -> f64 {
        match self {
            Self::Boot => BOOT_READS,
            Self::Install | Self::Removal | Self::Reinstall => 0.0,
        }
    }

    /// Whether its writes wait for one another, so that a slow card merges some. The few writes of
    /// a boot do not.
    pub(super) const fn merges(self) -> bool {
        !matches!(self, Self::Boot)
    }
}
