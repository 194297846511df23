//! Kinds of layers that lie between a file system and its storage.

use std::fmt::{self, Display};

/// What a block device is made by, where it is made of others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layer {
    /// An array of md, with its level as the kernel names it, such as `raid1`.
    Md(String),
    /// A loop device.
    Loop {
        /// Whether it lies over a device; otherwise it lies over a file.
        is_over_device: bool,
    },
    /// Encryption by dm-crypt, in the first format of LUKS.
    Luks1,
    /// Encryption by dm-crypt, in the second format of LUKS.
    Luks2,
    /// Checksums by dm-verity.
    Verity,
    /// Encryption by dm-crypt without LUKS.
    Crypt,
    /// A volume of LVM.
    Lvm,
    /// Several ways to one disk.
    Multipath,
    /// An array that the firmware knows.
    FirmwareRaid,
    /// Deduplication by VDO.
    Vdo,
}

impl Layer {
    /// The kind of a device of the device mapper with the UUID `uuid`.
    ///
    /// The kind is the prefix of the UUID, by convention the name of the subsystem that made the device; the
    /// rest, which is unique to the machine, is not kept.
    pub(crate) fn of_device_mapper(uuid: &str) -> Option<Self> {
        const KINDS: [(&str, Layer); 8] = [
            ("CRYPT-LUKS1-", Layer::Luks1),
            ("CRYPT-LUKS2-", Layer::Luks2),
            ("CRYPT-VERITY-", Layer::Verity),
            ("CRYPT-", Layer::Crypt),
            ("LVM-", Layer::Lvm),
            ("mpath-", Layer::Multipath),
            ("DMRAID-", Layer::FirmwareRaid),
            ("VDO-", Layer::Vdo),
        ];
        KINDS.into_iter().find(|(prefix, _)| uuid.starts_with(prefix)).map(|(_, kind)| kind)
    }

    /// Whether it encrypts.
    pub(crate) const fn is_encryption(&self) -> bool {
        matches!(self, Self::Luks1 | Self::Luks2 | Self::Crypt)
    }
}

impl Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Md(level) => return write!(f, "md {level}"),
            Self::Loop { is_over_device: true } => "loop over a device",
            Self::Loop { is_over_device: false } => "loop over a file",
            Self::Luks1 => "LUKS1 encryption",
            Self::Luks2 => "LUKS2 encryption",
            Self::Verity => "dm-verity",
            Self::Crypt => "dm-crypt encryption",
            Self::Lvm => "LVM volume",
            Self::Multipath => "multipath",
            Self::FirmwareRaid => "firmware RAID",
            Self::Vdo => "VDO deduplication",
        })
    }
}
