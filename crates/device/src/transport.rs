//! How a device is attached, told by its place in the device tree and, for virtual devices, by
//! the directories that their drivers make.

use std::path::Path;

use cardproof_record::Transport;

use crate::Sysroot;
use crate::block::BlockDevice;
use crate::link::{numbered, sata_port_speed};

/// How `device`, a whole device, is attached; `None` for any other way.
pub(crate) fn transport_of(device: &BlockDevice<'_>) -> Option<Transport> {
    of_virtual(device).or_else(|| device.ancestors().find_map(|path| of_bus(device, path)))
}

/// A device of a driver that makes devices from others or from memory.
fn of_virtual(device: &BlockDevice<'_>) -> Option<Transport> {
    if device.has("dm") {
        return Some(Transport::Dm);
    }
    if device.has("md") {
        return Some(Transport::Md);
    }
    let name = Path::new(device.name());
    [("loop", Transport::Loop), ("zram", Transport::Zram), ("ram", Transport::Ram)]
        .into_iter()
        .find_map(|(prefix, transport)| numbered(name, prefix).map(|_| transport))
}

/// What the directory `path` above the device says, if it is that of a bus.
fn of_bus(device: &BlockDevice<'_>, path: &Path) -> Option<Transport> {
    let root = device.root();
    if is_mmc_card(path) {
        return match root.text(path.join("type"))?.as_str() {
            "SD" | "SDcombo" => Some(Transport::Sd),
            "MMC" => Some(Transport::Mmc),
            _ => None,
        };
    }
    if root.has(path.join("idVendor")) {
        return Some(Transport::Usb);
    }
    let is_numbered = |prefix| numbered(path, prefix).is_some();
    if is_numbered("nvme") || is_numbered("nvme-subsys") {
        return Some(Transport::Nvme);
    }
    if is_numbered("virtio") {
        return Some(Transport::Virtio);
    }
    if is_ufs_host(root, path) {
        return Some(Transport::Ufs);
    }
    sata_port_speed(root, path).map(|_| Transport::Sata)
}

/// Whether `path` is the directory of a UFS host, which shows its device's descriptor
/// (Documentation/ABI/testing/sysfs-driver-ufs).
pub(crate) fn is_ufs_host(root: &Sysroot, path: &Path) -> bool {
    root.has(path.join("device_descriptor/device_sub_class"))
}

/// Whether `path` is the directory of a card on an MMC host, such as `mmc0:aaaa`.
pub(crate) fn is_mmc_card(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.split_once(':').is_some_and(|(host, address)| {
        numbered(Path::new(host), "mmc").is_some()
            && !address.is_empty()
            && address.chars().all(|digit| digit.is_ascii_hexdigit())
    })
}
