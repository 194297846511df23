//! Reports of real programs, whole, cut and in other countries' numbers, and prose that is none.

use super::*;

fn reports(text: &str) -> Vec<DriveReport> {
    read((1..).zip(text.lines()))
}

fn only(text: &str) -> DriveReport {
    let mut found = reports(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

fn kinds(report: &DriveReport) -> Vec<FindingKind> {
    report.findings().into_iter().map(|(kind, _)| kind).collect()
}

const NVME: &str = "\
smartctl 7.3 2022-02-28 r5338 [aarch64-linux-6.6.20+rpt-rpi-v8] (local build)
=== START OF INFORMATION SECTION ===
Model Number:                       CT1000P3PSSD8
Serial Number:                      000000000000
Namespace 1 Size/Capacity:          1,000,204,886,016 [1.00 TB]
=== START OF SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

SMART/Health Information (NVMe Log 0x02)
Critical Warning:                   0x00
Available Spare:                    100%
Available Spare Threshold:          10%
Percentage Used:                    98%
Data Units Read:                    585,673,910 [299 TB]
Data Units Written:                 1,892,791,876 [969 TB]
Media and Data Integrity Errors:    0
";

#[test]
fn an_nvme_drive_s_report_is_read_in_words() {
    let report = only(NVME);
    assert_eq!(report.is_passed, Some(true));
    assert_eq!(report.model.as_deref(), Some("CT1000P3PSSD8"));
    assert_eq!(report.capacity_bytes, Some(Bytes(1_000_204_886_016)));
    let value = |kind| report.value(kind);
    assert_eq!(value(DriveValueKind::LifeUsedPercent), Some(98.0));
    assert_eq!(value(DriveValueKind::SpareLeftPercent), Some(100.0));
    assert_eq!(value(DriveValueKind::BytesWritten), Some(969_109_440_512_000.0));
    assert_eq!(value(DriveValueKind::MediaErrors), Some(0.0));
    assert_eq!(kinds(&report), []);
}

#[test]
fn thousands_are_parted_as_in_any_country_and_checked() {
    for number in ["1,892,791,876", "1.892.791.876", "1 892 791 876", "1’892’791’876", "1892791876"]
    {
        let text = NVME.replace("1,892,791,876", number);
        let written = only(&text).value(DriveValueKind::BytesWritten);
        assert_eq!(written, Some(969_109_440_512_000.0), "{number}");
    }
    for number in ["1,892,791,87", "1,892", "892,791,876", "1,892,791,876 x"] {
        let text = NVME.replace("1,892,791,876", number);
        assert_eq!(only(&text).value(DriveValueKind::BytesWritten), None, "{number}");
    }
}

#[test]
fn the_log_of_nvme_cli_is_read_in_each_of_its_forms() {
    let plain = "Smart Log for NVME device:nvme0n1 namespace-id:ffffffff\n\
        critical_warning\t\t\t: 0x4\n\
        temperature\t\t\t\t: 42°C (315 K)\n\
        available_spare\t\t\t\t: 3%\n\
        available_spare_threshold\t\t: 10%\n\
        percentage_used\t\t\t\t: 104%\n\
        endurance group critical warning summary: 0\n\
        Data Units Written\t\t\t: 19392109 (9.93 TB)\n\
        media_errors\t\t\t\t: 1,204\n";
    let report = only(plain);
    assert_eq!((report.tool, report.device.as_deref()), (DriveTool::Nvme, Some("nvme0n1")));
    assert_eq!(report.value(DriveValueKind::BytesWritten), Some(9_928_759_808_000.0));
    let expected = [
        FindingKind::CriticalWarning { bits: 4 },
        FindingKind::SpareBelowThreshold { left_percent: 3, threshold_percent: 10 },
        FindingKind::LifeUsedUp { used_percent: Some(104) },
        FindingKind::MediaErrors { count: 1204 },
    ];
    assert_eq!(kinds(&report), expected);
}

const ATA: &str = "\
Device Model:     HDS721050DLE630
SMART overall-health self-assessment test result: FAILED!
Drive failure expected in less than 24 hours. SAVE ALL DATA.
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   001   001   005    Pre-fail  Always   FAILING_NOW 1975
  9 Power_On_Hours          0x0032   099   099   000    Old_age   Always       -       12345h+23m+10.456s
194 Temperature_Celsius     0x0022   064   050   000    Old_age   Always       -       36 (Min/Max 20/50)
197 Current_Pending_Sector  0x0032   100   100   000    Old_age   Always       -       8
198 Offline_Uncorrectable   0x0030   100   100   000    Old_age   Offline      -       0
241 Total_LBAs_Written      0x0032   099   099   000    Old_age   Always       -       1000
";

#[test]
fn a_failing_disk_is_known_from_its_attributes() {
    let expected = [
        FindingKind::SelfAssessmentFailed,
        FindingKind::BelowThreshold {
            name: "Reallocated_Sector_Ct".to_owned(),
            value: 1,
            threshold: 5,
        },
        FindingKind::PendingSectors { count: 8 },
        FindingKind::ReallocatedSectors { count: 1975 },
    ];
    let report = only(ATA);
    assert_eq!(kinds(&report), expected);
    assert_eq!(report.value(DriveValueKind::BytesWritten), Some(512_000.0));
    let brief = "ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE\n\
          5 Reallocated_Sector_Ct   PO--CK   001   001   005    NOW  1975\n\
        197 Current_Pending_Sector  -O--CK   100   100   ---    -    8\n";
    assert_eq!(kinds(&only(brief)), expected[1..]);
}

#[test]
fn numbers_mean_what_the_name_beside_them_says() {
    let row = |id: u32, name: &str, value: u32, raw: &str| {
        format!(
            "{id:3} {name:24}0x0032   {value:03}   {value:03}   000    Old_age   Always       -       {raw}\n"
        )
    };
    let life = |text: &str| only(text).value(DriveValueKind::LifeLeftPercent);
    assert_eq!(life(&row(177, "Wear_Leveling_Count", 93, "150")), Some(93.0));
    assert_eq!(life(&row(231, "SSD_Life_Left", 76, "76")), Some(76.0));
    assert!(reports(&row(231, "Temperature_Celsius", 40, "40")).is_empty());
    assert!(reports(&row(233, "Flash_Writes_GiB", 100, "4000")).is_empty());
    let written = |text: &str| only(text).value(DriveValueKind::BytesWritten);
    let gib = row(241, "Lifetime_Writes_GiB", 100, "14002");
    assert_eq!(written(&gib), Some(15_034_533_019_648.0));
    let units = row(241, "Host_Writes_32MiB", 100, "10");
    assert_eq!(written(&units), Some(335_544_320.0));
}

#[test]
fn of_a_model_that_smartctl_does_not_know_only_what_has_one_meaning_is_taken() {
    let text = "\
Device Model:     SATA SSD
Device is:        Not in smartctl database 7.3/5319
SMART overall-health self-assessment test result: PASSED
  5 Reallocated_Sector_Ct   0x0032   100   100   050    Old_age   Always       -       17
177 Wear_Leveling_Count     0x0032   100   100   050    Old_age   Always       -       12
241 Total_LBAs_Written      0x0030   100   100   050    Old_age   Offline      -       104332
";
    let report = only(text);
    let value = |kind| report.value(kind);
    assert_eq!(value(DriveValueKind::ReallocatedSectors), Some(17.0));
    assert_eq!(value(DriveValueKind::LifeLeftPercent), None);
    assert_eq!(value(DriveValueKind::BytesWritten), None);
    assert_eq!(report.model.as_deref(), Some("SATA SSD"));
    let known = only(&text.replace("Not in smartctl database 7.3/5319", "In smartctl database"));
    assert_eq!(known.value(DriveValueKind::LifeLeftPercent), Some(100.0));
    let worn = only(&text.replace("Count     0x0032   100", "Count     0x0032   041"));
    assert_eq!(worn.value(DriveValueKind::LifeLeftPercent), Some(41.0));
}

#[test]
fn a_life_of_which_nothing_is_left_is_used_up() {
    let text = "SMART overall-health self-assessment test result: PASSED\n\
        231 SSD_Life_Left           0x0000   000   000   000    Old_age   Offline      -       0\n";
    let found = only(text).findings();
    assert_eq!(found, [(FindingKind::LifeUsedUp { used_percent: Some(100) }, 2)]);
}

#[test]
fn two_drives_are_two_reports() {
    let text = format!("{NVME}\n$ sudo smartctl -a /dev/sda\n{ATA}");
    let found = reports(&text);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(kinds(&found[0]), []);
    assert_eq!(found[1].device.as_deref(), Some("sda"));
    let rows = "  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    0\n";
    assert_eq!(reports(&rows.repeat(2)).len(), 2);
}

#[test]
fn a_program_that_could_read_nothing_says_why() {
    let banner = "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n";
    let cases = [
        ("/dev/sda: Unknown USB bridge [0x152d:0x0583 (0x205)]", NotRead::UnknownBridge),
        ("Smartctl open device: /dev/sda failed: Permission denied", NotRead::NotPermitted),
        ("SMART support is: Unavailable - device lacks SMART capability.", NotRead::NoReport),
    ];
    for (line, expected) in cases {
        let report = only(&format!("{banner}{line}\n"));
        assert_eq!(report.not_read, Some(expected), "{line}");
    }
}

#[test]
fn json_of_both_programs_tells_the_same() {
    let crit = r#"{"json_format_version":[1,0],"smartctl":{"exit_status":8},"model_name":"X","smart_status":{"passed":false},
        "nvme_smart_health_information_log":{"critical_warning":4,"available_spare":3,"available_spare_threshold":10,
        "percentage_used":104,"data_units_written":1892791876,"media_errors":1204},"local_time":{"time_t":1710234672}}"#;
    let report = of_json(&serde_json::from_str(crit).unwrap()).unwrap();
    assert_eq!(kinds(&report).len(), 5);
    assert_eq!((report.is_passed, report.unix_s), (Some(false), Some(1_710_234_672)));
    let open = r#"{"smartctl":{"messages":[{"string":"/dev/sda: Unknown USB bridge [0x152d:0x0583 (0x205)]","severity":"error"}],"exit_status":1}}"#;
    let report = of_json(&serde_json::from_str(open).unwrap()).unwrap();
    assert_eq!(report.not_read, Some(NotRead::UnknownBridge));
    let nvme = r#"{"critical_warning":0,"temperature":315,"avail_spare":100,"spare_thresh":10,"percent_used":7,"data_units_written":"19392109","media_errors":0}"#;
    let report = of_json(&serde_json::from_str(nvme).unwrap()).unwrap();
    assert_eq!(report.value(DriveValueKind::BytesWritten), Some(9_928_759_808_000.0));
    assert_eq!(of_json(&serde_json::from_str("{\"a\": 1}").unwrap()), None);
}

#[test]
fn prose_about_health_is_no_report() {
    for text in [
        "My SSD shows Percentage Used: 98% and I worry.",
        "5 Samsung cards   0x0033 are fine",
        "Critical Warning: this is bad",
        "The smartctl 7 docs [see link] say so",
    ] {
        let is_report = reports(text).iter().any(|it| !it.values.is_empty());
        assert!(!is_report, "{text}");
    }
    assert!(!is_sign("SMART is a technology") && !is_sign("Data Units Written: many"));
}

#[test]
fn a_test_that_an_nvme_drive_made_of_itself_and_failed_is_found() {
    let text = "\
Self-test Log (NVMe Log 0x06)
Self-test status: No self-test in progress
Num  Test_Description  Status                       Power_on_Hours  Failing_LBA  NSID Seg SCT Code
 0   Short             Completed: failed segments              812    123456789     1   2 0x2 0x81
 1   Extended          Completed without error                  99            -     -   -   -    -
";
    let report = only(&format!("{NVME}{text}"));
    assert_eq!(kinds(&report), [FindingKind::SelfTestsFailed { count: 1 }]);
    assert!(reports("1 Short walk, then 2 Extended ones").is_empty());
}

/// smartctl prints the newest test first.
#[test]
fn a_test_that_failed_before_the_whole_drive_passed_is_over() {
    let failed =
        "# 9  Extended offline    Completed: read failure       60%      9871         180321344";
    let whole = "# 9  Extended offline    Completed without error       00%      9902         -";
    let short = "# 9  Short offline       Completed without error       00%      9902         -";
    let aborted = "# 9  Extended offline    Aborted by host               90%      9902         -";
    let tests_failed = [FindingKind::SelfTestsFailed { count: 1 }];
    for (rows, expected) in [
        ([failed, whole], &tests_failed[..]),
        ([whole, failed], &[]),
        ([short, failed], &tests_failed),
        ([aborted, failed], &tests_failed),
        ([whole, short], &[]),
    ] {
        let rows: Vec<String> = (1..)
            .zip(rows)
            .map(|(number, row)| row.replacen('9', &format!("{number}"), 1))
            .collect();
        assert_eq!(kinds(&only(&rows.join("\n"))), expected, "{rows:?}");
    }
    let json = |first: bool, second: bool| {
        let row = |passed| serde_json::json!({"type": {"string": "Extended offline"}, "status": {"passed": passed}});
        let table = [row(first), row(second)];
        let log = serde_json::json!({"standard": {"table": table}});
        of_json(&serde_json::json!({"smartctl": {}, "ata_smart_self_test_log": log})).unwrap()
    };
    assert_eq!(kinds(&json(true, false)), []);
    assert_eq!(kinds(&json(false, true)), tests_failed);
}
