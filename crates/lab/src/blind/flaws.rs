//! What fails on a device that holds all it announces: pages, places, moments, and the end.

use std::collections::HashMap;

use cardproof_io::{Fault, OpKind};
use cardproof_testkit::Noise;
use cardproof_units::Nanos;

use super::SECTOR;

/// How a bad place behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Its readings fail.
    ReadFails,
    /// Its writes fail and leave what was there.
    WriteFails,
    /// Both fail.
    BothFail,
    /// A bit of each sector reads wrong.
    Flips,
    /// It reads as this byte.
    ReadsAs(u8),
    /// Its writes are acknowledged and not done.
    IgnoresWrites,
}

/// How a device ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Writes are refused.
    ReadOnly,
    /// It does not answer any more.
    Vanishes,
    /// Writes are acknowledged and not done.
    IgnoresWrites,
}

/// One flaw. Sizes and places are in sectors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Flaw {
    /// So many of a million pages, by chance.
    Pages { share_ppm: u64, page: u64, manner: Manner },
    /// These places, as (start, end).
    Places { ranges: Vec<(u64, u64)>, manner: Manner },
    /// One in so many operations of a kind takes longer and, with a fault, fails.
    NowAndThen { one_in: u64, kind: OpKind, fault: Option<Fault>, takes: Nanos },
    /// One in so many readings has a wrong bit.
    WrongAtTimes { one_in: u64 },
    /// A block that was read so many times since its last write has wrong bits.
    Disturbed { block: u64, readings: u32 },
    /// After so many bytes written.
    Ends { after_bytes: u64, how: End },
}

/// What the flaws do to one operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Effect {
    pub(super) fault: Option<Fault>,
    pub(super) takes: Nanos,
    /// Parts of a write that are not done, or of a reading that come otherwise, as (first, sectors).
    pub(super) skipped: Vec<(u64, u64)>,
    pub(super) flipped: Vec<(u64, u64)>,
    pub(super) replaced: Vec<(u64, u64, u8)>,
}

impl Effect {
    /// Whether a reading gives what lies there.
    pub(super) const fn is_clean(&self) -> bool {
        self.flipped.is_empty() && self.replaced.is_empty()
    }

    /// Adds what a bad place does, which lies within the operation.
    fn add(&mut self, manner: Manner, kind: OpKind, first: u64, sectors: u64) {
        match (manner, kind) {
            (Manner::ReadFails | Manner::BothFail, OpKind::Read)
            | (Manner::WriteFails | Manner::BothFail, OpKind::Write) => {
                self.fault = Some(Fault::InputOutput);
            }
            (Manner::Flips, OpKind::Read) => self.flipped.push((first, sectors)),
            (Manner::ReadsAs(byte), OpKind::Read) => self.replaced.push((first, sectors, byte)),
            (Manner::IgnoresWrites, OpKind::Write) => self.skipped.push((first, sectors)),
            _ => {}
        }
    }
}

/// The flaws of a device, and what they have seen so far.
#[derive(Clone, Debug)]
pub(super) struct Flaws {
    flaws: Vec<Flaw>,
    seed: u64,
    noise: Noise,
    written_bytes: u64,
    readings: HashMap<u64, u32>,
}

impl Flaws {
    pub(super) fn new(flaws: Vec<Flaw>, seed: u64) -> Self {
        Self { flaws, seed, noise: Noise::new(seed), written_bytes: 0, readings: HashMap::new() }
    }

    /// What becomes of an operation on `sectors` from `first` on.
    pub(super) fn meet(&mut self, kind: OpKind, first: u64, sectors: u64) -> Effect {
        let mut effect = Effect::default();
        for index in 0..self.flaws.len() {
            // One flaw at a time is taken out, so that it can look at what was seen.
            let flaw = self.flaws[index].clone();
            self.apply(&flaw, kind, (first, sectors), &mut effect);
        }
        if kind == OpKind::Write && effect.fault.is_none() {
            self.written_bytes += sectors * SECTOR;
        }
        effect
    }

    fn apply(&mut self, flaw: &Flaw, kind: OpKind, place: (u64, u64), effect: &mut Effect) {
        let (first, sectors) = place;
        let end = first + sectors;
        match *flaw {
            Flaw::Pages { share_ppm, page, manner } => {
                for number in first / page..end.div_ceil(page) {
                    if is_bad(self.seed, number, share_ppm) {
                        let from = (number * page).max(first);
                        effect.add(manner, kind, from, ((number + 1) * page).min(end) - from);
                    }
                }
            }
            Flaw::Places { ref ranges, manner } => {
                for &(start, stop) in ranges {
                    let (from, to) = (start.max(first), stop.min(end));
                    if from < to {
                        effect.add(manner, kind, from, to - from);
                    }
                }
            }
            Flaw::NowAndThen { one_in, kind: wanted, fault, takes } => {
                if kind == wanted && self.noise.below(one_in) == 0 {
                    effect.takes += takes;
                    effect.fault = effect.fault.or(fault);
                }
            }
            Flaw::WrongAtTimes { one_in } => {
                if kind == OpKind::Read && self.noise.below(one_in) == 0 {
                    effect.flipped.push((first + self.noise.below(sectors), 1));
                }
            }
            Flaw::Disturbed { block, readings } => {
                for number in first / block..end.div_ceil(block) {
                    self.disturb(number, block, readings, kind, place, effect);
                }
            }
            Flaw::Ends { after_bytes, how } if self.written_bytes >= after_bytes => {
                match (how, kind) {
                    (End::Vanishes, _) => effect.fault = Some(Fault::Vanished),
                    (End::ReadOnly, OpKind::Write) => effect.fault = Some(Fault::WriteProtected),
                    (End::IgnoresWrites, OpKind::Write) => effect.skipped.push(place),
                    _ => {}
                }
            }
            Flaw::Ends { .. } => {}
        }
    }

    fn disturb(
        &mut self,
        number: u64,
        block: u64,
        limit: u32,
        kind: OpKind,
        (first, sectors): (u64, u64),
        effect: &mut Effect,
    ) {
        match kind {
            OpKind::Write => {
                self.readings.remove(&number);
            }
            OpKind::Read => {
                let seen = self.readings.entry(number).or_default();
                *seen += 1;
                if *seen > limit {
                    effect.flipped.push(((number * block).max(first).min(first + sectors - 1), 1));
                }
            }
            _ => {}
        }
    }
}

/// Whether the page of this number is bad on the device of `seed`.
fn is_bad(seed: u64, number: u64, share_ppm: u64) -> bool {
    let mixed =
        (seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (((mixed >> 32) * 1_000_000) >> 32) < share_ppm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_pages_are_bad_as_it_says() {
        for share_ppm in [1000, 10_000, 500_000] {
            let bad = (0..1_000_000).filter(|&number| is_bad(3, number, share_ppm)).count() as f64;
            let wanted = share_ppm as f64;
            assert!((bad - wanted).abs() < 5.0 * wanted.sqrt(), "{bad} for {share_ppm}");
        }
    }

    #[test]
    fn a_disturbed_block_is_wrong_until_it_is_written() {
        let mut flaws = Flaws::new(vec![Flaw::Disturbed { block: 8, readings: 2 }], 1);
        let mut clean = Vec::new();
        for kind in [OpKind::Write, OpKind::Read, OpKind::Read, OpKind::Read, OpKind::Write] {
            clean.push(flaws.meet(kind, 8, 8).is_clean());
        }
        clean.push(flaws.meet(OpKind::Read, 8, 8).is_clean());
        assert_eq!(clean, [true, true, true, false, true, true]);
    }

    #[test]
    fn a_card_ends_after_what_it_could_bear() {
        for (how, wanted) in [
            (End::ReadOnly, Some(Fault::WriteProtected)),
            (End::Vanishes, Some(Fault::Vanished)),
            (End::IgnoresWrites, None),
        ] {
            let mut flaws = Flaws::new(vec![Flaw::Ends { after_bytes: 1024, how }], 1);
            assert_eq!(flaws.meet(OpKind::Write, 0, 2).fault, None);
            let effect = flaws.meet(OpKind::Write, 0, 2);
            assert_eq!(effect.fault, wanted);
            assert_eq!(effect.skipped.len(), usize::from(how == End::IgnoresWrites));
        }
    }
}
