//! The kinds of messages that are decoded, with their figures.

use cardproof_record::OpName;
use cardproof_units::Bytes;

use super::Stamp;

/// A message of the kernel about storage or power.
#[derive(Clone, Debug, PartialEq)]
pub struct Event<'t> {
    /// When it was written, as the log prints it.
    pub stamp: Option<Stamp<'t>>,
    /// The kernel's name in the message: of a block device (`mmcblk0p2`), a card's host (`mmc0`), a
    /// controller (`nvme0`), or a place ([`is_place`](crate::is_place)).
    pub device: Option<&'t str>,
    /// How often the line says so; 1, unless a log daemon has put repeats together.
    pub count: u64,
    /// What it says.
    pub kind: EventKind<'t>,
}

/// What a card calls itself when it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardKind {
    /// An SD card of any capacity.
    Sd,
    /// An eMMC, or an old multimedia card.
    Mmc,
    /// No storage: a radio, as a rule.
    Sdio,
}

/// A step on the way to a faster bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModeStep {
    /// High speed, 50 or 52 MHz.
    HighSpeed,
    /// HS200 or HS400 of an eMMC.
    Hs200,
    /// Signals of 1.8 V.
    Voltage,
    /// Finding the moment at which signals are sound.
    Tuning,
}

/// A file system by its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Filesystem {
    /// ext2, ext3 and ext4.
    Ext4,
    /// F2FS.
    F2fs,
    /// Btrfs.
    Btrfs,
    /// XFS.
    Xfs,
    /// FAT12, FAT16 and FAT32.
    Fat,
    /// exFAT.
    Exfat,
    /// NTFS.
    Ntfs,
    /// SquashFS.
    Squashfs,
}

impl Filesystem {
    /// Its usual name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::F2fs => "F2FS",
            Self::Btrfs => "Btrfs",
            Self::Xfs => "XFS",
            Self::Fat => "FAT",
            Self::Exfat => "exFAT",
            Self::Ntfs => "NTFS",
            Self::Squashfs => "SquashFS",
        }
    }
}

/// What makes the message behind it harmless for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Another file system was looked for than the one that is there.
    OtherFilesystem,
    /// There was no space left, as in a thin volume whose pool is full.
    NoSpace,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind<'t> {
    /// The kernel starts.
    Boot,
    /// A card was found: `mmc0: new UHS-I speed SDR104 SDXC card at address 59b4`.
    Attached {
        /// The words about its bus mode; empty for the slowest.
        mode: &'t str,
        /// What it is.
        card: CardKind,
    },
    /// A card's name and size: `mmcblk0: mmc0:59b4 ED2S5 239 GiB`.
    Card {
        /// Its host.
        host: &'t str,
        /// Its address there.
        address: &'t str,
        /// The product's name.
        name: &'t str,
        /// The size, rounded by the kernel.
        size_bytes: Bytes,
        /// Whether the kernel writes to it.
        is_read_only: bool,
    },
    /// A disk's size: `sd 0:0:0:0: [sda] 976773168 512-byte logical blocks`.
    Disk {
        /// Its address of SCSI.
        address: &'t str,
        /// The size.
        size_bytes: Bytes,
    },
    /// What a disk at an address of SCSI calls itself: `scsi 0:0:0:0: Direct-Access     SanDisk  Cruzer Blade     1.26 PQ: 0`.
    Model(&'t str),
    /// The size of a device has changed, as it does where a medium is put in or taken out: `loop0: detected capacity
    /// change from 0 to 20480`. Linux counts bytes up to version 5.10, and sectors of 512 bytes since.
    Capacity {
        /// The size before; 0 where nothing was there.
        from: u64,
        /// The size now; 0 where nothing is there.
        to: u64,
    },
    /// What explains the next message.
    Explains(Cause),
    /// The card was taken out, or the kernel gave it up.
    Removed {
        /// Its address at its host.
        address: &'t str,
    },
    /// The clock of the bus in Hz.
    Clock(u64),
    /// The card did not work with so many data lines.
    WidthFailed(u8),
    /// A faster mode did not work.
    ModeFailed(ModeStep),
    /// The card's command queue is in use.
    QueueOn,
    /// The kernel's own queue is in use, and not the card's.
    QueueOff,
    /// The command queue stopped and was started again.
    QueueRecovery,
    /// A command failed, with the kernel's number of the error.
    CommandError {
        /// 110: no answer in time. 84 and 74: wrong checksum. 5: input or output error.
        error: u16,
        /// The sector of 512 bytes.
        sector: Option<u64>,
    },
    /// The card could not be put to use, with the kernel's number of the error.
    InitFailed(u16),
    /// The controller waited in vain for the card.
    NoAnswer,
    /// The card remained busy.
    StuckBusy,
    /// A read or a write failed for good.
    IoError {
        /// What failed, where told.
        op: OpName,
        /// The sector of 512 bytes.
        sector: Option<u64>,
        /// Whether the device itself says that it cannot read or write the place.
        is_medium: bool,
    },
    /// Data that could not be written are lost.
    WriteLost,
    /// The file system met an error or wrong data.
    FilesystemError(Filesystem),
    /// The file system takes no more writes.
    ReadOnly(Filesystem),
    /// The file system was not unmounted before.
    Unclean(Filesystem),
    /// A request beyond the end of the device.
    BeyondEnd,
    /// A USB device is driven by the older protocol, for the newer one does not work with it.
    UasOff,
    /// The bus of a USB device was reset.
    UsbReset,
    /// A device is gone.
    Gone,
    /// An error on the link to a SATA device.
    LinkError,
    /// A device did not answer in time and was reset.
    DeviceTimeout,
    /// A task waited so many seconds for storage.
    TaskBlocked(u64),
    /// The board's supply fell below 4.63 V.
    UnderVoltage,
    /// It is sufficient again.
    VoltageNormal,
}
