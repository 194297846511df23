//! The laboratory of identities: an SD card behind a standard host controller, driven by Linux's
//! own MMC stack, with USB, NVMe and virtio disks beside it.
//!
//! What the program says of each is compared, field by field, with what QEMU was told to be.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Disk, answers};

/// Drivers of everything that the machine has.
const MODULES: &[&str] = &[
    "sdhci-pci",
    "mmc_block",
    "nvme",
    "virtio_pci",
    "virtio_blk",
    "xhci_pci",
    "usb-storage",
    "uas",
    "sd_mod",
];

/// Waits for the disks to be found, then asks about each.
const TASK: &str = "\
tries=0
for disk in mmcblk0 nvme0n1 vda sda sdb; do
  while [ ! -b /dev/$disk ] && [ $tries -lt 60 ]; do sleep 0.25; tries=$((tries + 1)); done
done
for disk in $(ls /sys/block); do
  echo \"== $disk\"
  cardproof identify /dev/$disk --json - || echo null
done
";

const MIB: u64 = 1 << 20;

const DISKS: &[Disk] = &[
    Disk { name: "card", size_bytes: 1024 * MIB, devices: &["sdhci-pci", "sd-card,drive=card"] },
    Disk { name: "nvme", size_bytes: 96 * MIB, devices: &["nvme,drive=nvme,serial=SECRET-NVME"] },
    Disk {
        name: "virtio",
        size_bytes: 80 * MIB,
        devices: &["virtio-blk-pci,drive=virtio,serial=SECRET-VIRTIO"],
    },
    Disk {
        name: "stick",
        size_bytes: 64 * MIB,
        devices: &["qemu-xhci,id=usb", "usb-storage,bus=usb.0,drive=stick,serial=SECRET-STICK"],
    },
    Disk {
        name: "uas",
        size_bytes: 48 * MIB,
        devices: &["usb-uas,id=uas,bus=usb.0", "scsi-hd,bus=uas.0,drive=uas,serial=SECRET-UAS"],
    },
];

/// Boots the machine, asks the program about every disk, compares.
pub(super) fn run() -> Result<bool> {
    let answers = answers(MODULES, TASK, DISKS)?;
    compare(&answers)
}

/// What the program must say: the disk, the place in its answer, the value.
const EXPECTED: &[(&str, &str, &str)] = &[
    ("mmcblk0", "/device/transport", r#""sd""#),
    ("mmcblk0", "/device/card/product", r#""QEMU!""#),
    ("mmcblk0", "/device/card/manufacturer_id", r#""0xaa""#),
    ("mmcblk0", "/device/card/oem_id", r#""0x5859""#),
    ("mmcblk0", "/device/card/manufactured", r#""2006-02""#),
    ("mmcblk0", "/device/card/hardware_revision", "0"),
    ("mmcblk0", "/device/card/capacity_bytes", "1073741824"),
    ("mmcblk0", "/device/card/allocation_unit_bytes", "null"),
    ("mmcblk0", "/device/size_bytes", "1073741824"),
    ("mmcblk0", "/device/bus/mode", r#""sd high-speed""#),
    ("mmcblk0", "/device/bus/width_bits", "4"),
    // The controller cannot make 50 MHz of its base clock.
    ("mmcblk0", "/device/bus/clock_hz", "26000000"),
    ("mmcblk0", "/ceiling/bytes_per_s", "13000000"),
    ("nvme0n1", "/device/transport", r#""nvme""#),
    ("nvme0n1", "/device/model", r#""QEMU NVMe Ctrl""#),
    ("nvme0n1", "/device/size_bytes", "100663296"),
    ("vda", "/device/transport", r#""virtio""#),
    ("vda", "/device/size_bytes", "83886080"),
    ("sda", "/device/transport", r#""usb""#),
    ("sdb", "/device/transport", r#""usb""#),
];

/// What must stand in no answer: parts of serial numbers.
const SECRETS: &[&str] = &["SECRET", "deadbeef", "DEADBEEF", "3735928559"];

/// Compares every answer with what the machine was told to be, and prints what differs.
fn compare(answers: &str) -> Result<bool> {
    let answers = split(answers)?;
    let mut faults = Vec::new();
    for &(disk, place, wanted) in EXPECTED {
        let found = answers.iter().find(|(name, _)| name == disk);
        let found = found.and_then(|(_, answer)| answer.pointer(place)).unwrap_or(&Value::Null);
        if *found != serde_json::from_str::<Value>(wanted)? {
            faults.push(format!("{disk}{place} is {found}, not {wanted}"));
        }
    }
    faults.extend(usb_faults(&answers));
    let text =
        serde_json::to_string(&answers.iter().map(|(_, answer)| answer).collect::<Vec<_>>())?;
    for secret in SECRETS.iter().filter(|&&secret| text.contains(secret)) {
        faults.push(format!("a serial number shows: {secret}"));
    }
    for fault in &faults {
        println!("{fault}");
    }
    println!(
        "{} disks identified, {} fields compared, {} wrong",
        answers.len(),
        EXPECTED.len() + 2,
        faults.len()
    );
    Ok(faults.is_empty())
}

/// Of the two USB disks, which come in any order, one speaks each protocol and has its size.
fn usb_faults(answers: &[(String, Value)]) -> Vec<String> {
    [("usb-storage", 64 * MIB), ("uas", 48 * MIB)]
        .into_iter()
        .filter(|&(driver, size)| {
            !answers.iter().any(|(_, answer)| {
                answer.pointer("/usb/driver") == Some(&Value::from(driver))
                    && answer.pointer("/device/size_bytes") == Some(&Value::from(size))
            })
        })
        .map(|(driver, size)| format!("no USB disk of {size} bytes is driven by {driver}"))
        .collect()
}

/// The answers by disk: each stands below a line `== NAME`.
fn split(answers: &str) -> Result<Vec<(String, Value)>> {
    let mut parts = answers.split("== ");
    if parts.next() != Some("") {
        bail!("the machine said something else first:\n{answers}");
    }
    parts
        .map(|part| {
            let (name, answer) = part.split_once('\n').context("an answer without a name")?;
            let answer = serde_json::from_str(answer)
                .with_context(|| format!("the answer about {name} is no JSON:\n{answer}"))?;
            Ok((name.to_owned(), answer))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told() {
        let right = "== mmcblk0\n{\"device\": {\"transport\": \"sd\"}}\n== vda\nnull\n";
        let answers = split(right).unwrap();
        assert_eq!(answers.len(), 2);
        assert_eq!(answers[0].1.pointer("/device/transport"), Some(&Value::from("sd")));
        assert_eq!(usb_faults(&answers).len(), 2);
        assert!(!compare(right).unwrap());
    }

    #[test]
    fn talk_before_the_answers_is_an_error() {
        assert!(split("panic\n== vda\nnull\n").is_err());
    }
}
