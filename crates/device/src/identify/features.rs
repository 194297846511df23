//! The two features that A2 rests on, cache and command queueing: who has them, and are they on.
//!
//! A card's answer is in its registers, which have been read before; here come the kernel's, the
//! host controller's, and whether the feature is in use, each with its evidence. Facts used:
//!
//! - Linux controls an SD card's cache since 5.14 (drivers/mmc/core/sd.c); then a queue that
//!   says `write back` has the cache on. For eMMC the queue says nothing sure: EXT_CSD 33 does.
//! - Linux up to 6.12 has no command queueing for SD cards. Raspberry Pi's kernel has, for the
//!   Pi 5, switched by `dtparam=sd_cqe`. Of later kernels nothing is claimed.
//! - eMMC command queueing came with the CQE driver of Linux 4.16, and sysfs shows it as
//!   `cmdq_en`.

use std::path::Path;

use cardproof_record::{CardInfo, Feature};

use super::boards::slot_of;
use super::kernel_version::KernelVersion;
use super::mmc_host::MmcHost;
use super::sources::Sources;
use crate::block::BlockDevice;

/// The first Linux that switches an SD card's cache on.
const SD_CACHE_SINCE: (u32, u32) = (5, 14);
/// The first Linux with command queueing for eMMC.
const EMMC_QUEUE_SINCE: (u32, u32) = (4, 16);
/// The last Linux that is known to have no command queueing for SD cards.
const NO_SD_QUEUE_UNTIL: (u32, u32) = (6, 12);

/// The bits of `ext_perf`, an attribute of Raspberry Pi's kernel: what the card supports.
const EXT_PERF_CACHE: u32 = 0x8;
const EXT_PERF_QUEUE: u32 = 0x10;

/// Where a Raspberry Pi's boot settings are.
const BOOT_SETTINGS: [&str; 2] = ["boot/firmware/config.txt", "boot/config.txt"];

/// What the answers are taken from.
pub(crate) struct Surrounding<'a> {
    pub(crate) sources: &'a Sources<'a>,
    pub(crate) device: &'a BlockDevice<'a>,
    pub(crate) card: &'a Path,
    pub(crate) host: Option<&'a MmcHost>,
    pub(crate) kernel: Option<KernelVersion>,
    pub(crate) board: Option<&'a str>,
}

/// Whether a line of a Raspberry Pi's boot settings says something of the card's host.
pub(crate) fn is_boot_setting_of_storage(line: &str) -> bool {
    let line = line.trim();
    ["dtparam=sd_", "dtoverlay=sdhost", "dtoverlay=mmc", "dtoverlay=sdio"]
        .iter()
        .any(|start| line.starts_with(start))
}

/// Fills the features of an SD card.
pub(crate) fn fill_sd(around: &Surrounding<'_>, info: &mut CardInfo) {
    let perf = extended_performance(around);
    if let Some(perf) = perf {
        let has = |bit| perf & bit != 0;
        card_says(&mut info.cache, has(EXT_PERF_CACHE), perf);
        card_says(&mut info.command_queue, has(EXT_PERF_QUEUE), perf);
    }
    sd_cache(around, &mut info.cache);
    sd_queue(around, perf.is_some(), &mut info.command_queue);
}

/// Fills the features of an eMMC.
pub(crate) fn fill_emmc(around: &Surrounding<'_>, info: &mut CardInfo) {
    emmc_cache(around, &mut info.cache);
    emmc_queue(around, &mut info.command_queue);
}

fn extended_performance(around: &Surrounding<'_>) -> Option<u32> {
    let text = around.sources.root().text(around.card.join("ext_perf"))?;
    u32::from_str_radix(text.strip_prefix("0x").unwrap_or(&text), 16).ok()
}

fn card_says(feature: &mut Feature, has_it: bool, perf: u32) {
    let word = if has_it { "has it" } else { "has it not" };
    feature.card = Some(feature.card.unwrap_or(false) || has_it);
    feature.evidence.push(format!("card {word}: ext_perf is {perf:#04x}"));
}

fn sd_cache(around: &Surrounding<'_>, cache: &mut Feature) {
    if let Some(kernel) = around.kernel {
        let has_it = kernel.number >= SD_CACHE_SINCE;
        cache.kernel = Some(has_it);
        let (major, minor) = kernel.number;
        let (verb, than) =
            if has_it { ("can", "5.14 or later") } else { ("cannot", "before 5.14") };
        cache.evidence.push(format!("kernel {verb} use it: Linux {major}.{minor} is {than}"));
    }
    cache.host = Some(true);
    cache.evidence.push("host: the cache needs no support of the controller".to_owned());
    match around.device.text("queue/write_cache").as_deref() {
        Some("write back") => {
            cache.enabled = Some(true);
            cache.evidence.push("on: the block device reports write back".to_owned());
        }
        Some("write through") => {
            cache.enabled = Some(false);
            cache.evidence.push("off: the block device reports write through".to_owned());
        }
        _ => around.sources.unknown(
            "whether the card's cache is on",
            "sysfs has no queue/write_cache for it",
            "a kernel that shows it, 4.7 or later",
        ),
    }
}

fn sd_queue(around: &Surrounding<'_>, has_ext_perf: bool, queue: &mut Feature) {
    queue_in_log(around, queue);
    sd_queue_of_kernel(around, has_ext_perf, queue);
    queue_of_host(around, queue);
    queue_of_board(around, queue);
    boot_setting(around, queue);
    if queue.enabled.is_some() {
        return;
    }
    if queue.kernel == Some(false) || queue.card == Some(false) || queue.host == Some(false) {
        queue.enabled = Some(false);
        queue.evidence.push("off: card, kernel and host must all have it".to_owned());
    } else if around.sources.log().lines().is_none() {
        let (reason, needed) = around.sources.log_gap();
        around.sources.unknown("whether command queueing is on", reason, needed);
    }
}

fn sd_queue_of_kernel(around: &Surrounding<'_>, has_ext_perf: bool, queue: &mut Feature) {
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

fn emmc_cache(around: &Surrounding<'_>, cache: &mut Feature) {
    cache.kernel = Some(true);
    cache.host = Some(true);
    cache.evidence.push("kernel and host: eMMC caches need nothing of them".to_owned());
    if cache.enabled.is_none() {
        around.sources.unknown(
            "whether the eMMC's cache is on",
            "EXT_CSD could not be read, and the queue's setting is no proof for eMMC",
            around.sources.as_root(),
        );
    }
}

fn emmc_queue(around: &Surrounding<'_>, queue: &mut Feature) {
    let root = around.sources.root();
    if let Some(is_on) = root.switch(around.card.join("cmdq_en")) {
        queue.enabled = Some(is_on);
        let word = if is_on { "on" } else { "off" };
        queue.evidence.push(format!("{word}: cmdq_en is {}", u8::from(is_on)));
    }
    if let Some(kernel) = around.kernel {
        let has_it = kernel.number >= EMMC_QUEUE_SINCE;
        queue.kernel = Some(has_it);
        let (major, minor) = kernel.number;
        let verb = if has_it { "can" } else { "cannot" };
        queue.evidence.push(format!("kernel {verb} use it: Linux {major}.{minor}"));
    }
    queue_in_log(around, queue);
    queue_of_host(around, queue);
    if queue.enabled == Some(true) {
        queue.card = Some(true);
        queue.host = Some(true);
    }
    if queue.enabled.is_none() {
        around.sources.unknown(
            "whether command queueing is on",
            "sysfs has no cmdq_en for it and EXT_CSD could not be read",
            around.sources.as_root(),
        );
    }
}

/// What the kernel said of the host's queue when it found the card.
fn queue_in_log(around: &Surrounding<'_>, queue: &mut Feature) {
    let Some(host) = around.host else { return };
    let log = around.sources.log();
    let said = |phrase| log.last_of_host(&host.name, phrase);
    if let Some(line) = said("Command Queue Engine enabled") {
        queue.enabled = queue.enabled.or(Some(true));
        queue.host = Some(true);
        queue.evidence.push(format!("on: the kernel log says \"{line}\""));
    } else if let Some(line) = said("Host Software Queue enabled") {
        queue.evidence.push(format!(
            "the kernel log says \"{line}\": requests are prepared ahead, the card sees one"
        ));
    }
    for phrase in ["running CQE recovery", "cqhci: timeout for tag"] {
        if said(phrase).is_some() {
            queue.evidence.push(format!("trouble: the kernel log says \"{phrase}\""));
        }
    }
}

fn queue_of_host(around: &Surrounding<'_>, queue: &mut Feature) {
    let root = around.sources.root();
    let can = around.host.is_some_and(|host| host.has_property(root, "supports-cqe"));
    if queue.host.is_none() && can {
        queue.host = Some(true);
        queue.evidence.push("host can: its device tree node has supports-cqe".to_owned());
    }
}

/// What is known of the board's card slot; an eMMC is not in it.
fn queue_of_board(around: &Surrounding<'_>, queue: &mut Feature) {
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

fn boot_setting(around: &Surrounding<'_>, queue: &mut Feature) {
    let root = around.sources.root();
    let text = BOOT_SETTINGS.iter().find_map(|path| root.bytes(path).ok());
    let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let mut lines = text.iter().flat_map(|text| text.lines()).map(str::trim);
    if let Some(line) = lines.rfind(|line| line.starts_with("dtparam=sd_cqe")) {
        queue.evidence.push(format!("boot settings: {line}"));
    }
}
