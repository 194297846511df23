//! Runs with somebody beside them who looks at the system: what is noted, and that a disturbed
//! phase is run again once, within what the run was announced to take.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use cardproof_record::{
    Activity, Climate, Disturbance, DisturbanceKind, Phase, PhaseState, PhaseSurroundings, Record,
    State, WarningCode,
};
use cardproof_runner::{
    Event, Monitor, MonitorCost, Observation, Observer, Repeat, Silent, run_repeatedly,
};
use cardproof_units::{Bytes, Nanos};
use cardproof_workload::{Ends, Profile, application, standard};

use crate::support::{Memory, draft, plan};

const SIZE: Bytes = Bytes::mib(16);

/// Sees too low a voltage in the tries that `is_low` names, counted from 0.
struct Scripted {
    is_low: fn(usize) -> bool,
    begun: usize,
    repeated: Vec<usize>,
    /// Where its looks take their time.
    clock: Rc<Cell<Nanos>>,
}

impl Scripted {
    fn new(is_low: fn(usize) -> bool) -> Self {
        Self { is_low, begun: 0, repeated: Vec::new(), clock: Rc::default() }
    }
}

impl Monitor for Scripted {
    fn begin(&mut self) {
        self.begun += 1;
        self.clock.set(Nanos::from_millis(30));
    }

    fn end(&mut self) -> Option<Observation> {
        let climate = Climate {
            temperature_celsius: Some(50.0 + self.begun as f64),
            under_voltage: Some((self.is_low)(self.begun - 1)),
            ..Climate::default()
        };
        let window = Activity { window_ns: Nanos::from_secs(1), climate, ..Activity::default() };
        Some(Observation {
            whole: window.clone(),
            windows: vec![window.clone(), window],
            processor_wait: None,
        })
    }

    fn disturbances(
        &self,
        surroundings: &PhaseSurroundings,
        filesystem: Option<&str>,
    ) -> Vec<Disturbance> {
        cardproof_rating::disturbances(surroundings, filesystem)
    }

    fn cost(&self) -> MonitorCost {
        MonitorCost { samples: self.begun as u64, ..MonitorCost::default() }
    }
}

impl Observer for Scripted {
    fn observe(&mut self, event: Event<'_>) {
        if let Event::PhaseRepeated { index, first } = event {
            assert_eq!(first.disturbances.len(), 1);
            self.repeated.push(index);
        }
    }

    fn monitor(&mut self) -> Option<&mut dyn Monitor> {
        Some(self)
    }
}

fn run_with(profile: Profile, observer: &mut dyn Observer) -> Record {
    run_on(Memory::new(SIZE), profile, observer)
}

fn run_on(mut memory: Memory, profile: Profile, observer: &mut dyn Observer) -> Record {
    let plan = plan(profile, SIZE);
    cardproof_runner::run(&mut memory, &plan, draft(&plan), observer, &AtomicBool::new(false))
}

fn names(record: &Record) -> Vec<&str> {
    record.phases.iter().map(|phase| phase.name.as_str()).collect()
}

#[test]
fn without_a_monitor_a_record_tells_nothing_of_the_system() {
    let record = run_with(standard::profile(), &mut Silent);
    assert!(record.phases.iter().all(|phase| phase.surroundings.is_none()));
    assert_eq!(record.monitor.seen, None);
    let text = record.to_json().unwrap();
    assert!(!text.contains("surroundings") && !text.contains("disturb"));
}

#[test]
fn what_was_seen_stands_beside_each_phase() {
    let mut observer = Scripted::new(|_| false);
    let record = run_with(standard::profile(), &mut observer);
    for phase in &record.phases {
        let seen = phase.surroundings.as_ref().unwrap();
        assert_eq!(seen.moments.len(), 2);
        assert_eq!(seen.own_bytes, phase.bytes);
        assert_eq!(phase.disturbances, []);
    }
    let seen = record.monitor.seen.unwrap();
    assert_eq!(seen.samples, record.phases.len() as u64);
    assert_eq!(seen.temperature_max_celsius, Some(50.0 + record.phases.len() as f64));
    assert_eq!((seen.disturbed_phases, seen.repeated_phases), (0, 0));
    let again = Record::from_json(&record.to_json().unwrap()).unwrap();
    assert_eq!(again.monitor, record.monitor);
    assert!(again.phases[0].surroundings == record.phases[0].surroundings);
}

#[test]
fn the_time_of_a_look_at_the_system_is_not_the_phases() {
    let memory = Memory::new(SIZE);
    let mut observer = Scripted::new(|_| false);
    observer.clock = memory.elsewhere();
    let record = run_on(memory, standard::profile(), &mut observer);
    let undisturbed = run_with(standard::profile(), &mut Silent);
    for (phase, same) in record.phases.iter().zip(&undisturbed.phases) {
        assert_eq!(phase.duration_ns, same.duration_ns, "{}", phase.name);
        assert_eq!(phase.iops, same.iops, "{}", phase.name);
    }
}

#[test]
fn a_disturbed_phase_is_run_again_and_its_first_try_kept() {
    let mut observer = Scripted::new(|attempt| attempt == 2);
    let record = run_with(standard::profile(), &mut observer);
    let undisturbed = run_with(standard::profile(), &mut Silent);
    assert_eq!(names(&record), names(&undisturbed));
    assert_eq!(observer.repeated, [2]);
    let phase = &record.phases[2];
    assert_eq!((&phase.state, phase.disturbances.len()), (&PhaseState::Measured, 0));
    assert!(phase.warnings.iter().all(|warning| warning.code != WarningCode::Disturbed));
    let first = phase.disturbed_try.as_ref().unwrap();
    assert_eq!(first.disturbances[0].kind, DisturbanceKind::UnderVoltage);
    assert!(first.warnings.iter().any(|warning| warning.code == WarningCode::Disturbed));
    assert_eq!(record.state, State::Complete);
    let seen = record.monitor.seen.unwrap();
    assert_eq!((seen.disturbed_phases, seen.repeated_phases), (1, 1));
}

#[test]
fn what_came_between_one_of_several_runs_is_told_of_all_of_them() {
    // What lays out the span is not run again within its run.
    let mut observer = Scripted::new(|attempt| attempt == 0);
    let plan = plan(standard::profile(), SIZE);
    let repeat = Repeat { runs: 2, until_steady: false };
    let (mut memory, stop) = (Memory::new(SIZE), AtomicBool::new(false));
    let record = run_repeatedly(&mut memory, &plan, repeat, draft(&plan), &mut observer, &stop);
    let kinds: Vec<DisturbanceKind> =
        record.phases[0].disturbances.iter().map(|disturbance| disturbance.kind).collect();
    assert_eq!(kinds, [DisturbanceKind::UnderVoltage]);
    assert!(record.phases[1..].iter().all(|phase| phase.disturbances.is_empty()));
    let seen = record.monitor.seen.unwrap();
    assert_eq!((seen.disturbed_phases, seen.repeated_phases), (1, 0));
    assert_eq!(seen.temperature_max_celsius, Some(50.0 + observer.begun as f64));
}

#[test]
fn what_a_disturbed_phase_misses_spares_nothing() {
    let profile = || {
        let mut profile = application::a1();
        profile.phases[0].ends.decision = None;
        profile
    };
    let slow = || Memory::new(SIZE).with_service(Nanos::from_millis(5));
    let undisturbed = run_on(slow(), profile(), &mut Silent);
    assert!(undisturbed.phases[2].was_spared());
    let disturbed = run_on(slow(), profile(), &mut Scripted::new(|_| true));
    assert!(disturbed.phases.iter().all(Phase::is_measured));
}

#[test]
fn what_is_always_disturbed_is_run_twice_at_most_and_flagged() {
    let mut observer = Scripted::new(|_| true);
    let record = run_with(standard::profile(), &mut observer);
    let profile = standard::profile().with_span(SIZE);
    assert!(record.bytes_written <= profile.bytes_written_max().unwrap());
    assert!(!observer.repeated.contains(&0), "what lays out the span is never run again");
    for (index, phase) in record.phases.iter().enumerate() {
        let count = observer.repeated.iter().filter(|&&repeated| repeated == index).count();
        assert!(count <= 1, "{}", phase.name);
        assert!(phase.warnings.iter().any(|warning| warning.code == WarningCode::Disturbed));
        assert!(phase.disturbed_try.as_ref().is_none_or(|first| first.disturbed_try.is_none()));
    }
    let took = record.phases.iter().fold(Nanos::ZERO, |sum, phase| {
        let first = phase.disturbed_try.as_ref().map_or(Nanos::ZERO, |first| first.duration_ns);
        sum + phase.duration_ns + first
    });
    assert!(took <= profile.time_budget, "{took}");
}

#[test]
fn without_room_in_time_a_phase_is_flagged_and_not_run_again() {
    let mut profile = standard::profile();
    profile.time_budget = Nanos::from_secs(4);
    for phase in &mut profile.phases {
        let precise = phase.ends.precision.map(|mut precision| {
            precision.relative_half_width = 1e-9;
            precision
        });
        phase.ends = Ends { precision: precise, bytes: None, ..phase.ends };
    }
    let mut observer = Scripted::new(|_| true);
    let record = run_with(profile, &mut observer);
    assert_eq!(observer.repeated, [0; 0]);
    assert!(record.phases.iter().all(|phase| !phase.disturbances.is_empty()));
}
