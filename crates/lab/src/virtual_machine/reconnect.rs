//! The laboratory of reconnecting: a card behind Linux's own MMC stack and two USB disks are tested with
//! `verify --reconnect`, which takes them from the system and brings them back.
//!
//! Whether the kernel made a new disk is read from its own count of disks (`diskseq`), not from what
//! the program says.

use anyhow::Result;
use serde_json::Value;

use super::{Disk, answers};

const MODULES: &[&str] = &["sdhci-pci", "mmc_block", "xhci_pci", "usb-storage", "uas", "sd_mod"];

/// For each disk: its count, the test, and its count again. Then for two of them: the test is killed
/// while the disk is away, and the count after the disk is there again.
const TASK: &str = "\
tries=0
for disk in mmcblk0 sda sdb sdc; do
  while [ ! -b /dev/$disk ] && [ $tries -lt 80 ]; do sleep 0.25; tries=$((tries + 1)); done
done
sleep 1
of_size() {
  for disk in /sys/block/*; do
    if [ \"$(cat $disk/size)\" = \"$(($1 / 512))\" ]; then basename $disk; fi
  done
}
for words in 67108864:0xdeadbeef 50331648:STICK 41943040:UAS; do
  size=${words%%:*}
  disk=$(of_size $size)
  before=$(cat /sys/block/$disk/diskseq)
  cardproof verify /dev/$disk --destroy=$disk:$words --exclude-store 8M --reconnect --json /answer
  status=$?
  after=$(cat /sys/block/$(of_size $size)/diskseq)
  echo \"$words status $status disks $before $after $(tr -d '\\n' < /answer)\"
  rm -f /answer
done
for words in 67108864:0xdeadbeef 41943040:UAS; do
  size=${words%%:*}
  disk=$(of_size $size)
  before=$(cat /sys/block/$disk/diskseq)
  cardproof verify /dev/$disk --destroy=$disk:$words --exclude-store 8M --reconnect &
  tries=0
  while [ -n \"$(of_size $size)\" ] && [ $tries -lt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -KILL $!
  wait $!
  tries=0
  while [ -z \"$(of_size $size)\" ] && [ $tries -lt 200 ]; do sleep 0.1; tries=$((tries + 1)); done
  after=$(cat /sys/block/$(of_size $size)/diskseq)
  echo \"$words killed $before $after\"
done
";

/// The tests that are killed.
const KILLED: usize = 2;

const MIB: u64 = 1 << 20;

const DISKS: &[Disk] = &[
    Disk { name: "card", size_bytes: 64 * MIB, devices: &["sdhci-pci", "sd-card,drive=card"] },
    Disk {
        name: "stick",
        size_bytes: 48 * MIB,
        devices: &["qemu-xhci,id=usb", "usb-storage,bus=usb.0,drive=stick,serial=STICK"],
    },
    Disk {
        name: "uas",
        size_bytes: 40 * MIB,
        devices: &["usb-uas,id=uas,bus=usb.0,serial=UAS", "scsi-hd,bus=uas.0,drive=uas"],
    },
];

/// Boots the machine and looks at what the test says of each disk.
pub(super) fn run() -> Result<bool> {
    let answers = answers(MODULES, TASK, DISKS)?;
    let faults = faults(&answers);
    if !faults.is_empty() {
        println!("{answers}");
    }
    for fault in &faults {
        println!("{fault}");
    }
    println!(
        "{} disks reconnected, {KILLED} of them after a kill too, {} wrong",
        DISKS.len(),
        faults.len()
    );
    Ok(faults.is_empty())
}

/// What is wrong with `answers`: a line for each disk, its words, status, counts and answer.
fn faults(answers: &str) -> Vec<String> {
    let lines: Vec<&str> = answers.lines().filter(|line| line.contains(" status ")).collect();
    let mut faults: Vec<String> = lines.iter().filter_map(|line| fault(line)).collect();
    if lines.len() != DISKS.len() {
        faults.push(format!("{} answers instead of {}", lines.len(), DISKS.len()));
    }
    let killed: Vec<&str> = answers.lines().filter(|line| line.contains(" killed ")).collect();
    faults.extend(killed.iter().filter_map(|line| fault_after_kill(line)));
    if killed.len() != KILLED {
        faults.push(format!("{} tests killed instead of {KILLED}", killed.len()));
    }
    faults
}

/// What is wrong with the line of a test that was killed: the disk's words, and its counts.
fn fault_after_kill(line: &str) -> Option<String> {
    let (disk, counts) = line.split_once(" killed ")?;
    let count = |text: &str| text.trim().parse::<u64>().ok();
    let is_back = counts
        .split_once(' ')
        .is_some_and(|(before, after)| count(before) < count(after) && count(before).is_some());
    (!is_back).then(|| format!("{disk}: not connected again after a kill, disks {counts}"))
}

fn fault(line: &str) -> Option<String> {
    let mut words = line.splitn(7, ' ');
    let mut next = || words.next().unwrap_or_default();
    let (disk, _, status, _, before, after, answer) =
        (next(), next(), next(), next(), next(), next(), next());
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let count = |text: &str| text.parse::<u64>().unwrap_or_default();
    let is_new = count(before) < count(after);
    let is_right =
        status == "0" && answer["verdict"] == "genuine" && answer["reconnected"] == true && is_new;
    (!is_right).then(|| format!("{disk}: status {status}, disks {before} to {after}, {answer}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_stayed_is_a_fault() {
        let answer = r#"{"verdict": "genuine", "reconnected": true}"#;
        assert_eq!(fault(&format!("1:A status 0 disks 4 9 {answer}")), None);
        assert!(fault(&format!("1:A status 0 disks 4 4 {answer}")).is_some());
        assert!(fault("1:A status 0 disks 4 9 {}").is_some());
        assert_eq!(faults("").len(), 2);
    }

    #[test]
    fn a_disk_that_stayed_away_after_a_kill_is_a_fault() {
        assert_eq!(fault_after_kill("1:A killed 4 9"), None);
        for counts in ["4 4", "4 ", " 9"] {
            assert!(fault_after_kill(&format!("1:A killed {counts}")).is_some());
        }
    }
}
