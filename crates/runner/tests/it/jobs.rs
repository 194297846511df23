//! Jobs on real files: done to their end, stopped, and on storage that is full or gone.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::scratch::Scratch;
use cardproof_jobs::find;
use cardproof_record::{
    Activity, Climate, CpuActivity, DeviceActivity, Disturbance, DisturbanceKind, JobRun,
    PhaseState, PhaseSurroundings, Record, Requests, WarningCode,
};
use cardproof_runner::{JobProgress, Monitor, MonitorCost, Observation, Watcher, run_job};
use cardproof_testkit::{Filesystem, LoopDevice, Mount, lab_or_skip, records};
use cardproof_units::{Bytes, Nanos, Seed};

/// Runs the job `name` in `directory`, which is left as it was.
fn run(name: &str, directory: &Path, progress: &mut dyn FnMut(JobProgress)) -> JobRun {
    stoppable(name, directory, progress, &AtomicBool::new(false))
}

fn stoppable(
    name: &str,
    directory: &Path,
    progress: &mut dyn FnMut(JobProgress),
    stop: &AtomicBool,
) -> JobRun {
    let (job, seed) = (find(name).unwrap(), Seed::from_bits(7));
    let totals = job.totals(seed);
    let scratch = Scratch::create(directory, None).unwrap();
    let mut tree = scratch.create_tree().unwrap();
    let run = run_job(&mut tree, &job, &totals, seed, progress, stop, None);
    drop(tree);
    scratch.remove().unwrap();
    let left: Vec<_> = std::fs::read_dir(directory).unwrap().collect();
    assert!(left.iter().all(|entry| entry.as_ref().unwrap().file_name() == "lost+found"));
    run
}

/// A fresh ext4 of `size`, mounted, and what it lies on.
fn ext4(size: Bytes) -> Result<(LoopDevice, Mount), cardproof_testkit::LabError> {
    let device = LoopDevice::new(size)?;
    Filesystem::Ext4.make(&device)?;
    let mount = Mount::new(&device, Filesystem::Ext4, "")?;
    Ok((device, mount))
}

#[test]
fn jobs_are_done_to_their_end() {
    let (_device, mount) = lab_or_skip!(ext4(Bytes::gib(1)));
    let seed = Seed::from_bits(7);
    for name in
        ["package-install-short", "package-remove-short", "package-reinstall-short", "small-files"]
    {
        let totals = find(name).unwrap().totals(seed);
        let done = run(name, mount.path(), &mut |_| {});
        assert_eq!(done.state, PhaseState::Measured, "{name}");
        assert_eq!(done.bytes_written, totals.bytes_written, "{name}");
        assert_eq!(done.bytes_written_in_all, totals.bytes_written_in_all, "{name}");
        let syncs = done.syncs.unwrap();
        assert_eq!(syncs.count, totals.syncs, "{name}");
        let of_steps = done.steps.iter().fold(Nanos::ZERO, |sum, step| sum + step.duration_ns);
        assert_eq!(of_steps, done.duration_ns, "{name}");
        assert!(syncs.total_ns < done.duration_ns, "{name}");
        assert_eq!(done.warnings, [], "{name}");
        assert_eq!(done.part_of.is_some(), name.ends_with("-short"), "{name}");
    }
}

/// A monitor of a machine with too low a voltage, on whose card others read.
#[derive(Default)]
struct Onlooker {
    calls: Vec<&'static str>,
}

impl Monitor for Onlooker {
    fn begin(&mut self) {
        self.calls.push("begin");
    }

    fn end(&mut self) -> Option<Observation> {
        self.calls.push("end");
        let reads = Requests { count: 900, bytes: Bytes::gib(1), ..Requests::default() };
        let name = "mmcblk0".to_owned();
        let whole = Activity {
            window_ns: Nanos::from_secs(10),
            climate: Climate { under_voltage: Some(true), ..Climate::default() },
            cpu: Some(CpuActivity { cpus: 2, idle: 1.0, ..CpuActivity::default() }),
            devices: vec![DeviceActivity { name, reads, ..DeviceActivity::default() }],
            ..Activity::default()
        };
        Some(Observation { windows: vec![whole.clone()], whole, processor_wait: None })
    }

    fn disturbances(
        &self,
        surroundings: &PhaseSurroundings,
        filesystem: Option<&str>,
    ) -> Vec<Disturbance> {
        cardproof_rating::disturbances(surroundings, filesystem)
    }

    fn cost(&self) -> MonitorCost {
        MonitorCost::default()
    }
}

/// What the onlooker saw of the job `name`, on a file system that the kernel calls `filesystem`.
fn watched(name: &str, filesystem: &str) -> (JobRun, Vec<&'static str>) {
    let directory = tempfile::tempdir().unwrap();
    let (job, seed) = (find(name).unwrap(), Seed::from_bits(7));
    let scratch = Scratch::create(directory.path(), None).unwrap();
    let mut tree = scratch.create_tree().unwrap();
    let mut onlooker = Onlooker::default();
    let watcher = Watcher { monitor: &mut onlooker, filesystem: Some(filesystem) };
    let (totals, never) = (job.totals(seed), AtomicBool::new(false));
    let run = run_job(&mut tree, &job, &totals, seed, &mut |_| {}, &never, Some(watcher));
    (run, onlooker.calls)
}

#[test]
fn a_job_is_watched_once_while_its_steps_count() {
    let (run, calls) = watched("package-install-short", "ext4");
    assert_eq!((&run.state, calls), (&PhaseState::Measured, vec!["begin", "end"]));
    let kinds: Vec<_> = run.disturbances.iter().map(|disturbance| disturbance.kind).collect();
    assert_eq!(kinds, [DisturbanceKind::UnderVoltage, DisturbanceKind::OtherIo]);
    let told = |warning: &&cardproof_record::Warning| warning.code == WarningCode::Disturbed;
    assert_eq!(run.warnings.iter().filter(told).count(), 2);
    let seen = run.surroundings.unwrap();
    assert!(seen.own_bytes >= run.bytes_written, "{} {}", seen.own_bytes, run.bytes_written);
    assert!(seen.own_cpu.is_some());
}

#[test]
fn what_others_read_is_not_told_where_the_file_system_reads_on_its_own() {
    let (run, _) = watched("package-install-short", "btrfs");
    let kinds: Vec<_> = run.disturbances.iter().map(|disturbance| disturbance.kind).collect();
    assert_eq!(kinds, [DisturbanceKind::UnderVoltage]);
}

/// What a boot reads must come from the storage, and memory is no storage.
#[test]
fn reads_reach_the_storage_or_are_doubted() {
    let (_device, mount) = lab_or_skip!(ext4(Bytes::mib(512)));
    let boot = run("boot", mount.path(), &mut |_| {});
    assert_eq!((&boot.state, boot.bytes_read), (&PhaseState::Measured, Bytes(130_000_000)));
    assert_eq!(boot.warnings, [], "{:?} of {:?}", boot.bytes_from_storage, boot.bytes_read);

    let memory = lab_or_skip!(Mount::tmpfs("size=400M"));
    let boot = run("boot", memory.path(), &mut |_| {});
    let record = Record { job_runs: vec![boot], ..records::typical_a1_card() };
    let doubts = cardproof_rating::doubts(&record);
    assert!(doubts.iter().any(|doubt| doubt.warning.code == WarningCode::Memory), "{doubts:?}");
}

#[test]
fn a_browser_s_files_are_written_and_read() {
    let (_device, mount) = lab_or_skip!(ext4(Bytes::mib(512)));
    let done = run("browser", mount.path(), &mut |_| {});
    assert_eq!(done.state, PhaseState::Measured);
    assert!(done.bytes_read > Bytes::ZERO && done.settle_ns.is_some());
}

#[test]
fn a_full_file_system_gives_a_cause_and_no_time() {
    let (_device, mount) = lab_or_skip!(ext4(Bytes::mib(96)));
    for name in ["package-install-short", "boot"] {
        let done = run(name, mount.path(), &mut |_| {});
        let PhaseState::NotMeasured { cause } = &done.state else { panic!("{name}: {done:?}") };
        assert!(cause.contains("no space left") && cause.contains("in the step"), "{cause}");
        assert_eq!((done.duration_ns, done.steps.len()), (Nanos::ZERO, 0), "{name}");
        assert_eq!(done.syncs, None);
    }
}

/// The card is pulled out in the middle of it.
#[test]
fn storage_that_goes_away_gives_a_cause_and_no_time() {
    let (device, mount) = lab_or_skip!(ext4(Bytes::gib(1)));
    let (job, seed) = (find("package-install-short").unwrap(), Seed::from_bits(7));
    let scratch = Scratch::create(mount.path(), None).unwrap();
    let mut tree = scratch.create_tree().unwrap();
    let mut is_out = false;
    let mut pull = |progress: JobProgress| {
        if progress.ops * 4 > progress.ops_of && !is_out {
            is_out = true;
            device.resize(Bytes::ZERO).unwrap();
        }
    };
    let stop = AtomicBool::new(false);
    let done = run_job(&mut tree, &job, &job.totals(seed), seed, &mut pull, &stop, None);
    assert!(is_out, "it was over before");
    assert!(matches!(done.state, PhaseState::NotMeasured { .. }), "{:?}", done.state);
    assert_eq!(done.duration_ns, Nanos::ZERO);
}

#[test]
fn a_stopped_job_is_partial_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let mut told = 0_u32;
    let mut progress = |_: JobProgress| {
        told += 1;
        stop.store(true, Ordering::Relaxed);
    };
    let done = stoppable("package-install", directory.path(), &mut progress, &stop);
    assert_eq!((&done.state, told), (&PhaseState::Partial, 1));
    assert_eq!(done.warnings, []);
}

/// FAT has neither second names nor symbolic links: a job goes on without them and says so.
#[test]
fn links_that_a_file_system_has_not_are_left_out_and_told() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::gib(1)));
    lab_or_skip!(Filesystem::Vfat.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Vfat, ""));
    let done = run("package-install-short", mount.path(), &mut |_| {});
    assert_eq!(done.state, PhaseState::Measured);
    assert!(done.warnings.iter().any(|warning| matches!(
        warning.cause,
        cardproof_record::WarningCause::LinksLeftOut { .. }
    )));
}
