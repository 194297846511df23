//! UFS storage, soldered or as a card: how it is attached and what its link can carry.

use cardproof_device::Sysroot;
use cardproof_device::identify::{StorageChoice, identify};
use cardproof_record::{DeviceInfo, Transport};

/// The directory of the host in a board's sysfs.
const HOST: &str = "sys/devices/platform/soc/2a2d0000.ufs";

/// A disk at a SCSI host below [`HOST`], with these further lines.
fn device(lines: &[(&str, &str)]) -> DeviceInfo {
    let disk = format!("{HOST}/host0/target0:0:0/0:0:0:0");
    let mut dump = vec![
        "# cardproof dump 1".to_owned(),
        format!("sys/class/block/sda -> {disk}/block/sda"),
        format!("sys/dev/block/8:0 -> {disk}/block/sda"),
        format!("{disk}/block/sda/dev = 8:0"),
        format!("{disk}/block/sda/size = 249929728"),
        format!("{disk}/block/sda/device -> {disk}"),
        format!("{disk}/model = UFSCARD128"),
    ];
    dump.extend(lines.iter().map(|(name, text)| format!("{HOST}/{name} = {text}")));
    let root = Sysroot::from_dump(&dump.join("\n")).unwrap();
    identify(&root, &StorageChoice::Named("/dev/sda".into())).unwrap().device
}

#[test]
fn a_ufs_host_is_known_and_its_gear_is_the_ceiling() {
    let descriptor = ("device_descriptor/device_sub_class", "0x02");
    for (gear, rate, lanes, link, mb_per_s) in [
        ("HS_GEAR3", "HS_RATE_B", "1", Some("UFS, HS gear 3B, 1 lane"), Some(583)),
        ("HS_GEAR4", "HS_RATE_A", "2", Some("UFS, HS gear 4A, 2 lanes"), Some(1996)),
        ("HS_GEAR5", "HS_RATE_B", "2", Some("UFS, HS gear 5B, 2 lanes"), Some(4664)),
        ("HS_GEAR6", "HS_RATE_B", "2", None, None),
        ("PWM_GEAR1", "UNKNOWN", "1", None, None),
        ("HS_GEAR3", "HS_RATE_B", "0", None, None),
    ] {
        let power =
            [("power_info/gear", gear), ("power_info/rate", rate), ("power_info/lane", lanes)];
        let found = device(&[&[descriptor][..], &power].concat());
        assert_eq!(found.transport, Some(Transport::Ufs), "{gear}");
        assert_eq!(found.link.as_deref(), link, "{gear}");
        let ceiling = found.link_ceiling_bytes_per_s.map(|bytes| bytes / 1_000_000);
        assert_eq!(ceiling, mb_per_s, "{gear}");
    }
    // An older kernel shows the descriptor alone, and a disk elsewhere has none.
    assert_eq!(device(&[descriptor]).transport, Some(Transport::Ufs));
    assert_eq!(device(&[descriptor]).link, None);
    assert_eq!(device(&[]).transport, None);
}
