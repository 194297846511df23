//! What EXT_CSD's codes stand for, in words.
//!
//! JESD84-B51 7.4: tables of BUS_WIDTH, DEVICE_TYPE, SEC_FEATURE_SUPPORT and the life estimates.

use cardproof_units::Bytes;

/// The modes of DEVICE_TYPE's bits, the lowest first.
const MODES: [&str; 8] = [
    "HS 26 MHz",
    "HS 52 MHz",
    "DDR52 at 1.8 or 3 V",
    "DDR52 at 1.2 V",
    "HS200 at 1.8 V",
    "HS200 at 1.2 V",
    "HS400 at 1.8 V",
    "HS400 at 1.2 V",
];

/// The ways of erasing in SEC_FEATURE_SUPPORT: the bit and its word.
const ERASE_FEATURES: [(u8, &str); 4] =
    [(0, "secure erase"), (2, "secure removal"), (4, "trim"), (6, "sanitise")];

pub(super) const fn on_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

pub(super) const fn yes_no(is_so: bool) -> &'static str {
    if is_so { "supported" } else { "not supported" }
}

pub(super) fn size(size: Bytes) -> String {
    if size.get() > 0 && size.is_multiple_of(Bytes::mib(1)) {
        format!("{} MiB", size.get() >> 20)
    } else {
        format!("{} KiB", size.get() >> 10)
    }
}

pub(super) const fn bus_width(code: u8) -> &'static str {
    match code {
        0 => "1 bit",
        1 => "4 bits",
        2 => "8 bits",
        5 => "4 bits, both edges",
        6 => "8 bits, both edges",
        0x86 => "8 bits, both edges, enhanced strobe",
        _ => "reserved",
    }
}

pub(super) fn modes(device_type: u8) -> String {
    let modes = MODES.iter().enumerate().filter(|(bit, _)| device_type >> bit & 1 == 1);
    modes.map(|(_, mode)| *mode).collect::<Vec<_>>().join(", ")
}

pub(super) fn erase_features(features: u8) -> String {
    let words = ERASE_FEATURES.iter().filter(|(bit, _)| features >> bit & 1 == 1);
    words.map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
}

pub(super) fn life(code: u8) -> String {
    match code {
        0 => "not given".to_owned(),
        1..=0xa => format!("{} to {} % used", (code - 1) * 10, code * 10),
        0xb => "exceeded".to_owned(),
        _ => "reserved".to_owned(),
    }
}
