//! Who looks at the system beside a run.
//!
//! The runner has no clock but the target's and reads no file of the system; so whoever starts a
//! run may hand in a monitor with its [`Observer`](crate::Observer), which keeps its own time. A
//! run on a model has none: what the computer does meanwhile has no meaning for it. The runner counts;
//! whether the counts disturb a phase is the monitor's to say, so that no threshold is here.

use cardproof_record::{Activity, Disturbance, PhaseSurroundings};
use cardproof_units::Nanos;

/// What was seen while a phase ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// All of its time. The first device is the one that the target is on.
    pub whole: Activity,
    /// The same, piece by piece: the windows of the monitor, oldest first.
    pub windows: Vec<Activity>,
    /// How long threads of this process and of the kernel on the way to the storage waited for a processor
    /// meanwhile, all added; `None` where nobody can tell.
    pub processor_wait: Option<Nanos>,
}

/// What a monitor itself has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonitorCost {
    /// How often it has looked.
    pub samples: u64,
    /// The processor time of its own thread; `None` where it has none or nobody can tell.
    pub cpu: Option<Nanos>,
    /// How long it has been there.
    pub watched: Nanos,
}

/// Looks at the system beside a run.
pub trait Monitor {
    /// A phase begins now. Called outside of what is measured.
    fn begin(&mut self);

    /// What was seen since the last call of this kind, or since [`begin`](Self::begin), where another look was taken
    /// meanwhile. Called often while a phase is measured, and never waits.
    fn window(&mut self) -> Option<Activity> {
        None
    }

    /// The phase is over: what was seen since [`begin`](Self::begin), or `None` where nothing
    /// could be. Called outside of what is measured.
    fn end(&mut self) -> Option<Observation>;

    /// What of `surroundings` counts as a disturbance, most important first; a disturbed phase is
    /// repeated and decides nothing. `filesystem` is what the target is on, as the kernel calls it.
    fn disturbances(
        &self,
        surroundings: &PhaseSurroundings,
        filesystem: Option<&str>,
    ) -> Vec<Disturbance>;

    /// Whether a part of a phase was disturbed, of which `surroundings` tell: more strictly than of a whole phase,
    /// since a verdict may rest on parts that were not.
    fn is_part_disturbed(
        &self,
        surroundings: &PhaseSurroundings,
        filesystem: Option<&str>,
    ) -> bool {
        !self.disturbances(surroundings, filesystem).is_empty()
    }

    /// What looking has cost so far.
    fn cost(&self) -> MonitorCost;
}

/// Who looks at the system beside a replay or a job, and what is known of its place.
pub struct Watcher<'a> {
    /// Looks.
    pub monitor: &'a mut dyn Monitor,
    /// The file system that the target is on, if it is on one, as the kernel calls it.
    pub filesystem: Option<&'a str>,
}
