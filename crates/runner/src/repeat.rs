//! A profile run several times, so that what varies from run to run can be told from noise.
//!
//! Every second run takes the phases in the opposite order (ABBA), so that a slow change, such as
//! heat or a filling cache, falls on all phases alike and not on the later ones. Methods whose order
//! is part of them, because a phase needs the file as the one before has left it or may end the
//! run, keep it. Every run has addresses and data of its own, and the whole time that one run has.

use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::{Arrangement, Target};
use cardproof_record::{Phase, Record, State, Warning, WarningCause};
use cardproof_stats::{STEADY_WINDOW, SteadyState};
use cardproof_units::{Bytes, Seed};
use cardproof_workload::{PhaseSpec, Profile};

use crate::events::{Event, Observer, Progress};
use crate::figures::figures;
use crate::monitor::Monitor;
use crate::plan::Plan;
use crate::pool::{Turn, pooled};
use crate::run::{run, run_on};
use crate::span_state::SpanState;
use crate::warming::Warming;

/// How often a profile is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// So many times, at least once.
    pub runs: u32,
    /// Whether to stop once every phase is in steady state, on which its figures then rest alone.
    pub until_steady: bool,
}

impl Repeat {
    /// Once.
    pub const ONCE: Self = Self { runs: 1, until_steady: false };
}

/// Runs `plan` on `target` as often as `repeat` says and completes `draft` with all of it: each
/// phase is there once, and holds its runs.
///
/// It ends early as [`run`](crate::run) does; what was run until then is kept. A run's checkpoints
/// are handed on only once it is over. Where steady state was asked for and not reached, the record
/// doubts itself. Storage that tells its temperature is not steady while it becomes warmer.
pub fn run_repeatedly(
    target: &mut dyn Target,
    plan: &Plan,
    repeat: Repeat,
    draft: Record,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Record {
    let Repeat { runs, until_steady } = repeat;
    if runs <= 1 {
        return run(target, plan, draft, observer, stop);
    }
    let names: Vec<String> = plan.profile.phases.iter().map(|phase| phase.name.clone()).collect();
    let began = target.now();
    let mut turns: Vec<Turn> = Vec::with_capacity(runs as usize);
    let mut all = draft.clone();
    let mut span_state = SpanState::default();
    let mut warming = Warming::default();
    warming.look(target);
    for number in 0..runs {
        let start = target.now().saturating_sub(began);
        let turn_plan = plan_of_turn(plan, number);
        let mut shifted = Shifted { observer, plan, number, runs, so_far: &all };
        let draft_of_turn = draft.clone();
        let record = run_on(target, &turn_plan, draft_of_turn, &mut shifted, stop, &mut span_state);
        let has_ended = record.state != State::Complete;
        warming.look(target);
        turns.push(Turn { record, start });
        all = pooled(&draft, &turns, &names, 0);
        let is_steady = until_steady && !has_ended && warming.has_settled() && is_steady(&all);
        if is_steady {
            all = pooled(&draft, &turns, &names, turns.len().saturating_sub(STEADY_WINDOW));
        }
        all.figures = figures(&plan.profile, &all.phases);
        let is_last = number + 1 == runs || is_steady;
        if is_last && until_steady && !is_steady && !has_ended {
            all.warnings.push(never_steady(runs));
        }
        if !is_last && !has_ended {
            all.state = State::Running;
        }
        observer.observe(Event::Checkpoint(&all));
        if is_last || has_ended || stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if all.state == State::Running {
        all.state = State::Partial;
        observer.observe(Event::Checkpoint(&all));
    }
    all
}

/// Whether every phase that was measured is in steady state.
fn is_steady(record: &Record) -> bool {
    let is_steady = |phase: &Phase| {
        let rates = phase.runs.iter().filter_map(|run| run.iops).map(|iops| iops.estimate.0);
        SteadyState::new(&rates.collect::<Vec<f64>>()).is_some_and(|state| state.is_steady())
    };
    record.phases.iter().filter(|phase| phase.is_measured()).all(is_steady)
}

fn never_steady(runs: u32) -> Warning {
    WarningCause::NeverSteady { runs }.into()
}

/// The plan of the run `number`, from 0.
fn plan_of_turn(plan: &Plan, number: u32) -> Plan {
    let mut plan = plan.clone();
    if number > 0 {
        plan.seed = Seed::from_bits(plan.seed.derive(&format!("run {number}")));
    }
    if number % 2 == 1 && is_free_in_order(&plan.profile) {
        plan.profile.phases.reverse();
    }
    plan
}

/// Whether the order of the phases is not part of the method.
fn is_free_in_order(profile: &Profile) -> bool {
    let is_free = |phase: &PhaseSpec| {
        phase.arrangement == Arrangement::default() && phase.ends.decision.is_none()
    };
    profile.early_ends.is_empty() && profile.phases.iter().all(is_free)
}

/// Tells an observer of one run as a part of all of them.
struct Shifted<'o> {
    observer: &'o mut dyn Observer,
    plan: &'o Plan,
    number: u32,
    runs: u32,
    /// What the runs before this one have yielded.
    so_far: &'o Record,
}

impl Observer for Shifted<'_> {
    fn observe(&mut self, event: Event<'_>) {
        let runs_left = self.runs - self.number - 1;
        match event {
            Event::PhaseStarted { index, count, spec } => {
                let index = index + count * self.number as usize;
                let count = count * self.runs as usize;
                self.observer.observe(Event::PhaseStarted { index, count, spec });
            }
            Event::Progress(progress) => {
                let runs_left = u64::from(runs_left);
                let most = self.plan.profile.bytes_written_max();
                let to_come = |left: Bytes| Some(left + most? * runs_left);
                self.observer.observe(Event::Progress(Progress {
                    time_left: progress.time_left + self.plan.time_budget * runs_left,
                    bytes_to_write_left: progress.bytes_to_write_left.and_then(to_come),
                    ..progress
                }));
            }
            Event::PhaseRepeated { index, first } => {
                self.observer.observe(Event::PhaseRepeated { index, first });
            }
            Event::PhaseFinished { index, phase } => {
                self.observer.observe(Event::PhaseFinished { index, phase });
            }
            // The first run is saved as it grows; later, what is whole is worth more than a part.
            Event::Checkpoint(record) if self.number == 0 => {
                let state = State::Running;
                let record = Record { state, ..record.clone() };
                self.observer.observe(Event::Checkpoint(&record));
            }
            Event::Checkpoint(_) => self.observer.observe(Event::Checkpoint(self.so_far)),
        }
    }

    fn monitor(&mut self) -> Option<&mut dyn Monitor> {
        self.observer.monitor()
    }
}
