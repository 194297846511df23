//! What is told of the computer, its settings, its health, and of what could not be read.

use cardproof_device::identify::{Identity, PartitionPlace, Power};
use cardproof_rating::signs::Signs;
use cardproof_rating::words::findings::sentence;
use cardproof_record::FilesystemInfo;
use cardproof_report::signs::{headline, short, source_in_words, suspects_in_words, when};

use super::layout::Section;
use super::words;

/// How often ext4 commits its journal unless told otherwise, in seconds: ext4(5), `commit=`.
const EXT4_COMMIT_S: u64 = 5;

/// The computer.
pub(super) fn computer(identity: &Identity) -> Section {
    let host = &identity.host;
    let mut section = Section::new("Host");
    section.some("Board", host.board.clone());
    section.some("Chip", host.soc.clone());
    let processors = host.cpus.map(|count| match &host.architecture {
        Some(architecture) => format!("{count}, {architecture}"),
        None => count.to_string(),
    });
    section.some("Processors", processors);
    section.some("Memory", host.memory_bytes.map(|bytes| bytes.to_string()));
    section.some("Kernel", host.kernel.clone());
    section
}

/// The file system and the settings of the queue.
pub(super) fn settings(identity: &Identity) -> Section {
    let mut section = Section::new("File system and settings");
    if let Some(filesystem) = &identity.filesystem {
        of_filesystem(&mut section, filesystem);
    }
    for partition in &identity.partitions {
        section.row("Partition", place(partition));
    }
    let settings = &identity.settings;
    section.some("Scheduler", settings.scheduler.clone());
    section.some("Request queue", settings.nr_requests.map(|count| format!("{count} requests")));
    section.some("Read-ahead", settings.read_ahead_bytes.map(|bytes| bytes.to_string()));
    section.some("Write cache", settings.write_cache.clone());
    section
}

fn of_filesystem(section: &mut Section, filesystem: &FilesystemInfo) {
    let options = filesystem.options.join(",");
    section.row("File system", format!("{}, mounted {options}", filesystem.kind));
    let has = |option: &str| filesystem.options.iter().any(|other| other == option);
    section.some("Commit interval", commit_interval(filesystem));
    let atime = match (has("noatime"), has("relatime")) {
        (true, _) => "not updated (noatime)",
        _ if has("ro") => "not updated (mounted read-only)",
        (_, true) => {
            "updated at most once a day per file (relatime); mount with noatime to disable"
        }
        _ => "updated at each read; mount with noatime to disable",
    };
    section.row("Access times", atime);
    let discards = has("discard");
    section.row(
        "Discard",
        if discards { "immediate (mount option discard)" } else { "by fstrim only" },
    );
    if let (Some(free), Some(size)) = (filesystem.free_bytes, filesystem.size_bytes) {
        section.row("Free", format!("{free} of {size}"));
    }
}

/// How often the journal is committed.
fn commit_interval(filesystem: &FilesystemInfo) -> Option<String> {
    let set = filesystem.options.iter().find_map(|option| option.strip_prefix("commit="));
    match (set, filesystem.kind.as_str()) {
        (Some(seconds), _) => Some(format!("{seconds} s")),
        (None, "ext4" | "ext3") => Some(format!("{EXT4_COMMIT_S} s, the default")),
        _ => None,
    }
}

fn place(partition: &PartitionPlace) -> String {
    let alignment = match partition.is_aligned {
        Some(true) => ", aligned to an allocation unit",
        Some(false) => ", NOT aligned to an allocation unit",
        None => "",
    };
    let size = partition.size_bytes.map(|size| format!("{size}, ")).unwrap_or_default();
    format!("{}: {size}begins at {}{alignment}", partition.name, partition.start_bytes)
}

/// Life, power, heat and clocks.
pub(super) fn health(identity: &Identity) -> Section {
    let mut section = Section::new("Health and power");
    if let Some(card) = &identity.device.lowest().card {
        section.some("Life used", card.life_used_percent_max.map(life));
        section.some("Spare blocks", card.spare_blocks.clone());
    }
    of_power(&mut section, &identity.power);
    section
}

/// The estimate of used life is a band of ten percent.
fn life(upper_percent: u8) -> String {
    match upper_percent {
        101.. => "more than its rated life".to_owned(),
        upper => format!("{} to {upper} %", upper.saturating_sub(10)),
    }
}

/// The signs of trouble, which lead the page where there are any.
pub(super) fn signs(found: &Signs) -> Section {
    let mut section = Section::new("Health");
    if found.weighty().next().is_none() {
        return section;
    }
    section.row("Verdict", headline(found));
    for sign in found.weighty() {
        let source = source_in_words(sign.source);
        section.row("Sign", format!("{}{} ({source})", short(sign), when(sign)));
    }
    section.some("Points to", suspects_in_words(found));
    section.row("More", "cardproof health".to_owned());
    section
}

/// What has gone wrong with the storage since the computer started.
pub(super) fn errors(identity: &Identity) -> Section {
    let mut section = Section::new("Errors since the start");
    let errors = &identity.errors;
    for found in &errors.log {
        section.row("Kernel log", sentence(found));
    }
    for found in &errors.host {
        section.row("Host counter", format!("{}: {}", found.counter, found.count));
    }
    section.some("Quirks in force", errors.quirk_bits.clone());
    section
}

fn of_power(section: &mut Section, power: &Power) {
    let troubles = &power.troubles;
    let now = (power.is_under_voltage == Some(false)).then(|| "no under-voltage now".to_owned());
    let power_words: Vec<String> = now.into_iter().chain(troubles.iter().cloned()).collect();
    section.some("Power", (!power_words.is_empty()).then(|| power_words.join("; ")));
    for temperature in &power.temperatures {
        let degrees = f64::from(temperature.millidegrees_celsius) / 1e3;
        section.row("Temperature", format!("{degrees:.0} °C ({})", temperature.sensor));
    }
    let clock = power.processor_clock_hz.map(words::clock);
    let clock_max = power.processor_clock_max_hz.map(|hz| format!("at most {}", words::clock(hz)));
    let governor = power.governor.as_ref().map(|governor| format!("governor {governor}"));
    let parts: Vec<String> = [clock, clock_max, governor].into_iter().flatten().collect();
    section.some("Processor clock", (!parts.is_empty()).then(|| parts.join(", ")));
}

/// What could not be read, why, and what would be needed.
pub(super) fn unknown(identity: &Identity) -> Section {
    let mut section = Section::new("What could not be read");
    for unknown in &identity.unknown {
        section.row(&unknown.what, format!("{}. Needed: {}", unknown.reason, unknown.needed));
    }
    section
}
