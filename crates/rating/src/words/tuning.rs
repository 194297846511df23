//! The steps of a plan in sentences.

use std::fmt;

use cardproof_evidence::geometry::Geometry;
use cardproof_record::Conditions;
use serde::Serialize;

use crate::sd_queue::QueueStep;
use crate::tuning::{
    AppliedBy, Brief, Command, Gain, JOURNAL_MIB, Kept, NoGain, Planned, Remark, Risk, Setting,
    TUNING_SCHEMA, TuningPlace, USUAL_UNIT, Undo, UnitFrom, Why, kept, plan,
};

use super::sd_queue::RISK;

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct TuningStep {
    /// Its name for scripts.
    pub name: &'static str,
    /// Its reason.
    pub why: String,
    /// How sure it is that it does no harm and can help, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
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
    /// Whether its commands delete data.
    #[serde(skip)]
    pub deletes_data: bool,
    /// Whether it spares any card writes, however this one is set up: no setting of it that can be better.
    #[serde(skip)]
    pub is_habit: bool,
    /// Its reason in a few words, where they depend on the card.
    #[serde(skip)]
    pub brief: Option<String>,
}

/// The published form: the plan of `tune --json`; with --undo what was restored, and no steps.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct TuningDocument<'d> {
    /// Name and version of this form.
    schema: &'static str,
    /// The steps, in order.
    steps: &'d [TuningStep],
    /// What --apply has done, in sentences.
    applied: &'d [String],
    /// What --undo has restored, in sentences; absent without --undo.
    #[serde(skip_serializing_if = "Option::is_none")]
    restored: Option<&'d [String]>,
}

impl<'d> TuningDocument<'d> {
    /// The plan of these `steps`, of which `applied` was done.
    #[must_use]
    pub const fn of_plan(steps: &'d [TuningStep], applied: &'d [String]) -> Self {
        Self { schema: TUNING_SCHEMA, steps, applied, restored: None }
    }

    /// That so much was restored.
    #[must_use]
    pub const fn of_undo(restored: &'d [String]) -> Self {
        Self { schema: TUNING_SCHEMA, steps: &[], applied: &[], restored: Some(restored) }
    }
}

/// What a plan of one partition does not give (Raspberry Pi documentation, "Boot folder contents"; Raspberry Pi Imager).
const BOOT_PARTITION: &str =
    "A Raspberry Pi card needs a FAT boot partition: Raspberry Pi Imager makes it";

/// The steps for `place`, of which so much is known. Steps whose place is not known are left out.
#[must_use]
pub fn tuning_plan(
    place: &TuningPlace<'_>,
    conditions: &Conditions,
    geometry: Option<&Geometry>,
) -> Vec<TuningStep> {
    plan(place, conditions, geometry).into_iter().map(in_words).collect()
}

/// The settings of the host that were looked at and that none of `steps` changes, in a few words each.
#[must_use]
pub fn settings_to_keep(conditions: &Conditions, steps: &[TuningStep]) -> Vec<String> {
    let is_kept = |name: &str| !steps.iter().any(|step| step.name == name);
    kept(conditions, is_kept).iter().map(ToString::to_string).collect()
}

fn in_words(planned: Planned) -> TuningStep {
    TuningStep {
        name: planned.name,
        why: planned.why.to_string(),
        sure: planned.sure,
        commands: planned.commands.iter().map(ToString::to_string).collect(),
        gain: Gain::NotMeasured { not_measured: planned.gain.words().to_owned() },
        risk: planned.risk.words().to_owned(),
        undo: planned.undo.iter().map(ToString::to_string).collect(),
        applied_by: planned.applied_by,
        setting: planned.setting,
        deletes_data: planned.deletes_data,
        is_habit: planned.is_habit,
        brief: planned.brief.map(|brief| brief.to_string()),
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mhz = |hertz: &u64| hertz / 1_000_000;
        match self {
            Self::Overclocked { clock_hz, most_hz } => write!(
                f,
                "the bus runs at {} MHz, and no SD mode is faster than {} MHz: an overclocked bus \
                 can corrupt data without an error",
                mhz(clock_hz),
                mhz(most_hz)
            ),
            Self::OldSignal { clock_hz } => write!(
                f,
                "the bus runs at {} MHz with signals of 3.3 V and carries at most 25 MB/s. If host and \
                 card can switch to 1.8 V, the card was not reset at the last start: switch the power \
                 off and on. If the host cannot, a USB 3 reader is faster",
                mhz(clock_hz)
            ),
            Self::QueueAndCache { idle, step } => {
                let rest = queue(*step);
                write!(
                    f,
                    "an A2 card reaches its class only with command queue and cache, and {idle}. {rest}"
                )
            }
            Self::Scheduler => f.write_str(
                "writes to a card are slow; mq-deadline prefers reads, so that programs wait less",
            ),
            Self::ReadAhead => f.write_str(
                "each read command has a fixed cost, so longer commands are faster when files are read \
                 sequentially",
            ),
            Self::Noatime => f.write_str("with noatime, reading a file writes nothing"),
            Self::Swap => f.write_str(
                "swapping to a card is slow and wears the card; compressed memory (zram) avoids both",
            ),
            Self::Logs => {
                f.write_str("logs in memory avoid many small synced writes to the card")
            }
            Self::Sqlite => f.write_str(
                "SQLite in WAL mode syncs once where its rollback journal syncs several times",
            ),
            Self::Partition(from) => write!(
                f,
                "a partition that begins inside an allocation unit causes extra writes; {from}. {BOOT_PARTITION}"
            ),
            Self::Ext4 { has_stride, has_stripe_width } => {
                let spread = spread(*has_stride, *has_stripe_width);
                write!(
                    f,
                    "ext4 with a journal keeps synced data after a power cut. A journal of {JOURNAL_MIB} MiB \
                     is enough for a card. {spread}"
                )
            }
            Self::Journal => write!(
                f,
                "an existing ext4 keeps its data and gets a journal of {JOURNAL_MIB} MiB, instead of \
                 a new file system. Keep the journal on the card: with an external journal, \
                 the system needs two devices"
            ),
            Self::F2fs { segments } => {
                let why = match segments {
                    Some(segments) => format!(
                        "a section of {segments} segments of 2 MiB is one allocation unit, so that F2FS \
                         cleans whole units"
                    ),
                    None => "sections keep their default size, because the allocation unit is unknown or is not a multiple \
                             of 2 MiB"
                        .to_owned(),
                };
                write!(
                    f,
                    "use it instead of ext4 if small synced writes matter most: F2FS writes them sequentially; \
                     {why}. Measure both with cardproof compare-setups"
                )
            }
            Self::Fat => f.write_str(
                "for cameras, consoles and other systems: FAT up to 32 GB, exFAT above. Large clusters keep \
                 files together, but FAT32 needs at least 65,525 of them; the data area begins at an allocation \
                 unit where that is known",
            ),
        }
    }
}

/// What can be done for a card's queue.
const fn queue(step: QueueStep) -> &'static str {
    match step {
        QueueStep::InUse | QueueStep::NotHere | QueueStep::NotWithThisCard => "",
        QueueStep::NewerKernel => {
            "The list of working cards of newer kernels of Raspberry Pi has this card"
        }
        QueueStep::RemoveSetting => {
            "The kernel's list of working cards has this card, and the boot settings switch \
             the queue off"
        }
        QueueStep::TryAtARisk => {
            "By default this kernel uses the queue only with cards on its list of working ones, \
             and this card is not on it"
        }
    }
}

/// What the options of ext4 do for its tables.
const fn spread(has_stride: bool, has_stripe_width: bool) -> &'static str {
    match (has_stride, has_stripe_width) {
        (true, true) => {
            "The options stride (page / 4 KiB) and stripe_width (allocation unit / 4 KiB) spread the tables of ext4 \
             over allocation units"
        }
        (false, true) => {
            "The option stripe_width (allocation unit / 4 KiB) spreads the tables of ext4 over allocation \
             units; stride is left out because the page size is unknown"
        }
        (true, false) => {
            "The option stride (page / 4 KiB) is given; stripe_width is left out because the allocation unit is \
             unknown"
        }
        (false, false) => {
            "The options stride and stripe_width are left out because page size and allocation unit are unknown"
        }
    }
}

impl fmt::Display for UnitFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured(unit) => {
                write!(f, "the allocation unit measured on this card is {unit}")
            }
            Self::Reported(unit) => write!(f, "the card reports an allocation unit of {unit}"),
            Self::Usual => write!(
                f,
                "the allocation unit is unknown, so the partition begins at {USUAL_UNIT}, which suits \
                 all units up to {USUAL_UNIT}"
            ),
        }
    }
}

impl NoGain {
    const fn words(self) -> &'static str {
        match self {
            Self::Provable => "use --prove to measure it",
            Self::BeforeAndAfter => "run cardproof before and after, and compare",
            Self::OfSetups => "cardproof compare-setups compares file systems and journal modes",
        }
    }
}

impl Risk {
    const fn words(self) -> &'static str {
        match self {
            Self::NoneForData => "none for data",
            Self::SlowerCard => "none; the card may be slower than before",
            Self::FaultyQueue => RISK,
            Self::LostAtBoot => "none for data; the setting is lost at the next boot",
            Self::OldAccessTimes => {
                "programs that look at access times (some mail readers) see old ones"
            }
            Self::OutOfMemory => {
                "programs may run out of memory if their data does not compress; swapoff holds until the next start. \
                 To keep swap off the card: with dphys-swapfile (older Raspberry Pi OS) `sudo systemctl disable \
                 dphys-swapfile`; with rpi-swap (newer) choose zram as `man swap.conf` says; elsewhere take the line \
                 with swap out of /etc/fstab"
            }
            Self::LostLogs => {
                "each restart deletes the logs, and a crash or a power cut those that show its cause"
            }
            Self::LostTransactions => {
                "if the program also sets synchronous=NORMAL, a power cut can lose the last transactions; \
                 the database stays whole"
            }
            Self::LosesPartition => "all data in the partition are lost",
            Self::LosesDevice => "all data on the device are lost",
            Self::PowerCutBetween => {
                "a power cut between the two commands can damage the file system; unmount it before you run them"
            }
        }
    }
}

impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => f.write_str(command),
            Self::RestoreSettings => f.write_str("restore the earlier settings"),
            Self::AddLine => f.write_str("add the line again"),
            Self::AddLineAgain(line) => write!(f, "add the line {line} again"),
            Self::RemoveNoatime => f.write_str("remove noatime from its options"),
            Self::NotPossible => f.write_str("not possible; restore from a backup"),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(command) => f.write_str(command),
            Self::Remark(remark) => write!(f, "# {remark}"),
            Self::Remarked(command, remark) => write!(f, "{command}   # {remark}"),
        }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UntilNextStart => f.write_str(
                "until the next start; for good: add noatime to its options in /etc/fstab",
            ),
            Self::SwapUntilNextStart => f.write_str("until the next start (see --details)"),
            Self::ForGood { may_be_of_pi } => {
                let of_pi =
                    if *may_be_of_pi { "a Raspberry Pi system is on partition 2; " } else { "" };
                write!(f, "{of_pi}for good: add noatime to its line in /etc/fstab")
            }
        }
    }
}

impl fmt::Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtUnit(unit) => write!(f, "begins at {unit}, the start of an allocation unit"),
            Self::SuitsMost(unit) => write!(f, "begins at {unit}, which suits most cards"),
        }
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheduler(now) => write!(f, "I/O scheduler {now}"),
            Self::ReadAhead(now) => write!(f, "read-ahead {now}"),
            Self::Noatime => f.write_str("noatime"),
            Self::ReadOnly => f.write_str("mounted read-only"),
        }
    }
}
