//! What a test of the capacity is called.

use cardproof_record::{
    CapacityCover, CapacityElsewhere, CapacityFiles, CapacityFound, CapacityMethod, CapacityPlace,
    Trial,
};
use cardproof_testkit::records;

use super::*;

fn with_files(files: CapacityFiles) -> Capacity {
    with_files_on(Some(Bytes::gib(8)), files)
}

/// Files in a file system that counts 8 GiB, on such a device.
fn with_files_on(device: Option<Bytes>, files: CapacityFiles) -> Capacity {
    let mut record = records::typical_a1_card();
    record.conditions.target.size_bytes = Bytes::gib(8);
    record.conditions.device.size_bytes = device;
    record.trial =
        Some(Trial::Capacity(CapacityTest { files: Some(files), ..CapacityTest::default() }));
    capacity(&record).unwrap()
}

/// Files over the whole card, of which `bad` sectors hold data of another address.
fn files(bad: u64) -> CapacityFiles {
    let sectors = Bytes::gib(8).get() / 512;
    CapacityFiles {
        tested_bytes: Bytes::gib(8),
        right_sectors: sectors - bad,
        foreign_sectors: bad,
        longest_bad_sectors: bad,
        is_all_free_space: true,
        ..CapacityFiles::default()
    }
}

#[test]
fn files_tell_a_fake_from_damage_and_from_a_genuine_card() {
    assert_eq!(with_files(files(0)).verdict, CapacityVerdict::Genuine);
    assert_eq!(with_files(files(8)).verdict, CapacityVerdict::Damaged);
    let fake = with_files(files(1 << 22));
    assert_eq!(fake.verdict, CapacityVerdict::Fake);
    assert_eq!(fake.real_size, (Bytes::gib(6), Bytes::gib(6)));
    assert_eq!(fake.in_short(), "FAKE: holds 6 GiB of 8 GiB");
    assert!(fake.advice().unwrap().starts_with("Copy your data"), "{fake:?}");
    let part = CapacityFiles { is_all_free_space: false, ..files(0) };
    assert_eq!(with_files(part).verdict, CapacityVerdict::Undecided);
}

/// A file system counts neither its own data nor other partitions: they were not tested, so they may be real.
#[test]
fn bounds_by_files_leave_room_for_what_the_file_system_does_not_count() {
    for device in [Bytes::gib(8) + Bytes::mib(900), Bytes::gib(14)] {
        let of = |bad: u64| with_files_on(Some(device), files(bad));
        let fake = of(1 << 22);
        assert_eq!(fake.verdict, CapacityVerdict::Fake, "{fake:#?}");
        let most = device - Bytes::gib(2);
        assert_eq!((fake.announced, fake.real_size), (device, (Bytes::gib(6), most)), "{fake:#?}");
        let told = fake.advice().unwrap();
        assert!(!told.contains("first"), "which addresses keep data is not known: {told}");
        assert_eq!(of(8).real_size.1, device);
        let genuine = of(0);
        assert_eq!(genuine.verdict, CapacityVerdict::Genuine, "{genuine:#?}");
        let is_all = device < Bytes::gib(9);
        let low = if is_all { device } else { Bytes::gib(8) };
        assert_eq!(genuine.real_size, (low, device), "{genuine:#?}");
        assert_eq!(
            genuine.headline().contains("as far as tested"),
            !is_all,
            "{}",
            genuine.headline()
        );
    }
    // A set of files may have come from a device of which nothing is told.
    assert_eq!(with_files_on(None, files(1 << 22)).real_size, (Bytes::gib(6), Bytes::gib(6)));
}

/// A random place: where, how long, how much was written before it was complete and when it was read, and how
/// much of it was right.
fn place(bytes: [u64; 5], found: CapacityFound) -> CapacityPlace {
    let [offset_bytes, length_bytes, written_at_bytes, read_at_bytes, right] = bytes.map(Bytes);
    CapacityPlace {
        offset_bytes,
        length_bytes,
        written_at_bytes,
        read_at_bytes,
        right_prefix_bytes: right,
        live_prefix_bytes: right,
        transient_errors: 0,
        is_random: true,
        found,
    }
}

/// A test of `tested` bytes in the free space of a card of 8 GiB; places from `first_lost` on give zeros.
fn in_free_space(tested: Bytes, first_lost: u64) -> Capacity {
    let mut record = records::typical_a1_card();
    record.conditions.target.size_bytes = Bytes::gib(7);
    let size = tested.get();
    // Not in the order of the addresses, or a card that is full looks the same.
    let offset_of = |number: u64| size / 512 * (number * 197 % 512) / 4096 * 4096;
    let read_back = |number: u64| {
        let offset = offset_of(number);
        let (right, found) = match offset < first_lost {
            true => (4096, CapacityFound::Right),
            false => (0, CapacityFound::Constant { byte: 0 }),
        };
        place([offset, 4096, (number + 1) * 4096, 512 * 4096, right], found)
    };
    let cover = CapacityCover {
        filesystem_bytes: Bytes::gib(7),
        device_bytes: Some(Bytes::gib(8)),
        free_bytes: Some(Bytes::gib(3)),
        ..CapacityCover::default()
    };
    record.trial = Some(Trial::Capacity(CapacityTest {
        method: CapacityMethod::FreeSpace,
        announced_bytes: tested,
        written: (0..512).map(|number| [Bytes(offset_of(number)), Bytes(4096)]).collect(),
        places: (0..512).map(read_back).collect(),
        is_full: true,
        cover: Some(cover),
        ..CapacityTest::default()
    }));
    capacity(&record).unwrap()
}

#[test]
fn a_test_of_free_space_says_how_much_of_the_device_it_covers() {
    let part = in_free_space(Bytes::gib(2), u64::MAX);
    assert_eq!(part.verdict, CapacityVerdict::Genuine, "{part:#?}");
    assert!(
        part.headline().starts_with(
            "GENUINE as far as tested: 2 GiB of the 3 GiB that were free, on a device of 8 GiB"
        ),
        "{part:#?}"
    );
    assert_eq!((part.free_space, part.announced), (Some(Bytes::gib(2)), Bytes::gib(8)));
    assert_eq!(part.real_size, (Bytes::gib(2), Bytes::gib(8)));
    let nearly_all = in_free_space(Bytes::gib(8) - Bytes::mib(64), u64::MAX);
    assert_eq!(nearly_all.headline(), "GENUINE: all 7.9 GiB that were tested of 8 GiB keep data.");
    let samples = Capacity { is_full: false, ..nearly_all };
    assert_eq!(samples.headline(), "GENUINE: samples over all 8 GiB were correct.");
}

/// A fake that holds more than was tested and repeats its addresses beyond that keeps all that the test wrote.
#[test]
fn a_small_part_of_the_device_does_not_make_it_genuine() {
    let small = in_free_space(Bytes::mib(500), u64::MAX);
    assert_eq!(small.verdict, CapacityVerdict::Undecided, "{small:#?}");
    assert_eq!(
        small.headline(),
        "UNDECIDED: nothing wrong was found in what was tested: 500 MiB of the 3 GiB that were free, on a device of \
         8 GiB."
    );
    assert!(small.reasons_in_words()[0].contains("500 MiB or more may pass"), "{small:#?}");
    let advice = "The free space keeps data. 94 % of the device was not tested. A quarter of the device is enough for a verdict: \
                  free at least 2 GiB more, and repeat the test.";
    assert_eq!(small.advice().as_deref(), Some(advice));
    let fake = in_free_space(Bytes::mib(500), 100 << 20);
    assert_eq!(fake.verdict, CapacityVerdict::Fake, "what is wrong there is wrong: {fake:#?}");
}

/// What the files of the file system lie on was not tested, so it may be real.
#[test]
fn bounds_of_free_space_leave_room_for_what_was_not_tested() {
    let fake = in_free_space(Bytes::gib(4), 1 << 30);
    assert_eq!(fake.verdict, CapacityVerdict::Fake, "{fake:#?}");
    let (low, high) = fake.real_size;
    assert!(low <= Bytes::gib(1) && low >= Bytes::mib(900), "{fake:#?}");
    assert!((Bytes::gib(5)..Bytes::gib(6)).contains(&high), "{fake:#?}");
    let nothing = in_free_space(Bytes::gib(4), 0);
    assert_eq!(nothing.verdict, CapacityVerdict::Damaged, "{nothing:#?}");
    assert!(nothing.reasons_in_words().last().unwrap().contains("looks the same"), "{nothing:#?}");
}

/// A card of 32 GiB of which 3 GiB were tested and keep their data, with what reading elsewhere has shown.
fn with_elsewhere(elsewhere: CapacityElsewhere) -> Capacity {
    let cover = CapacityCover {
        filesystem_bytes: Bytes::gib(32),
        device_bytes: Some(Bytes::gib(32)),
        ..CapacityCover::default()
    };
    let test = CapacityTest {
        announced_bytes: Bytes::gib(3),
        cover: Some(cover),
        elsewhere: Some(elsewhere),
        ..CapacityTest::default()
    };
    let found = Capacity {
        verdict: CapacityVerdict::Genuine,
        kind: "honest",
        real_size: (Bytes::gib(3), Bytes::gib(3)),
        ..Capacity::unknown(Bytes::gib(3))
    };
    elsewhere::judged(with_cover(found, &test, false), &test)
}

/// Places over the whole disk, and 128 MiB that were written from 30 GiB on.
fn over_the_disk(places: u64) -> CapacityElsewhere {
    CapacityElsewhere {
        disk_bytes: Some(Bytes::gib(32)),
        places,
        top_bytes: Bytes::mib(128),
        top_start_bytes: Bytes::gib(30),
        ..CapacityElsewhere::default()
    }
}

#[test]
fn data_at_places_that_nobody_wrote_are_a_fakes() {
    let fake = with_elsewhere(CapacityElsewhere {
        found: 3,
        changed: 2,
        distances_bytes: vec![Bytes::gib(12), Bytes::gib(18)],
        ..over_the_disk(900)
    });
    assert_eq!(fake.verdict, CapacityVerdict::Fake);
    assert_eq!(fake.headline(), "FAKE: announced capacity 32 GiB, real capacity at most 6 GiB.");
    assert_eq!(fake.in_short(), "FAKE: holds at most 6 GiB of 32 GiB");
    let in_files = CapacityElsewhere { places: 50, found: 1, changed: 1, ..Default::default() };
    let fake = with_elsewhere(in_files);
    assert_eq!(fake.verdict, CapacityVerdict::Fake);
    assert_eq!(fake.in_short(), "FAKE: holds less than 32 GiB");
}

/// Addresses of which one line in the middle is missing are shared at one distance, but do not begin again there.
#[test]
fn the_real_size_of_a_fake_is_never_said_to_be_less_than_what_was_kept() {
    let fake = with_elsewhere(CapacityElsewhere {
        found: 3,
        changed: 3,
        distances_bytes: vec![Bytes::gib(2), Bytes::gib(4)],
        ..over_the_disk(900)
    });
    assert_eq!(fake.verdict, CapacityVerdict::Fake);
    assert_eq!(fake.real_size, (Bytes::ZERO, Bytes::gib(32)));
}

/// A journal may have put them there, or a store may keep back what was written once more.
#[test]
fn data_that_stay_as_they_are_show_no_fake_and_nothing_genuine() {
    let old = with_elsewhere(CapacityElsewhere { found: 30, changed: 3, ..over_the_disk(9000) });
    assert_eq!(old.verdict, CapacityVerdict::Undecided);
    assert!(!old.is_sound(), "{old:#?}");
    assert!(old.reasons_in_words()[0].contains("at 30 places that it has not written"), "{old:#?}");
}

#[test]
fn a_small_part_stands_for_the_device_where_no_place_elsewhere_has_its_data() {
    let verdict = |elsewhere| with_elsewhere(elsewhere).verdict;
    assert_eq!(verdict(over_the_disk(1308)), CapacityVerdict::Genuine);
    assert_eq!(verdict(over_the_disk(1307)), CapacityVerdict::Undecided, "too few places");
    let top_start_bytes = Bytes::gib(25);
    let lower = CapacityElsewhere { top_start_bytes, ..over_the_disk(1308) };
    assert_eq!(verdict(lower), CapacityVerdict::Undecided, "a fifth at the end is not excluded");
    let in_files = CapacityElsewhere { disk_bytes: None, ..over_the_disk(5000) };
    assert_eq!(verdict(in_files), CapacityVerdict::Undecided, "files lie on a part of the disk");
    let found = with_elsewhere(over_the_disk(1308));
    let reason = "that really holds 30 GiB or less would have been found";
    assert!(found.reasons_in_words().last().unwrap().ends_with(reason), "{found:#?}");
}

/// FAT gives its space out in an order of which nobody knows the first address, so a distance between two
/// addresses says nothing of the real size.
#[test]
fn no_bounds_are_given_by_distances_of_addresses_without_an_order() {
    let bounds_of = |kind, is_by_allocation, real: Bytes| {
        let fake = Capacity { kind, real_size: (real, real), ..Capacity::unknown(Bytes::gib(4)) };
        let filesystem_bytes = Bytes::gib(8);
        let cover =
            CapacityCover { filesystem_bytes, is_by_allocation, ..CapacityCover::default() };
        let test = CapacityTest {
            announced_bytes: Bytes::gib(4),
            cover: Some(cover),
            ..CapacityTest::default()
        };
        with_cover(fake, &test, false).real_size
    };
    let bounds = |kind, is_by_allocation| bounds_of(kind, is_by_allocation, Bytes::gib(1));
    assert_eq!(bounds("wrap", false), (Bytes::gib(1), Bytes::gib(5)));
    // What lies outside of the free space may be the other address of a place that keeps its data.
    assert_eq!(bounds("drop", true), (Bytes::ZERO, Bytes::gib(5)));
    for kind in ["wrap", "chained"] {
        assert_eq!(bounds(kind, true), (Bytes::ZERO, Bytes::gib(8)));
    }
    let lost = Bytes::mib(1);
    let nearly_all = bounds_of("drop", true, Bytes::gib(4).saturating_sub(lost));
    assert_eq!(nearly_all, (Bytes::ZERO, Bytes::gib(8)), "at most 8 GiB of 8 GiB tells nothing");
    let verdict = CapacityVerdict::Fake;
    let unbounded = Capacity { verdict, ..Capacity::unknown(Bytes::gib(8)) };
    assert_eq!(unbounded.in_short(), "FAKE: holds less than 8 GiB");
    assert!(unbounded.headline().contains("less than that is real"), "{}", unbounded.headline());
}

#[test]
fn a_record_with_impossible_numbers_is_judged_without_them() {
    let mut record = records::typical_a1_card();
    record.conditions.target.size_bytes = Bytes::gib(8);
    let of_place = |place: CapacityPlace, guess: u64| CapacityTest {
        announced_bytes: Bytes::gib(8),
        written: vec![[Bytes(0), Bytes(8192)]],
        places: vec![place],
        guessed_modulus_bytes: Some(Bytes(guess)),
        ..CapacityTest::default()
    };
    let zeros = CapacityFound::Constant { byte: 0 };
    let places = [
        (place([0, 4096, 4096, 8192, 0], zeros), 0),
        (place([0, 4096, 4096, 8192, 0], CapacityFound::Right), 1),
        (place([0, 4096, 4096, 1 << 62, 0], zeros), u64::MAX),
        (place([8192, 4096, 0, u64::MAX, 0], zeros), 1 << 30),
        (place([u64::MAX, 4096, 0, 1, 0], zeros), 1 << 30),
        (place([0, 0, 0, 1, 0], CapacityFound::Right), 1 << 30),
        (place([0, 4096, 2, 1, 4096], CapacityFound::Right), 1 << 30),
        (place([0, 4096, 0, 1, 4097], CapacityFound::Right), 1 << 30),
        (place([0, 4096, 0, 1, 4096], CapacityFound::Unknown), 1 << 30),
    ];
    for (place, guess) in places {
        record.trial = Some(Trial::Capacity(of_place(place, guess)));
        // What no test can have seen leaves nothing to judge.
        let verdict = capacity(&record).map(|found| found.verdict);
        assert_ne!(verdict, Some(CapacityVerdict::Genuine), "{place:?}");
    }
}

#[test]
fn what_could_not_be_tested_is_called_so_and_not_wrong() {
    let mut record = records::typical_a1_card();
    let size = Bytes::gib(8);
    record.conditions.target.size_bytes = size;
    record.trial = Some(Trial::Capacity(CapacityTest {
        announced_bytes: size,
        untested_bytes: Bytes::kib(8),
        unreadable: vec![[Bytes::mib(1), Bytes::kib(8)]],
        ..CapacityTest::default()
    }));
    let found = capacity(&record).unwrap();
    assert_eq!(found.verdict, CapacityVerdict::Damaged);
    assert_eq!(found.damaged_ranges, [(1 << 20, (1 << 20) + 8192)]);
    let last = found.reasons_in_words().pop().unwrap();
    assert!(last.starts_with("8 KiB could not be tested"), "{last}");
}

#[test]
fn a_record_without_a_test_has_no_verdict() {
    assert_eq!(capacity(&records::typical_a1_card()), None);
}

#[test]
fn a_file_is_no_device_and_has_no_capacity() {
    let of_file = Capacity {
        verdict: CapacityVerdict::Genuine,
        is_file: true,
        is_full: true,
        ..Capacity::unknown(Bytes::mib(64))
    };
    assert_eq!(of_file.headline(), "FILE KEEPS DATA: all 64 MiB were read back correctly.");
    assert_eq!(of_file.in_short(), "file: all 64 MiB keep data");
    assert_eq!(of_file.beside_another(), Some("file keeps data"));
    assert!(of_file.advice().unwrap().contains("a file has no capacity of its own"));
    let damaged = Capacity { verdict: CapacityVerdict::Damaged, ..of_file };
    assert_eq!(damaged.headline(), "DAMAGED: parts of the file do not keep data.");
}

#[test]
fn what_is_lacking_for_a_verdict_is_told_in_whole_units() {
    // A quarter of 64 GiB is needed, and nine tenths of what is free are tested.
    assert_eq!(space_lacking(Bytes::gib(7), Bytes::gib(64)), Bytes::gib(10));
    assert_eq!(space_lacking(Bytes::mib(500), Bytes::gib(2)), Bytes::mib(14));
    assert_eq!(space_lacking(Bytes::gib(20), Bytes::gib(64)), Bytes::ZERO);
}
