//! Bits as a number between 0 and 1: an adaptive binary range coder.
//!
//! Each bit is coded with the probability that its [`Chance`] has learned from the bits before it, so what
//! is expected costs almost nothing. Encoder and decoder share [`Coder`]: what is coded is written once, and
//! both ends cannot differ.

/// The bits of a probability.
const SCALE_BITS: u32 = 13;

/// The slowest a probability moves: by a 32nd of the rest.
const RATE_MAX: u16 = 5;

/// How likely a one is, and how many bits this was learned from, up to [`RATE_MAX`].
///
/// The upper 13 bits are the probability. It never reaches 0 or 1, because a step is rounded down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chance(u16);

impl Chance {
    /// Nothing is known.
    pub(crate) const EVEN: Self = Self(1 << 15);

    const fn of_one(self) -> u32 {
        (self.0 >> 3) as u32
    }

    fn learn(&mut self, bit: bool) {
        let (chance, seen) = (self.0 >> 3, self.0 & 7);
        let rate = (seen + 1).min(RATE_MAX);
        let learned = match bit {
            true => chance + (((1 << SCALE_BITS) - 1 - chance) >> rate),
            false => chance - ((chance - 1) >> rate),
        };
        self.0 = learned << 3 | (seen + 1).min(RATE_MAX - 1);
    }
}

/// One end of the line. The encoder takes the bit and returns it; the decoder looks at no bit it is given
/// and returns the one that was coded.
pub(crate) trait Coder {
    /// Codes one bit.
    fn bit(&mut self, chance: &mut Chance, bit: bool) -> bool;

    /// Codes the lowest `bits` bits of `symbol`, the highest first; `chances` has 2 to the power of `bits`.
    fn symbol(&mut self, chances: &mut [Chance], bits: u32, symbol: usize) -> usize {
        let mut node = 1;
        for place in (0..bits).rev() {
            let bit = self.bit(&mut chances[node], symbol >> place & 1 == 1);
            node = node << 1 | usize::from(bit);
        }
        node - (1 << bits)
    }
}

/// Writes bits.
#[derive(Debug)]
pub(crate) struct Encoder {
    low: u64,
    range: u32,
    /// The last byte that a carry may still change; none at first.
    held: Option<u8>,
    /// How many bytes of ones follow it, through which a carry would run.
    ones: usize,
    bytes: Vec<u8>,
}

impl Encoder {
    /// Writes behind `bytes`.
    pub(crate) const fn behind(bytes: Vec<u8>) -> Self {
        Self { low: 0, range: u32::MAX, held: None, ones: 0, bytes }
    }

    /// Everything that was written. Zeros at the end are left away: the decoder sees them there.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let begin = self.bytes.len();
        for _ in 0..5 {
            self.shift();
        }
        while self.bytes.len() > begin && self.bytes.last() == Some(&0) {
            self.bytes.pop();
        }
        self.bytes
    }

    /// Moves the highest byte of `low` out.
    fn shift(&mut self) {
        if self.low >> 24 != 0xff {
            let carry = (self.low >> 32) as u8;
            if let Some(held) = self.held {
                self.bytes.push(held.wrapping_add(carry));
            }
            let new_length = self.bytes.len() + self.ones;
            self.bytes.resize(new_length, 0xff_u8.wrapping_add(carry));
            self.ones = 0;
            self.held = Some((self.low >> 24) as u8);
        } else {
            self.ones += 1;
        }
        self.low = (self.low & 0x00ff_ffff) << 8;
    }
}

impl Coder for Encoder {
    fn bit(&mut self, chance: &mut Chance, bit: bool) -> bool {
        let ones = (self.range >> SCALE_BITS) * chance.of_one();
        if bit {
            self.range = ones;
        } else {
            self.low += u64::from(ones);
            self.range -= ones;
        }
        while self.range < 1 << 24 {
            self.range <<= 8;
            self.shift();
        }
        chance.learn(bit);
        bit
    }
}

/// Reads bits. Where the bytes end there are zeros: that the right ones were read is for a checksum to say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoder<'a> {
    code: u32,
    range: u32,
    bytes: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Reads from the front of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Self { code: 0, range: u32::MAX, bytes };
        for _ in 0..4 {
            decoder.code = decoder.code << 8 | decoder.byte();
        }
        decoder
    }

    fn byte(&mut self) -> u32 {
        match self.bytes.split_first() {
            Some((&byte, rest)) => {
                self.bytes = rest;
                u32::from(byte)
            }
            None => 0,
        }
    }
}

impl Coder for Decoder<'_> {
    fn bit(&mut self, chance: &mut Chance, _: bool) -> bool {
        let ones = (self.range >> SCALE_BITS) * chance.of_one();
        let bit = self.code < ones;
        if bit {
            self.range = ones;
        } else {
            self.code -= ones;
            self.range -= ones;
        }
        while self.range < 1 << 24 {
            self.range <<= 8;
            self.code = self.code << 8 | self.byte();
        }
        chance.learn(bit);
        bit
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn coded(symbols: &[u8]) -> Vec<u8> {
        let mut chances = [Chance::EVEN; 256];
        let mut encoder = Encoder::behind(Vec::new());
        for &symbol in symbols {
            encoder.symbol(&mut chances, 8, symbol.into());
        }
        encoder.finish()
    }

    fn decoded(bytes: &[u8], count: usize) -> Vec<u8> {
        let mut chances = [Chance::EVEN; 256];
        let mut decoder = Decoder::new(bytes);
        (0..count).map(|_| decoder.symbol(&mut chances, 8, 0) as u8).collect()
    }

    proptest! {
        #[test]
        fn every_row_of_symbols_comes_back(symbols in prop::collection::vec(any::<u8>(), 0..2000)) {
            prop_assert_eq!(decoded(&coded(&symbols), symbols.len()), symbols);
        }

        /// Long rows of the same symbol bring `low` close to a carry.
        #[test]
        fn a_carry_runs_through_all_held_bytes(
            rows in prop::collection::vec((prop_oneof![Just(0), Just(255), any::<u8>()], 1..400_usize), 1..20),
        ) {
            let symbols: Vec<u8> =
                rows.iter().flat_map(|&(symbol, count)| vec![symbol; count]).collect();
            prop_assert_eq!(decoded(&coded(&symbols), symbols.len()), symbols);
        }
    }

    #[test]
    fn what_is_expected_costs_next_to_nothing() {
        let length = coded(&[7; 10_000]).len();
        assert!(length < 100, "{length}");
    }

    #[test]
    fn no_chance_ever_becomes_certain() {
        let (mut up, mut down) = (Chance::EVEN, Chance::EVEN);
        for _ in 0..10_000 {
            up.learn(true);
            down.learn(false);
            assert!((1..1 << SCALE_BITS).contains(&up.of_one()));
            assert!((1..1 << SCALE_BITS).contains(&down.of_one()));
        }
    }
}
