//! Who a storage device is, what the host gives it, and what holds it back: all facts that the
//! first look puts into a record, and what follows from them.
//!
//! Nothing is opened but the kernel's small files, and nothing is guessed: what could not be read
//! is a value of its own, with the reason and what would be needed.

pub(crate) mod alignment;
mod boards;
mod bus_mode;
mod capacity;
pub(crate) mod card;
mod ceiling;
mod document;
pub(crate) mod doubts;
pub(crate) mod errors;
pub(crate) mod features;
pub(crate) mod kernel_log;
pub(crate) mod kernel_version;
pub(crate) mod mmc_host;
pub(crate) mod power;
pub(crate) mod sources;
mod storage_choice;
mod storages;
mod usb;
mod words;

use cardproof_record::{DeviceInfo, FilesystemInfo, HostInfo, SettingsInfo, Transport, Unknown};
use cardproof_units::Bytes;
use serde::Serialize;

pub use alignment::PartitionPlace;
pub use capacity::Capacity;
pub use ceiling::{Ceiling, CeilingSource};
pub use document::{Document, IDENTITY_SCHEMA};
pub use doubts::Doubts;
pub use errors::{Errors, HostErrors, LogAccess};
pub use power::{Power, Temperature};
pub use storages::{StorageSummary, storages};
pub use usb::UsbStorage;

use crate::block::BlockDevice;
use crate::look::{LookError, surroundings};
use crate::mounts::Mounts;
use crate::stack::Storage;
use crate::transport::is_mmc_card;
use crate::{Surroundings, Sysroot};
use card::{read_emmc, read_sd};
use cardproof_registers::Serial;
use mmc_host::MmcHost;
use sources::Sources;
use storage_choice::{Found, find};

pub use storage_choice::StorageChoice;

/// All that is known of one storage device and its surroundings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Identity {
    /// The device, as in a record.
    pub device: DeviceInfo,
    /// The computer, as in a record.
    pub host: HostInfo,
    /// The file system that was asked about, as in a record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<FilesystemInfo>,
    /// The settings, as in a record.
    pub settings: SettingsInfo,
    /// The most that the way to the device lets through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    /// Whether there is a medium in the reader; absent where there is no device at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_medium: Option<bool>,
    /// Its capacity, from several sources.
    pub capacity: Capacity,
    /// Where its partitions are.
    pub partitions: Vec<PartitionPlace>,
    /// How it is attached, if by USB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usb: Option<UsbStorage>,
    /// Signs of a counterfeit; SD cards only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspicion: Option<Doubts>,
    /// What has gone wrong with the storage since the computer started.
    #[serde(skip_serializing_if = "Errors::is_empty")]
    pub errors: Errors,
    /// Power, heat and clocks of the computer.
    pub power: Power,
    /// What could not be found out, why, and what would be needed.
    pub unknown: Vec<Unknown>,
    /// The card's serial number. It is not serialised.
    #[serde(skip)]
    pub serial: Option<Serial>,
}

/// Identifies the storage at `place`.
///
/// # Errors
/// There is nothing of that name.
pub fn identify(root: &Sysroot, place: &StorageChoice) -> Result<Identity, LookError> {
    let mounts = Mounts::read(root).unwrap_or_default();
    let Found { storage, filesystem, node } = find(root, place, &mounts)?;
    let sources = Sources::new(root);
    let found = surroundings(&sources, storage.as_ref(), &mounts, filesystem);
    let device = storage.as_ref().and_then(|storage| medium(storage, &mounts));
    Ok(complete(sources, found, device.as_ref(), node.as_deref()))
}

/// The device at the bottom of `storage`, which the user means who asks what it is.
fn medium<'root>(storage: &Storage<'root>, mounts: &Mounts) -> Option<BlockDevice<'root>> {
    let mut lowest = storage.clone();
    for _ in 0..crate::device::LAYERS_MAX {
        let Storage::Device(device) = &lowest else { return None };
        // A loop device is a file's; the disk beneath it is another device with another size.
        if device.backing_file().is_some() {
            break;
        }
        match Storage::below(device, mounts) {
            Some(below @ Storage::Device(_)) => lowest = below,
            _ => break,
        }
    }
    match lowest {
        Storage::Device(device) => Some(device),
        _ => None,
    }
}

fn complete(
    sources: Sources<'_>,
    found: Surroundings,
    medium: Option<&BlockDevice<'_>>,
    beneath_filesystem: Option<&str>,
) -> Identity {
    let Surroundings { device, host, filesystem, settings, unknown: _ } = found;
    let info = device.lowest();
    let card = info.card.as_ref();
    let unit = card.and_then(|card| card.allocation_unit_bytes);
    let power = Power::read(&sources);
    note_absent(&sources, medium, beneath_filesystem);
    power.note_gaps(&sources, host.board.as_deref());
    let ceiling = ceiling_of(info, host.board.as_deref());
    if ceiling.is_none() && medium.is_some() {
        note_no_ceiling(&sources, info.transport.as_ref());
    }
    let word = medium.and_then(|device| card_word(device, &sources));
    let is_sd = info.transport == Some(Transport::Sd);
    let size = medium.and_then(BlockDevice::size);
    Identity {
        ceiling,
        has_medium: medium.and_then(BlockDevice::size).map(|size| size > Bytes::ZERO),
        capacity: medium
            .map(|device| Capacity::of(device, card.and_then(|card| card.capacity_bytes)))
            .unwrap_or_default(),
        partitions: medium.map(|device| alignment::places(device, unit)).unwrap_or_default(),
        usb: medium.and_then(|device| UsbStorage::read(&sources, device)),
        suspicion: word
            .as_ref()
            .filter(|word| is_sd && word.ids.is_some())
            .map(|word| doubts::doubts(word, size)),
        errors: medium.map(|device| errors_of(device, &sources)).unwrap_or_default(),
        power,
        serial: word.and_then(|word| word.serial),
        device,
        host,
        filesystem,
        settings,
        unknown: sources.into_unknown(),
    }
}

fn errors_of(device: &BlockDevice<'_>, sources: &Sources<'_>) -> Errors {
    let card = device.ancestors().find(|path| is_mmc_card(path));
    let host = card.and_then(MmcHost::of_card);
    let address = card.and_then(|path| path.file_name()?.to_str());
    Errors::read(sources, device.name(), host.as_ref(), address)
}

fn ceiling_of(info: &DeviceInfo, board: Option<&str>) -> Option<Ceiling> {
    let queues = info.card.as_ref().is_some_and(|card| card.command_queue.enabled == Some(true));
    if let Some(bus) = &info.bus
        && let Some(ceiling) = Ceiling::of_bus(bus, queues)
    {
        return Some(ceiling);
    }
    if info.transport == Some(Transport::Sd)
        && let Some(board) = board
        && let Some(slot) = boards::slot_of(board)
    {
        return Ceiling::of_slot(slot, board);
    }
    let rate = info.link_ceiling_bytes_per_s?;
    Some(Ceiling::of_link(rate, info.link.as_deref().unwrap_or("the link")))
}

/// Notes why there is no device; `node` is what the mount table has for it.
fn note_absent(sources: &Sources<'_>, medium: Option<&BlockDevice<'_>>, node: Option<&str>) {
    if !sources.root().has("sys/class/block") {
        let node = node.map(|node| format!(" (the file system is on {node})")).unwrap_or_default();
        sources.unknown(
            "all of the storage",
            &format!("there is no sysfs here, as in some containers{node}"),
            "run outside of the container, or mount sysfs on /sys",
        );
    } else if medium.is_none() {
        sources.unknown(
            "the storage device",
            "the place is not on a single block device",
            "name a device, such as /dev/mmcblk0",
        );
    }
}

fn note_no_ceiling(sources: &Sources<'_>, transport: Option<&Transport>) {
    use Transport::{Dm, Loop, Md, Mmc, Ram, Sd, Virtio, Zram};
    let (reason, needed) = match transport {
        Some(Virtio | Loop | Zram | Ram | Dm | Md) => {
            ("a virtual device has no bus", "run identify on the physical device, on its host")
        }
        Some(Sd | Mmc) => ("the bus mode is unknown", "the bus mode, see there"),
        _ => (
            "the kernel does not report the speed of the bus",
            "a kernel or a port that reports it",
        ),
    };
    sources.unknown("the bus limit", reason, needed);
}

/// What the registers of the card in `device` say, the serial number included, which the answer
/// for a record is without.
fn card_word(device: &BlockDevice<'_>, sources: &Sources<'_>) -> Option<card::CardWord> {
    let card = device.ancestors().find(|path| is_mmc_card(path))?;
    let quiet = Sources::new(sources.root());
    let is_emmc = sources.root().text(card.join("type")).as_deref() == Some("MMC");
    Some(if is_emmc { read_emmc(&quiet, card, None, None) } else { read_sd(&quiet, card) })
}
