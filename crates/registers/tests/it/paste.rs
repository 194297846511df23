//! Registers are found in text as people paste it.

use cardproof_registers::{
    ByteOrder, PasteError, Pasted, PastedCard, Serials, find_cards, find_registers,
};
use cardproof_units::with_causes;

const SD_CID: &str = "035344534e363447867e650771016b8d";
const SD_CSD: &str = "400e0032db790001dbd37f800a4040f9";
const SCR: &str = "0245848700000000";
const MMC_CID: &str = "15010038475446345206123456784200";
const MMC_CSD: &str = "d02701320f5903fff6dbffef8e40400d";

/// The titles of what is found, shortened to their first and last words.
fn found(text: &str) -> Vec<String> {
    let registers = find_registers(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    registers.iter().map(|register| short(register).to_owned()).collect()
}

/// A card's name and registers, as short as in [`found`].
fn shortened(card: &PastedCard) -> (&str, Vec<&'static str>) {
    (card.name.as_deref().unwrap_or("no name"), card.registers.iter().map(short).collect())
}

fn short(register: &Pasted) -> &'static str {
    match register {
        Pasted::SdCid(_) => "sd cid",
        Pasted::MmcCid(_) => "mmc cid",
        Pasted::SdCsd(_) => "sd csd",
        Pasted::MmcCsd(_) => "mmc csd",
        Pasted::Scr(_) => "scr",
        Pasted::SdStatus(_) => "ssr",
        Pasted::Ocr(_) => "ocr",
        Pasted::ExtCsd(_, ByteOrder::LastFirst) => "ext_csd down",
        Pasted::ExtCsd(_, ByteOrder::FirstFirst) => "ext_csd up",
        Pasted::Partial(partial) => match partial.register() {
            Pasted::MmcCid(_) => "part of mmc cid",
            Pasted::MmcCsd(_) => "part of mmc csd",
            Pasted::ExtCsd(..) => "part of ext_csd",
            _ => "part of another register",
        },
    }
}

/// The value and the meaning of a register's field; nothing where it is not shown.
fn field(register: &Pasted, name: &str) -> String {
    let fields = register.fields(Serials::Shown);
    let field = fields.iter().find(|field| field.name == name);
    field.map(|field| format!("{} {}", field.value, field.meaning)).unwrap_or_default()
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
    assert_eq!(found(&"00".repeat(512)), ["ext_csd up"], "as today's kernels print it");
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
fn a_labelled_register_that_is_none_has_one_cause() {
    let error = find_registers("scr: 0235").unwrap_err();
    let said = "SCR: SCR has 8 bytes (16 hex digits), but 2 (4 digits) were given; copy the whole register";
    assert_eq!(with_causes(&error), said);
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

#[test]
fn registers_of_two_cards_in_one_text_are_not_mixed() {
    let cards = find_cards(include_str!("pasted/two-cards.txt")).unwrap();
    let shortened: Vec<_> = cards.iter().map(shortened).collect();
    assert_eq!(
        shortened,
        [("mmc0:0007", vec!["sd cid", "sd csd", "scr"]), ("mmc1:0001", vec!["mmc cid", "mmc csd"])]
    );
    assert_eq!(field(&cards[0].registers[0], "PNM").trim(), "SD16G");
    assert_eq!(field(&cards[1].registers[0], "PNM").trim(), "M8G1GC");
}

#[test]
fn cards_without_a_name_are_told_apart_by_the_second_cid_or_not_at_all() {
    let other = SD_CID.replace("363447", "313238");
    for (text, expected) in [
        (
            format!("cid: {SD_CID}\nscr: {SCR}\ncid: {MMC_CID}\ncsd: {MMC_CSD}"),
            vec![vec!["sd cid", "scr"], vec!["mmc cid", "mmc csd"]],
        ),
        (format!("{SD_CID}\n{other}"), vec![vec!["sd cid"], vec!["sd cid"]]),
        (
            format!("cid: {SD_CID}\ncid: {MMC_CID}\ncsd: {SD_CSD}\ncsd: {MMC_CSD}"),
            vec![vec!["sd cid"], vec!["mmc cid"], vec!["sd csd"], vec!["mmc csd"]],
        ),
        (
            format!("cid: {SD_CID}\nscr: {SCR}\ncsd: {MMC_CSD}"),
            vec![vec!["sd cid"], vec!["scr"], vec!["mmc csd"]],
        ),
    ] {
        let cards = find_cards(&text).unwrap();
        let registers: Vec<_> = cards.iter().map(|card| shortened(card).1).collect();
        assert_eq!(registers, expected, "{text}");
    }
}

#[test]
fn registers_that_paths_interleave_go_to_their_own_cards() {
    let device = |index: u8| format!("/sys/block/mmcblk{index}/device");
    let text = format!(
        "{0}/cid:{SD_CID}\n{1}/cid:{MMC_CID}\n{0}/csd:{SD_CSD}\n{1}/csd:{MMC_CSD}",
        device(0),
        device(1)
    );
    let cards = find_cards(&text).unwrap();
    let shortened: Vec<_> = cards.iter().map(shortened).collect();
    assert_eq!(
        shortened,
        [("mmcblk0", vec!["sd cid", "sd csd"]), ("mmcblk1", vec!["mmc cid", "mmc csd"])]
    );
}

#[test]
fn a_bus_address_in_the_path_does_not_hide_the_label() {
    let cards = find_cards(include_str!("pasted/grep-with-bus-address.txt")).unwrap();
    let shortened: Vec<_> = cards.iter().map(shortened).collect();
    assert_eq!(shortened, [("mmc0:5048", vec!["sd cid", "sd csd", "ocr", "scr", "ssr"])]);
}

#[test]
fn a_label_of_several_words_is_not_passed_over() {
    let text = include_str!("pasted/labels-with-words.txt");
    assert_eq!(found(text), ["sd cid", "sd csd", "scr"]);
    assert_eq!(found(&format!("Raw CID register = {SD_CID}")), ["sd cid"]);
    assert_eq!(found(&format!("The SD card: slow\nmy csd card: see below\n{SD_CID}")), ["sd cid"]);
}

#[test]
fn the_type_decides_where_the_structure_of_an_emmcs_cid_is_that_of_an_sd_card() {
    let registers = find_registers(include_str!("pasted/type-mmc.txt")).unwrap();
    assert_eq!(short(&registers[0]), "mmc cid");
    assert_eq!(field(&registers[0], "PNM").trim(), "A3A564");
}

#[test]
fn the_text_of_mmc_utils_gives_the_fields_that_it_names_and_no_others() {
    let registers = find_registers(include_str!("pasted/mmc-utils-ext-csd.txt")).unwrap();
    let [ext_csd] = registers.as_slice() else { panic!("{registers:?}") };
    assert_eq!(short(ext_csd), "part of ext_csd");
    for (name, words) in [
        ("EXT_CSD_REV", "eMMC 5.1"),
        ("SEC_COUNT", "61865984000 bytes"),
        ("DEVICE_TYPE", "0x57"),
        ("BOOT_SIZE_MULT", "0x20"),
        ("PRE_EOL_INFO", "1 normal"),
    ] {
        assert!(field(ext_csd, name).contains(words), "{name}: {}", field(ext_csd, name));
    }
    for absent in ["DEVICE_LIFE_TIME_EST_TYP_A", "CMDQ_DEPTH", "CACHE_SIZE"] {
        assert_eq!(field(ext_csd, absent), "", "{absent}");
    }
}

#[test]
fn cid_and_csd_of_mmc_utils_are_those_of_their_card() {
    let cards = find_cards(include_str!("pasted/mmc-utils-cid-and-csd.txt")).unwrap();
    let shortened: Vec<_> = cards.iter().map(shortened).collect();
    assert_eq!(shortened, [("mmc1:0001", vec!["part of mmc cid", "part of mmc csd"])]);
    let [cid, csd] = cards[0].registers.as_slice() else { panic!("{cards:?}") };
    for (name, value) in [
        ("MID", "0x15"),
        ("PNM", "M8G1GC"),
        ("PRV", "3 0.3"),
        ("PSN", "0x12345678"),
        ("MDT (month)", "5"),
        ("MDT (year)", "0 1997 or 2013 or 2029, by EXT_CSD_REV"),
    ] {
        assert!(field(cid, name).starts_with(value), "{name}: {}", field(cid, name));
    }
    assert!(field(csd, "SPEC_VERS").starts_with('4'));
    // Without C_SIZE_MULT and READ_BL_LEN a capacity would be wrong.
    assert_eq!(field(csd, "C_SIZE"), "");
}

#[test]
fn a_register_that_is_cut_does_not_take_the_others_with_it() {
    let text = format!("cid: {SD_CID}\ncsd: {SD_CSD}\nssr: 00000000080000000400900008\n");
    let cards = find_cards(&text).unwrap();
    assert_eq!(shortened(&cards[0]), ("no name", vec!["sd cid", "sd csd"]));
    let faults: Vec<String> = cards[0].faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].starts_with("SSR") && faults[0].contains("26 digits"), "{faults:?}");
}

#[test]
fn registers_are_found_among_prompts_and_other_files_of_sysfs() {
    let cat = format!(
        "$ cat /sys/block/mmcblk0/device/{{cid,csd,date,name,manfid,oemid}}\n{SD_CID}\n{SD_CSD}\n07/2020\n\
         SL64G\n0x000003\n0x5344\n"
    );
    let udev = format!(
        "  looking at parent device '/devices/platform/soc/mmc_host/mmc0/mmc0:aaaa':\n    KERNELS==\"mmc0:aaaa\"\n    \
         ATTRS{{cid}}=\"{SD_CID}\"\n    ATTRS{{csd}}==\"{SD_CSD}\"\n    ATTRS{{type}}==\"SD\"\n"
    );
    for text in [cat, udev] {
        assert_eq!(found(&text), ["sd cid", "sd csd"], "{text}");
    }
}

#[test]
fn a_count_beside_registers_is_no_register() {
    let text = "1b534d30303030301012345678012a3b\n400e00325b59000076b27f800a404000\n62333952\n";
    let with_ocr = format!("{text}00ff8080\n");
    assert_eq!(found(&with_ocr).len(), found(text).len() + 1);
    assert_eq!(found(text).len(), 2, "{:?}", found(text));
}

#[test]
fn a_cid_in_a_question_is_read() {
    let text = "Hello,\nthe CID of my card from the auction reads\n\
                cid: 03534453553332478054e1d3a2010a00 is this a fake?\n";
    assert_eq!(found(text), found("03534453553332478054e1d3a2010a00"));
}

#[test]
fn mmc_utils_without_v_tells_a_cid_in_words() {
    let text = "$ mmc cid read /sys/block/mmcblk0/device\ntype: 'SD'\nmanufacturer: 'SanDisk' 'SD'\n\
                product: 'SD128' 8.5\nserial: 0x00000000\nmanufacturing date: 2024 may\n";
    let registers = find_registers(text).unwrap();
    let told = |name| field(&registers[0], name);
    assert!(told("MID").contains("SanDisk"), "{}", told("MID"));
    assert!(told("OID").contains("SD") && told("PNM").contains("SD128"), "{}", told("PNM"));
    assert_eq!((told("PRV (hardware)").trim(), told("PRV (firmware)").trim()), ("8", "5"));
    assert!(told("MDT (month)").contains("2024-05"), "{}", told("MDT (month)"));
}

#[test]
fn life_and_cache_are_known_by_the_names_of_any_version_of_mmc_utils() {
    let text = "  Extended CSD rev 1.8 (MMC 5.1)\nCache Size [CACHE_SIZE] is 65536 KiB\n\
                eMMC Life Time Estimation A [EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_A]: 0x0b\n\
                eMMC Life Time Estimation B [DEVICE_LIFE_TIME_EST_TYP_B]: 0x03\n\
                eMMC Pre EOL information [EXT_CSD_PRE_EOL_INFO]: 0x03\n";
    let registers = find_registers(text).unwrap();
    let told = |name| field(&registers[0], name);
    assert!(told("DEVICE_LIFE_TIME_EST_TYP_A").starts_with("0xb"), "{registers:?}");
    assert!(told("DEVICE_LIFE_TIME_EST_TYP_B").starts_with('3'), "{registers:?}");
    assert!(told("PRE_EOL_INFO").contains("urgent"), "{}", told("PRE_EOL_INFO"));
    assert!(told("CACHE_SIZE").contains("64 MiB"), "{}", told("CACHE_SIZE"));
}

#[test]
fn a_dump_of_ext_csd_is_read_in_numbers_and_with_letters_beside_it() {
    let mut bytes = vec![0_u8; 512];
    (bytes[192], bytes[194], bytes[214], bytes[267], bytes[268], bytes[269]) =
        (8, 2, 0xe9, 3, 11, 11);
    let numbers = bytes.iter().map(|byte| format!("{byte:#x}")).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = bytes
        .chunks(16)
        .enumerate()
        .map(|(row, bytes)| {
            let pairs: Vec<String> =
                bytes.chunks(2).map(|pair| format!("{:02x}{:02x}", pair[0], pair[1])).collect();
            format!("{:08x}: {}  ....face........", row * 16, pairs.join(" "))
        })
        .collect();
    for text in [numbers, rows.join("\n")] {
        let registers = find_registers(&text).unwrap();
        let [Pasted::ExtCsd(csd, _)] = registers.as_slice() else { panic!("{registers:?}") };
        assert_eq!((csd.revision, csd.life_a_code, csd.life_b_code), (8, 11, 11), "{text}");
    }
}
