//! Figures in a tool's units: what they are made of, and what is left out.

use std::sync::atomic::AtomicBool;

use crate::support::{Memory, plan, run_plan};
use cardproof_import::{PibenchmarksFigures, pibenchmarks_score};
use cardproof_record::{PhaseState, Record, State};
use cardproof_runner::Silent;
use cardproof_units::{Bytes, Iops, Throughput};
use cardproof_workload::{Profile, find};

/// Smaller than the profiles ask for, which the memory of a test pays for.
const SIZE: Bytes = Bytes::mib(32);

/// The published profile `name`, on storage whose every operation takes a millisecond.
fn run_of(name: &str, change: impl FnOnce(&mut Profile)) -> Record {
    let mut profile = find(name).unwrap();
    change(&mut profile);
    let plan = plan(profile, SIZE);
    run_plan(&mut Memory::new(SIZE), &plan, &mut Silent, &AtomicBool::new(false))
}

fn figure(record: &Record, name: &str) -> f64 {
    record.figures.iter().find(|figure| figure.name == name).unwrap().value
}

fn near(value: f64, wanted: f64) -> bool {
    (value / wanted - 1.0).abs() < 0.02
}

#[test]
fn a_profile_gives_its_tool_s_figures_in_its_units() {
    let record = run_of("pibenchmarks", |_| {});
    assert_eq!(record.state, State::Complete);
    // A thousand operations of 4 KiB a second are 4000 of iozone's kB/s.
    assert!(near(figure(&record, "random write 4k"), 4000.0));
    // And 4.096 of dd's MB/s.
    assert!(near(figure(&record, "dd write"), 4.096));
    // hdparm reads 2 MiB at a time and counts MiB.
    assert!(near(figure(&record, "disk reads"), 2000.0));
    // The same as of a log that is imported, but for the script's cut to a whole number.
    let score = pibenchmarks_score(&PibenchmarksFigures {
        dd_write: Throughput(figure(&record, "dd write") * 1e6),
        fio_random_read: Iops(figure(&record, "4k random read")),
        fio_random_write: Iops(figure(&record, "4k random write")),
        iozone_read_kib_per_s: figure(&record, "read 4k"),
        iozone_write_kib_per_s: figure(&record, "write 4k"),
        iozone_random_read_kib_per_s: figure(&record, "random read 4k"),
        iozone_random_write_kib_per_s: figure(&record, "random write 4k"),
    });
    assert_eq!(figure(&record, "score").floor() as u64, score);
}

#[test]
fn a_phase_that_was_not_measured_takes_its_figures_with_it() {
    let record = run_of("fio-randrw75", |profile| {
        profile.phases[1].block_size = Bytes(100);
    });
    assert!(matches!(record.phases[1].state, PhaseState::NotMeasured { .. }));
    assert_eq!(record.figures, []);
}

/// A thousand random operations a second are enough writes and too few reads, so that all three runs
/// are needed; with a limit that is met, the first is enough.
#[test]
fn a_run_that_passes_is_the_last() {
    let all = run_of("agnostics", |_| {});
    assert_eq!((all.phases.len(), figure(&all, "runs that pass (one is enough)")), (15, 0.0));
    let first = run_of("agnostics", |profile| {
        for end in &mut profile.early_ends {
            end.limits.retain(|limit| limit.at_least < 1500.0);
        }
    });
    assert_eq!((first.phases.len(), first.state), (5, State::Complete));
}
