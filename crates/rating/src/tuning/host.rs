//! The steps that change how the host drives the device: scheduler, read-ahead, mount options, bus, and
//! an A2 card's command queue and cache.

use std::path::Path;

use cardproof_record::{Conditions, DeviceInfo, FilesystemInfo, Transport};
use cardproof_units::{Bytes, shell_path};

use super::{
    AppliedBy, Command, Ground, NoGain, Planned, Remark, Risk, Setting, TuningPlace, Undo, Why,
};
use crate::queue_and_cache::{idle_queue_or_cache, is_a2};
use crate::sd_queue::{QueueStep, TRY_ALL, queue_step};

/// Read-ahead for a card: enough for its full rate, little enough for its small reads.
const READ_AHEAD: Bytes = Bytes::kib(512);

/// The clock of an SD bus in High Speed mode; a faster mode needs signals of 1.8 V.
const HIGH_SPEED_HZ: u64 = 50_000_000;

/// The fastest clock that any SD mode has (SDR104, SD Physical Layer Specification).
const SD_CLOCK_MOST_HZ: u64 = 208_000_000;

/// All of them for `place`; those of the block layer only where it is known.
pub(super) fn steps(place: &TuningPlace<'_>, conditions: &Conditions) -> Vec<Planned> {
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

/// A setting of the host that stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Scheduler(String),
    ReadAhead(Bytes),
    /// A file system with noatime.
    Noatime,
    /// A file system that is mounted read-only.
    ReadOnly,
}

/// The settings of the host that were looked at and of which `is_kept` says that no step changes them.
pub(crate) fn kept(conditions: &Conditions, is_kept: impl Fn(&str) -> bool) -> Vec<Kept> {
    let settings = &conditions.settings;
    let scheduler = settings.scheduler.as_ref().filter(|_| is_kept("scheduler"));
    let read_ahead = settings.read_ahead_bytes.filter(|_| is_kept("read_ahead"));
    let mounted = conditions.filesystem.as_ref().filter(|_| is_kept("mount_options"));
    let atime =
        |filesystem| if has(filesystem, "noatime") { Kept::Noatime } else { Kept::ReadOnly };
    [
        scheduler.map(|now| Kept::Scheduler(now.clone())),
        read_ahead.map(Kept::ReadAhead),
        mounted.map(atime),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn by_hand(name: &'static str, why: Why, sure: f64) -> Planned {
    Planned {
        name,
        why,
        sure,
        commands: Vec::new(),
        gain: NoGain::BeforeAndAfter,
        risk: Risk::NoneForData,
        undo: vec![Undo::RestoreSettings],
        applied_by: AppliedBy::Hand,
        setting: None,
        deletes_data: false,
        is_habit: false,
        brief: None,
    }
}

/// A bus that runs above its specification, or far below what card and host could do.
fn bus(device: &DeviceInfo) -> Option<Planned> {
    let bus = device.bus.as_ref().filter(|_| device.transport == Some(Transport::Sd))?;
    let clock = bus.clock_hz?;
    if clock > SD_CLOCK_MOST_HZ {
        return Some(Planned {
            risk: Risk::SlowerCard,
            commands: vec![
                run("sudo sed -i '/sd_overclock/d' /boot/firmware/config.txt"),
                run("sudo reboot"),
            ],
            undo: vec![Undo::AddLine],
            ..by_hand("bus", Why::Overclocked { clock_hz: clock, most_hz: SD_CLOCK_MOST_HZ }, 0.9)
        });
    }
    let is_old_signal = bus.signal_voltage_millivolts.is_some_and(|volts| volts > 1_800);
    (clock <= HIGH_SPEED_HZ && is_old_signal).then(|| Planned {
        commands: vec![run("cardproof identify")],
        ..by_hand("bus", Why::OldSignal { clock_hz: clock }, 0.5)
    })
}

/// What an A2 card needs that this computer could give it and does not.
fn queue_and_cache(conditions: &Conditions) -> Option<Planned> {
    let device = &conditions.device;
    let idle = idle_queue_or_cache(device).filter(|_| is_a2(device))?;
    let step = queue_step(conditions);
    let by_hand = |sure| by_hand("queue_and_cache", Why::QueueAndCache { idle, step }, sure);
    let remove = "sudo sed -i '/sd_cqe/d' /boot/firmware/config.txt";
    let planned = match step {
        QueueStep::InUse | QueueStep::NotHere | QueueStep::NotWithThisCard => return None,
        QueueStep::NewerKernel => Planned {
            commands: vec![run("sudo apt full-upgrade"), run("sudo reboot")],
            ..by_hand(0.7)
        },
        QueueStep::RemoveSetting => Planned {
            commands: vec![run(remove), run("sudo reboot")],
            undo: vec![Undo::AddLineAgain("dtparam=sd_cqe=0")],
            ..by_hand(0.8)
        },
        QueueStep::TryAtARisk => Planned {
            commands: vec![
                run(&format!("echo {TRY_ALL} | sudo tee -a /boot/firmware/config.txt")),
                run("sudo reboot"),
                run("sudo cardproof verify / --queue"),
            ],
            risk: Risk::FaultyQueue,
            undo: vec![Undo::Command(remove.to_owned()), Undo::Command("sudo reboot".to_owned())],
            ..by_hand(0.2)
        },
    };
    Some(planned)
}

fn run(command: &str) -> Command {
    Command::Run(command.to_owned())
}

fn setting_step(
    name: &str,
    step: &'static str,
    setting: Setting,
    before: &str,
    why: Why,
) -> Planned {
    let file = format!("/sys/block/{name}/queue/{}", setting.file);
    Planned {
        name: step,
        why,
        sure: 0.7,
        commands: vec![Command::Run(format!("echo {} | sudo tee {file}", setting.value))],
        gain: NoGain::BeforeAndAfter,
        risk: Risk::LostAtBoot,
        undo: vec![Undo::Command(format!("echo {before} | sudo tee {file}"))],
        applied_by: AppliedBy::Apply,
        setting: Some(setting),
        deletes_data: false,
        is_habit: false,
        brief: None,
    }
}

fn scheduler(name: &str, conditions: &Conditions) -> Option<Planned> {
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
            Why::Scheduler,
        )
    })
}

fn read_ahead(name: &str, conditions: &Conditions) -> Option<Planned> {
    let now = conditions.settings.read_ahead_bytes?;
    (now < READ_AHEAD).then(|| {
        setting_step(
            name,
            "read_ahead",
            Setting { file: "read_ahead_kb", value: (READ_AHEAD.get() >> 10).to_string() },
            &(now.get() >> 10).to_string(),
            Why::ReadAhead,
        )
    })
}

fn has(filesystem: &FilesystemInfo, option: &str) -> bool {
    filesystem.options.iter().any(|known| known == option)
}

/// Mount options of the file system of a directory, or of those on a device.
fn mount_options(place: &TuningPlace<'_>, conditions: &Conditions) -> Option<Planned> {
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
    let noatime = points.iter().map(|point| Command::Run(remount("noatime", point)));
    (!points.is_empty()).then(|| Planned {
        commands: noatime.chain([Command::Remark(Remark::UntilNextStart)]).collect(),
        undo: points.iter().map(|point| Undo::Command(remount("relatime", point))).collect(),
        ..noatime_step()
    })
}

/// The mount options of the file system that a system runs from: on the partition `main` of `ground`, or on the one that
/// the plan makes there. A Raspberry Pi's card has its system on the second partition, behind the one for the start.
pub(super) fn mount_new(ground: &Ground, main: Option<usize>) -> Planned {
    let mount = ground.mounting(main.unwrap_or(1), "noatime");
    Planned {
        commands: vec![Command::Remarked(mount, Remark::ForGood { may_be_of_pi: main.is_none() })],
        undo: vec![Undo::RemoveNoatime],
        ..noatime_step()
    }
}

fn noatime_step() -> Planned {
    Planned { risk: Risk::OldAccessTimes, ..by_hand("mount_options", Why::Noatime, 0.95) }
}
