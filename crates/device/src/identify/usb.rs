//! USB storage: which bridge it is, how it is driven, at which speed, and what is known of it.
//!
//! The driver and the speed are two things: UAS queues commands at USB 2 too. A stick or an
//! enclosure that can do more than its port, or the other way round, shows in the speed only.

use serde::Serialize;

use crate::block::BlockDevice;
use crate::identify::sources::Sources;
use crate::link::usb_device;

/// Bridges whose UAS is broken: below 100 kB/s, with resets in the kernel log.
const BROKEN_UAS: [(&str, &str); 3] = [
    ("152d:0578", "JMicron JMS578"),
    ("152d:0579", "JMicron JMS579"),
    ("152d:1561", "JMicron JMS561"),
];

/// How a USB storage is attached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsbStorage {
    /// Vendor and product number of the bridge, such as `152d:0578`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What the bridge calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// `uas` or `usb-storage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Whether commands are queued: UAS does, bulk-only transport does one at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues_commands: Option<bool>,
    /// What is known to be wrong with it, and the remedy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
}

/// USB mass storage's protocol numbers: USB-IF, Mass Storage Class Specification Overview.
const PROTOCOL_UAS: &str = "62";
const PROTOCOL_BULK_ONLY: &str = "50";

impl UsbStorage {
    /// The USB storage that `device` is; `None` where it is none.
    pub(crate) fn read(sources: &Sources<'_>, device: &BlockDevice<'_>) -> Option<Self> {
        let root = device.root();
        let usb = usb_device(device)?;
        let text = |attribute: &str| root.text(usb.join(attribute));
        let interface = device.ancestors().find(|path| path.parent() == Some(usb));
        let driver = interface
            .and_then(|path| root.resolve(path.join("driver")))
            .and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
        let protocol = interface.and_then(|path| root.text(path.join("bInterfaceProtocol")));
        let mut storage = Self {
            id: text("idVendor").zip(text("idProduct")).map(|(v, p)| format!("{v}:{p}")),
            product: text("product"),
            queues_commands: queues(driver.as_deref(), protocol.as_deref()),
            driver,
            troubles: Vec::new(),
        };
        storage.troubles = storage.known_troubles(sources, text("speed").as_deref());
        Some(storage)
    }

    fn known_troubles(&self, sources: &Sources<'_>, speed: Option<&str>) -> Vec<String> {
        let mut troubles = Vec::new();
        let broken = BROKEN_UAS.iter().find(|(id, _)| self.id.as_deref() == Some(*id));
        if let (Some((id, name)), Some("uas")) = (broken, self.driver.as_deref()) {
            troubles.push(format!(
                "this bridge ({name}) is known for UAS below 100 kB/s; if it is slow, add \
                 usb-storage.quirks={id}:u to the kernel's command line and boot again"
            ));
        }
        let is_switched_off =
            sources.root().text("sys/module/usb_storage/parameters/quirks").zip(self.id.as_deref());
        if let Some((quirks, id)) = is_switched_off
            && quirks.split(',').any(|quirk| is_quirk_against_uas(quirk, id))
        {
            troubles.push("UAS is switched off for it by usb-storage.quirks".to_owned());
        }
        if self.driver.as_deref() == Some("uas") && speed == Some("480") {
            troubles.push(
                "it speaks UAS but at USB 2 speed: a USB 2 port or cable, or a bad contact; try a \
                 USB 3 port and another cable"
                    .to_owned(),
            );
        }
        troubles
    }
}

/// Whether commands are queued, by the driver in use or else by the interface's protocol.
fn queues(driver: Option<&str>, protocol: Option<&str>) -> Option<bool> {
    match (driver, protocol) {
        (Some("uas"), _) => Some(true),
        (Some("usb-storage"), _) => Some(false),
        (_, Some(PROTOCOL_UAS)) => Some(true),
        (_, Some(PROTOCOL_BULK_ONLY)) => Some(false),
        _ => None,
    }
}

/// Whether `quirk`, `VENDOR:PRODUCT:FLAGS`, has the flag `u` ("ignore UAS") for `id`.
fn is_quirk_against_uas(quirk: &str, id: &str) -> bool {
    quirk.rsplit_once(':').is_some_and(|(of, flags)| of == id && flags.contains('u'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quirk_is_read_as_the_kernel_reads_it() {
        assert!(is_quirk_against_uas("152d:0578:u", "152d:0578"));
        assert!(!is_quirk_against_uas("152d:0578:s", "152d:0578"));
        assert!(!is_quirk_against_uas("152d:0579:u", "152d:0578"));
        assert!(!is_quirk_against_uas("", "152d:0578"));
    }

    #[test]
    fn the_driver_in_use_decides_over_what_is_offered() {
        assert_eq!(queues(Some("usb-storage"), Some(PROTOCOL_UAS)), Some(false));
        assert_eq!(queues(Some("uas"), None), Some(true));
        assert_eq!(queues(None, Some(PROTOCOL_BULK_ONLY)), Some(false));
        assert_eq!(queues(None, None), None);
    }
}
