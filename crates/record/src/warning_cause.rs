//! What raises a doubt, as values with their figures, and the sentence of each.
//!
//! Rules and tables compare the values. The sentence stands beside them in a stored record, so that a
//! program that does not know a cause of a later version can still tell its reader of it.

use std::fmt;

use cardproof_units::{Bytes, Iops, Throughput};
use serde::{Deserialize, Serialize};

use crate::{Disturbance, Transport, WarningCode};

/// A rate that varies by more than its estimate to each side is no measurement.
const NO_MEASUREMENT: f64 = 1.0;

/// What raises a doubt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum WarningCause {
    /// The target takes fewer requests at once than the phase asks for.
    DepthLowered {
        /// At this queue depth the phase was run.
        used: u16,
        /// The depth that it asks for.
        wanted: u16,
    },
    /// Data that a phase read back were not what was written.
    ReadBackWrong {
        /// Bytes that differ.
        wrong_bytes: Bytes,
        /// Bytes that were compared.
        compared_bytes: Bytes,
    },
    /// Blocks of the data check hold wrong data.
    CheckedWrong {
        /// Blocks with wrong data.
        wrong: u64,
        /// Blocks that were checked.
        places: u64,
        /// The size of each.
        place_bytes: Bytes,
        /// Where the first of them lies.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_bytes: Option<Bytes>,
    },
    /// Blocks of the data check could not be read.
    CheckedUnreadable {
        /// Blocks that could not be read.
        unreadable: u64,
        /// Blocks that were checked.
        places: u64,
        /// The size of each.
        place_bytes: Bytes,
    },
    /// Heat, low power, other programs or a changed clock.
    Disturbed {
        /// What it was.
        disturbance: Disturbance,
    },
    /// The kernel does not tell where the reads of a job came from.
    ReadsUntold,
    /// The file system has no links, and the job makes some.
    LinksLeftOut {
        /// How many.
        links: u64,
    },
    /// A job that means to read the storage was answered from memory.
    JobReadMemory {
        /// Bytes that the job read.
        read_bytes: Bytes,
        /// Those of them that came from the storage.
        from_storage_bytes: Bytes,
    },
    /// One run of several has no figures.
    RunNotMeasured {
        /// Its number, from 1.
        number: usize,
        /// The runs in all.
        runs: usize,
        /// Why.
        cause: String,
    },
    /// The range of addresses is smaller than the profile asks for.
    RangeReduced {
        /// The range.
        span_bytes: Bytes,
        /// What the profile asks for.
        wanted_bytes: Bytes,
        /// Whether the time budget ended before the range was written.
        out_of_time: bool,
    },
    /// Nothing may be written, so it is unknown whether the blocks read were ever written.
    ReadOnlyTarget,
    /// Blocks were read that were never written.
    NeverWritten,
    /// A run that wrote nothing read.
    NothingWritten,
    /// The phase used the page cache, since the original tool does.
    CachedAsOriginal,
    /// The original tool uses a page cache, which the target does not have.
    CacheMissing,
    /// The target used the page cache.
    Cached {
        /// Why, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The loop device below the file systems uses the page cache.
    LoopCached,
    /// Runs were to go on until the rate was steady.
    NeverSteady {
        /// Runs that were made.
        runs: u32,
    },
    /// Too few operations for a narrow interval.
    FewOperations {
        /// How many.
        ops: u64,
    },
    /// The rate varied.
    Uneven {
        /// The interval to each side, as a part of the estimate.
        width: f64,
    },
    /// The file system keeps its files in memory.
    FilesInMemory {
        /// Its name.
        filesystem: String,
    },
    /// An overlay file system.
    OverlayFilesystem,
    /// The file system does not overwrite in place.
    NotInPlace {
        /// Its name.
        filesystem: String,
    },
    /// Mount options of f2fs by which it compresses, or does not overwrite in place.
    F2fsNotInPlace,
    /// Another system serves the file system.
    ServedBySystem {
        /// Its name.
        filesystem: String,
    },
    /// A program serves the file system.
    ServedByProgram {
        /// Its name.
        filesystem: String,
    },
    /// The null target.
    NullTarget,
    /// The device is memory, or rests on some.
    DeviceInMemory {
        /// Its kind, where nothing lies above it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transport: Option<Transport>,
    },
    /// What lies below a layer is unknown.
    UnknownBelow {
        /// What the layer is called.
        layer: String,
    },
    /// A virtual machine's disk stands for storage of the host.
    VirtualDisk,
    /// A loop device stands for a file.
    LoopDevice,
    /// Another tool states a rate that only memory can have.
    StatedByMemory {
        /// The rate.
        iops: Iops,
    },
    /// A rate above what the bus can carry.
    AboveBus {
        /// The rate.
        rate_bytes_per_s: Throughput,
        /// What the bus can carry.
        ceiling_bytes_per_s: Throughput,
        /// The mode of the bus, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bus: Option<String>,
    },
    /// A rate above what any bus of the kind can carry.
    AboveBusKind {
        /// The rate.
        rate_bytes_per_s: Throughput,
        /// What such a bus can carry.
        ceiling_bytes_per_s: Throughput,
        /// Where that is written.
        source: String,
    },
    /// What another program says, or an earlier version: nothing is known of it but its words.
    #[serde(skip)]
    Stated(String),
}

impl WarningCause {
    /// The kind of doubt that it raises.
    #[must_use]
    pub const fn code(&self) -> WarningCode {
        match self {
            Self::DepthLowered { .. } => WarningCode::QueueDepthReduced,
            Self::ReadBackWrong { .. } | Self::CheckedWrong { .. } => WarningCode::WrongData,
            Self::CheckedUnreadable { .. } | Self::RunNotMeasured { .. } => WarningCode::Faults,
            Self::Disturbed { .. } => WarningCode::Disturbed,
            Self::ReadsUntold
            | Self::LinksLeftOut { .. }
            | Self::VirtualDisk
            | Self::LoopDevice
            | Self::Stated(_) => WarningCode::Other,
            Self::RangeReduced { .. } => WarningCode::SpanReduced,
            Self::ReadOnlyTarget | Self::NeverWritten | Self::NothingWritten => {
                WarningCode::MaybeUnwritten
            }
            Self::CachedAsOriginal
            | Self::Cached { .. }
            | Self::LoopCached
            | Self::ServedBySystem { .. }
            | Self::ServedByProgram { .. } => WarningCode::Buffered,
            Self::CacheMissing => WarningCode::NoPageCache,
            Self::NeverSteady { .. } | Self::Uneven { .. } => WarningCode::Unsteady,
            Self::FewOperations { .. } => WarningCode::FewOperations,
            Self::OverlayFilesystem | Self::NotInPlace { .. } | Self::F2fsNotInPlace => {
                WarningCode::CopyOnWrite
            }
            Self::JobReadMemory { .. }
            | Self::FilesInMemory { .. }
            | Self::NullTarget
            | Self::DeviceInMemory { .. }
            | Self::StatedByMemory { .. } => WarningCode::Memory,
            Self::UnknownBelow { .. } => WarningCode::LayerUnknown,
            Self::AboveBus { .. } | Self::AboveBusKind { .. } => WarningCode::AboveLink,
        }
    }

    /// Whether `other` says the same, figures aside. Of what only the words are known, those are compared.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Stated(of), Self::Stated(other)) => of == other,
            (Self::Disturbed { disturbance: of }, Self::Disturbed { disturbance: other }) => {
                of.is_like(other)
            }
            (Self::Uneven { width: of }, Self::Uneven { width: other }) => {
                (*of > NO_MEASUREMENT) == (*other > NO_MEASUREMENT)
            }
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// The sentence of a cause without figures.
    const fn plain(&self) -> Option<&'static str> {
        Some(match self {
            Self::ReadsUntold => {
                "this kernel does not tell whether the job's reads reached the storage or only the page cache"
            }
            Self::ReadOnlyTarget | Self::NothingWritten => {
                "this run only read, and nothing tells whether all of these places were ever written; places that \
                 were never written may be read faster than data"
            }
            Self::NeverWritten => {
                "this test read places where nothing was ever written; such places may be read faster than data"
            }
            Self::CachedAsOriginal => "the phase used the page cache, as the original tool does",
            Self::CacheMissing => {
                "the original tool uses the page cache, which this target does not have; do not \
                 compare the figure with the tool's"
            }
            Self::LoopCached => {
                "the loop device under the file systems goes through the page cache in memory, \
                 because what it lies on refuses direct I/O; on a bare device (--destroy) it would not"
            }
            Self::OverlayFilesystem => {
                "the target is on an overlay file system; its storage is unknown and may be memory (as \
                 on a Raspberry Pi with the overlay file system switched on)"
            }
            Self::F2fsNotInPlace => {
                "f2fs with these mount options compresses, or does not overwrite blocks in place"
            }
            Self::NullTarget => {
                "the null target stores nothing; its rates are those of cardproof itself"
            }
            Self::VirtualDisk => "the result of a virtual disk depends on its host and its caches",
            Self::LoopDevice => {
                "the result of a loop device depends on the file behind it and its caches"
            }
            _ => return None,
        })
    }

    /// The sentence of a cause about what was counted.
    fn counted(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DepthLowered { used, wanted } => write!(
                f,
                "run at queue depth {used}, the maximum of this target, instead of {wanted}"
            ),
            Self::ReadBackWrong { wrong_bytes, compared_bytes } => {
                write!(f, "{wrong_bytes} of {compared_bytes} read back contain wrong data")
            }
            Self::CheckedWrong { wrong, places, place_bytes, first_bytes } => {
                write!(
                    f,
                    "{wrong} of {places} checked blocks of {place_bytes} contain wrong data"
                )?;
                first_bytes.map_or(Ok(()), |first| write!(f, "; the first is at {first}"))
            }
            Self::CheckedUnreadable { unreadable, places, place_bytes } => write!(
                f,
                "{unreadable} of {places} checked blocks of {place_bytes} could not be read back"
            ),
            Self::LinksLeftOut { links } => {
                write!(f, "this file system has no links: {links} that the job makes were left out")
            }
            Self::JobReadMemory { read_bytes, from_storage_bytes } => write!(
                f,
                "of {read_bytes} that the job read only {from_storage_bytes} came from the storage, the \
                 rest from memory: the kernel did not forget the files, or this file system has no storage"
            ),
            Self::RunNotMeasured { number, runs, cause } => {
                write!(f, "run {number} of {runs} was not measured: {cause}")
            }
            Self::NeverSteady { runs } => write!(
                f,
                "steady state was not reached in {runs} runs, so the result includes all of them"
            ),
            Self::FewOperations { ops } => {
                write!(f, "only {ops} operations completed, so the interval is wide")
            }
            Self::Uneven { width } if *width > NO_MEASUREMENT => {
                write!(f, "too uneven to measure: ±{:.0} %", 100.0 * width)
            }
            _ => f.write_str("the rate varied strongly, so the interval is wide"),
        }
    }
}

impl fmt::Display for WarningCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(plain) = self.plain() {
            return f.write_str(plain);
        }
        match self {
            Self::Stated(words) => f.write_str(words),
            Self::Disturbed { disturbance } => disturbance.fmt(f),
            Self::RangeReduced { span_bytes, wanted_bytes, out_of_time } => {
                let cause = if *out_of_time { ", but the time budget ended" } else { "" };
                write!(
                    f,
                    "the test range was {span_bytes}; {wanted_bytes} were planned{cause}. A smaller range \
                     gives higher rates"
                )
            }
            Self::Cached { reason } => {
                f.write_str("operations used the page cache in memory")?;
                reason.as_ref().map_or(Ok(()), |reason| write!(f, " ({reason})"))
            }
            Self::FilesInMemory { filesystem } => {
                write!(f, "{filesystem} keeps its files in memory, so no storage was measured")
            }
            Self::NotInPlace { filesystem } => write!(
                f,
                "{filesystem} does not overwrite blocks in place, so the storage sees other writes \
                 than this run issues"
            ),
            Self::ServedBySystem { filesystem } => write!(
                f,
                "{filesystem} is served by another system, so the result includes its cache"
            ),
            Self::ServedByProgram { filesystem } => write!(
                f,
                "{filesystem} is served by a program, which may use the page cache itself"
            ),
            Self::DeviceInMemory { transport: Some(memory) } => {
                write!(f, "a {memory} device is memory, so no storage was measured")
            }
            Self::DeviceInMemory { transport: None } => {
                f.write_str("the device is in memory, so no storage was measured")
            }
            Self::UnknownBelow { layer } => {
                write!(f, "the storage below the {layer} is unknown; it may be memory")
            }
            Self::StatedByMemory { iops } => write!(
                f,
                "{iops} one after the other are more than any storage answers; they came from memory"
            ),
            Self::AboveBus { rate_bytes_per_s, ceiling_bytes_per_s, bus } => {
                let bus = bus.as_deref().unwrap_or("as reported by the kernel");
                write!(
                    f,
                    "{rate_bytes_per_s} is more than its bus ({bus}) can carry ({ceiling_bytes_per_s})"
                )
            }
            Self::AboveBusKind { rate_bytes_per_s, ceiling_bytes_per_s, source } => write!(
                f,
                "{rate_bytes_per_s} is more than any bus of its kind ({source}) can carry \
                 ({ceiling_bytes_per_s})"
            ),
            counted => counted.counted(f),
        }
    }
}
