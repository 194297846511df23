//! What the way to the storage lets through at most, whatever the storage can do.
//!
//! **Bytes.** The ceiling of a card's bus is its clock, times the bits on all lines in a clock.
//! Long transfers reach 85 to 92 % of it: commands, checksums, gaps and the driver take the rest
//! (measured on a Raspberry Pi 4 in DDR50: 43 to 44 of 50 MB/s; on a Pi 3 in high speed: 22 of
//! 25). That band is for cards only; for other links the ceiling stands alone.
//!
//! **Operations.** Every block of 512 bytes goes over each data line as one start bit, its share
//! of the bits, a checksum of 16 bits and an end bit; where both edges carry data the bits and
//! the checksum take half the clocks (SD Physical Layer Simplified Specification, 4.6 and 7.2;
//! JESD84-B51, 6.8). A read of 4 KiB without command queueing also needs its command and the
//! response, 48 clocks each, with at least two clocks between them (4.12). The time the card
//! needs to find the data is not in this, nor the driver's, so the result is a bound that nothing
//! can pass, and no promise. With command queueing the commands of the next operation travel
//! while data does, so only the data counts. For links other than a card's bus the frames differ
//! and only the bytes' own time is taken: the bound is then higher than need be, and still one.

use cardproof_record::BusInfo;
use cardproof_units::Bytes;
use serde::Serialize;

use super::boards::Slot;
use super::bus_mode::BusMode;
use super::mmc_host::{DEBUGFS, bus_rate, bus_words};

/// The share of a card bus's ceiling that long transfers reach, in percent.
const REALISTIC_PERCENT: (u64, u64) = (85, 92);

/// The operation for which a bound is given.
const OPERATION: Bytes = Bytes::kib(4);

/// How sure a ceiling is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CeilingSource {
    /// The mode and its clock were read.
    Read,
    /// The mode was read; its clock or width is the highest of the mode.
    Mode,
    /// Neither was: it is what the board's slot is known to give at most.
    Board,
    /// The kernel tells the speed of the link.
    Link,
}

/// The most that the way to the storage lets through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ceiling {
    /// In bytes a second: no transfer is faster.
    pub bytes_per_s: u64,
    /// What long transfers reach of it, lower end; cards only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realistic_low_bytes_per_s: Option<u64>,
    /// What long transfers reach of it, upper end; cards only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realistic_high_bytes_per_s: Option<u64>,
    /// The most operations of 4 KiB a second, from the time on the wires alone.
    pub operations_4k_per_s: u64,
    /// What sets it, in words.
    pub set_by: String,
    /// How sure it is.
    pub source: CeilingSource,
}

impl Ceiling {
    /// The ceiling of a card's bus that was read.
    pub(crate) fn of_bus(bus: &BusInfo, queues_commands: bool) -> Option<Self> {
        let mode = BusMode::of_name(bus.mode.as_deref()?)?;
        if let Some(rate) = mode.serial_rate() {
            let operations = rate.get() / OPERATION.get();
            return Some(Self::of_card(rate, operations, mode.name().to_owned()));
        }
        let clock_hz = bus.clock_hz.unwrap_or_else(|| mode.clock_max_hz());
        let width = bus.width_bits.unwrap_or_else(|| mode.width_max_bits());
        let clocks = clocks_of_operation(mode, width, queues_commands)?;
        let is_whole = bus.clock_hz.is_some() && bus.width_bits.is_some();
        let is_read = is_whole && bus.source.as_deref() == Some(DEBUGFS);
        Some(Self {
            source: if is_read { CeilingSource::Read } else { CeilingSource::Mode },
            ..Self::of_card(bus_rate(bus)?, clock_hz / clocks, bus_words(bus)?)
        })
    }

    /// The ceiling of a board's slot, where the bus itself could not be read.
    pub(crate) fn of_slot(slot: Slot, board: &str) -> Option<Self> {
        let mode = Some(slot.mode.name().to_owned());
        let bus = BusInfo { mode, ..BusInfo::default() };
        let mut ceiling = Self::of_bus(&bus, slot.can_queue_commands)?;
        ceiling.source = CeilingSource::Board;
        ceiling.set_by = format!("{} at most, the card slot of {board}", slot.mode.name());
        Some(ceiling)
    }

    /// The ceiling of a link whose speed the kernel tells.
    pub(crate) fn of_link(bytes_per_s: u64, words: &str) -> Self {
        Self {
            bytes_per_s,
            realistic_low_bytes_per_s: None,
            realistic_high_bytes_per_s: None,
            operations_4k_per_s: bytes_per_s / OPERATION.get(),
            set_by: words.to_owned(),
            source: CeilingSource::Link,
        }
    }

    fn of_card(rate: Bytes, operations_4k_per_s: u64, set_by: String) -> Self {
        let share =
            |percent: u64| Some((u128::from(rate.get()) * u128::from(percent) / 100) as u64);
        Self {
            bytes_per_s: rate.get(),
            realistic_low_bytes_per_s: share(REALISTIC_PERCENT.0),
            realistic_high_bytes_per_s: share(REALISTIC_PERCENT.1),
            operations_4k_per_s,
            set_by,
            source: CeilingSource::Mode,
        }
    }
}

/// The clocks for which a read of 4 KiB holds the bus at least.
fn clocks_of_operation(mode: BusMode, width_bits: u8, queues_commands: bool) -> Option<u64> {
    const BLOCK_BITS: u64 = 512 * 8;
    const CHECKSUM_BITS: u64 = 16;
    const START_AND_END: u64 = 2;
    const COMMAND_AND_RESPONSE: u64 = 48 + 2 + 48;
    let on_each_line = BLOCK_BITS.checked_div(u64::from(width_bits))? + CHECKSUM_BITS;
    let block = on_each_line / mode.bits_per_clock() + START_AND_END;
    let command = if queues_commands { 0 } else { COMMAND_AND_RESPONSE };
    Some(block * (OPERATION.get() / 512) + command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bus(mode: BusMode, clock_hz: u64, width_bits: u8) -> BusInfo {
        BusInfo {
            mode: Some(mode.name().to_owned()),
            clock_hz: Some(clock_hz),
            width_bits: Some(width_bits),
            source: Some(DEBUGFS.to_owned()),
            ..BusInfo::default()
        }
    }

    #[test]
    fn measured_cards_are_within_the_band() {
        let band = |bus| {
            let ceiling = Ceiling::of_bus(&bus, false).unwrap();
            let mb = |rate: Option<u64>| rate.unwrap() as f64 / 1e6;
            (mb(ceiling.realistic_low_bytes_per_s), mb(ceiling.realistic_high_bytes_per_s))
        };
        let (low, high) = band(bus(BusMode::Ddr50, 50_000_000, 4));
        assert!(low <= 43.0 && 44.0 <= high, "{low} to {high}");
        let (low, high) = band(bus(BusMode::SdHighSpeed, 50_000_000, 4));
        assert!(low <= 22.0 && 22.0 <= high, "{low} to {high}");
    }

    #[test]
    fn an_operation_holds_the_bus_for_its_bits() {
        // Eight blocks of 1 + 1024 + 16 + 1 clocks, a command and its response.
        assert_eq!(clocks_of_operation(BusMode::Sdr104, 4, false), Some(8 * 1042 + 98));
        assert_eq!(clocks_of_operation(BusMode::Sdr104, 4, true), Some(8 * 1042));
        assert_eq!(clocks_of_operation(BusMode::Ddr50, 4, true), Some(8 * 522));
        assert_eq!(clocks_of_operation(BusMode::Ddr50, 0, true), None);
        let ceiling = Ceiling::of_bus(&bus(BusMode::Sdr104, 200_000_000, 4), false).unwrap();
        assert_eq!(ceiling.operations_4k_per_s, 200_000_000 / 8434);
        assert_eq!(ceiling.source, CeilingSource::Read);
    }

    #[test]
    fn what_a_board_gives_is_marked_as_such() {
        let slot = super::super::boards::slot_of("Raspberry Pi 3").unwrap();
        let ceiling = Ceiling::of_slot(slot, "Raspberry Pi 3").unwrap();
        assert_eq!((ceiling.bytes_per_s, ceiling.source), (25_000_000, CeilingSource::Board));
    }
}
