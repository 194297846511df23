//! Which storage a machine has, in one line each: so that a user who named none finds it.

use serde::Serialize;

use cardproof_record::Transport;
use cardproof_units::Bytes;

use crate::Sysroot;
use crate::block::BlockDevice;
use crate::identify::mmc_host::MmcHost;
use crate::link::numbered;
use crate::transport::transport_of;

/// One storage device, or a reader without a medium.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StorageSummary {
    /// The kernel's name, such as `mmcblk0` or, for an empty card slot, `mmc1`.
    pub name: String,
    /// How it is attached, as in a record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The size; zero where there is no medium.
    pub size_bytes: Bytes,
}

impl StorageSummary {
    /// Whether it is a card slot without a card, for which there is no device to ask about.
    #[must_use]
    pub fn is_empty_slot(&self) -> bool {
        self.size_bytes == Bytes::ZERO && numbered(self.name.as_ref(), "mmc").is_some()
    }
}

/// All storage of the machine, and its empty card slots.
#[must_use]
pub fn storages(root: &Sysroot) -> Vec<StorageSummary> {
    let devices = BlockDevice::all(root, "").unwrap_or_default();
    let mut all: Vec<StorageSummary> = devices.iter().filter_map(summary).collect();
    all.extend(empty_slots(root));
    all
}

fn summary(device: &BlockDevice<'_>) -> Option<StorageSummary> {
    let transport = transport_of(device);
    if device.is_partition()
        || is_made_of_others(transport.as_ref())
        || is_area_of_emmc(device.name())
    {
        return None;
    }
    let size_bytes = device.size().unwrap_or_default();
    let is_reader = device.switch("removable") == Some(true);
    // Network block devices and the like stand by without a size.
    (size_bytes > Bytes::ZERO || is_reader).then(|| StorageSummary {
        name: device.name().to_owned(),
        transport,
        model: device.text("device/model").or_else(|| device.text("device/name")),
        size_bytes,
    })
}

fn is_made_of_others(transport: Option<&Transport>) -> bool {
    use Transport::{Dm, Loop, Md, Ram, Zram};
    matches!(transport, Some(Dm | Loop | Md | Ram | Zram))
}

/// Whether `name` is of an eMMC's boot or replay-protected area.
fn is_area_of_emmc(name: &str) -> bool {
    name.starts_with("mmcblk") && (name.contains("boot") || name.contains("rpmb"))
}

/// Card slots that the kernel has a host for and no card.
fn empty_slots(root: &Sysroot) -> Vec<StorageSummary> {
    let names = root.list("sys/class/mmc_host").unwrap_or_default();
    let empty = names.into_iter().filter_map(|name| {
        let directory = root.resolve(format!("sys/class/mmc_host/{name}"))?;
        let host = MmcHost::in_directory(&directory)?;
        numbered(&directory, "mmc")?;
        let card = format!("{name}:");
        let has_card = root.list(&directory).ok()?.iter().any(|entry| entry.starts_with(&card));
        // An attribute that every host has, so that a dump keeps the directory.
        root.has(directory.join("uevent"));
        (!has_card).then(|| StorageSummary {
            name,
            transport: Some(Transport::Sd),
            model: host.driver(root).map(|driver| format!("card slot ({driver})")),
            size_bytes: Bytes::ZERO,
        })
    });
    empty.collect()
}
