//! The command queue of SD cards: only Raspberry Pi's kernel uses it, on the Raspberry Pi 5, and only with some
//! cards.
//!
//! `dtparam=sd_cqe` sets the device tree's `supports-cqe` of the slot (raspberrypi/linux pull request 6591, merged in
//! 2025-01, and the overlays' README): 0 is off; 1, the default, is on for cards on the kernel's list of working
//! ones; 2 is on for all A2 cards but those on its list of faulty ones. Before, the property was a switch without a
//! value. In mainline the property is about eMMC and says nothing of an SD card.

use cardproof_record::{CardInfo, Feature, QueueSetting};

use super::{NO_SD_QUEUE_UNTIL, Surrounding, queue_in_log};
use crate::identify::boards::slot_of;

/// Where a Raspberry Pi's boot settings are.
const BOOT_SETTINGS: [&str; 2] = ["boot/firmware/config.txt", "boot/config.txt"];

/// Fills what is known of the command queue of the SD card `info`.
pub(super) fn fill(around: &Surrounding<'_>, has_ext_perf: bool, info: &mut CardInfo) {
    queue_in_log(around, &mut info.command_queue);
    of_kernel(around, has_ext_perf, &mut info.command_queue);
    of_board(around, &mut info.command_queue);
    info.queue_setting = setting(around, &mut info.command_queue);
    if info.queue_setting.is_some() {
        info.command_queue.host = info.command_queue.host.or(Some(true));
    }
    if info.command_queue.enabled != Some(true) {
        conclude(around, info);
    }
}

/// Why the queue is off, as far as card, kernel, host and setting show it.
fn conclude(around: &Surrounding<'_>, info: &mut CardInfo) {
    let is_by_list = info.queue_setting == Some(QueueSetting::TrustedCards);
    let is_by_faults = info.queue_setting == Some(QueueSetting::AllButFaulty);
    let queue = &mut info.command_queue;
    let is_missing = [queue.kernel, queue.card, queue.host].contains(&Some(false));
    let why = if is_missing && queue.enabled.is_none() {
        Some("off: card, kernel and host must all have it")
    } else if is_missing {
        None
    } else if info.queue_setting == Some(QueueSetting::Off) {
        Some("off: a setting of the computer switches it off")
    } else if is_by_list && info.queue_is_trusted == Some(false) {
        Some("off: the kernel's list of working cards has not this card")
    } else if is_by_faults && info.cache_is_faulty == Some(true) {
        Some("off: the kernel's list of faulty cards has this card")
    } else {
        None
    };
    if let Some(why) = why {
        queue.enabled = Some(false);
        queue.evidence.push(why.to_owned());
    } else if queue.enabled.is_none() && around.sources.log().lines().is_none() {
        let (reason, needed) = around.sources.log_gap();
        around.sources.unknown("whether command queueing is on", reason, needed);
    }
}

fn of_kernel(around: &Surrounding<'_>, has_ext_perf: bool, queue: &mut Feature) {
    let Some(kernel) = around.kernel else { return };
    let (major, minor) = kernel.number;
    if queue.enabled == Some(true) {
        queue.kernel = Some(true);
    } else if has_ext_perf {
        queue.kernel = Some(true);
        queue
            .evidence
            .push("kernel can use it: it has ext_perf, as Raspberry Pi's kernels have".to_owned());
    } else if kernel.number <= NO_SD_QUEUE_UNTIL && !kernel.is_raspberry_pi {
        queue.kernel = Some(false);
        let text = format!("kernel cannot use it: Linux {major}.{minor} has it for eMMC only");
        queue.evidence.push(text);
    }
}

/// What is known of the board's card slot.
fn of_board(around: &Surrounding<'_>, queue: &mut Feature) {
    if queue.host.is_some() {
        return;
    }
    if let Some(slot) = around.board.and_then(slot_of) {
        queue.host = Some(slot.can_queue_commands);
        let verb = if slot.can_queue_commands { "can" } else { "cannot" };
        let text = format!("host {verb}: from a table of boards, not read from this one");
        queue.evidence.push(text);
    }
}

/// With which cards the running kernel uses the queue; `None` where it has no such setting, or where it is not
/// known.
fn setting(around: &Surrounding<'_>, queue: &mut Feature) -> Option<QueueSetting> {
    let line = boot_line(around);
    queue.evidence.extend(line.iter().map(|line| format!("boot settings: {line}")));
    let kernel = around.kernel.filter(|kernel| kernel.is_raspberry_pi)?;
    let can_queue = around.board.and_then(slot_of).is_some_and(|slot| slot.can_queue_commands);
    let root = around.sources.root();
    let host = around.host?;
    if let Some(value) = host.cell(root, "supports-cqe") {
        let setting = of_value(value);
        queue.evidence.push(format!("setting: supports-cqe is {value}, {}", in_words(setting)));
        return Some(setting);
    }
    if host.has_property(root, "supports-cqe") {
        let setting = QueueSetting::OnWithoutList;
        queue.evidence.push(format!("setting: supports-cqe has no value, {}", in_words(setting)));
        return Some(setting);
    }
    // Without a device tree to read: every kernel of this number has the values.
    (can_queue && kernel.number >= (6, 13)).then(|| {
        let setting = line.map_or(QueueSetting::TrustedCards, |line| of_line(&line));
        queue.evidence.push(format!("setting, by the boot settings: {}", in_words(setting)));
        setting
    })
}

const fn of_value(value: u32) -> QueueSetting {
    match value {
        0 => QueueSetting::Off,
        1 => QueueSetting::TrustedCards,
        2 => QueueSetting::AllButFaulty,
        _ => QueueSetting::Unknown,
    }
}

/// The setting of a line such as `dtparam=sd_cqe=2`; without a value it is 1.
fn of_line(line: &str) -> QueueSetting {
    match line.trim_start_matches("dtparam=sd_cqe").trim_start_matches('=').trim() {
        "0" | "off" | "false" | "n" | "no" => QueueSetting::Off,
        "" | "1" | "on" | "true" | "y" | "yes" => QueueSetting::TrustedCards,
        "2" => QueueSetting::AllButFaulty,
        _ => QueueSetting::Unknown,
    }
}

const fn in_words(setting: QueueSetting) -> &'static str {
    match setting {
        QueueSetting::Off => "with no card",
        QueueSetting::TrustedCards => "with cards on the kernel's list of working ones",
        QueueSetting::AllButFaulty | QueueSetting::OnWithoutList => {
            "with all A2 cards but those on the kernel's list of faulty ones"
        }
        QueueSetting::Unknown => "which is no value that is known",
    }
}

/// The last line of the boot settings that is about the queue.
fn boot_line(around: &Surrounding<'_>) -> Option<String> {
    let root = around.sources.root();
    let text = BOOT_SETTINGS.iter().find_map(|path| root.bytes(path).ok())?;
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().map(str::trim);
    lines.rfind(|line| line.starts_with("dtparam=sd_cqe")).map(str::to_owned)
}
