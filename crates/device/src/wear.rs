//! What the kernel tells of a device's wear: an eMMC's life, and what the host has written.

use cardproof_units::Bytes;

use crate::Sysroot;

/// A shorter time since the start of the system says nothing of a day.
const UPTIME_MIN_S: f64 = 3600.0;

/// The field of `stat` that counts written sectors of 512 bytes.
const SECTORS_WRITTEN: usize = 6;

/// What the kernel tells of a device's wear.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WearFacts {
    /// `SD` or `MMC` for a card in a slot of its own.
    pub card_type: Option<String>,
    /// The codes of the used life of an eMMC's two kinds of memory (EXT_CSD 268 and 269).
    pub life_codes: Option<[u8; 2]>,
    /// The code of its spare blocks (EXT_CSD 267); 0 where not told.
    pub reserve_code: u8,
    /// What the host has written in a day on average since it was started.
    pub bytes_per_day: Option<Bytes>,
}

/// What the kernel tells of the wear of the block device called `name`, such as `mmcblk0`.
#[must_use]
pub fn wear_facts(root: &Sysroot, name: &str) -> WearFacts {
    let attribute = |file: &str| root.text(format!("sys/class/block/{name}/device/{file}"));
    let codes: Vec<u8> =
        attribute("life_time").unwrap_or_default().split_whitespace().filter_map(code).collect();
    WearFacts {
        card_type: attribute("type"),
        life_codes: codes.try_into().ok(),
        reserve_code: attribute("pre_eol_info").as_deref().and_then(code).unwrap_or(0),
        bytes_per_day: bytes_per_day(root, name),
    }
}

fn code(text: &str) -> Option<u8> {
    u8::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
}

fn bytes_per_day(root: &Sysroot, name: &str) -> Option<Bytes> {
    let statistics = root.text(format!("sys/class/block/{name}/stat"))?;
    let sectors: f64 = statistics.split_whitespace().nth(SECTORS_WRITTEN)?.parse().ok()?;
    let uptime = seconds_since_start(root)?;
    (uptime >= UPTIME_MIN_S).then(|| Bytes((sectors * 512.0 / uptime * 86_400.0) as u64))
}

/// How long ago the computer started, in seconds.
#[must_use]
pub fn seconds_since_start(root: &Sysroot) -> Option<f64> {
    root.text("proc/uptime")?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn life_and_bytes_a_day_follow_from_sysfs() {
        let place = tempfile::tempdir().unwrap();
        let device = place.path().join("sys/class/block/mmcblk0/device");
        std::fs::create_dir_all(&device).unwrap();
        std::fs::write(device.join("type"), "MMC\n").unwrap();
        std::fs::write(device.join("life_time"), "0x04 0x03\n").unwrap();
        std::fs::write(device.join("pre_eol_info"), "0x01\n").unwrap();
        std::fs::write(device.join("../stat"), "1 2 3 4 5 6 2000000 8 9 10 11\n").unwrap();
        std::fs::create_dir_all(place.path().join("proc")).unwrap();
        std::fs::write(place.path().join("proc/uptime"), "86400.00 1.0\n").unwrap();
        let facts = wear_facts(&Sysroot::new(place.path()), "mmcblk0");
        assert_eq!((facts.life_codes, facts.reserve_code), (Some([4, 3]), 1));
        assert_eq!(facts.bytes_per_day, Some(Bytes(1_024_000_000)));
        let none = wear_facts(&Sysroot::new(place.path()), "sda");
        assert_eq!(none, WearFacts::default());
    }
}
