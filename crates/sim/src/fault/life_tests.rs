//! Worn flash: when it dies, how, and what each end looks like from outside.

use super::*;
use crate::contents::{ShortStore, Shorthand};

const SIZE: Bytes = Bytes::mib(4);
const BLOCK: u64 = 16 << 10;

fn store(life: Life) -> MortalStore {
    let inner = Box::new(ShortStore::new(Shorthand::NONE));
    MortalStore::new(inner, SIZE, &life, Seed::from_bits(3))
}

fn life(end: End) -> Life {
    Life { cycles: 20, block: Bytes(BLOCK), spares_ppm: 0, end, ..Life::ENDLESS }
}

/// Writes the whole store in blocks, and returns how many were refused.
fn cycle(store: &mut MortalStore, byte: u8) -> usize {
    let data = vec![byte; BLOCK as usize];
    let offsets = (0..SIZE.get()).step_by(BLOCK as usize);
    offsets.filter(|&offset| store.write(offset, &data).is_err()).count()
}

#[test]
fn lives_follow_the_distribution() {
    let mut store = store(life(End::Never));
    let mut dead = Vec::new();
    for _ in 0..30 {
        cycle(&mut store, 1);
        dead.push(store.dead_blocks());
    }
    // A Weibull distribution with the exponent 8: 0.4 % after half, 63.2 % at the scale.
    assert!(dead[9] <= 3, "{dead:?}");
    assert!((140..185).contains(&dead[19]), "{dead:?}");
    assert_eq!(dead[29], 256, "{dead:?}");
}

#[test]
fn spares_stand_in_for_the_first_dead() {
    let mut with = store(Life { spares_ppm: 100_000, ..life(End::Never) });
    let mut without = store(life(End::Never));
    for _ in 0..16 {
        cycle(&mut with, 1);
        cycle(&mut without, 1);
    }
    assert_eq!(with.dead_blocks() + 25, without.dead_blocks());
}

#[test]
fn without_levelling_only_what_is_written_wears() {
    let mut store = store(Life { levels: false, ..life(End::Never) });
    let data = vec![1; BLOCK as usize];
    for _ in 0..40 {
        store.write(BLOCK, &data).unwrap();
    }
    assert_eq!(store.dead_blocks(), 1);
    let mut back = vec![0; BLOCK as usize];
    assert!(store.read(BLOCK, &mut back).is_err());
    assert!(store.read(0, &mut back).is_ok());
}

#[test]
fn each_end_is_what_it_says() {
    for end in End::ALL {
        let mut store = store(life(end));
        let mut cycles = 0;
        while !store.has_ended() && cycles < 60 {
            cycles += 1;
            cycle(&mut store, 1);
        }
        assert_eq!(store.has_ended(), end != End::Never, "{end:?}");
        let refused = cycle(&mut store, 2);
        let mut first = vec![0; 512];
        let read = store.read(0, &mut first).map(|()| first);
        match end {
            End::Never => assert_eq!(refused, 0),
            End::ReadOnly => assert!(refused == 256 && read.unwrap() == [1; 512]),
            End::IgnoresWrites => assert!(refused == 0 && read.unwrap() == [1; 512]),
            End::SilentlyWrong => {
                let wrong: u32 = read.unwrap().iter().map(|byte| (byte ^ 2).count_ones()).sum();
                assert!(refused == 0 && wrong == 1, "{wrong}");
            }
            End::TimesOut => {
                assert_eq!(refused, 256);
                assert_eq!(read.unwrap_err().fault(), cardproof_io::Fault::TimedOut);
            }
            End::Gone => {
                assert_eq!(refused, 256);
                assert_eq!(read.unwrap_err().fault(), cardproof_io::Fault::Vanished);
            }
            End::Shrinks => assert!((120..=136).contains(&refused) && read.unwrap() == [2; 512]),
            End::Unreadable => assert!(refused == 0 && read.is_err()),
        }
    }
}

#[test]
fn dead_blocks_give_what_was_asked() {
    for gives in [DamagedBlock::Fails, DamagedBlock::FlipsBits, DamagedBlock::ReadsZero] {
        let mut store = store(Life { gives, ..life(End::Never) });
        for _ in 0..40 {
            cycle(&mut store, 7);
        }
        let mut back = vec![1; 512];
        let outcome = store.read(0, &mut back);
        match gives {
            DamagedBlock::Fails => assert!(outcome.is_err()),
            DamagedBlock::ReadsZero => assert_eq!(back, [0; 512]),
            DamagedBlock::FlipsBits => {
                let wrong: u32 = back.iter().map(|byte| (byte ^ 7).count_ones()).sum();
                assert_eq!(wrong, 1);
            }
        }
    }
}
