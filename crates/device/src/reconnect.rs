//! How a disk is taken from the system and brought back by the kernel: through the switch of its USB
//! device, or through the driver of its card slot. Nothing is written here.
//!
//! Sources: Documentation/usb/authorization.rst (`authorized`), and Documentation/ABI/testing/sysfs-bus-*
//! with Documentation/driver-api/driver-model (`bind`, `unbind`) of Linux.

use std::path::{Path, PathBuf};

use cardproof_units::Bytes;

use crate::block::BlockDevice;
use crate::guard::in_use_of;
use crate::guard::serial;
use crate::link::usb_device;
use crate::transport::is_mmc_card;
use crate::{DeviceNumber, Sysroot};

/// The class of USB interfaces that are mass storage (USB-IF, Defined Class Codes).
const MASS_STORAGE: &str = "08";

/// Why a disk cannot be taken from the system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReconnectError {
    /// It hangs on no bus that allows it.
    #[error("only USB devices and cards in an SD slot can be disconnected by a command")]
    NotPossible,
    /// It is a part of a disk.
    #[error("{0} is a partition; name the whole disk")]
    Partition(PathBuf),
    /// Others hang on the same device.
    #[error("{what} also carries {other}, which would be disconnected too")]
    Shared {
        /// The USB device or the slot's controller.
        what: String,
        /// What else it carries.
        other: String,
    },
    /// A disk on the same device is in use.
    #[error("{node} would be disconnected too, and it is in use: {objection}")]
    InUse {
        /// The other disk.
        node: PathBuf,
        /// Who uses it.
        objection: String,
    },
}

/// A text for one of the kernel's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The file, below `/`.
    pub file: PathBuf,
    /// What is to be written to it.
    pub text: String,
}

/// How a disk is disconnected and connected again, and how it is found afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconnection {
    /// What is disconnected, in words.
    pub what: String,
    /// Disconnects it.
    pub disconnect: Order,
    /// Connects it again.
    pub connect: Order,
    /// The directory of the device, below which the disk appears again.
    directory: PathBuf,
    place: String,
    size: Option<Bytes>,
    serial: Option<String>,
}

impl Reconnection {
    /// How to reconnect the disk with `number`.
    ///
    /// # Errors
    /// That is not possible, or something else that is in use would be disconnected with it.
    pub fn find(root: &Sysroot, number: DeviceNumber) -> Result<Self, ReconnectError> {
        let disk = BlockDevice::by_number(root, number).ok_or(ReconnectError::NotPossible)?;
        if disk.is_partition() {
            return Err(ReconnectError::Partition(disk.node()));
        }
        let found = match usb_device(&disk) {
            Some(directory) => Self::of_usb(&disk, directory)?,
            None => Self::of_slot(&disk)?,
        };
        found.check_others(root)?;
        Ok(found)
    }

    fn of_usb(disk: &BlockDevice<'_>, directory: &Path) -> Result<Self, ReconnectError> {
        let root = disk.root();
        let what = format!("the USB device {}", name_of(directory));
        let switch = directory.join("authorized");
        if !root.has(&switch) {
            return Err(ReconnectError::NotPossible);
        }
        for part in root.list(directory).unwrap_or_default() {
            let class = root.text(directory.join(&part).join("bInterfaceClass"));
            if class.is_some_and(|class| class != MASS_STORAGE) {
                let other = format!("something that is no storage (interface {part})");
                return Err(ReconnectError::Shared { what, other });
            }
        }
        let order = |text: &str| Order { file: switch.clone(), text: text.to_owned() };
        Ok(Self::new(disk, what, directory, order("0"), order("1")))
    }

    fn of_slot(disk: &BlockDevice<'_>) -> Result<Self, ReconnectError> {
        let root = disk.root();
        let card = disk.ancestors().find(|path| is_mmc_card(path));
        let card = card.ok_or(ReconnectError::NotPossible)?;
        let host = card.parent().ok_or(ReconnectError::NotPossible)?;
        // SLOT/mmc_host/mmc0/mmc0:aaaa
        let slot = host.ancestors().nth(2).ok_or(ReconnectError::NotPossible)?;
        let driver = root.resolve(slot.join("driver")).ok_or(ReconnectError::NotPossible)?;
        if !root.has(driver.join("unbind")) || !root.has(driver.join("bind")) {
            return Err(ReconnectError::NotPossible);
        }
        let what = format!("the card slot's controller {}", name_of(slot));
        let others = root.list(host).unwrap_or_default();
        let mut others = others.iter().filter(|name| {
            is_mmc_card(Path::new(name))
                && Some(name.as_str()) != card.file_name().and_then(|it| it.to_str())
        });
        if let Some(other) = others.next() {
            return Err(ReconnectError::Shared { what, other: other.clone() });
        }
        let order = |file: &str| Order { file: driver.join(file), text: name_of(slot) };
        Ok(Self::new(disk, what, slot, order("unbind"), order("bind")))
    }

    fn new(
        disk: &BlockDevice<'_>,
        what: String,
        directory: &Path,
        disconnect: Order,
        connect: Order,
    ) -> Self {
        Self {
            what,
            disconnect: below_root(disconnect),
            connect: below_root(connect),
            directory: directory.to_owned(),
            place: place_of(disk),
            size: disk.size(),
            serial: serial(disk),
        }
    }

    /// Checks that nobody uses another disk that would be disconnected too.
    ///
    /// # Errors
    /// [`ReconnectError::InUse`] with the disk and who uses it.
    pub fn check_others(&self, root: &Sysroot) -> Result<(), ReconnectError> {
        for other in self.disks(root).iter().filter(|other| !self.is_same(other)) {
            if let Some(objection) = in_use_of(root, other).first() {
                let objection = objection.to_string();
                return Err(ReconnectError::InUse { node: other.node(), objection });
            }
        }
        Ok(())
    }

    /// Where the same disk is now: the same place on the same device, with the same size and serial
    /// number; `None` while it is not there.
    #[must_use]
    pub fn node(&self, root: &Sysroot) -> Option<PathBuf> {
        self.disks(root).iter().find(|disk| self.is_same(disk)).map(BlockDevice::node)
    }

    fn is_same(&self, disk: &BlockDevice<'_>) -> bool {
        place_of(disk) == self.place && disk.size() == self.size && serial(disk) == self.serial
    }

    /// Whether no disk of the device is there.
    #[must_use]
    pub fn is_gone(&self, root: &Sysroot) -> bool {
        self.disks(root).is_empty()
    }

    /// All whole disks of the device.
    fn disks<'root>(&self, root: &'root Sysroot) -> Vec<BlockDevice<'root>> {
        let all = BlockDevice::all(root, "").unwrap_or_default();
        let is_here = |disk: &BlockDevice<'_>| {
            disk.directory().starts_with(&self.directory) && !disk.is_partition()
        };
        all.into_iter().filter(is_here).collect()
    }
}

/// Paths of this crate begin below the root.
fn below_root(order: Order) -> Order {
    Order { file: Path::new("/").join(order.file), ..order }
}

fn name_of(directory: &Path) -> String {
    directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The disk's place on its device, which stays the same when it gets another name: the SCSI address
/// without the number of the host, or the partition of an eMMC.
fn place_of(disk: &BlockDevice<'_>) -> String {
    let is_address = |name: &str| {
        let parts: Vec<&str> = name.split(':').collect();
        parts.len() == 4 && parts.iter().all(|part| part.parse::<u32>().is_ok())
    };
    let address = disk.ancestors().map(name_of).find(|name| is_address(name));
    if let Some((_, place)) = address.as_deref().and_then(|address| address.split_once(':')) {
        return place.to_owned();
    }
    let name = disk.name().trim_start_matches(|c: char| !c.is_ascii_digit());
    name.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned()
}
