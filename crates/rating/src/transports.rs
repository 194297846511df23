//! What a device rests on, layer by layer: an encrypted or mapped device, or a loop device, is only
//! as good as what is beneath it.

use cardproof_record::{DeviceInfo, Transport};

/// How the device is attached, then what is beneath it, as far as the record tells; the last is
/// the storage itself.
pub(crate) fn transports(device: &DeviceInfo) -> impl Iterator<Item = &Transport> {
    device.layers().filter_map(|layer| layer.transport.as_ref())
}

/// How the storage itself is attached, beneath all layers.
pub(crate) fn storage(device: &DeviceInfo) -> Option<&Transport> {
    transports(device).last()
}

/// Whether the storage beneath all layers of `device` is an SD card, or may be one in a reader.
#[must_use]
pub fn may_be_sd_card(device: &DeviceInfo) -> bool {
    storage(device).is_none_or(|it| matches!(it, Transport::Sd | Transport::Usb))
}

/// What the names of card readers hold, in small letters.
const READER_NAMES: [&str; 8] =
    ["reader", "card", "sd/", "micro", "mmc", "mass", "storage device", "crw"];

/// Whether the storage beneath all layers of `device` has a class: an SD card, and USB storage that calls itself a
/// reader or nothing at all. All else is as fast as a class asks, or slower.
#[must_use]
pub fn has_card_class(device: &DeviceInfo) -> bool {
    let Some(storage) = device.layers().filter(|it| it.transport.is_some()).last() else {
        return true;
    };
    let model = storage.model.as_deref().unwrap_or_default().to_lowercase();
    let is_reader = || model.is_empty() || READER_NAMES.iter().any(|name| model.contains(name));
    match storage.transport {
        Some(Transport::Usb) => is_reader(),
        _ => may_be_sd_card(device),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_followed_to_the_storage() {
        let text = r#"{"transport": "dm", "layer": "crypt", "beneath":
            {"transport": "loop", "beneath": {"name": "mmcblk0", "transport": "sd"}}}"#;
        let device: DeviceInfo = serde_json::from_str(text).unwrap();
        let found: Vec<&Transport> = transports(&device).collect();
        assert_eq!(found, [&Transport::Dm, &Transport::Loop, &Transport::Sd]);
        assert_eq!(storage(&device), Some(&Transport::Sd));
        assert_eq!(storage(&DeviceInfo::default()), None);
        assert!(may_be_sd_card(&device) && may_be_sd_card(&DeviceInfo::default()));
    }

    #[test]
    fn a_usb_stick_has_no_class_and_a_card_in_a_reader_has() {
        for (model, has_class) in [
            (Some("USB3.0 Card Reader"), true),
            (Some("STORAGE DEVICE"), true),
            (Some("SD/MMC"), true),
            (None, true),
            (Some("DataTraveler 3.0"), false),
            (Some("USB stick, 32 GB, USB 3.0 port"), false),
        ] {
            let device = DeviceInfo {
                transport: Some(Transport::Usb),
                model: model.map(str::to_owned),
                ..DeviceInfo::default()
            };
            assert_eq!(has_card_class(&device), has_class, "{model:?}");
            assert!(may_be_sd_card(&device));
        }
    }
}
