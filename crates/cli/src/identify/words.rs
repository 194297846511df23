//! How sizes, rates and answers are worded here.

use cardproof_device::identify::StorageSummary;
use cardproof_record::Transport;
use cardproof_units::{Bytes, Throughput};

/// A size as makers and as systems write it: `63.9 GB (59.5 GiB)`.
pub(super) fn size(bytes: Bytes) -> String {
    if bytes < Bytes::gib(1) {
        return bytes.to_string();
    }
    format!("{:.1} GB ({bytes})", bytes.as_f64() / 1e9)
}

/// A rate of so many bytes a second.
pub(super) fn rate(bytes_per_s: u64) -> String {
    Throughput(bytes_per_s as f64).to_string()
}

/// A clock in MHz or, above a thousand of them, in GHz.
pub(super) fn clock(hz: u64) -> String {
    let mhz = hz as f64 / 1e6;
    if mhz < 1000.0 { format!("{mhz:.0} MHz") } else { format!("{:.1} GHz", mhz / 1000.0) }
}

/// Yes, no, or not known.
pub(super) const fn answer(known: Option<bool>) -> &'static str {
    match known {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not known",
    }
}

/// On, off, or not known.
pub(super) const fn state(known: Option<bool>) -> &'static str {
    match known {
        Some(true) => "on",
        Some(false) => "off",
        None => "not known",
    }
}

/// Whether a card refuses to be written.
pub(super) fn state_of_protection(is_protected: bool) -> &'static str {
    if is_protected { "on: it cannot be written" } else { "off" }
}

/// How a device is attached, in words.
pub(super) fn transport(transport: &Transport) -> &str {
    match transport {
        Transport::Sd => "SD card",
        Transport::Mmc => "eMMC",
        Transport::Usb => "USB storage",
        Transport::Nvme => "NVMe disk",
        Transport::Sata => "SATA disk",
        Transport::Ufs => "UFS storage",
        Transport::Virtio => "virtual disk (virtio)",
        Transport::Loop => "loop device",
        Transport::Zram => "compressed memory (zram)",
        Transport::Ram => "memory",
        Transport::Dm => "device-mapper volume",
        Transport::Md => "array (md)",
        Transport::Other(word) => word,
    }
}

/// A storage device in one line.
pub(super) fn summary(storage: &StorageSummary) -> String {
    let kind = storage.transport.as_ref().map(transport);
    let size = if storage.size_bytes == Bytes::ZERO {
        "no medium".to_owned()
    } else {
        size(storage.size_bytes)
    };
    let parts = [kind.map(str::to_owned), storage.model.clone(), Some(size)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_worded_as_on_the_package_and_as_in_the_system() {
        assert_eq!(size(Bytes(63_864_569_856)), "63.9 GB (59.5 GiB)");
        assert_eq!(size(Bytes::mib(4)), "4 MiB");
        assert_eq!(
            (clock(600_000_000), clock(1_800_000_000)),
            ("600 MHz".into(), "1.8 GHz".into())
        );
    }
}
