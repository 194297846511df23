//! What readings of a device mean for its health.

use cardproof_evidence::health::judge;
use cardproof_rating::signs::{Attachment, Seen, Signs, SpareBlocks};

use super::{Sourced, life_used};

/// The signs in the latest of `readings`, where all are of one device; `None` where none tells anything.
pub(super) fn latest(readings: &[Sourced]) -> Option<Signs> {
    let cards = readings.iter().filter_map(|it| it.card.as_deref());
    let is_one = cards.collect::<std::collections::HashSet<&str>>().len() <= 1;
    let last = readings.iter().rfind(|it| it.tells_health())?;
    is_one.then(|| last.signs())
}

/// The used life that `readings` of a card tell, where it can be true: at least, and at most in per cent, without an
/// upper end beyond its life. What a drive tells is among its findings.
pub(super) fn life(readings: &[Sourced]) -> Option<(u64, Option<u64>)> {
    let of_cards = readings.iter().filter(|it| it.faults.is_empty()).filter(|it| it.is_sound());
    let used = of_cards.filter_map(life_used).next_back()?;
    let whole = |percent: f64| percent.clamp(0.0, 100.0) as u64;
    let is_over = used.low_percent >= 100.0;
    Some((whole(used.low_percent), (!is_over).then(|| whole(used.high_percent.ceil()))))
}

impl Sourced {
    /// Whether it says anything of the device's health.
    fn tells_health(&self) -> bool {
        self.is_report || !self.reading.values.is_empty() || !self.faults.is_empty()
    }

    /// Whether no value in it is impossible.
    fn is_sound(&self) -> bool {
        judge(&self.reading, None).iter().all(|judged| judged.reason.is_none())
    }

    /// What it means by itself.
    pub(super) fn signs(&self) -> Signs {
        let readings = std::slice::from_ref(self);
        let is_drive = self.is_report || !self.faults.is_empty();
        let has_report = self.is_sound() && self.tells_health();
        Signs::new(&Seen {
            report: self.faults.clone(),
            has_report,
            attachment: self.attachment(is_drive),
            // That a drive is over its rated life is among its findings.
            life_used_percent: life(readings).filter(|(_, high)| !is_drive || high.is_some()),
            spare_blocks: if has_report { self.spare_blocks() } else { SpareBlocks::Untold },
            ..Seen::default()
        })
    }

    /// How the device is attached: a card tells none of an eMMC's registers.
    fn attachment(&self, is_drive: bool) -> Attachment {
        const OF_EMMC: [&str; 3] = ["life_used_a", "life_used_b", "reserve_used"];
        let is_emmc = self.reading.values.iter().any(|value| OF_EMMC.contains(&value.name));
        match (is_drive, is_emmc) {
            (true, _) => Attachment::Drive,
            (false, true) => Attachment::Soldered,
            (false, false) => Attachment::Unknown,
        }
    }

    /// How much of the spare blocks an eMMC has used.
    fn spare_blocks(&self) -> SpareBlocks {
        let reserve = self.reading.values.iter().find(|value| value.name == "reserve_used");
        match reserve.map(|value| value.bounds().0) {
            Some(low) if low >= 90.0 => SpareBlocks::Urgent,
            Some(low) if low >= 80.0 => SpareBlocks::Warning,
            Some(_) => SpareBlocks::Normal,
            None => SpareBlocks::Untold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::raw;

    /// What a card of SanDisk answers to CMD56 of which so much is used.
    fn answer(used_percent: u8) -> Sourced {
        let mut bytes = [0; 512];
        bytes[..8].copy_from_slice(b"DS211122");
        bytes[8] = used_percent;
        raw::of_cmd56(&bytes)
    }

    #[test]
    fn the_life_that_a_card_tells_by_cmd56_is_a_sign_where_it_can_be_true() {
        for (used, expected) in [
            (27, Some((27, Some(28)))),
            (95, Some((95, Some(96)))),
            (100, Some((100, None))),
            (199, None),
        ] {
            assert_eq!(life(&[answer(used)]), expected, "{used} %");
        }
        assert_eq!(life(&[]), None);
    }
}
