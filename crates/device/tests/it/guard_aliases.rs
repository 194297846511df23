//! The guard before files that are in use under another name.
//!
//! After every refusal the whole file is compared with what it held before.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use cardproof_device::Sysroot;
use cardproof_device::guard::{
    Consent, Holder, Inspection, Objection, inspect, open_for_destruction,
};
use cardproof_testkit::{Contents, Filesystem, LabError, LoopDevice, Mount, lab_or_skip, run};
use cardproof_units::Bytes;
use tempfile::TempDir;

const SIZE: Bytes = Bytes::mib(16);

/// A command that is undone by another when the value is dropped.
struct Undone(&'static str, Vec<PathBuf>);

impl Drop for Undone {
    fn drop(&mut self) {
        let _ = run(self.0, &self.1);
    }
}

/// Tries to open `path` for destruction with its own identity, which must be refused and leave
/// every byte as it was.
fn refused(path: &Path) -> Inspection {
    let before = Contents::read(path).unwrap();
    let inspection = inspect(&Sysroot::default(), path).unwrap();
    let named = Consent::Named(inspection.identity.to_string());
    let error = open_for_destruction(&Sysroot::default(), path, &named).unwrap_err();
    assert!(error.is_refusal(), "{error}");
    assert_eq!(Contents::read(path).unwrap(), before);
    inspection
}

fn is_held_by(inspection: &Inspection, device: &LoopDevice) -> bool {
    let by = Holder::Loop { node: device.path().to_owned() };
    let is_that = |objection: &Objection| matches!(objection, Objection::Held { by: held, .. } if *held == by);
    inspection.objections.iter().any(is_that)
}

/// A loop device with a file system, over an image in a directory of its own.
fn device_in(directory: &Path) -> Result<LoopDevice, LabError> {
    let device = LoopDevice::sparse_in(directory, SIZE)?;
    Filesystem::Ext4.make(&device)?;
    Ok(device)
}

fn bind(source: &Path, point: &Path) -> Result<Undone, LabError> {
    run("mount", ["--bind".as_ref(), source.as_os_str(), point.as_os_str()])?;
    Ok(Undone("umount", vec![point.to_owned()]))
}

#[test]
fn the_image_of_a_loop_device_is_refused_under_a_hard_link() {
    let around = TempDir::new().unwrap();
    let device = lab_or_skip!(device_in(around.path()));
    let link = around.path().join("another-name.img");
    fs::hard_link(device.image(), &link).unwrap();
    assert!(is_held_by(&refused(&link), &device));
}

#[test]
fn the_image_of_a_loop_device_is_refused_through_a_bind_mount() {
    let (around, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let device = lab_or_skip!(device_in(around.path()));
    let _directory = lab_or_skip!(bind(around.path(), other.path()));
    let elsewhere = other.path().join(device.image().file_name().unwrap());
    assert!(is_held_by(&refused(&elsewhere), &device));

    let point = TempDir::new().unwrap();
    let file = point.path().join("bound.img");
    File::create(&file).unwrap();
    let _file = lab_or_skip!(bind(device.image(), &file));
    assert!(is_held_by(&refused(&file), &device));
}

/// The image was deleted or renamed over after it was attached: its path leads elsewhere.
#[test]
fn the_image_of_a_loop_device_is_refused_after_it_was_renamed() {
    let around = TempDir::new().unwrap();
    let device = lab_or_skip!(device_in(around.path()));
    let moved = around.path().join("moved.img");
    fs::hard_link(device.image(), &moved).unwrap();
    fs::remove_file(device.image()).unwrap();
    fs::write(device.image(), "another file in its place").unwrap();
    assert!(is_held_by(&refused(&moved), &device));
}

/// The file in the place of the image is nobody's.
#[test]
fn a_file_in_the_place_of_a_removed_image_is_not_taken_for_it() {
    let around = TempDir::new().unwrap();
    let device = lab_or_skip!(device_in(around.path()));
    fs::remove_file(device.image()).unwrap();
    fs::write(device.image(), "another file in its place").unwrap();
    let inspection = inspect(&Sysroot::default(), device.image()).unwrap();
    assert_eq!(inspection.objections, [Objection::HoldsData]);
}

/// One loop device over the image and one over a hard link of it.
#[test]
fn a_loop_device_is_refused_while_another_uses_its_image_under_another_name() {
    let around = TempDir::new().unwrap();
    let device = lab_or_skip!(device_in(around.path()));
    let link = around.path().join("another-name.img");
    fs::hard_link(device.image(), &link).unwrap();
    let answer = run("losetup", ["--find", "--show", link.to_str().unwrap()]);
    let second = PathBuf::from(lab_or_skip!(answer).trim());
    let _second = Undone("losetup", vec!["--detach".into(), second.clone()]);
    assert!(is_held_by(&refused(&second), &device));
}

/// Another name of the node of a block device leads to no other device.
#[test]
fn a_device_below_a_loop_device_is_refused_when_its_node_has_another_name() {
    let lower = lab_or_skip!(LoopDevice::new(SIZE));
    let around = TempDir::new_in("/dev").unwrap();
    let node = around.path().join("my-card");
    let number = lower.number().unwrap();
    let (major, minor) = number.split_once(':').unwrap();
    lab_or_skip!(run("mknod", [node.to_str().unwrap(), "b", major, minor]));
    let answer = run("losetup", ["--find", "--show", node.to_str().unwrap()]);
    let upper = PathBuf::from(lab_or_skip!(answer).trim());
    let _upper = Undone("losetup", vec!["--detach".into(), upper.clone()]);
    fs::remove_file(&node).unwrap();
    let inspection = refused(lower.path());
    let held = Objection::Held { node: lower.path().to_owned(), by: Holder::Loop { node: upper } };
    assert!(inspection.objections.contains(&held), "{:?}", inspection.objections);
}

/// On overlay a file has other numbers than on the file system that holds it.
#[test]
fn the_image_of_a_loop_device_is_refused_below_the_overlay_that_shows_it() {
    let layers = lab_or_skip!(Mount::tmpfs("size=64M"));
    let point = TempDir::new().unwrap();
    let layer = |name: &str| layers.path().join(name);
    for name in ["lower", "upper", "work"] {
        fs::create_dir(layer(name)).unwrap();
    }
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        layer("lower").display(),
        layer("upper").display(),
        layer("work").display()
    );
    let words = ["-t", "overlay", "-o", &options, "overlay", point.path().to_str().unwrap()];
    lab_or_skip!(run("mount", words));
    let _overlay = Undone("umount", vec![point.path().to_owned()]);
    let device = lab_or_skip!(device_in(point.path()));
    let below = layer("upper").join(device.image().file_name().unwrap());
    let objections = refused(&below).objections;
    let node = device.path().to_owned();
    let may_be = Objection::MayBeHeld { node, is_served_card: false };
    assert!(objections.contains(&may_be), "{objections:?}");
    // The other way round, with the image attached below.
    drop(device);
    let device = lab_or_skip!(device_in(&layer("upper")));
    let above = point.path().join(device.image().file_name().unwrap());
    let objections = refused(&above).objections;
    let node = device.path().to_owned();
    let may_be = Objection::MayBeHeld { node, is_served_card: false };
    assert!(objections.contains(&may_be), "{objections:?}");
}

/// A swap file, in use until the value is dropped.
fn swap_file(directory: &Path) -> Result<(PathBuf, Undone), LabError> {
    let path = directory.join("swap");
    let file = OpenOptions::new().create_new(true).write(true).open(&path).unwrap();
    for mib in 0..4 {
        file.write_all_at(&vec![0; 1 << 20], mib << 20).unwrap();
    }
    file.sync_all().unwrap();
    drop(file);
    fs::hard_link(&path, directory.join("another-name")).unwrap();
    run("chmod", ["0600".as_ref(), path.as_os_str()])?;
    run("mkswap", [&path])?;
    run("swapon", [&path])?;
    Ok((path.clone(), Undone("swapoff", vec![path])))
}

#[test]
fn a_swap_file_in_use_is_refused_under_every_name() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(64)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, ""));
    let (swap, _in_use) = lab_or_skip!(swap_file(mount.path()));
    for name in [&swap, &mount.path().join("another-name")] {
        let objections = refused(name).objections;
        let is_swap = |objection: &Objection| matches!(objection, Objection::Swap { .. });
        assert!(objections.iter().any(is_swap), "{objections:?}");
    }
}

/// As in a container: the table of swap has a path that leads nowhere from here.
#[test]
fn a_swap_file_in_use_is_refused_when_its_path_leads_nowhere() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(64)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, ""));
    let (swap, _in_use) = lab_or_skip!(swap_file(mount.path()));
    let (other, empty) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let _view = lab_or_skip!(bind(mount.path(), other.path()));
    let _over = lab_or_skip!(bind(empty.path(), mount.path()));
    assert!(!swap.exists());
    let objections = refused(&other.path().join("swap")).objections;
    let may_be = |objection: &Objection| matches!(objection, Objection::MayBeSwap { .. });
    assert!(objections.iter().any(may_be), "{objections:?}");
}

/// A file of no use to anybody is still no obstacle while loop devices are in use.
#[test]
fn a_fresh_file_is_opened_beside_loop_devices() {
    let around = TempDir::new().unwrap();
    let _device = lab_or_skip!(device_in(around.path()));
    let file = around.path().join("fresh.img");
    File::create(&file).unwrap().set_len(SIZE.get()).unwrap();
    open_for_destruction(&Sysroot::default(), &file, &Consent::General).unwrap();
}
