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

/// Whether the storage beneath all layers of `device` is an SD card, or may be one in a reader: only such storage has a
/// class. All else is as fast as one asks, or slower.
#[must_use]
pub fn may_be_sd_card(device: &DeviceInfo) -> bool {
    storage(device).is_none_or(|it| matches!(it, Transport::Sd | Transport::Usb))
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
}
