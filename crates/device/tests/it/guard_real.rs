//! The guard on real devices: loop devices that are mounted, swapped to, held, write-protected.
//!
//! After every refusal the whole device is compared with what it held before.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use cardproof_device::Sysroot;
use cardproof_device::guard::{
    Consent, GuardError, Holder, Objection, inspect, open_for_destruction,
};
use cardproof_testkit::{Contents, Filesystem, LoopDevice, Mount, lab_or_skip, run};
use cardproof_units::Bytes;

const SIZE: Bytes = Bytes::mib(16);

/// A command that is undone by another when the value is dropped.
struct Undone {
    program: &'static str,
    arguments: Vec<PathBuf>,
}

impl Drop for Undone {
    fn drop(&mut self) {
        let _ = run(self.program, &self.arguments);
    }
}

/// Tries to open `path` for destruction with its own identity, which must be refused and leave
/// every byte as it was.
fn refused(path: &Path) -> (GuardError, Vec<Objection>) {
    let before = Contents::read(path).unwrap();
    let inspection = inspect(&Sysroot::default(), path).unwrap();
    let named = Consent::Named(inspection.identity.to_string());
    let error = open_for_destruction(&Sysroot::default(), path, &named).unwrap_err();
    assert!(error.is_refusal(), "{error}");
    assert_eq!(Contents::read(path).unwrap(), before);
    (error, inspection.objections)
}

#[test]
fn a_blank_loop_device_is_opened_and_held() {
    let device = lab_or_skip!(LoopDevice::new(SIZE));
    let root = Sysroot::default();
    let named = Consent::Named(device.identity().unwrap());
    let cleared = open_for_destruction(&root, device.path(), &named).unwrap();
    assert_eq!(cleared.identity.to_string(), format!("{}:{}", device.name(), SIZE.get()));
    assert_eq!(cleared.lifted, []);
    // Nobody else gets it, neither another run nor a mount.
    let error = open_for_destruction(&root, device.path(), &named).unwrap_err();
    assert!(matches!(error, GuardError::Busy { .. }), "{error}");
    let mounted = run("mount", ["-t", "ext4", device.path().to_str().unwrap(), "/mnt"]);
    assert!(mounted.is_err());
}

/// Nothing is found on a device whose file system has lost its first superblock, and on many others.
#[test]
fn a_device_on_which_nothing_is_found_is_not_overwritten_without_its_identity() {
    let device = lab_or_skip!(LoopDevice::new(SIZE));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let node = OpenOptions::new().write(true).open(device.path()).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&node, &[0; 4096], 0).unwrap();
    node.sync_all().unwrap();
    drop(node);
    let before = Contents::read(device.path()).unwrap();
    let root = Sysroot::default();
    assert_eq!(inspect(&root, device.path()).unwrap().objections, []);
    let error = open_for_destruction(&root, device.path(), &Consent::General).unwrap_err();
    let option = format!("--destroy={}", device.identity().unwrap());
    assert!(error.is_refusal() && error.to_string().contains(&option), "{error}");
    assert_eq!(Contents::read(device.path()).unwrap(), before);
}

#[test]
fn a_file_system_needs_the_identity_and_then_is_no_obstacle() {
    let device = lab_or_skip!(LoopDevice::new(SIZE));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let before = Contents::read(device.path()).unwrap();
    let root = Sysroot::default();
    let error = open_for_destruction(&root, device.path(), &Consent::General).unwrap_err();
    let option = format!("--destroy={}:{}", device.name(), SIZE.get());
    assert!(error.to_string().contains("ext4") && error.to_string().contains(&option), "{error}");
    let wrong = Consent::Named(format!("{}:{}", device.name(), SIZE.get() + 1));
    let error = open_for_destruction(&root, device.path(), &wrong).unwrap_err();
    assert!(matches!(error, GuardError::OtherIdentity { .. }), "{error}");
    assert_eq!(Contents::read(device.path()).unwrap(), before);
    let right = Consent::Named(format!("{}:{}", device.name(), SIZE.get()));
    let cleared = open_for_destruction(&root, device.path(), &right).unwrap();
    assert_eq!(cleared.lifted, [Objection::Signature { kind: "ext4" }]);
}

#[test]
fn a_mounted_device_is_refused() {
    for filesystem in [Filesystem::Ext4, Filesystem::Btrfs] {
        let device = lab_or_skip!(LoopDevice::new(Bytes::mib(128)));
        lab_or_skip!(filesystem.make(&device));
        let mount = lab_or_skip!(Mount::new(&device, filesystem, "ro"));
        let (error, objections) = refused(device.path());
        let at = mount.path().to_owned();
        let node = device.path().to_owned();
        assert!(objections.contains(&Objection::Mounted { node, at }), "{objections:?}");
        assert!(error.to_string().contains("umount"), "{error}");
    }
}

#[test]
fn a_mounted_partition_protects_the_whole_device() {
    let device = lab_or_skip!(LoopDevice::new(SIZE));
    let node = device.path().as_os_str();
    // Tells the kernel of a partition from sector 2048 on, without a table on the device.
    lab_or_skip!(run("addpart", [node, "1".as_ref(), "2048".as_ref(), "16384".as_ref()]));
    let _partition =
        Undone { program: "delpart", arguments: vec![device.path().into(), "1".into()] };
    let partition = PathBuf::from(format!("{}p1", device.path().display()));
    lab_or_skip!(run("mkfs.ext4", ["-q".as_ref(), partition.as_os_str()]));
    let point = tempfile::tempdir().unwrap();
    let arguments = ["-o".as_ref(), "ro".as_ref(), partition.as_os_str(), point.path().as_os_str()];
    lab_or_skip!(run("mount", arguments));
    let mounted = Undone { program: "umount", arguments: vec![point.path().to_owned()] };

    let mounted_there = Objection::Mounted { node: partition.clone(), at: point.path().to_owned() };
    for path in [device.path(), &partition] {
        let (_, objections) = refused(path);
        assert!(objections.contains(&mounted_there), "{objections:?}");
    }
    drop(mounted);
    let objections = inspect(&Sysroot::default(), device.path()).unwrap().objections;
    assert_eq!(objections, [Objection::Partitions { names: vec![format!("{}p1", device.name())] }]);
}

#[test]
fn swap_in_use_is_refused() {
    let device = lab_or_skip!(LoopDevice::new(SIZE));
    lab_or_skip!(run("mkswap", [device.path()]));
    lab_or_skip!(run("swapon", [device.path()]));
    let _swap = Undone { program: "swapoff", arguments: vec![device.path().to_owned()] };
    let (error, objections) = refused(device.path());
    assert!(objections.contains(&Objection::Swap { node: device.path().to_owned() }));
    assert!(objections.contains(&Objection::Signature { kind: "swap" }));
    assert!(error.to_string().contains("swapoff"), "{error}");
}

#[test]
fn a_device_held_by_another_opener_is_refused() {
    let device = lab_or_skip!(LoopDevice::new(SIZE));
    let exclusive = rustix::fs::OFlags::EXCL.bits() as i32;
    let _holder =
        OpenOptions::new().read(true).custom_flags(exclusive).open(device.path()).unwrap();
    let (error, objections) = refused(device.path());
    assert_eq!(objections, [], "no table shows it, only the kernel knows");
    assert!(matches!(error, GuardError::Busy { .. }), "{error}");
    assert!(error.to_string().contains("lsof"), "{error}");
}

#[test]
fn a_write_protected_device_is_refused() {
    let device = lab_or_skip!(LoopDevice::new(SIZE));
    lab_or_skip!(run("blockdev", ["--setro".as_ref(), device.path().as_os_str()]));
    // Else the next file attached to this loop device would be protected too.
    let _writable =
        Undone { program: "blockdev", arguments: vec!["--setrw".into(), device.path().into()] };
    let (error, objections) = refused(device.path());
    assert_eq!(objections, [Objection::ReadOnly { node: device.path().to_owned() }]);
    assert!(error.to_string().contains("write-protect"), "{error}");
}

#[test]
fn a_device_without_a_medium_is_refused() {
    let device = lab_or_skip!(LoopDevice::new(SIZE));
    device.resize(Bytes::ZERO).unwrap();
    assert_eq!(refused(device.path()).1, [Objection::NoMedium]);
}

#[test]
fn a_loop_device_over_a_loop_device_sees_the_mount_below() {
    let lower = lab_or_skip!(LoopDevice::new(SIZE));
    lab_or_skip!(Filesystem::Ext4.make(&lower));
    let answer = run("losetup", ["--find", "--show", lower.path().to_str().unwrap()]);
    let upper = PathBuf::from(lab_or_skip!(answer).trim());
    let _upper = Undone { program: "losetup", arguments: vec!["--detach".into(), upper.clone()] };
    assert_eq!(
        inspect(&Sysroot::default(), &upper).unwrap().objections,
        [Objection::Signature { kind: "ext4" }]
    );
    let held =
        Objection::Held { node: lower.path().to_owned(), by: Holder::Loop { node: upper.clone() } };
    assert!(refused(lower.path()).1.contains(&held));
    let mount = lab_or_skip!(Mount::new(&lower, Filesystem::Ext4, "ro"));
    let (_, objections) = refused(&upper);
    let mounted = Objection::Mounted { node: lower.path().to_owned(), at: mount.path().to_owned() };
    assert!(objections.contains(&mounted), "{objections:?}");
}

#[test]
fn an_image_attached_to_a_loop_device_is_refused() {
    let device = lab_or_skip!(LoopDevice::new(SIZE));
    let (error, objections) = refused(device.image());
    let by = Holder::Loop { node: device.path().to_owned() };
    assert!(objections.contains(&Objection::Held { node: device.image().to_owned(), by }));
    assert!(error.to_string().contains("losetup --detach"), "{error}");
}

#[test]
fn a_volume_of_the_device_mapper_holds_its_device() {
    let device = lab_or_skip!(LoopDevice::new(SIZE));
    if let Err(error) = run("dmsetup", ["version"]) {
        cardproof_testkit::skip(cardproof_testkit::test_name!(), &error.to_string());
        return;
    }
    let name = format!("cardproof-lab-{}", device.name());
    let table = format!("0 8192 linear {} 0", device.path().display());
    lab_or_skip!(run("dmsetup", ["create", &name, "--table", &table]));
    let _volume =
        Undone { program: "dmsetup", arguments: vec!["remove".into(), name.clone().into()] };
    let (error, objections) = refused(device.path());
    assert!(matches!(objections[..], [Objection::Held { .. }]), "{objections:?}");
    assert!(error.to_string().contains(&name), "{error}");
}

#[test]
fn a_device_that_the_user_may_not_open_is_a_mistake_with_a_remedy() {
    let image = tempfile::NamedTempFile::new().unwrap();
    image.as_file().set_len(SIZE.get()).unwrap();
    if rustix::process::geteuid().is_root() {
        cardproof_testkit::skip(cardproof_testkit::test_name!(), "root may open everything");
        return;
    }
    let nobody = std::os::unix::fs::PermissionsExt::from_mode(0o000);
    std::fs::set_permissions(image.path(), nobody).unwrap();
    let error = open_for_destruction(&Sysroot::default(), image.path(), &Consent::General);
    let error = error.unwrap_err();
    assert!(matches!(error, GuardError::NotPermitted { .. }), "{error:?}");
    assert!(!error.is_usage() && !error.is_refusal(), "missing permission is status 1");
    assert!(error.to_string().contains("as root"), "{error}");
}
