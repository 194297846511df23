//! The kinds of cards that a test of the capacity tells apart, and bounds of what they hold.

/// A kind of card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Holds what it announces, every place tested.
    Sound,
    /// Holds what it announces, but for damaged places.
    Damaged,
    /// A fake with a hidden store larger than the test can see; looks sound.
    #[default]
    HiddenStore,
    /// A fake: writes beyond the flash are dropped.
    Drop,
    /// A fake: reads beyond the flash give something else each time.
    Limbo,
    /// A fake: every address beyond the flash is its last block.
    LastBlock,
    /// A fake: addresses start again from zero.
    Wrap,
    /// A fake: addresses start again from zero above the flash, so that each round ends in a part
    /// that holds nothing.
    Chained,
    /// A fake: one or several parts of the addresses hold nothing, and good ones lie on both sides.
    Holes,
    /// A fake: parts that hold nothing come again at equal distances.
    Stripes,
    /// A fake: addresses that hold nothing lie anywhere.
    Scattered,
    /// A fake: addresses share places without a rule.
    Shared,
    /// A fake: takes any address until it is full.
    FillsUp,
    /// Every address from one on fails. A card that dies ends like that, and a fake may.
    FailsBeyond,
}

impl Kind {
    /// Its name in a record and in `--json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sound => "honest",
            Self::Damaged => "damaged",
            Self::HiddenStore => "hidden_store",
            Self::Drop => "drop",
            Self::Limbo => "limbo",
            Self::LastBlock => "last_block",
            Self::Wrap => "wrap",
            Self::Chained => "chained",
            Self::Holes => "holes",
            Self::Stripes => "stripes",
            Self::Scattered => "scattered",
            Self::Shared => "shared",
            Self::FillsUp => "fills_up",
            Self::FailsBeyond => "fails_beyond",
        }
    }

    /// Whether such a card announces more than it holds.
    #[must_use]
    pub const fn is_fake(self) -> bool {
        !matches!(self, Self::Sound | Self::Damaged | Self::FailsBeyond)
    }

    /// Whether it holds everything from the first address to its real size.
    #[must_use]
    pub const fn holds_front(self) -> bool {
        !matches!(
            self,
            Self::HiddenStore
                | Self::Holes
                | Self::Stripes
                | Self::Scattered
                | Self::Shared
                | Self::FillsUp
        )
    }
}

/// Bounds of the real size, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// At least so much.
    pub low: u64,
    /// At most so much.
    pub high: u64,
}
