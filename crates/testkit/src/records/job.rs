//! The record of a job on files.

use cardproof_record::{
    EngineName, JobPart, JobPartStep, JobRun, JobStep, JobSyncs, JobTime, Latency, PhaseState,
    ProfileInfo, Record, State, TargetInfo, TargetKind,
};
use cardproof_units::{Bytes, Nanos};

/// The short installation of packages on a card, measured.
#[must_use]
pub fn package_installation() -> Record {
    let run = installation();
    let base = super::interrupted();
    Record {
        id: "20261104T181502Z-0000000a".to_owned(),
        state: State::Complete,
        profile: ProfileInfo { name: run.name.clone(), ..base.profile },
        phases: Vec::new(),
        jobs: vec![JobTime { name: format!("job-{}", run.name), duration_ns: run.duration_ns }],
        bytes_written: run.bytes_written_in_all,
        bytes_read: run.bytes_read,
        measured_to_bytes: None,
        data_check: None,
        warnings: Vec::new(),
        conditions: cardproof_record::Conditions {
            target: TargetInfo {
                kind: TargetKind::Directory,
                size_bytes: Bytes::mib(206),
                engine: EngineName::Files,
                buffered_reason: Some("as programs use files".to_owned()),
                ..TargetInfo::default()
            },
            ..base.conditions
        },
        job_runs: vec![run],
        ..base
    }
}

fn installation() -> JobRun {
    let latency = |p50, p99, max| Latency {
        min: Nanos::from_millis(1),
        mean: Nanos::from_millis(p50),
        p50: Nanos::from_millis(p50),
        p90: Nanos::from_millis(p50 * 3),
        p99: Nanos::from_millis(p99),
        p999: Nanos::from_millis(max),
        max: Nanos::from_millis(max),
    };
    let step = |name: &str, seconds, sync, syncs| JobStep {
        name: name.to_owned(),
        duration_ns: Nanos::from_secs(seconds),
        sync_ns: Nanos::from_secs(sync),
        syncs,
    };
    let more = |name: &str, syncs_ratio, calls_ratio| JobPartStep {
        name: name.to_owned(),
        syncs_ratio,
        calls_ratio,
    };
    JobRun {
        name: "package-install-short".to_owned(),
        version: 1,
        deed: "installing 40 packages".to_owned(),
        state: PhaseState::Measured,
        duration_ns: Nanos::from_secs(32),
        settle_ns: Some(Nanos::from_secs(2)),
        steps: vec![
            step("archives", 1, 0, 0),
            step("unpack", 25, 22, 2786),
            step("configure", 4, 4, 247),
            step("triggers", 2, 1, 42),
        ],
        ops: 31_000,
        bytes_written: Bytes::mib(159),
        bytes_read: Bytes::mib(33),
        bytes_written_in_all: Bytes::mib(202),
        bytes_from_storage: Some(Bytes::ZERO),
        empties_cache: false,
        syncs: Some(JobSyncs {
            count: 3075,
            total_ns: Nanos::from_secs(27),
            latency_ns: latency(8, 60, 900),
        }),
        transactions: None,
        part_of: Some(JobPart {
            name: "package-install".to_owned(),
            syncs_ratio: 9.8,
            steps: vec![
                more("archives", 1.0, 9.0),
                more("unpack", 10.0, 9.5),
                more("configure", 9.6, 9.0),
                more("triggers", 1.5, 1.4),
            ],
        }),
        disturbances: Vec::new(),
        surroundings: None,
        limited_by: None,
        warnings: Vec::new(),
    }
}
