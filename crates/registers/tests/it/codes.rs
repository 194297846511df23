//! What the codes in fields stand for.

use cardproof_registers::{ExtCsd, MmcCid, MmcCsd, Month, Ocr, Scr, SdCsd, SdStatus};
use cardproof_units::Bytes;

/// The SD Status with `value` in its byte number `byte`.
fn status(byte: usize, value: u8) -> SdStatus {
    let mut register = [0; 64];
    register[byte] = value;
    SdStatus::decode(&register)
}

/// EXT_CSD with these bytes.
fn extended(bytes: &[(usize, u8)]) -> ExtCsd {
    let mut register = [0; 512];
    for &(byte, value) in bytes {
        register[byte] = value;
    }
    ExtCsd::decode(&register)
}

#[test]
fn allocation_units() {
    let kib = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
    let mib = [12, 16, 24, 32, 64];
    let sizes = kib.map(Bytes::kib).into_iter().chain(mib.map(Bytes::mib));
    assert_eq!(status(10, 0).au_size(), None);
    for (code, size) in (1_u8..=15).zip(sizes) {
        assert_eq!(status(10, code << 4).au_size(), Some(size), "AU_SIZE {code:#x}");
        assert_eq!(status(14, code).uhs_au_size(), Some(size), "UHS_AU_SIZE {code:#x}");
    }
    assert_eq!(status(17, 8).video_au_size(), Some(Bytes::mib(8)));
    assert_eq!(status(17, 0).video_au_size(), None);
}

#[test]
fn claimed_classes() {
    let classes: Vec<_> = (0..=5).map(|code| status(8, code).speed_class()).collect();
    assert_eq!(classes, [None, Some(2), Some(4), Some(6), Some(10), None]);
    let grades: Vec<_> = (0..=4).map(|code| status(14, code << 4).uhs_grade()).collect();
    assert_eq!(grades, [None, Some(1), None, Some(3), None]);
    for class in [6, 10, 30, 60, 90] {
        assert_eq!(status(15, class).video_class(), Some(class));
    }
    assert_eq!((status(15, 0).video_class(), status(15, 31).video_class()), (None, None));
    let application: Vec<_> = (0..=3).map(|code| status(21, code).application_class()).collect();
    assert_eq!(application, [None, Some(1), Some(2), None]);
}

#[test]
fn queue_cache_and_discard_are_where_the_specification_has_them() {
    assert_eq!(status(22, 0x00).command_queue_depth(), None);
    assert_eq!(status(22, 0x08).command_queue_depth(), Some(2));
    assert_eq!(status(22, 0xf8).command_queue_depth(), Some(32));
    assert!(status(22, 0x04).has_cache && !status(22, 0xfb).has_cache);
    // A byte earlier, where a public header has them, nothing may be seen.
    assert!(status(24, 0x02).has_discard && status(24, 0x01).has_full_erase);
    assert!(!status(23, 0xff).has_discard && !status(23, 0xff).has_full_erase);
}

#[test]
fn capacities_of_the_three_versions() {
    let mut v1 = [0; 16];
    // READ_BL_LEN 10, C_SIZE 4095, C_SIZE_MULT 7: the largest version 1 card, 2 GiB.
    (v1[5], v1[6], v1[7], v1[8]) = (0x0a, 0x03, 0xff, 0xc0);
    (v1[9], v1[10]) = (0x03, 0x80);
    assert_eq!(SdCsd::decode(&v1).capacity(), Some(Bytes::gib(2)));
    let mut v2 = [0; 16];
    (v2[0], v2[7], v2[8], v2[9]) = (0x40, 0x3f, 0xff, 0xff);
    assert_eq!(SdCsd::decode(&v2).capacity(), Some(Bytes::gib(2048)));
    let mut v3 = [0; 16];
    (v3[0], v3[6], v3[7], v3[8], v3[9]) = (0x80, 0x0f, 0xff, 0xff, 0xff);
    assert_eq!(SdCsd::decode(&v3).capacity(), Some(Bytes::gib(128 << 10)));
    assert_eq!(SdCsd::decode(&[0xc0; 16]).capacity(), None);
}

#[test]
fn an_mmcs_capacity_is_elsewhere_above_2_gb() {
    let mut csd = [0; 16];
    (csd[5], csd[6], csd[7], csd[8], csd[9], csd[10]) = (0x09, 0x03, 0xff, 0xc0, 0x03, 0x80);
    assert_eq!(MmcCsd::decode(&csd).capacity(), None);
    csd[8] = 0x80;
    assert_eq!(MmcCsd::decode(&csd).capacity(), Some(Bytes(4095 * 512 * 512)));
    assert_eq!(extended(&[(215, 0x01)]).capacity(), Some(Bytes::gib(8)));
    assert_eq!(extended(&[]).capacity(), None);
}

#[test]
fn versions_of_the_sd_specification() {
    for (register, expected) in [
        (0x0000_0000, Some("1.0x")),
        (0x0100_0000, Some("1.10")),
        (0x0225_0000, Some("2.00")),
        (0x0235_8000, Some("3.0x")),
        (0x0235_8400, Some("4.xx")),
        (0x0235_8040, Some("5.xx")),
        (0x0235_8480, Some("6.xx")),
        (0x0235_84c0, Some("7.xx")),
        (0x0235_8500, Some("8.xx")),
        (0x0235_8540, Some("9.xx")),
        (0x0300_0000, None),
        (0x0200_0040, None),
    ] {
        let scr = Scr::decode(&(u64::from(register as u32) << 32).to_be_bytes());
        assert_eq!(scr.specification().as_deref(), expected, "{register:#x}");
    }
}

#[test]
fn an_mmcs_year_depends_on_the_extended_registers_revision() {
    // The spans from 1997, 2010 and 2023, as in Linux's mmc_decode_ext_csd.
    for (code, years) in [
        (0, [1997, 2013, 2029]),
        (3, [2000, 2016, 2032]),
        (9, [2006, 2022, 2038]),
        (10, [2007, 2023, 2023]),
        (12, [2009, 2025, 2025]),
        (13, [2010, 2010, 2026]),
        (15, [2012, 2012, 2028]),
    ] {
        let mut register = [0; 16];
        register[14] = 0x80 | code;
        let cid = MmcCid::decode(&register);
        assert_eq!([4, 5, 9].map(|revision| cid.year(revision)), years, "{code}");
        assert_eq!([0, 8, 255].map(|revision| cid.year(revision)), years, "{code}");
        assert_eq!(cid.manufactured(8), Month::new(years[1], 8));
    }
    assert_eq!(MmcCid::decode(&[0; 16]).manufactured(8), None);
}

#[test]
fn sandisk_uses_the_codes_of_2010_to_2012_again() {
    for (code, years) in
        [(12, [2025; 4]), (13, [2010, 2026, 2026, 2026]), (15, [2012, 2028, 2028, 2028])]
    {
        let mut register = [0; 16];
        (register[0], register[14]) = (0x45, 0x10 | code);
        let cid = MmcCid::decode(&register);
        assert_eq!([6, 7, 8, 9].map(|revision| cid.year(revision)), years, "{code}");
    }
}

#[test]
fn an_emmcs_bus_queue_and_cache() {
    let timing = |code| extended(&[(185, code)]).timing();
    assert_eq!(
        [0, 1, 2, 3, 4].map(timing)[..4],
        ["legacy", "high-speed", "HS200", "HS400"].map(Some)
    );
    assert_eq!((timing(4), timing(0x13)), (None, Some("HS400")));
    let width = |code| extended(&[(183, code)]).bus_width_bits();
    assert_eq!(
        [0, 1, 2, 5, 6, 0x86, 3].map(width),
        [1, 4, 8, 4, 8, 8, 0].map(|w| (w > 0).then_some(w))
    );
    assert!(extended(&[(196, 0x10)]).has_hs200() && !extended(&[(196, 0xcf)]).has_hs200());
    assert!(extended(&[(196, 0x40)]).has_hs400() && !extended(&[(196, 0x3f)]).has_hs400());
    assert_eq!(extended(&[(307, 0xff), (308, 1)]).command_queue_depth(), Some(32));
    assert_eq!(extended(&[(307, 31), (308, 0)]).command_queue_depth(), None);
    assert!(extended(&[(15, 1)]).is_queue_on() && extended(&[(33, 1)]).is_cache_on());
    assert_eq!(extended(&[(250, 2)]).cache_size(), Some(Bytes::kib(64)));
}

#[test]
fn an_emmcs_health() {
    let life = |a, b| extended(&[(268, a), (269, b)]).life_used_percent_max();
    assert_eq!(life(0, 0), None);
    assert_eq!(life(1, 4), Some(40));
    assert_eq!(life(10, 2), Some(100));
    assert_eq!(life(11, 2), Some(110));
    assert_eq!(life(0xff, 3), Some(30));
    let spare = [0, 1, 2, 3, 4].map(|code| extended(&[(267, code)]).spare_blocks());
    assert_eq!(spare, [None, Some("normal"), Some("warning"), Some("urgent"), None]);
    let versions = [5, 6, 7, 8, 9].map(|code| extended(&[(192, code)]).specification());
    assert_eq!(versions, ["4.41", "4.5", "5.0", "5.1", "5.1B"].map(Some));
    let versions = [4, 10].map(|code| extended(&[(192, code)]).specification());
    assert_eq!(versions, [None, None]);
}

#[test]
fn voltages() {
    let ocr = Ocr::decode(&[0xc0, 0xff, 0x80, 0x00]);
    assert_eq!(ocr.voltage_millivolts(), Some((2700, 3600)));
    assert_eq!(Ocr::decode(&[0, 0x20, 0, 0]).voltage_millivolts(), Some((3300, 3400)));
    assert_eq!(Ocr::decode(&[0; 4]).voltage_millivolts(), None);
}
