//! Settings of the block layer and the processor that change figures.

use cardproof_record::SettingsInfo;
use cardproof_units::Bytes;

use crate::Sysroot;
use crate::block::BlockDevice;
use crate::mounts::Mounts;
use crate::stack::Storage;

/// The settings in force on `storage`, and below it on up to `layers` layers.
///
/// A device made of another has a queue of its own, but it is the lowest one that schedules, so
/// that is told as well, as `beneath`.
pub(crate) fn describe(
    storage: Option<&Storage<'_>>,
    mounts: &Mounts,
    layers: usize,
) -> SettingsInfo {
    let Some(Storage::Device(device)) = storage else { return SettingsInfo::default() };
    let mut info = SettingsInfo {
        scheduler: device.text("queue/scheduler").and_then(|line| scheduler_in_use(&line)),
        nr_requests: number(device, "queue/nr_requests").filter(|&requests| requests > 0),
        read_ahead_bytes: number(device, "queue/read_ahead_kb").and_then(kib),
        write_cache: device.text("queue/write_cache").filter(|cache| is_cache_mode(cache)),
        ..SettingsInfo::default()
    };
    if layers > 0
        && let Some(below) = Storage::below(device, mounts)
        && let beneath = describe(Some(&below), mounts, layers - 1)
        && beneath != SettingsInfo::default()
    {
        info.beneath = Some(Box::new(beneath));
    }
    info
}

fn number<N: std::str::FromStr>(device: &BlockDevice<'_>, attribute: &str) -> Option<N> {
    device.text(attribute)?.parse().ok()
}

fn kib(count: u64) -> Option<Bytes> {
    count.checked_mul(1024).map(Bytes)
}

fn is_cache_mode(text: &str) -> bool {
    matches!(text, "write back" | "write through")
}

/// The scheduler in brackets, or the only one.
fn scheduler_in_use(line: &str) -> Option<String> {
    let bracketed =
        line.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(name, _)| name);
    let name = bracketed.or_else(|| (!line.contains(char::is_whitespace)).then_some(line))?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (!name.is_empty() && name.chars().all(is_name)).then(|| name.to_owned())
}

/// The frequency governor of the processors; where they differ, all of those in use.
pub(crate) fn governor(root: &Sysroot) -> Option<String> {
    let processors = root.list("sys/devices/system/cpu").ok()?;
    let mut governors: Vec<String> = processors
        .iter()
        .filter(|name| crate::link::numbered(std::path::Path::new(name), "cpu").is_some())
        .filter_map(|name| {
            root.text(format!("sys/devices/system/cpu/{name}/cpufreq/scaling_governor"))
        })
        .collect();
    governors.sort();
    governors.dedup();
    (!governors.is_empty()).then(|| governors.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_use_is_the_bracketed_one() {
        let cases = [
            ("none [mq-deadline] kyber bfq", Some("mq-deadline")),
            ("[none] mq-deadline", Some("none")),
            ("none", Some("none")),
            ("none mq-deadline", None),
            ("[]", None),
            ("[a b]", None),
            ("]x[", None),
            ("[", None),
        ];
        for (line, expected) in cases {
            assert_eq!(scheduler_in_use(line).as_deref(), expected, "{line}");
        }
    }
}
