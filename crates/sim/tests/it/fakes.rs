//! Cards that announce more than they hold do exactly the kind of wrong they are made for.

use crate::support::{holds, op, read, run, write};
use cardproof_io::{OpKind, Slot, Target};
use cardproof_sim::fault::{Beyond, CapacityFake, HiddenStore};
use cardproof_sim::{Card, Keeping, Model, catalogue, find};
use cardproof_units::{Bytes, Seed};

const REAL: u64 = 1 << 20;

fn fake(beyond: Beyond, remembers: Bytes) -> Box<dyn Target + Send> {
    let card = find("sandisk-ultra-a1").unwrap();
    let remembers = HiddenStore::new(remembers);
    let card = Card {
        model: Model { capacity: Bytes(REAL), ..card.model },
        fake: Some(CapacityFake { announced: Bytes(8 * REAL), beyond, remembers }),
        ..*card
    };
    let mut target = card.open(Seed::from_bits(5), Keeping::Bytes).unwrap();
    target.prepare(1, Bytes(4 * REAL)).unwrap();
    assert_eq!(target.abilities().size, Bytes(8 * REAL));
    target
}

const ALL: [Beyond; 4] =
    [Beyond::WrapAround, Beyond::Drop { reads_as: 0xff }, Beyond::LastBlock, Beyond::Limbo];

#[test]
fn the_real_part_works() {
    for beyond in ALL {
        let mut target = fake(beyond, Bytes::ZERO);
        write(&mut *target, 0, REAL, 3);
        write(&mut *target, 4096, 4096, 4);
        assert!(
            holds(&mut *target, 0, 4096, 3) && holds(&mut *target, 4096, 4096, 4),
            "{beyond:?}"
        );
    }
}

#[test]
fn wrapped_addresses_start_again_from_zero() {
    let mut target = fake(Beyond::WrapAround, Bytes::ZERO);
    write(&mut *target, 3 * REAL + 8192, 4096, 7);
    assert!(holds(&mut *target, 8192, 4096, 7));
    assert!(holds(&mut *target, 6 * REAL + 8192, 4096, 7));
}

#[test]
fn an_operation_across_the_end_is_cut_and_its_buffer_kept() {
    let mut target = fake(Beyond::WrapAround, Bytes::ZERO);
    let pattern: Vec<u8> = (0..12_288_u32).map(|n| (n / 512) as u8 + 1).collect();
    target.buffer(Slot(0))[..12_288].copy_from_slice(&pattern);
    let completion = run(&mut *target, op(OpKind::Write, REAL - 4096, 12_288));
    assert_eq!(completion.outcome, Ok(Bytes(12_288)));
    assert_eq!(target.buffer(Slot(0))[..12_288], pattern[..], "the caller's bytes are its own");
    assert_eq!(read(&mut *target, REAL - 4096, 4096), pattern[..4096]);
    assert_eq!(read(&mut *target, 0, 8192), pattern[4096..]);
    assert_eq!(read(&mut *target, REAL - 4096, 12_288), pattern);
}

#[test]
fn an_operation_longer_than_the_flash_goes_round_more_than_once() {
    let mut target = fake(Beyond::WrapAround, Bytes::ZERO);
    let length = 5 * REAL / 2;
    for (number, bytes) in target.buffer(Slot(0))[..length as usize].chunks_mut(512).enumerate() {
        bytes.fill((number / 1024) as u8 + 1);
    }
    run(&mut *target, op(OpKind::Write, REAL / 2, length)).outcome.unwrap();
    assert!(holds(&mut *target, 0, REAL / 2, 4), "{}", read(&mut *target, 0, 512)[0]);
    assert!(holds(&mut *target, REAL / 2, REAL / 2, 5));
}

#[test]
fn dropped_writes_read_as_the_filler() {
    let mut target = fake(Beyond::Drop { reads_as: 0xff }, Bytes::ZERO);
    write(&mut *target, 0, REAL, 1);
    write(&mut *target, REAL - 4096, 8192, 9);
    let across = read(&mut *target, REAL - 4096, 8192);
    assert!(across[..4096].iter().all(|&byte| byte == 9));
    assert!(across[4096..].iter().all(|&byte| byte == 0xff));
    assert!(holds(&mut *target, 0, REAL - 4096, 1), "nothing else was touched");
}

#[test]
fn everything_beyond_is_the_last_block() {
    let mut target = fake(Beyond::LastBlock, Bytes::ZERO);
    write(&mut *target, 0, REAL, 1);
    let mut expected = vec![0; 8192];
    for (number, bytes) in expected.chunks_mut(512).enumerate() {
        bytes.fill(100 + number as u8);
    }
    target.buffer(Slot(0))[..8192].copy_from_slice(&expected);
    run(&mut *target, op(OpKind::Write, REAL - 4096, 8192)).outcome.unwrap();
    assert_eq!(target.buffer(Slot(0))[..8192], expected[..], "the caller's bytes are its own");
    assert!(holds(&mut *target, REAL - 512, 512, 115), "the last block of the write wins");
    assert!(holds(&mut *target, REAL - 1024, 512, 106), "the block before is the caller's");
    assert!(holds(&mut *target, 5 * REAL, 4096, 115));
    write(&mut *target, 7 * REAL, 4096, 42);
    assert!(holds(&mut *target, REAL - 512, 512, 42) && holds(&mut *target, 2 * REAL, 512, 42));
}

#[test]
fn limbo_reads_as_something_else_each_time() {
    let mut target = fake(Beyond::Limbo, Bytes::ZERO);
    write(&mut *target, 2 * REAL, 4096, 1);
    let first = read(&mut *target, 2 * REAL, 4096);
    let second = read(&mut *target, 2 * REAL, 4096);
    assert!(first != second && first != vec![1; 4096]);
}

#[test]
fn a_memory_of_the_latest_writes_lies_to_whoever_reads_straight_back() {
    for beyond in ALL {
        let mut target = fake(beyond, Bytes::kib(16));
        write(&mut *target, 0, REAL, 0);
        write(&mut *target, 2 * REAL + 65_536, 8192, 11);
        assert!(holds(&mut *target, 2 * REAL + 65_536, 8192, 11), "{beyond:?} while remembered");
        write(&mut *target, 4 * REAL, 16_384, 12);
        assert!(holds(&mut *target, 4 * REAL, 16_384, 12), "{beyond:?}");
        let forgotten = holds(&mut *target, 2 * REAL + 65_536, 8192, 11);
        assert_eq!(forgotten, beyond == Beyond::WrapAround, "{beyond:?} when forgotten");
    }
}

#[test]
fn a_chained_fake_has_a_dead_part_in_each_round() {
    let round = 3 * REAL / 2;
    let mut target = fake(Beyond::Chained { round: Bytes(round), reads_as: 7 }, Bytes::ZERO);
    write(&mut *target, round + 4096, 4096, 1);
    assert!(holds(&mut *target, 4096, 4096, 1) && holds(&mut *target, 2 * round + 4096, 4096, 1));
    write(&mut *target, REAL, 4096, 2);
    assert!(holds(&mut *target, REAL, 4096, 7), "nothing is held between the flash and the round");
    write(&mut *target, REAL - 4096, 8192, 3);
    let across = read(&mut *target, round + REAL - 4096, 8192);
    assert!(across[..4096].iter().all(|&b| b == 3) && across[4096..].iter().all(|&b| b == 7));
}

#[test]
fn the_catalogues_fakes_announce_more_than_they_hold() {
    let fakes: Vec<_> = catalogue().iter().filter(|card| card.fake.is_some()).collect();
    assert!(fakes.len() >= 4);
    for card in fakes {
        let target = card.open(Seed::from_bits(1), Keeping::Nothing).unwrap();
        assert_eq!(target.abilities().size, card.announced_size(), "{}", card.name);
        assert!(card.announced_size() > card.model.capacity, "{}", card.name);
    }
}
