//! `cardproof identify --raw` of the kernel's log: which cards it tells of, how they run, what went wrong.

use cardproof_import::{ForeignTool, Origin, clean, import};
use cardproof_kernel_log::{self as kernel_log, CardKind, DeviceLog};

use crate::import::findings;

/// The devices that a log tells of, as text; nothing where `text` is none.
pub(super) fn page(text: &str) -> Option<String> {
    let origin = Origin { id: "log".to_owned(), read_at: String::new() };
    let records = import(text, Some(ForeignTool::KernelLog), &origin).map(|it| it.records);
    let cleaned = clean(text).text;
    let log = kernel_log::read((1..).zip(cleaned.lines()));
    let mut lines = Vec::new();
    for device in log.devices.iter().filter(|it| it.card.name.is_some() || it.card.mode.is_some()) {
        lines.push(described(device));
    }
    for record in records.iter().flatten() {
        lines.extend(findings(record));
    }
    if lines.is_empty() {
        return None;
    }
    let harmless = lines
        .iter()
        .map(|line| line.chars().filter(|&c| !cardproof_report::steers(c)).collect::<String>());
    Some(harmless.collect::<Vec<_>>().join("\n") + "\n")
}

/// Such as `mmcblk1: eMMC HAG2e, 14.7 GiB, high speed, 50 MHz, 1 data line`.
fn described(log: &DeviceLog) -> String {
    let card = &log.card;
    let name = log.device.as_ref().or(log.host.as_ref()).map_or("a card", String::as_str);
    let kind = match card.kind {
        Some(CardKind::Mmc) => "eMMC",
        Some(CardKind::Sd) => "SD card",
        Some(CardKind::Sdio) | None => "card",
    };
    let product = card.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
    let mode =
        card.mode.as_deref().map(|mode| if mode.is_empty() { "default speed" } else { mode });
    let parts = [
        Some(format!("{kind}{product}")),
        card.size_bytes.map(|size| size.to_string()),
        mode.map(str::to_owned),
        card.clock_hz.map(|hz| format!("{} MHz", hz / 1_000_000)),
        card.width_bits()
            .map(|bits| format!("{bits} data line{}", if bits == 1 { "" } else { "s" })),
        card.queue.map(|on| format!("command queue {}", if on { "on" } else { "off" })),
        card.is_read_only.then(|| "write-protected".to_owned()),
    ];
    format!("{name}: {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}
