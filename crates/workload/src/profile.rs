//! A profile: named phases in their order, and where to find one.

use cardproof_units::{Bytes, Nanos};

use crate::{EarlyEnd, FigureSpec, PhaseSpec, TimeLimit};

/// A named run.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Raised whenever figures stop being comparable with those of the version before.
    pub version: u32,
    /// What it is for, in one line.
    pub purpose: String,
    /// Where its method comes from, in one line.
    pub source: String,
    /// The range of addresses it works in.
    pub span: Bytes,
    /// How long it takes unless told otherwise.
    pub time_budget: Nanos,
    /// Its phases, in order.
    pub phases: Vec<PhaseSpec>,
    /// What is made of the phases, in the units of the tool that the profile follows.
    pub figures: Vec<FigureSpec>,
    /// Where the run may end before its last phase.
    pub early_ends: Vec<EarlyEnd>,
    /// Where it differs from the tool it follows, and what is to be known of it; whole sentences.
    pub notes: Vec<String>,
}

impl Profile {
    /// The most it may write to the target; `None` where only time bounds it.
    #[must_use]
    pub fn bytes_written_max(&self) -> Option<Bytes> {
        self.phases.iter().map(PhaseSpec::bytes_written_max).sum()
    }

    /// Whether every phase ends with its share of the time at the latest.
    #[must_use]
    pub fn is_bounded_by_time(&self) -> bool {
        self.phases.iter().all(|phase| phase.ends.time != TimeLimit::None)
    }

    /// The same profile on another span: phases that end with the span's bytes follow it.
    #[must_use]
    pub fn with_span(mut self, span: Bytes) -> Self {
        for phase in &mut self.phases {
            let own = phase.span.unwrap_or(self.span);
            if phase.ends.bytes == Some(own) {
                phase.ends.bytes = Some(phase.span_within(span));
            }
        }
        self.span = span;
        self
    }
}
