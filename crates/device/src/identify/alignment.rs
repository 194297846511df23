//! Where the partitions begin, and whether that is where an allocation unit begins.
//!
//! A file system whose blocks straddle two allocation units makes the card rewrite both. An SD
//! card tells its unit; sticks and disks do not, and for those only the start is told.

use cardproof_units::Bytes;
use serde::Serialize;

use crate::block::BlockDevice;

/// sysfs counts in these, whatever the device's own block size is.
const SECTOR: u64 = 512;

/// The place of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartitionPlace {
    /// Its name, such as `mmcblk0p2`.
    pub name: String,
    /// Where it begins on the device.
    pub start_bytes: Bytes,
    /// How large it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<Bytes>,
    /// Whether it begins where an allocation unit does; absent where the unit is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_aligned: Option<bool>,
}

/// The places of the partitions of `device`, in their order on it.
pub(crate) fn places(device: &BlockDevice<'_>, unit: Option<Bytes>) -> Vec<PartitionPlace> {
    let place = |partition: BlockDevice<'_>| {
        let start_bytes = start_of(&partition)?;
        Some(PartitionPlace {
            name: partition.name().to_owned(),
            start_bytes,
            size_bytes: partition.size(),
            is_aligned: is_aligned(start_bytes, unit),
        })
    };
    let mut places: Vec<PartitionPlace> =
        device.partitions().into_iter().filter_map(place).collect();
    places.sort_by_key(|place| place.start_bytes);
    places
}

/// Where `partition` begins on its device.
pub(crate) fn start_of(partition: &BlockDevice<'_>) -> Option<Bytes> {
    let sectors: u64 = partition.text("start")?.parse().ok()?;
    sectors.checked_mul(SECTOR).map(Bytes)
}

/// Whether `start` is at the beginning of a `unit`, if there is one.
pub(crate) fn is_aligned(start: Bytes, unit: Option<Bytes>) -> Option<bool> {
    let unit = unit.filter(|unit| unit.get() > 0)?;
    Some(start.is_multiple_of(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_compared_with_the_unit() {
        assert_eq!(is_aligned(Bytes::mib(8), Some(Bytes::mib(4))), Some(true));
        assert_eq!(is_aligned(Bytes::mib(1), Some(Bytes::mib(4))), Some(false));
        assert_eq!(is_aligned(Bytes::mib(1), None), None);
        assert_eq!(is_aligned(Bytes::mib(1), Some(Bytes(0))), None);
    }
}
