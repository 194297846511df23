//! What a job that was run tells of a larger one.

use cardproof_record::{JobRun, PhaseState};
use cardproof_units::Nanos;

/// How long the whole job would take of which `run` was a part; none where it was no part, or was
/// not measured.
///
/// Time spent waiting until something is durable grows with the number of waits, all other time
/// with the bytes. How far that is from the truth is in `docs/design/jobs.md`.
#[must_use]
pub fn whole_job_time(run: &JobRun) -> Option<Nanos> {
    let part = run.part_of.as_ref().filter(|_| run.state == PhaseState::Measured)?;
    let waited = run.syncs.as_ref().map_or(Nanos::ZERO, |syncs| syncs.total_ns);
    let other = run.duration_ns.saturating_sub(waited);
    let seconds = waited.as_secs_f64() * part.syncs_ratio + other.as_secs_f64() * part.bytes_ratio;
    Some(Nanos::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{
        "name": "package-install-short", "version": 1, "deed": "installing 40 packages",
        "state": "measured", "duration_ns": 10000000000, "steps": [], "ops": 1,
        "bytes_written": 1, "bytes_read": 0,
        "syncs": {"count": 100, "total_ns": 8000000000, "latency_ns":
            {"min": 1, "mean": 1, "p50": 1, "p90": 1, "p99": 1, "p999": 1, "max": 1}},
        "part_of": {"name": "package-install", "syncs_ratio": 10.0, "bytes_ratio": 5.0}}"#;

    #[test]
    fn waits_grow_with_the_waits_and_the_rest_with_the_bytes() {
        let run: JobRun = serde_json::from_str(RUN).unwrap();
        assert_eq!(whole_job_time(&run), Some(Nanos::from_secs(90)));
        assert_eq!(whole_job_time(&JobRun { part_of: None, ..run.clone() }), None);
        let stopped = JobRun { state: PhaseState::Partial, ..run };
        assert_eq!(whole_job_time(&stopped), None);
    }
}
