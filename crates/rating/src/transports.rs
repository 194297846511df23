//! What a device rests on, layer by layer: an encrypted or mapped device, or a loop device, is only
//! as good as what is beneath it.

use cardproof_record::DeviceInfo;
use serde_json::{Map, Value};

/// How the device is attached, then what is beneath it, as far as the record tells; the last is
/// the storage itself.
pub(crate) fn transports(device: &DeviceInfo) -> Vec<&str> {
    let mut transports: Vec<&str> = device.transport.as_deref().into_iter().collect();
    let mut beneath = layer_beneath(&device.extra);
    while let Some(layer) = beneath {
        transports.extend(layer.get("transport").and_then(Value::as_str));
        beneath = layer_beneath(layer);
    }
    transports
}

fn layer_beneath(layer: &Map<String, Value>) -> Option<&Map<String, Value>> {
    layer.get("beneath").and_then(Value::as_object)
}

/// How the storage itself is attached, beneath all layers.
pub(crate) fn storage(device: &DeviceInfo) -> Option<&str> {
    transports(device).last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_followed_to_the_storage() {
        let text = r#"{"transport": "dm", "layer": "crypt", "beneath":
            {"transport": "loop", "beneath": {"name": "mmcblk0", "transport": "sd"}}}"#;
        let device: DeviceInfo = serde_json::from_str(text).unwrap();
        assert_eq!(transports(&device), ["dm", "loop", "sd"]);
        assert_eq!(storage(&device), Some("sd"));
        assert_eq!(storage(&DeviceInfo::default()), None);
    }
}
