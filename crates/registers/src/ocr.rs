//! OCR: the voltages that a card accepts, and whether it is of high capacity.
//!
//! SD Physical Layer Simplified Specification 5.1; JESD84-B51 7.1 has other words for bits 30 and
//! 29 and knows none of 24 and 27. What the kernel's `ocr` file holds is not this register: it is
//! the one voltage that the kernel chose, in the same bits.

use crate::declare::register;
use crate::position::{bit, bits};

register! {
    /// The operation conditions register.
    pub struct Ocr("OCR", 4) {
        /// Whether the card has finished powering up.
        "power up status" is_powered_up: bool = bit(31);
        /// Whether addresses count sectors, which is so above 2 GB.
        "CCS" is_high_capacity: bool = bit(30);
        /// Whether an SD card speaks UHS-II.
        "UHS-II" is_uhs2: bool = bit(29);
        /// Whether an SD card is above 2 TB.
        "CO2T" is_over_2tb: bool = bit(27);
        /// Whether the card agrees to switch to 1.8 V.
        "S18A" accepts_1v8: bool = bit(24);
        /// The accepted voltages from 2.7 V on, one bit for each 0.1 V.
        "voltage window" voltages: u16 = bits(23, 15) => |ocr| ocr.voltage_words();
        /// Whether the card accepts a low voltage (1.70 to 1.95 V on MMC).
        "low voltage" accepts_low_voltage: bool = bit(7);
    }
}

impl Ocr {
    /// The lowest and the highest accepted voltage in millivolts; `None` where none from 2.7 V
    /// on is accepted.
    #[must_use]
    pub fn voltage_millivolts(&self) -> Option<(u32, u32)> {
        let lowest = self.voltages.trailing_zeros();
        let highest = u16::BITS - self.voltages.leading_zeros();
        (self.voltages != 0).then_some((2700 + 100 * lowest, 2700 + 100 * highest))
    }

    fn voltage_words(&self) -> String {
        self.voltage_millivolts().map_or_else(
            || "none".to_owned(),
            |(low, high)| {
                format!(
                    "{}.{} to {}.{} V",
                    low / 1000,
                    low / 100 % 10,
                    high / 1000,
                    high / 100 % 10
                )
            },
        )
    }
}
