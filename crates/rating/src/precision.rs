//! Doubts about how well a figure is known: too few operations, a rate that varied, and reads of a job
//! that memory answered instead of the storage.
//!
//! A record holds the counts. Records of older versions hold these doubts as warnings, and other tools'
//! figures have no interval of ours; both are left as they are.

use cardproof_record::{
    Estimate, JobRun, Phase, PhaseRun, PhaseState, Record, Warning, WarningCause,
};
use cardproof_units::{Bytes, Iops};

/// Fewer operations than this leave a wide interval and no 99th percentile worth the name.
const OPS_ENOUGH: u64 = 100;

/// Operations from this size on are judged by their bytes, not by their number.
const LARGE: Bytes = Bytes::mib(1);

/// An interval wider to each side than this part of its estimate says little.
const WIDTH_UNSTEADY: f64 = 0.25;

/// Of the data that a job was to read from the storage, this share must have come from there.
const FROM_STORAGE_MIN: f64 = 0.9;

/// The doubts about the rate of `phase` of `record`: of several runs the first of each kind.
pub(crate) fn of_phase(record: &Record, phase: &Phase) -> Vec<Warning> {
    if record.is_imported() {
        return Vec::new();
    }
    let small = phase.block_size_bytes < LARGE;
    if phase.runs.is_empty() {
        let few = few_operations(phase.ops).filter(|_| small && phase.is_measured());
        return few.into_iter().chain(unsteady(phase.ops, phase.iops)).collect();
    }
    let few = |run: &PhaseRun| few_operations(run.ops).filter(|_| small);
    let phases = record.phases.len();
    let unsteady = |run: &PhaseRun| unsteady(run.ops, run.iops);
    let of_runs = [first(&phase.runs, phases, few), first(&phase.runs, phases, unsteady)];
    of_runs.into_iter().flatten().collect()
}

/// The first doubt that `doubt` has about any of `runs`, with the run's number. `runs` leaves out those
/// that were not measured, so its number follows from its position among all: each run has `phases`.
fn first(
    runs: &[PhaseRun],
    phases: usize,
    doubt: impl Fn(&PhaseRun) -> Option<Warning>,
) -> Option<Warning> {
    runs.iter().find_map(|run| Some(doubt(run)?.in_run(run.position as usize / phases.max(1) + 1)))
}

fn few_operations(ops: u64) -> Option<Warning> {
    (ops < OPS_ENOUGH).then(|| WarningCause::FewOperations { ops }.into())
}

fn unsteady(ops: u64, rate: Option<Estimate<Iops>>) -> Option<Warning> {
    let rate = rate.filter(|_| ops >= OPS_ENOUGH)?;
    let width = (rate.high.0 - rate.estimate.0) / rate.estimate.0;
    (width > WIDTH_UNSTEADY).then(|| WarningCause::Uneven { width }.into())
}

/// The doubt whether the reads of `run`, a job that means to read from the storage, came from there.
pub(crate) fn of_job(run: &JobRun) -> Option<Warning> {
    let is_cold = run.empties_cache && run.state == PhaseState::Measured;
    let from_storage = run.bytes_from_storage.filter(|_| is_cold)?;
    let share = from_storage.as_f64() / run.bytes_read.as_f64().max(1.0);
    let (read_bytes, from_storage_bytes) = (run.bytes_read, from_storage);
    (share < FROM_STORAGE_MIN)
        .then(|| WarningCause::JobReadMemory { read_bytes, from_storage_bytes }.into())
}

#[cfg(test)]
mod tests {
    use cardproof_record::WarningCode;

    use super::*;

    #[test]
    fn reads_from_memory_are_doubted_and_those_from_the_storage_are_not() {
        let run = |empties_cache, mib| JobRun {
            empties_cache,
            bytes_read: Bytes::mib(100),
            bytes_from_storage: Some(Bytes::mib(mib)),
            ..JobRun::begun("boot".to_owned(), 1, "starting a system".to_owned())
        };
        let code = |mib| of_job(&run(true, mib)).map(|warning| warning.code);
        assert_eq!(code(100), None);
        assert_eq!(code(140), None);
        assert_eq!(code(91), None);
        assert_eq!(code(80), Some(WarningCode::Memory));
        assert_eq!(code(0), Some(WarningCode::Memory));
        assert_eq!(of_job(&run(false, 0)), None, "a job that may read from memory");
    }

    #[test]
    fn a_doubt_names_its_run_although_an_earlier_one_was_not_measured() {
        let text = r#"{"counts": true, "position": 3, "start_ns": 0, "ops": 50, "bytes": 0,
            "duration_ns": 1}"#;
        let run: PhaseRun = serde_json::from_str(text).unwrap();
        let few = |run: &PhaseRun| few_operations(run.ops);
        let told = first(&[run], 3, few).unwrap();
        assert_eq!(told, Warning::from(WarningCause::FewOperations { ops: 50 }).in_run(2));
    }

    #[test]
    fn a_wide_interval_is_unsteady_from_enough_operations_on() {
        let rate = |high| {
            let (estimate, low) = (Iops(100.0), Iops(200.0 - high));
            Some(Estimate { estimate, low, high: Iops(high), confidence: 0.99 })
        };
        let code = |ops, high| unsteady(ops, rate(high)).map(|warning| warning.code);
        assert_eq!(code(1000, 125.0), None);
        assert_eq!(code(1000, 126.0), Some(WarningCode::Unsteady));
        assert_eq!(code(99, 190.0), None);
        assert_eq!(few_operations(99).map(|it| it.code), Some(WarningCode::FewOperations));
        assert_eq!(few_operations(100), None);
    }
}
