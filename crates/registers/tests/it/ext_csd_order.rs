//! Which byte a dump of EXT_CSD begins with is seen in its bytes.
//!
//! The registers are those of two devices whose debugfs files are public: one of an eMMC 5.1 of 62 GB
//! on an i.MX 8, whose kernel printed byte 0 first, and one of an eMMC 4.41 of 3.8 GB, whose kernel of
//! 2012 counted down. All bytes that are not zero are here.

use cardproof_registers::{ByteOrder, ExtCsd};
use cardproof_units::Bytes;

/// Bytes from a place on, in hex.
type Stretch = (usize, &'static str);

const EMMC_5_1: [Stretch; 11] = [
    (16, "390300c0470700c04707"),
    (33, "0101"),
    (60, "0a000001"),
    (130, "01"),
    (157, "900e000701"),
    (166, "151f20"),
    (
        184,
        "010100090000000008000200571f0a0aeeee8888001e0f460f78140100c0470710140a0a0902013208084000",
    ),
    (228, "07fdfb550100640aeeeeee99011e02000000"),
    (247, "320a00100000ee01"),
    (264, "0120200101"),
    (307, "1f01"),
];

/// The end of the same, which is not zero from BARRIER_SUPPORT on.
const EMMC_5_1_END: Stretch = (486, "01ffffffff00000103007f0003013f3f010101");

const EMMC_4_41: [Stretch; 10] = [
    (157, "ca0100030000"),
    (166, "050001"),
    (183, "020001"),
    (192, "050002000700020100000000000808080808080000807200"),
    (217, "10000808010101080610"),
    (228, "0703021506"),
    (241, "7a08"),
    (246, "02"),
    (502, "0103"),
    (504, "01"),
];

fn register(stretches: &[Stretch]) -> [u8; 512] {
    let mut register = [0; 512];
    for (from, hex) in stretches {
        let bytes = cardproof_registers::parse_hex(hex).unwrap();
        register[*from..][..bytes.len()].copy_from_slice(&bytes);
    }
    register
}

fn emmc_5_1() -> [u8; 512] {
    register(&[&EMMC_5_1[..], &[EMMC_5_1_END]].concat())
}

/// The dump of `register` in an order.
fn dump(register: &[u8; 512], order: ByteOrder) -> String {
    let mut bytes = *register;
    if order == ByteOrder::LastFirst {
        bytes.reverse();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a dump in either order is taken for.
fn check(register: &[u8; 512], capacity: Option<Bytes>) {
    for order in [ByteOrder::FirstFirst, ByteOrder::LastFirst] {
        let (decoded, found) = ExtCsd::from_dump(&dump(register, order), capacity).unwrap();
        assert_eq!((found, &decoded), (order, &ExtCsd::decode(register)), "{capacity:?}");
    }
}

#[test]
fn real_registers_are_read_in_either_order() {
    let (new, old) = (emmc_5_1(), register(&EMMC_4_41));
    for capacity in [None, Some(Bytes(1)), Some(Bytes::gib(58))] {
        check(&new, capacity);
        check(&old, capacity);
    }
    let csd = ExtCsd::decode(&new);
    assert_eq!((csd.specification(), csd.capacity()), (Some("5.1"), Some(Bytes(62_537_072_640))));
    assert_eq!((csd.erase_group(), csd.command_queue_depth()), (Some(Bytes::mib(4)), Some(32)));
    assert_eq!((csd.life_used_percent_max(), csd.spare_blocks()), (Some(10), Some("normal")));
    let csd = ExtCsd::decode(&old);
    assert_eq!((csd.specification(), csd.capacity()), (Some("4.41"), Some(Bytes(3_841_982_464))));
}

/// A register of which a damaged dump has little left, and a maker's own values at the mirrors.
#[test]
fn the_known_capacity_decides_where_the_other_signs_do_not() {
    let mut register = [0; 512];
    register[212..216].copy_from_slice(&30_535_680_u32.to_le_bytes());
    for (mirror, value) in [(192, 8), (194, 2), (196, 0x57), (224, 1), (504, 1)] {
        register[511 - mirror] = value;
    }
    check(&register, Some(Bytes(30_535_680 * 512)));
    let (_, order) = ExtCsd::from_dump(&dump(&register, ByteOrder::FirstFirst), None).unwrap();
    assert_eq!(order, ByteOrder::LastFirst, "without the capacity the signs mislead");
}

#[test]
fn where_nothing_tells_byte_0_is_first() {
    for byte in [0, 0xff, 1] {
        let text = dump(&[byte; 512], ByteOrder::FirstFirst);
        for capacity in [None, Some(Bytes(0)), Some(Bytes::gib(8))] {
            assert_eq!(ExtCsd::from_dump(&text, capacity).unwrap().1, ByteOrder::FirstFirst);
        }
    }
    assert!(ExtCsd::from_dump("00", None).is_err() && ExtCsd::from_dump("x", None).is_err());
}
