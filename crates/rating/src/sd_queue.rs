//! What can be done for the command queue of an SD card on this computer.
//!
//! Only Raspberry Pi's kernel for the Raspberry Pi 5 uses the queue of SD cards (`dtparam=sd_cqe`; raspberrypi/linux
//! pull request 6591). By default, which is the value 1, it does so with cards on its list of working ones. The
//! value 2 is for other A2 cards, with a risk: with some of them, files were read back wrong without an error
//! (raspberrypi/linux issue 6349), or the kernel had to recover the queue again and again (issue 6561).

use cardproof_record::{Conditions, QueueSetting};

/// Boards whose kernel can use the command queue of an SD card, by the beginning of their names.
const BOARDS: [&str; 2] = ["Raspberry Pi 5", "Raspberry Pi Compute Module 5"];

/// The line that tries the queue with cards that are on no list.
pub(crate) const TRY_ALL: &str = "dtparam=sd_cqe=2";

/// What can be done for the command queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueStep {
    /// It is in use.
    InUse,
    /// This computer cannot use the queue of an SD card.
    NotHere,
    /// The card has no queue, or lists name its queue or cache as faulty, so that the kernel leaves it off.
    NotWithThisCard,
    /// The kernel's list has the card, so that a newer kernel uses the queue.
    NewerKernel,
    /// The kernel's list has the card, and a setting switches the queue off.
    RemoveSetting,
    /// The card is on no list: it can be tried at a risk.
    TryAtARisk,
}

/// What can be done for the command queue of the SD card in `conditions`.
pub(crate) fn queue_step(conditions: &Conditions) -> QueueStep {
    let board = conditions.host.board.as_deref().unwrap_or_default();
    let Some(card) = &conditions.device.lowest().card else { return QueueStep::NotHere };
    if card.command_queue.enabled == Some(true) {
        return QueueStep::InUse;
    }
    let is_other_kernel = card.command_queue.kernel == Some(false);
    if is_other_kernel || !BOARDS.iter().any(|name| board.starts_with(name)) {
        return QueueStep::NotHere;
    }
    if card.command_queue.card == Some(false) || card.cache_is_faulty == Some(true) {
        return QueueStep::NotWithThisCard;
    }
    match (card.queue_setting, card.queue_is_trusted) {
        (Some(QueueSetting::AllButFaulty | QueueSetting::OnWithoutList), _) => {
            QueueStep::NotWithThisCard
        }
        (Some(QueueSetting::Off), Some(true)) => QueueStep::RemoveSetting,
        (_, Some(true)) => QueueStep::NewerKernel,
        _ => QueueStep::TryAtARisk,
    }
}

#[cfg(test)]
mod tests {
    use cardproof_record::{CardInfo, DeviceInfo, Feature, HostInfo};

    use super::*;

    fn conditions(board: &str, card: CardInfo) -> Conditions {
        Conditions {
            host: HostInfo { board: Some(board.to_owned()), ..HostInfo::default() },
            device: DeviceInfo { card: Some(card), ..DeviceInfo::default() },
            ..Conditions::default()
        }
    }

    const FIVE: &str = "Raspberry Pi 5 Model B Rev 1.0";

    #[test]
    fn the_setting_of_the_kernel_the_list_and_the_card_decide() {
        use QueueSetting::{AllButFaulty, Off, OnWithoutList, TrustedCards};
        for (board, setting, is_trusted, is_faulty, expected) in [
            (FIVE, Some(TrustedCards), false, false, QueueStep::TryAtARisk),
            (FIVE, None, false, false, QueueStep::TryAtARisk),
            (FIVE, Some(Off), false, false, QueueStep::TryAtARisk),
            (FIVE, Some(Off), true, false, QueueStep::RemoveSetting),
            (FIVE, Some(TrustedCards), true, false, QueueStep::NewerKernel),
            (FIVE, Some(TrustedCards), false, true, QueueStep::NotWithThisCard),
            (FIVE, Some(AllButFaulty), false, false, QueueStep::NotWithThisCard),
            (FIVE, Some(OnWithoutList), false, false, QueueStep::NotWithThisCard),
            ("Raspberry Pi 4 Model B Rev 1.4", None, false, false, QueueStep::NotHere),
            ("FriendlyElec NanoPi M4", None, true, false, QueueStep::NotHere),
        ] {
            let card = CardInfo {
                queue_setting: setting,
                queue_is_trusted: Some(is_trusted),
                cache_is_faulty: Some(is_faulty),
                ..CardInfo::default()
            };
            let step = queue_step(&conditions(board, card));
            assert_eq!(step, expected, "{board} {setting:?} {is_trusted} {is_faulty}");
        }
    }

    #[test]
    fn a_queue_in_use_and_a_card_without_one_need_nothing() {
        let in_use = Feature { enabled: Some(true), ..Feature::default() };
        let card = CardInfo { command_queue: in_use, ..CardInfo::default() };
        assert_eq!(queue_step(&conditions(FIVE, card)), QueueStep::InUse);
        let none = Feature { card: Some(false), ..Feature::default() };
        let card = CardInfo { command_queue: none, ..CardInfo::default() };
        assert_eq!(queue_step(&conditions(FIVE, card)), QueueStep::NotWithThisCard);
    }
}
