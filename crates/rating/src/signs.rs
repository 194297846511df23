//! Is the storage in use dying? Signs of trouble, what they mean together, and what they point to.
//!
//! A sign is something that the kernel, a file system, the device or the board tells of itself; nothing is
//! written to find it. The verdict is that of the gravest sign. Without a sign it is *fine* only where there
//! was something to read: the kernel's log, the device's own report, or test data that was read back.

mod document;
mod of_log;
mod of_report;
mod of_state;
mod seen;
mod sign;
mod suspects;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use document::HealthPage;
pub use seen::{
    Attachment, EarlierLogs, HostCounter, LogRead, MountedState, RequestMeans, Seen, SpareBlocks,
};
pub use sign::{Certainty, Evidence, Sign, SignKind, SignSource, Weight};
pub use suspects::{Experiment, Suspect};

/// What the signs mean together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HealthVerdict {
    /// No sign of trouble where signs were looked for.
    Fine,
    /// Nothing is lost yet: look again soon.
    WatchIt,
    /// Data are at risk: copy them now.
    CopyNow,
    /// The storage cannot be used any more.
    Dead,
    /// There was nothing to read.
    NotKnown,
}

/// The signs of a storage, the gravest first, and what follows from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Signs {
    /// What they mean together.
    pub verdict: HealthVerdict,
    /// How the storage is attached, which decides what it is called.
    #[serde(skip)]
    pub attachment: Attachment,
    /// Whether the kernel's log was read.
    pub log: LogRead,
    /// The signs.
    pub signs: Vec<Sign>,
    /// The parts that they point to, the likeliest first; those named are about as likely.
    pub suspects: Vec<Suspect>,
    /// What would tell the suspects apart, the first to do first.
    pub experiments: Vec<Experiment>,
}

impl Signs {
    /// The signs in what was `seen`.
    #[must_use]
    pub fn new(seen: &Seen) -> Self {
        let mut signs = of_log::signs(seen);
        signs.extend(of_state::signs(seen));
        signs.extend(of_report::signs(seen));
        signs.sort_by_key(|sign| std::cmp::Reverse((sign.weight, sign.certainty)));
        let suspects = suspects::suspects(seen, &signs);
        let experiments = suspects::experiments(seen, &signs, &suspects);
        let verdict = verdict(seen, &signs);
        Self { verdict, attachment: seen.attachment, log: seen.log, signs, suspects, experiments }
    }

    /// Whether the data are at risk or lost.
    #[must_use]
    pub const fn is_bad(&self) -> bool {
        matches!(self.verdict, HealthVerdict::CopyNow | HealthVerdict::Dead)
    }

    /// The signs that weigh more than a note.
    pub fn weighty(&self) -> impl Iterator<Item = &Sign> {
        self.signs.iter().filter(|sign| sign.weight > Weight::Note)
    }

    /// The note on errors of what was in this place before another medium came.
    #[must_use]
    pub fn earlier_medium(&self) -> Option<&Sign> {
        self.signs.iter().find(|sign| sign.kind == SignKind::EarlierMedium)
    }
}

fn verdict(seen: &Seen, signs: &[Sign]) -> HealthVerdict {
    match signs.iter().map(|sign| sign.weight).max() {
        Some(Weight::Dead) => HealthVerdict::Dead,
        Some(Weight::CopyNow) => HealthVerdict::CopyNow,
        Some(Weight::Watch) => HealthVerdict::WatchIt,
        Some(Weight::Note) | None if has_evidence(seen) => HealthVerdict::Fine,
        Some(Weight::Note) | None => HealthVerdict::NotKnown,
    }
}

/// Whether anything was read in which trouble would show.
fn has_evidence(seen: &Seen) -> bool {
    matches!(seen.log, LogRead::Read { .. })
        || seen.life_used_percent.is_some()
        || seen.has_report
        || seen.read_back == Some(true)
}
