//! What an experiment saw: which bytes it wrote in which order, and what each test place gave back.

use super::stamp::{SECTOR, Stamp};

/// What a test place gave back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Every bit as written.
    Right,
    /// A sector of this run that was written to another address.
    Foreign {
        /// The address that was read, in bytes: the first sector of the place that is not right.
        at_bytes: u64,
        /// The address that the sector was written to, in bytes.
        address_bytes: u64,
    },
    /// The sector that an earlier write of this run put at the same address.
    Old,
    /// One byte repeated.
    Constant(u8),
    /// Something else, the same on each attempt.
    Garbled {
        /// How many bits of the place are wrong.
        wrong_bits: u32,
    },
    /// Something else on each attempt.
    Changing,
    /// The device reported an error on every attempt to read.
    ReadFailed,
    /// The device reported an error on every attempt to write.
    WriteFailed,
}

/// A test place that was written once and read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Where it starts, in bytes; a multiple of the logical block.
    pub offset_bytes: u64,
    /// How long it is, in bytes.
    pub length_bytes: u64,
    /// How many bytes the run had written when the place was complete.
    pub written_at_bytes: u64,
    /// How many bytes the run had written when the place was read.
    pub read_at_bytes: u64,
    /// What came back.
    pub found: Found,
    /// How many bytes from its start came back right.
    pub right_prefix_bytes: u64,
    /// How many bytes from its start came back right, or as sectors of this run that were written to
    /// other addresses: the part that has a place in the flash, even if it is a shared one.
    pub live_prefix_bytes: u64,
    /// Attempts that gave something else than the last one: transient errors.
    pub transient_errors: u32,
    /// The place was chosen at random, by itself.
    pub is_random: bool,
}

impl Observation {
    /// How many bytes were written between writing and reading the place.
    #[must_use]
    pub const fn distance_bytes(&self) -> u64 {
        self.read_at_bytes.saturating_sub(self.written_at_bytes)
    }

    /// The first address behind the place, in bytes.
    #[must_use]
    pub const fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.length_bytes
    }

    /// Whether every bit came back.
    #[must_use]
    pub const fn is_right(&self) -> bool {
        matches!(self.found, Found::Right)
    }
}

/// Filler in pieces of equal length, one at a random address in each of as many equal parts of the
/// addresses before the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// How many pieces.
    pub pieces: u64,
    /// How many bytes were written in them.
    pub bytes: u64,
}

/// What was tried once more, to see whether it happens again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retried {
    /// How often it was tried.
    pub tried: u64,
    /// How often it happened again.
    pub again: u64,
}

impl Retried {
    /// Whether it was tried at least `least` times and happened in nearly all of them.
    pub(super) const fn is_shown(self, least: u64) -> bool {
        self.tried >= least && self.again * 10 >= self.tried * 9
    }

    /// Whether it happened in half of the attempts or more: of what does not come again by chance that is
    /// enough, and a store that holds some of it hides the rest.
    pub(super) const fn is_common(self) -> bool {
        self.tried > 0 && self.again * 2 >= self.tried
    }

    /// Whether it was tried at least `least` times and happened in hardly any of them.
    pub(super) const fn is_refuted(self, least: u64) -> bool {
        self.tried >= least && self.again * 10 <= self.tried
    }
}

/// One stretch of addresses written from front to back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    start: u64,
    length: u64,
    /// Bytes that the run had written before it.
    before: u64,
}

/// What a run wrote, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    stretches: Vec<Stretch>,
    total: u64,
}

impl Writes {
    /// Notes that `length_bytes` at `offset_bytes` were written.
    pub fn note(&mut self, offset_bytes: u64, length_bytes: u64) {
        match self.stretches.last_mut() {
            Some(last) if last.start + last.length == offset_bytes => last.length += length_bytes,
            _ => self.stretches.push(Stretch {
                start: offset_bytes,
                length: length_bytes,
                before: self.total,
            }),
        }
        self.total += length_bytes;
    }

    /// How many bytes were written in all.
    #[must_use]
    pub const fn total_bytes(&self) -> u64 {
        self.total
    }

    /// How many bytes the run had written when the byte at `address_bytes` was written last; `None` where
    /// it never was.
    #[must_use]
    pub fn last_at(&self, address_bytes: u64) -> Option<u64> {
        let covers = |stretch: &&Stretch| {
            address_bytes.checked_sub(stretch.start).is_some_and(|inside| inside < stretch.length)
        };
        let stretch = self.stretches.iter().rev().find(covers)?;
        Some(stretch.before + (address_bytes - stretch.start) + 1)
    }

    /// The writes that reach `from_bytes` or beyond; of the others only the bytes are counted.
    #[must_use]
    pub fn reaching(&self, from_bytes: u64) -> Self {
        let reaches = |stretch: &&Stretch| stretch.start + stretch.length > from_bytes;
        Self {
            stretches: self.stretches.iter().filter(reaches).copied().collect(),
            total: self.total,
        }
    }

    /// How many bytes were written at `from_bytes` and beyond, while the number of bytes that the run had
    /// written went from `after_bytes` to `until_bytes`.
    #[must_use]
    pub fn beyond(&self, from_bytes: u64, after_bytes: u64, until_bytes: u64) -> u64 {
        let of = |stretch: &Stretch| {
            let skipped = from_bytes
                .saturating_sub(stretch.start)
                .max(after_bytes.saturating_sub(stretch.before));
            let end = stretch.length.min(until_bytes.saturating_sub(stretch.before));
            end.saturating_sub(skipped)
        };
        self.stretches.iter().map(of).sum()
    }

    /// The stretches as (start, length, bytes written before it), in the order of writing.
    pub fn stretches(&self) -> impl DoubleEndedIterator<Item = (u64, u64, u64)> {
        self.stretches.iter().map(|stretch| (stretch.start, stretch.length, stretch.before))
    }
}

/// All that a run has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The size that the device announces, in bytes.
    pub announced_bytes: u64,
    /// What was written, in order.
    pub writes: Writes,
    /// What came back, in the order of reading.
    pub observations: Vec<Observation>,
    /// Bytes at the end of the addresses that were written as filler without a gap; zero for none.
    pub filler_bytes: u64,
    /// The pieces of filler before that, if all were written and places of each were read.
    pub spread: Spread,
    /// Pairs of addresses that gave each other's data, written again, and those that did so again.
    pub shared_again: Retried,
    /// Lost places that were written again, and those that were right at once and lost later.
    pub right_at_once: Retried,
    /// Right places that were written again late, and those that were right again.
    pub rewritten: Retried,
    /// The distance at which parts that hold data and parts that do not come again, as a guess.
    pub guessed_period: Option<u64>,
    /// Places of the filler are this far apart at most over the first half of the addresses, so
    /// that no wrap-around escapes; zero where they are not laid out so.
    pub grid_bytes: u64,
    /// Distances between addresses that were tried and found to share no place, in bytes.
    pub unshared_distances: Vec<u64>,
    /// Where a second round of addresses seems to begin, in bytes; see
    /// [`guess_modulus`](super::guess_modulus).
    pub guessed_modulus: Option<u64>,
    /// The addresses are numbered in an order that need not be the device's: what holds for its last
    /// addresses, or for addresses at some distance from each other, cannot be said then.
    pub is_unordered: bool,
    /// Every byte of the device was written and read back.
    pub is_full: bool,
    /// The run was ended before its plan was done.
    pub is_cut_short: bool,
}

/// What `data`, read back, shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Examined {
    /// What came back.
    pub found: Found,
    /// See [`Observation::right_prefix_bytes`].
    pub right_prefix_bytes: u64,
    /// See [`Observation::live_prefix_bytes`].
    pub live_prefix_bytes: u64,
}

/// What `data`, read at the address of `written`, shows of it. `again` is a second reading of the same
/// place, where the first was wrong.
#[must_use]
pub fn examine(written: Stamp, data: &[u8], again: Option<&[u8]>) -> Examined {
    let (sectors, _) = data.as_chunks::<SECTOR>();
    let right = right_sectors(written, sectors);
    let right_prefix_bytes = (right * SECTOR) as u64;
    if right == sectors.len() {
        let found = Found::Right;
        return Examined { found, right_prefix_bytes, live_prefix_bytes: right_prefix_bytes };
    }
    let wanted = written.further(right as u64);
    let (found, live) = match Stamp::of_whole(&sectors[right]) {
        Some(stamp) if stamp.salt != written.salt => (unstamped(written, right, data, again), 0),
        Some(stamp) if stamp.address_bytes == wanted.address_bytes => (Found::Old, 0),
        Some(stamp) => {
            let found = Found::Foreign {
                at_bytes: wanted.address_bytes,
                address_bytes: stamp.address_bytes,
            };
            (found, live_sectors(wanted, &sectors[right..]))
        }
        None => (unstamped(written, right, data, again), 0),
    };
    let live_prefix_bytes = ((right + live) * SECTOR) as u64;
    Examined { found, right_prefix_bytes, live_prefix_bytes }
}

/// How many of `sectors` from the first on are as `first` and its successors make them.
fn right_sectors(first: Stamp, sectors: &[[u8; SECTOR]]) -> usize {
    let is_right = |(number, sector): (usize, &[u8; SECTOR])| {
        Stamp::of_whole(sector) == Some(first.further(number as u64))
    };
    sectors.iter().enumerate().take_while(|each| is_right(*each)).count()
}

/// How many of `sectors` from the first on are right, or were written in this run to another address.
fn live_sectors(wanted: Stamp, sectors: &[[u8; SECTOR]]) -> usize {
    let is_live = |(number, sector): (usize, &[u8; SECTOR])| {
        let wanted = wanted.further(number as u64);
        Stamp::of_whole(sector).is_some_and(|stamp| {
            let is_elsewhere = stamp.address_bytes != wanted.address_bytes;
            stamp == wanted || (stamp.salt == wanted.salt && is_elsewhere)
        })
    };
    sectors.iter().enumerate().take_while(|each| is_live(*each)).count()
}

fn unstamped(written: Stamp, first: usize, data: &[u8], again: Option<&[u8]>) -> Found {
    if again.is_some_and(|again| again != data) {
        return Found::Changing;
    }
    let (sectors, _) = data.as_chunks::<SECTOR>();
    let sector = &sectors[first];
    if sector.iter().all(|&byte| byte == sector[0]) {
        return Found::Constant(sector[0]);
    }
    let wrong = sectors.iter().enumerate().map(|(n, s)| written.further(n as u64).wrong_bits(s));
    Found::Garbled { wrong_bits: wrong.sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: Stamp = Stamp { salt: 9, address_bytes: 1 << 30, generation: 2 };

    fn place() -> Vec<u8> {
        let mut data = vec![0; 8 * SECTOR];
        WRITTEN.fill(&mut data);
        data
    }

    #[test]
    fn each_way_of_being_wrong_has_its_name() {
        let with = |change: &dyn Fn(&mut [u8])| {
            let mut data = place();
            change(&mut data);
            let examined = examine(WRITTEN, &data, None);
            (examined.found, examined.right_prefix_bytes)
        };
        let third = 2 * SECTOR..3 * SECTOR;
        let stamped = |address_bytes, generation| {
            move |data: &mut [u8]| {
                let stamp = Stamp { salt: 9, address_bytes, generation };
                stamp.fill(&mut data[1024..1536]);
            }
        };
        assert_eq!(with(&|_| ()), (Found::Right, 4096));
        assert_eq!(with(&|data| data[third.clone()].fill(0)), (Found::Constant(0), 1024));
        assert_eq!(with(&|data| data[1500] ^= 3), (Found::Garbled { wrong_bits: 2 }, 1024));
        let foreign = Found::Foreign { at_bytes: (1 << 30) + 1024, address_bytes: 4096 };
        assert_eq!(with(&stamped(4096, 2)), (foreign, 1024));
        assert_eq!(with(&stamped((1 << 30) + 1024, 1)), (Found::Old, 1024));
    }

    #[test]
    fn what_differs_on_the_second_reading_is_changing() {
        let (first, second) = (vec![1; 4096], vec![2; 4096]);
        assert_eq!(examine(WRITTEN, &first, Some(&second)).found, Found::Changing);
        assert_eq!(examine(WRITTEN, &first, Some(&first)).found, Found::Constant(1));
    }

    #[test]
    fn a_shared_place_is_live_as_far_as_its_sectors_are_of_this_run() {
        let mut data = place();
        for (address_bytes, sector) in [(512, 1), (1 << 20, 3)] {
            let other = Stamp { address_bytes, ..WRITTEN };
            other.fill(&mut data[sector * SECTOR..][..SECTOR]);
        }
        data[5 * SECTOR..].fill(0);
        let examined = examine(WRITTEN, &data, None);
        assert_eq!((examined.right_prefix_bytes, examined.live_prefix_bytes), (512, 5 * 512));
    }

    #[test]
    fn neighbouring_writes_are_one_stretch() {
        let mut writes = Writes::default();
        writes.note(0, 512);
        writes.note(512, 512);
        writes.note(4096, 512);
        let stretches: Vec<_> = writes.stretches().collect();
        assert_eq!(stretches, [(0, 1024, 0), (4096, 512, 1024)]);
        assert_eq!(writes.total_bytes(), 1536);
    }

    #[test]
    fn the_latest_writing_of_an_address_is_found() {
        let mut writes = Writes::default();
        writes.note(0, 1024);
        writes.note(4096, 512);
        writes.note(512, 512);
        assert_eq!(writes.last_at(0), Some(1));
        assert_eq!(writes.last_at(1023), Some(1024 + 512 + 512));
        assert_eq!(writes.last_at(2048), None);
    }

    #[test]
    fn bytes_beyond_an_address_are_counted_between_two_moments() {
        let mut writes = Writes::default();
        writes.note(1000, 100);
        writes.note(0, 500);
        writes.note(900, 200);
        assert_eq!(writes.beyond(0, 0, 800), 800);
        assert_eq!(writes.beyond(1000, 0, 800), 200);
        assert_eq!(writes.beyond(1000, 100, 800), 100);
        assert_eq!(writes.beyond(1000, 720, 800), 80);
        assert_eq!(writes.beyond(1000, 40, 750), 60 + 50);
    }
}
