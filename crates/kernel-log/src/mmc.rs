//! Messages of the MMC core and of hosts of cards (Linux, `drivers/mmc`).

use cardproof_units::Bytes;

use super::event::{CardKind, EventKind, ModeStep};
use crate::text::{error_after, number, number_after};

/// The event in a message whose subject is a card, its block device or its host.
pub(super) fn event(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let (subject, rest) = message.split_once(": ")?;
    let rest = rest.trim();
    if is_numbered(subject, "mmcblk") {
        return Some((Some(subject), of_block(subject, rest)?));
    }
    if is_numbered(subject, "mmc") {
        return Some((Some(subject), of_host(rest)?));
    }
    if let Some(host) = subject.strip_prefix("mmc_host ").filter(|it| is_numbered(it, "mmc")) {
        return Some((Some(host), of_dw_host(rest)?));
    }
    of_driver(subject, rest)
}

/// What DesignWare's driver says of its host.
fn of_dw_host(rest: &str) -> Option<EventKind<'_>> {
    if rest.starts_with("Timeout sending command")
        || rest.starts_with("Unexpected interrupt latency")
    {
        return Some(EventKind::NoAnswer);
    }
    let clock = rest.strip_prefix("Bus speed (slot 0) = ")?;
    let hz = number(clock.split("Hz").next()?.trim())?;
    Some(EventKind::Clock(hz as u64))
}

/// Whether `subject` is `name` and a number, such as `mmc0`.
fn is_numbered(subject: &str, name: &str) -> bool {
    let digits = subject.strip_prefix(name).unwrap_or_default();
    (1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// What the kernel says of a card's host.
fn of_host(rest: &str) -> Option<EventKind<'_>> {
    if let Some(found) = rest.strip_prefix("new ") {
        return attached(found);
    }
    if let Some(bits) = rest.strip_prefix("switch to bus width ") {
        let (bits, result) = bits.split_once(' ')?;
        let bits = bits.parse().ok().filter(|bits| [1, 4, 8].contains(bits))?;
        return result.trim_end().ends_with("failed").then_some(EventKind::WidthFailed(bits));
    }
    if let Some(step) = failed_step(rest) {
        return Some(EventKind::ModeFailed(step));
    }
    let removed = rest.strip_prefix("card ").and_then(|it| it.strip_suffix(" removed"));
    if let Some(address) = removed {
        return Some(EventKind::Removed { address });
    }
    if rest.starts_with("Command Queue Engine enabled") {
        return Some(EventKind::QueueOn);
    }
    if rest.starts_with("Host Software Queue enabled") {
        return Some(EventKind::QueueOff);
    }
    if rest.starts_with("running CQE recovery") || rest.starts_with("cqhci: timeout for tag") {
        return Some(EventKind::QueueRecovery);
    }
    if let Some(error) = rest.starts_with("error -").then(|| error_after(rest, "error ")).flatten()
    {
        // A radio's trouble is none of the storage.
        let is_storage = !rest.contains("SDIO");
        let is_start = rest.contains("whilst initialising");
        let kind = if is_start {
            EventKind::InitFailed(error)
        } else {
            EventKind::CommandError { error, sector: None }
        };
        return is_storage.then_some(kind);
    }
    trouble_of_host(rest)
}

/// A card's mode and kind in `UHS-I speed SDR104 SDXC card at address 59b4`.
fn attached(found: &str) -> Option<EventKind<'_>> {
    let (words, _) = found.split_once(" card at address ").or_else(|| {
        let bare = found.strip_suffix(" card")?;
        Some((bare, ""))
    })?;
    let (mode, kind) = words.rsplit_once(' ').unwrap_or(("", words));
    let card = match kind {
        "SD" | "SDHC" | "SDXC" | "SDUC" => CardKind::Sd,
        "MMC" | "eMMC" => CardKind::Mmc,
        "SDIO" | "combo" | "SD-combo" => CardKind::Sdio,
        _ => return None,
    };
    Some(EventKind::Attached { mode: mode.trim(), card })
}

/// Which step to a faster bus failed.
fn failed_step(rest: &str) -> Option<ModeStep> {
    let has_failed = || rest.contains("failed") || rest.contains("error");
    let starts = |words: &[&str]| words.iter().any(|word| rest.starts_with(word));
    if starts(&["switch to high-speed", "switch to high speed"]) && has_failed()
        || rest.starts_with("Problem switching card into high-speed mode")
    {
        return Some(ModeStep::HighSpeed);
    }
    if starts(&["mmc_select_hs200", "mmc_select_hs400", "switch to hs200", "switch to hs400"])
        && has_failed()
    {
        return Some(ModeStep::Hs200);
    }
    if starts(&["Signal voltage switch failed", "Skipping voltage switch"]) {
        return Some(ModeStep::Voltage);
    }
    let is_tuning = starts(&["tuning execution failed", "Tuning failed", "Tuning timeout"]);
    is_tuning.then_some(ModeStep::Tuning)
}

/// Errors that the host reports.
fn trouble_of_host(rest: &str) -> Option<EventKind<'_>> {
    let lower = rest.to_ascii_lowercase();
    let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    if lower.starts_with("card removed during transfer") {
        return Some(EventKind::Gone);
    }
    if starts(&["timeout waiting for hardware", "timeout waiting for data", "got data interrupt"])
        || lower.starts_with("controller never released inhibit bit")
        || lower.starts_with("reset 0x") && lower.contains("never completed")
    {
        return Some(EventKind::NoAnswer);
    }
    // A transfer that the controller gave up.
    if lower.starts_with("adma error") {
        return Some(EventKind::CommandError { error: 5, sector: None });
    }
    if starts(&["card stuck", "card never left busy state", "final write to sd card still running"])
    {
        return Some(EventKind::StuckBusy);
    }
    if lower.starts_with("adma error") {
        return Some(EventKind::CommandError { error: 5, sector: None });
    }
    let has_error = starts(&[
        "tried to hw reset card, got error",
        "tried to reset card, got error",
        "cache flush error",
    ]);
    let error = error_after(rest, "error ").filter(|_| has_error)?;
    Some(EventKind::CommandError { error, sector: None })
}

/// What the kernel says of a card's block device.
fn of_block<'t>(device: &str, rest: &'t str) -> Option<EventKind<'t>> {
    if let Some(card) = named_card(rest) {
        return Some(card);
    }
    if let Some(error) = rest.starts_with("error -").then(|| error_after(rest, "error ")).flatten()
    {
        let sector = number_after(rest, "sector ");
        return Some(EventKind::CommandError { error, sector });
    }
    if rest.starts_with("timed out sending") || rest.starts_with("not responding") {
        return Some(EventKind::CommandError { error: 110, sector: None });
    }
    if rest.starts_with("response CRC error") {
        return Some(EventKind::CommandError { error: 84, sector: None });
    }
    if rest.starts_with("Card stuck in ") {
        return Some(EventKind::StuckBusy);
    }
    if rest.starts_with("r/w command failed") || rest.starts_with("recovery failed") {
        return Some(EventKind::CommandError { error: 5, sector: None });
    }
    let is_beyond = rest.starts_with("rw=") && rest.contains("limit=");
    (is_beyond && !device.is_empty()).then_some(EventKind::BeyondEnd)
}

/// A card's name and size in `mmc0:59b4 ED2S5 239 GiB (ro)`.
fn named_card(rest: &str) -> Option<EventKind<'_>> {
    let (place, rest) = rest.split_once(' ')?;
    let (host, address) = place.split_once(':')?;
    if !is_numbered(host, "mmc") || address.len() != 4 {
        return None;
    }
    let whole = rest.trim();
    let rest = whole.strip_suffix("(ro)").unwrap_or(whole);
    let is_read_only = rest.len() < whole.len();
    let (rest, unit) = rest.trim_end().rsplit_once(' ')?;
    let (name, size) = rest.rsplit_once(' ').unwrap_or(("", rest));
    let name = name.trim();
    // A boot area and its kind: `M8G1GC partition 1 4.00 MiB`.
    if name.contains(" partition ") {
        return None;
    }
    // Kernels before 4.5 print powers of 1024 under the names of those of 1000.
    let unit_bytes = match unit {
        "KiB" | "KB" => 1024.0,
        "MiB" | "MB" => 1_048_576.0,
        "GiB" | "GB" => 1_073_741_824.0,
        "TiB" | "TB" => 1_099_511_627_776.0,
        _ => return None,
    };
    let size_bytes = Bytes((number(size)? * unit_bytes) as u64);
    Some(EventKind::Card { host, address, name, size_bytes, is_read_only })
}

/// Drivers of hosts that name themselves and not the card's host.
fn of_driver<'t>(subject: &'t str, rest: &'t str) -> Option<(Option<&'t str>, EventKind<'t>)> {
    let (driver, _) = subject.split_once(' ')?;
    let no_answer = match driver {
        "sunxi-mmc" => rest.starts_with("smc ") && is_of_data(rest),
        "dwmmc_rockchip" | "dwmmc_exynos" | "dw_mmc" => {
            rest.starts_with("Unexpected xfer timeout")
                || rest.starts_with("Unexpected command timeout")
        }
        "mmc-bcm2835" | "sdhost-bcm2835" | "sdhost" => {
            rest.starts_with("timeout waiting for") || rest.starts_with("Timeout waiting for")
        }
        _ => false,
    };
    if no_answer {
        return Some((None, EventKind::NoAnswer));
    }
    if rest.starts_with("Tuning timeout, falling back to fixed sampling clock") {
        return Some((None, EventKind::ModeFailed(ModeStep::Tuning)));
    }
    None
}

/// Whether the command in `smc 0 p0 err, cmd 18, RTO !!` moves data or asks for the card's state. Others fail
/// while the kernel finds out which card it is.
fn is_of_data(rest: &str) -> bool {
    let command = number_after(rest, " err, cmd ");
    command.is_some_and(|command| matches!(command, 12 | 13 | 17 | 18 | 23 | 24 | 25))
}
