//! The laboratories themselves, on this machine: they must hold what they promise, or measuring
//! by them proves nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};

use cardproof_testkit::{
    Contents, Filesystem, FioEnd, FioEngine, FioJob, FioPattern, Limits, LoopDevice, Mount, Noise,
    Throttle, Tree, lab_or_skip, require_root, wait_until,
};
use cardproof_units::{Bytes, Nanos};

/// A short job of 4 KiB random operations.
fn job(device: &LoopDevice, pattern: FioPattern) -> FioJob {
    FioJob {
        target: device.path().to_owned(),
        engine: FioEngine::Psync,
        pattern,
        block_size: Bytes::kib(4),
        span: Bytes::mib(16),
        queue_depth: 1,
        end: FioEnd::Time(Nanos::from_millis(800)),
    }
}

#[test]
fn a_loop_device_shows_its_image_and_goes_when_dropped() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(4)));
    let sysfs = format!("/sys/class/block/{}/loop/backing_file", device.name());
    assert!(fs::read_to_string(&sysfs).unwrap().contains(device.image().to_str().unwrap()));
    let before = Contents::read(device.image()).unwrap();
    let node = fs::OpenOptions::new().write(true).open(device.path()).unwrap();
    node.write_all_at(&[1; 512], 2 << 20).unwrap();
    node.sync_all().unwrap();
    assert_eq!(before.differing_mib(&Contents::read(device.image()).unwrap()), [2]);
    let image = device.image().to_owned();
    drop(node);
    drop(device);
    assert!(!image.exists());
    let still_there = || fs::read_to_string(&sysfs).unwrap_or_default();
    // Whoever looks at all devices, as other tests do, has each open for an instant, and the kernel lets go of
    // an image with the last who has its device.
    wait_until(|| !still_there().contains(image.to_str().unwrap()));
}

/// A process that is killed cannot take anything down; the kernel and the next one do.
#[test]
fn what_a_killed_test_leaves_behind_is_removed() {
    let ended = Command::new("true").spawn().unwrap();
    let pid = ended.id();
    let mut ended = ended;
    ended.wait().unwrap();
    let orphan = std::path::PathBuf::from(format!("/dev/shm/cardproof-lab-{pid}-abcdef.img"));
    if fs::write(&orphan, "").is_err() {
        cardproof_testkit::skip(cardproof_testkit::test_name!(), "no /dev/shm to write to");
        return;
    }
    let device = LoopDevice::new(Bytes::mib(1));
    assert!(!orphan.exists());
    drop(device);
}

/// The variable that makes a process the one that is to be killed.
const VICTIM: &str = "CARDPROOF_TEST_VICTIM";

/// What the process to be killed says once all is up.
const UP: &str = "up:";

/// The laboratories outlive nobody: a second process puts them up and is killed.
#[test]
fn a_killed_process_leaves_no_mount_and_no_loop_device() {
    if std::env::var_os(VICTIM).is_some() {
        return put_up_and_wait();
    }
    lab_or_skip!(require_root());
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "labs::a_killed_process_leaves_no_mount_and_no_loop_device",
            "--nocapture",
        ])
        .env(VICTIM, "yes")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(victim.stderr.take().unwrap()).lines().map(Result::unwrap);
    let up = said.find(|line| line.starts_with(UP)).expect("it ended before all was up");
    let [point, image] = up[UP.len()..].split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{up}");
    };
    let mounts = || fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(mounts().contains(point) && is_attached(image), "{}", mounts());
    victim.kill().unwrap();
    victim.wait().unwrap();
    // Who undoes what it has left says nothing, and ends: then nobody has this pipe any more.
    assert_eq!(said.collect::<Vec<_>>(), Vec::<String>::new());
    assert!(!mounts().contains(point), "{}", mounts());
    assert!(!fs::exists(point).unwrap());
    wait_until(|| !is_attached(image));
    // The next laboratory does this, if it has not done so already.
    let _ = fs::remove_file(image);
}

/// Whether a loop device is over `image`. To ask `losetup` would keep other tests' devices open.
fn is_attached(image: &str) -> bool {
    let devices = fs::read_dir("/sys/class/block").unwrap();
    let files = devices.map(|device| device.unwrap().path().join("loop/backing_file"));
    files.filter_map(|file| fs::read_to_string(file).ok()).any(|file| file.contains(image))
}

fn put_up_and_wait() {
    let device = LoopDevice::new(Bytes::mib(32)).unwrap();
    Filesystem::Ext4.make(&device).unwrap();
    let mount = Mount::new(&device, Filesystem::Ext4, "").unwrap();
    fs::write(mount.path().join("file"), "lost").unwrap();
    eprintln!("{UP} {} {}", mount.path().display(), device.image().display());
    // The other process keeps this input open until it kills us.
    std::io::stdin().read_exact(&mut [0]).unwrap_err();
}

#[test]
fn a_filled_device_has_no_holes() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(3), 5));
    let held = fs::read(device.image()).unwrap();
    let mut wanted = vec![0; 3 << 20];
    Noise::new(5).fill(&mut wanted);
    assert!(held == wanted, "the image is not the noise of its seed");
}

#[test]
fn a_shrunken_device_fails_reads_and_writes_of_those_who_have_it_open() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(4), 1));
    let node = fs::OpenOptions::new().read(true).write(true).open(device.path()).unwrap();
    let mut block = [0; 4096];
    node.read_exact_at(&mut block, 3 << 20).unwrap();
    device.resize(Bytes::ZERO).unwrap();
    node.read_exact_at(&mut block, 2 << 20).unwrap_err();
    node.write_all_at(&block, 2 << 20).and_then(|()| node.sync_all()).unwrap_err();
}

/// fio is the witness: it must reach the limit and not exceed it. The kernel counts in slices of
/// 100 ms and lets a slice's worth through at the start, hence the margin above.
#[test]
fn a_throttle_sets_reads_and_writes_to_their_limits() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(16), 2));
    let limits = Limits { read_iops: Some(1500), write_iops: Some(500), ..Limits::default() };
    let throttle = lab_or_skip!(Throttle::new(&device, &limits));
    for (pattern, limit) in [(FioPattern::RandomRead, 1500.0), (FioPattern::RandomWrite, 500.0)] {
        let result = lab_or_skip!(job(&device, pattern).run(Some(&throttle)));
        let share = result.iops / limit;
        assert!((0.5..1.15).contains(&share), "{pattern:?}: {} IOPS of {limit}", result.iops);
    }
}

/// A group is left where the processes in it outlived the test that was killed. One that has the
/// number of a living process, ours, is in nobody's way.
#[test]
fn what_killed_tests_have_limited_is_removed() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(1)));
    let limits = Limits { read_iops: Some(20), ..Limits::default() };
    drop(lab_or_skip!(Throttle::new(&device, &limits)));
    let v1 = std::path::Path::new("/sys/fs/cgroup/blkio");
    let parent = if v1.is_dir() { v1 } else { std::path::Path::new("/sys/fs/cgroup") };
    // No process has a number as large as that.
    let orphan = parent.join("cardproof-lab-4194305-0");
    let ours = |count: u32| parent.join(format!("cardproof-lab-{}-{count}", std::process::id()));
    let namesakes: Vec<_> = (0..30).map(ours).filter(|path| fs::create_dir(path).is_ok()).collect();
    fs::create_dir(&orphan).unwrap();
    let throttle = Throttle::new(&device, &limits);
    let is_removed = !orphan.exists();
    for namesake in namesakes {
        fs::remove_dir(namesake).unwrap();
    }
    throttle.unwrap();
    assert!(is_removed);
}

#[test]
fn a_throttle_holds_only_for_what_is_started_in_it() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(16), 3));
    let limits = Limits { read_iops: Some(20), ..Limits::default() };
    let _throttle = lab_or_skip!(Throttle::new(&device, &limits));
    let result = lab_or_skip!(job(&device, FioPattern::RandomRead).run(None));
    assert!(result.iops > 100.0, "{} IOPS", result.iops);
}

#[test]
fn a_mount_can_turn_read_only_and_goes_when_dropped() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(32)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, ""));
    let file = mount.path().join("file");
    fs::write(&file, "kept").unwrap();
    mount.remount("ro").unwrap();
    fs::write(&file, "lost").unwrap_err();
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    let point = mount.path().to_owned();
    drop(mount);
    assert!(!point.exists());
}

#[test]
fn a_mounted_tree_is_read_with_its_files() {
    let mount = lab_or_skip!(Mount::tmpfs("size=1M"));
    fs::write(mount.path().join("file"), "a").unwrap();
    let before = Tree::of_settled(mount.path()).unwrap();
    fs::write(mount.path().join("file"), "b").unwrap();
    let changes = before.changes(&Tree::read(mount.path()).unwrap());
    assert!(changes.starts_with("file: "), "{changes}");
}
