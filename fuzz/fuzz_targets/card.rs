//! Any text as the description of a simulated card: it is refused with an error that can be shown, or the
//! card can be opened, written to and read within bounds of memory.
#![no_main]

use cardproof_sim::{Keeping, describe};
use cardproof_units::Seed;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    match describe("fuzzed.toml", &text) {
        Ok(card) => drop(card.open(Seed::from_bits(1), Keeping::Nothing)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
