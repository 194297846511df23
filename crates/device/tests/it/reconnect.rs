//! How disks are disconnected and found again, on laid-out machines.

use std::path::Path;

use crate::common::Tree;
use cardproof_device::{ReconnectError, Reconnection};

const USB: &str = "sys/devices/pci0000:00/usb1/1-2";
const SLOT: &str = "sys/devices/platform/soc/fe340000.mmc";

/// A reader with two slots on one USB device, the first of which holds a card.
fn reader() -> Tree {
    let tree = Tree::new();
    tree.files(USB, "idVendor 05e3\nspeed 480\nauthorized 1\nserial 000042")
        .files(&format!("{USB}/1-2:1.0"), "bInterfaceClass 08")
        .mount("1 0 9:9 / / rw - ext4 /dev/elsewhere rw")
        .swaps("");
    for (lun, name, number) in [(0, "sda", "8:0"), (1, "sdb", "8:16")] {
        let place = format!("{USB}/1-2:1.0/host2/target2:0:0/2:0:0:{lun}/block/{name}");
        tree.block(&place, number, 1 << 20);
    }
    tree
}

fn card() -> Tree {
    let tree = Tree::new();
    let card = format!("{SLOT}/mmc_host/mmc0/mmc0:aaaa");
    tree.files(&card, "type SD\nserial 0x1234abcd")
        .block(&format!("{card}/block/mmcblk0"), "179:0", 1 << 20)
        .partition(&format!("{card}/block/mmcblk0"), "mmcblk0p1", "179:1", 1 << 19)
        .link(&format!("{SLOT}/driver"), "sys/bus/platform/drivers/sdhci-iproc")
        .files("sys/bus/platform/drivers/sdhci-iproc", "bind 0\nunbind 0")
        .mount("1 0 9:9 / / rw - ext4 /dev/elsewhere rw")
        .swaps("");
    tree
}

fn of(tree: &Tree, number: &str) -> Result<Reconnection, ReconnectError> {
    Reconnection::find(&tree.root(), number.parse().unwrap())
}

#[test]
fn a_usb_device_has_a_switch() {
    let way = of(&reader(), "8:0").unwrap();
    assert_eq!(way.disconnect.file, Path::new("/").join(USB).join("authorized"));
    assert_eq!((way.disconnect.text.as_str(), way.connect.text.as_str()), ("0", "1"));
}

#[test]
fn a_card_slot_has_a_driver() {
    let way = of(&card(), "179:0").unwrap();
    let driver = Path::new("/sys/bus/platform/drivers/sdhci-iproc");
    assert_eq!(way.disconnect.file, driver.join("unbind"));
    assert_eq!(way.connect.file, driver.join("bind"));
    assert_eq!(way.connect.text, "fe340000.mmc");
}

#[test]
fn the_same_slot_of_a_reader_is_found_under_another_name() {
    let way = of(&reader(), "8:16").unwrap();
    let later = Tree::new();
    later.files(USB, "idVendor 05e3\nspeed 480\nauthorized 1\nserial 000042");
    assert!(way.is_gone(&later.root()));
    for (lun, name, number) in [(0, "sdc", "8:32"), (1, "sdd", "8:48")] {
        let place = format!("{USB}/1-2:1.0/host7/target7:0:0/7:0:0:{lun}/block/{name}");
        later.block(&place, number, 1 << 20);
    }
    assert_eq!(way.node(&later.root()).as_deref(), Some(Path::new("/dev/sdd")));
}

#[test]
fn another_card_is_not_the_same() {
    let way = of(&reader(), "8:0").unwrap();
    let place = format!("{USB}/1-2:1.0/host7/target7:0:0/7:0:0:0/block/sda");
    let device = "idVendor 05e3\nspeed 480\nauthorized 1\nserial ";
    let other_size = Tree::new();
    other_size.files(USB, &format!("{device}000042")).block(&place, "8:0", 1 << 21);
    let other_serial = Tree::new();
    other_serial.files(USB, &format!("{device}000043")).block(&place, "8:0", 1 << 20);
    for tree in [other_size, other_serial] {
        assert_eq!(way.node(&tree.root()), None);
        assert!(!way.is_gone(&tree.root()));
    }
}

#[test]
fn a_mounted_card_in_the_same_reader_is_not_disconnected() {
    let tree = reader();
    tree.mount("2 1 8:16 / /media/photos rw - vfat /dev/sdb rw");
    let error = of(&tree, "8:0").unwrap_err();
    assert!(matches!(&error, ReconnectError::InUse { node, .. } if node == Path::new("/dev/sdb")));
    assert!(error.to_string().contains("/media/photos"), "{error}");
}

#[test]
fn a_device_with_more_than_storage_is_not_disconnected() {
    let tree = reader();
    tree.files(&format!("{USB}/1-2:1.1"), "bInterfaceClass 03");
    assert!(matches!(of(&tree, "8:0"), Err(ReconnectError::Shared { .. })));
    let tree = card();
    tree.files(&format!("{SLOT}/mmc_host/mmc0/mmc0:0001"), "type SDIO");
    assert!(matches!(of(&tree, "179:0"), Err(ReconnectError::Shared { .. })));
}

#[test]
fn what_has_no_switch_is_refused() {
    let tree = Tree::new();
    tree.block("sys/devices/virtual/block/loop0", "7:0", 1 << 20);
    assert_eq!(of(&tree, "7:0"), Err(ReconnectError::NotPossible));
    assert_eq!(of(&tree, "7:1"), Err(ReconnectError::NotPossible));
    assert!(matches!(of(&card(), "179:1"), Err(ReconnectError::Partition(_))));
}
