//! Heat, clock and power: the hottest thermal zone, the processors' clock, and the flags by which
//! a Raspberry Pi tells of too little voltage.
//!
//! Clocks are in kHz in `cpufreq` (the kernel's `Documentation/admin-guide/pm/cpufreq.rst`),
//! temperatures in thousandths of a degree (`Documentation/ABI/testing/sysfs-class-thermal`).
//! The firmware's flags are those of `vcgencmd get_throttled` in Raspberry Pi's documentation: bit
//! 0 under-voltage, 1 clock capped, 2 throttled, 3 soft temperature limit; the kernel's hwmon
//! driver `rpi_volt` raises `in0_lcrit_alarm` for under-voltage within the last seconds.

use cardproof_record::Climate;

use super::kept::Kept;
use crate::Sysroot;

/// More zones and clock policies than boards have; a server's hundreds would cost too much.
const FILES_MAX: usize = 16;

/// What a sensor can truly show; others are not connected.
const CELSIUS_SANE: std::ops::RangeInclusive<f64> = -40.0..=150.0;

/// The files that tell of heat, clock and power, kept open.
#[derive(Debug)]
pub(super) struct ClimateFiles {
    zones: Vec<Kept>,
    policies: Vec<Policy>,
    throttled: Option<Kept>,
    voltage_alarm: Option<Kept>,
}

/// Processors that share a clock.
#[derive(Debug)]
struct Policy {
    now: Kept,
    allowed: Kept,
    max_khz: i64,
}

impl ClimateFiles {
    pub(super) fn new(root: &Sysroot) -> Self {
        let zones = numbered(root, "sys/class/thermal", "thermal_zone");
        let policies = numbered(root, "sys/devices/system/cpu/cpufreq", "policy");
        Self {
            zones: zones.iter().map(|zone| Kept::new(root, &format!("{zone}/temp"))).collect(),
            policies: policies.iter().map(|policy| Policy::new(root, policy)).collect(),
            throttled: throttled(root),
            voltage_alarm: voltage_alarm(root),
        }
    }

    /// What they show now.
    pub(super) fn read(&mut self, room: &mut Vec<u8>) -> Climate {
        let mut climate = Climate { temperature_celsius: self.hottest(room), ..Climate::default() };
        self.read_clock(room, &mut climate);
        self.read_power(room, &mut climate);
        climate
    }

    fn hottest(&mut self, room: &mut Vec<u8>) -> Option<f64> {
        let degrees = self.zones.iter_mut().filter_map(|zone| zone.number(room));
        degrees
            .map(|thousandths| thousandths as f64 / 1000.0)
            .filter(|celsius| CELSIUS_SANE.contains(celsius))
            .reduce(f64::max)
    }

    /// The highest clock now, and the limits of the processors that could go fastest.
    fn read_clock(&mut self, room: &mut Vec<u8>, climate: &mut Climate) {
        let mut fastest_khz = 0;
        for policy in &mut self.policies {
            if let Some(now) = policy.now.number(room).and_then(hertz) {
                climate.clock_hz = climate.clock_hz.max(Some(now));
            }
            if policy.max_khz > fastest_khz {
                fastest_khz = policy.max_khz;
                climate.clock_max_hz = hertz(policy.max_khz);
                climate.clock_allowed_hz = policy.allowed.number(room).and_then(hertz);
            }
        }
    }

    fn read_power(&mut self, room: &mut Vec<u8>, climate: &mut Climate) {
        if let Some(flags) = self.throttled.as_mut().and_then(|file| flags(file.read(room)?)) {
            climate.under_voltage = Some(flags & 1 != 0);
            climate.clock_capped = Some(flags & 2 != 0);
            climate.throttled = Some(flags & 4 != 0);
            climate.soft_temperature_limit = Some(flags & 8 != 0);
        }
        if let Some(alarm) = self.voltage_alarm.as_mut().and_then(|alarm| alarm.number(room)) {
            climate.under_voltage = Some(climate.under_voltage == Some(true) || alarm != 0);
        }
    }
}

impl Policy {
    fn new(root: &Sysroot, directory: &str) -> Self {
        Self {
            now: Kept::new(root, &format!("{directory}/scaling_cur_freq")),
            allowed: Kept::new(root, &format!("{directory}/scaling_max_freq")),
            max_khz: root.number(format!("{directory}/cpuinfo_max_freq")).unwrap_or(0),
        }
    }
}

/// The directories in `directory` whose names begin with `prefix`, the first of them.
fn numbered(root: &Sysroot, directory: &str, prefix: &str) -> Vec<String> {
    let names = root.list(directory).unwrap_or_default();
    let wanted = names.iter().filter(|name| name.starts_with(prefix));
    wanted.take(FILES_MAX).map(|name| format!("{directory}/{name}")).collect()
}

/// The firmware's flags.
fn throttled(root: &Sysroot) -> Option<Kept> {
    let file =
        crate::identify::power::throttled_files(root).into_iter().find(|file| root.has(file))?;
    Some(Kept::new(root, &file))
}

/// The alarm of the voltage monitor of a Raspberry Pi, among the hardware monitors.
fn voltage_alarm(root: &Sysroot) -> Option<Kept> {
    let monitors = numbered(root, "sys/class/hwmon", "hwmon");
    let volt = monitors
        .iter()
        .find(|monitor| root.text(format!("{monitor}/name")).as_deref() == Some("rpi_volt"))?;
    Some(Kept::new(root, &format!("{volt}/in0_lcrit_alarm")))
}

fn hertz(khz: i64) -> Option<u64> {
    u64::try_from(khz).ok()?.checked_mul(1000).filter(|&hertz| hertz > 0)
}

/// The firmware's flags, in hexadecimal with or without `0x`.
fn flags(text: &str) -> Option<u32> {
    let digits = text.trim();
    u32::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok()
}
