//! `cardproof health` through the program: recorded outputs, good and bad, and days left over records.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::home::Home;
use crate::process::run;

/// What sdmon printed of sound cards, from its manual.
const SOUND: &str = r#"{
"version": "v0.3.2-3 (a04b618) arm64",
"date": "2022-04-14T08:27:15.000Z",
"signature":"0x44 0x53",
"SanDisk":"true",
"manufactureYYMMDD": "211122",
"healthStatusPercentUsed": 1,
"success":true
}"#;

const SOUND_APACER: &str = r#"{
"read_via_cmd56_arg_1":"read successful but signature 0xff 0xff"
"flashId": ["0x98","0x3c","0x98","0xb3","0x76","0x72","0x08","0x0e","0x00"],
"goodBlockRatePercent": 97.56,
"totalEraseCount": 1380,
"enduranceRemainLifePercent": 99.97,
"avgEraseCount": 1,
"minEraseCount": 1,
"maxEraseCount": 5,
"success":true
}"#;

/// 27 % used, and 199 % 36 s later.
const JUMPED: [&str; 2] = [
    r#"{"date": "2023-05-01T10:00:00.000Z", "signature":"0x44 0x53", "manufactureYYMMDD": "211122", "healthStatusPercentUsed": 27, "success":true}"#,
    r#"{"date": "2023-05-01T10:00:36.000Z", "signature":"0x44 0x53", "manufactureYYMMDD": "211122", "healthStatusPercentUsed": 199, "success":true}"#,
];

const ALL_SET: &str = r#"{
"flashId": ["0xff","0xff","0xff","0xff","0xff","0xff","0xff","0xff","0xff"],
"goodBlockRatePercent": 655.35,
"totalEraseCount": -1,
"enduranceRemainLifePercent": 655.35,
"avgEraseCount": -1,
"success":true
}"#;

const OTHER_MAKER: &str = r#"{"signature":"0x70 0x58", "manufactureYYMMDD": "", "healthStatusPercentUsed": 16, "success":true}"#;

fn write(home: &Home, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = home.place().join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn judged(home: &Home, files: &[&str], status: i32) -> Value {
    let words = [&["health", "--raw", "--quiet", "--json", "-"], files].concat();
    serde_json::from_str(&run(home.cardproof(&words)).expect(status).stdout).unwrap()
}

fn reasons(answer: &Value) -> String {
    let values = answer["values"].as_array().unwrap().iter();
    let told = values.filter_map(|value| value["reason"].as_str());
    told.collect::<Vec<_>>().join("; ")
}

#[test]
fn sound_outputs_are_accepted() {
    let home = Home::new();
    let mut sandisk = [0_u8; 512];
    sandisk[..8].copy_from_slice(b"DS211122");
    sandisk[8] = 27;
    for (name, content) in [
        ("sandisk.json", SOUND.as_bytes()),
        ("apacer.json", SOUND_APACER.as_bytes()),
        ("before.json", JUMPED[0].as_bytes()),
        ("answer.bin", &sandisk[..]),
        (
            "nvme.json",
            br#"{"json_format_version":[1,0],"smartctl":{},"local_time":{"time_t":1700000000},
                "nvme_smart_health_information_log":{"percentage_used":3,"available_spare":100,"data_units_written":1000000}}"#,
        ),
    ] {
        let answer = judged(&home, &[&write(&home, name, content)], 0);
        assert!(!answer["values"].as_array().unwrap().is_empty(), "{name}");
        for value in answer["values"].as_array().unwrap() {
            assert_eq!((&value["plausible"], &value["reason"]), (&true.into(), &Value::Null), "{name}");
        }
    }
}

/// Kernels of today print byte 0 of EXT_CSD first, older ones byte 511.
#[test]
fn an_emmcs_register_is_read_whichever_byte_is_first() {
    let home = Home::new();
    let mut register = [0_u8; 512];
    for (byte, value) in [
        (192, 8),
        (194, 2),
        (196, 0x57),
        (215, 1),
        (224, 1),
        (267, 1),
        (268, 4),
        (269, 3),
        (504, 1),
    ] {
        register[byte] = value;
    }
    for name in ["today.txt", "old.txt"] {
        let hex: String = register.iter().map(|byte| format!("{byte:02x}")).collect();
        let answer = judged(&home, &[&write(&home, name, hex)], 0);
        let values = answer["values"].as_array().unwrap().iter();
        let told: Vec<_> = values.map(|it| (it["name"].as_str(), it["value"].as_f64())).collect();
        let expected = [("life_used_a", 40.0), ("life_used_b", 30.0), ("reserve_used", 0.0)];
        assert_eq!(
            told,
            expected.map(|(name, value)| (Some(name), Some(value))),
            "{name}: {answer}"
        );
        register.reverse();
    }
}

#[test]
fn bad_outputs_are_rejected_with_the_reason() {
    let home = Home::new();
    let jumped = JUMPED.map(|text| write(&home, &format!("{}.json", text.len()), text));
    let answer = judged(&home, &[&jumped[0], &jumped[1]], 4);
    assert!(reasons(&answer).contains("199 % is above 100 %"), "{answer}");
    assert_eq!(answer["readings"][0]["values"][0]["plausible"], true);
    let joined = write(&home, "joined.json", JUMPED.join("\n"));
    assert!(reasons(&judged(&home, &[&joined], 4)).contains("above 100 %"));
    for (name, content, expected) in [
        ("set.json", ALL_SET.as_bytes(), "every byte is 0xff"),
        ("set.bin", &[0xff; 512][..], "every byte is 0xff"),
        ("other.json", OTHER_MAKER.as_bytes(), "another maker's"),
        (
            "other.bin",
            &[b'Q'; 511].iter().copied().chain([0xfe]).collect::<Vec<u8>>(),
            "no known maker",
        ),
    ] {
        let answer = judged(&home, &[&write(&home, name, content)], 4);
        assert!(reasons(&answer).contains(expected), "{name}: {answer}");
        let values = answer["values"].as_array().unwrap();
        assert!(values.iter().all(|value| value["plausible"] == false), "{name}: {answer}");
    }
}

/// The page of `health --raw` for `content`, which ends with status 0.
fn page(home: &Home, name: &str, content: impl AsRef<[u8]>) -> String {
    page_of(home, name, content, 0)
}

/// The page of `health --raw` for `content`, which ends with `status`.
fn page_of(home: &Home, name: &str, content: impl AsRef<[u8]>, status: i32) -> String {
    run(home.cardproof(&["health", "--raw", &write(home, name, content)])).expect(status).stdout
}

/// What smartctl prints of an NVMe device that has used `percent` of its life, at a time in seconds.
fn nvme(percent: u16, time: u64) -> String {
    format!(
        r#"{{"json_format_version":[1,0],"smartctl":{{}},"local_time":{{"time_t":{time}}},
            "nvme_smart_health_information_log":{{"percentage_used":{percent},"available_spare":90}}}}"#
    )
}

/// NVM Express allows 0 to 255 per cent: such a device works on beyond its rated life.
#[test]
fn an_ssd_beyond_its_rated_life_is_not_called_impossible() {
    let home = Home::new();
    for percent in [100, 104, 123, 254, 255] {
        let file = write(&home, "nvme.json", nvme(percent, 1_700_000_000));
        let answer = judged(&home, &[&file], 0);
        let value = &answer["values"][0];
        assert_eq!(
            (&value["value"], &value["plausible"]),
            (&f64::from(percent).into(), &true.into())
        );
        assert_eq!(value["beyond_life"], percent > 100, "{answer}");
        let text = page(&home, "nvme.json", nvme(percent, 1_700_000_000));
        assert_eq!(text.contains("beyond its rated life, replace it"), percent > 100, "{text}");
    }
}

/// The hex of an EXT_CSD whose life estimates are `code`.
fn ext_csd(code: u8) -> String {
    let mut register = [0_u8; 512];
    for (byte, value) in
        [(192, 8), (194, 2), (196, 0x57), (215, 1), (267, 1), (268, code), (269, 1), (504, 1)]
    {
        register[byte] = value;
    }
    register.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A report of smartctl on an NVMe drive that says in two places that it fails.
const FAILING_NVME: &str = r#"{"json_format_version":[1,0],"smartctl":{},"local_time":{"time_t":1700000000},
    "device":{"name":"/dev/nvme0n1"},"smart_status":{"passed":false},
    "nvme_smart_health_information_log":{"critical_warning":4,"percentage_used":40,"available_spare":90,
        "data_units_written":58123094}}"#;

#[test]
fn a_drive_and_an_emmc_are_no_cards_in_a_reader() {
    let home = Home::new();
    let drive = page_of(&home, "nvme.json", FAILING_NVME, 4);
    assert!(drive.contains("Points to: the drive.\n"), "{drive}");
    assert_eq!(drive.matches("it reports that it fails").count(), 1, "{drive}");
    assert_eq!(drive.matches("to another device now").count(), 1, "{drive}");
    assert!(drive.contains("host bytes written   29.8 TB\n"), "{drive}");
    let emmc = page_of(&home, "emmc.txt", ext_csd(11), 4);
    assert!(emmc.contains("Points to: the eMMC.\n"), "{emmc}");
    assert!(!drive.contains("reader") && drive.contains("verify --full"), "{drive}");
    // No test makes worn flash younger.
    assert!(!emmc.contains("reader") && !emmc.contains("verify"), "{emmc}");
    assert!(emmc.contains("replace it: it is worn out"), "{emmc}");
}

#[test]
fn one_saved_output_asks_for_a_second_one_and_not_for_a_ledger_of_this_computer() {
    let home = Home::new();
    let text = page(&home, "nvme.json", nvme(10, 1_700_000_000));
    assert!(text.contains("Days left: not known; there is one reading, and"), "{text}");
    assert!(
        text.contains("Next, to learn") && text.contains("cardproof health --raw OLD NEW\n"),
        "{text}"
    );
    assert!(!text.contains("cardproof log"), "{text}");
    let files =
        [10, 11].map(|used| write(&home, &format!("{used}.json"), nvme(used, 1_700_000_000)));
    let text = run(home.cardproof(&["health", "--raw", &files[0], &files[1]])).expect(0).stdout;
    assert!(text.contains("Days left: not known; all readings are of one day, and"), "{text}");
}

#[test]
fn an_emmcs_bands_are_told_as_bands() {
    let home = Home::new();
    for (code, words, status) in [
        (0x01, "0 to 10 % used\n", 0),
        (0x0a, "90 to 100 % used\n", 0),
        (0x0b, "more than 100 % used: beyond its rated life, replace it\n", 4),
    ] {
        let text = page_of(&home, "emmc.txt", ext_csd(code), status);
        assert!(text.contains(words), "{code:#04x}: {text}");
    }
    assert!(page(&home, "emmc.txt", ext_csd(1)).contains("spare blocks         0 to 80 % used"));
    assert!(page_of(&home, "emmc.txt", ext_csd(11), 4).contains("Days left: none; its rated life"));
}

/// What smartctl prints of a SATA drive whose attributes 5 and 197 to 199 have these raw values.
fn sata([replaced, pending, uncorrectable, crc]: [u32; 4]) -> String {
    format!(
        "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0-18-amd64] (local build)\n\n\
         === START OF INFORMATION SECTION ===\nModel Family:     Seagate Barracuda\n\
         Device Model:     ST2000DM001-1CH164\n\n\
         === START OF READ SMART DATA SECTION ===\n\
         SMART overall-health self-assessment test result: PASSED\n\n\
         Vendor Specific SMART Attributes with Thresholds:\n\
         ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n\
         \x20 5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       {replaced}\n\
         197 Current_Pending_Sector  0x0012   100   100   000    Old_age   Always       -       {pending}\n\
         198 Offline_Uncorrectable   0x0010   100   100   000    Old_age   Offline      -       {uncorrectable}\n\
         199 UDMA_CRC_Error_Count    0x003e   200   200   000    Old_age   Always       -       {crc}\n"
    )
}

/// A saved report gets the verdict that the device itself would get.
#[test]
fn a_saved_report_is_judged_as_the_device_is() {
    let home = Home::new();
    for (content, verdict, status) in [
        (sata([0, 0, 0, 0]), "fine", 0),
        (sata([2, 0, 0, 1500]), "watch_it", 0),
        (sata([0, 8, 0, 0]), "copy_now", 4),
        (sata([0, 0, 8, 0]), "copy_now", 4),
        (nvme(103, 1_700_000_000), "watch_it", 0),
        (ext_csd(1), "fine", 0),
        (ext_csd(0x0b), "copy_now", 4),
    ] {
        let file = write(&home, "report.txt", &content);
        let answer = judged(&home, &[&file], status);
        assert_eq!(answer["health"]["verdict"], verdict, "{content}\n{answer}");
        let text = page_of(&home, "report.txt", &content, status);
        let copies = text.matches("copy your data to another").count();
        assert_eq!(copies, usize::from(status == 4), "{text}");
    }
}

/// A mail cuts lines, and `journalctl -o json` puts each message into an object.
#[test]
fn a_log_is_read_in_any_form_and_names_the_card() {
    let home = Home::new();
    let card = "mmcblk1: mmc1:1234 SA16G 14.5 GiB";
    let write_error =
        "Buffer I/O error on dev mmcblk1p2, logical block 139265, lost sync page write";
    let cut = format!(
        "[    1.800000] {card}\n[  304.300000] Buffer I/O error on dev mmcblk1p2, logical block 139265, lost\n\
         sync page write\n"
    );
    let json = [card, write_error]
        .map(|message| format!(r#"{{"_TRANSPORT":"kernel","MESSAGE":"{message}"}}"#))
        .join("\n");
    let repeated = format!(
        "Jan 15 10:23:45 pi kernel: {card}\n\
         Jan 15 10:23:50 pi kernel: message repeated 5 times: [ {write_error}]\n"
    );
    for content in [cut, json, repeated] {
        let answer = judged(&home, &[&write(&home, "log.txt", &content)], 4);
        assert_eq!(answer["health"]["signs"][0]["kind"], "lost_writes", "{content}");
        assert_eq!(answer["device"], "mmcblk1 (SA16G)", "{content}");
    }
}

/// 10 and 20 per cent, a hundred days apart: 9 to 11 per cent in that time.
#[test]
fn days_from_whole_per_cents_have_the_interval_that_rounding_allows() {
    let home = Home::new();
    let day = 86_400;
    let earlier = write(&home, "earlier.json", nvme(10, 1_700_000_000));
    let later = write(&home, "later.json", nvme(20, 1_700_000_000 + 100 * day));
    for order in [[&earlier, &later], [&later, &earlier]] {
        let answer = judged(&home, &[order[0], order[1]], 0);
        assert_eq!(reasons(&answer), "", "dated files accuse nobody in any order: {answer}");
        let left = &answer["wear"]["days_left"];
        assert_eq!(left["estimate"], 800.0, "{answer}");
        let (low, high) = (left["low"].as_f64().unwrap(), left["high"].as_f64().unwrap());
        assert!((715.0..720.0).contains(&low) && (899.0..901.0).contains(&high), "{answer}");
    }
}

/// Some versions of sdmon print the life of ADATA's and Transcend's cards as text with its unit.
#[test]
fn sdmons_remaining_life_as_text_is_read() {
    let home = Home::new();
    for text in [
        r#"{"version": "v0.9.0", "date": "2024-01-08T10:00:00.000Z", "Remaining life": "100%", "success": true}"#,
        "{\n\"version\": \"v0.9.0\",\n\"Remaining life\": 100%,\n\"success\": true\n}",
    ] {
        let answer = judged(&home, &[&write(&home, "adata.json", text)], 0);
        assert_eq!(
            (&answer["values"][0]["name"], &answer["values"][0]["value"]),
            (&"life_left".into(), &100.0.into())
        );
    }
}

/// A record of an eMMC whose life stands in the band up to `percent` on `day`.
fn record(home: &Home, day: &str, percent: u8) -> String {
    let words = ["run", "sim:samsung-emmc", "--size", "16M", "--time-budget", "2s", "--seed", "1"];
    let path = home.place().join("base.json");
    let words = [&words[..], &["--quiet", "--json", path.to_str().unwrap()]].concat();
    if !Path::new(&path).exists() {
        run(home.cardproof(&words)).expect(0);
    }
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    record["id"] = format!("of-{day}").into();
    record["created"] = format!("{day}T00:00:00Z").into();
    record["conditions"]["device"]["card"]["life_used_percent_max"] = percent.into();
    write(home, &format!("{day}.json"), record.to_string())
}

#[test]
fn two_records_of_an_emmc_give_days_left() {
    let home = Home::new();
    let (before, after) = (record(&home, "2026-01-01", 30), record(&home, "2026-04-01", 40));
    let words = ["health", "--over", &after, &before, "--json", "-", "--quiet"];
    let answer: Value =
        serde_json::from_str(&run(home.cardproof(&words)).expect(0).stdout).unwrap();
    let left = &answer["wear"]["days_left"];
    assert_eq!((&left["low"], &left["estimate"]), (&270.0.into(), &585.0.into()), "{answer}");
    let same = record(&home, "2026-02-01", 30);
    let words = ["health", "--over", &before, &same, "--json", "-", "--quiet"];
    let answer: Value =
        serde_json::from_str(&run(home.cardproof(&words)).expect(0).stdout).unwrap();
    assert_eq!(answer["wear"]["days_left"]["estimate"], Value::Null);
    assert!(answer["wear"]["reason"].as_str().unwrap().contains("lower bound"));
}

#[test]
fn bad_input_is_one_clear_error() {
    let home = Home::new();
    let text = write(&home, "letter.txt", "Dear Sir");
    for (words, status, said) in [
        (vec!["/dev/cardproof-none"], 2, "does not exist; check the name"),
        (vec![text.as_str()], 2, "is not a block device"),
        (vec![text.as_str(), "--ask-card"], 2, "is not a block device"),
        (vec!["--raw", text.as_str()], 2, "no output that is known"),
        (vec!["--raw", "/none"], 2, "cannot read /none"),
        (vec![text.as_str(), text.as_str()], 2, "name one device"),
    ] {
        let ended =
            run(home.cardproof(&[&["health", "--quiet"], &words[..]].concat())).expect(status);
        assert!(ended.stderr.contains(said), "{words:?}: {}", ended.stderr);
        assert_eq!(ended.stderr.matches("error:").count(), 1, "{words:?}: {}", ended.stderr);
    }
}

/// A restart takes the kernel's log with it; the journal still knows why somebody restarted.
#[test]
fn an_error_before_the_last_start_is_told_from_the_journal() {
    let home = Home::new();
    let programs = tempfile::tempdir().unwrap();
    let journalctl = programs.path().join("journalctl");
    let health = |message: &str| {
        // Times of now: what is recent is judged by this computer's clock.
        let entry = format!(
            "{{\"__REALTIME_TIMESTAMP\":\"$(date +%s)000000\",\"__MONOTONIC_TIMESTAMP\":\"3600000000000\",\
             \"_BOOT_ID\":\"00000000000000000000000000000001\",\"MESSAGE\":\"{message}\"}}"
        );
        fs::write(&journalctl, format!("#!/bin/sh\ncat <<END\n{entry}\nEND\n")).unwrap();
        fs::set_permissions(&journalctl, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = home.cardproof(&["health", ".", "--quiet", "--json", "-"]);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", programs.path().display()));
        command.current_dir(home.place());
        let ended = run(command);
        serde_json::from_str::<Value>(&ended.stdout).ok().map(|page| (ended.code(), page))
    };
    let before = health("something else");
    let Some((code, page)) = before.filter(|(code, page)| *code != 4 && page["device"] != "")
    else {
        return cardproof_testkit::skip(
            cardproof_testkit::test_name!(),
            "the place is on no block device, or on one with signs of its own",
        );
    };
    let device = page["device"].as_str().unwrap();
    if page["health"]["log"]["read"].is_object() {
        assert_eq!(page["health"]["log"]["read"]["earlier"]["starts"], 1, "{code} {page:#}");
        assert_eq!(page["health"]["log"]["read"]["earlier"]["days"], 41, "{page:#}");
    }
    let message = format!("I/O error, dev {device}, sector 8 op 0x1:(WRITE) flags 0x800");
    let (code, page) = health(&message).unwrap();
    assert_eq!((code, page["health"]["verdict"].as_str()), (4, Some("copy_now")), "{page:#}");
    assert_eq!(page["health"]["signs"][0]["source"], "earlier_log", "{page:#}");
}
