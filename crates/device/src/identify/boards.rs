//! What is known of boards whose card slots are soldered to one design.
//!
//! A fallback where neither debugfs nor the kernel log tells the mode: it says what the slot gives
//! at most, not what was agreed with this card, and a record gets no ceiling from it. Sources:
//! Raspberry Pi's documentation and device trees (the slots of models before the 4 have 3.3 V
//! signals only and so no UHS mode; the 4 has DDR50; the 5 SDR104 and a host with command
//! queueing).

use super::bus_mode::BusMode;

/// The card slot of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The fastest mode that it gives.
    pub(crate) mode: BusMode,
    /// Whether its host controller can queue commands.
    pub(crate) can_queue_commands: bool,
}

/// Models by the beginning of their names, longer ones before those that they begin with.
const SLOTS: [(&str, Slot); 11] = [
    ("Raspberry Pi 500", FIFTH),
    ("Raspberry Pi 400", FOURTH),
    ("Raspberry Pi Compute Module 5", FIFTH),
    ("Raspberry Pi Compute Module 4", FOURTH),
    ("Raspberry Pi 5", FIFTH),
    ("Raspberry Pi 4", FOURTH),
    ("Raspberry Pi 3", EARLIER),
    ("Raspberry Pi 2", EARLIER),
    ("Raspberry Pi Zero", EARLIER),
    ("Raspberry Pi Compute Module", EARLIER),
    ("Raspberry Pi Model", EARLIER),
];

const EARLIER: Slot = Slot { mode: BusMode::SdHighSpeed, can_queue_commands: false };
const FOURTH: Slot = Slot { mode: BusMode::Ddr50, can_queue_commands: false };
const FIFTH: Slot = Slot { mode: BusMode::Sdr104, can_queue_commands: true };

/// The card slot of `board`, where it is known.
pub(crate) fn slot_of(board: &str) -> Option<Slot> {
    SLOTS.iter().find(|(model, _)| board.starts_with(model)).map(|(_, slot)| *slot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_are_known_by_their_models() {
        let mode = |board| slot_of(board).map(|slot| slot.mode);
        assert_eq!(mode("Raspberry Pi Zero 2 W Rev 1.0"), Some(BusMode::SdHighSpeed));
        assert_eq!(mode("Raspberry Pi Compute Module 3 Plus Rev 1.0"), Some(BusMode::SdHighSpeed));
        assert_eq!(mode("Raspberry Pi 4 Model B Rev 1.4"), Some(BusMode::Ddr50));
        assert_eq!(mode("Raspberry Pi 400 Rev 1.0"), Some(BusMode::Ddr50));
        assert_eq!(mode("Raspberry Pi 500 Rev 1.0"), Some(BusMode::Sdr104));
        assert_eq!(mode("FriendlyElec NanoPi M4"), None);
    }
}
