//! Any bytes as any register, and any text as pasted registers: nothing panics, and a serial
//! number that is masked is masked everywhere.
#![no_main]

use cardproof_registers::{
    ExtCsd, MmcCid, MmcCsd, Ocr, Register, Scr, SdCid, SdCsd, SdStatus, Serials, find_blocks,
    find_life, find_registers, parse_hex,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    show::<SdCid>(data);
    show::<MmcCid>(data);
    show::<SdCsd>(data);
    show::<MmcCsd>(data);
    show::<Scr>(data);
    show::<SdStatus>(data);
    show::<Ocr>(data);
    show::<ExtCsd>(data);
    let text = String::from_utf8_lossy(data);
    let _ = parse_hex(&text);
    let _ = ExtCsd::from_dump(&text, None);
    assert!(find_blocks(&text, 512).iter().all(|block| block.bytes.len() == 512));
    let _ = find_life(&text);
    for register in find_registers(&text).into_iter().flatten() {
        let fields = register.fields(Serials::Masked);
        let serial = fields.iter().find(|field| field.name == "PSN");
        assert!(serial.is_none_or(|field| field.value == "0x********"));
    }
});

/// Decodes and shows the front of `data`, filled up with zeros where it is too short.
fn show<R: Register>(data: &[u8]) {
    let mut bytes = data.to_vec();
    bytes.resize(R::LENGTH_BYTES, 0);
    let shown = R::from_slice(&bytes).map(|register| register.fields(Serials::Shown));
    assert!(shown.is_ok_and(|fields| !fields.is_empty()));
}
