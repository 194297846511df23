//! SCR: the version of the specification that an SD card follows, its bus widths and commands.
//!
//! SD Physical Layer Simplified Specification 5.6.

use crate::declare::register;
use crate::position::{bit, bits};

register! {
    /// The SD configuration register.
    pub struct Scr("SCR", 8) {
        /// The register's version; 0 is the only one.
        "SCR_STRUCTURE" structure: u8 = bits(63, 60);
        /// The first part of the specification's version.
        "SD_SPEC" spec: u8 = bits(59, 56) => |scr| scr.specification_words();
        /// What erased data reads as.
        "DATA_STAT_AFTER_ERASE" is_erased_to_ones: bool = bit(55)
            => |scr| if scr.is_erased_to_ones { "ones" } else { "zeros" }.to_owned();
        /// The version of copy protection.
        "SD_SECURITY" security: u8 = bits(54, 52) => |scr| scr.security_words().to_owned();
        /// The supported bus widths, one bit each: bit 0 for 1 line, bit 2 for 4 lines.
        "SD_BUS_WIDTHS" bus_widths: u8 = bits(51, 48) => |scr| scr.bus_widths_words();
        /// Version 3.0x or later.
        "SD_SPEC3" is_spec3: bool = bit(47);
        /// The version of extended security.
        "EX_SECURITY" extended_security: u8 = bits(46, 43);
        /// Version 4.xx or later.
        "SD_SPEC4" is_spec4: bool = bit(42);
        /// From version 5 on the version less four.
        "SD_SPECX" specx: u8 = bits(41, 38);
        /// Whether the card knows CMD58 and CMD59, extension registers by several blocks.
        "CMD_SUPPORT (CMD58/59)" has_cmd58: bool = bit(35);
        /// Whether the card knows CMD48 and CMD49, extension registers: queueing, cache and
        /// power-off notification are switched on by them.
        "CMD_SUPPORT (CMD48/49)" has_cmd48: bool = bit(34);
        /// Whether the card knows CMD23, transfers of an announced length.
        "CMD_SUPPORT (CMD23)" has_cmd23: bool = bit(33);
        /// Whether the card knows CMD20, speed class control.
        "CMD_SUPPORT (CMD20)" has_cmd20: bool = bit(32);
    }
}

impl Scr {
    /// The specification's version, such as `6.xx`; `None` where the bits make none.
    #[must_use]
    pub fn specification(&self) -> Option<String> {
        match (self.spec, self.is_spec3, self.is_spec4, self.specx) {
            (0, false, false, 0) => Some("1.0x".to_owned()),
            (1, false, false, 0) => Some("1.10".to_owned()),
            (2, false, false, 0) => Some("2.00".to_owned()),
            (2, true, false, 0) => Some("3.0x".to_owned()),
            (2, true, true, 0) => Some("4.xx".to_owned()),
            (2, true, _, later) => Some(format!("{}.xx", 4 + later)),
            _ => None,
        }
    }

    /// Whether the card can use four data lines.
    #[must_use]
    pub const fn has_four_lines(&self) -> bool {
        self.bus_widths & 4 != 0
    }

    fn specification_words(&self) -> String {
        self.specification().map_or_else(
            || "no known version".to_owned(),
            |version| format!("SD specification {version}"),
        )
    }

    fn bus_widths_words(&self) -> String {
        let one = (self.bus_widths & 1 != 0).then_some("1 bit");
        let four = self.has_four_lines().then_some("4 bits");
        let widths: Vec<&str> = one.into_iter().chain(four).collect();
        widths.join(", ")
    }

    fn security_words(&self) -> &'static str {
        match self.security {
            0 => "none",
            2 => "SDSC (1.01)",
            3 => "SDHC (2.00)",
            4 => "SDXC (3.xx)",
            _ => "reserved",
        }
    }
}
