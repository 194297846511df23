//! What of the registers gets into a record, and what does not.

use cardproof_device::{MmcRegisters, SdRegisters};
use cardproof_record::CardInfo;
use cardproof_registers::{ExtCsd, MmcCid, MmcCsd, Register, Scr, SdCid, SdCsd, SdStatus};
use cardproof_units::Bytes;
use proptest::prelude::*;

/// The SD Status of an A2, V30, U3, C10 card with a queue of 32 and a cache.
fn a2_status() -> SdStatus {
    let mut register = [0; 64];
    (register[0], register[8], register[10], register[14]) = (0x80, 4, 0x90, 0x39);
    (register[15], register[21], register[22]) = (30, 2, 0xff);
    SdStatus::decode(&register)
}

fn sd_info(ssr: Option<SdStatus>) -> CardInfo {
    let registers = SdRegisters {
        cid: SdCid::from_hex("035344534E363447867E650771016B8D").ok(),
        csd: SdCsd::from_hex("400E0032DB790001DBD37F800A4040F9").ok(),
        scr: Scr::from_hex("0245848700000000").ok(),
        ssr,
    };
    let mut info = CardInfo::default();
    registers.fill(&mut info);
    info
}

#[test]
fn an_sd_card() {
    let info = sd_info(Some(a2_status()));
    assert_eq!(info.manufacturer_id.as_deref(), Some("0x03"));
    assert_eq!(info.oem_id.as_deref(), Some("0x5344"));
    assert_eq!(info.maker_maybe.as_deref(), Some("SanDisk (Western Digital)"));
    assert_eq!(info.product.as_deref(), Some("SN64G"));
    assert_eq!(info.manufactured.as_deref(), Some("2022-11"));
    assert_eq!(info.specification.as_deref(), Some("6.xx"));
    assert_eq!(info.capacity_bytes, Some(Bytes(63_864_569_856)));
    assert_eq!(info.write_protected, Some(false));
    let claims = info.claims;
    let claims =
        (claims.speed_class, claims.uhs_grade, claims.video_class, claims.application_class);
    assert_eq!(claims, (Some(10), Some(3), Some(30), Some(2)));
    assert_eq!(info.allocation_unit_bytes, Some(Bytes::mib(4)));
    assert_eq!((info.command_queue.card, info.cache.card), (Some(true), Some(true)));
    assert_eq!((info.command_queue_depth, info.command_queue.enabled), (Some(32), None));
}

#[test]
fn a_record_never_holds_the_serial_number() {
    let text = serde_json::to_string(&sd_info(Some(a2_status()))).unwrap().to_lowercase();
    assert!(!text.contains("7e650771") && !text.contains("2120550257"), "{text}");
}

#[test]
fn a_status_that_could_not_be_read_claims_nothing_and_denies_nothing() {
    let info = sd_info(Some(SdStatus::decode(&[0; 64])));
    assert_eq!((info.command_queue.card, info.cache.card), (None, None));
    assert_eq!(info, sd_info(None));
}

#[test]
fn an_emmc() {
    let mut cid = [0; 16];
    (cid[0], cid[2]) = (0x15, 0x00);
    cid[1] = 0x01;
    cid[3..9].copy_from_slice(b"8GTF4R");
    cid[14] = 0x42;
    let mut ext_csd = [0; 512];
    for (byte, value) in
        [(192, 8), (212, 1), (215, 1), (224, 1), (267, 1), (268, 2), (269, 4), (307, 15), (308, 1)]
    {
        ext_csd[byte] = value;
    }
    let mut info = CardInfo::default();
    MmcRegisters {
        cid: Some(MmcCid::decode(&cid)),
        csd: Some(MmcCsd::decode(&[0; 16])),
        ext_csd: Some(ExtCsd::decode(&ext_csd)),
    }
    .fill(&mut info);
    assert_eq!(info.oem_id.as_deref(), Some("0x0100"));
    assert_eq!(info.maker_maybe.as_deref(), Some("Samsung"));
    assert_eq!(info.product.as_deref(), Some("8GTF4R"));
    assert_eq!(info.manufactured.as_deref(), Some("2015-04"));
    assert_eq!(info.specification.as_deref(), Some("5.1"));
    assert_eq!(info.capacity_bytes, Some(Bytes(512 * 0x0100_0001)));
    assert_eq!(
        (info.life_used_percent_max, info.spare_blocks.as_deref()),
        (Some(40), Some("normal"))
    );
    assert_eq!(info.command_queue_depth, Some(16));
    assert_eq!((info.command_queue.card, info.command_queue.enabled), (Some(true), Some(false)));
    assert_eq!((info.cache.card, info.cache.enabled), (Some(false), Some(false)));
}

/// Decodes `bytes` as `R` if they are long enough.
fn decoded<R: Register>(bytes: &[u8]) -> Option<R> {
    Some(R::from_slice(bytes.get(..R::LENGTH_BYTES)?).unwrap())
}

proptest! {
    #[test]
    fn any_registers_fill_a_record(bytes in proptest::collection::vec(any::<u8>(), 512)) {
        let mut info = CardInfo::default();
        let (cid, csd, scr) = (decoded(&bytes), decoded(&bytes), decoded(&bytes));
        SdRegisters { cid, csd, scr, ssr: decoded(&bytes) }.fill(&mut info);
        let (cid, csd) = (decoded(&bytes), decoded(&bytes));
        MmcRegisters { cid, csd, ext_csd: decoded(&bytes) }.fill(&mut info);
    }
}
