//! Messages as the kernel prints them, behind every kind of time, and what only looks like them.

use cardproof_record::OpName;
use cardproof_units::Bytes;

use super::*;

fn log_of(text: &str) -> KernelLog {
    read((1..).zip(text.lines()))
}

/// The kinds and counts of the only device's trouble.
fn troubles(text: &str) -> Vec<(TroubleKind, u64)> {
    let log = log_of(text);
    let [device] = log.devices.as_slice() else { panic!("{log:#?}") };
    device.troubles.iter().map(|it| (it.kind, it.count)).collect()
}

#[test]
fn each_message_of_trouble_is_known() {
    let io = |op, sector, is_medium| EventKind::IoError { op, sector, is_medium };
    let command = |error, sector| EventKind::CommandError { error, sector };
    let ext4 = Filesystem::Ext4;
    let cases = [
        ("mmc0: timeout waiting for hardware interrupt.", "mmc0", EventKind::NoAnswer),
        ("mmc1: Timeout waiting for hardware cmd interrupt.", "mmc1", EventKind::NoAnswer),
        (
            "mmcblk0: error -110 transferring data, sector 10372992, nr 8, cmd response 0x900, card status 0xc00",
            "mmcblk0",
            command(110, Some(10_372_992)),
        ),
        (
            "mmcblk0: error -84 transferring data, sector 1, nr 8, cmd response 0x900, card status 0x0",
            "mmcblk0",
            command(84, Some(1)),
        ),
        ("mmcblk1: error -110 sending status command, retrying", "mmcblk1", command(110, None)),
        ("mmc1: tried to HW reset card, got error -110", "mmc1", command(110, None)),
        ("mmc1: cache flush error -110", "mmc1", command(110, None)),
        (
            "mmcblk0: timed out sending r/w cmd command, card status 0x900",
            "mmcblk0",
            command(110, None),
        ),
        ("mmcblk0: r/w command failed, status = 0x80000b00", "mmcblk0", command(5, None)),
        ("mmc0: error -110 whilst initialising SD card", "mmc0", EventKind::InitFailed(110)),
        ("mmc0: Card stuck being busy! __mmc_poll_for_busy", "mmc0", EventKind::StuckBusy),
        (
            "mmc0: Card stuck in programming state! mmcblk0 card_busy_detect",
            "mmc0",
            EventKind::StuckBusy,
        ),
        ("mmc0: ADMA error: 0x02000000", "mmc0", command(5, None)),
        ("mmc1: switch to bus width 8 failed", "mmc1", EventKind::WidthFailed(8)),
        (
            "mmc1: mmc_select_hs200 failed, error -74",
            "mmc1",
            EventKind::ModeFailed(ModeStep::Hs200),
        ),
        ("mmc0: tuning execution failed: -5", "mmc0", EventKind::ModeFailed(ModeStep::Tuning)),
        ("mmc0: Skipping voltage switch", "mmc0", EventKind::ModeFailed(ModeStep::Voltage)),
        (
            "mmc0: Problem switching card into high-speed mode!",
            "mmc0",
            EventKind::ModeFailed(ModeStep::HighSpeed),
        ),
        ("mmc0: cqhci: timeout for tag 3", "mmc0", EventKind::QueueRecovery),
        ("mmc0: card 59b4 removed", "mmc0", EventKind::Removed { address: "59b4" }),
        (
            "blk_update_request: I/O error, dev mmcblk0, sector 3767312",
            "mmcblk0",
            io(OpName::Unknown, Some(3_767_312), false),
        ),
        (
            "end_request: I/O error, dev mmcblk0, sector 15564680",
            "mmcblk0",
            io(OpName::Unknown, Some(15_564_680), false),
        ),
        (
            "I/O error, dev mmcblk0, sector 0 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2",
            "mmcblk0",
            io(OpName::Read, Some(0), false),
        ),
        (
            "critical medium error, dev sda, sector 2048 op 0x1:(WRITE) flags 0x800",
            "sda",
            io(OpName::Write, Some(2048), true),
        ),
        (
            "Buffer I/O error on dev mmcblk0p2, logical block 1, async page read",
            "mmcblk0p2",
            io(OpName::Read, None, false),
        ),
        (
            "Buffer I/O error on device mmcblk0p2, logical block 1814001",
            "mmcblk0p2",
            io(OpName::Unknown, None, false),
        ),
        (
            "Buffer I/O error on dev mmcblk1p3, logical block 139265, lost sync page write",
            "mmcblk1p3",
            EventKind::WriteLost,
        ),
        ("lost page write due to I/O error on mmcblk0p2", "mmcblk0p2", EventKind::WriteLost),
        ("Aborting journal on device mmcblk0p2-8.", "mmcblk0p2", EventKind::FilesystemError(ext4)),
        (
            "JBD2: Error -5 detected when updating journal superblock for mmcblk1p3-8.",
            "mmcblk1p3",
            EventKind::FilesystemError(ext4),
        ),
        (
            "EXT4-fs (mmcblk0p2): Remounting filesystem read-only",
            "mmcblk0p2",
            EventKind::ReadOnly(ext4),
        ),
        (
            "EXT4-fs error (device mmcblk0p2): ext4_iget:3921: inode #5515: comm udevd: bad extra_isize (5787 != 256)",
            "mmcblk0p2",
            EventKind::FilesystemError(ext4),
        ),
        (
            "F2FS-fs (mmcblk0p2): invalid crc value",
            "mmcblk0p2",
            EventKind::FilesystemError(Filesystem::F2fs),
        ),
        (
            "BTRFS info (device sda1): forced readonly",
            "sda1",
            EventKind::ReadOnly(Filesystem::Btrfs),
        ),
        (
            "BTRFS warning (device sda1): csum failed root 5 ino 257 off 0 csum 0x1 expected csum 0x2 mirror 1",
            "sda1",
            EventKind::FilesystemError(Filesystem::Btrfs),
        ),
        (
            "FAT-fs (mmcblk0p1): Volume was not properly unmounted. Some data may be corrupt. Please run fsck.",
            "mmcblk0p1",
            EventKind::Unclean(Filesystem::Fat),
        ),
        (
            "FAT-fs (sda1): Filesystem has been set read-only",
            "sda1",
            EventKind::ReadOnly(Filesystem::Fat),
        ),
        (
            "sd 0:0:0:0: [sda] tag#0 Sense Key : Medium Error [current]",
            "sda",
            io(OpName::Unknown, None, true),
        ),
        (
            "sd 0:0:0:0: [sda] tag#1 uas_eh_abort_handler 0 uas-tag 2 inflight: CMD OUT",
            "sda",
            EventKind::DeviceTimeout,
        ),
        ("nvme nvme0: I/O 128 QID 2 timeout, aborting", "nvme0", EventKind::DeviceTimeout),
        (
            "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff",
            "nvme0",
            EventKind::DeviceTimeout,
        ),
        (
            "nvme nvme0: I/O tag 128 (1080) opcode 0x1 (I/O Cmd) QID 2 timeout, aborting req_op:WRITE(1) size:4096",
            "nvme0",
            EventKind::DeviceTimeout,
        ),
        (
            "nvme0n1: Read(0x2) @ LBA 12345, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR",
            "nvme0n1",
            io(OpName::Read, None, true),
        ),
        (
            "nvme0n1: I/O Cmd(0x2) @ LBA 12345, 8 blocks, I/O Error (sct 0x0 / sc 0x4)",
            "nvme0n1",
            io(OpName::Unknown, None, false),
        ),
        ("mmc1: error -110 doing runtime resume", "mmc1", command(110, None)),
        ("mmc0: error -84 reading general info of SD ext reg", "mmc0", command(84, None)),
        ("mmc0: Card removed during transfer!", "mmc0", EventKind::Gone),
        (
            "mmc_host mmc1: Timeout sending command (cmd 0x202000 arg 0x0 status 0x80202000)",
            "mmc1",
            EventKind::NoAnswer,
        ),
        (
            "JBD2: Detected IO errors while flushing file data on mmcblk0p2-8",
            "mmcblk0p2",
            EventKind::WriteLost,
        ),
        (
            "JBD2: I/O error detected when updating journal superblock for sda1-8.",
            "sda1",
            EventKind::FilesystemError(ext4),
        ),
        (
            "VFS: Dirty inode writeback failed for block device mmcblk0p2 (err=-5).",
            "mmcblk0p2",
            EventKind::WriteLost,
        ),
        (
            "EXT4-fs warning (device mmcblk0p2): ext4_end_bio:343: I/O error 10 writing to inode 12",
            "mmcblk0p2",
            EventKind::FilesystemError(ext4),
        ),
        (
            "EXT4-fs (mmcblk0p2): warning: mounting fs with errors, running e2fsck is recommended",
            "mmcblk0p2",
            EventKind::FilesystemError(ext4),
        ),
        ("sda1: rw=4096, sector=4000, nr_sectors = 2 limit=2000", "sda1", EventKind::BeyondEnd),
        (
            "INFO: task jbd2/mmcblk0p2-:123 blocked for more than 120 seconds.",
            "mmcblk0p2",
            EventKind::TaskBlocked(120),
        ),
        (
            "mmcblk0: Card stuck in programming state! mmcblk0 card_busy_detect",
            "mmcblk0",
            EventKind::StuckBusy,
        ),
        ("mmc0: ADMA error: 0x02000000", "mmc0", command(5, None)),
        (
            "I/O error, dev mmcblk0, sector 8 op 0x3:(DISCARD) flags 0x800 phys_seg 1 prio class 2",
            "mmcblk0",
            command(5, Some(8)),
        ),
        (
            "BTRFS error (device sda1): bdev /dev/mmcblk0p3 errs: wr 4, rd 0, flush 0, corrupt 3, gen 0",
            "mmcblk0p3",
            EventKind::FilesystemError(Filesystem::Btrfs),
        ),
        (
            "BTRFS info (device dm-0): bdev /dev/mapper/luks errs: wr 0, rd 0, flush 0, corrupt 3, gen 0",
            "dm-0",
            EventKind::FilesystemError(Filesystem::Btrfs),
        ),
        (
            "md/raid1:md0: Disk failure on mmcblk0p3, disabling device.",
            "mmcblk0p3",
            io(OpName::Unknown, None, false),
        ),
        (
            "device-mapper: crypt: dm-0: INTEGRITY AEAD ERROR, sector 12",
            "dm-0",
            io(OpName::Read, None, false),
        ),
        ("Aborting journal on device dm-0-8.", "dm-0", EventKind::FilesystemError(ext4)),
        ("EXT4-fs (md0p1): Remounting filesystem read-only", "md0p1", EventKind::ReadOnly(ext4)),
        (
            "INFO: task jbd2/dm-0-8:99 blocked for more than 120 seconds.",
            "dm-0",
            EventKind::TaskBlocked(120),
        ),
        (
            "sd 0:0:0:0: [sda] 976773168 512-byte logical blocks: (500 GB/466 GiB)",
            "sda",
            EventKind::Disk { address: "0:0:0:0", size_bytes: Bytes(500_107_862_016) },
        ),
        // Places.
        ("Write-error on swap-device (179:2:12345)", "179:2", io(OpName::Write, None, false)),
        (
            "device-mapper: verity: 179:3: data block 5 is corrupted",
            "179:3",
            io(OpName::Read, None, false),
        ),
        ("ata1: COMRESET failed (errno=-16)", "ata1", EventKind::LinkError),
        ("ata2.00: error: { ICRC ABRT }", "ata2", EventKind::LinkError),
        ("ata2.00: error: { UNC }", "ata2", io(OpName::Read, None, true)),
        (
            "usb 1-1.3: reset high-speed USB device number 5 using xhci_hcd",
            "1-1.3",
            EventKind::UsbReset,
        ),
        (
            "sd 0:0:0:0: Device offlined - not ready after error recovery",
            "0:0:0:0",
            io(OpName::Unknown, None, false),
        ),
    ];
    for (line, device, kind) in cases {
        let found = event(line).unwrap_or_else(|| panic!("not known: {line}"));
        assert_eq!((found.device, &found.kind), (Some(device), &kind), "{line}");
    }
    for (line, kind) in [
        ("sunxi-mmc 1c0f000.mmc: smc 0 p0 err, cmd 18, RTO !!", EventKind::NoAnswer),
        ("usb 2-1: UAS is ignored for this device, using usb-storage instead", EventKind::UasOff),
    ] {
        let found = event(line).unwrap_or_else(|| panic!("not known: {line}"));
        assert_eq!((found.device, found.kind), (None, kind), "{line}");
    }
    for line in ["Under-voltage detected! (0x00050005)", "hwmon hwmon1: Undervoltage detected!"] {
        assert_eq!(event(line).map(|it| it.kind), Some(EventKind::UnderVoltage), "{line}");
    }
}

#[test]
fn what_only_looks_alarming_is_no_trouble() {
    for line in [
        "mmc0: host does not support reading read-only switch, assuming write-enable",
        "EXT4-fs (mmcblk0p2): mounted filesystem with ordered data mode. Opts: (null)",
        "EXT4-fs (mmcblk0p2): mounted filesystem 1234 ro with ordered data mode. Quota mode: none.",
        "EXT4-fs (mmcblk0p2): re-mounted 1234 r/w. Quota mode: none.",
        "EXT4-fs (mmcblk0p2): write access will be enabled during recovery",
        "mmc1: error -110 whilst initialising SDIO card",
        "mmc0: cannot verify signal voltage switch",
        "mmc1: queuing unknown CIS tuple 0x80 (2 bytes)",
        "mmc0: SDHCI controller on fe340000.mmc [fe340000.mmc] using ADMA",
        "critical nexus error, dev sda, sector 66051 op 0x1:(WRITE) flags 0x0 phys_seg 1",
        "reservation conflict error, dev sda, sector 66051 op 0x1:(WRITE) flags 0x0 phys_seg 1",
        "critical target error, dev sda, sector 66051 op 0x3:(DISCARD) flags 0x800 phys_seg 1",
        "BTRFS info (device sda1): bdev /dev/sda1 errs: wr 0, rd 0, flush 0, corrupt 0, gen 0",
        "md/raid1:md0: Operation continuing on 1 devices.",
        "operation not supported error, dev sda, sector 0 op 0x3:(DISCARD) flags 0x800 phys_seg 1",
        "I get mmcblk0: error -110 transferring data, sector 1 all the time",
        "An I/O error, device mmcblk0, is what I see",
        "my mmc0: timeout waiting for hardware interrupt",
        "EXT4-fs was remounted: Remounting filesystem read-only",
        "mmcblk0: p1 p2",
        "sunxi-mmc 1c0f000.mmc: smc 0 p0 err, cmd 8, RTO !!",
        "mmcblk0boot0: mmc0:0001 M8G1GC partition 1 4.00 MiB",
        "mmc1: error -110 reading SDIO function registers",
        "usb 1-1: new high-speed USB device number 3 using dwc_otg",
    ] {
        let found = event(line).and_then(|it| match it.kind {
            EventKind::Boot | EventKind::QueueOff => None,
            kind => Some(kind),
        });
        assert_eq!(found, None, "{line}");
    }
}

#[test]
fn a_host_s_trouble_is_its_card_s() {
    let text = "[  303.215569] mmc0: timeout waiting for hardware interrupt.\n\
        [  303.218188] mmcblk0: error -110 transferring data, sector 10372992, nr 8, cmd response 0x900, card status 0xc00\n\
        [  323.698359] blk_update_request: I/O error, dev mmcblk0, sector 3767312\n\
        [  323.698418] Aborting journal on device mmcblk0p2-8.\n\
        [  323.700000] EXT4-fs (mmcblk0p2): Remounting filesystem read-only\n";
    let expected = [
        (TroubleKind::Command(110), 2),
        (TroubleKind::Io, 1),
        (TroubleKind::Filesystem, 1),
        (TroubleKind::ReadOnly, 1),
    ];
    assert_eq!(troubles(text), expected);
    let device = &log_of(text).devices[0];
    assert_eq!(device.device.as_deref(), Some("mmcblk0"));
    assert_eq!(device.troubles[0].sectors, [10_372_992]);
    assert_eq!(device.troubles[3].partition.as_deref(), Some("mmcblk0p2"));
    assert_eq!(device.troubles[3].first.as_deref(), Some("323.7 s"));
}

#[test]
fn a_narrow_bus_is_known_with_its_card() {
    let text = "  mmc_host mmc1: Bus speed (slot 0) = 50000000Hz (slot req 52000000Hz, actual 50000000HZ div = 0)\n\
        \x20 mmc1: switch to bus width 8 failed\n\
        \x20 mmc1: switch to bus width 4 failed\n\
        \x20 mmc1: new high speed MMC card at address 0001\n\
        \x20 mmcblk1: mmc1:0001 HAG2e 14.7 GiB\n\
        \x20 mmcblk1boot0: mmc1:0001 HAG2e partition 1 4.00 MiB\n";
    assert_eq!(troubles(text), [(TroubleKind::Width, 2)]);
    let card = &log_of(text).devices[0].card;
    assert_eq!((card.name.as_deref(), card.kind), (Some("HAG2e"), Some(CardKind::Mmc)));
    assert_eq!((card.clock_hz, card.width_bits()), (Some(50_000_000), Some(1)));
    assert_eq!(card.mode.as_deref(), Some("high speed"));
}

#[test]
fn another_card_in_the_slot_is_another_device() {
    let text = "mmc0: new high speed SDHC card at address aaaa\n\
        mmcblk0: mmc0:aaaa SC16G 14.8 GiB\n\
        mmcblk0: error -84 transferring data, sector 8, nr 8, cmd response 0x900, card status 0x0\n\
        mmc0: card aaaa removed\n\
        mmc0: new ultra high speed SDR104 SDHC card at address 59b4\n\
        mmcblk0: mmc0:59b4 USD00 29.5 GiB\n\
        I/O error, dev mmcblk0, sector 100 op 0x0:(READ) flags 0x0\n";
    let log = log_of(text);
    let names: Vec<_> = log.devices.iter().map(|it| it.card.name.as_deref()).collect();
    assert_eq!(names, [Some("SC16G"), Some("USD00")]);
    let kinds: Vec<_> = log.devices.iter().map(|it| it.troubles[0].kind).collect();
    assert_eq!(kinds, [TroubleKind::Command(84), TroubleKind::Io]);
    assert_eq!(log.devices[0].card.size_bytes, Some(Bytes((14.8 * 1_073_741_824.0) as u64)));
    assert_eq!(log.devices[1].card.mode.as_deref(), Some("ultra high speed SDR104"));
}

#[test]
fn a_device_s_log_is_that_of_the_card_in_the_slot() {
    let text = "mmcblk0: mmc0:aaaa SC16G 14.8 GiB\n\
        mmcblk0: error -84 transferring data, sector 8, nr 8, cmd response 0x900, card status 0x0\n\
        mmc0: card aaaa removed\n\
        mmcblk0: mmc0:59b4 USD00 29.5 GiB (ro)\n\
        Under-voltage detected! (0x00050005)\n";
    let log = log_of(text);
    let now = log.of("mmcblk0", Some("mmc0")).unwrap();
    assert_eq!((now.card.name.as_deref(), now.card.is_read_only), (Some("USD00"), true));
    let kinds: Vec<TroubleKind> = now.troubles.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [TroubleKind::WriteProtected]);
    assert_eq!(log.devices[0].findings().count(), 1);
    assert_eq!(log.of("mmcblk1", Some("mmc1")), None);
    assert_eq!(log.of("mmcblk1", None), None);
    assert_eq!(log.others[0].kind, TroubleKind::UnderVoltage);
}

#[test]
fn a_card_may_have_no_name_or_one_of_two_words() {
    for (line, name) in [
        ("mmcblk0: mmc0:0007       7.32 GiB", ""),
        ("mmcblk0: mmc0:0007 SD 02 7.32 GiB (ro)", "SD 02"),
    ] {
        let found = event(line).map(|it| it.kind);
        let Some(EventKind::Card { name: found, .. }) = found else { panic!("{line}") };
        assert_eq!(found, name, "{line}");
    }
}

#[test]
fn the_same_card_found_again_is_one_device() {
    let card = "mmcblk0: mmc0:aaaa SC16G 14.8 GiB\n";
    let error = "mmcblk0: error -110 sending status command, retrying\n";
    let text = format!(
        "mmc0: new high speed SDHC card at address aaaa\n{card}{error}mmc0: card aaaa removed\n\
         mmc0: error -84 whilst initialising SD card\n\
         mmc0: new SDHC card at address aaaa\n{card}{error}"
    );
    let kinds = [TroubleKind::Command(110), TroubleKind::Gone, TroubleKind::Init(84)];
    assert_eq!(troubles(&text), [(kinds[0], 2), (kinds[1], 1), (kinds[2], 1)]);
    assert_eq!(log_of(&text).devices[0].card.mode.as_deref(), Some(""));
}

#[test]
fn what_fails_after_a_card_is_gone_is_said_of_that_card() {
    let card = "mmcblk0: mmc0:aaaa SN128 119 GiB\n";
    let error = "mmcblk0: error -110 sending stop command, original cmd response 0x900, card status 0xc00\n";
    let gone = "mmc0: card aaaa removed\n";
    let lost = "Buffer I/O error on dev mmcblk0p2, logical block 8, lost async page write\n";
    let text = format!("{card}{error}{gone}{lost}");
    let kinds = [TroubleKind::Command(110), TroubleKind::Gone, TroubleKind::WriteLost];
    assert_eq!(troubles(&text), kinds.map(|kind| (kind, 1)));
    let log = log_of(&text);
    assert_eq!(log.devices[0].card.name.as_deref(), Some("SN128"));
    let lines: Vec<_> = log.devices[0].troubles.iter().map(|it| it.line).collect();
    assert_eq!(lines, [2, 3, 4]);
    // Without the line that names it, it is one card as well.
    assert_eq!(
        troubles(&format!("{gone}{lost}")),
        [(TroubleKind::Gone, 1), (TroubleKind::WriteLost, 1)]
    );
}

#[test]
fn a_card_that_is_taken_out_has_no_trouble() {
    let card = "mmcblk0: mmc0:aaaa SN128 119 GiB\n";
    let gone = "mmc0: card aaaa removed\n";
    assert_eq!(troubles(&format!("{card}{gone}{card}{gone}")), []);
    // What goes wrong while another card starts is not said of the one before.
    let other = "mmc0: switch to bus width 4 failed\nmmc0: new high speed SDHC card at address 59b4\n\
                 mmcblk0: mmc0:59b4 USD00 29.5 GiB\n";
    let log = log_of(&format!("{card}{gone}{other}"));
    let names = log.devices.iter().map(|it| (it.card.name.as_deref(), it.troubles.len()));
    assert_eq!(names.collect::<Vec<_>>(), [(Some("SN128"), 0), (Some("USD00"), 1)]);
}

#[test]
fn a_radio_is_no_storage() {
    let text =
        "mmc1: tuning execution failed: -84\nmmc1: new high speed SDIO card at address 0001\n";
    assert_eq!(log_of(text).devices, []);
}

#[test]
fn names_of_partitions_lead_to_their_device() {
    for (name, expected) in [
        ("mmcblk0p2", Some("mmcblk0")),
        ("mmcblk1boot0", Some("mmcblk1")),
        ("mmcblk0", Some("mmcblk0")),
        ("mmcblk", None),
        ("mmcblk0x", None),
        ("sda1", Some("sda")),
        ("sdab", Some("sdab")),
        ("sd", None),
        ("sdhci", None),
        ("nvme0n1p3", Some("nvme0n1")),
        ("nvme0", None),
        ("dm-0", None),
        ("mmc0", None),
    ] {
        assert_eq!(whole_device(name), expected, "{name}");
    }
}
