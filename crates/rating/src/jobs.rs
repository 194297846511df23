//! The estimated time of a full job, from a short form of it.

use cardproof_record::{JobRun, PhaseState};
use cardproof_units::Nanos;

/// The estimated time of the full job, of which `run` was the short form; `None` if it was not a short
/// form, or was not measured.
///
/// In each step the time spent waiting until something is durable grows with the number of waits,
/// all other time with the other calls of the system. How far that is from the truth is in
/// `docs/design/jobs.md`.
#[must_use]
pub fn whole_job_time(run: &JobRun) -> Option<Nanos> {
    let part = run.part_of.as_ref().filter(|_| run.state == PhaseState::Measured)?;
    let seconds: Option<f64> = run
        .steps
        .iter()
        .map(|step| {
            let more = part.steps.iter().find(|more| more.name == step.name)?;
            let other = step.duration_ns.saturating_sub(step.sync_ns).as_secs_f64();
            Some(step.sync_ns.as_secs_f64() * more.syncs_ratio + other * more.calls_ratio)
        })
        .sum();
    seconds.map(Nanos::from_secs_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{
        "name": "package-install-short", "version": 1, "deed": "installing 40 packages",
        "state": "measured", "duration_ns": 12000000000, "ops": 1, "bytes_written": 1,
        "bytes_read": 0, "steps": [
            {"name": "unpack", "duration_ns": 10000000000, "sync_ns": 8000000000, "syncs": 100},
            {"name": "triggers", "duration_ns": 2000000000, "sync_ns": 1000000000, "syncs": 9}],
        "part_of": {"name": "package-install", "syncs_ratio": 9.0, "steps": [
            {"name": "unpack", "syncs_ratio": 10.0, "calls_ratio": 5.0},
            {"name": "triggers", "syncs_ratio": 1.0, "calls_ratio": 2.0}]}}"#;

    #[test]
    fn each_step_grows_by_what_there_is_more_to_do_in_it() {
        let run: JobRun = serde_json::from_str(RUN).unwrap();
        assert_eq!(whole_job_time(&run), Some(Nanos::from_secs(80 + 10 + 1 + 2)));
        assert_eq!(whole_job_time(&JobRun { part_of: None, ..run.clone() }), None);
        let mut other = run.clone();
        other.steps[0].name = "a step that the whole has not".to_owned();
        assert_eq!(whole_job_time(&other), None);
        let stopped = JobRun { state: PhaseState::Partial, ..run };
        assert_eq!(whole_job_time(&stopped), None);
    }
}
