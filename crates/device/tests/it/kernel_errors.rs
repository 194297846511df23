//! What went wrong since the start, by the kernel's log: of this device, and with its figures.

use cardproof_device::Sysroot;
use cardproof_device::identify::{Errors, StorageChoice, identify};
use cardproof_record::{FindingKind, KernelFault};

/// A Raspberry Pi 4 with a card in `mmc0`, as it would be recorded.
const TREE: &str = include_str!("../trees/pi4_a2_ddr50.txt");

fn errors(log: &str) -> Errors {
    let tree = TREE.lines().filter(|line| !line.starts_with("dmesg"));
    let lines: Vec<String> = tree
        .map(str::to_owned)
        .chain(log.lines().map(|line| format!("dmesg = {}", line.trim())))
        .collect();
    let root = Sysroot::from_dump(&lines.join("\n")).unwrap();
    identify(&root, &StorageChoice::Named("/dev/mmcblk0".into())).unwrap().errors
}

fn told(errors: &Errors) -> Vec<(KernelFault, u64)> {
    let of = |what: &FindingKind| match what {
        FindingKind::KernelMessages { fault, count, .. } => (*fault, *count),
        other => panic!("{other:?}"),
    };
    errors.log.iter().map(|finding| of(&finding.what)).collect()
}

#[test]
fn errors_are_counted_with_their_places_and_times() {
    let errors = errors(
        "[  303.215569] mmc0: timeout waiting for hardware interrupt.
         [  303.218188] mmcblk0: error -110 transferring data, sector 10372992, nr 8, cmd response 0x900, card status 0xc00
         [  303.300000] mmcblk0: error -84 transferring data, sector 8, nr 8, cmd response 0x900, card status 0x0
         [  323.698359] blk_update_request: I/O error, dev mmcblk0, sector 3767312
         [  323.698418] Aborting journal on device mmcblk0p2-8.
         [  323.700000] EXT4-fs (mmcblk0p2): Remounting filesystem read-only
         [  330.000000] I/O error, dev sda, sector 8 op 0x0:(READ) flags 0x0
         [  331.000000] mmc1: error -110 whilst initialising SDIO card",
    );
    let expected = [
        (KernelFault::NoAnswer, 2),
        (KernelFault::WrongChecksum, 1),
        (KernelFault::IoError, 1),
        (KernelFault::FilesystemError, 1),
        (KernelFault::ReadOnly, 1),
    ];
    assert_eq!(told(&errors), expected);
    let FindingKind::KernelMessages { sectors, first_at, .. } = &errors.log[0].what else {
        panic!("{errors:?}")
    };
    assert_eq!((sectors.as_slice(), first_at.as_deref()), (&[10_372_992][..], Some("303.2 s")));
    assert_eq!(errors.log[0].device.as_deref(), Some("mmcblk0"));
}

#[test]
fn a_sound_log_tells_of_no_error() {
    let errors = errors("[    1.57] mmc0: new ultra high speed DDR50 SDXC card at address aaaa");
    assert_eq!(errors.log, []);
    assert!(errors.is_empty());
}
