//! The rows of the kernel's lists.
//!
//! Sources: `drivers/mmc/core/quirks.h` of the mainline, and of Raspberry Pi's kernel 6.18 (read in
//! github.com/greearb/rpi5-6.18-ct at df08c95); raspberrypi/linux pull requests 6591 and 7379 for the
//! list of cards whose command queue is trusted.

use super::{CardIdentity, CardKind, Effect, KernelKind};
use crate::Month;

/// Which months of making a row is about.
#[derive(Clone, Copy, Debug)]
enum Made {
    Whenever,
    In(u16, u8),
    Between(u16, u16),
}

/// A row of the kernel's lists of cards with a fault.
pub(super) struct Row {
    kind: CardKind,
    manufacturer_id: u8,
    oem_id: Option<u16>,
    product: Option<&'static str>,
    made: Made,
    kernel: KernelKind,
    pub(super) effect: Effect,
    pub(super) why: &'static str,
}

const HANGS: &str = "cards of this kind and time never end a cache flush";
const LOSES: &str = "cards of this kind lose data by small erases";
const TRASHES: &str = "erases of cards of this kind destroy data nearby";
const LOCKS_UP: &str = "cards of this kind lock up when writes announce their length";
const TRIM_CORRUPTS: &str = "a trim of devices of this kind can destroy data";
const TRIM_FAILS: &str = "devices of this kind announce a trim that does not work";
const SECURE_CORRUPTS: &str = "a secure erase of devices of this kind can destroy data";

use Effect::{
    CacheOff, DiscardOff, EraseOff, NoBlockCount, PowerOffNoticeOff, SecureEraseOff, TrimOff,
    TuningOff,
};
use KernelKind::{Mainline, RaspberryPi};
use Made::{Between, In, Whenever};

const ROWS: [Row; 29] = [
    sd(0x9f, 0x5449, Some("SD64G"), In(2019, 11), Mainline, CacheOff, HANGS),
    sd(0x12, 0x3456, Some("ASTC"), In(2022, 2), Mainline, CacheOff, HANGS),
    sd(0x12, 0x3456, Some("ASTC"), In(2022, 2), Mainline, PowerOffNoticeOff, HANGS),
    sd(
        0x03,
        0x5344,
        None,
        Whenever,
        Mainline,
        DiscardOff,
        "cards of this maker report a discard that does not work",
    ),
    sd(
        0x5d,
        0x5342,
        Some("0016G"),
        In(2019, 1),
        Mainline,
        TuningOff,
        "cards of this kind fail after tuning on some hosts",
    ),
    sd(0x9f, 0x5449, None, Between(2019, 2022), RaspberryPi, CacheOff, HANGS),
    sd(0x1b, 0x534d, None, Between(2023, 2023), RaspberryPi, CacheOff, HANGS),
    sd(0x03, 0x5344, None, Between(2019, 2020), RaspberryPi, CacheOff, HANGS),
    sd(0x27, 0x5048, Some("SD64G"), Whenever, RaspberryPi, EraseOff, TRASHES),
    sd(0x27, 0x5048, Some("SD128"), Whenever, RaspberryPi, EraseOff, TRASHES),
    sd(0x27, 0x5048, Some("SD256"), Whenever, RaspberryPi, EraseOff, TRASHES),
    sd(0x27, 0x5048, Some("SD512"), Whenever, RaspberryPi, EraseOff, TRASHES),
    sd(0x41, 0x3432, Some("SD16G"), Whenever, Mainline, EraseOff, LOSES),
    sd(0x41, 0x3432, Some("SD32G"), Whenever, Mainline, EraseOff, LOSES),
    sd(0x41, 0x3432, Some("SD64G"), Whenever, Mainline, EraseOff, LOSES),
    Row { oem_id: None, ..sd(0x09, 0, Some("AF SD"), Whenever, Mainline, NoBlockCount, LOCKS_UP) },
    sd(0x27, 0x5048, Some("APUSD"), Whenever, Mainline, NoBlockCount, LOCKS_UP),
    emmc(0x70, None, "V10008", TrimOff, TRIM_CORRUPTS),
    emmc(0x70, None, "V10016", TrimOff, TRIM_CORRUPTS),
    emmc(0x70, Some(0x0100), "M62704", TrimOff, TRIM_FAILS),
    emmc(0x13, Some(0x014e), "Q2J54A", TrimOff, TRIM_FAILS),
    emmc(0x15, None, "M8G2FA", SecureEraseOff, SECURE_CORRUPTS),
    emmc(0x15, None, "MAG4FA", SecureEraseOff, SECURE_CORRUPTS),
    emmc(0x15, None, "MBG8FA", SecureEraseOff, SECURE_CORRUPTS),
    emmc(0x15, None, "MCGAFA", SecureEraseOff, SECURE_CORRUPTS),
    emmc(0x15, None, "VAL00M", SecureEraseOff, SECURE_CORRUPTS),
    emmc(0x15, None, "VYL00M", SecureEraseOff, SECURE_CORRUPTS),
    emmc(0x15, None, "KYL00M", SecureEraseOff, SECURE_CORRUPTS),
    emmc(0x15, None, "VZL00M", SecureEraseOff, SECURE_CORRUPTS),
];

const fn sd(
    manufacturer_id: u8,
    oem_id: u16,
    product: Option<&'static str>,
    made: Made,
    kernel: KernelKind,
    effect: Effect,
    why: &'static str,
) -> Row {
    let (kind, oem_id) = (CardKind::Sd, Some(oem_id));
    Row { kind, manufacturer_id, oem_id, product, made, kernel, effect, why }
}

const fn emmc(
    manufacturer_id: u8,
    oem_id: Option<u16>,
    product: &'static str,
    effect: Effect,
    why: &'static str,
) -> Row {
    Row {
        kind: CardKind::Mmc,
        manufacturer_id,
        oem_id,
        product: Some(product),
        made: Whenever,
        kernel: Mainline,
        effect,
        why,
    }
}

/// The rows that name `card`, of all kernels.
pub(super) fn of<'c>(card: &'c CardIdentity<'_>) -> impl Iterator<Item = &'static Row> + 'c {
    ROWS.iter().filter(|row| row.fits(card))
}

impl Row {
    fn fits(&self, card: &CardIdentity<'_>) -> bool {
        self.kind == card.kind
            && self.manufacturer_id == card.manufacturer_id
            && self.oem_id.is_none_or(|oem_id| oem_id == card.oem_id)
            && self.product.is_none_or(|product| product == card.product)
            && self.made.fits(card.manufactured)
    }

    pub(super) fn is_in(&self, kernel: KernelKind) -> bool {
        self.kernel == Mainline || kernel == RaspberryPi
    }

    pub(super) const fn source(&self) -> &'static str {
        match self.kernel {
            Mainline => "quirk list of the Linux kernel",
            RaspberryPi => "quirk list of Raspberry Pi's kernel",
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

/// A row of the list of SD cards whose command queue Raspberry Pi's kernel trusts.
struct Allowed {
    manufacturer_id: u8,
    oem_id: u16,
    /// Hardware revision, firmware revision, year and month of making: this or later, compared in this order.
    from: (u8, u8, u16, u8),
    since: AllowedSince,
}

/// Since when the list has a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowedSince {
    /// The year in which the row was merged.
    pub year: u16,
    /// The month of it.
    pub month: u8,
}

const ALLOWED: [Allowed; 2] = [
    // Raspberry Pi's own A2 cards. Amazon Basics has the same numbers, and these cards fail the kernel's check for
    // the functions of A2.
    Allowed {
        manufacturer_id: 0xad,
        oem_id: 0x4c53,
        from: (1, 0, 0, 0),
        since: AllowedSince { year: 2025, month: 1 },
    },
    Allowed {
        manufacturer_id: 0x74,
        oem_id: 0x4a60,
        from: (2, 0, 2026, 4),
        since: AllowedSince { year: 2026, month: 5 },
    },
];

/// Since when Raspberry Pi's kernel has the SD card on its list of those whose command queue it uses by default;
/// `None` where it has not, or where the card's revision is not known.
#[must_use]
pub fn queue_allowed(card: &CardIdentity<'_>) -> Option<AllowedSince> {
    if card.kind != CardKind::Sd {
        return None;
    }
    let (hardware, firmware) = card.revision?;
    let made = card.manufactured.map_or((0, 0), |made| (made.year, made.month));
    let own = (hardware, firmware, made.0, made.1);
    let is_listed = |row: &&Allowed| {
        row.manufacturer_id == card.manufacturer_id && row.oem_id == card.oem_id && own >= row.from
    };
    ALLOWED.iter().find(is_listed).map(|row| row.since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_trusted_queues_goes_by_revision_and_month() {
        for (manufacturer_id, oem_id, revision, made, is_allowed) in [
            (0xad, 0x4c53, (1, 1), (2024, 1), true),
            (0xad, 0x4c53, (1, 0), (2023, 9), true),
            (0xad, 0x4c53, (0, 9), (2024, 1), false),
            (0x74, 0x4a60, (2, 0), (2026, 4), true),
            (0x74, 0x4a60, (2, 0), (2026, 3), false),
            (0x74, 0x4a60, (2, 1), (2020, 1), true),
            (0x74, 0x4a60, (1, 9), (2026, 9), false),
            (0x74, 0x4a45, (9, 9), (2026, 9), false),
            (0x03, 0x5344, (8, 6), (2024, 5), false),
            (0x1b, 0x534d, (3, 0), (2024, 6), false),
        ] {
            let card = CardIdentity {
                kind: CardKind::Sd,
                manufacturer_id,
                oem_id,
                product: "SD64G",
                revision: Some(revision),
                manufactured: Month::new(made.0, made.1),
            };
            assert_eq!(queue_allowed(&card).is_some(), is_allowed, "{card:x?}");
            let emmc = CardIdentity { kind: CardKind::Mmc, ..card };
            assert_eq!(queue_allowed(&emmc), None);
        }
    }
}
