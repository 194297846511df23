//! What can be said against overwriting a device, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

use cardproof_units::shell_word;

use crate::layer::Layer;

/// One reason not to write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Objection {
    /// It, or something on or over it, is mounted.
    Mounted {
        /// The node of what is mounted.
        node: PathBuf,
        /// Where.
        at: PathBuf,
    },
    /// It, or something on or over it, is in use as swap.
    Swap {
        /// The node or file in use.
        node: PathBuf,
    },
    /// Another device or file system is made of it.
    Held {
        /// The node of what is held.
        node: PathBuf,
        /// What holds it.
        by: Holder,
    },
    /// A loop device may go to this file under another name.
    MayBeHeld {
        /// The loop device's node.
        node: PathBuf,
        /// Whether it is that of a simulated card, whose server locks the file below the card.
        is_served_card: bool,
    },
    /// Loop devices are in use that fit its size, and it cannot be told of which files.
    UnknownLoops {
        /// Their nodes.
        nodes: Vec<PathBuf>,
        /// The reason that the last of them gave.
        reason: String,
    },
    /// It bears the signature of swap, and a swap file in use cannot be found.
    MayBeSwap {
        /// The path of that swap file in the swap table.
        path: PathBuf,
    },
    /// The kernel refuses writes to it.
    ReadOnly {
        /// Its node.
        node: PathBuf,
    },
    /// It holds no bytes at all: no card in the reader, no file behind the loop device.
    NoMedium,
    /// It cannot be told whether it is in use.
    Unknown {
        /// What could not be read.
        what: &'static str,
    },
    /// The kernel knows partitions on it.
    Partitions {
        /// Their names.
        names: Vec<String>,
    },
    /// It bears a partition table.
    PartitionTable {
        /// Which kind.
        kind: &'static str,
    },
    /// It bears the mark of a file system, a volume manager, an array, or swap.
    Signature {
        /// Which kind.
        kind: &'static str,
    },
    /// It is an image in a format of virtual machines, in which the disk lies in another order.
    ImageFormat {
        /// Which kind.
        kind: &'static str,
    },
    /// A regular file that is more than one large hole.
    HoldsData,
    /// Part of it could not be read, so what it bears is not known.
    Unreadable {
        /// What the kernel said.
        reason: String,
    },
}

/// What a device can be held by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holder {
    /// A device of the device mapper or of md, with its kind where it tells.
    Device {
        /// Its kernel name.
        name: String,
        /// What its owner called it, for the device mapper's tools.
        label: Option<String>,
        /// Its kind.
        kind: Option<Layer>,
    },
    /// A loop device.
    Loop {
        /// Its node.
        node: PathBuf,
    },
    /// A btrfs that is mounted, on which this is one of several devices.
    Btrfs,
}

impl Objection {
    /// Whether the device's identity, given by the user, lifts it. What is in use stays refused:
    /// writing below a mounted file system is never right, and the kernel would not have it.
    #[must_use]
    pub const fn can_be_lifted(&self) -> bool {
        match self {
            Self::Mounted { .. }
            | Self::Swap { .. }
            | Self::Held { .. }
            | Self::MayBeHeld { .. }
            | Self::UnknownLoops { .. }
            | Self::MayBeSwap { .. }
            | Self::ReadOnly { .. }
            | Self::NoMedium
            | Self::Unknown { .. } => false,
            Self::Partitions { .. }
            | Self::PartitionTable { .. }
            | Self::Signature { .. }
            | Self::ImageFormat { .. }
            | Self::HoldsData
            | Self::Unreadable { .. } => true,
        }
    }

    /// What the user can do about it, other than giving the identity.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        let word = |path: &Path| shell_word(path);
        let remedy = match self {
            Self::Mounted { at, .. } if at == Path::new("/") => {
                "this system runs from it: test it from another system, or test another device"
                    .to_owned()
            }
            Self::Mounted { at, .. } => format!("unmount it: umount {}", word(at)),
            Self::Swap { node } => format!("take it out of use: swapoff {}", word(node)),
            Self::Held { by, .. } => by.remedy(),
            Self::MayBeHeld { node, .. } => format!(
                "detach that device: losetup --detach {}; or name the file on the file system that \
                 holds it",
                word(node)
            ),
            Self::UnknownLoops { nodes, .. } => format!(
                "run cardproof as root where /dev has {}, so that it can be looked up",
                nodes.iter().map(|node| word(node)).collect::<Vec<_>>().join(", ")
            ),
            Self::MayBeSwap { path } => {
                format!("take that swap file out of use: swapoff {}", word(path))
            }
            Self::ReadOnly { node } => format!(
                "try: blockdev --setrw {}; an SD card or its adapter may have a write-protect switch \
                 that is on",
                word(node)
            ),
            Self::NoMedium => "insert a card, or attach a file to the loop device".to_owned(),
            Self::Unknown { .. } => "run it where /proc and /sys are mounted".to_owned(),
            _ => return None,
        };
        Some(remedy)
    }
}

impl Holder {
    fn remedy(&self) -> String {
        match self {
            Self::Device { name, .. } if name.starts_with("md") => {
                format!("stop the array: mdadm --stop /dev/{name}")
            }
            Self::Device { kind: Some(Layer::Lvm), .. } => {
                "take the volume group down: vgchange --activate n (lvs --options +devices tells \
                 which)"
                    .to_owned()
            }
            Self::Device { kind: Some(kind), name, label } if kind.is_encryption() => {
                format!("close it: cryptsetup close {}", shell_word(label.as_ref().unwrap_or(name)))
            }
            Self::Device { name, label, .. } => {
                format!("remove it: dmsetup remove {}", shell_word(label.as_ref().unwrap_or(name)))
            }
            Self::Loop { node } => {
                format!("detach it: losetup --detach {}", shell_word(node))
            }
            Self::Btrfs => "unmount that file system (findmnt --types btrfs shows it)".to_owned(),
        }
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { node, at } => {
                write!(f, "{} is mounted at {}", node.display(), at.display())
            }
            Self::Swap { node } => write!(f, "{} is in use as swap", node.display()),
            Self::Held { node, by } => write!(f, "{} is part of {by}", node.display()),
            Self::MayBeHeld { node, .. } => write!(
                f,
                "{} may use this file under another name: one of their file systems shows files of \
                 another",
                node.display()
            ),
            Self::UnknownLoops { nodes, reason } => {
                let nodes: Vec<_> = nodes.iter().map(|node| node.display().to_string()).collect();
                let nodes = nodes.join(", ");
                write!(
                    f,
                    "it may be in use by {nodes}, which fits its size: what lies below it is not known \
                     ({reason})"
                )
            }
            Self::MayBeSwap { path } => write!(
                f,
                "it bears the signature of swap, and the swap file in use, {}, cannot be found here",
                path.display()
            ),
            Self::ReadOnly { node } => write!(f, "{} is write-protected", node.display()),
            Self::NoMedium => f.write_str("it holds nothing: its size is 0"),
            Self::Unknown { what } => {
                write!(f, "{what} cannot be read, so it is not known whether it is in use")
            }
            Self::Partitions { names } => write!(f, "it has partitions: {}", names.join(", ")),
            Self::PartitionTable { kind } => write!(f, "it bears a partition table ({kind})"),
            Self::Signature { kind } | Self::ImageFormat { kind } => {
                write!(f, "it bears the signature of {kind}")
            }
            Self::HoldsData => f.write_str("the file holds data (it is not one large hole)"),
            Self::Unreadable { reason } => {
                write!(f, "it cannot be read throughout ({reason}), so what it bears is not known")
            }
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device { name, kind: Some(kind), .. } => write!(f, "{name} ({kind})"),
            Self::Device { name, kind: None, .. } => f.write_str(name),
            Self::Loop { node } => write!(f, "{}", node.display()),
            Self::Btrfs => f.write_str("a mounted btrfs over several devices"),
        }
    }
}
