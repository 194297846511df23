//! Verdicts of rules on a record, each with the reasons for it.
//!
//! They are derived from a record and attached on output. A reason has a code that does not change
//! with its wording, so that neither this program nor another ever has to read the sentence.

use serde::{Deserialize, Serialize};

/// The verdict of a rule on a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The rule's name, such as `A1`.
    pub rule: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The reasons, most important first.
    pub reasons: Vec<Reason>,
}

/// The outcome of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Passed: every limit is met on this host.
    Meets,
    /// Failed: at least one limit is missed on this host.
    Misses,
    /// The figures are too close to a limit, or too few.
    Undecided,
    /// The class cannot be tested from this record.
    NotTestable,
    /// An outcome of a newer version.
    #[serde(other)]
    Unknown,
}

/// Why a rule came to its outcome, or what is to be known beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// The code, which stays when the wording changes.
    pub code: ReasonCode,
    /// The rate that it is about, if it is about one of those that a class limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<LimitedRate>,
    /// The same in words.
    pub text: String,
}

impl Reason {
    /// Whether `other` says the same of another rule, figures aside.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.code == other.code && self.rate == other.rate && !self.code.is_of_one_rule()
    }
}

/// A rate that a class limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitedRate {
    /// 4 KiB reads at random addresses.
    RandomRead,
    /// 4 KiB writes at random addresses.
    RandomWrite,
    /// Writes one after the other.
    SequentialWrite,
    /// A rate of a newer version.
    #[serde(other)]
    Unknown,
}

/// What a reason is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// A doubt forbids every verdict on the record.
    Doubt,
    /// Another tool stated its figures without intervals.
    NoIntervals,
    /// The target was read-only.
    ReadOnly,
    /// An error ended the run.
    RunFailed,
    /// The bus carries less than the class requires.
    BusTooSlow,
    /// The rate was not measured.
    NotMeasured,
    /// A doubt forbids a verdict on the rate.
    RateInDoubt,
    /// The rate has no usable figure.
    NoFigure,
    /// The limit is met.
    LimitMet,
    /// The limit is missed.
    LimitMissed,
    /// The limit is missed in the parts of the phase that nothing disturbed.
    LimitMissedUndisturbed,
    /// The limit is not reached, and the bus may be the cause.
    BusNearLimit,
    /// The interval claims too little confidence.
    LowConfidence,
    /// The interval contains the limit.
    LimitInInterval,
    /// The interval contains the limit, and the rate is far from it: the figure is too uneven.
    TooUneven,
    /// Not reached, with fewer operations in flight than asked for.
    DepthReduced,
    /// Not reached, and the run was disturbed.
    Disturbed,
    /// Reached over a range that is too small.
    RangeReduced,
    /// Reached with less written than an allocation unit.
    TooLittleWritten,
    /// Reached, but not in every stretch.
    SlowStretch,
    /// Reached by reads of blocks that may never have been written.
    UnwrittenReads,
    /// Reached, but some operations failed.
    Faults,
    /// The card is simulated.
    Simulated,
    /// The storage is not seen to be an SD card.
    NotSeenAsSdCard,
    /// Under which conditions the rate was measured.
    Method,
    /// The card's registers claim the class.
    Claimed,
    /// Command queue and cache are in use, as the class requires.
    QueueInUse,
    /// The card has no command queue or no cache.
    QueueMissing,
    /// The host does not use the card's command queue or cache.
    QueueNotUsed,
    /// It is unknown whether command queue and cache are used.
    QueueUnknown,
    /// The outcome of another class, for comparison.
    OtherClass,
    /// A reason of a newer version.
    #[serde(other)]
    Other,
}

impl ReasonCode {
    /// Whether it is a missed limit.
    #[must_use]
    pub const fn is_miss(self) -> bool {
        matches!(self, Self::LimitMissed | Self::LimitMissedUndisturbed)
    }

    /// Whether it says what is known of the card's command queue and cache.
    #[must_use]
    pub const fn is_of_queue(self) -> bool {
        matches!(
            self,
            Self::QueueInUse | Self::QueueMissing | Self::QueueNotUsed | Self::QueueUnknown
        )
    }

    /// Whether it is true of the rule alone that it stands below.
    const fn is_of_one_rule(self) -> bool {
        matches!(self, Self::BusTooSlow | Self::Claimed | Self::Other) || self.is_of_queue()
    }
}
