//! The steps that may come next: values with their figures. `words/advice.rs` makes the sentences.

use cardproof_units::{Bytes, Throughput};

use crate::capacity::Capacity;
use crate::defect_kind::DefectKind;
use crate::meaning::Grade;
use crate::quantity::Rate;
use crate::sd_queue::QueueStep;

use super::card::Trimming;

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    // To protect data.
    WrongData(Elsewhere),
    OfCapacity(Box<Capacity>),
    OfDefect(DefectKind),
    LosesDataInPowerCuts,
    CutsTestedNothing,
    FailedInFirstCycle,
    WornOut,
    OperationsFailed(Option<OtherWay>),
    VerifyCapacity(Bytes),
    SpeedTellsNoFake,
    // After a test of a queue or of discards.
    QueueCorrupts,
    WrongDataWithoutQueue,
    WrongDataWithoutDiscards,
    WrongDataOfUnknownCause,
    DeviceErrors,
    LetTestEnd,
    QueueNotTested,
    DoNotTrim,
    TrimHasNoEffect,
    CannotTrim,
    NoHarm,
    MorePowerCuts,
    // After a test of the endurance.
    TestAnotherCard,
    GoOn(GoOn),
    // For a sound measurement.
    MeasuredMemory,
    RunOutsideOfContainers,
    OtherFilesystem,
    WithoutPageCache,
    AboveBusLimit,
    RunToItsEnd {
        /// How long a run takes; `None` where it is not known.
        seconds: Option<f64>,
        is_repeated: bool,
    },
    CheckRangeCut {
        least: Bytes,
        whole: Bytes,
    },
    CheckRangeSmall {
        least: Bytes,
        /// Whether a file was checked, and is too small itself.
        is_file: bool,
    },
    RangeCut {
        least: Bytes,
        whole: Bytes,
    },
    RangeSmall {
        least: Bytes,
        room: Room,
        is_directory: bool,
    },
    NameDirectory,
    RunInPeace,
    CheckAgain {
        is_simulated: bool,
    },
    RunAgain {
        is_simulated: bool,
        how: Again,
    },
    TestOtherClass {
        rule: &'static str,
        profile: &'static str,
    },
    /// How A2 can be tested.
    TestA2(QueueStep),
    MeasureWithIntervals {
        /// The tool whose figures can be compared.
        tool: Option<String>,
    },
    GeometryNeedsRange {
        needed: Bytes,
        room: Room,
    },
    MeasureInPeace,
    // For a faster system.
    CloseToBusLimit {
        rate: Rate,
        limit: Throughput,
        has_other_reader: bool,
    },
    StorageStops(Trimming),
    ReplaceSlow {
        may_be_sold_as_a1: bool,
    },
    MeasureInOtherPort,
    MeasureElsewhereToBeSure,
    MeasureElsewhere,
    ChooseFaster {
        /// The grade for a system.
        system: Grade,
    },
    PlanByGeometry {
        /// As a user types it.
        device: String,
    },
    UsualValuesSuit,
    // Where nothing went wrong.
    NothingCompared,
    MeasureStorage,
    CutThePower,
    JobWaited,
    NoRequestIsFelt,
    KeepRecord,
}

/// Whether a range finds room in what was tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// It does, or may.
    Enough,
    /// The file is smaller.
    FileSmaller,
    /// The storage is smaller; its size.
    StorageSmaller(Bytes),
}

/// Where else a storage can be tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elsewhere {
    /// It cannot be taken out.
    Nowhere,
    Reader,
    ReaderOrPort,
}

/// What else may be to blame where operations failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherWay {
    Reader,
    Cable,
}

/// How the test of a card that did not fail goes on. A simulated card is new each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GoOn {
    Simulated,
    LargerCycles,
    SameCommand,
}

/// What gives a clearer result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    MoreRuns,
    /// The profile has written as much as it may.
    StandardProfile,
    MoreTime,
}
