//! Recording a real job, and what is left behind.

use std::fs;
use std::path::Path;

use cardproof_testkit::{
    Filesystem, LabError, LoopDevice, Mount, lab_or_skip, require_root, schema_faults, skip,
    test_name,
};
use cardproof_units::Bytes;

use crate::home::Home;
use crate::process::run;

/// Whether the kernel can tell of requests at all.
fn has_tracepoints() -> bool {
    let systems = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    systems.contains("tracefs") && Path::new("/sys/kernel/tracing").exists()
}

#[test]
fn a_job_is_recorded_and_nothing_is_left_of_the_recording() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(16)));
    if !has_tracepoints() {
        skip(test_name!(), "the kernel has no tracepoints");
        return;
    }
    let home = Home::new();
    let (path, trace) = (device.path().to_str().unwrap(), home.place().join("job.trace"));
    let trace = trace.to_str().unwrap();
    let output = format!("of={path}");
    let job = ["dd", "if=/dev/zero", &output, "bs=4k", "count=16", "oflag=direct", "status=none"];
    let summary = home.place().join("summary.json");
    let to = ["--output", trace, "--json", summary.to_str().unwrap(), "--"];
    let words = [&["replay", "record", "--device", path][..], &to].concat();
    let mut command = home.cardproof(&[&words[..], &job].concat());
    command.env("TMPDIR", home.place());
    let ended = run(command).expect(0);
    assert!(ended.stderr.contains("The job ended with exit status: 0"), "{}", ended.stderr);
    let shown = run(home.cardproof(&["replay", "show", trace])).expect(0).stdout;
    assert!(shown.contains("writes      16, 64 KiB"), "{shown}");
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    // Others come and go meanwhile.
    assert!(!mounts.contains(home.place().to_str().unwrap()), "{mounts}");
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/recording-v1.schema.json");
    assert_eq!(lab_or_skip!(schema_faults(&schema, &[&summary])), "");
}

/// A recording that was killed left its instance to the kernel, which would record on for ever.
#[test]
fn what_a_killed_recording_left_is_taken_away_and_what_another_does_is_not() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(16)));
    if !has_tracepoints() {
        skip(test_name!(), "the kernel has no tracepoints");
        return;
    }
    let instances = Path::new("/sys/kernel/tracing/instances");
    // No process has a number above the kernel's limit of 2^22.
    let left = instances.join("cardproof-4194999");
    let of_the_living = instances.join(format!("cardproof-{}", std::process::id()));
    if fs::create_dir(&left).is_err() || fs::create_dir(&of_the_living).is_err() {
        skip(test_name!(), "no tracing instance can be made here");
        return;
    }
    let home = Home::new();
    let trace = home.place().join("job.trace");
    let device = device.path().to_str().unwrap();
    let words =
        ["replay", "record", "--device", device, "--output", trace.to_str().unwrap(), "--", "true"];
    // The job asks nothing of the device, so there is no trace.
    run(home.cardproof(&words)).expect(1);
    let stays = of_the_living.exists();
    let _ = fs::remove_dir(&of_the_living);
    assert!(stays && !left.exists());
}

/// A fresh file system that writes what it has in memory only when told, and what it lies on.
fn lazy() -> Result<(LoopDevice, Mount), LabError> {
    let device = LoopDevice::new(Bytes::mib(64))?;
    Filesystem::Ext4.make(&device)?;
    let mount = Mount::new(&device, Filesystem::Ext4, "commit=3600")?;
    Ok((device, mount))
}

/// How much was written to the device so far.
fn written(device: &LoopDevice) -> Bytes {
    let counters = fs::read_to_string(format!("/sys/class/block/{}/stat", device.name())).unwrap();
    let sectors: u64 = counters.split_whitespace().nth(6).unwrap().parse().unwrap();
    Bytes(512 * sectors)
}

#[test]
fn a_recording_waits_for_its_own_disk_and_for_no_other() {
    let (device, mount) = lab_or_skip!(lazy());
    let (other_device, other_mount) = lab_or_skip!(lazy());
    if !has_tracepoints() {
        skip(test_name!(), "the kernel has no tracepoints");
        return;
    }
    let (home, size) = (Home::new(), Bytes::mib(8));
    fs::write(other_mount.path().join("others"), vec![7; size.as_len()]).unwrap();
    let before = [&device, &other_device].map(written);
    let trace = home.place().join("job.trace");
    let file = mount.path().join("left-in-memory");
    let job = ["cp", "/proc/self/exe", file.to_str().unwrap()];
    let words = ["replay", "record", "--device", device.path().to_str().unwrap(), "--output"];
    let words = [&words[..], &[trace.to_str().unwrap(), "--"], &job].concat();
    run(home.cardproof(&words)).expect(0);
    let now = [&device, &other_device].map(written);
    let copied = fs::metadata(&file).unwrap().len();
    assert!(now[0].saturating_sub(before[0]) >= Bytes(copied), "{before:?} {now:?}");
    assert!(now[1].saturating_sub(before[1]) < size, "the other disk: {before:?} {now:?}");
}

#[test]
fn what_is_no_device_is_usage() {
    let home = Home::new();
    let file = home.place().join("file");
    fs::write(&file, "x").unwrap();
    run(home.cardproof(&["replay", "record"])).expect(2);
    // Whoever may not record at all hears that first.
    lab_or_skip!(require_root());
    let words = ["replay", "record", "--device", file.to_str().unwrap(), "--", "true"];
    run(home.cardproof(&words)).expect(2);
}
