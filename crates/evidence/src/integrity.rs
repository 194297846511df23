//! What came back of test data that a queue or a discard may have harmed.
//!
//! Each piece of data carries its address and the number of its writing in every sector
//! ([`Stamp`]), so that what came back tells what happened: an older writing, another address, a mixture,
//! nothing, or bits that nobody wrote.

use crate::capacity::stamp::{SECTOR, Stamp};
pub use crate::powercut::{interval, upper_bound};

/// How sure the bounds of these tests are.
pub const CONFIDENCE: f64 = 0.95;

/// What came back in the place of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WrongKind {
    /// An older writing of the same address, as a whole: the write was lost, or the read was too early.
    Older,
    /// The data of another address.
    Foreign,
    /// A part of the data is right, and the rest is older or empty.
    Torn,
    /// Zeros, or bytes of 255.
    Blank,
    /// The right sectors with wrong bits, or data that this test did not write.
    Damaged,
}

impl WrongKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Older, Self::Foreign, Self::Torn, Self::Blank, Self::Damaged];
}

/// Data that are not what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What came back.
    pub kind: WrongKind,
    /// The first wrong sector, counted from the start of the data.
    pub first_sector: u64,
    /// How many sectors are wrong.
    pub sectors: u64,
    /// The address in bytes whose data came back, for [`WrongKind::Foreign`].
    pub from_bytes: Option<u64>,
}

/// What one sector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sector {
    /// As it was written.
    Right,
    /// An earlier or later writing of the same address.
    OtherWriting(u32),
    /// The sector of this address in bytes.
    Foreign(u64),
    /// Zeros.
    Zeros,
    /// Bytes of 255.
    Ones,
    /// Anything else.
    Damaged,
}

impl Sector {
    /// What `sector` is where `expected` was written.
    #[must_use]
    pub fn of(expected: Stamp, sector: &[u8; SECTOR]) -> Self {
        if expected.wrong_bits(sector) == 0 {
            return Self::Right;
        }
        match Stamp::of_whole(sector) {
            Some(stamp) if stamp.salt != expected.salt => Self::Damaged,
            Some(stamp) if stamp.address_bytes == expected.address_bytes => {
                Self::OtherWriting(stamp.generation)
            }
            Some(stamp) => Self::Foreign(stamp.address_bytes),
            None if sector.iter().all(|&byte| byte == 0) => Self::Zeros,
            None if sector.iter().all(|&byte| byte == 0xff) => Self::Ones,
            None => Self::Damaged,
        }
    }
}

/// Compares `data`, whole sectors, with the data that begin with `expected`; `None` where all is right.
#[must_use]
pub fn compare(expected: Stamp, data: &[u8]) -> Option<Wrong> {
    let (sectors, _) = data.as_chunks::<SECTOR>();
    let mut seen = Seen::default();
    for (number, sector) in (0_u64..).zip(sectors) {
        seen.add(number, Sector::of(expected.further(number), sector));
    }
    let first_sector = seen.first?;
    Some(Wrong {
        kind: seen.kind(),
        first_sector,
        sectors: seen.wrong,
        from_bytes: seen.from_bytes,
    })
}

/// The sectors of a piece, summed up.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    first: Option<u64>,
    right: u64,
    wrong: u64,
    older: u64,
    blank: u64,
    damaged: u64,
    from_bytes: Option<u64>,
}

impl Seen {
    fn add(&mut self, number: u64, sector: Sector) {
        if sector == Sector::Right {
            self.right += 1;
            return;
        }
        self.first.get_or_insert(number);
        self.wrong += 1;
        match sector {
            Sector::OtherWriting(_) => self.older += 1,
            Sector::Zeros | Sector::Ones => self.blank += 1,
            Sector::Foreign(address) => {
                self.from_bytes.get_or_insert(address);
            }
            Sector::Right | Sector::Damaged => self.damaged += 1,
        }
    }

    const fn kind(&self) -> WrongKind {
        if self.from_bytes.is_some() {
            WrongKind::Foreign
        } else if self.damaged > 0 {
            WrongKind::Damaged
        } else if self.right > 0 || (self.older > 0 && self.blank > 0) {
            WrongKind::Torn
        } else if self.older > 0 {
            WrongKind::Older
        } else {
            WrongKind::Blank
        }
    }
}

/// How many independent trials show with [`CONFIDENCE`] at least one of those that go wrong, where a share
/// `share` of them does: ln(1 - 0.95) / ln(1 - share), at least 1. `share` lies between 0 and 1.
#[must_use]
pub fn trials_for(share: f64) -> u64 {
    ((1.0 - CONFIDENCE).ln() / (-share).ln_1p()).ceil().max(1.0) as u64
}

/// How sure it has to be that harm comes from a queue or from discards before they are blamed.
pub const BLAME_CONFIDENCE: f64 = 0.99;

/// Whether `wrong` places, all among `tested` trials with a queue or with discards and none among `control` trials
/// without, show that harm is more frequent with them.
///
/// If it were as frequent without, each wrong place would lie among the tested with the share tested / (tested +
/// control), and all of them with its power `wrong` (Fisher's exact test, one-sided). That must be less likely than
/// 1 - [`BLAME_CONFIDENCE`].
#[must_use]
pub fn is_to_blame(wrong: u64, tested: u64, control: u64) -> bool {
    let share = tested as f64 / (tested + control).max(1) as f64;
    wrong as f64 * share.ln() <= (1.0 - BLAME_CONFIDENCE).ln()
}

/// How many trials without a queue it takes for [`is_to_blame`], if none of them goes wrong; `wrong` is at least
/// 1.
#[must_use]
pub fn control_for(wrong: u64, queued: u64) -> u64 {
    let times = (1.0 - BLAME_CONFIDENCE).powf(-1.0 / wrong.max(1) as f64) - 1.0;
    (queued as f64 * times).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { salt: 5, address_bytes: 8192, generation: 3 };

    /// Four sectors, each made by one of `stamps`.
    fn data(stamps: [Stamp; 4]) -> Vec<u8> {
        let mut data = vec![0; 4 * SECTOR];
        for (number, sector) in data.chunks_mut(SECTOR).enumerate() {
            stamps[number].further(number as u64).fill(sector);
        }
        data
    }

    fn kind(data: &[u8]) -> Option<(WrongKind, u64, u64)> {
        compare(STAMP, data).map(|wrong| (wrong.kind, wrong.first_sector, wrong.sectors))
    }

    #[test]
    fn what_came_back_is_told_apart() {
        let older = Stamp { generation: 2, ..STAMP };
        let other = Stamp { address_bytes: 1 << 20, ..STAMP };
        assert_eq!(kind(&data([STAMP; 4])), None);
        assert_eq!(kind(&data([older; 4])), Some((WrongKind::Older, 0, 4)));
        assert_eq!(kind(&data([STAMP, STAMP, older, older])), Some((WrongKind::Torn, 2, 2)));
        assert_eq!(kind(&data([other; 4])), Some((WrongKind::Foreign, 0, 4)));
        assert_eq!(compare(STAMP, &data([other; 4])).unwrap().from_bytes, Some(1 << 20));
        assert_eq!(kind(&[0; 4 * SECTOR]), Some((WrongKind::Blank, 0, 4)));
        assert_eq!(kind(&[0xff; 4 * SECTOR]), Some((WrongKind::Blank, 0, 4)));
        let mut flipped = data([STAMP; 4]);
        flipped[700] ^= 1;
        assert_eq!(kind(&flipped), Some((WrongKind::Damaged, 1, 1)));
        let of_another_run = Stamp { salt: 6, ..STAMP };
        assert_eq!(kind(&data([of_another_run; 4])), Some((WrongKind::Damaged, 0, 4)));
    }

    #[test]
    fn a_queue_is_blamed_only_where_the_control_would_have_shown_the_same_harm() {
        // 6 wrong of 60,000, and 0 of 9,540: as likely as not without any difference.
        assert!(!is_to_blame(6, 60_000, 9_540) && is_to_blame(6, 60_000, 70_000));
        assert!(!is_to_blame(0, 60_000, 1_000_000) && !is_to_blame(1, 60_000, 60_000));
        for (wrong, queued) in [(1, 1000), (5, 60_000), (100, 500)] {
            let control = control_for(wrong, queued);
            assert!(is_to_blame(wrong, queued, control), "{wrong}");
            assert!(!is_to_blame(wrong, queued, control - control / 50 - 1), "{wrong}");
        }
    }

    #[test]
    fn enough_trials_exclude_a_share() {
        for share in [0.3, 0.01, 0.000_05] {
            let trials = trials_for(share);
            let missed = |trials: u64| (trials as f64 * (-share).ln_1p()).exp();
            assert!(missed(trials) <= 0.05 + 1e-9 && missed(trials - 1) > 0.05, "{share}");
        }
    }
}
