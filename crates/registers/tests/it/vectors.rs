//! Registers of known cards decode to what is published of these cards.

use cardproof_registers::{Month, Register, Scr, SdCid, SdCsd, SdStatus, Serials};
use cardproof_units::Bytes;

/// A 64 GB card sold as A2; from a public catalogue of cards read over SPI.
const A2_CID: &str = "035344534E363447867E650771016B8D";
const A2_CSD: &str = "400E0032DB790001DBD37F800A4040F9";
const A2_SCR: &str = "0245848700000000";

/// QEMU's `sd-card` behind `sdhci-pci`, from sysfs of a Debian 6.1 kernel.
const QEMU_CID: &str = "aa585951454d552101deadbeef006200\n";
const QEMU_CSD: &str = "002600325f59e3ffffffdfff92600000\n";
const QEMU_SCR: &str = "0225000000000000\n";

#[test]
fn a_card_sold_as_a2() {
    let cid = SdCid::from_hex(A2_CID).unwrap();
    assert_eq!((cid.manufacturer_id, cid.oem_id), (0x03, 0x5344));
    assert_eq!(cid.name.text(), "SN64G");
    assert_eq!((cid.hardware_revision, cid.firmware_revision), (8, 6));
    assert_eq!(cid.serial.shown(), "0x7e650771");
    assert_eq!(cid.manufactured(), Month::new(2022, 11));

    let csd = SdCsd::from_hex(A2_CSD).unwrap();
    assert_eq!(csd.version(), Some(2));
    assert_eq!(csd.capacity(), Some(Bytes(124_735_488 * 512)));
    assert_eq!(csd.transfer_rate_bits_per_s(), Some(25_000_000));
    assert!(csd.supports_class(10) && !csd.is_write_protected());

    let scr = Scr::from_hex(A2_SCR).unwrap();
    assert_eq!(scr.specification().as_deref(), Some("6.xx"));
    let commands = [scr.has_cmd20, scr.has_cmd23, scr.has_cmd48, scr.has_cmd58];
    assert_eq!(commands, [true, true, true, false]);
}

#[test]
fn the_card_that_qemu_models() {
    let cid = SdCid::from_hex(QEMU_CID).unwrap();
    assert_eq!((cid.manufacturer_id, cid.oem_id), (0xaa, 0x5859));
    assert_eq!(cid.name.text(), "QEMU!");
    assert_eq!((cid.hardware_revision, cid.firmware_revision), (0, 1));
    assert_eq!(cid.serial.shown(), "0xdeadbeef");
    assert_eq!(cid.manufactured().unwrap().to_string(), "2006-02");

    let csd = SdCsd::from_hex(QEMU_CSD).unwrap();
    assert_eq!((csd.version(), csd.capacity()), (Some(1), Some(Bytes::gib(1))));
    let scr = Scr::from_hex(QEMU_SCR).unwrap();
    assert_eq!(scr.specification().as_deref(), Some("2.00"));
    assert!(scr.has_four_lines());
    assert!(SdStatus::decode(&[0; 64]).is_blank());
}

#[test]
fn a_serial_number_prints_masked_unless_asked_for() {
    let cid = SdCid::from_hex(QEMU_CID).unwrap();
    let masked = format!("{cid:?} {:?}", cid.fields(Serials::Masked)).to_lowercase();
    assert!(!masked.contains("deadbeef") && masked.contains("0x********"), "{masked}");
    let shown = format!("{:?}", cid.fields(Serials::Shown));
    assert!(shown.contains("0xdeadbeef"), "{shown}");
}

#[test]
fn a_wrong_length_says_what_was_expected() {
    let error = SdCid::from_hex("0353").unwrap_err().to_string();
    assert!(
        error.contains("16 bytes (32 hex digits)") && error.contains("2 (4 digits)"),
        "{error}"
    );
    let error = Scr::from_hex("02x5").unwrap_err().to_string();
    assert!(error.contains("'x' at character 3"), "{error}");
}
