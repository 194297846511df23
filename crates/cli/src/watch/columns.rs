//! The figures of a window in words and columns, the same on screen and in lines.

use cardproof_rating::wording::whole_percent as percent;
use cardproof_record::{Activity, Climate, DeviceActivity, MemoryActivity, Pressure};
use cardproof_units::Nanos;

/// The headings over [`device_row`].
pub(super) const DEVICE_HEADINGS: &str =
    "Device       r/s   w/s  rd MB/s  wr MB/s    KiB queue   r ms   w ms  f/s  util";

/// One device, under its headings.
pub(super) fn device_row(device: &DeviceActivity) -> String {
    let DeviceActivity { name, reads, writes, flushes, .. } = device;
    let requests = reads.count + writes.count;
    let mean_kib = (reads.bytes + writes.bytes).as_f64() / 1024.0 / requests.max(1) as f64;
    format!(
        "{:<10.10}{:>6}{:>6}{:>9.2}{:>9.2}{:>7.1}{:>6.1}{:>7}{:>7}{:>5}{:>6}",
        name,
        rate(reads.per_s.0),
        rate(writes.per_s.0),
        reads.bytes_per_s.as_mb_per_s(),
        writes.bytes_per_s.as_mb_per_s(),
        mean_kib,
        device.queue,
        wait(reads.await_ns),
        wait(writes.await_ns),
        rate(flushes.per_s.0),
        percent(device.utilisation),
    )
}

/// A decimal where it tells something.
fn rate(per_s: f64) -> String {
    let decimals = usize::from(per_s > 0.0 && per_s < 9.95);
    format!("{per_s:.decimals$}")
}

/// In milliseconds; a dash where nothing was waited for. The kernel counts whole milliseconds, so of a few short
/// requests it counts none.
fn wait(wait: Option<Nanos>) -> String {
    match wait {
        None => "-".to_owned(),
        Some(Nanos::ZERO) => "<1".to_owned(),
        Some(wait) => {
            let millis = wait.as_millis_f64();
            let decimals = if millis < 9.95 { 2 } else { usize::from(millis < 99.5) };
            format!("{millis:.decimals$}")
        }
    }
}

/// Processors, pressure, memory, heat, clock and power: what is known of them.
pub(super) fn system(activity: &Activity) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(cpu) = &activity.cpu {
        let steal = if cpu.steal >= 0.005 {
            format!(", steal {}", percent(cpu.steal))
        } else {
            String::new()
        };
        facts.push(format!(
            "CPU user {}, system {}, idle because of I/O {}{steal}, busiest of {}: {}",
            percent(cpu.user + cpu.nice),
            percent(cpu.system + cpu.interrupts),
            percent(cpu.iowait),
            cpu.cpus,
            percent(cpu.busiest)
        ));
    }
    facts.extend(pressure(&activity.pressure));
    facts.extend(activity.memory.as_ref().map(memory));
    facts.extend(climate(&activity.climate));
    facts
}

fn pressure(pressure: &Pressure) -> Option<String> {
    let io = pressure.io_some?;
    let memory = pressure.memory_some.unwrap_or_default();
    Some(format!(
        "some program waited for I/O {} of the time, for memory {}",
        percent(io),
        percent(memory)
    ))
}

fn memory(memory: &MemoryActivity) -> String {
    let MemoryActivity { total_bytes, available_bytes, swapped_in_bytes, swapped_out_bytes } =
        memory;
    let swapped = *swapped_in_bytes + *swapped_out_bytes;
    let swapping = if swapped.get() > 0 { format!(", {swapped} swapped") } else { String::new() };
    format!("memory {available_bytes} of {total_bytes} available{swapping}")
}

/// Heat, clock and power, where the board tells of them.
pub(super) fn climate(climate: &Climate) -> Option<String> {
    let mhz = |hertz: u64| hertz / 1_000_000;
    let clock = match (climate.clock_hz, climate.clock_max_hz) {
        (Some(now), Some(max)) => Some(format!("{} of {} MHz", mhz(now), mhz(max))),
        (Some(now), None) => Some(format!("{} MHz", mhz(now))),
        (None, _) => None,
    };
    let flags = [
        (climate.under_voltage, "UNDER-VOLTAGE"),
        (climate.throttled, "THROTTLED"),
        (climate.clock_capped, "CLOCK CAPPED"),
        (climate.soft_temperature_limit, "SOFT TEMPERATURE LIMIT"),
    ];
    let raised = flags.iter().filter(|(flag, _)| *flag == Some(true));
    let facts: Vec<String> = climate
        .temperature_celsius
        .map(|celsius| format!("{celsius:.0} °C"))
        .into_iter()
        .chain(clock)
        .chain(raised.map(|(_, word)| (*word).to_owned()))
        .collect();
    (!facts.is_empty()).then(|| facts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_the_kernel_has_not_counted_is_no_zero() {
        assert_eq!(wait(None), "-");
        assert_eq!(wait(Some(Nanos::ZERO)), "<1");
        assert_eq!(wait(Some(Nanos(1_250_000))), "1.25");
    }

    #[test]
    fn a_row_stands_under_its_headings_in_80_columns() {
        let row = device_row(&DeviceActivity {
            name: "mmcblk0boot0rpmb".to_owned(),
            queue: 31.96,
            utilisation: 1.0,
            ..DeviceActivity::default()
        });
        assert_eq!(row.chars().count(), DEVICE_HEADINGS.chars().count());
        assert!(row.chars().count() <= 80, "{row}");
    }
}
