//! The two features that A2 rests on, cache and command queueing: who has them, and are they on.
//!
//! A card's answer is in its registers, which have been read before; here come the kernel's, the
//! host controller's, and whether the feature is in use, each with its evidence. Facts used:
//!
//! - Linux controls an SD card's cache since 5.14 (drivers/mmc/core/sd.c); then a queue that
//!   says `write back` has the cache on. For eMMC the queue says nothing sure: EXT_CSD 33 does.
//! - Mainline Linux up to 6.16 has no command queueing for SD cards; `supports-cqe` in its device trees is about
//!   eMMC. Raspberry Pi's kernel has, for the Pi 5 (`sd_queue`). Of later kernels nothing is claimed.
//! - The line "Host Software Queue enabled" in the log is printed where the card's own queue is off.
//! - eMMC command queueing came with the CQE driver of Linux 4.16, and sysfs shows it as
//!   `cmdq_en`.

mod sd_queue;

use std::path::Path;

use cardproof_record::{CardInfo, Feature};

use super::kernel_version::KernelVersion;
use super::mmc_host::MmcHost;
use super::sources::Sources;
use crate::block::BlockDevice;

/// The first Linux that switches an SD card's cache on.
const SD_CACHE_SINCE: (u32, u32) = (5, 14);
/// The first Linux with command queueing for eMMC.
const EMMC_QUEUE_SINCE: (u32, u32) = (4, 16);
/// The last Linux that is known to have no command queueing for SD cards.
const NO_SD_QUEUE_UNTIL: (u32, u32) = (6, 16);

/// The bits of `ext_perf`, an attribute of Raspberry Pi's kernel: what the card supports.
const EXT_PERF_CACHE: u32 = 0x8;
const EXT_PERF_QUEUE: u32 = 0x10;

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
    sd_queue::fill(around, perf.is_some(), info);
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

/// What the kernel said of the host's queue when it found the card; the last word counts.
fn queue_in_log(around: &Surrounding<'_>, queue: &mut Feature) {
    const ENGINE: &str = "Command Queue Engine enabled";
    const SOFTWARE: &str = "Host Software Queue enabled";
    let Some(host) = around.host else { return };
    let log = around.sources.log();
    let said = log.last_of_host_with(&host.name, &[ENGINE, SOFTWARE]);
    if let Some(line) = said.filter(|line| line.contains(ENGINE)) {
        queue.enabled = queue.enabled.or(Some(true));
        queue.host = Some(true);
        queue.evidence.push(format!("on: the kernel log says \"{line}\""));
    } else if let Some(line) = said {
        queue.enabled = queue.enabled.or(Some(false));
        queue.evidence.push(format!(
            "off: the kernel log says \"{line}\": the host prepares requests ahead, the card sees one"
        ));
    }
    for phrase in ["running CQE recovery", "cqhci: timeout for tag"] {
        if log.last_of_host(&host.name, phrase).is_some() {
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
