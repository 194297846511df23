//! The link between the host and the device: what it is, and the most it can carry.
//!
//! Only what the kernel tells everybody is used: the speed files of USB, SATA and PCI devices.
//! The bus mode of an SD card or eMMC is shown only in debugfs, to root, so there is none here.
//! A ceiling is the payload that the line can carry at most, after line coding and, for USB 1
//! and 2, after the fixed protocol overhead: no true measurement can be above it.

use std::path::{Path, PathBuf};

use cardproof_record::Transport;

use crate::Sysroot;
use crate::block::BlockDevice;
use crate::transport::is_ufs_host;

/// A link and its ceiling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// In words.
    pub(crate) words: String,
    /// In bytes a second.
    pub(crate) ceiling_bytes_per_s: u64,
}

impl Link {
    /// The link of `device`, where the kernel tells its speed.
    pub(crate) fn read(device: &BlockDevice<'_>, transport: &Transport) -> Option<Self> {
        let root = device.root();
        match transport {
            Transport::Usb => Self::usb(&root.text(usb_device(device)?.join("speed"))?),
            Transport::Sata => Self::sata(&sata_speed(device)?),
            Transport::Nvme => pcie_link(root, device),
            Transport::Ufs => ufs_link(root, device),
            _ => None,
        }
    }

    /// USB at `speed` Mbit/s.
    ///
    /// USB 2.0 specification, tables 5-9 and 5-10: at most 19 bulk packets of 64 bytes a frame
    /// at full speed, 13 of 512 bytes a microframe at high speed. USB 3.2 specification: 8b/10b
    /// coding at 5 Gbit/s, 128b/132b above.
    fn usb(speed: &str) -> Option<Self> {
        let (words, ceiling_bytes_per_s) = match speed {
            "12" => ("USB 1.1, 12 Mbit/s", 19 * 64 * 1_000),
            "480" => ("USB 2.0, 480 Mbit/s", 13 * 512 * 8_000),
            "5000" => ("USB 3, 5 Gbit/s", 500_000_000),
            "10000" => ("USB 3, 10 Gbit/s", 10_000_000_000 * 128 / 132 / 8),
            "20000" => ("USB 3, 20 Gbit/s", 20_000_000_000 * 128 / 132 / 8),
            _ => return None,
        };
        Some(Self { words: words.to_owned(), ceiling_bytes_per_s })
    }

    /// SATA at `speed`, as libata words it; 8b/10b coding at every speed.
    fn sata(speed: &str) -> Option<Self> {
        let ceiling_bytes_per_s = match speed {
            "1.5 Gbps" => 150_000_000,
            "3.0 Gbps" => 300_000_000,
            "6.0 Gbps" => 600_000_000,
            _ => return None,
        };
        let words = format!("SATA, {}", speed.replace("bps", "bit/s"));
        Some(Self { words, ceiling_bytes_per_s })
    }

    /// UFS of `lanes` in the gear and at the rate that the kernel prints, such as `HS_GEAR3` and `HS_RATE_B`.
    ///
    /// MIPI M-PHY: gear 1 has 1248 Mbit/s at rate A and 1457.6 at rate B, and each further gear twice as many;
    /// 8b/10b coding to gear 5. Gear 6 is coded in another way, and the slow gears of `PWM` are no ceiling that matters.
    fn ufs(gear: &str, rate: &str, lanes: u64) -> Option<Self> {
        let number: u32 = gear.strip_prefix("HS_GEAR")?.parse().ok()?;
        let (letter, first_bits_per_s) = match rate {
            "HS_RATE_A" => ('A', 1_248_000_000),
            "HS_RATE_B" => ('B', 1_457_600_000),
            _ => return None,
        };
        if !(1..=5).contains(&number) || !(1..=2).contains(&lanes) {
            return None;
        }
        let words = format!("UFS, HS gear {number}{letter}, {lanes} {}", lanes_word(lanes));
        let lane_bits_per_s: u64 = first_bits_per_s << (number - 1);
        Some(Self { words, ceiling_bytes_per_s: lane_bits_per_s * lanes / 10 })
    }

    /// PCI Express of `lanes` at `speed`, as the PCI core words it.
    ///
    /// PCI Express Base Specification: 8b/10b coding to 5 GT/s, 128b/130b from 8 GT/s; above
    /// 32 GT/s the coding is part of the flit and is not taken off here.
    fn pcie(speed: &str, lanes: u64) -> Option<Self> {
        let (rate, lane_bits_per_s) = match speed.split_whitespace().next()? {
            rate @ "2.5" => (rate, 2_000_000_000),
            rate @ "5.0" => (rate, 4_000_000_000),
            rate @ "8.0" => (rate, 8_000_000_000 * 128 / 130),
            rate @ "16.0" => (rate, 16_000_000_000 * 128 / 130),
            rate @ "32.0" => (rate, 32_000_000_000 * 128 / 130),
            rate @ "64.0" => (rate, 64_000_000_000),
            _ => return None,
        };
        if !(1..=32).contains(&lanes) {
            return None;
        }
        let words = format!("PCI Express, {rate} GT/s, {lanes} {}", lanes_word(lanes));
        Some(Self { words, ceiling_bytes_per_s: lane_bits_per_s * lanes / 8 })
    }
}

/// The link of the UFS host that `device` hangs on, as its `power_info` shows it from Linux 6.8 on.
fn ufs_link(root: &Sysroot, device: &BlockDevice<'_>) -> Option<Link> {
    let host = device.ancestors().find(|path| is_ufs_host(root, path))?;
    let told = |name: &str| root.text(host.join("power_info").join(name));
    let lanes = root.number(host.join("power_info/lane"))?;
    Link::ufs(&told("gear")?, &told("rate")?, lanes)
}

fn lanes_word(lanes: u64) -> &'static str {
    if lanes == 1 { "lane" } else { "lanes" }
}

/// The directory of the USB device that `device` is a part of: not of the port or the hub, which
/// are further up and have a speed of their own.
pub(crate) fn usb_device<'device>(device: &'device BlockDevice<'_>) -> Option<&'device Path> {
    let root = device.root();
    device.ancestors().find(|path| root.has(path.join("idVendor")) && root.has(path.join("speed")))
}

/// The speed of the only link of the ATA port that `device` hangs on. Behind a port multiplier
/// there are several, and sysfs does not say which one is the device's.
fn sata_speed(device: &BlockDevice<'_>) -> Option<String> {
    let port = device.ancestors().find(|path| numbered(path, "ata").is_some())?;
    let several = format!("link{}.", numbered(port, "ata")?);
    let names = device.root().list(port).ok()?;
    if names.iter().any(|name| name.starts_with(&several)) {
        return None;
    }
    sata_port_speed(device.root(), port)
}

/// What libata says of the speed of the link at `port`, a directory such as `ata1`; `None` for a
/// parallel port, which has no such speed.
pub(crate) fn sata_port_speed(root: &Sysroot, port: &Path) -> Option<String> {
    let link = format!("link{}", numbered(port, "ata")?);
    let speed = root.text(port.join(&link).join("ata_link").join(&link).join("sata_spd"))?;
    (speed != "<unknown>").then_some(speed)
}

/// The number in the last part of `path`, where that is `prefix` and a number.
pub(crate) fn numbered(path: &Path, prefix: &str) -> Option<u32> {
    path.file_name()?.to_str()?.strip_prefix(prefix)?.parse().ok()
}

/// The link of the PCI device that the NVMe controller of `device` is.
fn pcie_link(root: &Sysroot, device: &BlockDevice<'_>) -> Option<Link> {
    let controller = nvme_controller(device)?;
    let function = controller.ancestors().find(|path| root.has(path.join("current_link_speed")))?;
    let speed = root.text(function.join("current_link_speed"))?;
    let lanes = root.number(function.join("current_link_width"))?;
    Link::pcie(&speed, lanes)
}

/// The directory of the one controller of an NVMe namespace: above it, or, where namespaces
/// belong to a subsystem, linked from that; with several controllers there is no one link.
fn nvme_controller(device: &BlockDevice<'_>) -> Option<PathBuf> {
    if let Some(above) = device.ancestors().find(|path| numbered(path, "nvme").is_some()) {
        return Some(above.to_owned());
    }
    let subsystem = device.ancestors().find(|path| numbered(path, "nvme-subsys").is_some())?;
    let names = device.root().list(subsystem).ok()?;
    let mut controllers = names.iter().filter(|name| numbered(Path::new(name), "nvme").is_some());
    match (controllers.next(), controllers.next()) {
        (Some(only), None) => device.root().resolve(subsystem.join(only)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_are_those_of_the_specifications() {
        let usb = |speed| Link::usb(speed).map(|link| link.ceiling_bytes_per_s);
        assert_eq!(usb("12"), Some(1_216_000));
        assert_eq!(usb("480"), Some(53_248_000));
        assert_eq!(usb("5000"), Some(500_000_000));
        assert_eq!(usb("10000").map(|rate| rate / 1_000_000), Some(1212));
        assert_eq!(usb("1.5"), None);
        assert_eq!(usb("999999"), None);
        let sata = |speed| Link::sata(speed).map(|link| link.ceiling_bytes_per_s);
        assert_eq!(sata("6.0 Gbps"), Some(600_000_000));
        assert_eq!(sata("<unknown>"), None);
        let pcie = |speed, lanes| Link::pcie(speed, lanes).map(|link| link.ceiling_bytes_per_s);
        assert_eq!(pcie("5.0 GT/s PCIe", 1), Some(500_000_000));
        assert_eq!(pcie("8.0 GT/s PCIe", 4).map(|rate| rate / 1_000_000), Some(3938));
        assert_eq!(pcie("8.0 GT/s PCIe", 0), None);
        assert_eq!(pcie("8.0 GT/s PCIe", 4_000_000), None);
        assert_eq!(pcie("Unknown", 4), None);
    }
}
