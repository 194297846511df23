//! Where a storage device tells how worn it is, by what it is: that nobody has looked is not that it does not tell.

use cardproof_record::{DeviceInfo, Transport};
use serde::Serialize;

use crate::transports::storage;

/// What is known of the wear of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Wear {
    /// It tells its used life.
    Told,
    /// A health report may tell it, which `health` reads and no other command.
    NotLookedAt,
    /// It is an SD card, for which no standard has a report.
    NoStandard,
    /// It is an eMMC, and the kernel does not tell.
    Untold,
    /// It is a disk of a virtual machine, which has no report.
    Virtual,
    /// It is no device of its own: memory, a file, or several devices.
    NoDevice,
    /// It is simulated.
    Simulated,
    /// It is not known what it is.
    Unknown,
}

impl Wear {
    /// What is known of the wear of the storage beneath `device`.
    #[must_use]
    pub fn of(device: &DeviceInfo, is_simulated: bool) -> Self {
        let lowest = device.lowest().card.as_ref();
        if lowest.is_some_and(|card| card.life_used_percent_max.is_some()) {
            return Self::Told;
        }
        if is_simulated {
            return Self::Simulated;
        }
        match storage(device) {
            Some(Transport::Sd) => Self::NoStandard,
            Some(Transport::Mmc) => Self::Untold,
            Some(Transport::Virtio) => Self::Virtual,
            Some(Transport::Usb | Transport::Nvme | Transport::Sata | Transport::Ufs) => {
                Self::NotLookedAt
            }
            Some(
                Transport::Loop | Transport::Zram | Transport::Ram | Transport::Dm | Transport::Md,
            ) => Self::NoDevice,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use cardproof_record::CardInfo;

    use super::*;

    #[test]
    fn what_nobody_looked_at_is_not_what_is_not_told() {
        let of = |transport| {
            let device = DeviceInfo { transport: Some(transport), ..DeviceInfo::default() };
            Wear::of(&device, false)
        };
        assert_eq!(of(Transport::Nvme), Wear::NotLookedAt);
        assert_eq!(of(Transport::Usb), Wear::NotLookedAt);
        assert_eq!(of(Transport::Sd), Wear::NoStandard);
        assert_eq!(of(Transport::Virtio), Wear::Virtual);
        assert_eq!(Wear::of(&DeviceInfo::default(), true), Wear::Simulated);
        assert_eq!(Wear::of(&DeviceInfo::default(), false), Wear::Unknown);
        let card = CardInfo { life_used_percent_max: Some(30), ..CardInfo::default() };
        let device = DeviceInfo {
            transport: Some(Transport::Mmc),
            card: Some(card),
            ..DeviceInfo::default()
        };
        assert_eq!(Wear::of(&device, false), Wear::Told);
    }
}
