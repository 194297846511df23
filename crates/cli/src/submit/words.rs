//! What will be sent, in a few lines: what is in it, and what is not.

use cardproof_record::{CapacityVerdict, FilesystemInfo, Record, SettingsInfo};
use cardproof_report::{one_line, title};
use cardproof_submission::{Capacity, capacity_of};
use serde_json::Value;

/// What `document` holds, ending in a newline.
pub(super) fn of(document: &Value) -> String {
    let kib = document.to_string().len().div_ceil(1024);
    let mut text = format!("A record of {kib} KiB, which holds:\n");
    let mut line = |what: &str, said: &str| text.push_str(&format!("  {what:<10}{said}\n"));
    if let Some(record) =
        document.get("record").and_then(|it| Record::from_json(&it.to_string()).ok())
    {
        line("Card", &title(&record));
        line("Registers", registers(&record));
        line("Computer", &computer(&record));
        line("Set-up", &set_up(&record));
        line("Tests", &tests(&record));
    }
    if let Ok(Some(found)) = capacity_of(document) {
        line("Capacity", &capacity(&found));
    }
    let label = document.get("label").and_then(Value::as_str).map(one_line);
    line("Label", &label.unwrap_or_else(|| "not sent".to_owned()));
    let price = document.get("price").map_or_else(|| "not sent".to_owned(), price_in_words);
    line("Price", &price);
    text.push_str("Not in it: serial numbers, names of computer and user, paths.\n");
    text
}

/// What is sent of a test of the capacity.
fn capacity(found: &Capacity) -> String {
    let verdict = match found.verdict {
        CapacityVerdict::Genuine => "genuine",
        CapacityVerdict::Fake => "fake",
        CapacityVerdict::Damaged => "damaged",
        CapacityVerdict::Suspicious => "suspicious",
        CapacityVerdict::Undecided => "undecided",
    };
    format!(
        "{verdict} (announced: {}), with how sure that is and how much was tested",
        found.announced_size_bytes
    )
}

fn registers(record: &Record) -> &'static str {
    match record.conditions.device.lowest().card {
        // It has but the switches of its model.
        Some(_) if record.is_simulated() => "none: it is a simulated card",
        Some(_) => "what the card says of itself, without its serial number",
        None => "none",
    }
}

fn computer(record: &Record) -> String {
    let host = &record.conditions.host;
    let parts = [&host.board, &host.architecture, &host.kernel];
    let mut parts: Vec<String> = parts.into_iter().flatten().map(|part| one_line(part)).collect();
    parts.extend(host.cpus.map(|count| format!("{count} CPUs")));
    parts.extend(host.memory_bytes.map(|size| format!("{size} of memory")));
    joined(&parts)
}

/// The file system and the kernel's settings for the device, each that is sent.
fn set_up(record: &Record) -> String {
    let conditions = &record.conditions;
    let mut parts = conditions.filesystem.as_ref().map_or_else(Vec::new, of_filesystem);
    parts.extend(of_settings(&conditions.settings));
    joined(&parts)
}

/// What is sent of a file system; a new field must be told here.
fn of_filesystem(filesystem: &FilesystemInfo) -> Vec<String> {
    let FilesystemInfo {
        kind,
        options,
        size_bytes,
        free_bytes,
        partition_start_bytes: start,
        is_aligned: _,
        extra: _,
    } = filesystem;
    let options = (!options.is_empty()).then(|| one_line(&options.join(",")));
    let parts = [
        options.map(|options| format!("mount options {options}")),
        size_bytes.map(|size| format!("size {size}")),
        free_bytes.map(|free| format!("{free} free")),
        start.map(|start| format!("partition from {start}")),
    ];
    std::iter::once(one_line(kind)).chain(parts.into_iter().flatten()).collect()
}

/// What is sent of the settings; a new field must be told here.
fn of_settings(settings: &SettingsInfo) -> Vec<String> {
    let SettingsInfo {
        scheduler,
        nr_requests,
        read_ahead_bytes,
        write_cache,
        governor,
        processor_clock_max_hz: clock,
        beneath,
        extra: _,
    } = settings;
    let parts = [
        scheduler.as_deref().map(|name| format!("scheduler {}", one_line(name))),
        read_ahead_bytes.map(|size| format!("read-ahead {size}")),
        nr_requests.map(|count| format!("queue of {count} requests")),
        write_cache.as_deref().map(|kind| format!("write cache {}", one_line(kind))),
        governor.as_deref().map(|name| format!("governor {}", one_line(name))),
        clock.map(|hz| format!("processor up to {} MHz", hz / 1_000_000)),
        beneath.as_ref().map(|_| "the same of the device below".to_owned()),
    ];
    parts.into_iter().flatten().collect()
}

fn joined(parts: &[String]) -> String {
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

/// How much was measured.
fn tests(record: &Record) -> String {
    let phases = record.phases.len();
    let slices: usize = record.phases.iter().map(|phase| phase.intervals.len()).sum();
    match phases {
        0 => format!("the result of {}", one_line(&record.profile.name)),
        1 => format!("1 test of speed, and {slices} points of the charts"),
        count => format!("{count} tests of speed, and {slices} points of the charts"),
    }
}

fn price_in_words(price: &Value) -> String {
    let of = |key: &str| price.get(key).map(ToString::to_string).unwrap_or_default();
    one_line(&format!("{} {}", of("amount"), of("currency").trim_matches('"')))
}

#[cfg(test)]
mod tests {
    use cardproof_record::{CardInfo, TargetKind};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_sent_is_told_and_what_is_not() {
        let record = json!({
            "schema": cardproof_record::SCHEMA,
            "id": "shared",
            "created": "2026-01-01T00:00:00Z",
            "tool": {"name": "cardproof", "version": "0.1.0"},
            "seed": 0,
            "state": "complete",
            "conditions": {
                "target": {
                    "kind": "directory", "size_bytes": 0, "logical_block_bytes": 512, "engine": "psync",
                    "direct": true, "read_only": false
                },
                "device": {"model": "SN64G", "transport": "sd"},
                "host": {"board": "Raspberry Pi 4", "kernel": "Linux 6.12", "cpus": 4},
                "filesystem": {"kind": "ext4", "options": ["rw", "noatime"]},
                "settings": {
                    "scheduler": "mq-deadline", "read_ahead_bytes": 131_072, "nr_requests": 64, "governor": "ondemand"
                }
            },
            "profile": {"name": "standard", "version": 1, "time_budget_ns": 0},
            "phases": [],
            "bytes_written": 0,
            "bytes_read": 0
        });
        let price = json!({"amount": 9.9, "currency": "EUR", "date": "2026-01-01"});
        let said = of(&json!({"licence": "CC0-1.0", "record": record, "price": price}));
        for part in [
            "SN64G, SD card",
            "Raspberry Pi 4, Linux 6.12, 4 CPUs",
            "Label     not sent",
            "9.9 EUR",
        ]
        .into_iter()
        .chain([
            "Set-up    ext4, mount options rw,noatime, scheduler mq-deadline, read-ahead 128 KiB, queue of 64 \
             requests, governor ondemand",
        ])
        {
            assert!(said.contains(part), "{part} is not in {said}");
        }
        assert!(said.lines().count() <= 9, "{said}");
        assert!(!said.contains("Capacity"), "{said}");
    }

    #[test]
    fn a_verdict_on_the_capacity_that_is_sent_is_told() {
        let capacity = json!({
            "verdict": "fake", "kind": "wrap", "probability": 0.999,
            "announced_size_bytes": 64_u64 << 30,
            "real_size_bytes": {"low": 2_u64 << 30, "high": 2_u64 << 30},
            "excluded_hidden_store_bytes": 0, "excluded_bad_share": 0.0,
            "bytes_written": 1, "bytes_read": 1
        });
        let said = of(&json!({"licence": "CC0-1.0", "capacity": capacity}));
        assert!(said.contains("Capacity  fake (announced: 64 GiB)"), "{said}");
    }

    #[test]
    fn a_simulated_card_has_no_registers() {
        let mut record = cardproof_testkit::records::typical_a1_card();
        record.conditions.device.card = Some(CardInfo::default());
        assert_ne!(registers(&record), "none: it is a simulated card");
        record.conditions.target.kind = TargetKind::Simulated;
        assert_eq!(registers(&record), "none: it is a simulated card");
    }
}
