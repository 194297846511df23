//! The guard on laid-out machines: every way in which a device can be in use.

use std::io::Cursor;
use std::path::Path;

use crate::common::{Tree, machines};
use cardproof_device::guard::{
    Consent, GuardError, Holder, Inspection, Objection, inspect, inspect_device,
    open_for_destruction,
};
use cardproof_device::{Layer, Sysroot};
use cardproof_units::Bytes;

/// A blank device that claims to be as large as sysfs says: reads of zeros, however far.
struct Blank;

impl std::io::Read for Blank {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        buffer.fill(0);
        Ok(buffer.len())
    }
}

impl std::io::Seek for Blank {
    fn seek(&mut self, _: std::io::SeekFrom) -> std::io::Result<u64> {
        Ok(0)
    }
}

fn inspected(tree: &Tree, number: &str) -> Inspection {
    let mut blank = Blank;
    let path = Path::new("/dev/the-target");
    inspect_device(&tree.root(), path, number.parse().unwrap(), &mut blank).unwrap()
}

/// The objections in words, in the order in which the user sees them.
fn words(tree: &Tree, number: &str) -> Vec<String> {
    inspected(tree, number).objections.iter().map(ToString::to_string).collect()
}

/// Two disks without anything on them, and no other.
fn two_disks() -> Tree {
    let tree = Tree::new();
    for (name, number) in [("sda", "8:0"), ("sdb", "8:16")] {
        tree.block(&format!("sys/devices/pci/{name}"), number, 1 << 20);
    }
    tree.mount("1 0 9:9 / / rw - ext4 /dev/elsewhere rw").swaps("");
    tree
}

const SDA: &str = "sys/devices/pci/sda";

#[test]
fn a_free_blank_disk_meets_no_objection() {
    let inspection = inspected(&two_disks(), "8:0");
    assert_eq!(inspection.objections, []);
    // No list of signatures is complete, so the name is asked for all the same.
    insta::assert_snapshot!(inspection.check(&Consent::General).unwrap_err());
    let named = Consent::Named(inspection.identity.to_string());
    assert!(inspection.check(&named).is_ok());
    assert!(inspection.check(&Consent::Named("sda:536870912".to_owned())).is_ok());
}

#[test]
fn another_identity_is_refused_even_for_a_blank_disk() {
    let inspection = inspected(&two_disks(), "8:0");
    for typed in ["sdb:536870912", "sda:536870913", "sda", ""] {
        let error = inspection.check(&Consent::Named(typed.to_owned())).unwrap_err();
        assert!(matches!(error, GuardError::OtherIdentity { .. }) && error.is_refusal());
        let text = error.to_string();
        assert!(text.contains("--destroy=sda:536870912"), "{text}");
    }
}

#[test]
fn what_is_in_use_stays_refused_whatever_is_typed() {
    let tree = two_disks();
    tree.mount("2 1 8:0 / /mnt rw - ext4 /dev/sda rw");
    let inspection = inspected(&tree, "8:0");
    let named = Consent::Named(inspection.identity.to_string());
    assert!(matches!(inspection.check(&named), Err(GuardError::Refused(_))));
}

#[test]
fn a_mount_is_seen_on_the_device_its_partitions_and_what_lies_over_them() {
    let tree = two_disks();
    tree.partition(SDA, "sda1", "8:1", 2048)
        .partition(SDA, "sda2", "8:2", 2048)
        .block("sys/devices/virtual/block/dm-0", "253:0", 2048)
        .stack("sys/devices/virtual/block/dm-0", &format!("{SDA}/sda2"))
        .file("sys/devices/virtual/block/dm-0/dm/uuid", "LVM-abc\n")
        .block("sys/devices/virtual/block/dm-1", "253:1", 2048)
        .stack("sys/devices/virtual/block/dm-1", "sys/devices/virtual/block/dm-0")
        .file("sys/devices/virtual/block/dm-1/dm/uuid", "CRYPT-LUKS2-abc-home\n")
        .file("sys/devices/virtual/block/dm-1/dm/name", "home\n")
        .file("sys/devices/virtual/block/dm-1/dm/name", "home\n")
        .mount("2 1 8:1 / /boot\\040firmware rw - vfat /dev/sda1 rw")
        .mount("3 1 253:1 / /home rw - ext4 /dev/mapper/home rw");
    insta::assert_snapshot!(inspected(&tree, "8:0").check(&Consent::General).unwrap_err());
    // A sister partition is no part of the target.
    assert_eq!(words(&tree, "8:1"), ["/dev/sda1 is mounted at /boot firmware"]);
    assert_eq!(
        words(&tree, "8:2"),
        [
            "/dev/dm-1 is mounted at /home",
            "/dev/sda2 is part of dm-0 (LVM volume)",
            "/dev/dm-0 is part of dm-1 (LUKS2 encryption)",
        ]
    );
    assert_eq!(words(&tree, "8:16"), [""; 0]);
}

#[test]
fn a_whole_disk_in_use_protects_its_partitions() {
    let tree = two_disks();
    tree.partition(SDA, "sda1", "8:1", 2048)
        .block("sys/devices/virtual/block/md0", "9:0", 2048)
        .file("sys/devices/virtual/block/md0/md/level", "raid1\n")
        .stack("sys/devices/virtual/block/md0", SDA);
    assert_eq!(words(&tree, "8:1"), ["/dev/sda is part of md0 (md raid1)"]);
}

#[test]
fn file_systems_with_anonymous_numbers_are_found_by_what_was_mounted() {
    let tree = two_disks();
    tree.partition(SDA, "sda1", "8:1", 2048)
        .mount("2 1 0:40 /@ /home rw - btrfs /dev/sda1 rw,subvol=/@")
        .mount("3 1 0:41 / /run rw - tmpfs sda rw");
    assert_eq!(words(&tree, "8:1"), ["/dev/sda1 is mounted at /home"]);
}

#[test]
fn the_second_disk_of_a_btrfs_is_in_use_too() {
    let tree = two_disks();
    tree.mount("2 1 0:40 / /home rw - btrfs /dev/sda rw")
        .file("sys/fs/btrfs/abc/devices/sda", "")
        .file("sys/fs/btrfs/abc/devices/sdb", "");
    assert_eq!(words(&tree, "8:0"), ["/dev/sda is mounted at /home"]);
    assert_eq!(words(&tree, "8:16"), ["/dev/sdb is part of a mounted btrfs over several devices"]);
}

#[test]
fn swap_is_seen_by_node_by_label_and_over_layers() {
    let tree = two_disks();
    tree.partition(SDA, "sda1", "8:1", 2048)
        .block("sys/devices/virtual/block/dm-0", "253:0", 2048)
        .file("sys/devices/virtual/block/dm-0/dm/name", "vg-swap\n")
        .stack("sys/devices/virtual/block/dm-0", "sys/devices/pci/sdb")
        .swaps(
            "/dev/sda1\t\tpartition\t1024\t0\t-2\n/dev/mapper/vg-swap partition 1024 0 -3\n\
             /var/swap\\040file file 1 0 -4\n",
        );
    assert_eq!(words(&tree, "8:0")[0], "/dev/sda1 is in use as swap");
    assert_eq!(words(&tree, "8:16"), ["/dev/dm-0 is in use as swap", "/dev/sdb is part of dm-0"]);
}

#[test]
fn a_loop_device_and_what_it_goes_to_protect_each_other() {
    let tree = two_disks();
    let looped = "sys/devices/virtual/block/loop0";
    tree.partition(SDA, "sda1", "8:1", 2048)
        .block(looped, "7:0", 2048)
        .file(&format!("{looped}/loop/backing_file"), "/dev/sda1\n");
    assert_eq!(words(&tree, "7:0"), [""; 0]);
    assert_eq!(words(&tree, "8:0")[0], "/dev/sda1 is part of /dev/loop0");
    tree.mount("2 1 8:1 / /mnt rw - ext4 /dev/sda1 rw");
    assert_eq!(words(&tree, "7:0"), ["/dev/sda1 is mounted at /mnt"]);
}

#[test]
fn two_loop_devices_over_one_file_see_each_other() {
    let tree = two_disks();
    for (name, number) in [("loop0", "7:0"), ("loop1", "7:1")] {
        let directory = format!("sys/devices/virtual/block/{name}");
        tree.block(&directory, number, 2048)
            .file(&format!("{directory}/loop/backing_file"), "/home/ann/card.img\n");
    }
    assert_eq!(words(&tree, "7:0"), ["/home/ann/card.img is part of /dev/loop1"]);
}

#[test]
fn tables_that_cannot_be_read_are_an_objection_that_nothing_lifts() {
    for missing in ["proc/self/mountinfo", "sys/class/block"] {
        let tree = two_disks();
        let path = tree.at(missing);
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
            .unwrap();
        let inspection = inspected(&tree, "8:0");
        assert!(matches!(inspection.objections[..], [Objection::Unknown { .. }]), "{missing}");
        let named = Consent::Named(inspection.identity.to_string());
        assert!(inspection.check(&named).unwrap_err().is_refusal());
    }
    // A kernel without swap has no table of it.
    let tree = two_disks();
    std::fs::remove_file(tree.at("proc/swaps")).unwrap();
    assert_eq!(inspected(&tree, "8:0").objections, []);
}

#[test]
fn a_device_that_sysfs_does_not_show_is_refused() {
    let mut blank = Blank;
    let number = "8:99".parse().unwrap();
    let path = Path::new("/dev/x");
    let error = inspect_device(&two_disks().root(), path, number, &mut blank).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("8:99"), "{error}");
}

#[test]
fn a_device_that_turns_out_shorter_than_sysfs_says_is_not_called_blank() {
    let tree = two_disks();
    let mut short = Cursor::new(vec![0_u8; 4096]);
    let inspection =
        inspect_device(&tree.root(), Path::new("/dev/sda"), "8:0".parse().unwrap(), &mut short);
    let objections = inspection.unwrap().objections;
    assert!(matches!(objections[..], [Objection::Unreadable { .. }]), "{objections:?}");
}

#[test]
fn no_medium_and_write_protection_stand() {
    let tree = two_disks();
    tree.file(&format!("{SDA}/size"), "0\n").file(&format!("{SDA}/ro"), "1\n");
    let objections = inspected(&tree, "8:0").objections;
    assert_eq!(objections, [Objection::NoMedium, Objection::ReadOnly { node: "/dev/sda".into() }]);
    assert!(objections.iter().all(|objection| !objection.can_be_lifted()));
}

#[test]
fn identities_are_made_from_each_buss_serial_number() {
    let pi = machines::pi4_with_sd_card("179:2");
    assert_eq!(inspected(&pi, "179:0").identity.to_string(), "mmcblk0:31914983424:0xSECRET01");
    assert_eq!(
        inspected(&pi, "179:1").identity.to_string(),
        "mmcblk0p1:536870912:0xSECRET01",
        "a partition has its card's serial number"
    );
    let cases = [
        (machines::usb_stick_on_usb2(), "8:0", "sda:61524148224:SECRET4C530001230405"),
        (machines::nvme_with_luks_and_btrfs(), "259:0", "nvme0n1:512110190592:SECRETS675NX0R"),
        (machines::nvme_in_a_subsystem(), "259:0", "nvme0n1:500107862016:SECRET21"),
        (machines::virtual_machine_with_loop(), "254:0", "vda:274877906944:SECRET-serial"),
        (machines::virtual_machine_with_loop(), "7:7", "loop7:67108864"),
        (machines::nvme_with_luks_and_btrfs(), "253:0", "dm-0:511555493888"),
    ];
    for (tree, number, identity) in cases {
        assert_eq!(inspected(&tree, number).identity.to_string(), identity);
    }
    let scsi = two_disks();
    scsi.file(&format!("{SDA}/device/vpd_pg80"), b"\x00\x80\x00\x0c  WD-WX12345 ".as_slice());
    assert_eq!(inspected(&scsi, "8:0").identity.to_string(), "sda:536870912:WD-WX12345");
}

#[test]
fn the_card_that_the_system_runs_from_is_refused_in_words() {
    let tree = machines::pi4_with_sd_card("179:2");
    let inspection = inspected(&tree, "179:0");
    insta::assert_snapshot!(inspection.check(&Consent::General).unwrap_err());
}

#[test]
fn every_holder_has_a_remedy_of_its_own() {
    let device = |name: &str, kind: Option<Layer>| Holder::Device {
        name: name.to_owned(),
        label: name.starts_with("dm").then(|| format!("{name} label")),
        kind,
    };
    let cases = [
        (device("md0", Some(Layer::Md("raid1".to_owned()))), "mdadm --stop /dev/md0"),
        (device("dm-0", Some(Layer::Lvm)), "vgchange"),
        (device("dm-1", Some(Layer::Luks2)), "cryptsetup close 'dm-1 label'"),
        (device("dm-1", Some(Layer::Crypt)), "cryptsetup close 'dm-1 label'"),
        (device("dm-3", Some(Layer::Verity)), "dmsetup remove 'dm-3 label'"),
        (device("dm-2", None), "dmsetup remove 'dm-2 label'"),
        (Holder::Loop { node: "/dev/loop3".into() }, "losetup --detach /dev/loop3"),
        (Holder::Btrfs, "unmount"),
    ];
    for (by, command) in cases {
        let held = Objection::Held { node: "/dev/sda".into(), by };
        let remedy = held.remedy().unwrap();
        assert!(remedy.contains(command), "{remedy}");
    }
}

#[test]
fn what_is_no_storage_is_a_mistake_and_no_refusal() {
    let root = Sysroot::default();
    for path in ["/no/such/card", "/dev/null", "/proc"] {
        let error = inspect(&root, Path::new(path)).unwrap_err();
        assert!(error.is_usage() && !error.is_refusal(), "{error}");
        assert!(error.to_string().contains(path), "{error}");
    }
}

#[test]
fn a_file_with_anything_in_it_must_be_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("photos.img");
    let root = Sysroot::default();
    for offset in [None, Some(0), Some(1_500_000), Some((3 << 20) - 1)] {
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(3 << 20).unwrap();
        if let Some(offset) = offset {
            std::os::unix::fs::FileExt::write_all_at(&file, &[1], offset).unwrap();
        }
        let inspection = inspect(&root, &path).unwrap();
        let expected: &[_] = if offset.is_some() { &[Objection::HoldsData] } else { &[] };
        assert_eq!(inspection.objections, expected, "{offset:?}");
    }
    let text = inspect(&root, &path).unwrap().check(&Consent::General).unwrap_err().to_string();
    assert!(text.contains(&format!("--destroy=photos.img:{}", Bytes::mib(3).get())), "{text}");
}

#[test]
fn a_link_to_a_file_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("disk.img"), [0; 4096]).unwrap();
    let link = directory.path().join("link");
    std::os::unix::fs::symlink("disk.img", &link).unwrap();
    let error = inspect(&Sysroot::default(), &link).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("disk.img"), "{error}");
}

#[test]
fn a_blank_image_is_opened_by_one_only() {
    let image = tempfile::NamedTempFile::new().unwrap();
    image.as_file().set_len(Bytes::mib(3).get()).unwrap();
    let root = Sysroot::default();
    let cleared = open_for_destruction(&root, image.path(), &Consent::General).unwrap();
    let error = open_for_destruction(&root, image.path(), &Consent::General).unwrap_err();
    assert!(matches!(error, GuardError::Busy { .. }), "{error}");
    drop(cleared);
    open_for_destruction(&root, image.path(), &Consent::General).unwrap();
}
