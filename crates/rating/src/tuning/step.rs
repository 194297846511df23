//! A step of a plan: values. `words/tuning.rs` makes the sentences.

use cardproof_units::Bytes;

use super::layout::UnitFrom;
use super::{AppliedBy, Setting};
use crate::queue_and_cache::QueueState;
use crate::sd_queue::QueueStep;

/// A step of the plan.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Planned {
    /// Its name for scripts.
    pub(crate) name: &'static str,
    pub(crate) why: Why,
    /// How sure it is that it does no harm and can help, 0 to 1.
    pub(crate) sure: f64,
    /// The commands, one a line of a shell.
    pub(crate) commands: Vec<Command>,
    /// Why its gain is not measured.
    pub(crate) gain: NoGain,
    pub(crate) risk: Risk,
    /// How it is undone.
    pub(crate) undo: Vec<Undo>,
    pub(crate) applied_by: AppliedBy,
    /// The setting, if it is one.
    pub(crate) setting: Option<Setting>,
    /// Whether its commands delete data.
    pub(crate) deletes_data: bool,
    /// Whether it spares any card writes, however this one is set up: no setting of it that can be better.
    pub(crate) is_habit: bool,
    /// Its reason in a few words, where they depend on the card.
    pub(crate) brief: Option<Brief>,
}

/// The reason of a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Why {
    /// The bus runs above what SD allows.
    Overclocked {
        clock_hz: u64,
        most_hz: u64,
    },
    /// The bus runs with signals of 3.3 V.
    OldSignal {
        clock_hz: u64,
    },
    /// An A2 card needs its queue and cache.
    QueueAndCache {
        idle: QueueState,
        step: QueueStep,
    },
    Scheduler,
    ReadAhead,
    Noatime,
    Swap,
    Logs,
    Sqlite,
    Partition(UnitFrom),
    Ext4 {
        has_stride: bool,
        has_stripe_width: bool,
    },
    Journal,
    F2fs {
        /// The segments of a section; `None` where the allocation unit does not tell.
        segments: Option<u64>,
    },
    Fat,
}

/// Why a step's gain is not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoGain {
    /// `--prove` measures it.
    Provable,
    /// It shows before and after.
    BeforeAndAfter,
    /// A comparison of setups measures it.
    OfSetups,
}

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Risk {
    NoneForData,
    SlowerCard,
    /// Some cards' queues are faulty.
    FaultyQueue,
    LostAtBoot,
    OldAccessTimes,
    OutOfMemory,
    LostLogs,
    LostTransactions,
    LosesPartition,
    LosesDevice,
    /// A power cut between two commands.
    PowerCutBetween,
}

/// How a step is undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undo {
    Command(String),
    RestoreSettings,
    AddLine,
    /// Add this line again.
    AddLineAgain(&'static str),
    RemoveNoatime,
    NotPossible,
}

/// A line of a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Run(String),
    Remark(Remark),
    /// With a remark behind it.
    Remarked(String, Remark),
}

/// What is said beside commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remark {
    /// Until when a mount option holds, and how it holds for good.
    UntilNextStart,
    /// Until when swap is off, and where it is said what keeps it off.
    SwapUntilNextStart,
    /// How a mount option holds for good.
    ForGood {
        /// Whether a Raspberry Pi's system would be on another partition.
        may_be_of_pi: bool,
    },
}

/// The reason of a partition in a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Brief {
    /// It begins at the start of an allocation unit.
    AtUnit(Bytes),
    /// It begins where most cards are suited.
    SuitsMost(Bytes),
}
