//! Which mounted file systems lie on a disk, on laid-out machines.

use std::path::Path;

use crate::common::Tree;
use cardproof_device::{Disk, filesystems_on};

const SDA: &str = "sys/devices/pci/sda";
const SDB: &str = "sys/devices/pci/sdb";

/// Two disks, of which the first has a partition with the root and the second another's files.
fn machine() -> Tree {
    let tree = Tree::new();
    tree.block(SDA, "8:0", 1 << 20)
        .partition(SDA, "sda1", "8:1", 1 << 19)
        .block(SDB, "8:16", 1 << 20)
        .mount("1 0 8:1 / / rw - ext4 /dev/sda1 rw")
        .mount("2 1 8:16 / /mnt rw - ext4 /dev/sdb rw")
        .mount("3 1 0:5 / /proc rw - proc proc rw");
    tree
}

/// Where the file systems on the disk `name` are reached; a dash where one is hidden.
fn points(tree: &Tree, name: &str) -> Vec<String> {
    let number = if name == "sda" { "8:0" } else { "8:16" };
    let disk = Disk { name: name.to_owned(), number: number.parse().unwrap(), size: None };
    let found = filesystems_on(&tree.root(), &disk).unwrap();
    let shown = |point: Option<&Path>| point.map_or("-".to_owned(), |it| it.display().to_string());
    found.iter().map(|filesystem| shown(filesystem.point.as_deref())).collect()
}

#[test]
fn another_disks_file_system_is_not_named() {
    assert_eq!(points(&machine(), "sda"), ["/"]);
    assert_eq!(points(&machine(), "sdb"), ["/mnt"]);
}

#[test]
fn a_file_system_mounted_twice_comes_once_and_where_it_can_be_reached() {
    let tree = machine();
    tree.mount("4 1 8:16 / /a rw - ext4 /dev/sdb rw").mount("5 2 0:6 / /mnt rw - tmpfs none rw");
    assert_eq!(points(&tree, "sdb"), ["/a"]);
    tree.mount("6 4 0:7 / /a rw - tmpfs none rw");
    assert_eq!(points(&tree, "sdb"), ["-"], "hidden everywhere");
}

#[test]
fn what_lies_on_volumes_and_in_files_comes_before_what_they_lie_on() {
    let tree = machine();
    let (volume, looped) = ("sys/devices/virtual/block/dm-0", "sys/devices/virtual/block/loop0");
    tree.partition(SDA, "sda2", "8:2", 1 << 18)
        .block(volume, "253:0", 1 << 18)
        .stack(volume, &format!("{SDA}/sda2"))
        .mount("4 1 253:0 / /home rw - xfs /dev/mapper/home rw")
        .block(looped, "7:0", 2048)
        .file(&format!("{looped}/loop/backing_file"), "/home/ann/card.img\n")
        .mount("5 1 7:0 / /image rw - vfat /dev/loop0 rw");
    assert_eq!(points(&tree, "sda"), ["/image", "/home", "/"]);
    assert_eq!(points(&tree, "sdb"), ["/mnt"]);
}

#[test]
fn a_btrfs_over_two_disks_lies_on_both() {
    let tree = machine();
    tree.partition(SDB, "sdb1", "8:17", 1 << 18)
        .mount("4 1 0:40 /@ /home rw - btrfs /dev/sda1 rw,subvol=/@")
        .file("sys/fs/btrfs/abc/devices/sda1", "")
        .file("sys/fs/btrfs/abc/devices/sdb1", "");
    assert_eq!(points(&tree, "sdb"), ["/mnt", "/home"]);
}

#[test]
fn a_stack_that_never_ends_leads_nowhere() {
    let tree = machine();
    let (one, other) = ("sys/devices/virtual/block/dm-0", "sys/devices/virtual/block/dm-1");
    tree.block(one, "253:0", 8).block(other, "253:1", 8).stack(one, other).stack(other, one);
    tree.mount("4 1 253:0 / /home rw - xfs /dev/mapper/home rw");
    assert_eq!(points(&tree, "sda"), ["/"]);
}
