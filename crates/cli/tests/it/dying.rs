//! Cards that die, on recorded machines with signs added to them: `health`, `check` and `identify` say it and end
//! with 4.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::home::{Home, word};
use crate::process::{Ended, run};

/// A recorded machine, with lines added to its dump.
struct Machine {
    home: Home,
    dump: String,
}

impl Machine {
    fn new(tree: &str, more: &[&str]) -> Self {
        Self::replacing(tree, "", "", more)
    }

    /// The same with `old` in the dump replaced by `new`.
    fn replacing(tree: &str, old: &str, new: &str, more: &[&str]) -> Self {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../device/tests/trees/{tree}.txt"));
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(old), "{old} is in {tree}");
        let text = if old.is_empty() { text } else { text.replace(old, new) };
        let home = Home::new();
        let dump = home.data().join("machine.txt");
        fs::write(&dump, text + &more.join("\n") + "\n").unwrap();
        Self { dump: word(&dump).to_owned(), home }
    }

    fn run(&self, words: &[&str]) -> Ended {
        let mut command =
            self.home.cardproof(&[words, &["--sysroot", self.dump.as_str()]].concat());
        command.env("COLUMNS", "80");
        run(command)
    }

    fn json(&self, words: &[&str], status: i32) -> Value {
        let words = [words, &["--json", "-"]].concat();
        serde_json::from_str(&self.run(&words).expect(status).stdout).unwrap()
    }

    /// The verdict of `health`, whose status must be `status`.
    fn verdict(&self, status: i32) -> String {
        let health = self.json(&["health"], status);
        health["health"]["verdict"].as_str().unwrap().to_owned()
    }
}

const PI_5: &str = "pi5_a2_command_queue";

const IO_ERRORS: &str = "dmesg = [  303.201200] I/O error, dev mmcblk0, sector 10372992 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2\n\
dmesg = [  304.300000] Buffer I/O error on dev mmcblk0p2, logical block 139265, lost sync page write";
const ABORTED: &str = "dmesg = [  304.500000] Aborting journal on device mmcblk0p2-8.";
const READ_ONLY: &str =
    "dmesg = [  304.600000] EXT4-fs (mmcblk0p2): Remounting filesystem read-only";
const CRC: &str = "sys/kernel/debug/mmc0/err_stats = # Command Timeout Occurred:\\x09 4\n\
sys/kernel/debug/mmc0/err_stats = # Command CRC Errors Occurred:\\x09 345";

/// The dump has its log first, since lines of one file stand together.
fn broken_pi_5() -> Machine {
    let line = "dmesg = [    0.713317] mmc0: new ultra high speed SDR104 SDXC card at address 59b4";
    let more = [line, IO_ERRORS, ABORTED, READ_ONLY].join("\n");
    Machine::replacing(PI_5, line, &more, &[CRC])
}

#[test]
fn a_dying_card_is_called_so_by_every_command_that_looks_at_it() {
    let machine = broken_pi_5();
    let text = machine.run(&["health"]).expect(4).stdout;
    for words in [
        "COPY YOUR DATA NOW",
        "failed write",
        "turned read-only",
        "345 wrong checksums",
        "another reader",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let identity = machine.run(&["identify"]).expect(4).stdout;
    let head: String = identity.lines().take(6).collect();
    assert!(head.contains("COPY YOUR DATA NOW"), "it leads: {identity}");
    let check = machine.run(&["check"]).expect(4).stdout;
    assert!(check.contains("FAILING: COPY YOUR DATA NOW"), "{check}");
    assert!(check.contains("copy your data to another device now"), "{check}");
    assert!(check.lines().count() <= 24, "{check}");
    let found = machine.json(&["identify"], 4);
    assert_eq!(found["health"]["verdict"], "copy_now");
}

/// Each of these signs alone is enough, or is not.
#[test]
fn each_sign_has_its_verdict() {
    let line = "dmesg = [    0.713317] mmc0: new ultra high speed SDR104 SDXC card at address 59b4";
    let with_log = |more: &str| Machine::replacing(PI_5, line, &format!("{line}\n{more}"), &[]);
    for more in [IO_ERRORS, ABORTED, READ_ONLY] {
        assert_eq!(with_log(more).verdict(4), "copy_now", "{more}");
    }
    let with_file = |more: &str| Machine::new(PI_5, &[more]);
    assert_eq!(with_file(CRC).verdict(0), "watch_it");
    assert_eq!(with_file("sys/fs/ext4/mmcblk0p2/errors_count = 3").verdict(4), "copy_now");
    assert_eq!(with_file("sys/fs/ext4/mmcblk0p2/errors_count = 0").verdict(0), "fine");
    let mount = "27 1 179:2 / / rw,noatime shared:1 - ext4 /dev/mmcblk0p2 ";
    let read_only = Machine::replacing(PI_5, &format!("{mount}rw"), &format!("{mount}ro"), &[]);
    assert_eq!(read_only.verdict(4), "copy_now");
    assert_eq!(Machine::new(PI_5, &[]).verdict(0), "fine");
}

#[test]
fn another_devices_errors_are_not_this_cards() {
    let line = "dmesg = [    0.713317] mmc0: new ultra high speed SDR104 SDXC card at address 59b4";
    let other = IO_ERRORS.replace("mmcblk0", "sda");
    let machine = Machine::replacing(PI_5, line, &format!("{line}\n{other}"), &[]);
    assert_eq!(machine.verdict(0), "fine");
}

/// A volume on the card, swap on it, and a card that did not start: each is about the card.
#[test]
fn what_names_the_card_in_another_way_is_the_cards() {
    let line = "dmesg = [    0.713317] mmc0: new ultra high speed SDR104 SDXC card at address 59b4";
    let with_log = |more: &str| Machine::replacing(PI_5, line, &format!("{line}\n{more}"), &[]);
    let swap = "dmesg = [  304.3] Read-error on swap-device (179:2:6312)";
    assert_eq!(with_log(swap).verdict(4), "copy_now");
    assert_eq!(with_log(&swap.replace("179", "8")).verdict(0), "fine");
    let failed = "dmesg = [   12.3] mmc1: error -110 whilst initialising SD card";
    let machine = with_log(failed);
    assert_eq!(machine.verdict(0), "fine");
    for name in ["/dev/mmcblk1", "mmc1"] {
        assert_eq!(machine.json(&["health", name], 4)["health"]["verdict"], "dead", "{name}");
    }
}

#[test]
fn without_a_log_nothing_is_called_fine() {
    let log = "dmesg = [    0.713305] mmc0: Command Queue Engine enabled, 31 tags\n\
               dmesg = [    0.713317] mmc0: new ultra high speed SDR104 SDXC card at address 59b4";
    let machine = Machine::replacing(PI_5, log, "dmesg !", &[]);
    assert_eq!(machine.verdict(1), "not_known");
    let text = machine.run(&["health"]).expect(1).stdout;
    assert!(text.contains("sudo cardproof health"), "{text}");
}

/// A card with errors was taken out and another one put in, or it fell off its bus and came back by itself.
#[test]
fn errors_of_a_card_that_was_taken_out_are_not_those_of_the_one_that_is_there() {
    let line = "dmesg = [    0.713317] mmc0: new ultra high speed SDR104 SDXC card at address 59b4";
    let swapped = |before: &str, now: &str| {
        let found = |card: &str| format!("dmesg = [    0.714000] mmcblk0: mmc0:{card}");
        let (before, now) = (found(before), found(now));
        let removed = "dmesg = [  310.400000] mmc0: card 59b4 removed";
        let log = [line, &before, IO_ERRORS, removed, line, &now];
        Machine::replacing(PI_5, line, &log.join("\n"), &[])
    };
    let other = swapped("59b4 USD00 29.5 GiB", "59b4 ED2S5 119 GiB");
    assert_eq!(other.verdict(0), "fine");
    let text = other.run(&["health"]).expect(0).stdout;
    assert!(text.contains("2 errors of what was in this place before it"), "{text}");
    assert!(text.contains("no sign of trouble of this medium"), "{text}");
    for command in ["health", "check", "identify"] {
        let text = other.run(&[command]).expect(0).stdout;
        assert!(!text.contains("COPY YOUR DATA"), "{text}");
    }
    let check = other.run(&["check"]).expect(0).stdout;
    let check = check.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(check.contains("no error of this medium in"), "{check}");
    assert!(check.contains("2 errors of what was in this place before it"), "{check}");
    assert_eq!(swapped("59b4 ED2S5 119 GiB", "59b4 ED2S5 119 GiB").verdict(4), "copy_now");
}
