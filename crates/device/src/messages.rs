//! Which messages of a kernel's log are about a device: those that name it, the place where it is attached, or what
//! rests on it, such as a volume of dm-crypt or LVM, or an array.
//!
//! A file that is used as a device is none of these: it fails where it is cut off or its file system is full, and where
//! its disk fails the log tells that of the disk as well.

use std::collections::BTreeSet;

use cardproof_kernel_log::{DeviceLog, KernelLog, Trouble, TroubleKind, is_layer, is_place};

use crate::block::BlockDevice;
use crate::device::LAYERS_MAX;
use crate::{DeviceNumber, Sysroot};

/// What `log` tells of the device `name`, whose card is in `host`; `None` where it tells nothing.
pub(crate) fn of_device(
    root: &Sysroot,
    log: &KernelLog,
    name: &str,
    host: Option<&str>,
) -> Option<DeviceLog> {
    let known = log.of(name, host).cloned();
    let mut found = known.clone().unwrap_or_default();
    found.device = Some(name.to_owned());
    let Some(device) = BlockDevice::by_name(root, name) else { return known };
    let layers = Stacks::new(root);
    for trouble in &log.others {
        let place = trouble.place.as_deref().unwrap_or_default();
        if layers.is_at(&device, place) {
            let mut own = trouble.clone();
            own.place = None;
            found.add(own);
        }
    }
    for layer in log.devices.iter().filter(|it| !it.troubles.is_empty()) {
        let layer_name = layer.device.as_deref().unwrap_or_default();
        let Some(is_indirect) = layers.share(layer_name, name) else { continue };
        for trouble in &layer.troubles {
            let mut own = trouble.clone();
            own.is_indirect = is_indirect;
            found.add(own);
        }
    }
    (known.is_some() || !found.troubles.is_empty()).then_some(found)
}

/// What `log` tells of the device `name`, whose card is in `host`, and of the computer's power.
pub(crate) fn troubles(
    root: &Sysroot,
    log: &KernelLog,
    name: &str,
    host: Option<&str>,
) -> Vec<Trouble> {
    let own = of_device(root, log, name, host).map(|device| device.troubles).unwrap_or_default();
    let power = log.others.iter().filter(|it| it.kind == TroubleKind::UnderVoltage);
    own.into_iter().chain(power.cloned()).collect()
}

/// The devices that the kernel makes of others, and what they are made of.
#[derive(Debug)]
pub(crate) struct Stacks<'root> {
    root: &'root Sysroot,
}

impl<'root> Stacks<'root> {
    pub(crate) const fn new(root: &'root Sysroot) -> Self {
        Self { root }
    }

    /// Whether the layer called `layer` rests on `name`: with others beside it (`Some(true)`) or on it alone.
    pub(crate) fn share(&self, layer: &str, name: &str) -> Option<bool> {
        let device = BlockDevice::by_name(self.root, layer).filter(|_| is_layer(layer))?;
        let below = self.below(&device, LAYERS_MAX);
        below.contains(name).then_some(below.len() > 1)
    }

    /// Whether `device` is at `place`, which the kernel's log tells instead of a name.
    fn is_at(&self, device: &BlockDevice<'_>, place: &str) -> bool {
        if !is_place(place) {
            return false;
        }
        if let Ok(number) = place.parse::<DeviceNumber>() {
            let Some(numbered) = BlockDevice::by_number(self.root, number) else { return false };
            let is_alone = self.below(&numbered, LAYERS_MAX).len() == 1;
            return is_alone && self.below(&numbered, LAYERS_MAX).contains(device.name());
        }
        device.ancestors().any(|path| path.file_name().is_some_and(|name| name == place))
    }

    /// The whole devices that `device` rests on, itself where it is no layer; none of a file.
    fn below(&self, device: &BlockDevice<'root>, layers_left: usize) -> BTreeSet<String> {
        let whole = device.whole();
        let Some(layers_left) = layers_left.checked_sub(1) else { return BTreeSet::new() };
        let mut below = device.slaves();
        below.extend(whole.slaves());
        if below.is_empty() && !is_layer(whole.name()) {
            return BTreeSet::from([whole.name().to_owned()]);
        }
        below.iter().flat_map(|device| self.below(device, layers_left)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &str = "sys/devices/platform/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0";
    const DISK: &str =
        "sys/devices/pci0000:00/usb2/2-1/2-1:1.0/host0/target0:0:0/0:0:0:0/block/sda";
    const SATA: &str = "sys/devices/pci0000:00/ata1/host2/target2:0:0/2:0:0:0/block/sdb";

    /// A device in `directory` with the number `number` and one partition.
    fn disk(directory: &str, number: &str, partition: &str, part_number: &str) -> String {
        let name = directory.rsplit('/').next().unwrap();
        format!(
            "sys/class/block/{name} -> {directory}\n{directory}/dev = {number}\n\
             sys/dev/block/{number} -> {directory}\n\
             sys/class/block/{partition} -> {directory}/{partition}\n\
             sys/dev/block/{part_number} -> {directory}/{partition}\n\
             {directory}/{partition}/dev = {part_number}\n{directory}/{partition}/partition = 1\n"
        )
    }

    /// A device made of `parts`.
    fn layer(name: &str, number: &str, parts: &[&str]) -> String {
        let directory = format!("sys/devices/virtual/block/{name}");
        let made_of = |part: &&str| {
            let whole = if part.starts_with("mmc") { CARD } else { DISK };
            format!("{directory}/slaves/{part} -> {whole}/{part}\n")
        };
        let parts: String = parts.iter().map(made_of).collect();
        format!(
            "sys/class/block/{name} -> {directory}\n{directory}/dev = {number}\n\
             sys/dev/block/{number} -> {directory}\n{parts}"
        )
    }

    /// A card, a USB disk and a SATA disk, with `dm-0` on the card, `dm-1` on the USB disk, `md0` on both, and
    /// `loop0` in a file on the card.
    fn computer() -> Sysroot {
        let parts = [
            "# cardproof dump 1\n".to_owned(),
            disk(CARD, "179:0", "mmcblk0p2", "179:2"),
            disk(DISK, "8:0", "sda1", "8:1"),
            disk(SATA, "8:16", "sdb1", "8:17"),
            layer("dm-0", "254:0", &["mmcblk0p2"]),
            layer("dm-1", "254:1", &["sda1"]),
            layer("md0", "9:0", &["mmcblk0p2", "sda1"]),
            layer("loop0", "7:0", &[]),
            "sys/devices/virtual/block/loop0/loop/backing_file = /home/pi/disk.img\n".to_owned(),
            "proc/self/mountinfo = 27 1 179:2 / / rw,noatime - ext4 /dev/mmcblk0p2 rw\n".to_owned(),
        ];
        Sysroot::from_dump(&parts.concat()).unwrap()
    }

    /// The devices to which `line` is attributed, and whether each has only a part in it.
    fn owners(line: &str) -> Vec<(&'static str, bool)> {
        let root = computer();
        let log = cardproof_kernel_log::read_named([(1, line)]);
        let told = |name: &'static str| {
            let troubles = troubles(&root, &log, name, (name == "mmcblk0").then_some("mmc0"));
            troubles.first().map(|it| (name, it.is_indirect))
        };
        ["mmcblk0", "sda", "sdb"].into_iter().filter_map(told).collect()
    }

    #[test]
    fn a_message_is_of_the_device_that_it_is_about() {
        let (card, disk, sata) = (("mmcblk0", false), ("sda", false), ("sdb", false));
        for (line, expected) in [
            ("I/O error, dev mmcblk0, sector 8 op 0x0:(READ)", vec![card]),
            ("Aborting journal on device dm-0-8.", vec![card]),
            ("EXT4-fs (dm-1): Remounting filesystem read-only", vec![disk]),
            ("EXT4-fs (dm-7): Remounting filesystem read-only", vec![]),
            (
                "EXT4-fs error (device md0): ext4_lookup:1785: inode #12: iget: bogus i_mode (0)",
                vec![("mmcblk0", true), ("sda", true)],
            ),
            ("md/raid1:md0: Disk failure on sda1, disabling device.", vec![disk]),
            ("I/O error, dev loop0, sector 8 op 0x0:(READ)", vec![]),
            ("Read-error on swap-device (179:2:6312)", vec![card]),
            ("Read-error on swap-device (254:1:6312)", vec![disk]),
            ("Read-error on swap-device (253:0:6312)", vec![]),
            ("usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd", vec![disk]),
            ("usb 1-1: reset high-speed USB device number 2 using xhci_hcd", vec![]),
            ("ata1.00: error: { ICRC ABRT }", vec![sata]),
            ("ata2.00: error: { UNC }", vec![]),
            ("sd 2:0:0:0: Device offlined - not ready after error recovery", vec![sata]),
            (
                "Under-voltage detected! (0x00050005)",
                vec![("mmcblk0", false), ("sda", false), ("sdb", false)],
            ),
        ] {
            assert_eq!(owners(line), expected, "{line}");
        }
    }
}
