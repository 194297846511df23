//! The verdict on the whole, which is the headline: what an owner must know first.

use serde::Serialize;

use super::{Answer, Fast, Healthy, Powered, Real, Untested};
use crate::defect_kind::DefectKind;
use crate::meaning::Grade;

/// The verdict on the whole. What endangers data comes before what is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Overall {
    /// It holds less than it announces.
    Fake,
    /// Parts of it do not keep data.
    Damaged,
    /// Data came back wrong, or what was written is lost.
    LosesData,
    /// It fails, or is beyond its life.
    Failing,
    /// Its registers have signs of a counterfeit.
    Suspicious,
    /// It works, and has signs of trouble to come.
    WatchIt,
    /// Its speed for a system, where nothing above was found.
    ForASystem(Grade),
    /// Nothing is wrong with it, its speed is not known, and the computer's supply is too weak.
    WeakPower,
    /// Nothing is wrong, and its speed is not known.
    NothingWrong,
    /// Too little is known.
    Unknown,
}

impl Overall {
    /// The verdict that follows from the replies; nothing where none of those was asked on which it rests.
    pub(super) fn from_replies(answer: &Answer) -> Option<Self> {
        let is_asked = answer.real.is_some() || answer.healthy.is_some() || answer.fast.is_some();
        is_asked.then(|| Self::of_asked(answer))
    }

    /// What a defect of this kind makes of the whole.
    #[must_use]
    pub const fn of_defect(kind: DefectKind) -> Self {
        match kind {
            DefectKind::Fake => Self::Fake,
            DefectKind::Damaged => Self::Damaged,
            DefectKind::LosesData => Self::LosesData,
            DefectKind::Failing => Self::Failing,
        }
    }

    fn of_asked(answer: &Answer) -> Self {
        match (&answer.real, &answer.healthy) {
            (Some(Real::No { .. }), _) => return Self::Fake,
            (Some(Real::Damaged), _) => return Self::Damaged,
            _ if answer.defect.is_some() => {
                return answer.defect.as_ref().map_or(Self::Unknown, |it| Self::of_defect(it.kind));
            }
            (_, Some(Healthy::CopyNow { .. } | Healthy::Dead { .. })) => return Self::Failing,
            (Some(Real::Suspicious { .. }), _) => return Self::Suspicious,
            (_, Some(Healthy::Watch { .. })) => return Self::WatchIt,
            _ => {}
        }
        if let Some(Fast::Measured { system, .. }) = &answer.fast
            && *system != Grade::Unknown
        {
            return Self::ForASystem(*system);
        }
        if is_untested(answer) {
            return Self::Unknown;
        }
        let is_real = matches!(answer.real, Some(Real::Yes { .. } | Real::SoFar { .. }));
        let is_healthy = matches!(answer.healthy, Some(Healthy::Yes { .. }));
        match (is_real || is_healthy, &answer.power) {
            (_, Some(Powered::LowVoltage { .. })) => Self::WeakPower,
            (true, _) => Self::NothingWrong,
            (false, _) => Self::Unknown,
        }
    }
}

/// Whether a test was asked for and none could be made. Of a saved computer no test was wanted.
const fn is_untested(answer: &Answer) -> bool {
    let (real, fast) = (&answer.real, &answer.fast);
    let is_saved = matches!(real, Some(Real::NotTested { why: Untested::Saved }))
        || matches!(fast, Some(Fast::NotMeasured { why: Untested::Saved }));
    let is_tested = matches!(real, Some(it) if !matches!(it, Real::NotTested { .. }))
        || matches!(fast, Some(it) if !matches!(it, Fast::NotMeasured { .. }));
    !is_saved && !is_tested && (real.is_some() || fast.is_some())
}
