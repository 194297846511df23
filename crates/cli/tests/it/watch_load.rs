//! `cardproof watch` and `diagnose` beside real load: fio on a simulated card that is served as a block
//! device, fio that a control group holds back, a burner of processors, nothing; and the counters beside
//! those of iostat over the same window. The queue of `cargo xtask nightly` runs these one at a time: the
//! burner of one test is another's neighbour.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use cardproof_testkit::{
    FioEnd, FioEngine, FioJob, FioPattern, LabError, Limits, LoopDevice, Throttle, lab_or_skip,
    require_root, run_command, skip, test_name,
};
use cardproof_units::{Bytes, Nanos};
use serde_json::Value;

use crate::home::Home;
use crate::process::{run, start};
use crate::served::Served;
use crate::watch::documents;

/// Longer than any test looks; the load ends with the test.
const LOAD_TIME: Nanos = Nanos::from_secs(100);

const SPAN: Bytes = Bytes::mib(64);

/// Ends the test, as skipped, where others keep a processor busy: then it limits, and saying so is
/// right.
macro_rules! skip_if_crowded {
    ($document:expr) => {
        if is_crowded(&$document) {
            let busiest = 100.0 * busiest(&$document);
            let reason = format!("others keep a processor {busiest:.0} % busy");
            skip(test_name!(), &reason);
            return;
        }
    };
}

/// How busy the busiest processor was, 0 to 1.
fn busiest(document: &Value) -> f64 {
    document["cpu"]["busiest"].as_f64().unwrap()
}

/// Whether a processor had more to do than a load gives it that waits for its device.
fn is_crowded(document: &Value) -> bool {
    busiest(document) > 0.8
}

/// A process that is ended with the value.
struct Load {
    child: Child,
}

impl Load {
    fn start(mut command: Command) -> Self {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self { child: quiet.spawn().unwrap() }
    }

    fn burner() -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", "while :; do :; done"]);
        Self::start(command)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // It may have ended by itself, which is no fault.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// fio with `pattern` on `device`, which does its work in one process, so that it can be ended.
fn fio(device: &Path, throttle: Option<&Throttle>, pattern: FioPattern, block_size: Bytes) -> Load {
    let job = FioJob {
        target: device.to_owned(),
        engine: FioEngine::Psync,
        pattern,
        block_size,
        span: SPAN,
        queue_depth: 1,
        end: FioEnd::Time(LOAD_TIME),
    };
    let mut command = job.command(throttle);
    // Without it fio works in a child, which outlives the process that is ended.
    command.arg("--thread");
    Load::start(command)
}

/// A device and its limit; skipped where fio or iostat is missing.
fn lab(limits: &Limits) -> Result<(LoopDevice, Throttle), LabError> {
    require_root()?;
    for program in ["fio", "iostat"] {
        let version = if program == "fio" { "--version" } else { "-V" };
        let mut command = Command::new(program);
        command.arg(version);
        run_command(command)?;
    }
    let device = LoopDevice::filled(SPAN, 1)?;
    let throttle = Throttle::new(&device, limits)?;
    Ok((device, throttle))
}

/// A slow card in real time.
fn slow_card() -> Result<Served, LabError> {
    Served::new(Home::new(), "intenso-class-4", &[])
}

/// What `cardproof diagnose` answers of `device` after four seconds.
fn culprit(device: &Path) -> String {
    let words = ["diagnose", device.to_str().unwrap(), "--time", "4s", "--json", "-", "--quiet"];
    let text = run(Home::new().cardproof(&words)).expect(0).stdout;
    let answer: Value = serde_json::from_str(&text).unwrap();
    answer["culprit"].as_str().unwrap().to_owned()
}

/// One window of `device`, as the program tells it.
fn once(device: &str) -> Value {
    let words = ["watch", "--once", "--json", "--interval", "2s", device];
    let ended = run(Home::new().cardproof(&words)).expect(0);
    let [document] = documents(&ended.stdout).try_into().unwrap();
    document
}

/// As [`once`], after a first window in which the load comes up.
fn once_settled(device: &str) -> Value {
    once(device);
    once(device)
}

/// As [`once_settled`], in the first of at most ten windows in which others leave the processors
/// alone, or else in the last of them.
fn once_quiet(device: &str) -> Value {
    let mut document = once_settled(device);
    for _ in 0..10 {
        if !is_crowded(&document) {
            break;
        }
        document = once(device);
    }
    document
}

fn limit(document: &Value) -> &str {
    document["limited_by"]["limit"].as_str().unwrap()
}

#[test]
#[ignore = "measures in real time; nightly"]
fn random_writes_of_a_slow_card_are_named() {
    let card = lab_or_skip!(slow_card());
    let _load = fio(&card.device, None, FioPattern::RandomWrite, Bytes::kib(4));
    let document = once_quiet(card.name());
    skip_if_crowded!(document);
    assert_eq!(limit(&document), "storage_small_write", "{document}");
    assert_eq!(culprit(&card.device), "storage");
}

#[test]
#[ignore = "measures in real time; nightly"]
fn sequential_reads_of_a_slow_card_are_named() {
    let card = lab_or_skip!(slow_card());
    let _load = fio(&card.device, None, FioPattern::Read, Bytes::kib(512));
    let document = once_quiet(card.name());
    skip_if_crowded!(document);
    assert_eq!(limit(&document), "storage_sequential", "{document}");
}

/// The kernel holds the writes back before the device sees them: it is idle nearly all the time.
#[test]
#[ignore = "measures in real time; nightly"]
fn a_device_is_not_blamed_for_writes_that_a_control_group_holds_back() {
    let limits = Limits { write_iops: Some(33), ..Limits::default() };
    let (device, throttle) = lab_or_skip!(lab(&limits));
    let _load = fio(device.path(), Some(&throttle), FioPattern::RandomWrite, Bytes::kib(4));
    let document = once_settled(&device.name());
    assert!(!limit(&document).starts_with("storage"), "{document}");
    let culprit = culprit(device.path());
    assert!(!culprit.starts_with("storage"), "{culprit}");
}

#[test]
#[ignore = "measures in real time; nightly"]
fn a_device_is_not_blamed_for_waits_for_another() {
    let idle = lab_or_skip!(LoopDevice::filled(SPAN, 1));
    let card = lab_or_skip!(slow_card());
    let _load = fio(&card.device, None, FioPattern::RandomWrite, Bytes::kib(4));
    once_settled(card.name());
    let culprit = culprit(idle.path());
    assert!(!culprit.starts_with("storage"), "{culprit}");
}

#[test]
#[ignore = "measures in real time; nightly"]
fn full_processors_are_named() {
    let device = lab_or_skip!(LoopDevice::new(SPAN));
    let cpus = std::thread::available_parallelism().unwrap().get();
    let _load: Vec<Load> = (0..cpus).map(|_| Load::burner()).collect();
    let document = once_settled(&device.name());
    assert_eq!(limit(&document), "cpu", "{document}");
}

#[test]
#[ignore = "measures in real time; nightly"]
fn nothing_is_named_where_nothing_happens() {
    let device = lab_or_skip!(LoopDevice::new(SPAN));
    let document = once_quiet(&device.name());
    skip_if_crowded!(document);
    assert_eq!(limit(&document), "nothing", "{document}");
}

/// The windows of two programs that are started one after the other differ by some milliseconds
/// in six seconds; two in a hundred is what that and the rounding of iostat leave.
#[test]
#[ignore = "measures in real time; nightly"]
fn the_counters_agree_with_those_of_iostat() {
    let limits = Limits { read_iops: Some(400), ..Limits::default() };
    let (device, throttle) = lab_or_skip!(lab(&limits));
    let _load = fio(device.path(), Some(&throttle), FioPattern::RandomRead, Bytes::kib(4));
    once(&device.name());
    let mut iostat = Command::new("iostat");
    iostat.args(["-y", "-o", "JSON", "-x", &device.name(), "6", "1"]);
    let iostat = start(iostat);
    let words = ["watch", "--once", "--json", "--interval", "6s", &device.name()];
    let ours = run(Home::new().cardproof(&words)).expect(0);
    let theirs = iostat.end().expect(0);
    let [ours] = documents(&ours.stdout).try_into().unwrap();
    let theirs: Value = serde_json::from_str(&theirs.stdout).unwrap();
    let (ours, theirs) =
        (&ours["devices"][0], &theirs["sysstat"]["hosts"][0]["statistics"][0]["disk"][0]);
    let figure = |value: &Value| value.as_f64().unwrap();
    for (name, ours, theirs) in [
        ("r/s", figure(&ours["reads"]["per_s"]), figure(&theirs["r/s"])),
        ("rkB/s", figure(&ours["reads"]["bytes_per_s"]) / 1024.0, figure(&theirs["rkB/s"])),
    ] {
        let ratio = ours / theirs;
        assert!((0.98..=1.02).contains(&ratio), "{name}: {ours} against {theirs}");
    }
    let per_s = figure(&ours["reads"]["per_s"]);
    assert!((380.0..=420.0).contains(&per_s), "the load was {per_s} a second, not 400");
}
