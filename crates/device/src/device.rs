//! The device in a record: what it is, how it is attached, what it rests on.
//!
//! Serial numbers, which sysfs shows next to all this, stay where they are.

use cardproof_record::{BusInfo, DeviceInfo, HostInfo, Transport};
use cardproof_registers::quirks::CardKind;

use crate::block::BlockDevice;
use crate::identify::card::{read_emmc, read_sd};
use crate::identify::doubts::{fill_doubts, fill_lists};
use crate::identify::features::{Surrounding, fill_emmc, fill_sd};
use crate::identify::kernel_version::KernelVersion;
use crate::identify::mmc_host::{MmcHost, bus_rate, bus_words};
use crate::identify::sources::Sources;
use crate::link::{Link, usb_device};
use crate::mounts::Mounts;
use crate::stack::{Storage, layer};
use crate::transport::{is_mmc_card, transport_of};

/// How many layers are followed down: more than anybody stacks, fewer than a broken tree loops.
pub(crate) const LAYERS_MAX: usize = 8;

/// What is needed to describe a device and those beneath it.
pub(crate) struct Layers<'a> {
    pub(crate) mounts: &'a Mounts,
    pub(crate) sources: &'a Sources<'a>,
    pub(crate) host: &'a HostInfo,
}

/// What there is to say about `storage`, and below it about up to `layers_max` layers.
pub(crate) fn describe(
    storage: &Storage<'_>,
    layers: &Layers<'_>,
    layers_max: usize,
) -> DeviceInfo {
    let mut info = DeviceInfo::default();
    match storage {
        Storage::Device(device) => describe_device(device, layers, layers_max, &mut info),
        Storage::Several(count) => {
            info.device_count = u32::try_from(*count).ok();
        }
        Storage::Memory => info.transport = Some(Transport::Ram),
    }
    info
}

fn describe_device(
    device: &BlockDevice<'_>,
    layers: &Layers<'_>,
    layers_max: usize,
    info: &mut DeviceInfo,
) {
    info.name = Some(device.name().to_owned());
    info.transport = transport_of(device);
    info.size_bytes = device.size();
    info.removable = device.switch("removable");
    info.rotational = device.switch("queue/rotational");
    describe_make(device, layers, info);
    if let Some(link) = info.transport.as_ref().and_then(|transport| Link::read(device, transport))
    {
        info.link = Some(link.words);
        info.link_ceiling_bytes_per_s = Some(link.ceiling_bytes_per_s);
    }
    info.layer = layer(device).map(|layer| layer.to_string());
    if layers_max > 0
        && let Some(below) = Storage::below(device, layers.mounts)
    {
        info.beneath = Some(Box::new(describe(&below, layers, layers_max - 1)));
    }
}

/// The model and the vendor, and the numbers that stand for them on the bus.
fn describe_make(device: &BlockDevice<'_>, layers: &Layers<'_>, info: &mut DeviceInfo) {
    match info.transport {
        Some(Transport::Sd | Transport::Mmc) => describe_card(device, layers, info),
        Some(Transport::Usb) => describe_usb(device, info),
        _ => {
            info.model = device.text("device/model");
            info.vendor = device.text("device/vendor").filter(|vendor| is_vendor_name(vendor));
            info.revision =
                device.text("device/firmware_rev").or_else(|| device.text("device/rev"));
        }
    }
}

/// SD cards and eMMC: what the registers say, what the host gives them.
fn describe_card(device: &BlockDevice<'_>, layers: &Layers<'_>, info: &mut DeviceInfo) {
    let Some(card) = device.ancestors().find(|path| is_mmc_card(path)) else { return };
    let Layers { sources, host: computer, .. } = layers;
    let host = MmcHost::of_card(card);
    let around = Surrounding {
        sources,
        device,
        card,
        host: host.as_ref(),
        kernel: computer.kernel.as_deref().and_then(KernelVersion::parse),
        board: computer.board.as_deref(),
    };
    let is_emmc = info.transport == Some(Transport::Mmc);
    let word = if is_emmc {
        let host = host.as_ref().map(|host| host.name.as_str());
        let mut word = read_emmc(sources, card, host, device.whole().size());
        fill_lists(&mut word, CardKind::Mmc, computer.kernel.as_deref());
        fill_emmc(&around, &mut word.info);
        word
    } else {
        let mut word = read_sd(sources, card);
        fill_doubts(&mut word, device.size(), computer.kernel.as_deref());
        fill_sd(&around, &mut word.info);
        word
    };
    info.model = word.info.product.clone();
    info.card = Some(word.info);
    info.bus = host.map(|host| host.bus(sources)).filter(|bus| *bus != BusInfo::default());
    if let Some(bus) = &info.bus {
        info.link = bus_words(bus);
        info.link_ceiling_bytes_per_s = bus_rate(bus).map(cardproof_units::Bytes::get);
    }
}

/// USB storage: what the medium says, the bridge's numbers, and the driver in use.
fn describe_usb(device: &BlockDevice<'_>, info: &mut DeviceInfo) {
    info.model = device.text("device/model");
    info.vendor = device.text("device/vendor");
    info.revision = device.text("device/rev");
    let Some(usb) = usb_device(device) else { return };
    let text = |attribute| device.root().text(usb.join(attribute));
    let id = text("idVendor").zip(text("idProduct"));
    info.usb_id = id.map(|(vendor, product)| format!("{vendor}:{product}"));
    info.usb_driver = usb_driver(device);
}

/// The driver of the USB interface, `uas` or `usb-storage`: the directory just below the USB
/// device's on the way to the block device.
fn usb_driver(device: &BlockDevice<'_>) -> Option<String> {
    let usb = usb_device(device)?;
    let interface = device.ancestors().find(|path| path.parent() == Some(usb))?;
    let driver = device.root().resolve(interface.join("driver"))?;
    Some(driver.file_name()?.to_str()?.to_owned())
}

/// Whether `vendor` is a name: libata writes `ATA` for every disk, virtio a PCI number.
fn is_vendor_name(vendor: &str) -> bool {
    vendor != "ATA" && !vendor.starts_with("0x")
}
