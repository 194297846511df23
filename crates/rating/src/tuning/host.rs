//! The steps that change how the host drives the device: scheduler, read-ahead, mount options, bus, and
//! an A2 card's command queue and cache.

use std::path::Path;

use cardproof_record::{Conditions, DeviceInfo, FilesystemInfo, Transport};
use cardproof_units::{Bytes, shell_path};

use super::{AppliedBy, Gain, Ground, Setting, TuningPlace, TuningStep};
use crate::queue_and_cache::{idle_queue_or_cache, is_a2};
use crate::sd_queue::{QueueStep, TRY_ALL, queue_step};
use crate::words::RISK;

/// Read-ahead for a card: enough for its full rate, little enough for its small reads.
const READ_AHEAD: Bytes = Bytes::kib(512);

/// The clock of an SD bus in High Speed mode; a faster mode needs signals of 1.8 V.
const HIGH_SPEED_HZ: u64 = 50_000_000;

/// The fastest clock that any SD mode has (SDR104, SD Physical Layer Specification).
const SD_CLOCK_MOST_HZ: u64 = 208_000_000;

/// All of them for `place`; those of the block layer only where it is known.
pub(super) fn steps(place: &TuningPlace<'_>, conditions: &Conditions) -> Vec<TuningStep> {
    let of_block_layer = place.name.into_iter().flat_map(|name| {
        [scheduler(name, conditions), read_ahead(name, conditions)].into_iter().flatten()
    });
    let device = &conditions.device;
    of_block_layer
        .chain(mount_options(place, conditions))
        .chain(bus(device))
        .chain(queue_and_cache(conditions))
        .collect()
}

/// The settings of the host that were looked at and that none of `steps` changes, in a few words each.
#[must_use]
pub fn settings_to_keep(conditions: &Conditions, steps: &[TuningStep]) -> Vec<String> {
    let is_kept = |name: &str| !steps.iter().any(|step| step.name == name);
    let settings = &conditions.settings;
    let scheduler = settings.scheduler.as_ref().filter(|_| is_kept("scheduler"));
    let read_ahead = settings.read_ahead_bytes.filter(|_| is_kept("read_ahead"));
    let mounted = conditions.filesystem.as_ref().filter(|_| is_kept("mount_options"));
    let atime =
        |filesystem| if has(filesystem, "noatime") { "noatime" } else { "mounted read-only" };
    [
        scheduler.map(|now| format!("I/O scheduler {now}")),
        read_ahead.map(|now| format!("read-ahead {now}")),
        mounted.map(|filesystem| atime(filesystem).to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn by_hand(name: &'static str, why: String, sure: f64) -> TuningStep {
    TuningStep {
        name,
        why,
        sure,
        commands: Vec::new(),
        gain: Gain::not_measurable(),
        risk: "none for data".to_owned(),
        undo: vec!["restore the earlier settings".to_owned()],
        applied_by: AppliedBy::Hand,
        setting: None,
        deletes_data: false,
        is_habit: false,
        brief: None,
    }
}

/// A bus that runs above its specification, or far below what card and host could do.
fn bus(device: &DeviceInfo) -> Option<TuningStep> {
    let bus = device.bus.as_ref().filter(|_| device.transport == Some(Transport::Sd))?;
    let clock = bus.clock_hz?;
    if clock > SD_CLOCK_MOST_HZ {
        return Some(TuningStep {
            risk: "none; the card may be slower than before".to_owned(),
            commands: vec![
                "sudo sed -i '/sd_overclock/d' /boot/firmware/config.txt".to_owned(),
                "sudo reboot".to_owned(),
            ],
            undo: vec!["add the line again".to_owned()],
            ..by_hand(
                "bus",
                format!(
                    "the bus runs at {} MHz, and no SD mode is faster than {} MHz: an overclocked bus \
                     can corrupt data without an error",
                    clock / 1_000_000,
                    SD_CLOCK_MOST_HZ / 1_000_000
                ),
                0.9,
            )
        });
    }
    let is_old_signal = bus.signal_voltage_millivolts.is_some_and(|volts| volts > 1_800);
    (clock <= HIGH_SPEED_HZ && is_old_signal).then(|| TuningStep {
        commands: vec!["cardproof identify".to_owned()],
        ..by_hand(
            "bus",
            format!(
                "the bus runs at {} MHz with signals of 3.3 V and carries at most 25 MB/s. If host and \
                 card can switch to 1.8 V, the card was not reset at the last start: switch the power \
                 off and on. If the host cannot, a USB 3 reader is faster",
                clock / 1_000_000
            ),
            0.5,
        )
    })
}

/// What an A2 card needs that this computer could give it and does not.
fn queue_and_cache(conditions: &Conditions) -> Option<TuningStep> {
    let device = &conditions.device;
    let idle = idle_queue_or_cache(device).filter(|_| is_a2(device))?;
    let why = |rest: &str| {
        format!(
            "an A2 card reaches its class only with command queue and cache, and {idle}. {rest}"
        )
    };
    let reboot = || "sudo reboot".to_owned();
    let remove = || "sudo sed -i '/sd_cqe/d' /boot/firmware/config.txt".to_owned();
    let step = match queue_step(conditions) {
        QueueStep::InUse | QueueStep::NotHere | QueueStep::NotWithThisCard => return None,
        QueueStep::NewerKernel => TuningStep {
            commands: vec!["sudo apt full-upgrade".to_owned(), reboot()],
            ..by_hand(
                "queue_and_cache",
                why("The list of working cards of newer kernels of Raspberry Pi has this card"),
                0.7,
            )
        },
        QueueStep::RemoveSetting => TuningStep {
            commands: vec![remove(), reboot()],
            undo: vec!["add the line dtparam=sd_cqe=0 again".to_owned()],
            ..by_hand(
                "queue_and_cache",
                why(
                    "The kernel's list of working cards has this card, and the boot settings switch \
                     the queue off",
                ),
                0.8,
            )
        },
        QueueStep::TryAtARisk => TuningStep {
            commands: vec![
                format!("echo {TRY_ALL} | sudo tee -a /boot/firmware/config.txt"),
                reboot(),
                "sudo cardproof verify / --queue".to_owned(),
            ],
            risk: RISK.to_owned(),
            undo: vec![remove(), reboot()],
            ..by_hand(
                "queue_and_cache",
                why(
                    "By default this kernel uses the queue only with cards on its list of working ones, \
                     and this card is not on it",
                ),
                0.2,
            )
        },
    };
    Some(step)
}

fn setting_step(
    name: &str,
    step: &'static str,
    setting: Setting,
    before: &str,
    why: &str,
) -> TuningStep {
    let file = format!("/sys/block/{name}/queue/{}", setting.file);
    TuningStep {
        name: step,
        why: why.to_owned(),
        sure: 0.7,
        commands: vec![format!("echo {} | sudo tee {file}", setting.value)],
        gain: Gain::not_measurable(),
        risk: "none for data; the setting is lost at the next boot".to_owned(),
        undo: vec![format!("echo {before} | sudo tee {file}")],
        applied_by: AppliedBy::Apply,
        setting: Some(setting),
        deletes_data: false,
        is_habit: false,
        brief: None,
    }
}

fn scheduler(name: &str, conditions: &Conditions) -> Option<TuningStep> {
    const WANTED: &str = "mq-deadline";
    let now = conditions.settings.scheduler.as_deref()?;
    let is_card = matches!(
        conditions.device.transport,
        Some(Transport::Sd | Transport::Mmc | Transport::Usb)
    );
    (is_card && now != WANTED).then(|| {
        setting_step(
            name,
            "scheduler",
            Setting { file: "scheduler", value: WANTED.to_owned() },
            now,
            "writes to a card are slow; mq-deadline prefers reads, so that programs wait less",
        )
    })
}

fn read_ahead(name: &str, conditions: &Conditions) -> Option<TuningStep> {
    let now = conditions.settings.read_ahead_bytes?;
    (now < READ_AHEAD).then(|| {
        setting_step(
            name,
            "read_ahead",
            Setting { file: "read_ahead_kb", value: (READ_AHEAD.get() >> 10).to_string() },
            &(now.get() >> 10).to_string(),
            "each read command has a fixed cost, so longer commands are faster when files are read \
             sequentially",
        )
    })
}

fn has(filesystem: &FilesystemInfo, option: &str) -> bool {
    filesystem.options.iter().any(|known| known == option)
}

/// Mount options of the file system of a directory, or of those on a device.
fn mount_options(place: &TuningPlace<'_>, conditions: &Conditions) -> Option<TuningStep> {
    let own = conditions.filesystem.as_ref().map(|filesystem| (place.mount_point, filesystem));
    let on_device = || place.mounts.iter().map(|it| (Some(&*it.point), &it.filesystem));
    let mounts: Vec<(Option<&Path>, &FilesystemInfo)> =
        own.map_or_else(|| on_device().collect(), |own| vec![own]);
    // What is mounted read-only has no access times to write.
    let is_settled = |filesystem| has(filesystem, "noatime") || has(filesystem, "ro");
    let can_be_better = mounts.into_iter().filter(|(_, filesystem)| !is_settled(filesystem));
    let points: Vec<String> = can_be_better
        .map(|(point, _)| point.map_or_else(|| "MOUNTPOINT".to_owned(), shell_path))
        .collect();
    let remount = |option: &str, point: &String| format!("sudo mount -o remount,{option} {point}");
    let noatime = points.iter().map(|point| remount("noatime", point));
    let until = "# until the next start; for good: add noatime to its options in /etc/fstab";
    (!points.is_empty()).then(|| TuningStep {
        commands: noatime.chain([until.to_owned()]).collect(),
        undo: points.iter().map(|point| remount("relatime", point)).collect(),
        ..noatime_step()
    })
}

/// The mount options of the file system that a system runs from: on the partition `main` of `ground`, or on the one that
/// the plan makes there. A Raspberry Pi's card has its system on the second partition, behind the one for the start.
pub(super) fn mount_new(ground: &Ground, main: Option<usize>) -> TuningStep {
    let mount = ground.mounting(main.unwrap_or(1), "noatime");
    let of_pi = if main.is_none() { "a Raspberry Pi system is on partition 2; " } else { "" };
    TuningStep {
        commands: vec![format!(
            "{mount}   # {of_pi}for good: add noatime to its line in /etc/fstab"
        )],
        undo: vec!["remove noatime from its options".to_owned()],
        ..noatime_step()
    }
}

fn noatime_step() -> TuningStep {
    TuningStep {
        risk: "programs that look at access times (some mail readers) see old ones".to_owned(),
        ..by_hand("mount_options", "with noatime, reading a file writes nothing".to_owned(), 0.95)
    }
}
