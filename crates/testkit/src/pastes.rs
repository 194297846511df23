//! Pastes as people make them, with known truth: outputs of tools with drawn figures, and the ways in which
//! mail, forums and hands damage them.
//!
//! What a paste holds follows from how it was made: each line of an output is drawn with the figures that
//! it alone tells, so a cut takes its figures with it. A reading is right if it has every figure of every
//! card and no other, wrong if it shows a figure or joins cards that the text does not hold or loses a
//! fault beside a speed, and anything else is refused: what could not be read was not made up.

mod damage;
mod dice;
mod judge;
mod outputs;
mod reports;
mod typed;

pub use damage::Damage;
pub use judge::{Reading, judge};
pub use outputs::{Output, OutputKind};

use cardproof_record::OpName;
use cardproof_units::Seed;
use dice::Dice;

/// A figure that a line tells: what was measured, and the number as printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedFigure {
    /// What was measured; unknown where the line does not say.
    pub op: OpName,
    /// The number.
    pub value: f64,
}

/// What a text holds of one card.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardTruth {
    /// Its figures.
    pub told: Vec<PrintedFigure>,
    /// Whether a line tells of a fault.
    pub has_fault: bool,
}

/// A text and what it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Paste {
    /// The text, as bytes of a file.
    pub bytes: Vec<u8>,
    /// Its cards, in order; a card of which nothing is told is none.
    pub cards: Vec<CardTruth>,
    /// The tool.
    pub kind: OutputKind,
    /// What was done to it.
    pub damage: Vec<Damage>,
}

/// A line of an output, and what it tells.
#[derive(Clone, Debug, Default, PartialEq)]
struct Row {
    text: String,
    told: Vec<PrintedFigure>,
    has_fault: bool,
    /// Whether another card than that of the line above begins with it, as in a table.
    begins_card: bool,
}

impl Row {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    fn tells(mut self, op: OpName, value: f64) -> Self {
        self.told.push(PrintedFigure { op, value });
        self
    }
}

/// The paste that `seed` draws.
#[must_use]
pub fn paste(seed: Seed) -> Paste {
    let mut dice = Dice::new(seed);
    let kind = outputs::KINDS[dice.below(outputs::KINDS.len())];
    let has_two = kind.can_be_two() && dice.one_in(4);
    let mut outputs = vec![outputs::output(kind, &mut dice)];
    if has_two {
        outputs.push(outputs::output(kind, &mut dice));
    }
    damage::damaged(kind, outputs, &mut dice)
}
