//! How a card should be set up: a plan of steps from what is known of it, of its host and of the
//! settings as they are.
//!
//! A step names its reason, how sure it is, its commands, its risk and how it is undone. No step
//! claims a gain: that is for a measurement on the user's own card. Where the allocation unit is not
//! known, 8 MiB is taken: a multiple of every unit that is a power of two up to it, and what factory
//! layouts of 4 to 32 GB use.

mod ground;
mod habits;
mod host;
mod layout;
mod step;
mod storage;

use std::path::{Path, PathBuf};

use cardproof_evidence::geometry::Geometry;
use cardproof_record::{Conditions, FilesystemInfo};
use cardproof_units::Bytes;
use serde::Serialize;

pub use ground::Ground;
pub(crate) use host::{Kept, kept};
pub(crate) use layout::JOURNAL_MIB;
pub use layout::{Layout, USUAL_UNIT, UnitFrom};
pub(crate) use step::{Brief, Command, NoGain, Planned, Remark, Risk, Undo, Why};

/// The name and version of the published form.
pub const TUNING_SCHEMA: &str = "cardproof.tuning/1";

/// How a step can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AppliedBy {
    /// `--apply` does it.
    Apply,
    /// `--apply --destroy` does it; all data are lost.
    Destroy,
    /// The user does it.
    Hand,
}

/// A setting of the kernel, which `--apply` writes and `--undo` writes back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its file below `/sys/block/NAME/queue`.
    pub file: &'static str,
    /// Its new value.
    pub value: String,
}

/// A gain, as a ratio of rates.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(untagged)]
pub enum Gain {
    /// Measured on this card, before and after in turn.
    Measured {
        /// The rate after over the rate before.
        ratio: f64,
        /// The interval's lower end.
        low: f64,
        /// The interval's upper end.
        high: f64,
        /// The interval's confidence.
        confidence: f64,
        /// Whether the interval excludes that nothing was gained.
        is_gain: bool,
        /// Where the partition begins before, in bytes from the device's start.
        before_start_bytes: Bytes,
        /// Where it begins after.
        after_start_bytes: Bytes,
    },
    /// Not measured, with the reason.
    NotMeasured {
        /// Why not.
        not_measured: String,
    },
}

/// What a plan is for.
#[derive(Clone, Debug, Default)]
pub struct TuningPlace<'p> {
    /// What can be laid out; for a directory nothing.
    pub ground: Option<Ground>,
    /// The kernel's name of the device.
    pub name: Option<&'p str>,
    /// Where the file system is mounted.
    pub mount_point: Option<&'p Path>,
    /// The number of the partition that a system runs from, where there are partitions: the largest.
    pub main_partition: Option<usize>,
    /// The file systems that lie on the device, of a directory none: that is among its conditions.
    pub mounts: &'p [Mounted],
}

/// A mounted file system.
#[derive(Clone, Debug, PartialEq)]
pub struct Mounted {
    /// Where it is mounted.
    pub point: PathBuf,
    /// The file system with its options.
    pub filesystem: FilesystemInfo,
}

/// The steps for `place`, of which so much is known. Steps whose place is not known are left out.
pub(crate) fn plan(
    place: &TuningPlace<'_>,
    conditions: &Conditions,
    geometry: Option<&Geometry>,
) -> Vec<Planned> {
    let card = conditions.device.card.as_ref();
    let reported = card.and_then(|card| card.allocation_unit_bytes);
    let size = conditions.device.size_bytes.unwrap_or(Bytes::ZERO);
    let block = conditions.target.logical_block_bytes;
    let layout = place.ground.as_ref().zip(Layout::new(size, geometry, reported));
    let mut steps =
        layout.map_or_else(Vec::new, |(ground, layout)| storage::steps(ground, &layout, block));
    steps.extend(host::steps(place, conditions));
    // What is laid out anew is mounted anew.
    if let Some(ground) = place.ground.as_ref().filter(|_| !steps.is_empty())
        && conditions.filesystem.is_none()
        && place.mounts.is_empty()
    {
        steps.push(host::mount_new(ground, place.main_partition));
    }
    steps.extend(habits::steps());
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::tuning::{TuningStep, settings_to_keep, tuning_plan};
    use cardproof_record::{Feature, Transport};

    #[test]
    fn a_step_for_an_image_is_more_than_a_remark() {
        let ground = Some(Ground::of_image(Path::new("card.img")));
        let place = TuningPlace { ground, ..TuningPlace::default() };
        let mut conditions = cardproof_testkit::records::typical_a1_card().conditions;
        conditions.filesystem = None;
        let steps = tuning_plan(&place, &conditions, None);
        assert!(steps.iter().any(|step| step.name == "partition"), "{steps:?}");
        let says_something = |step: &TuningStep| {
            step.commands.is_empty() || step.commands.iter().any(|it| !it.starts_with('#'))
        };
        let laid_out = steps.iter().filter(|step| step.name == "mount_options");
        assert!(laid_out.clone().all(says_something), "{steps:?}");
        assert_eq!(laid_out.count(), 1);
    }

    fn place(name: &str) -> TuningPlace<'_> {
        let ground = Some(Ground::of_device(&Path::new("/dev").join(name)));
        let mount_point = Some(Path::new("/media/pi/my card"));
        TuningPlace { ground, name: Some(name), mount_point, ..TuningPlace::default() }
    }

    fn conditions() -> Conditions {
        let mut conditions = cardproof_testkit::records::typical_a1_card().conditions;
        conditions.device.size_bytes = Some(Bytes::gib(8));
        conditions.device.transport = Some(Transport::Sd);
        conditions.settings.scheduler = Some("none".to_owned());
        conditions.settings.read_ahead_bytes = Some(Bytes::kib(128));
        conditions
    }

    #[test]
    fn what_is_good_is_named_and_what_a_step_changes_is_not() {
        let mut conditions = conditions();
        conditions.device.transport = Some(Transport::Sd);
        conditions.settings.scheduler = Some("mq-deadline".to_owned());
        let steps = tuning_plan(&place("mmcblk0"), &conditions, None);
        let kept = settings_to_keep(&conditions, &steps);
        assert!(kept.contains(&"I/O scheduler mq-deadline".to_owned()), "{kept:?}");
        assert!(!kept.iter().any(|it| it.contains("read-ahead")), "a step changes it: {kept:?}");
        conditions.settings.scheduler = Some("bfq".to_owned());
        let steps = tuning_plan(&place("mmcblk0"), &conditions, None);
        let kept = settings_to_keep(&conditions, &steps);
        assert!(!kept.iter().any(|it| it.contains("scheduler")), "{kept:?}");
    }

    #[test]
    fn no_step_claims_a_gain_that_was_not_measured() {
        let steps = tuning_plan(&place("mmcblk0"), &conditions(), None);
        let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
        for name in ["partition", "filesystem", "scheduler", "read_ahead", "swap", "logs"] {
            assert!(names.contains(&name), "{names:?}");
        }
        for step in &steps {
            assert!(matches!(step.gain, Gain::NotMeasured { .. }), "{}", step.name);
            assert!(!step.risk.is_empty() && !step.undo.is_empty() && !step.why.is_empty());
        }
        let json = serde_json::to_value(&steps[0]).unwrap();
        for key in ["why", "commands", "gain", "risk", "undo"] {
            assert!(json.get(key).is_some(), "{key}");
        }
    }

    #[test]
    fn two_steps_never_make_a_file_system_one_over_the_other_by_apply() {
        let steps = tuning_plan(&place("sda"), &conditions(), None);
        let applied = steps.iter().filter(|step| step.applied_by == AppliedBy::Destroy);
        let made = applied.flat_map(|step| &step.commands).filter(|line| line.contains("mkfs"));
        assert_eq!(made.count(), 1);
    }

    #[test]
    fn a_file_system_gets_the_known_allocation_unit() {
        let mut conditions = conditions();
        conditions.device.size_bytes = Some(Bytes::gib(60));
        let card = conditions.device.card.get_or_insert_default();
        card.allocation_unit_bytes = Some(Bytes::mib(8));
        let steps = tuning_plan(&place("sda"), &conditions, None);
        let command = |name: &str| {
            let step = steps.iter().find(|step| step.name == name).unwrap();
            step.commands.join("\n")
        };
        assert_eq!(
            command("filesystem"),
            "sudo mkfs.ext4 -J size=64 -E stripe_width=2048 /dev/sda1"
        );
        assert_eq!(command("filesystem_f2fs"), "sudo mkfs.f2fs -s 4 /dev/sda1");
        assert_eq!(command("filesystem_fat"), "sudo mkfs.exfat -c 128K -b 8192K /dev/sda1");
    }

    #[test]
    fn a_mount_is_named_in_the_command_that_changes_it() {
        let mut conditions = conditions();
        conditions.filesystem.get_or_insert_default().options = vec!["relatime".to_owned()];
        let steps = tuning_plan(&place("sda"), &conditions, None);
        let step = steps.iter().find(|step| step.name == "mount_options").unwrap();
        assert_eq!(step.commands[0], "sudo mount -o remount,noatime '/media/pi/my card'");
        assert_eq!(step.undo, ["sudo mount -o remount,relatime '/media/pi/my card'"]);
    }

    #[test]
    fn the_mounts_of_a_device_are_looked_at_and_a_new_card_is_told_of_noatime() {
        let mut conditions = conditions();
        conditions.filesystem = None;
        let commands = |mounts: &[Mounted]| {
            let steps = tuning_plan(&TuningPlace { mounts, ..place("sda") }, &conditions, None);
            let step = steps.into_iter().find(|step| step.name == "mount_options");
            step.map(|step| step.commands.join("\n"))
        };
        assert!(commands(&[]).unwrap().starts_with("sudo mount -o noatime /dev/sda1 MOUNTPOINT "));
        let of_pi = TuningPlace { main_partition: Some(2), ..place("mmcblk0") };
        let steps = tuning_plan(&of_pi, &conditions, None);
        let step = steps.iter().find(|step| step.name == "mount_options").unwrap();
        assert!(step.commands[0].contains(" /dev/mmcblk0p2 "), "{:?}", step.commands);
        let mounted = |point: &str, option: &str| Mounted {
            point: point.into(),
            filesystem: FilesystemInfo {
                options: vec!["rw".to_owned(), option.to_owned()],
                ..FilesystemInfo::default()
            },
        };
        let told = commands(&[mounted("/", "relatime"), mounted("/boot", "noatime")]).unwrap();
        assert!(told.starts_with("sudo mount -o remount,noatime /\n#"), "{told}");
        assert_eq!(commands(&[mounted("/", "noatime")]), None);
        assert_eq!(commands(&[mounted("/", "ro")]), None, "nothing is written there");
    }

    #[test]
    fn a_block_is_only_named_where_its_size_is_known() {
        let mut conditions = conditions();
        let brief = |conditions: &Conditions| {
            let steps = tuning_plan(&place("sda"), conditions, None);
            let step = steps.into_iter().find(|step| step.name == "partition").unwrap();
            assert!(step.why.contains("Raspberry Pi Imager"), "{}", step.why);
            step.brief.unwrap()
        };
        assert_eq!(brief(&conditions), "begins at 8 MiB, which suits most cards");
        let card = conditions.device.card.get_or_insert_default();
        card.allocation_unit_bytes = Some(Bytes::mib(4));
        assert_eq!(brief(&conditions), "begins at 4 MiB, the start of an allocation unit");
    }

    #[test]
    fn a_bus_that_is_risky_or_slow_and_an_idle_queue_are_steps() {
        let names = |conditions: &Conditions| {
            let steps = tuning_plan(&place("mmcblk0"), conditions, None);
            steps.into_iter().map(|step| step.name).collect::<Vec<_>>()
        };
        let mut conditions = conditions();
        let bus = conditions.device.bus.get_or_insert_default();
        (bus.clock_hz, bus.signal_voltage_millivolts) = (Some(250_000_000), Some(1_800));
        assert!(names(&conditions).contains(&"bus"), "overclocked");
        let bus = conditions.device.bus.get_or_insert_default();
        bus.clock_hz = Some(200_000_000);
        assert!(!names(&conditions).contains(&"bus"), "as it should be");
        let bus = conditions.device.bus.get_or_insert_default();
        (bus.clock_hz, bus.signal_voltage_millivolts) = (Some(50_000_000), Some(3_300));
        assert!(names(&conditions).contains(&"bus"), "old signals");
        let card = conditions.device.card.get_or_insert_default();
        card.claims.application_class = Some(2);
        card.command_queue =
            Feature { card: Some(true), kernel: Some(false), ..Feature::default() };
        assert!(!names(&conditions).contains(&"queue_and_cache"), "this kernel cannot");
        conditions.host.board = Some("Raspberry Pi 5 Model B Rev 1.0".to_owned());
        let card = conditions.device.card.get_or_insert_default();
        card.command_queue.kernel = Some(true);
        card.command_queue.enabled = Some(false);
        assert!(names(&conditions).contains(&"queue_and_cache"));
    }

    /// The value 1 is the default, and without a value the line means 1: neither does anything.
    #[test]
    fn no_step_sets_the_command_queue_to_its_default() {
        let mut conditions = conditions();
        conditions.host.board = Some("Raspberry Pi 5 Model B Rev 1.0".to_owned());
        let card = conditions.device.card.get_or_insert_default();
        card.claims.application_class = Some(2);
        for is_trusted in [true, false] {
            let card = conditions.device.card.get_or_insert_default();
            card.command_queue = Feature { enabled: Some(false), ..Feature::default() };
            card.queue_is_trusted = Some(is_trusted);
            let steps = tuning_plan(&place("mmcblk0"), &conditions, None);
            let step = steps.into_iter().find(|step| step.name == "queue_and_cache").unwrap();
            let sets = step.commands.iter().any(|command| command.contains("sd_cqe=2"));
            assert_eq!(sets, !is_trusted, "{step:?}");
            assert!(is_trusted || step.risk.contains("read back wrong"), "{step:?}");
        }
    }
}
