//! The answer to an owner's five questions: is the storage real, healthy, fast enough, set up well, and
//! powered well? What follows from what was found, as values; the words are the report's.
//!
//! Each question has its own module, which is a pure function of what is [`Known`]. The overall grade and
//! the next steps follow from the five replies and from nothing else.

mod beside;
mod fast;
mod healthy;
mod next;
mod of_record;
mod overall;
mod powered;
mod real;
mod set_up;

use cardproof_record::{Conditions, Record};
use serde::{Deserialize, Serialize};

use crate::defect::{Defect, defect_in};
use crate::signs::Signs;
use crate::transports::may_be_sd_card;
use crate::tuning::Mounted;

pub use beside::SeenBeside;
pub use fast::{BadPauses, ClassPlace, Fast, Missed, Place, TooLow};
pub use healthy::Healthy;
pub use next::Next;
pub use overall::Overall;
pub use powered::{PowerFacts, Powered};
pub use real::{Earlier, Real};
pub use set_up::{SetUp, Thing};

/// One of the five questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Is its capacity real?
    Real,
    /// Does it keep data?
    Healthy,
    /// Is it fast enough for a system?
    Fast,
    /// Is it set up well?
    SetUp,
    /// Does the computer have enough power for it?
    Power,
}

impl Question {
    /// All of them, in the order in which they are answered.
    pub const ALL: [Self; 5] = [Self::Real, Self::Healthy, Self::Fast, Self::SetUp, Self::Power];
}

/// How good a reply is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Nothing is wrong.
    Good,
    /// It is not known.
    Unknown,
    /// Something can be better; nothing is at risk.
    Warning,
    /// Do not use it, or do something now.
    Bad,
}

/// What is known of a storage device and its computer, from which the answer follows.
#[derive(Clone, Copy, Debug)]
pub struct Known<'k> {
    /// The device, its computer and settings.
    pub conditions: &'k Conditions,
    /// A run that measured its speed.
    pub speed: Option<&'k Record>,
    /// A test of its capacity.
    pub capacity: Option<&'k Record>,
    /// The signs of trouble while it was in use.
    pub signs: &'k Signs,
    /// What is known of the computer's power.
    pub power: PowerFacts,
    /// Why there is no test, where there is none.
    pub untested: Untested,
    /// What failed, where a test could not be completed: a clause.
    pub failure: Option<&'k str>,
    /// What a test of the capacity of this very card found earlier.
    pub earlier: Option<&'k Earlier>,
    /// The mounted file systems on the device, where it is a device that was asked for.
    pub mounts: &'k [Mounted],
}

/// Why nothing was tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Untested {
    /// The capacity was not to be tested.
    #[default]
    NotAsked,
    /// A saved copy of a computer was looked at.
    Saved,
    /// The target may not be written to.
    ReadOnly,
    /// This user may not write to the target.
    NotPermitted,
    /// A device is only read.
    OnlyRead,
    /// A file is only read, and has no capacity of its own.
    File,
    /// The target is a file with holes, which are read from no storage.
    Holes,
    /// There is too little free space.
    TooLittleSpace,
    /// The file system does not say where its files lie, or has no direct I/O.
    Unsupported,
    /// The test could not be completed.
    Failed,
}

/// The answer. A question that was not asked has no reply.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The verdict on the whole; absent where none of the questions was asked on which it rests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall: Option<Overall>,
    /// What forbids using it, as its measurements show it.
    #[serde(skip)]
    pub defect: Option<Defect>,
    /// Is its capacity real?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real: Option<Real>,
    /// The day of the test on which that rests, where it is an earlier one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_found_on: Option<String>,
    /// What failed, where a test could not be completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Does it keep data?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub healthy: Option<Healthy>,
    /// Is it fast enough?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast: Option<Fast>,
    /// Is it set up well?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_up: Option<SetUp>,
    /// Has the computer enough power?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<Powered>,
    /// Whether the storage may be a card, which can have a switch against writing.
    #[serde(skip)]
    pub may_be_card: bool,
    /// What to do next, at most three, the most important first.
    pub next: Vec<Next>,
}

impl Answer {
    /// The answer to `questions` from what is `known`.
    #[must_use]
    pub fn new(known: &Known<'_>, questions: &[Question]) -> Self {
        Self::from_real(known, questions, || Real::new(known).or_earlier(known.earlier))
    }

    /// The same with what is said of the capacity, and the day of the test, where it is an earlier one.
    fn from_real(
        known: &Known<'_>,
        questions: &[Question],
        real: impl FnOnce() -> (Real, Option<String>),
    ) -> Self {
        let is_asked = |question| questions.contains(&question);
        let (real, real_found_on) = is_asked(Question::Real).then(real).unzip();
        let mut answer = Self {
            overall: None,
            defect: defect_in(known.speed.into_iter().chain(known.capacity)),
            real,
            real_found_on: real_found_on.flatten(),
            failure: known.failure.map(str::to_owned),
            healthy: is_asked(Question::Healthy).then(|| Healthy::new(known)),
            fast: is_asked(Question::Fast).then(|| Fast::new(known)),
            set_up: is_asked(Question::SetUp).then(|| SetUp::new(known)),
            power: is_asked(Question::Power).then(|| Powered::new(known)),
            may_be_card: may_be_sd_card(&known.conditions.device),
            next: Vec::new(),
        };
        if matches!(answer.real, Some(Real::No { .. } | Real::Damaged)) {
            answer.healthy = answer.healthy.map(|_| Healthy::LosesData);
        }
        answer.overall = Overall::from_replies(&answer);
        answer.next = next::steps(&answer);
        answer
    }

    /// How good the reply to `question` is; `None` where it was not asked.
    #[must_use]
    pub fn standing(&self, question: Question) -> Option<Standing> {
        match question {
            Question::Real => self.real.as_ref().map(Real::standing),
            Question::Healthy => self.healthy.as_ref().map(Healthy::standing),
            Question::Fast => self.fast.as_ref().map(Fast::standing),
            Question::SetUp => self.set_up.as_ref().map(SetUp::standing),
            Question::Power => self.power.as_ref().map(Powered::standing),
        }
    }

    /// Whether a reply is bad.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        Question::ALL.iter().any(|&question| self.standing(question) == Some(Standing::Bad))
    }
}
