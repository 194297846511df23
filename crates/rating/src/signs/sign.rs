//! A sign: something seen of a storage in use that tells of its health, with its weight.

use cardproof_record::OpName;
use serde::{Deserialize, Serialize};

/// What of the computer a sign is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SignSource {
    /// The kernel's log since the computer started.
    KernelLog,
    /// What an earlier run of the kernel left behind: the log of a crash, or the journal.
    EarlierLog,
    /// The error counters of the card's host (`err_stats` of debugfs).
    HostCounters,
    /// The table of mounted file systems.
    MountTable,
    /// The error counter that a file system keeps on the device.
    FilesystemCounter,
    /// The counters of requests of the block layer.
    RequestCounters,
    /// The device's own registers.
    Registers,
    /// The device's health report (SMART, NVMe).
    DriveReport,
    /// The board's power sensor.
    PowerSensor,
    /// Test data that was written and read back.
    ReadBack,
}

/// What was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SignKind {
    /// The device could not be put to use.
    NotUsable,
    /// Test data was read back wrong, or could not be read.
    WrongData,
    /// The device itself reports places that it cannot read or write.
    UnreadablePlaces,
    /// Requests failed for good.
    FailedRequests,
    /// Data that a program had written are lost.
    LostWrites,
    /// A file system was made read-only because of errors.
    TurnedReadOnly,
    /// A file system met errors or wrong data.
    FilesystemErrors,
    /// A file system has noted errors since its last repair.
    NotedFilesystemErrors,
    /// The device says that it fails.
    SelfReportedFailure,
    /// The device is beyond the life that its maker states.
    BeyondLife,
    /// Few spare blocks are left.
    FewSpareBlocks,
    /// The life that its maker states is nearly over.
    NearEndOfLife,
    /// The device has replaced bad blocks.
    ReplacedBlocks,
    /// The device takes no writes.
    WriteProtected,
    /// Transfers arrived with a wrong checksum and were repeated.
    WrongChecksums,
    /// The device did not answer in time.
    NoAnswer,
    /// The device remained busy.
    StuckBusy,
    /// Commands failed and were repeated.
    FailedCommands,
    /// The command queue stopped and was started again.
    QueueRestarts,
    /// The device was reset.
    Resets,
    /// The device went away while it was in use.
    WentAway,
    /// Requests failed because the device had gone.
    FailedAfterRemoval,
    /// Errors of what was in this place before another medium came.
    EarlierMedium,
    /// The link to the device has errors.
    LinkErrors,
    /// Programs waited for the device for minutes.
    LongWaits,
    /// The file system is larger than the device.
    SmallerThanItsFilesystem,
    /// A wider or faster mode of the bus did not work.
    SlowerBus,
    /// The board's supply was too low.
    UnderVoltage,
    /// A file system was not unmounted before the computer stopped.
    NotUnmounted,
    /// Requests took long on average.
    SlowRequests,
    /// Reads of an eMMC's boot area failed, which on some boards is no fault.
    FailedBootArea,
}

impl SignKind {
    /// Whether the device itself reports so that it is worn out, or soon will be.
    #[must_use]
    pub const fn is_of_wear(self) -> bool {
        matches!(self, Self::BeyondLife | Self::FewSpareBlocks | Self::NearEndOfLife)
    }
}

/// What a sign means for the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Worth knowing; says nothing bad of the storage.
    Note,
    /// Nothing is lost yet: look again soon.
    Watch,
    /// Data are at risk: copy them now.
    CopyNow,
    /// The storage cannot be used any more.
    Dead,
}

/// How sure it is that a sign means what it weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// It often has a harmless cause.
    Weak,
    /// It seldom has a harmless cause.
    Likely,
    /// The device or the kernel says so itself.
    Certain,
}

/// A sign with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sign {
    /// What was seen.
    pub kind: SignKind,
    /// Where.
    pub source: SignSource,
    /// How often; zero where it is a state and no event. The kernel leaves out repeats in its log.
    pub count: u64,
    /// What it means for the data.
    pub weight: Weight,
    /// How sure that is.
    pub certainty: Certainty,
    /// The figures.
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// The figures of a sign, as far as there are any.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// What failed, where that is one kind of request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<OpName>,
    /// The kernel's name of the partition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The type of the file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<String>,
    /// The kernel's number of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<u16>,
    /// When it was seen first, as the log prints it; a number of seconds counts from the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_at: Option<String>,
    /// When it was seen last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_at: Option<String>,
    /// The share of the life that is used, at least, in per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_percent_min: Option<u64>,
    /// The same, at most; absent where nothing bounds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_percent_max: Option<u64>,
    /// How long a request took on average, or a program waited, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

impl Sign {
    /// A sign of `kind` from `source`, counted `count` times, with its usual weight and no figures.
    #[must_use]
    pub fn new(kind: SignKind, source: SignSource, count: u64) -> Self {
        let (weight, certainty) = kind.usual();
        Self { kind, source, count, weight, certainty, evidence: Evidence::default() }
    }
}

impl SignKind {
    /// What a sign of this kind means as a rule, and how sure that is.
    #[must_use]
    pub const fn usual(self) -> (Weight, Certainty) {
        use Certainty::{Certain, Likely, Weak};
        use Weight::{CopyNow, Dead, Note, Watch};
        match self {
            Self::NotUsable => (Dead, Likely),
            Self::WrongData
            | Self::UnreadablePlaces
            | Self::LostWrites
            | Self::TurnedReadOnly
            | Self::SelfReportedFailure
            | Self::BeyondLife => (CopyNow, Certain),
            Self::FailedRequests
            | Self::FilesystemErrors
            | Self::NotedFilesystemErrors
            | Self::FewSpareBlocks => (CopyNow, Likely),
            Self::NearEndOfLife => (Watch, Certain),
            Self::ReplacedBlocks
            | Self::WriteProtected
            | Self::WrongChecksums
            | Self::NoAnswer
            | Self::StuckBusy
            | Self::FailedCommands
            | Self::QueueRestarts
            | Self::Resets
            | Self::WentAway
            | Self::FailedAfterRemoval
            | Self::LinkErrors
            | Self::SmallerThanItsFilesystem
            | Self::UnderVoltage => (Watch, Likely),
            Self::LongWaits => (Watch, Weak),
            Self::EarlierMedium => (Note, Certain),
            Self::SlowerBus | Self::NotUnmounted | Self::SlowRequests | Self::FailedBootArea => {
                (Note, Weak)
            }
        }
    }
}
