//! The command queue of an SD card on kernels, settings and cards of today: whether it is on, why not, and what
//! the kernel's lists say of the card.

use cardproof_device::Sysroot;
use cardproof_device::identify::{StorageChoice, identify};
use cardproof_record::{CardInfo, QueueSetting};

/// A Raspberry Pi 5 with an A2 card, as it would be recorded.
const TREE: &str = include_str!("../trees/pi5_a2_command_queue.txt");

/// Cards by their CID: Raspberry Pi's own, an older one of these, a SanDisk, a Samsung of 2023 and one of 2024, and
/// a Transcend on the list and one that is not.
const OFFICIAL: &str = "ad4c535250313238112f6e01c4018901";
const OFFICIAL_OLD: &str = "ad4c535250303332092f6e01c4018901";
const SANDISK: &str = "035344534e36344786aabbccdd018500";
const SANDISK_2020: &str = "035344534e36344780aabbccdd014900";
const SAMSUNG_2023: &str = "1b534d454432533530aabbccdd017500";
const TRANSCEND: &str = "744a60555344303020aabbccdd01a400";
const TRANSCEND_OLD: &str = "744a60555344303020aabbccdd01a300";

const ENGINE: &str = "mmc0: Command Queue Engine enabled, 31 tags";
const SOFTWARE: &str = "mmc0: Host Software Queue enabled";

/// A computer with an SD card.
#[derive(Clone, Copy)]
struct Computer {
    board: &'static str,
    release: &'static str,
    cid: &'static str,
    /// The device tree's `supports-cqe`: its value, `""` without one, `None` where it is absent.
    property: Option<&'static str>,
    /// A line of the boot settings.
    setting: Option<&'static str>,
    /// What the kernel said of the queue.
    log: Option<&'static str>,
    has_ext_perf: bool,
}

const PI5: Computer = Computer {
    board: "Raspberry Pi 5 Model B Rev 1.0",
    release: "6.12.34+rpt-rpi-2712",
    cid: SANDISK,
    property: Some("\\x00\\x00\\x00\\x01"),
    setting: None,
    log: Some(SOFTWARE),
    has_ext_perf: true,
};

const MAINLINE: Computer = Computer {
    board: "FriendlyElec NanoPi M4",
    release: "6.16.0-rc6",
    property: None,
    has_ext_perf: false,
    ..PI5
};

/// The value of the device tree's cell.
const fn cell(value: u8) -> &'static str {
    match value {
        0 => "\\x00\\x00\\x00\\x00",
        1 => "\\x00\\x00\\x00\\x01",
        _ => "\\x00\\x00\\x00\\x02",
    }
}

fn card(computer: &Computer) -> CardInfo {
    let mut lines: Vec<String> = Vec::new();
    for line in TREE.lines() {
        let is_replaced =
            ["/model = ", "osrelease = ", "/cid = ", "/supports-cqe ", "config.txt = "]
                .iter()
                .any(|part| line.contains(part));
        let is_dropped = !computer.has_ext_perf && line.contains("/ext_perf");
        if !is_replaced && !is_dropped && !line.contains("Queue Engine") {
            lines.push(line.to_owned());
        }
    }
    let host = "sys/devices/platform/axi/1000fff000.mmc";
    lines.push(format!("sys/firmware/devicetree/base/model = {}\\x00", computer.board));
    lines.push(format!("proc/sys/kernel/osrelease = {}", computer.release));
    lines.push(format!("{host}/mmc_host/mmc0/mmc0:59b4/cid = {}", computer.cid));
    lines.extend(computer.property.map(|value| match value {
        "" => format!("{host}/of_node/supports-cqe /"),
        value => format!("{host}/of_node/supports-cqe = {value}"),
    }));
    lines.extend(computer.setting.map(|line| format!("boot/firmware/config.txt = {line}")));
    lines.extend(computer.log.map(|line| format!("dmesg = [    0.713305] {line}")));
    let root = Sysroot::from_dump(&lines.join("\n")).unwrap();
    let identity = identify(&root, &StorageChoice::Named("/dev/mmcblk0".into())).unwrap();
    identity.device.card.unwrap()
}

fn says(card: &CardInfo, words: &str) -> bool {
    card.command_queue.evidence.iter().any(|evidence| evidence.contains(words))
}

#[test]
fn the_queue_is_on_or_off_as_kernel_setting_list_and_log_show() {
    use QueueSetting::{AllButFaulty, Off, OnWithoutList, TrustedCards};
    for (name, computer, enabled, setting) in [
        ("the default, no card of the list", PI5, Some(false), Some(TrustedCards)),
        ("the same without a log", Computer { log: None, ..PI5 }, Some(false), Some(TrustedCards)),
        (
            "the default, Raspberry Pi's own card",
            Computer { cid: OFFICIAL, log: Some(ENGINE), ..PI5 },
            Some(true),
            Some(TrustedCards),
        ),
        (
            "its own card, and the log says that its queue is off",
            Computer { cid: OFFICIAL, ..PI5 },
            Some(false),
            Some(TrustedCards),
        ),
        (
            "its own card, without a log",
            Computer { cid: OFFICIAL, log: None, ..PI5 },
            None,
            Some(TrustedCards),
        ),
        (
            "any card at 2",
            Computer { property: Some(cell(2)), log: Some(ENGINE), ..PI5 },
            Some(true),
            Some(AllButFaulty),
        ),
        (
            "a faulty card at 2",
            Computer { property: Some(cell(2)), cid: SANDISK_2020, ..PI5 },
            Some(false),
            Some(AllButFaulty),
        ),
        (
            "switched off",
            Computer { property: Some(cell(0)), cid: OFFICIAL, log: None, ..PI5 },
            Some(false),
            Some(Off),
        ),
        (
            "a kernel before the list, switched on",
            Computer {
                property: Some(""),
                release: "6.6.31+rpt-rpi-2712",
                log: Some(ENGINE),
                ..PI5
            },
            Some(true),
            Some(OnWithoutList),
        ),
        (
            "no device tree to read, the default",
            Computer { property: None, release: "6.18.3+rpt-rpi-2712", log: None, ..PI5 },
            Some(false),
            Some(TrustedCards),
        ),
        (
            "no device tree to read, a line without a value means 1",
            Computer {
                property: None,
                release: "6.18.3+rpt-rpi-2712",
                setting: Some("dtparam=sd_cqe"),
                log: None,
                ..PI5
            },
            Some(false),
            Some(TrustedCards),
        ),
        (
            "no device tree to read, off",
            Computer {
                property: None,
                release: "6.18.3+rpt-rpi-2712",
                setting: Some("dtparam=sd_cqe=off"),
                cid: OFFICIAL,
                log: None,
                ..PI5
            },
            Some(false),
            Some(Off),
        ),
        ("mainline up to 6.16", Computer { log: None, ..MAINLINE }, Some(false), None),
        ("the host's software queue on mainline", MAINLINE, Some(false), None),
        ("a later mainline", Computer { log: None, release: "6.19.0", ..MAINLINE }, None, None),
    ] {
        let found = card(&computer);
        assert_eq!(found.command_queue.enabled, enabled, "{name}: {:?}", found.command_queue);
        assert_eq!(found.queue_setting, setting, "{name}: {:?}", found.command_queue);
    }
}

#[test]
fn a_queue_that_is_off_has_the_list_as_its_reason() {
    let found = card(&PI5);
    assert!(says(&found, "Host Software Queue enabled"), "{:?}", found.command_queue);
    assert!(says(&found, "list of working cards has not this card"), "{:?}", found.command_queue);
    let official = card(&Computer { cid: OFFICIAL, ..PI5 });
    assert!(!says(&official, "has not this card"), "{:?}", official.command_queue);
}

/// In mainline the property means that the host can queue commands of an eMMC.
#[test]
fn a_property_of_emmcs_says_nothing_of_an_sd_card() {
    for property in ["", "\\x00\\x00\\x00\\x01"] {
        let found = card(&Computer { property: Some(property), log: None, ..MAINLINE });
        assert_eq!(found.command_queue.host, None, "{:?}", found.command_queue);
        assert_eq!(found.queue_setting, None);
    }
}

#[test]
fn the_lists_know_which_cards_work_and_which_do_not() {
    for (cid, is_trusted, is_faulty) in [
        (OFFICIAL, true, false),
        (OFFICIAL_OLD, false, false),
        (SANDISK, false, false),
        (SANDISK_2020, false, true),
        (SAMSUNG_2023, false, true),
        (TRANSCEND, true, false),
        (TRANSCEND_OLD, false, false),
    ] {
        let found = card(&Computer { cid, ..PI5 });
        let told = (found.queue_is_trusted, found.cache_is_faulty);
        assert_eq!(told, (Some(is_trusted), Some(is_faulty)), "{cid}");
    }
}

/// Phison's and Kingston's cards that lose data by an erase, on a kernel that has not the row as well.
#[test]
fn a_card_that_an_erase_harms_is_told_on_every_kernel() {
    for (cid, is_harmed) in [
        ("275048534431323820aabbccdd012500", true),
        ("275048534433324720aabbccdd012500", false),
        ("413432534433324720aabbccdd012500", true),
        (SANDISK, false),
    ] {
        for computer in [PI5, MAINLINE] {
            let found = card(&Computer { cid, ..computer });
            assert_eq!(found.harmed_by_trimming, Some(is_harmed), "{cid}");
            let is_told = found
                .quirks
                .iter()
                .any(|quirk| quirk.contains("eras") && !quirk.contains("sent as erases"));
            assert_eq!(is_told, is_harmed, "{cid}: {:?}", found.quirks);
        }
    }
}

/// What is to be known of the queue of each card: `+` it is on, `-` it is off, `?` it cannot be known.
///
/// On a Raspberry Pi 5 without a log, at 0, 1 and 2; with the log's line of the software queue, at 0, 1 and 2; with
/// its line of the engine, at 1 and 2; and on mainline 6.16 and 6.19 without a log.
const TABLE: [(&str, &str, &str); 7] = [
    ("Raspberry Pi's own", OFFICIAL, "-?? --- ++ -?"),
    ("an older one of these", OFFICIAL_OLD, "--? --- ++ -?"),
    ("SanDisk of 2024", SANDISK, "--? --- ++ -?"),
    ("SanDisk of 2020, faulty", SANDISK_2020, "--- --- ++ -?"),
    ("Samsung of 2023, faulty", SAMSUNG_2023, "--- --- ++ -?"),
    ("Transcend on the list", TRANSCEND, "-?? --- ++ -?"),
    ("Transcend that is not", TRANSCEND_OLD, "--? --- ++ -?"),
];

/// Seventy computers: what their queue is, for every card, kernel and setting.
#[test]
fn seventy_computers_have_the_queue_that_they_have() {
    let pi = |value, log| Computer { property: Some(cell(value)), log, ..PI5 };
    let mainline = |release| Computer { release, log: None, ..MAINLINE };
    let computers = [
        pi(0, None),
        pi(1, None),
        pi(2, None),
        pi(0, Some(SOFTWARE)),
        pi(1, Some(SOFTWARE)),
        pi(2, Some(SOFTWARE)),
        pi(1, Some(ENGINE)),
        pi(2, Some(ENGINE)),
        mainline("6.16.0-rc6"),
        mainline("6.19.0"),
    ];
    let mut seen = 0;
    for (name, cid, expected) in TABLE {
        let found: String = computers
            .iter()
            .map(|computer| match card(&Computer { cid, ..*computer }).command_queue.enabled {
                Some(true) => '+',
                Some(false) => '-',
                None => '?',
            })
            .collect();
        seen += found.len();
        assert_eq!(found, expected.replace(' ', ""), "{name}");
    }
    assert_eq!(seen, 70);
}
