//! Which SD cards the kernel works around, and how: a cache or an erase that is switched off
//! explains a slow card better than any measurement.
//!
//! A row says what kernels of its kind have done at some time; whether the running one does
//! depends on its version, so what is shown is "may be". Facts from the kernel's published quirk
//! lists (drivers/mmc/core/quirks.h) of the mainline and of Raspberry Pi; no code of theirs.
//! Nothing is judged by this list: whether a cache is on is read from the system.

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
        }
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

/// What of an SD card's CID the quirk lists look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SdIdentity<'card> {
    /// The manufacturer's number.
    pub manufacturer_id: u8,
    /// The OEM's number.
    pub oem_id: u16,
    /// The product's name.
    pub product: &'card str,
    /// The month of making.
    pub manufactured: Option<Month>,
}

/// Which months of making a row is about.
#[derive(Clone, Copy, Debug)]
enum Made {
    Whenever,
    In(u16, u8),
    Between(u16, u16),
}

struct Row {
    manufacturer_id: u8,
    oem_id: u16,
    product: Option<&'static str>,
    made: Made,
    kernel: KernelKind,
    effect: Effect,
    why: &'static str,
}

const HANGS: &str = "cards of this kind and time never end a cache flush";
const LOSES: &str = "cards of this kind lose data by small erases";

const ROWS: [Row; 10] = {
    use Effect::{CacheOff, DiscardOff, EraseOff, PowerOffNoticeOff, TuningOff};
    use KernelKind::{Mainline, RaspberryPi};
    use Made::{Between, In, Whenever};
    [
        row(0x9f, 0x5449, Some("SD64G"), In(2019, 11), Mainline, CacheOff, HANGS),
        row(0x12, 0x3456, Some("ASTC"), In(2022, 2), Mainline, CacheOff, HANGS),
        row(0x12, 0x3456, Some("ASTC"), In(2022, 2), Mainline, PowerOffNoticeOff, HANGS),
        row(
            0x03,
            0x5344,
            None,
            Whenever,
            Mainline,
            DiscardOff,
            "cards of this maker report a discard that does not work",
        ),
        row(
            0x5d,
            0x5342,
            Some("0016G"),
            In(2019, 1),
            Mainline,
            TuningOff,
            "cards of this kind fail after tuning on some hosts",
        ),
        row(0x9f, 0x5449, None, Between(2019, 2022), RaspberryPi, CacheOff, HANGS),
        row(0x1b, 0x534d, None, Between(2023, 2023), RaspberryPi, CacheOff, HANGS),
        row(0x03, 0x5344, None, Between(2019, 2020), RaspberryPi, CacheOff, HANGS),
        row(0x27, 0x5048, None, Whenever, RaspberryPi, EraseOff, LOSES),
        row(0x41, 0x3432, None, Whenever, RaspberryPi, EraseOff, LOSES),
    ]
};

const fn row(
    manufacturer_id: u8,
    oem_id: u16,
    product: Option<&'static str>,
    made: Made,
    kernel: KernelKind,
    effect: Effect,
    why: &'static str,
) -> Row {
    Row { manufacturer_id, oem_id, product, made, kernel, effect, why }
}

/// The quirks that kernels of kind `kernel` have for the SD card, one of each effect.
#[must_use]
pub fn quirks_of(card: &SdIdentity<'_>, kernel: KernelKind) -> Vec<Quirk> {
    let mut quirks: Vec<Quirk> = Vec::new();
    for row in ROWS.iter().filter(|row| row.fits(card) && row.is_in(kernel)) {
        if quirks.iter().all(|quirk| quirk.effect != row.effect) {
            quirks.push(Quirk { effect: row.effect, why: row.why, source: row.source() });
        }
    }
    quirks
}

impl Row {
    fn fits(&self, card: &SdIdentity<'_>) -> bool {
        self.manufacturer_id == card.manufacturer_id
            && self.oem_id == card.oem_id
            && self.product.is_none_or(|product| product == card.product)
            && self.made.fits(card.manufactured)
    }

    fn is_in(&self, kernel: KernelKind) -> bool {
        self.kernel == KernelKind::Mainline || kernel == KernelKind::RaspberryPi
    }

    const fn source(&self) -> &'static str {
        match self.kernel {
            KernelKind::Mainline => "quirk list of the Linux kernel",
            KernelKind::RaspberryPi => "quirk list of Raspberry Pi's kernel",
        }
    }
}

impl Made {
    fn fits(self, made: Option<Month>) -> bool {
        match self {
            Self::Whenever => true,
            Self::In(year, month) => made == Some(Month { year, month }),
            Self::Between(first, last) => {
                made.is_some_and(|made| (first..=last).contains(&made.year))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effects(id: (u8, u16), product: &str, made: (u16, u8), kernel: KernelKind) -> Vec<Effect> {
        let manufactured = Month::new(made.0, made.1);
        let card = SdIdentity { manufacturer_id: id.0, oem_id: id.1, product, manufactured };
        quirks_of(&card, kernel).iter().map(|quirk| quirk.effect).collect()
    }

    #[test]
    fn quirks_apply_to_their_cards_months_and_kernels_only() {
        use Effect::{CacheOff, DiscardOff, EraseOff, PowerOffNoticeOff};
        use KernelKind::{Mainline, RaspberryPi};
        let kingston = (0x9f, 0x5449);
        let sandisk = (0x03, 0x5344);
        for (id, product, made, kernel, expected) in [
            (kingston, "SD64G", (2019, 11), Mainline, vec![CacheOff]),
            (kingston, "SD64G", (2019, 12), Mainline, vec![]),
            (kingston, "SD64G", (2019, 11), RaspberryPi, vec![CacheOff]),
            (kingston, "SD32G", (2022, 12), RaspberryPi, vec![CacheOff]),
            (kingston, "SD32G", (2023, 1), RaspberryPi, vec![]),
            ((0x12, 0x3456), "ASTC", (2022, 2), Mainline, vec![CacheOff, PowerOffNoticeOff]),
            ((0x12, 0x3457), "ASTC", (2022, 2), Mainline, vec![]),
            ((0x1b, 0x534d), "ED2S5", (2023, 5), RaspberryPi, vec![CacheOff]),
            ((0x1b, 0x534d), "ED2S5", (2023, 5), Mainline, vec![]),
            (sandisk, "SN64G", (2020, 1), RaspberryPi, vec![DiscardOff, CacheOff]),
            (sandisk, "SN64G", (2021, 1), RaspberryPi, vec![DiscardOff]),
            ((0x27, 0x5048), "SD32G", (2018, 1), RaspberryPi, vec![EraseOff]),
            ((0x41, 0x3432), "SD16G", (2018, 1), Mainline, vec![]),
        ] {
            assert_eq!(
                effects(id, product, made, kernel),
                expected,
                "{product} {made:?} {kernel:?}"
            );
        }
    }

    #[test]
    fn a_card_without_a_month_has_no_quirk_of_a_time() {
        let card = SdIdentity {
            manufacturer_id: 0x9f,
            oem_id: 0x5449,
            product: "SD64G",
            manufactured: None,
        };
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
