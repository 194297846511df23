//! What is expected of the next request, so that only the surprise is stored.
//!
//! Where a request begins is mostly where one of the last few ended, or begins again: then only which one
//! is told. Everything else is a number or a symbol that is coded by what came before it. The same code runs
//! at both ends, over a [`Coder`] that writes or reads.

use crate::packed::{unzigzag, zigzag};
use crate::range::{Chance, Coder};

/// A request as the coder sees it. Times are in the unit of the frame, addresses in blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// 0 read, 1 write, 2 flush, 3 discard.
    pub(crate) kind: usize,
    /// Four bits beside the kind.
    pub(crate) flags: usize,
    /// Since the request before.
    pub(crate) gap: u64,
    /// Where it begins; only where the kind has a range.
    pub(crate) block: u64,
    /// How long it is; only where the kind has a range.
    pub(crate) blocks: u64,
    /// How long it took; only where the flag [`SERVICE`] is set.
    pub(crate) service: u64,
}

/// The kind without a range.
pub(crate) const FLUSH: usize = 2;

/// The flag that says that the time it took is known.
pub(crate) const SERVICE: usize = 1 << 3;

const KINDS: usize = 4;
const FLAGS: usize = 16;
/// How many of the last kinds are the context of the next one.
const HISTORY: u32 = 6;
/// How many ends and how many starts are remembered, and the symbol for none of them.
const ENDS: usize = 16;
const STARTS: usize = 15;
const ELSEWHERE: usize = ENDS + STARTS;
const PLACE_BITS: u32 = 5;
const PLACES: usize = 1 << PLACE_BITS;
/// Classes of numbers as contexts.
const GAP_CLASSES: usize = 8;
const LENGTH_CLASSES: usize = 16;
/// The nearest places, and all others together, as contexts.
const NEAR: usize = 5;

/// Everything that was learned from the requests before.
#[derive(Debug)]
pub(crate) struct Model {
    kinds: Vec<Chance>,
    flags: Vec<Chance>,
    gaps: Numbers,
    places: Vec<Chance>,
    distances: Numbers,
    lengths: Numbers,
    services: Numbers,
    /// The last kinds, two bits each.
    history: usize,
    flags_of: [usize; KINDS],
    gap_bits: usize,
    place: usize,
    length_bits: usize,
    /// Where the last requests ended and began, the youngest first.
    ends: [u64; ENDS],
    starts: [u64; STARTS],
}

impl Model {
    /// Nothing is learned.
    pub(crate) fn new() -> Self {
        Self {
            kinds: even(KINDS << (2 * HISTORY)),
            flags: even(KINDS * KINDS * FLAGS * FLAGS),
            gaps: Numbers::with_contexts(KINDS * KINDS * GAP_CLASSES),
            places: even(KINDS * KINDS * PLACES * PLACES),
            distances: Numbers::with_contexts(KINDS),
            lengths: Numbers::with_contexts(NEAR * LENGTH_CLASSES),
            services: Numbers::with_contexts(KINDS),
            history: 0,
            flags_of: [0; KINDS],
            gap_bits: 0,
            place: 0,
            length_bits: 0,
            ends: [0; ENDS],
            starts: [0; STARTS],
        }
    }

    /// Codes one request; a decoder is given any fields and returns those that were coded.
    pub(crate) fn code(&mut self, coder: &mut impl Coder, given: Fields) -> Fields {
        let before = self.history % KINDS;
        let chances = row(&mut self.kinds, self.history, KINDS);
        let kind = coder.symbol(chances, 2, given.kind);
        let context = (kind * KINDS + before) * FLAGS + self.flags_of[kind];
        let flags = coder.symbol(row(&mut self.flags, context, FLAGS), 4, given.flags);
        let context =
            (kind * KINDS + before) * GAP_CLASSES + (self.gap_bits / 2).min(GAP_CLASSES - 1);
        let gap = self.gaps.code(coder, context, given.gap);
        let mut fields = Fields { kind, flags, gap, ..Fields::default() };
        if kind != FLUSH {
            fields.block = self.code_block(coder, kind, before, given.block);
            let context = self.place.min(NEAR - 1) * LENGTH_CLASSES
                + self.length_bits.min(LENGTH_CLASSES - 1);
            fields.blocks = self.lengths.code(coder, context, given.blocks);
            self.length_bits = bits(fields.blocks);
            self.remember(fields.block, fields.block.wrapping_add(fields.blocks));
        }
        if flags & SERVICE != 0 {
            fields.service = self.services.code(coder, kind, given.service);
        }
        self.flags_of[kind] = flags;
        self.gap_bits = bits(gap);
        self.history = (self.history * KINDS + kind) % (1 << (2 * HISTORY));
        fields
    }

    /// Codes where a request begins, and keeps which place that is.
    fn code_block(
        &mut self,
        coder: &mut impl Coder,
        kind: usize,
        before: usize,
        given: u64,
    ) -> u64 {
        let context = (kind * KINDS + before) * PLACES + self.place;
        let known = |place: &u64| *place == given;
        let place = match self.ends.iter().position(known) {
            Some(place) => place,
            None => self.starts.iter().position(known).map_or(ELSEWHERE, |place| ENDS + place),
        };
        self.place = coder.symbol(row(&mut self.places, context, PLACES), PLACE_BITS, place);
        match self.place {
            ELSEWHERE => {
                let distance = zigzag(given.wrapping_sub(self.ends[0]) as i64);
                let distance = unzigzag(self.distances.code(coder, kind, distance));
                self.ends[0].wrapping_add(distance as u64)
            }
            place if place < ENDS => self.ends[place],
            place => self.starts[place - ENDS],
        }
    }

    /// Puts a range in front of those that are remembered.
    fn remember(&mut self, start: u64, end: u64) {
        // A request that goes on where another ended takes its place.
        let oldest = self.place.min(ENDS - 1);
        self.ends[..=oldest].rotate_right(1);
        self.ends[0] = end;
        let oldest = self.starts.iter().position(|known| *known == start).unwrap_or(STARTS - 1);
        self.starts[..=oldest].rotate_right(1);
        self.starts[0] = start;
    }
}

/// Numbers of any size: how many bits one has, by its context, and then the bits below the highest.
#[derive(Debug)]
struct Numbers {
    sizes: Vec<Chance>,
    /// The first bits below the highest one, together; by the size.
    upper: Vec<Chance>,
    /// The others, each by itself; by the size.
    lower: Vec<Chance>,
}

/// Sizes from 0 to 64.
const SIZE_BITS: u32 = 7;
const SIZES: usize = 1 << SIZE_BITS;
const UPPER_BITS: u32 = 3;
const UPPER: usize = 1 << UPPER_BITS;

impl Numbers {
    fn with_contexts(count: usize) -> Self {
        Self { sizes: even(count * SIZES), upper: even(SIZES * UPPER), lower: even(SIZES * 64) }
    }

    fn code(&mut self, coder: &mut impl Coder, context: usize, given: u64) -> u64 {
        let sizes = row(&mut self.sizes, context, SIZES);
        let size = coder.symbol(sizes, SIZE_BITS, bits(given));
        // A decoder may find a size that no number has.
        let Some(below) = (size as u32).checked_sub(1).map(|below| below.min(63)) else { return 0 };
        let (mut number, mut node) = (1_u64, 1);
        for place in (0..below).rev() {
            let chance = match below - 1 - place < UPPER_BITS {
                true => &mut row(&mut self.upper, size, UPPER)[node],
                false => &mut row(&mut self.lower, size, 64)[place as usize],
            };
            let bit = coder.bit(chance, given >> place & 1 == 1);
            number = number << 1 | u64::from(bit);
            node = (node << 1 | usize::from(bit)) % UPPER;
        }
        number
    }
}

/// How many bits `number` has.
const fn bits(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()) as usize
}

fn even(count: usize) -> Vec<Chance> {
    vec![Chance::EVEN; count]
}

/// The chances of one context.
fn row(chances: &mut [Chance], context: usize, length: usize) -> &mut [Chance] {
    &mut chances[context * length..][..length]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::range::{Decoder, Encoder};

    proptest! {
        #[test]
        fn numbers_of_every_size_come_back(
            numbers in prop::collection::vec((0..64_u32, any::<u64>()), 0..200),
        ) {
            let numbers: Vec<u64> = numbers.iter().map(|(shift, number)| number >> shift).collect();
            let (mut model, mut encoder) = (Numbers::with_contexts(1), Encoder::behind(Vec::new()));
            for &number in &numbers {
                model.code(&mut encoder, 0, number);
            }
            let bytes = encoder.finish();
            let (mut model, mut decoder) = (Numbers::with_contexts(1), Decoder::new(&bytes));
            for &number in &numbers {
                prop_assert_eq!(model.code(&mut decoder, 0, 0), number);
            }
        }

        #[test]
        fn no_bytes_make_the_model_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            let (mut model, mut decoder) = (Model::new(), Decoder::new(&bytes));
            for _ in 0..500 {
                model.code(&mut decoder, Fields::default());
            }
        }
    }
}
