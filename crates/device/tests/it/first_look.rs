//! The first look at whole machines, each with its whole answer.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::common::{Tree, machines};
use cardproof_device::{
    DeviceNumber, LookError, Surroundings, Sysroot, is_disk, is_loop_direct, logical_block,
    look_at_block_device, look_at_number, look_at_path,
};
use cardproof_units::Bytes;
use insta::assert_json_snapshot;
use serde_json::{Value, json};

/// The whole answer as it goes into a record. The real space of the machine that runs the test
/// is blotted out.
fn whole(surroundings: &Surroundings) -> Value {
    let mut value = json!({
        "device": surroundings.device,
        "host": surroundings.host,
        "filesystem": surroundings.filesystem,
        "settings": surroundings.settings,
    });
    if let Some(Value::Object(filesystem)) = value.get_mut("filesystem") {
        for key in ["size_bytes", "free_bytes"] {
            filesystem.entry(key).and_modify(|bytes| *bytes = json!("[space]"));
        }
    }
    let text = value.to_string();
    assert!(!text.contains("SECRET"), "something private is told: {text}");
    value
}

fn look(tree: &Tree, number: &str) -> Value {
    whole(&look_at_number(&tree.root(), number.parse().unwrap()))
}

#[test]
fn pi4_with_sd_card() {
    assert_json_snapshot!(look(&machines::pi4_with_sd_card("179:2"), "179:2"));
}

#[test]
fn pi_with_emmc() {
    let tree = machines::pi_with_emmc();
    assert_json_snapshot!(look(&tree, "179:0"));
    assert_json_snapshot!("pi_with_emmc_boot_area", look(&tree, "179:32")["device"]);
}

#[test]
fn usb_stick_on_usb2() {
    assert_json_snapshot!(look(&machines::usb_stick_on_usb2(), "8:1"));
}

#[test]
fn nvme() {
    let tree = machines::nvme_with_luks_and_btrfs();
    assert_json_snapshot!(look(&tree, "259:2"));
}

#[test]
fn luks_on_nvme() {
    let tree = machines::nvme_with_luks_and_btrfs();
    assert_json_snapshot!(look(&tree, "253:0"));
}

#[test]
fn nvme_in_a_subsystem() {
    assert_json_snapshot!(look(&machines::nvme_in_a_subsystem(), "259:0")["device"]);
}

#[test]
fn array_of_sata_and_usb3() {
    let tree = machines::array_of_sata_and_usb3();
    let devices = ["9:0", "8:0", "8:16"].map(|number| look(&tree, number)["device"].clone());
    assert_json_snapshot!(devices);
}

#[test]
fn virtual_machine_with_loop() {
    assert_json_snapshot!(look(&machines::virtual_machine_with_loop(), "7:7"));
}

#[test]
fn zram() {
    assert_json_snapshot!(look(&machines::zram(), "253:0"));
}

#[test]
fn an_empty_machine_has_nothing_to_tell() {
    assert_eq!(
        look_at_number(&Tree::new().root(), "8:0".parse().unwrap()),
        Surroundings::default()
    );
    let missing = Sysroot::new("no/such/root");
    assert_eq!(look_at_number(&missing, "8:0".parse().unwrap()), Surroundings::default());
}

#[test]
fn garbage() {
    assert_json_snapshot!(look(&machines::garbage(), "179:2"));
}

/// A path is resolved on the running system and looked up in the tree, so the tree's card gets
/// the number of the device that the path really is on.
#[test]
fn a_path_on_a_card() {
    let directory = tempfile::tempdir().unwrap();
    let number = DeviceNumber::from_raw(directory.path().metadata().unwrap().dev());
    if number.is_anonymous() {
        cardproof_testkit::skip("a_path_on_a_card", "the temporary directory is on no device");
        return;
    }
    let tree = machines::pi4_with_sd_card(&number.to_string());
    assert_json_snapshot!(whole(&look_at_path(&tree.root(), directory.path()).unwrap()));
}

/// `/proc` has an anonymous number everywhere, as btrfs has.
#[test]
fn a_path_on_btrfs_is_found_by_what_was_mounted() {
    let tree = machines::nvme_with_luks_and_btrfs();
    assert_json_snapshot!(whole(&look_at_path(&tree.root(), Path::new("/proc")).unwrap()));
}

#[test]
fn a_path_on_btrfs_over_two_disks_is_on_no_one_device() {
    let tree = machines::nvme_with_luks_and_btrfs();
    tree.file("sys/fs/btrfs/0a1b/devices/dm-0", "").file("sys/fs/btrfs/0a1b/devices/sdb", "");
    let surroundings = look_at_path(&tree.root(), Path::new("/proc")).unwrap();
    assert_eq!(json!(surroundings.device), json!({"device_count": 2}));
}

#[test]
fn a_path_on_an_overlay_or_in_memory_is_on_no_device() {
    let cases = [
        ("overlay overlay rw,lowerdir=/SECRET/l,upperdir=/SECRET/u", json!({})),
        ("tmpfs tmpfs rw,size=1024k", json!({"transport": "ram"})),
        ("nfs4 SECRET-server:/export rw,addr=192.168.1.2", json!({})),
        ("zfs tank/SECRET rw,xattr", json!({})),
    ];
    for (filesystem, expected) in cases {
        let tree = Tree::new();
        tree.mount("29 1 8:77 / / rw - ext4 /dev/elsewhere rw")
            .mount(&format!("30 29 0:50 / /proc rw,noatime - {filesystem}"));
        let answer = whole(&look_at_path(&tree.root(), Path::new("/proc")).unwrap());
        assert_eq!(answer["device"], expected, "{filesystem}");
        assert_eq!(answer["filesystem"]["kind"], filesystem.split(' ').next().unwrap());
    }
}

#[test]
fn a_loop_over_a_device_leads_to_the_device() {
    let tree = machines::pi4_with_sd_card("179:2");
    let directory = "sys/devices/virtual/block/loop0";
    tree.block(directory, "7:0", 1_048_576)
        .file(&format!("{directory}/loop/backing_file"), "/dev/mmcblk0p1\n");
    let device = &look(&tree, "7:0")["device"];
    assert_eq!(device["layer"], "loop over a device");
    assert_eq!(device["beneath"]["model"], "SD32G");
}

/// As in a chroot that is no mount: the table has no mount that holds the path.
#[test]
fn a_loop_whose_file_cannot_be_found_has_nothing_told_beneath() {
    let tree = Tree::new();
    let directory = "sys/devices/virtual/block/loop0";
    tree.block(directory, "7:0", 1_048_576)
        .file(&format!("{directory}/loop/backing_file"), "/elsewhere/card.img\n")
        .mount("30 29 8:1 / /data rw - ext4 /dev/sda1 rw");
    let device = &look(&tree, "7:0")["device"];
    assert_eq!(device["layer"], "loop over a file");
    assert_eq!(device["beneath"], Value::Null);
}

#[test]
fn devices_that_hold_one_another_in_a_circle_end() {
    let tree = Tree::new();
    let (one, two) = ("sys/devices/virtual/block/dm-1", "sys/devices/virtual/block/dm-2");
    tree.block(one, "253:1", 8).block(two, "253:2", 8).stack(one, two).stack(two, one);
    let text = look(&tree, "253:1").to_string();
    assert!(text.matches("beneath").count() < 40, "{text}");
}

#[test]
fn what_cannot_be_reached_is_named() {
    let root = Sysroot::default();
    let error = look_at_path(&root, Path::new("/no/such/card")).unwrap_err();
    assert!(matches!(error, LookError::Missing { .. }));
    assert!(error.to_string().contains("/no/such/card"), "{error}");
    let error = look_at_block_device(&root, Path::new("/proc")).unwrap_err();
    assert!(matches!(error, LookError::NotABlockDevice { .. }));
}

/// Whatever machine this runs on, a look at it must not fail and must at least know the kernel.
#[test]
fn the_running_system_can_be_looked_at() {
    let surroundings = look_at_path(&Sysroot::default(), Path::new(".")).unwrap();
    assert!(surroundings.host.kernel.unwrap().starts_with("Linux "));
    assert!(surroundings.host.memory_bytes.is_some());
    let filesystem = surroundings.filesystem.unwrap();
    assert!(filesystem.size_bytes >= filesystem.free_bytes);
}

/// A partition is addressed as its disk is; what no kernel would say is not believed.
#[test]
fn the_unit_of_a_disk_is_that_of_its_partitions() {
    let tree = Tree::new();
    let disk = "sys/devices/pci0000:00/0000:00:02.0/virtio1/block/vda";
    tree.block(disk, "254:0", 2048).block(&format!("{disk}/vda1"), "254:1", 1024);
    tree.file(&format!("{disk}/vda1/partition"), "1\n");
    let block = |number: &str| logical_block(&tree.root(), number.parse().unwrap());
    assert_eq!(block("254:0"), None);
    for (said, unit) in
        [("512", Some(512)), ("4096", Some(4096)), ("0", None), ("256", None), ("1000", None)]
    {
        tree.file(&format!("{disk}/queue/logical_block_size"), format!("{said}\n"));
        for number in ["254:0", "254:1"] {
            assert_eq!(block(number), unit.map(Bytes), "{said}");
        }
    }
    assert_eq!(block("254:2"), None, "there is no such device");
    let [disk, partition, absent] =
        ["254:0", "254:1", "254:2"].map(|number| is_disk(&tree.root(), number.parse().unwrap()));
    assert!(disk && !partition && !absent);
}

#[test]
fn a_loop_device_tells_whether_it_passes_by_the_page_cache() {
    let tree = machines::virtual_machine_with_loop();
    let is_direct = || is_loop_direct(&tree.root(), "7:7".parse().unwrap());
    assert_eq!(is_direct(), None);
    for (said, direct) in [("1", Some(true)), ("0", Some(false)), ("", None)] {
        tree.file(&format!("{}/loop/dio", machines::LOOP), format!("{said}\n"));
        assert_eq!(is_direct(), direct, "{said}");
    }
    assert_eq!(is_loop_direct(&tree.root(), "254:0".parse().unwrap()), None, "no loop device");
}
