//! What the kernel has counted of each storage device since it found it, and by what the device is known again.

use std::collections::BTreeMap;

use crate::Sysroot;
use crate::block::BlockDevice;

/// Beginnings of the names of devices that are storage of their own.
const STORAGE: [&str; 4] = ["mmcblk", "sd", "nvme", "vd"];

/// Files that tell a device from another of its kind, the surest first: a card's register, a disk's number.
const IDENTITIES: [&str; 4] = ["device/cid", "wwid", "device/wwid", "device/serial"];

/// The counters of a storage device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageCounters {
    /// The kernel's name, such as `mmcblk0`.
    pub name: String,
    /// The identity of the storage: its CID or serial number where the kernel tells one, else model and size.
    /// It is private: keep only a hash of it.
    pub identity: String,
    /// A number that changes whenever the kernel finds a device anew (`diskseq`, from Linux 5.15 on); zero before.
    pub found_as: u64,
    /// The fields of `stat`.
    pub counters: Vec<u64>,
    /// Sectors of 512 bytes read and written of each partition, by its number.
    pub partitions: BTreeMap<u32, (u64, u64)>,
}

/// The counters of all storage devices below `root` that have a medium.
#[must_use]
pub fn storage_counters(root: &Sysroot) -> Vec<StorageCounters> {
    let names = root.list("sys/class/block").unwrap_or_default();
    let is_storage = |name: &&String| STORAGE.iter().any(|kind| name.starts_with(kind));
    names.iter().filter(is_storage).filter_map(|name| of_device(root, name)).collect()
}

fn of_device(root: &Sysroot, name: &str) -> Option<StorageCounters> {
    let device = BlockDevice::by_name(root, name)?;
    // The boot areas of an eMMC are no storage of the user's.
    let is_area = name.starts_with("mmcblk") && (name.contains("boot") || name.ends_with("rpmb"));
    let size = device.size().filter(|size| size.get() > 0)?;
    if device.is_partition() || is_area {
        return None;
    }
    let identity = IDENTITIES.iter().find_map(|file| device.text(file)).unwrap_or_else(|| {
        let model = device.text("device/model").unwrap_or_default();
        format!("{name} {model} {}", size.get())
    });
    let partitions = device.partitions().into_iter().filter_map(|partition| {
        let number: u32 = partition.text("partition")?.parse().ok()?;
        let fields = partition.counters()?;
        Some((number, (*fields.get(2)?, *fields.get(6)?)))
    });
    Some(StorageCounters {
        name: name.to_owned(),
        identity,
        found_as: device.text("diskseq").and_then(|text| text.parse().ok()).unwrap_or(0),
        counters: device.counters()?,
        partitions: partitions.collect(),
    })
}

/// The number of this start of the computer, from the kernel's random one; `None` where it tells none.
#[must_use]
pub fn boot_number(root: &Sysroot) -> Option<u64> {
    let text = root.text("proc/sys/kernel/random/boot_id")?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).take(15).collect();
    u64::from_str_radix(&digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_devices_with_a_medium_are_counted_with_their_partitions() {
        let card = "sys/devices/platform/x.mmc/mmc_host/mmc0/mmc0:aaaa";
        let block = format!("{card}/block/mmcblk0");
        let root = Sysroot::from_dump(&format!(
            "# cardproof dump 1\n\
             sys/class/block/mmcblk0 -> {block}\n\
             sys/class/block/mmcblk0p2 -> {block}/mmcblk0p2\n\
             sys/class/block/mmcblk0boot0 -> {block}/mmcblk0boot0\n\
             sys/class/block/sda -> sys/devices/usb/block/sda\n\
             sys/class/block/loop0 -> sys/devices/virtual/block/loop0\n\
             sys/devices/usb/block/sda/size = 0\n\
             sys/devices/virtual/block/loop0/size = 8\n\
             {block}/mmcblk0boot0/size = 8192\n\
             {block}/size = 62333952\n\
             {block}/diskseq = 9\n\
             {block}/stat = 1 2 3 4 5 6 7 8 9 10 11\n\
             {block}/device -> {card}\n\
             {card}/cid = aa\n\
             {block}/mmcblk0p2/partition = 2\n\
             {block}/mmcblk0p2/stat = 1 2 30 4 5 6 70 8 9 10 11\n\
             proc/sys/kernel/random/boot_id = 0123abcd-0000-4000-8000-000000000001\n"
        ))
        .unwrap();
        let found = storage_counters(&root);
        let [card] = found.as_slice() else { panic!("{found:#?}") };
        assert_eq!(
            (card.name.as_str(), card.identity.as_str(), card.found_as),
            ("mmcblk0", "aa", 9)
        );
        assert_eq!(card.counters, (1..=11).collect::<Vec<u64>>());
        assert_eq!(card.partitions, [(2, (30, 70))].into());
        assert_eq!(boot_number(&root), Some(0x0012_3abc_d000_0400));
    }
}
