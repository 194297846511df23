//! The crate `sdio`, an independent decoder for embedded hosts, agrees on random registers.
//!
//! Not compared, because it departs from the specification there: its OCR voltage window for
//! masks with gaps, its erase size (it reads SECTOR_SIZE as tens and units), its CMD23 bit in CSD
//! (a reserved one), its SD versions from 8 on (unknown to it) and its SDSC capacity of block
//! lengths that are reserved.

use cardproof_registers::{MmcCid, Scr, SdCid, SdCsd, SdStatus};
use proptest::prelude::*;
use sdio::R2;
use sdio::common::{CID, CSD};
use sdio::emmc::EMMC;
use sdio::sd::{SCR, SD, SDSpecVersion, SDStatus};

/// A 16-byte register as the response that a host hands on: words, the lowest first.
fn response(bytes: &[u8; 16]) -> R2 {
    let word = |index: usize| u32::from_be_bytes(bytes[4 * index..][..4].try_into().unwrap());
    R2 { words: [word(3), word(2), word(1), word(0)] }
}

/// Its word for a version in ours; versions that it does not know are not compared.
fn version_words(version: SDSpecVersion) -> Option<&'static str> {
    match version {
        SDSpecVersion::V1_0 => Some("1.0x"),
        SDSpecVersion::V1_10 => Some("1.10"),
        SDSpecVersion::V2 => Some("2.00"),
        SDSpecVersion::V3 => Some("3.0x"),
        SDSpecVersion::V4 => Some("4.xx"),
        SDSpecVersion::V5 => Some("5.xx"),
        SDSpecVersion::V6 => Some("6.xx"),
        SDSpecVersion::V7 => Some("7.xx"),
        _ => None,
    }
}

proptest! {
    #[test]
    fn cid(bytes: [u8; 16]) {
        let (ours, theirs) = (SdCid::decode(&bytes), CID::<SD>::from(response(&bytes)));
        prop_assert_eq!(ours.manufacturer_id, theirs.manufacturer_id());
        prop_assert_eq!(ours.serial.shown(), format!("{:#010x}", theirs.serial()));
        let revision = ours.hardware_revision << 4 | ours.firmware_revision;
        prop_assert_eq!(revision, theirs.product_revision());
        prop_assert_eq!((ours.month_code, ours.year()), theirs.manufacturing_date());
        let (ours, theirs) = (MmcCid::decode(&bytes), CID::<EMMC>::from(response(&bytes)));
        prop_assert_eq!(ours.oem_id, theirs.oem_application_id());
        prop_assert_eq!(ours.serial.shown(), format!("{:#010x}", theirs.serial()));
        prop_assert_eq!((ours.month_code, ours.year_code), theirs.manufacturing_date());
    }

    #[test]
    fn cid_with_a_name(name in "[!-~]{5}", oem in "[A-Z]{2}") {
        let mut bytes = [0; 16];
        bytes[1..3].copy_from_slice(oem.as_bytes());
        bytes[3..8].copy_from_slice(name.as_bytes());
        let (ours, theirs) = (SdCid::decode(&bytes), CID::<SD>::from(response(&bytes)));
        prop_assert_eq!(ours.name.text(), theirs.product_name());
        prop_assert_eq!(&ours.oem_id.to_be_bytes(), theirs.oem_id().as_bytes());
    }

    #[test]
    fn csd(mut bytes: [u8; 16], version in 0_u8..3) {
        bytes[0] = version << 6;
        // Blocks of 512 bytes: it takes that length for all versions.
        bytes[5] = bytes[5] & 0xf0 | 9;
        let (ours, theirs) = (SdCsd::decode(&bytes), CSD::<SD>::from(response(&bytes)));
        prop_assert_eq!(ours.capacity().map(cardproof_units::Bytes::get), Some(theirs.card_size()));
        prop_assert_eq!(ours.structure, theirs.version());
        prop_assert_eq!(ours.transfer_rate_code, theirs.transfer_rate());
    }

    #[test]
    fn scr(bytes: [u8; 8], spec in 0_u8..3, specx in 0_u8..4, flags in 0_u8..4) {
        let mut bytes = bytes;
        bytes[0] = bytes[0] & 0xf0 | spec;
        bytes[2] = bytes[2] & 0x78 | (flags & 1) << 7 | (flags & 2) << 1;
        bytes[3] = bytes[3] & 0x3f | specx << 6;
        let (ours, theirs) = (Scr::decode(&bytes), SCR::from(bytes));
        if let Some(words) = version_words(theirs.version()) {
            prop_assert_eq!(ours.specification(), Some(words.to_owned()));
        }
        prop_assert_eq!(ours.bus_widths, theirs.bus_widths());
        prop_assert_eq!(ours.is_erased_to_ones, theirs.data_after_erase() != sdio::sd::SDEraseDataStatus::Zero);
        let commands = [theirs.supports_cmd20(), theirs.supports_cmd23(), theirs.supports_cmd48(), theirs.supports_cmd49()];
        prop_assert_eq!([ours.has_cmd20, ours.has_cmd23, ours.has_cmd48, ours.has_cmd58], commands);
    }

    #[test]
    fn sd_status(words: [u64; 8]) {
        let mut bytes = [0; 64];
        for (chunk, word) in bytes.chunks_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_be_bytes());
        }
        let (ours, theirs) = (SdStatus::decode(&bytes), SDStatus::from(bytes));
        prop_assert_eq!(ours.is_secured, theirs.secure_mode());
        prop_assert_eq!(ours.card_type, theirs.sd_memory_card_type());
        prop_assert_eq!(ours.protected_area, theirs.protected_area_size());
        prop_assert_eq!(ours.speed_class_code, theirs.speed_class());
        prop_assert_eq!(ours.move_rate_mb_per_s, theirs.move_performance());
        prop_assert_eq!(ours.application_class_code, theirs.app_perf_class());
        prop_assert_eq!(ours.au_code, theirs.allocation_unit_size());
        prop_assert_eq!(ours.erase_aus, theirs.erase_size());
        prop_assert_eq!(ours.erase_timeout_s, theirs.erase_timeout());
        prop_assert_eq!(ours.video_class_code, theirs.video_speed_class());
        prop_assert_eq!(ours.has_discard, theirs.discard_support());
    }
}
