//! The condition of a storage in use, as far as the kernel tells: its log, mounts and counters. Nothing is written
//! and no device is opened.
//!
//! Sources in the kernel: `drivers/mmc/core/debugfs.c` (`err_stats`, from Linux 6.0 on), `fs/ext4/sysfs.c`
//! (`errors_count`), Documentation/block/stat.rst, Documentation/ABI/testing/pstore.

use cardproof_kernel_log::{Trouble, TroubleKind, is_file};
use cardproof_registers::{MmcCsd, Register, SdCsd};

use crate::Sysroot;
use crate::block::BlockDevice;
use crate::identify::errors::{HostErrors, LogAccess, host_errors};
use crate::identify::kernel_log::kept_lines;
use crate::identify::mmc_host::MmcHost;
use crate::identify::sources::Sources;
use crate::messages::{Stacks, troubles};
use crate::mounts::{Mount, Mounts};
use crate::transport::is_mmc_card;

/// Where logs of crashes are: what the firmware kept, and where systemd moves it.
const CRASH_LOGS: [&str; 2] = ["sys/fs/pstore", "var/lib/systemd/pstore"];

/// At most so many files of crash logs are read.
const CRASH_FILES_MAX: usize = 16;

/// Options of a file system that has stopped itself: `emergency_ro` and `shutdown` of ext4, `cp_error` of F2FS.
const STOPPED: [&str; 3] = ["emergency_ro", "shutdown", "cp_error"];

/// What the kernel tells of a storage in use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Condition {
    /// Whether the kernel's log was read.
    pub log_access: LogAccess,
    /// What it tells since the start of this device, and of the computer's power.
    pub troubles: Vec<Trouble>,
    /// The errors in it of what had this name or was in this slot before another medium came.
    pub errors_before: Vec<Trouble>,
    /// The same of crashes of earlier runs.
    pub crash_troubles: Vec<Trouble>,
    /// The counters of the card's host that are not zero; `None` where they could not be read.
    pub host_errors: Option<Vec<HostErrors>>,
    /// Its mounted file systems, each once.
    pub mounted: Vec<MountCondition>,
    /// Whether there is a medium; `None` where the kernel does not tell.
    pub is_present: Option<bool>,
    /// Whether the kernel refuses all writes to it, or the card has protected itself.
    pub is_write_protected: bool,
    /// The fields of `stat`, in the kernel's order.
    pub counters: Option<Vec<u64>>,
}

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountCondition {
    /// The kernel's name of the partition, such as `mmcblk0p2`.
    pub partition: String,
    /// The type of the file system.
    pub filesystem: String,
    /// Its options, those of this mount and those of the file system.
    pub options: Vec<String>,
    /// It was mounted for writing and takes no writes: the kernel has turned it read-only.
    pub is_turned_read_only: bool,
    /// Errors that it has noted on the device since the last repair (ext4 only).
    pub noted_errors: Option<u64>,
}

/// The condition of the block device called `name`, such as `mmcblk0`.
#[must_use]
pub fn condition(root: &Sysroot, name: &str) -> Condition {
    let sources = Sources::new(root);
    let device = BlockDevice::by_name(root, name);
    let card = device.as_ref().and_then(|device| {
        device.ancestors().find(|path| is_mmc_card(path)).map(ToOwned::to_owned)
    });
    let host = card.as_deref().and_then(MmcHost::of_card);
    let host_name = host.as_ref().map(|host| host.name.as_str());
    let crash_log = crash_log(root);
    let crashes = cardproof_kernel_log::read_named((1..).zip(crash_log.iter().map(String::as_str)));
    let mut condition = Condition {
        log_access: LogAccess::from(sources.log()),
        troubles: troubles(root, sources.messages(), name, host_name),
        errors_before: sources.messages().errors_before(name, host_name),
        crash_troubles: of_earlier_starts(name, || troubles(root, &crashes, name, host_name)),
        host_errors: host_name.and_then(|host| host_errors(root, host)),
        ..Condition::default()
    };
    let Some(device) = device else {
        condition.is_present = root.has("sys/class/block").then_some(false);
        return condition;
    };
    condition.is_present = device.size().map(|size| size.get() > 0);
    condition.is_write_protected = device.switch("ro") == Some(true)
        || card.is_some_and(|card| has_protected_itself(root, &card));
    condition.counters = device.text("stat").and_then(|text| counters(&text));
    condition.mounted = mounted(root, &device);
    condition
}

/// What the kernel tells of the card called `name`, such as `mmcblk0`, that it could not put to use, or whose slot has
/// none: `None` where there is such a device, or the kernel tells nothing of its slot.
#[must_use]
pub fn unusable_card(root: &Sysroot, name: &str) -> Option<Condition> {
    let slot = name.strip_prefix("mmcblk").filter(|number| number.parse::<u8>().is_ok())?;
    if BlockDevice::by_name(root, name).is_some() {
        return None;
    }
    let sources = Sources::new(root);
    let host = format!("mmc{slot}");
    let troubles = troubles(root, sources.messages(), name, Some(&host));
    let has_failed = troubles.iter().any(|it| matches!(it.kind, TroubleKind::Init(_)));
    has_failed.then(|| Condition {
        log_access: LogAccess::from(sources.log()),
        troubles,
        host_errors: host_errors(root, &host),
        is_present: Some(false),
        ..Condition::default()
    })
}

/// What another log of this computer tells of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogTroubles {
    /// Of the medium that is there, and of the computer's power.
    pub troubles: Vec<Trouble>,
    /// Errors of what had its name before another medium came.
    pub errors_before: Vec<Trouble>,
}

/// What `lines` of another log of this computer, the oldest first, tell of the device called `name` and of the
/// computer's power. Lines about a card of another name than the one that is there are left out, and those about a
/// disk of another size.
#[must_use]
pub fn log_troubles(root: &Sysroot, name: &str, lines: &[String]) -> LogTroubles {
    let device = BlockDevice::by_name(root, name);
    let card = device.as_ref().and_then(|device| device.ancestors().find(|path| is_mmc_card(path)));
    let host = card.and_then(MmcHost::of_card).map(|host| host.name);
    let product = card.and_then(|card| root.text(card.join("name")));
    let log = cardproof_kernel_log::read_named((1..).zip(lines.iter().map(String::as_str)));
    let known = log.of(name, host.as_deref()).map(|found| found.card.clone()).unwrap_or_default();
    let is_renamed = product.zip(known.name).is_some_and(|(now, then)| now.trim() != then.trim());
    let size = device.as_ref().and_then(BlockDevice::size).filter(|size| size.get() > 0);
    // The kernel rounds the size of a card, and tells that of a disk in full.
    let told = known.size_bytes.filter(|_| name.starts_with("sd"));
    let is_resized = size.zip(told).is_some_and(|(now, then)| now != then);
    if is_renamed || is_resized {
        return LogTroubles::default();
    }
    LogTroubles {
        troubles: troubles(root, &log, name, host.as_deref()),
        errors_before: log.errors_before(name, host.as_deref()),
    }
}

/// The same of a log of earlier starts.
#[must_use]
pub fn earlier_log_troubles(root: &Sysroot, name: &str, lines: &[String]) -> Vec<Trouble> {
    of_earlier_starts(name, || log_troubles(root, name, lines).troubles)
}

/// What earlier starts tell of the device called `name`: of a loop device nothing, for its file is put there anew after
/// each start.
fn of_earlier_starts(name: &str, told: impl FnOnce() -> Vec<Trouble>) -> Vec<Trouble> {
    if is_file(name) { Vec::new() } else { told() }
}

/// The number of each word of a line of counters; `None` where one is none.
fn counters(line: &str) -> Option<Vec<u64>> {
    line.split_ascii_whitespace().map(|word| word.parse().ok()).collect()
}

/// Whether the register of the card in the directory `card` says that it takes no writes.
fn has_protected_itself(root: &Sysroot, card: &std::path::Path) -> bool {
    let Some(csd) = root.text(card.join("csd")) else { return false };
    let is_emmc = root.text(card.join("type")).as_deref() == Some("MMC");
    if is_emmc {
        MmcCsd::from_hex(&csd).is_ok_and(|csd| csd.is_write_protected())
    } else {
        SdCsd::from_hex(&csd).is_ok_and(|csd| csd.is_write_protected())
    }
}

fn crash_log(root: &Sysroot) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for place in CRASH_LOGS {
        for name in root.list(place).unwrap_or_default() {
            let path = format!("{place}/{name}");
            if name.starts_with("dmesg") {
                files.push(path);
            } else if let Ok(below) = root.list(&path) {
                let logs = below.into_iter().filter(|name| name.starts_with("dmesg"));
                files.extend(logs.map(|name| format!("{path}/{name}")));
            }
        }
    }
    let texts = files.iter().take(CRASH_FILES_MAX).filter_map(|path| root.bytes(path).ok());
    texts.flat_map(|text| kept_lines(&text)).collect()
}

/// The file systems on `device`, on its partitions, and on volumes that rest on it alone.
fn mounted(root: &Sysroot, device: &BlockDevice<'_>) -> Vec<MountCondition> {
    let mounts = Mounts::read(root).unwrap_or_default();
    let layers = Stacks::new(root);
    let mut found: Vec<MountCondition> = Vec::new();
    for mount in mounts.iter() {
        let Some(partition) = mounted_device(root, mount) else { continue };
        let whole = partition.whole();
        let is_volume = || layers.share(whole.name(), device.name()) == Some(false);
        if whole.name() != device.name() && !is_volume() {
            continue;
        }
        let is_turned_read_only = is_turned_read_only(mount);
        match found.iter_mut().find(|known| known.partition == partition.name()) {
            // A file system that is mounted at several places is one.
            Some(known) => known.is_turned_read_only |= is_turned_read_only,
            None => found.push(MountCondition {
                partition: partition.name().to_owned(),
                filesystem: mount.kind.clone(),
                options: options(mount).map(str::to_owned).collect(),
                is_turned_read_only,
                noted_errors: root.number(format!("sys/fs/ext4/{}/errors_count", partition.name())),
            }),
        }
    }
    found
}

/// The device of `mount`; of a file system without a number of its own, such as Btrfs, that which was mounted.
fn mounted_device<'root>(root: &'root Sysroot, mount: &Mount) -> Option<BlockDevice<'root>> {
    if mount.device.is_anonymous() {
        return BlockDevice::by_node(root, &mount.source);
    }
    BlockDevice::by_number(root, mount.device)
}

fn options(mount: &Mount) -> impl Iterator<Item = &str> {
    mount.options.split(',').chain(mount.super_options.split(',')).filter(|it| !it.is_empty())
}

/// Whether the kernel has turned a file system read-only that was mounted for writing. Whoever mounts it
/// read-only sets the option of the mount; an error sets that of the file system alone (`SB_RDONLY`).
fn is_turned_read_only(mount: &Mount) -> bool {
    let has = |options: &str, wanted: &str| options.split(',').any(|option| option == wanted);
    let is_stopped = STOPPED.iter().any(|option| has(&mount.super_options, option));
    is_stopped || has(&mount.options, "rw") && has(&mount.super_options, "ro")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &str = "sys/devices/platform/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa";

    /// A card with one partition, and what `more` adds.
    fn root(more: &str) -> Sysroot {
        let block = format!("{CARD}/block/mmcblk0");
        let dump = format!(
            "# cardproof dump 1\n\
             sys/class/block/mmcblk0 -> {block}\n\
             {block}/dev = 179:0\n\
             {block}/size = 62333952\n\
             {block}/stat = 100 0 800 50 10 0 80 20 0 60 70\n\
             {block}/mmcblk0p2/partition = 2\n\
             {block}/mmcblk0p2/dev = 179:2\n\
             sys/dev/block/179:0 -> {block}\n\
             sys/dev/block/179:2 -> {block}/mmcblk0p2\n\
             {CARD}/type = SD\n{more}"
        );
        Sysroot::from_dump(&dump).unwrap()
    }

    #[test]
    fn a_file_system_that_was_mounted_for_writing_and_takes_none_is_turned_read_only() {
        for (mount, expected) in [
            ("rw,noatime shared:1 - ext4 /dev/mmcblk0p2 rw", Some(false)),
            ("rw,noatime shared:1 - ext4 /dev/mmcblk0p2 ro,errors=remount-ro", Some(true)),
            ("rw,noatime - ext4 /dev/mmcblk0p2 rw,emergency_ro", Some(true)),
            ("ro,noatime - ext4 /dev/mmcblk0p2 ro", Some(false)),
            // A mount point that may not be written to, of a file system that may.
            ("ro,noatime - ext4 /dev/mmcblk0p2 rw", Some(false)),
        ] {
            let root = root(&format!("proc/self/mountinfo = 27 1 179:2 / / {mount}\n"));
            let found = condition(&root, "mmcblk0");
            let state = found.mounted.first().map(|it| it.is_turned_read_only);
            assert_eq!(state, expected, "{mount}");
        }
        let volume = root(
            "sys/class/block/dm-0 -> sys/devices/virtual/block/dm-0\n\
             sys/dev/block/254:0 -> sys/devices/virtual/block/dm-0\n\
             sys/devices/virtual/block/dm-0/dev = 254:0\n\
             sys/class/block/mmcblk0p2 -> sys/devices/platform/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0/mmcblk0p2\n\
             sys/devices/virtual/block/dm-0/slaves/mmcblk0p2 -> sys/devices/platform/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0/mmcblk0p2\n\
             sys/fs/ext4/dm-0/errors_count = 3\n\
             proc/self/mountinfo = 27 1 254:0 / /data rw - ext4 /dev/mapper/data ro\n",
        );
        let found = condition(&volume, "mmcblk0").mounted;
        assert!(found[0].is_turned_read_only, "{found:?}");
        assert_eq!(found[0].noted_errors, Some(3));
        let other = root("proc/self/mountinfo = 27 1 8:1 / / rw - ext4 /dev/sda1 ro\n");
        assert_eq!(condition(&other, "mmcblk0").mounted, []);
    }

    #[test]
    fn counters_and_noted_errors_are_read() {
        let root = root(
            "sys/kernel/debug/mmc0/err_stats = # Command Timeout Occurred:\\x09 4\n\
             sys/kernel/debug/mmc0/err_stats = # Command CRC Errors Occurred:\\x09 345\n\
             sys/kernel/debug/mmc0/err_stats = # Data Timeout Occurred:\\x09 0\n\
             sys/fs/ext4/mmcblk0p2/errors_count = 3\n\
             sys/fs/pstore/dmesg-ramoops-0 = <3>[   12.0] I/O error, dev mmcblk0, sector 8 op 0x1:(WRITE)\n\
             proc/self/mountinfo = 27 1 179:2 / / rw - ext4 /dev/mmcblk0p2 rw\n",
        );
        let found = condition(&root, "mmcblk0");
        let counters: Vec<_> =
            found.host_errors.unwrap().into_iter().map(|it| (it.counter, it.count)).collect();
        assert_eq!(counters[1], ("Command CRC Errors Occurred".to_owned(), 345));
        assert_eq!(counters.len(), 2);
        assert_eq!(found.mounted[0].noted_errors, Some(3));
        assert_eq!(found.crash_troubles.len(), 1);
        assert_eq!(found.is_present, Some(true));
        assert_eq!(found.counters.map(|it| it.len()), Some(11));
    }

    #[test]
    fn a_crash_log_tells_nothing_of_the_file_behind_a_loop_device() {
        let error = |name: &str| {
            format!(
                "sys/fs/pstore/dmesg-ramoops-0 = <3>[   12.0] I/O error, dev {name}, sector 8 op 0x1:(WRITE)\n"
            )
        };
        for (name, expected) in [("mmcblk0", 1), ("loop0", 0)] {
            let found = condition(&root(&error(name)), name);
            assert_eq!(found.crash_troubles.len(), expected, "{name}");
        }
    }

    #[test]
    fn a_card_that_did_not_start_is_known_by_its_slot() {
        let failed = "dmesg = [   12.3] mmc1: error -110 whilst initialising SD card\n";
        let root = root(failed);
        let found = unusable_card(&root, "mmcblk1").unwrap();
        assert_eq!((found.troubles.len(), found.is_present), (1, Some(false)));
        for name in ["mmcblk0", "mmcblk2", "mmc1", "sda"] {
            assert_eq!(unusable_card(&root, name), None, "{name}");
        }
    }

    #[test]
    fn a_card_that_has_protected_itself_is_found() {
        // Bit 12 of the CSD, TMP_WRITE_PROTECT.
        for (csd, expected) in [
            ("400e0032db790003b8ab7f800a4040f9", false),
            ("400e0032db790003b8ab7f800a4050f9", true),
        ] {
            let root = root(&format!("{CARD}/csd = {csd}\n"));
            assert_eq!(condition(&root, "mmcblk0").is_write_protected, expected, "{csd}");
        }
        let nothing = Sysroot::from_dump("# cardproof dump 1\nsys/class/block/x /\n").unwrap();
        assert_eq!(condition(&nothing, "mmcblk0").is_present, Some(false));
    }

    #[test]
    fn a_log_of_a_disk_of_another_size_is_not_of_the_one_that_is_there() {
        let disk = "# cardproof dump 1\n\
                    sys/class/block/sda -> sys/devices/pci0000:00/host0/block/sda\n\
                    sys/devices/pci0000:00/host0/block/sda/size = 31266816\n\
                    sys/devices/pci0000:00/host0/block/sda/dev = 8:0\n";
        let root = Sysroot::from_dump(disk).unwrap();
        let error = "I/O error, dev sda, sector 8 op 0x0:(READ)";
        for (blocks, expected) in [(31_266_816, 1), (62_533_632, 0)] {
            let found = format!("sd 0:0:0:0: [sda] {blocks} 512-byte logical blocks: (16.0 GB)");
            let lines = [found, error.to_owned()];
            assert_eq!(log_troubles(&root, "sda", &lines).troubles.len(), expected, "{blocks}");
        }
        let lines = [error.replace("sda", "loop0")];
        assert_eq!(log_troubles(&root, "loop0", &lines).troubles.len(), 1);
        assert_eq!(earlier_log_troubles(&root, "loop0", &lines), []);
    }
}
