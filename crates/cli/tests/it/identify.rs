//! `cardproof identify` on recorded machines: the whole text at 80 columns, and the whole JSON.
//!
//! The machines are text files in the form of a dump, with a note each on where it comes from.

use std::fs;
use std::path::{Path, PathBuf};

use crate::home::{Home, word};
use crate::process::{Ended, run};

fn tree(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../device/tests/trees/{name}.txt"))
}

fn identify(words: &[&str]) -> Ended {
    let home = Home::new();
    let mut command = home.cardproof(&[&["identify"], words].concat());
    command.env("COLUMNS", "80");
    run(command)
}

fn shown(name: &str, words: &[&str]) -> String {
    let path = tree(name);
    let ended = identify(&[&["--sysroot", word(&path)], words].concat()).expect(0);
    assert_eq!(ended.stderr, "");
    ended.stdout.replace(env!("CARGO_PKG_VERSION"), "[version]")
}

fn snapshot(name: &str) {
    let text = shown(name, &[]);
    let too_long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(too_long.is_empty(), "{too_long:#?}");
    insta::assert_snapshot!(format!("{name}_text"), text);
    insta::assert_snapshot!(format!("{name}_json"), shown(name, &["--json", "-"]));
}

#[test]
fn pi_3_with_an_a1_card_in_high_speed() {
    snapshot("pi3_a1_high_speed");
}

#[test]
fn pi_4_with_an_a2_card_in_ddr50_without_command_queueing() {
    snapshot("pi4_a2_ddr50");
}

#[test]
fn pi_5_with_an_a2_card_and_its_queue_on() {
    snapshot("pi5_a2_command_queue");
}

#[test]
fn nanopi_with_a_worn_emmc() {
    snapshot("nanopi_emmc_hs200");
}

#[test]
fn stick_at_usb_2() {
    snapshot("usb2_stick");
}

#[test]
fn uas_ssd_at_usb_3() {
    snapshot("usb3_uas_ssd");
}

#[test]
fn the_same_ssd_at_usb_2() {
    snapshot("usb2_uas_ssd");
}

#[test]
fn suspected_counterfeit() {
    snapshot("suspected_counterfeit");
}

#[test]
fn empty_reader() {
    snapshot("empty_reader");
}

#[test]
fn missing_and_garbage_files() {
    snapshot("garbage");
}

#[test]
fn the_serial_number_is_shown_on_demand_only() {
    let serial = "0x7e650771";
    for format in [&[][..], &["--json", "-"]] {
        assert!(!shown("pi4_a2_ddr50", format).contains(serial));
        let asked = [format, &["--show-serial"]].concat();
        assert!(shown("pi4_a2_ddr50", &asked).contains(serial), "{format:?}");
    }
}

#[test]
fn all_storage_is_told_of_on_demand() {
    let text = shown("empty_reader", &["--all", "--json", "-"]);
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(all[0]["device"]["name"], "sda");
    assert_eq!(all[0]["has_medium"], false);
    assert_eq!(all[0]["storage"][1]["name"], "mmc0");
}

/// A dump tells the same as the machine it was made of, but for the serial number.
#[test]
fn a_dump_tells_what_the_machine_tells() {
    for name in ["pi3_a1_high_speed", "pi5_a2_command_queue", "nanopi_emmc_hs200", "usb3_uas_ssd"] {
        let home = Home::new();
        let dump = home.data().join("dump.txt");
        let path = tree(name);
        let ended = identify(&["--sysroot", word(&path), "--dump", word(&dump)]).expect(0);
        assert_eq!(ended.stdout, "");
        let without_serial = |text: &str| -> String {
            text.lines()
                .filter(|line| !line.contains("Serial number"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        let again = identify(&["--sysroot", word(&dump)]).expect(0);
        assert_eq!(without_serial(&again.stdout), without_serial(&shown(name, &[])), "{name}");
        assert!(!fs::read_to_string(&dump).unwrap().contains("7e650771"));
    }
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let path = tree("pi4_a2_ddr50");
    let ended = identify(&["--sysroot", word(&path), "/dev/sdz"]).expect(2);
    assert!(ended.stderr.contains("mmcblk0"), "{}", ended.stderr);
    let ended = identify(&["--sysroot", "/no/such/dump"]).expect(2);
    assert!(ended.stderr.contains("--dump"), "{}", ended.stderr);
    let ended = identify(&["/no/such/card"]).expect(2);
    assert!(ended.stderr.contains("/no/such/card"), "{}", ended.stderr);
    let ended = identify(&["sim:sandisk-ultra-a1"]).expect(2);
    let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("`cardproof run sim:sandisk-ultra-a1`"), "{said}");
    let home = Home::new();
    let file = home.place().join("photo.jpg");
    identify(&["--sysroot", word(&file)]).expect(2);
}

/// Whatever machine this is, its own storage can be told of, and dumped without the host's name.
#[test]
fn the_running_system() {
    let home = Home::new();
    let ended = identify(&[word(home.place())]).expect(0);
    assert!(ended.stdout.contains("Linux "), "{}", ended.stdout);
    let dump = identify(&["--dump", "-"]).expect(0).stdout;
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    if host.trim().len() > 4 {
        assert!(!dump.contains(host.trim()), "the host's name is in the dump");
    }
}

#[test]
fn signs_of_a_counterfeit_are_told_of_a_pasted_cid() {
    let registers = "cid: fe3432534d49202010000000000161a5\ncsd: 400e00325b590000edc87f800a400000";
    let told = identify(&["--raw", registers]).expect(0).stdout;
    for words in ["a strong suspicion", "serial number is zero", "cardproof verify"] {
        assert!(told.contains(words), "{words}\n{told}");
    }
    let genuine = "cid: 035344534e363447867e650771016b8d\ncsd: 400e0032db790001dbd37f800a4040f9";
    let told = identify(&["--raw", genuine]).expect(0).stdout;
    assert!(!told.contains("suspicion"), "{told}");
    let quoted = "&gt; cid: 035344534e363447867e650771016b8d<br>";
    assert!(identify(&["--raw", quoted]).expect(0).stdout.contains("SanDisk"));
}
