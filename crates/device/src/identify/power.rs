//! Power, heat and clocks of the computer: what slows a card down without being the card's fault.
//!
//! Raspberry Pi's firmware keeps flags of under-voltage and throttling, "now" and "since boot".
//! They are read from sysfs where the kernel shows them, and the voltage alarm from hwmon;
//! `vcgencmd` is another program and is not run. The flags: 0 under-voltage, 1 frequency capped,
//! 2 throttled, 3 soft temperature limit, and the same from bit 16 on for "has happened"
//! (Raspberry Pi documentation, vcgencmd get_throttled).

use cardproof_kernel_log::TroubleKind;
use serde::Serialize;

use crate::Sysroot;
use crate::identify::sources::Sources;
use crate::link::numbered;

/// The meanings of the flags, from bit 0 on.
const FLAGS: [&str; 4] =
    ["under-voltage", "frequency capped", "throttled", "soft temperature limit"];

/// How far up the flags of what has happened are.
const HAS_HAPPENED: u32 = 16;

/// Temperatures beyond these are garbage, in thousandths of a degree Celsius.
const TEMPERATURES: std::ops::RangeInclusive<i32> = -60_000..=200_000;

/// A sensor and what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Temperature {
    /// The sensor's name, such as `cpu-thermal`.
    pub sensor: String,
    /// In thousandths of a degree Celsius.
    pub millidegrees_celsius: i32,
}

/// Power, heat and clocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Power {
    /// Raspberry Pi's flags, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_flags: Option<u32>,
    /// Whether the supply voltage is too low at this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_under_voltage: Option<bool>,
    /// What is wrong or has been since the computer started, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
    /// What the sensors say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub temperatures: Vec<Temperature>,
    /// The clock of the first processor at the moment of reading, in Hz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor_clock_hz: Option<u64>,
    /// The highest clock that is allowed, in Hz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor_clock_max_hz: Option<u64>,
    /// The frequency governor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
}

impl Power {
    /// What there is to say of the machine.
    pub(crate) fn read(sources: &Sources<'_>) -> Self {
        let root = sources.root();
        let flags = throttled_flags(root);
        let alarm = voltage_alarm(root);
        let mut troubles: Vec<String> = flags.map(flag_words).unwrap_or_default();
        if flags.is_none() && alarm == Some(true) {
            troubles.push("under-voltage now".to_owned());
        }
        troubles.extend(troubles_in_log(sources));
        Self {
            throttled_flags: flags,
            is_under_voltage: flags.map(|flags| flags & 1 == 1).or(alarm),
            troubles,
            temperatures: temperatures(root),
            processor_clock_hz: clock(root, "scaling_cur_freq"),
            processor_clock_max_hz: clock_max(root),
            governor: crate::settings::governor(root),
        }
    }

    /// Notes what could not be found out of `board`'s power, heat and clocks.
    pub(crate) fn note_gaps(&self, sources: &Sources<'_>, board: Option<&str>) {
        if self.temperatures.is_empty() {
            sources.unknown(
                "temperature",
                "no sensor in sysfs",
                "a kernel with a driver for the board's sensors",
            );
        }
        if self.processor_clock_hz.is_none() {
            sources.unknown(
                "processor clock and governor",
                "sysfs has no cpufreq (fixed clock, or set by firmware or host)",
                "a kernel with a cpufreq driver, or the physical machine",
            );
        }
        let is_pi = board.is_some_and(|board| board.starts_with("Raspberry Pi"));
        if is_pi && self.is_under_voltage.is_none() {
            sources.unknown(
                "under-voltage",
                "sysfs has neither get_throttled nor a voltage alarm",
                "a kernel with the raspberrypi-hwmon driver, or vcgencmd get_throttled by hand",
            );
        }
    }
}

/// The flags in words: those of now, and those that are only of before.
fn flag_words(flags: u32) -> Vec<String> {
    let mut words = Vec::new();
    for (bit, name) in FLAGS.iter().enumerate() {
        let (now, before) = (flags >> bit & 1, flags >> (bit as u32 + HAS_HAPPENED) & 1);
        match (now, before) {
            (1, _) => words.push(format!("{name} now")),
            (_, 1) => words.push(format!("{name} since the start of the computer")),
            _ => {}
        }
    }
    words
}

/// Where Raspberry Pi's kernel may show the flags: in the directory of the firmware, below that of
/// the system on the chip, whose name has an address in it on some boards.
pub(crate) fn throttled_files(root: &Sysroot) -> Vec<String> {
    let names = root.list("sys/devices/platform").unwrap_or_default();
    let socs = names.iter().filter(|name| name.starts_with("soc"));
    socs.map(|soc| format!("sys/devices/platform/{soc}/{soc}:firmware/get_throttled")).collect()
}

/// The flags, in hexadecimal.
fn throttled_flags(root: &Sysroot) -> Option<u32> {
    throttled_files(root).iter().find_map(|file| {
        let text = root.text(file)?;
        u32::from_str_radix(text.strip_prefix("0x").unwrap_or(&text), 16).ok()
    })
}

/// The alarm of the voltage sensor of a Raspberry Pi.
fn voltage_alarm(root: &Sysroot) -> Option<bool> {
    sensors(root, "sys/class/hwmon", "hwmon", "name")
        .find(|(_, name)| name == "rpi_volt")
        .and_then(|(directory, _)| root.switch(format!("{directory}/in0_lcrit_alarm")))
}

fn troubles_in_log(sources: &Sources<'_>) -> Vec<String> {
    let troubles = sources.messages().others.iter();
    let count: u64 = troubles
        .filter(|trouble| trouble.kind == TroubleKind::UnderVoltage)
        .map(|trouble| trouble.count)
        .sum();
    match count {
        0 => Vec::new(),
        1 => vec!["the kernel log reports under-voltage once".to_owned()],
        several => vec![format!("the kernel log reports under-voltage {several} times")],
    }
}

/// The directories `PREFIX<N>` in `class` with the name in their file `label`, in order.
fn sensors<'root>(
    root: &'root Sysroot,
    class: &'static str,
    prefix: &'static str,
    label: &'static str,
) -> impl Iterator<Item = (String, String)> + 'root {
    let names = root.list(class).unwrap_or_default();
    names.into_iter().filter_map(move |name| {
        numbered(std::path::Path::new(&name), prefix)?;
        let directory = format!("{class}/{name}");
        let label = root.text(format!("{directory}/{label}"))?;
        Some((directory, label))
    })
}

/// The thermal zones, and the sensors of hwmon that are none of them.
fn temperatures(root: &Sysroot) -> Vec<Temperature> {
    let zones = sensors(root, "sys/class/thermal", "thermal_zone", "type");
    let chips = sensors(root, "sys/class/hwmon", "hwmon", "name");
    let zones = zones.map(|(directory, name)| (format!("{directory}/temp"), name));
    let chips = chips.map(|(directory, name)| (format!("{directory}/temp1_input"), name));
    let mut all: Vec<Temperature> = Vec::new();
    for (file, sensor) in zones.chain(chips) {
        let reading = root.number(file).filter(|reading| TEMPERATURES.contains(reading));
        // Each zone has a chip of its own in hwmon, with underscores where the zone has hyphens.
        let is_known =
            all.iter().any(|known| known.sensor.replace('-', "_") == sensor.replace('-', "_"));
        if let (Some(millidegrees_celsius), false) = (reading, is_known) {
            all.push(Temperature { sensor, millidegrees_celsius });
        }
    }
    all
}

/// The highest clock that the processors are allowed, in Hz.
pub(crate) fn clock_max(root: &Sysroot) -> Option<u64> {
    clock(root, "scaling_max_freq").or_else(|| clock(root, "cpuinfo_max_freq"))
}

/// A clock of the first processor, which sysfs has in kHz.
fn clock(root: &Sysroot, file: &str) -> Option<u64> {
    let khz: u64 = root.number(format!("sys/devices/system/cpu/cpu0/cpufreq/{file}"))?;
    khz.checked_mul(1000).filter(|&hz| hz > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_tell_now_from_before() {
        assert!(flag_words(0).is_empty());
        assert_eq!(flag_words(0x50005), ["under-voltage now", "throttled now"]);
        let words = flag_words(0x50000);
        assert_eq!(words[0], "under-voltage since the start of the computer");
        assert_eq!(flag_words(u32::MAX).len(), 4);
    }
}
