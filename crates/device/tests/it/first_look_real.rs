//! The first look at real file systems on loop devices, where the truth is known.

use std::fs::File;

use cardproof_record::Transport;

use cardproof_device::{Surroundings, Sysroot, look_at_block_device, look_at_path};
use cardproof_testkit::{Filesystem, LoopDevice, Mount, lab_or_skip};
use cardproof_units::Bytes;

const SIZE: Bytes = Bytes::mib(128);

fn device_is(surroundings: &Surroundings, device: &LoopDevice) {
    let info = &surroundings.device;
    assert_eq!(info.name, Some(device.name()));
    assert_eq!(info.transport, Some(Transport::Loop));
    assert_eq!(info.size_bytes, Some(SIZE));
    assert_eq!(info.layer.as_deref(), Some("loop over a file"));
    let text = serde_json::to_string(info).unwrap();
    let image = device.image().file_name().unwrap().to_str().unwrap();
    assert!(!text.contains(image), "the image's path is told: {text}");
}

/// ext4 has its device's number, btrfs one of its own.
#[test]
fn a_file_on_a_loop_device_is_traced_to_it() {
    for (filesystem, option) in
        [(Filesystem::Ext4, "noatime"), (Filesystem::Btrfs, "compress=zstd")]
    {
        let device = lab_or_skip!(LoopDevice::new(SIZE));
        lab_or_skip!(filesystem.make(&device));
        let mount = lab_or_skip!(Mount::new(&device, filesystem, option));
        let file = mount.path().join("file");
        File::create(&file).unwrap();
        for path in [mount.path(), &file] {
            let surroundings = look_at_path(&Sysroot::default(), path).unwrap();
            device_is(&surroundings, &device);
            assert!(surroundings.settings.read_ahead_bytes.is_some());
            let info = surroundings.filesystem.unwrap();
            assert_eq!(info.kind, filesystem.name());
            let has_option = info.options.iter().any(|kept| kept.starts_with(option));
            assert!(has_option, "{:?}", info.options);
            assert!(info.size_bytes.unwrap() <= SIZE && info.free_bytes < info.size_bytes);
        }
    }
}

/// The image lies in memory where the machine has a place for that, and then so does the card.
#[test]
fn what_lies_below_a_loop_device_is_told() {
    let device = lab_or_skip!(LoopDevice::new(SIZE));
    let surroundings = look_at_block_device(&Sysroot::default(), device.path()).unwrap();
    device_is(&surroundings, &device);
    assert_eq!(surroundings.filesystem, None);
    if device.image().starts_with("/dev/shm") {
        assert_eq!(surroundings.device.lowest().transport, Some(Transport::Ram));
    }
}

/// sysfs then tells a path that leads nowhere.
#[test]
fn a_loop_over_a_removed_file_in_memory_is_memory() {
    let mount = lab_or_skip!(Mount::tmpfs("size=64M"));
    let device = lab_or_skip!(LoopDevice::sparse_in(mount.path(), SIZE));
    std::fs::remove_file(device.image()).unwrap();
    let surroundings = look_at_block_device(&Sysroot::default(), device.path()).unwrap();
    device_is(&surroundings, &device);
    assert_eq!(surroundings.device.lowest().transport, Some(Transport::Ram));
}

#[test]
fn a_directory_in_memory_is_told() {
    let mount = lab_or_skip!(Mount::tmpfs("size=64M"));
    let surroundings = look_at_path(&Sysroot::default(), mount.path()).unwrap();
    assert_eq!(surroundings.device.transport, Some(Transport::Ram));
    let info = surroundings.filesystem.unwrap();
    assert_eq!((info.kind.as_str(), info.size_bytes), ("tmpfs", Some(Bytes::mib(64))));
    assert!(info.options.contains(&"size=65536k".to_owned()), "{:?}", info.options);
}
