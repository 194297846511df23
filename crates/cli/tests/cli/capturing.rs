//! Recording a real job, and what is left behind.

use std::fs;
use std::path::Path;

use cardproof_testkit::{LoopDevice, lab_or_skip, skip, test_name};
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
    let words = ["capture", "--device", path, "--output", trace, "--"];
    let ended = run(home.cardproof(&[&words[..], &job].concat())).expect(0);
    assert!(ended.stderr.contains("The job ended with exit status: 0"), "{}", ended.stderr);
    let shown = run(home.cardproof(&["traces", trace])).expect(0).stdout;
    assert!(shown.contains("writes      16, 64 KiB"), "{shown}");
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    assert!(!mounts.contains("cardproof-tracefs"), "{mounts}");
}

#[test]
fn what_is_no_device_is_usage() {
    let home = Home::new();
    let file = home.place().join("file");
    fs::write(&file, "x").unwrap();
    let words = ["capture", "--device", file.to_str().unwrap(), "--", "true"];
    run(home.cardproof(&words)).expect(2);
    run(home.cardproof(&["capture"])).expect(2);
}
