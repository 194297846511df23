//! The host of a card: its controller's driver, and the mode, clock and width of the bus.
//!
//! The kernel shows these in debugfs, to root only: `mmcN/ios`. Without it the kernel log has the
//! mode that was agreed when the card was found. Where neither can be read, nothing is said of the
//! bus, with the reason; what the board is known to give at most is another matter, told apart.

use std::path::{Path, PathBuf};

use cardproof_record::BusInfo;
use cardproof_units::Bytes;

use super::bus_mode::BusMode;
use super::sources::Sources;
use crate::Sysroot;
use crate::link::numbered;

/// What a record says where the bus was read from debugfs, and so with its clock.
pub(crate) const DEBUGFS: &str = "debugfs";
/// And where from the kernel log, which has the mode only.
pub(crate) const KERNEL_LOG: &str = "kernel log";

/// A clock above this is garbage: the fastest mode has 208 MHz.
const CLOCK_MAX_HZ: u64 = 1_000_000_000;

/// The host that a card is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MmcHost {
    /// Its name, such as `mmc0`.
    pub(crate) name: String,
    /// The controller's directory below the root.
    pub(crate) controller: PathBuf,
}

impl MmcHost {
    /// The host of the card in the directory `card`, such as
    /// `…/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa`.
    pub(crate) fn of_card(card: &Path) -> Option<Self> {
        Self::in_directory(card.parent()?)
    }

    /// The host in its own directory, such as `…/fe340000.mmc/mmc_host/mmc0`.
    pub(crate) fn in_directory(host: &Path) -> Option<Self> {
        numbered(host, "mmc")?;
        let class = host.parent().filter(|above| above.ends_with("mmc_host"))?;
        let name = host.file_name()?.to_str()?.to_owned();
        Some(Self { name, controller: class.parent()?.to_owned() })
    }

    /// The name of the controller's driver, such as `sdhci-iproc`.
    pub(crate) fn driver(&self, root: &Sysroot) -> Option<String> {
        let driver = root.resolve(self.controller.join("driver"))?;
        Some(driver.file_name()?.to_str()?.to_owned())
    }

    /// Whether the device tree gives the controller the switch `name`, as `supports-cqe`.
    pub(crate) fn has_property(&self, root: &Sysroot, name: &str) -> bool {
        root.has(self.controller.join("of_node").join(name))
    }

    /// The number that the device tree gives the controller's property `name`, a cell of 32 bits; `None` where
    /// the property is absent or has no value.
    pub(crate) fn cell(&self, root: &Sysroot, name: &str) -> Option<u32> {
        let bytes = root.bytes(self.controller.join("of_node").join(name)).ok()?;
        // In a dump a line ends with a line break.
        let (cell, rest) = bytes.split_first_chunk()?;
        matches!(rest, [] | [b'\n']).then(|| u32::from_be_bytes(*cell))
    }

    /// The clock to which high speed is raised above the specification's 50 MHz, in Hz: a setting
    /// of Raspberry Pi's older hosts, `dtparam=sd_overclock`, which only the device tree shows.
    fn raised_clock_hz(&self, root: &Sysroot) -> Option<u64> {
        let mhz = self.cell(root, "brcm,overclock-50")?;
        (mhz > 0).then(|| u64::from(mhz) * 1_000_000).filter(|&hz| hz < CLOCK_MAX_HZ)
    }

    /// The bus as far as it can be read; otherwise the reason is noted.
    pub(crate) fn bus(&self, sources: &Sources<'_>) -> BusInfo {
        let root = sources.root();
        let mut bus = BusInfo { driver: self.driver(root), ..BusInfo::default() };
        let ios = root.bytes(format!("sys/kernel/debug/{}/ios", self.name));
        if let Ok(text) = &ios {
            read_ios(&String::from_utf8_lossy(text), &mut bus);
        }
        if bus.mode.is_some() {
            bus.source = Some(DEBUGFS.to_owned());
            if bus.mode.as_deref() == Some(BusMode::SdHighSpeed.name()) {
                bus.clock_hz = self.raised_clock_hz(root).or(bus.clock_hz);
            }
            return bus;
        }
        let line = sources.log().last_of_host(&self.name, " card at address ");
        if let Some(mode) = line.and_then(BusMode::of_log) {
            bus.mode = Some(mode.name().to_owned());
            bus.source = Some(KERNEL_LOG.to_owned());
            sources.unknown(
                "bus clock, width and voltage",
                debugfs_gap(sources, ios.err().map(|error| error.kind())),
                debugfs_need(sources),
            );
            return bus;
        }
        let debugfs = debugfs_gap(sources, ios.err().map(|error| error.kind()));
        let log = match sources.log().lines() {
            Some(_) => "the kernel log does not name this card",
            None => sources.log_gap().0,
        };
        sources.unknown(
            "bus mode, clock, width and voltage",
            &format!("{debugfs}, and {log}"),
            debugfs_need(sources),
        );
        bus
    }
}

/// Why debugfs did not tell.
fn debugfs_gap(sources: &Sources<'_>, error: Option<std::io::ErrorKind>) -> &'static str {
    match error {
        None => "debugfs has a bus that is off or of an unknown mode",
        Some(std::io::ErrorKind::PermissionDenied) => "debugfs is open to root only",
        Some(_) if sources.root().is_running_system() => "debugfs is not mounted here",
        Some(_) => "debugfs is not in what was given",
    }
}

fn debugfs_need(sources: &Sources<'_>) -> &'static str {
    let is_live = sources.root().is_running_system();
    let is_mounted = sources.root().has("sys/kernel/debug/mmc0")
        || sources.root().list("sys/kernel/debug").is_err();
    if is_live && !is_mounted {
        "as root: mount -t debugfs none /sys/kernel/debug"
    } else {
        sources.as_root()
    }
}

/// Fills `bus` from the text of `ios`: lines of a name, a colon and a value.
fn read_ios(text: &str, bus: &mut BusInfo) {
    let value = |name: &str| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim())
        })
    };
    let clock = |name| -> Option<u64> {
        let hz = value(name)?.strip_suffix("Hz")?.trim().parse().ok()?;
        (1..CLOCK_MAX_HZ).contains(&hz).then_some(hz)
    };
    let in_brackets = |name| Some(value(name)?.split_once('(')?.1.split_once(')')?.0);
    let mode = value("timing spec").and_then(|spec| {
        let (number, words) = spec.split_once(' ').unwrap_or((spec, ""));
        BusMode::of_timing(number.parse().ok()?, words)
    });
    bus.clock_hz = clock("actual clock").or_else(|| clock("clock"));
    // A bus without a clock is off: what it says of its mode is of no card.
    bus.mode = mode.filter(|_| value("clock") != Some("0 Hz")).map(|mode| mode.name().to_owned());
    bus.width_bits = in_brackets("bus width")
        .and_then(|bits| bits.strip_suffix(" bits")?.parse().ok())
        .filter(|bits| matches!(bits, 1 | 4 | 8));
    bus.signal_voltage_millivolts = in_brackets("signal voltage").and_then(millivolts);
}

/// `1.80 V` in millivolts.
fn millivolts(text: &str) -> Option<u32> {
    let (whole, hundredths) = text.strip_suffix(" V")?.split_once('.')?;
    let two_digits = (hundredths.len() == 2).then_some(hundredths)?;
    let (whole, hundredths): (u32, u32) = (whole.parse().ok()?, two_digits.parse().ok()?);
    whole.checked_mul(1000)?.checked_add(hundredths * 10)
}

/// What `bus` carries at most in a second. Where the clock or the width was not read, the highest
/// of the mode count.
pub(crate) fn bus_rate(bus: &BusInfo) -> Option<Bytes> {
    let mode = BusMode::of_name(bus.mode.as_deref()?)?;
    if let Some(rate) = mode.serial_rate() {
        return Some(rate);
    }
    let clock_hz = bus.clock_hz.unwrap_or_else(|| mode.clock_max_hz());
    let width = u64::from(bus.width_bits.unwrap_or_else(|| mode.width_max_bits()));
    clock_hz.checked_mul(width * mode.bits_per_clock()).map(|bits| Bytes(bits / 8))
}

/// The bus in words, such as `sd uhs DDR50, 50 MHz, 4 bit`.
pub(crate) fn bus_words(bus: &BusInfo) -> Option<String> {
    let mut words = bus.mode.clone()?;
    if let Some(hz) = bus.clock_hz {
        words.push_str(&format!(", {}", crate::identify::words::megahertz(hz)));
    }
    if let Some(width) = bus.width_bits {
        words.push_str(&format!(", {width} bit"));
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IOS: &str = "clock:\t\t200000000 Hz\nactual clock:\t150000000 Hz\nvdd:\t\t21 (3.3 ~ 3.4 V)\n\
                       bus mode:\t2 (push-pull)\nchip select:\t0 (don't care)\npower mode:\t2 (on)\n\
                       bus width:\t2 (4 bits)\ntiming spec:\t6 (sd uhs SDR104)\n\
                       signal voltage:\t1 (1.80 V)\ndriver type:\t0 (driver type B)\n";

    fn read(text: &str) -> BusInfo {
        let mut bus = BusInfo::default();
        read_ios(text, &mut bus);
        bus
    }

    #[test]
    fn the_actual_clock_counts() {
        let bus = read(IOS);
        assert_eq!(bus.mode.as_deref(), Some("sd uhs SDR104"));
        assert_eq!(bus.clock_hz, Some(150_000_000));
        assert_eq!((bus.width_bits, bus.signal_voltage_millivolts), (Some(4), Some(1800)));
        assert_eq!(bus_rate(&bus), Some(Bytes(75_000_000)));
        assert_eq!(bus_words(&bus).as_deref(), Some("sd uhs SDR104, 150 MHz, 4 bit"));
    }

    #[test]
    fn modes_carry_what_the_specifications_say() {
        let rate = |mode: &str, clock_hz, width_bits| {
            let mode = Some(mode.to_owned());
            bus_rate(&BusInfo { mode, clock_hz, width_bits, ..BusInfo::default() })
                .map(|rate| rate.get() / 1_000_000)
        };
        assert_eq!(rate("sd high-speed", Some(50_000_000), Some(4)), Some(25));
        assert_eq!(rate("sd uhs DDR50", Some(50_000_000), Some(4)), Some(50));
        assert_eq!(rate("sd uhs SDR50", None, None), Some(50));
        assert_eq!(rate("sd uhs SDR104", None, None), Some(104));
        assert_eq!(rate("mmc HS200", None, None), Some(200));
        assert_eq!(rate("mmc HS400", None, None), Some(400));
        assert_eq!(rate("mmc HS200", None, Some(4)), Some(100));
        assert_eq!(rate("unheard of", None, None), None);
    }

    #[test]
    fn garbage_says_nothing() {
        for text in ["", "clock", "clock:\n", "clock: x Hz\ntiming spec: 99 (y)", "bus width: 9"] {
            assert_eq!(read(text), BusInfo::default(), "{text}");
        }
        let off = read("clock:\t\t0 Hz\ntiming spec:\t0 (legacy)\n");
        assert_eq!((off.mode, off.clock_hz), (None, None));
    }
}
