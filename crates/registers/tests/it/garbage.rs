//! No bytes and no text make a decoder panic.

use cardproof_registers::{
    ExtCsd, MmcCid, MmcCsd, Ocr, Register, Scr, SdCid, SdCsd, SdStatus, Serials, find_registers,
    parse_hex,
};
use proptest::prelude::*;

/// Decodes `bytes` as `R` if they are long enough, and shows all of it.
fn shown<R: Register>(bytes: &[u8]) -> Option<R> {
    let register = R::from_slice(bytes.get(..R::LENGTH_BYTES)?).unwrap();
    assert!(!register.fields(Serials::Shown).is_empty());
    Some(register)
}

proptest! {
    #[test]
    fn any_bytes_decode(bytes in proptest::collection::vec(any::<u8>(), 512)) {
        shown::<SdCid>(&bytes);
        shown::<SdCsd>(&bytes);
        shown::<Scr>(&bytes);
        shown::<SdStatus>(&bytes);
        shown::<MmcCid>(&bytes);
        shown::<MmcCsd>(&bytes);
        shown::<ExtCsd>(&bytes);
        shown::<Ocr>(&bytes);
    }

    #[test]
    fn any_length_decodes_or_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let length = bytes.len();
        prop_assert_eq!(SdCid::from_slice(&bytes).is_ok(), length == 16);
        prop_assert_eq!(MmcCid::from_slice(&bytes).is_ok(), length == 16);
        prop_assert_eq!(SdCsd::from_slice(&bytes).is_ok(), length == 16);
        prop_assert_eq!(MmcCsd::from_slice(&bytes).is_ok(), length == 16);
        prop_assert_eq!(Scr::from_slice(&bytes).is_ok(), length == 8);
        prop_assert_eq!(SdStatus::from_slice(&bytes).is_ok(), length == 64);
        prop_assert_eq!(Ocr::from_slice(&bytes).is_ok(), length == 4);
        prop_assert_eq!(ExtCsd::from_slice(&bytes).is_ok(), length == 512);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,300}", hexish in "[0-9a-fA-Fx:=\n cidsroe_]{0,300}") {
        for text in [text, hexish] {
            let _ = parse_hex(&text);
            for register in find_registers(&text).into_iter().flatten() {
                prop_assert!(!register.fields(Serials::Masked).is_empty());
            }
        }
    }

    #[test]
    fn hex_text_is_the_bytes_it_was_made_of(bytes in proptest::collection::vec(any::<u8>(), 1..64)) {
        let text: String = bytes.iter().map(|byte| format!("{byte:02X} ")).collect();
        prop_assert_eq!(parse_hex(&text), Ok(bytes));
    }
}
