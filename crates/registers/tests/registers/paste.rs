//! Registers are found in text as people paste it.

use cardproof_registers::{ByteOrder, PasteError, Pasted, find_registers};

const SD_CID: &str = "035344534e363447867e650771016b8d";
const SD_CSD: &str = "400e0032db790001dbd37f800a4040f9";
const SCR: &str = "0245848700000000";
const MMC_CID: &str = "15010038475446345206123456784200";
const MMC_CSD: &str = "d02701320f5903fff6dbffef8e40400d";

/// The titles of what is found, shortened to their first and last words.
fn found(text: &str) -> Vec<String> {
    let registers = find_registers(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let short = |register: &Pasted| match register {
        Pasted::SdCid(_) => "sd cid",
        Pasted::MmcCid(_) => "mmc cid",
        Pasted::SdCsd(_) => "sd csd",
        Pasted::MmcCsd(_) => "mmc csd",
        Pasted::Scr(_) => "scr",
        Pasted::SdStatus(_) => "ssr",
        Pasted::Ocr(_) => "ocr",
        Pasted::ExtCsd(_, ByteOrder::LastFirst) => "ext_csd down",
        Pasted::ExtCsd(_, ByteOrder::FirstFirst) => "ext_csd up",
    };
    registers.iter().map(|register| short(register).to_owned()).collect()
}

#[test]
fn a_register_alone_is_known_by_length_and_structure() {
    assert_eq!(found(SD_CID), ["sd cid"]);
    assert_eq!(found(&SD_CSD.to_uppercase()), ["sd csd"]);
    assert_eq!(found("002600325f59e3ffffffdfff92600000"), ["sd csd"]);
    assert_eq!(found("aa585951454d552101deadbeef006200"), ["sd cid"]);
    assert_eq!(found(MMC_CID), ["mmc cid"]);
    assert_eq!(found(MMC_CSD), ["mmc csd"]);
    assert_eq!(found(SCR), ["scr"]);
    assert_eq!(found("c0ff8000"), ["ocr"]);
    assert_eq!(found(&"00".repeat(64)), ["ssr"]);
}

#[test]
fn labels_are_taken_in_the_ways_in_which_they_are_written() {
    for text in [
        format!("cid: {SD_CID}\ncsd: {SD_CSD}\nscr:{SCR}"),
        format!("CID={SD_CID} CSD={SD_CSD} SCR={SCR}"),
        format!("cid {SD_CID}\n\ncsd {SD_CSD}\nscr {SCR}\n"),
        format!(
            "/sys/block/mmcblk0/device/cid:{SD_CID}\n/sys/block/mmcblk0/device/csd:{SD_CSD}\n\
             /sys/block/mmcblk0/device/name:SN64G\n/sys/block/mmcblk0/device/scr:{SCR}"
        ),
        format!("Hello, my card is slow:\n$ cat cid csd scr\n{SD_CID}\n{SD_CSD}\n{SCR}\nThanks!"),
        format!(
            "CID:\n{}\nCSD:\n{SD_CSD}\nSCR:\n{SCR}",
            SD_CID.split_at(16).0.to_owned() + "\n" + SD_CID.split_at(16).1
        ),
    ] {
        assert_eq!(found(&text), ["sd cid", "sd csd", "scr"], "{text}");
    }
}

#[test]
fn registers_beside_a_cid_tell_whose_it_is() {
    assert_eq!(found(&format!("cid: {SD_CID}\ncsd: {MMC_CSD}")), ["mmc cid", "mmc csd"]);
    assert_eq!(found(&format!("cid: {MMC_CID}\nscr: {SCR}")), ["sd cid", "scr"]);
}

/// An EXT_CSD of revision 8 from byte 0 on.
fn ext_csd() -> Vec<u8> {
    let mut bytes = vec![0; 512];
    (bytes[192], bytes[194], bytes[196], bytes[215], bytes[224]) = (8, 2, 0x57, 1, 1);
    bytes
}

fn hex(bytes: impl IntoIterator<Item = u8>) -> String {
    bytes.into_iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_order_of_ext_csd_is_found_out_and_said() {
    assert_eq!(found(&hex(ext_csd().into_iter().rev())), ["ext_csd down"]);
    assert_eq!(found(&hex(ext_csd())), ["ext_csd up"]);
    assert_eq!(found(&"00".repeat(512)), ["ext_csd down"]);
}

#[test]
fn a_hex_dump_with_offsets_is_one_register() {
    let dump: String = ext_csd()
        .chunks(16)
        .enumerate()
        .map(|(row, bytes)| format!("{:04x}: {}\n", 16 * row, hex(bytes.iter().copied())))
        .collect();
    assert_eq!(found(&format!("ext_csd:\n{dump}")), ["ext_csd up"]);
}

#[test]
fn what_is_no_register_says_why() {
    let error = |text| find_registers(text).unwrap_err();
    assert_eq!(error("0353"), PasteError::Length { digits: 4 });
    for (text, words) in [
        ("cid: 0353", "CID has 16 bytes (32 hex digits)"),
        ("hello", "'h' at character 1 is not a hex digit"),
        ("", "no hex digits"),
        ("03534", "5 hex digits are no whole number"),
    ] {
        let error = error(text).to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}
