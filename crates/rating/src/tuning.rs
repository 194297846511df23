//! How a card should be set up: a plan of steps from what is known of it, of its host and of the
//! settings as they are.
//!
//! A step names its reason, how sure it is, its commands, its risk and how it is undone. No step
//! claims a gain: that is for a measurement on the user's own card. Where the allocation unit is not
//! known, 8 MiB is taken: a multiple of every unit that is a power of two up to it, and what factory
//! layouts of 4 to 32 GB use.

use cardproof_evidence::geometry::Geometry;
use cardproof_record::{Conditions, Transport};
use cardproof_units::Bytes;
use serde::Serialize;

/// Where a first partition begins if nothing is known.
pub const USUAL_UNIT: Bytes = Bytes::mib(8);

/// The page of the file system.
const FILESYSTEM_BLOCK: Bytes = Bytes::kib(4);

/// Read-ahead for a card: enough for its full rate, little enough for its small reads.
const READ_AHEAD: Bytes = Bytes::kib(512);

/// How a step can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AppliedBy {
    /// `--apply` does it.
    Apply,
    /// `--apply --destroy=IDENTITY` does it; all data are lost.
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

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuningStep {
    /// Its name for scripts.
    pub name: &'static str,
    /// Its reason.
    pub why: String,
    /// How sure it is that it does no harm and can help, 0 to 1.
    pub sure: f64,
    /// The commands, one a line of a shell.
    pub commands: Vec<String>,
    /// What it gains; measured on this card only by `--prove`.
    pub gain: Gain,
    /// What can go wrong.
    pub risk: String,
    /// How it is undone.
    pub undo: Vec<String>,
    /// How it can be done.
    pub applied_by: AppliedBy,
    /// The setting, if it is one.
    #[serde(skip)]
    pub setting: Option<Setting>,
}

/// A gain, as a ratio of rates.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    },
    /// Not measured, with the reason.
    NotMeasured {
        /// Why not.
        not_measured: String,
    },
}

impl Gain {
    fn unknown() -> Self {
        Self::NotMeasured { not_measured: "no gain is claimed without --prove".to_owned() }
    }
}

/// The place of a partition and the parameters of its file system.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Where the partition begins, and of which its size is a multiple.
    pub unit: Bytes,
    /// Its size.
    pub size: Bytes,
    /// ext4's `stride`, in blocks; `None` where the page is not known.
    pub stride: Option<u64>,
    /// ext4's `stripe-width`, in blocks; `None` where the unit is not known.
    pub stripe_width: Option<u64>,
    /// Why it is so.
    pub why: String,
    /// How sure.
    pub sure: f64,
}

impl Layout {
    /// The layout of a device of `size`; `None` where two units do not fit.
    #[must_use]
    pub fn of(size: Bytes, geometry: Option<&Geometry>, reported: Option<Bytes>) -> Option<Self> {
        let seen = geometry.and_then(|geometry| geometry.allocation_unit.claim());
        let seen_unit = geometry.and_then(|geometry| geometry.allocation_unit.bytes());
        let (unit, why, sure, is_known) = match (seen_unit, reported) {
            (Some(unit), _) => {
                let sure = seen.map_or(0.5, |claim| claim.probability);
                (unit, format!("the allocation unit measured on this card is {unit}"), sure, true)
            }
            (None, Some(unit)) if unit > Bytes::ZERO => {
                (unit, format!("the card reports an allocation unit of {unit}"), 0.9, true)
            }
            _ => (
                USUAL_UNIT,
                format!(
                    "the allocation unit is not known; {USUAL_UNIT} is a multiple of every smaller \
                     power of two"
                ),
                0.7,
                false,
            ),
        };
        // The partition begins at the unit or, where that is smaller, at the next multiple from 1 MiB
        // up, which leaves room for tables and boot loaders.
        let start = Bytes(unit.get() * Bytes::mib(1).get().div_ceil(unit.get()).max(1));
        let page = geometry.and_then(|geometry| geometry.page.bytes());
        let blocks = |bytes: Bytes| bytes.get() / FILESYSTEM_BLOCK.get();
        let length = size.saturating_sub(start).round_down_to(start);
        (length >= start).then(|| Self {
            unit: start,
            size: length,
            stride: page.map(blocks).filter(|blocks| *blocks > 0),
            stripe_width: is_known.then(|| blocks(unit)).filter(|blocks| *blocks > 0),
            why,
            sure,
        })
    }

    /// The lines that `sfdisk` reads.
    #[must_use]
    pub fn sfdisk_script(&self) -> String {
        let sectors = |bytes: Bytes| bytes.get() / 512;
        format!(
            "label: dos\nunit: sectors\nstart={}, size={}, type=83\n",
            sectors(self.unit),
            sectors(self.size)
        )
    }

    /// ext4's extended options.
    #[must_use]
    pub fn extended_options(&self) -> Option<String> {
        let stride = self.stride.map(|blocks| format!("stride={blocks}"));
        let width = self.stripe_width.map(|blocks| format!("stripe_width={blocks}"));
        let both: Vec<String> = stride.into_iter().chain(width).collect();
        (!both.is_empty()).then(|| both.join(","))
    }
}

/// The steps for the device `name`, which is at `path`.
#[must_use]
pub fn tuning_plan(
    path: &str,
    name: Option<&str>,
    conditions: &Conditions,
    geometry: Option<&Geometry>,
) -> Vec<TuningStep> {
    let card = conditions.device.card.as_ref();
    let reported = card.and_then(|card| card.allocation_unit_bytes);
    let size = conditions.device.size_bytes.unwrap_or(Bytes::ZERO);
    let mut steps = Vec::new();
    if let Some(layout) = Layout::of(size, geometry, reported) {
        steps.push(partition(path, &layout));
        steps.push(filesystem(path, &layout));
    }
    steps.extend(name.and_then(|name| scheduler(name, conditions)));
    steps.extend(name.and_then(|name| read_ahead(name, conditions)));
    steps.extend(mount_options(conditions));
    steps.extend(habits());
    steps
}

fn partition(path: &str, layout: &Layout) -> TuningStep {
    let script = layout.sfdisk_script().trim_end().replace('\n', "\\n");
    TuningStep {
        name: "partition",
        why: format!(
            "a partition that begins inside an allocation unit makes the card work on two where one \
             would do; {}",
            layout.why
        ),
        sure: layout.sure,
        commands: vec![format!("printf '{script}\\n' | sfdisk {path}")],
        gain: Gain::unknown(),
        risk: "all data on the device are lost".to_owned(),
        undo: vec!["restore a backup; what was there is lost".to_owned()],
        applied_by: AppliedBy::Destroy,
        setting: None,
    }
}

fn filesystem(path: &str, layout: &Layout) -> TuningStep {
    let options =
        layout.extended_options().map_or_else(String::new, |known| format!("-E {known} "));
    let first = if path.ends_with(|last: char| last.is_ascii_digit()) {
        format!("{path}p1")
    } else {
        format!("{path}1")
    };
    TuningStep {
        name: "filesystem",
        why: "ext4 with its journal keeps what was synced through a power cut; stride (page / 4 KiB) \
              and stripe-width (allocation unit / 4 KiB) spread its tables over units. No controlled \
              measurement of the gain is published"
            .to_owned(),
        sure: 0.6,
        commands: vec![format!("mkfs.ext4 {options}{first}")],
        gain: Gain::unknown(),
        risk: "all data in the partition are lost".to_owned(),
        undo: vec!["restore a backup; what was there is lost".to_owned()],
        applied_by: AppliedBy::Destroy,
        setting: None,
    }
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
        commands: vec![format!("echo {} > {file}", setting.value)],
        gain: Gain::unknown(),
        risk: "none for data; it lasts until the next start".to_owned(),
        undo: vec![format!("echo {before} > {file}")],
        applied_by: AppliedBy::Apply,
        setting: Some(setting),
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
            "writes on a card take long; mq-deadline lets reads go before them, so that programs wait \
             less",
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
            "each read command costs the same time beside its data; longer ones cost less a byte when \
             files are read from front to back",
        )
    })
}

fn mount_options(conditions: &Conditions) -> Option<TuningStep> {
    let filesystem = conditions.filesystem.as_ref()?;
    let has = |option: &str| filesystem.options.iter().any(|known| known == option);
    (!has("noatime")).then(|| TuningStep {
        name: "mount_options",
        why: "with noatime, reading a file writes nothing".to_owned(),
        sure: 0.95,
        commands: vec!["mount -o remount,noatime MOUNTPOINT".to_owned()],
        gain: Gain::unknown(),
        risk: "programs that look at access times (some mail readers) see old ones".to_owned(),
        undo: vec!["mount -o remount,relatime MOUNTPOINT".to_owned()],
        applied_by: AppliedBy::Hand,
        setting: None,
    })
}

/// What is true of every card.
fn habits() -> [TuningStep; 4] {
    let step = |name, why: &str, sure, commands: &[&str], risk: &str, undo: &[&str]| TuningStep {
        name,
        why: why.to_owned(),
        sure,
        commands: commands.iter().map(|&command| command.to_owned()).collect(),
        gain: Gain::unknown(),
        risk: risk.to_owned(),
        undo: undo.iter().map(|&command| command.to_owned()).collect(),
        applied_by: AppliedBy::Hand,
        setting: None,
    };
    [
        step(
            "journal",
            "64 MiB are enough for the journal of a card; a larger one only spreads its writes. It \
             stays on the card: a journal elsewhere makes two devices needed",
            0.6,
            &["mkfs.ext4 -J size=64 PARTITION"],
            "all data in the partition are lost",
            &["restore a backup"],
        ),
        step(
            "swap",
            "swapping to a card is slow and wears it; compressed memory is neither",
            0.85,
            &["apt install zram-tools", "swapoff -a"],
            "less memory is left for what does not compress",
            &["swapon -a", "apt remove zram-tools"],
        ),
        step(
            "logs",
            "logs in memory spare the card many small synced writes",
            0.7,
            &[
                "mkdir -p /etc/systemd/journald.conf.d",
                "printf '[Journal]\\nStorage=volatile\\n' > /etc/systemd/journald.conf.d/volatile.conf",
                "systemctl restart systemd-journald",
            ],
            "at a power cut or a crash all logs since the start are lost, those of its cause too",
            &[
                "rm /etc/systemd/journald.conf.d/volatile.conf",
                "systemctl restart systemd-journald",
            ],
        ),
        step(
            "sqlite",
            "SQLite in WAL mode syncs once where its rollback journal syncs several times",
            0.85,
            &["sqlite3 FILE 'PRAGMA journal_mode=WAL;'"],
            "with synchronous=NORMAL the last transactions before a power cut can be lost; the database \
             stays whole",
            &["sqlite3 FILE 'PRAGMA journal_mode=DELETE;'"],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardproof_evidence::geometry::{Observations, infer};

    fn conditions() -> Conditions {
        let mut conditions = cardproof_testkit::records::typical_a1_card().conditions;
        conditions.device.size_bytes = Some(Bytes::gib(8));
        conditions.device.transport = Some(Transport::Sd);
        conditions.settings.scheduler = Some("none".to_owned());
        conditions.settings.read_ahead_bytes = Some(Bytes::kib(128));
        conditions
    }

    #[test]
    fn partitions_begin_and_end_at_the_unit_and_say_why() {
        let cases = [
            (None, Bytes::mib(8), "not known"),
            (Some(Bytes::mib(4)), Bytes::mib(4), "reports"),
            (Some(Bytes::mib(24)), Bytes::mib(24), "reports"),
            (Some(Bytes::kib(512)), Bytes::mib(1), "reports"),
        ];
        for (reported, start, why) in cases {
            let layout = Layout::of(Bytes::gib(8), None, reported).unwrap();
            assert_eq!(layout.unit, start);
            assert!(
                layout.size.is_multiple_of(start) && layout.unit + layout.size <= Bytes::gib(8)
            );
            assert!(layout.why.contains(why), "{}", layout.why);
        }
        assert_eq!(Layout::of(Bytes::mib(8), None, None), None, "too small");
    }

    #[test]
    fn nothing_is_guessed_into_the_file_system() {
        let nothing = infer(&Observations::default());
        let layout = Layout::of(Bytes::gib(8), Some(&nothing), None).unwrap();
        assert_eq!(layout.extended_options(), None);
        let layout = Layout::of(Bytes::gib(8), None, Some(Bytes::mib(4))).unwrap();
        assert_eq!(layout.extended_options().as_deref(), Some("stripe_width=1024"));
    }

    #[test]
    fn no_step_claims_a_gain_that_was_not_measured() {
        let steps = tuning_plan("/dev/mmcblk0", Some("mmcblk0"), &conditions(), None);
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
}
