//! Every field of every register, alone: its bits and no others make its value.
//!
//! The tables are written from the specifications, apart from the declarations that they test.

use cardproof_registers::{
    ExtCsd, MmcCid, MmcCsd, Ocr, Register, Scr, SdCid, SdCsd, SdStatus, Serials,
};

/// A place: the highest and the lowest bit of a big-endian number.
type Bits = (usize, usize);

/// Sets `bits` of the register to `value`, whatever else is in it.
fn set(register: &mut [u8], (high, low): Bits, value: u64) {
    let length = register.len();
    for bit in low..=high {
        let mask = 1 << (bit % 8);
        let byte = &mut register[length - 1 - bit / 8];
        if value >> (bit - low) & 1 == 1 { *byte |= mask } else { *byte &= !mask }
    }
}

/// Checks that `get` sees exactly `bits`: in a register otherwise all zeros and all ones, for
/// each single bit, none and all.
fn alone<R: Register>(bits: Bits, get: impl Fn(&R) -> u64) {
    let width = bits.0 - bits.1 + 1;
    let all = u64::MAX >> (64 - width);
    for value in (0..width).map(|bit| 1 << bit).chain([0, all]) {
        for background in [0x00, 0xff] {
            let mut register = vec![background; R::LENGTH_BYTES];
            set(&mut register, bits, value);
            let decoded = R::from_slice(&register).unwrap();
            assert_eq!(get(&decoded), value, "{} {bits:?} over {background:#x}", R::NAME);
        }
    }
}

/// Checks the place of each field listed, and that none of the register is left out.
macro_rules! places {
    ($register:ty: $($field:ident $high:literal : $low:literal),+ $(,)?) => {
        $(alone::<$register>(($high, $low), |register| u64::from(register.$field));)+
        let tested: &[(usize, usize)] = &[$(($high, $low)),+];
        let shown = <$register>::from_slice(&[0; <$register>::LENGTH_BYTES]).unwrap();
        let shown = shown.fields(Serials::Masked).len();
        assert!(tested.len() + 2 >= shown, "{} fields tested, {shown} shown", tested.len());
    };
}

/// The bits of bytes `first` to `last` of EXT_CSD, given that the number is turned around.
fn byte_alone(index: usize, get: impl Fn(&ExtCsd) -> u8) {
    alone::<ExtCsd>((8 * (511 - index) + 7, 8 * (511 - index)), |csd| u64::from(get(csd)));
}

#[test]
fn cid_of_an_sd_card() {
    places!(SdCid: manufacturer_id 127:120, oem_id 119:104, hardware_revision 63:60,
        firmware_revision 59:56, year_code 19:12, month_code 11:8, crc7 7:1);
    let mut register = [0; 16];
    set(&mut register, (103, 64), 0x41_4243_4445);
    set(&mut register, (55, 24), 0x1234_5678);
    let cid = SdCid::decode(&register);
    assert_eq!((cid.name.text().as_str(), cid.serial.shown().as_str()), ("ABCDE", "0x12345678"));
    let whole = SdCid::decode(&[0xff; 16]);
    assert_eq!(
        (whole.name.text().as_str(), whole.serial.shown().as_str()),
        ("?????", "0xffffffff")
    );
}

#[test]
fn cid_of_an_mmc() {
    places!(MmcCid: manufacturer_id 127:120, build 113:112, oem_id 111:104,
        product_revision 55:48, month_code 15:12, year_code 11:8, crc7 7:1, is_ended 0:0);
    let mut register = [0; 16];
    set(&mut register, (103, 56), 0x4142_4344_4546);
    set(&mut register, (47, 16), 0x1234_5678);
    set(&mut register, (119, 104), 0x0103);
    set(&mut register, (55, 48), 0x62);
    let cid = MmcCid::decode(&register);
    assert_eq!((cid.name.text().as_str(), cid.serial.shown().as_str()), ("ABCDEF", "0x12345678"));
    assert_eq!((cid.kernel_oem_id(), cid.product_revision_words().as_str()), (0x0103, "6.2"));
}

#[test]
fn csd_of_an_sd_card() {
    places!(SdCsd: structure 127:126, access_time_code 119:112, access_clocks_hundreds 111:104,
        transfer_rate_code 103:96, command_classes 95:84, read_block_length_code 83:80,
        can_read_partially 79:79, can_write_misaligned 78:78, can_read_misaligned 77:77,
        has_driver_stage 76:76, size_v1 73:62, size_v2 69:48, size_v3 75:48,
        read_current_low_code 61:59, read_current_high_code 58:56, write_current_low_code 55:53,
        write_current_high_code 52:50, size_exponent_v1 49:47, can_erase_single_blocks 46:46,
        erase_sector_code 45:39, protect_group_code 38:32, has_protect_groups 31:31,
        write_factor_code 28:26, write_block_length_code 25:22, can_write_partially 21:21,
        is_other_file_format 15:15, is_copy 14:14, is_protected_for_good 13:13,
        is_protected_for_now 12:12, file_format 11:10, crc7 7:1);
}

#[test]
fn csd_of_an_mmc() {
    places!(MmcCsd: structure 127:126, specification 125:122, access_time_code 119:112,
        access_clocks_hundreds 111:104, transfer_rate_code 103:96, command_classes 95:84,
        read_block_length_code 83:80, can_read_partially 79:79, can_write_misaligned 78:78,
        can_read_misaligned 77:77, has_driver_stage 76:76, size 73:62, size_exponent 49:47,
        erase_group_size 46:42, erase_group_factor 41:37, protect_group_code 36:32,
        has_protect_groups 31:31, write_factor_code 28:26, write_block_length_code 25:22,
        can_write_partially 21:21, is_copy 14:14, is_protected_for_good 13:13,
        is_protected_for_now 12:12, crc7 7:1);
}

#[test]
fn scr() {
    places!(Scr: structure 63:60, spec 59:56, is_erased_to_ones 55:55, security 54:52,
        bus_widths 51:48, is_spec3 47:47, extended_security 46:43, is_spec4 42:42, specx 41:38,
        has_cmd58 35:35, has_cmd48 34:34, has_cmd23 33:33, has_cmd20 32:32);
}

#[test]
fn ocr() {
    places!(Ocr: is_powered_up 31:31, is_high_capacity 30:30, is_uhs2 29:29, is_over_2tb 27:27,
        accepts_1v8 24:24, voltages 23:15, accepts_low_voltage 7:7);
}

#[test]
fn sd_status() {
    places!(SdStatus: bus_width_code 511:510, is_secured 509:509, card_type 495:480,
        protected_area 479:448, speed_class_code 447:440, move_rate_mb_per_s 439:432,
        au_code 431:428, erase_aus 423:408, erase_timeout_s 407:402, erase_offset_s 401:400,
        uhs_grade_code 399:396, uhs_au_code 395:392, video_class_code 391:384,
        video_au_mib 377:368, suspension_address 367:346, application_class_code 339:336,
        queue_code 335:331, has_cache 330:330, has_host_maintenance 329:329,
        has_card_maintenance 328:328, has_discard 313:313, has_full_erase 312:312);
}

#[test]
fn ext_csd() {
    byte_alone(15, |csd| csd.queue_mode);
    byte_alone(33, |csd| csd.cache_control);
    byte_alone(167, |csd| csd.write_reliability);
    byte_alone(168, |csd| csd.rpmb_units);
    byte_alone(179, |csd| csd.partition_config);
    byte_alone(183, |csd| csd.bus_width_code);
    byte_alone(185, |csd| csd.timing_code);
    byte_alone(192, |csd| csd.revision);
    byte_alone(194, |csd| csd.csd_structure);
    byte_alone(196, |csd| csd.device_type);
    byte_alone(221, |csd| csd.protect_group);
    byte_alone(223, |csd| csd.erase_timeout_units);
    byte_alone(224, |csd| csd.erase_group_units);
    byte_alone(226, |csd| csd.boot_units);
    byte_alone(231, |csd| csd.erase_features);
    byte_alone(267, |csd| csd.pre_eol_code);
    byte_alone(268, |csd| csd.life_a_code);
    byte_alone(269, |csd| csd.life_b_code);
    byte_alone(307, |csd| csd.queue_depth_code);
    byte_alone(308, |csd| csd.queue_support);
    byte_alone(502, |csd| csd.background_support);
}

#[test]
fn numbers_of_several_bytes_in_ext_csd_have_the_lowest_first() {
    let mut register = [0; 512];
    register[184] = 1;
    register[212..216].copy_from_slice(&0x0742_1000_u32.to_le_bytes());
    register[249..253].copy_from_slice(&65_536_u32.to_le_bytes());
    register[254..262].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let csd = ExtCsd::decode(&register);
    assert_eq!((csd.sectors, csd.cache_kilobits, csd.has_strobe), (0x0742_1000, 65_536, true));
    assert_eq!(csd.firmware_words().as_deref(), Some("0x0102030405060708"));
}
