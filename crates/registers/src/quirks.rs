//! Which SD cards and eMMCs the kernel works around, and how: a cache or an erase that is switched off explains
//! a slow card better than any measurement, and a card that loses data by an erase must not be told to trim.
//!
//! A row says what kernels of its kind have done at some time; whether the running one does depends on its
//! version, so what is shown is "may be". Nothing is judged by this list: whether a cache is on is read from the
//! system. The rows are facts from the kernel's published lists; no code of theirs.

mod rows;

pub use rows::{AllowedSince, queue_allowed};

use crate::Month;

/// Whose kernel it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelKind {
    /// Mainline, or a distribution's close to it.
    Mainline,
    /// Raspberry Pi's, which has the mainline's quirks and more.
    RaspberryPi,
}

/// How the releases of Raspberry Pi's kernels end that do not say `rpi` or `rpt`.
const RASPBERRY_PI_ENDINGS: [&str; 6] = ["-v6+", "-v7+", "-v7l+", "-v8+", "-v8-16k+", "-2712+"];

impl KernelKind {
    /// The kind of the kernel whose release is `release`, such as `6.6.31+rpt-rpi-v8`.
    #[must_use]
    pub fn of_release(release: &str) -> Self {
        let has_name = release.contains("-rpi") || release.contains("+rpt");
        if has_name || RASPBERRY_PI_ENDINGS.iter().any(|ending| release.ends_with(ending)) {
            Self::RaspberryPi
        } else {
            Self::Mainline
        }
    }
}

/// What a quirk does to a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The card's cache stays off, which costs an A2 card its random writes.
    CacheOff,
    /// Erasing stays off, so that the card cannot be told what is free.
    EraseOff,
    /// Discards go as erases.
    DiscardOff,
    /// The notice before power goes is not given.
    PowerOffNoticeOff,
    /// The bus is not tuned in DDR50.
    TuningOff,
    /// Each write of several blocks is ended by one command more.
    NoBlockCount,
    /// Trimming stays off.
    TrimOff,
    /// Secure erase and secure trim stay off.
    SecureEraseOff,
}

impl Effect {
    /// The effect in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::CacheOff => "the card's cache may be switched off",
            Self::EraseOff => "erasing and discarding may be switched off",
            Self::DiscardOff => "discards may be sent as erases",
            Self::PowerOffNoticeOff => "the notice before power-off may be left out",
            Self::TuningOff => "the bus may be left untuned in DDR50",
            Self::NoBlockCount => "each write may be ended by one command more (no CMD23)",
            Self::TrimOff => "trimming may be switched off",
            Self::SecureEraseOff => "secure erase and secure trim may be switched off",
        }
    }

    /// Whether cards with this quirk must not be told what is free: an erase or a trim harms them, or does
    /// not work.
    #[must_use]
    pub const fn is_against_trimming(self) -> bool {
        matches!(self, Self::EraseOff | Self::TrimOff)
    }
}

/// A quirk that applies to a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirk {
    /// What it does.
    pub effect: Effect,
    /// What the kernel's developers saw of these cards.
    pub why: &'static str,
    /// Whose list it is from.
    pub source: &'static str,
}

impl Quirk {
    /// The quirk as a sentence for people.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{}: {} ({})", self.effect.words(), self.why, self.source)
    }
}

/// Whether a list is of SD cards or of eMMCs: their makers' numbers are given out apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardKind {
    /// An SD card.
    Sd,
    /// An MMC or eMMC.
    Mmc,
}

/// What of a card's CID the lists look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardIdentity<'card> {
    /// What it is.
    pub kind: CardKind,
    /// The manufacturer's number.
    pub manufacturer_id: u8,
    /// The OEM's number, as the kernel prints it.
    pub oem_id: u16,
    /// The product's name.
    pub product: &'card str,
    /// The hardware and the firmware revision, 0 to 15 each; SD cards only.
    pub revision: Option<(u8, u8)>,
    /// The month of making.
    pub manufactured: Option<Month>,
}

/// The quirks that kernels of kind `kernel` have for the card, one of each effect.
#[must_use]
pub fn quirks_of(card: &CardIdentity<'_>, kernel: KernelKind) -> Vec<Quirk> {
    let mut quirks: Vec<Quirk> = Vec::new();
    for row in rows::of(card).filter(|row| row.is_in(kernel)) {
        if quirks.iter().all(|quirk| quirk.effect != row.effect) {
            quirks.push(Quirk { effect: row.effect, why: row.why, source: row.source() });
        }
    }
    quirks
}

/// Why the card must not be told what is free, by the lists of any kernel: one that has not this row erases all
/// the same. `None` where no list names it.
#[must_use]
pub fn harmed_by_trimming(card: &CardIdentity<'_>) -> Option<Quirk> {
    let row = rows::of(card).find(|row| row.effect.is_against_trimming())?;
    Some(Quirk { effect: row.effect, why: row.why, source: row.source() })
}

/// Whether the list of any kernel says that the card's cache must stay off.
#[must_use]
pub fn has_faulty_cache(card: &CardIdentity<'_>) -> bool {
    rows::of(card).any(|row| row.effect == Effect::CacheOff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(id: (u8, u16), product: &str, made: (u16, u8)) -> CardIdentity<'_> {
        CardIdentity {
            kind: CardKind::Sd,
            manufacturer_id: id.0,
            oem_id: id.1,
            product,
            revision: None,
            manufactured: Month::new(made.0, made.1),
        }
    }

    fn effects(card: &CardIdentity<'_>, kernel: KernelKind) -> Vec<Effect> {
        quirks_of(card, kernel).iter().map(|quirk| quirk.effect).collect()
    }

    #[test]
    fn quirks_apply_to_their_cards_months_and_kernels_only() {
        use Effect::{CacheOff, DiscardOff, EraseOff, NoBlockCount, PowerOffNoticeOff};
        use KernelKind::{Mainline, RaspberryPi};
        let kingston = (0x9f, 0x5449);
        let sandisk = (0x03, 0x5344);
        let phison = (0x27, 0x5048);
        let older = (0x41, 0x3432);
        for (id, product, made, kernel, expected) in [
            (kingston, "SD64G", (2019, 11), Mainline, vec![CacheOff]),
            (kingston, "SD64G", (2019, 12), Mainline, vec![]),
            (kingston, "SD64G", (2019, 11), RaspberryPi, vec![CacheOff]),
            (kingston, "SD32G", (2022, 12), RaspberryPi, vec![CacheOff]),
            (kingston, "SD32G", (2023, 1), RaspberryPi, vec![]),
            ((0x12, 0x3456), "ASTC", (2022, 2), Mainline, vec![CacheOff, PowerOffNoticeOff]),
            ((0x12, 0x3457), "ASTC", (2022, 2), Mainline, vec![]),
            ((0x1b, 0x534d), "ED2S5", (2023, 5), RaspberryPi, vec![CacheOff]),
            ((0x1b, 0x534d), "ED2S5", (2024, 6), RaspberryPi, vec![]),
            ((0x1b, 0x534d), "ED2S5", (2023, 5), Mainline, vec![]),
            (sandisk, "SN64G", (2020, 1), RaspberryPi, vec![DiscardOff, CacheOff]),
            (sandisk, "SN64G", (2021, 1), RaspberryPi, vec![DiscardOff]),
            (phison, "SD64G", (2018, 1), RaspberryPi, vec![EraseOff]),
            (phison, "SD512", (2018, 1), RaspberryPi, vec![EraseOff]),
            (phison, "SD32G", (2018, 1), RaspberryPi, vec![]),
            (phison, "APUSD", (2018, 1), Mainline, vec![NoBlockCount]),
            ((0x09, 0x4150), "AF SD", (2018, 1), Mainline, vec![NoBlockCount]),
            (older, "SD16G", (2018, 1), RaspberryPi, vec![EraseOff]),
            (older, "SD16G", (2018, 1), Mainline, vec![EraseOff]),
            (older, "SD8GB", (2018, 1), RaspberryPi, vec![]),
            (older, "SD128", (2018, 1), RaspberryPi, vec![]),
        ] {
            let card = card(id, product, made);
            assert_eq!(effects(&card, kernel), expected, "{product} {made:?} {kernel:?}");
        }
    }

    #[test]
    fn an_emmc_is_no_sd_card_of_the_same_number() {
        for (manufacturer_id, oem_id, product, expected) in [
            (0x70, 0x0100, "V10008", vec![Effect::TrimOff]),
            (0x70, 0x0157, "V10016", vec![Effect::TrimOff]),
            (0x70, 0x0100, "M62704", vec![Effect::TrimOff]),
            (0x70, 0x0100, "IB2932", vec![]),
            (0x13, 0x014e, "Q2J54A", vec![Effect::TrimOff]),
            (0x15, 0x0100, "VYL00M", vec![Effect::SecureEraseOff]),
            (0x15, 0x0100, "BJTD4R", vec![]),
        ] {
            let emmc = CardIdentity {
                kind: CardKind::Mmc,
                ..card((manufacturer_id, oem_id), product, (2015, 1))
            };
            assert_eq!(effects(&emmc, KernelKind::Mainline), expected, "{product}");
            let sd = CardIdentity { kind: CardKind::Sd, ..emmc };
            assert!(effects(&sd, KernelKind::Mainline).is_empty(), "{product}");
        }
    }

    /// A kernel without the row would erase.
    #[test]
    fn a_card_that_loses_data_by_an_erase_is_known_whatever_kernel_runs() {
        let phison = card((0x27, 0x5048), "SD128", (2018, 1));
        assert!(effects(&phison, KernelKind::Mainline).is_empty());
        assert!(harmed_by_trimming(&phison).is_some());
        assert!(harmed_by_trimming(&card((0x41, 0x3432), "SD32G", (2018, 1))).is_some());
        assert!(harmed_by_trimming(&card((0x03, 0x5344), "SN64G", (2018, 1))).is_none());
    }

    #[test]
    fn a_card_without_a_month_has_no_quirk_of_a_time() {
        let card = CardIdentity { manufactured: None, ..card((0x9f, 0x5449), "SD64G", (2019, 11)) };
        assert!(quirks_of(&card, KernelKind::RaspberryPi).is_empty());
    }

    #[test]
    fn a_kernels_kind_is_known_by_its_release() {
        for release in ["6.6.31+rpt-rpi-v8", "5.15.61-v8+", "6.12.25+rpt-rpi-2712", "6.1.21-v7l+"] {
            assert_eq!(KernelKind::of_release(release), KernelKind::RaspberryPi, "{release}");
        }
        for release in ["6.1.0-18-arm64", "6.8.0-1005-raspi", "", "6.18.5"] {
            assert_eq!(KernelKind::of_release(release), KernelKind::Mainline, "{release}");
        }
    }
}
