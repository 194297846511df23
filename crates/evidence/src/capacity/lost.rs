//! How likely each finding is at an address that has no flash, and at a damaged place.
//!
//! The figures are rough on purpose: they only have to rank the findings. An error that the device
//! reports counts against a fake, because fakes answer; a foreign sector counts against damage,
//! because damage does not copy. One card has one manner: what one of its addresses without flash, or
//! one damaged place, gives, most others give too.

use super::likelihood::ln_sum;
use super::observation::Found;

/// What an address without flash gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// The write is dropped; what is read is the same byte throughout.
    DropConstant,
    /// The write is dropped; what is read is other data, the same each time.
    DropGarbled,
    /// The write is dropped; what is read is what was there before.
    DropOld,
    /// What is read is something else each time.
    Limbo,
    /// The write is dropped; what is read is what another address holds, or nothing where that was not
    /// written.
    Others,
    /// Every such address is the last block of the flash.
    LastBlock,
    /// Reading or writing fails.
    Fails,
}

impl Lost {
    /// Every way in which a fake answers as if nothing were wrong.
    pub(super) const SILENT: [Self; 5] =
        [Self::DropConstant, Self::DropGarbled, Self::DropOld, Self::Limbo, Self::Others];

    /// Every way of a fake without addresses that share a place.
    pub(super) const ALL: [Self; 6] = [
        Self::DropConstant,
        Self::DropGarbled,
        Self::DropOld,
        Self::Limbo,
        Self::Others,
        Self::LastBlock,
    ];

    /// The chance of a right place where nothing is stored.
    const RIGHT: f64 = 1e-9;

    /// The logarithm of the chance of `found` there. `is_latest` says that a foreign sector is the
    /// one written last before the reading.
    pub(super) fn ln_chance(self, found: Found, is_latest: bool) -> f64 {
        let class = Class::of(found);
        let chance = match (self, class) {
            (_, Class::Right) => Self::RIGHT,
            (Self::LastBlock, Class::Foreign) if is_latest => OWN_MANNER,
            (Self::Fails, Class::ReadFailed | Class::WriteFailed) => OWN_MANNER,
            (Self::Fails, _) => 1e-3,
            (Self::Others, Class::Foreign) => 0.5,
            (Self::Others, Class::Constant | Class::Old | Class::ManyBits | Class::Changing) => {
                0.12
            }
            (_, Class::Foreign) => 1e-6,
            (_, Class::ReadFailed | Class::WriteFailed) => 1e-4,
            (_, Class::FewBits) => 1e-5,
            (Self::DropConstant, Class::Constant)
            | (Self::DropGarbled, Class::ManyBits)
            | (Self::DropOld, Class::Old)
            | (Self::Limbo, Class::Changing) => OWN_MANNER,
            (Self::DropConstant | Self::DropGarbled | Self::DropOld | Self::Limbo, _) => 0.01,
            (Self::LastBlock, Class::Old | Class::ManyBits | Class::Constant | Class::Changing) => {
                1e-3
            }
        };
        chance.ln()
    }
}

/// The chance that an address without flash gives what its card's manner is.
const OWN_MANNER: f64 = 0.98;

/// The chance that a damaged place gives what its card's manner is, each as likely: some damage is
/// nearly as even as a fake, some is not.
const DAMAGED_MANNER: [f64; 2] = [0.97, 0.85];

/// What damaged places may give, each with the chance that a damaged place of unknown manner gives it.
/// A foreign sector is no manner of damage.
const DAMAGE: [(Class, f64); 7] = [
    (Class::ReadFailed, 0.4),
    (Class::FewBits, 0.15),
    (Class::WriteFailed, 0.1),
    (Class::ManyBits, 0.1),
    (Class::Constant, 0.1),
    (Class::Old, 0.1),
    (Class::Changing, 0.05),
];

/// The chance of a foreign sector at a damaged place.
const FOREIGN_BY_DAMAGE: f64 = 1e-4;

/// What the wrong places of one card show, weighed as damage.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Damage {
    /// The logarithm of the chance where each place has a manner of its own.
    ln_mixed: f64,
    /// And where all have the manner of the same index in [`DAMAGE`], for each of
    /// [`DAMAGED_MANNER`].
    ln_alike: [[f64; DAMAGED_MANNER.len()]; DAMAGE.len()],
}

impl Damage {
    /// Adds a wrong place; a right one changes nothing, for nothing of it has to be explained.
    pub(super) fn add(&mut self, found: Found) {
        let class = Class::of(found);
        if class == Class::Right {
            return;
        }
        let alone = Self::ln_alone(found).exp();
        self.ln_mixed += alone.ln();
        for (sums, (manner, _)) in self.ln_alike.iter_mut().zip(DAMAGE) {
            for (sum, even) in sums.iter_mut().zip(DAMAGED_MANNER) {
                let chance = if manner == class { even } else { alone * (1.0 - even) };
                *sum += chance.ln();
            }
        }
    }

    /// The logarithm of the chance of all of them: mixed in half of all cards, else of one manner.
    pub(super) fn ln_chance(&self) -> f64 {
        let alike = self.ln_alike.iter().zip(DAMAGE);
        let share = 0.5 / DAMAGED_MANNER.len() as f64;
        alike.fold(self.ln_mixed + 0.5_f64.ln(), |sum, (of_manner, (_, chance))| {
            of_manner.iter().fold(sum, |sum, ln| ln_sum(sum, ln + (share * chance).ln()))
        })
    }

    /// The logarithm of the chance of `found` at a damaged place of no known manner.
    pub(super) fn ln_alone(found: Found) -> f64 {
        let class = Class::of(found);
        let known = DAMAGE.iter().find(|(manner, _)| *manner == class);
        known.map_or(FOREIGN_BY_DAMAGE, |(_, chance)| *chance).ln()
    }

    /// The logarithm of the chance where each place has a manner of its own: what fails for no reason
    /// of the card's.
    pub(super) const fn ln_of_flukes(&self) -> f64 {
        self.ln_mixed
    }
}

/// Findings as far as they are told apart here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Right,
    Foreign,
    Old,
    Constant,
    FewBits,
    ManyBits,
    Changing,
    ReadFailed,
    WriteFailed,
}

/// A place with fewer wrong bits than this is damaged data, not other data: of other data about half
/// the bits of a sector differ.
const FEW_BITS: u32 = 512;

impl Class {
    const fn of(found: Found) -> Self {
        match found {
            Found::Right => Self::Right,
            Found::Foreign { .. } => Self::Foreign,
            Found::Old => Self::Old,
            Found::Constant(_) => Self::Constant,
            Found::Garbled { wrong_bits } if wrong_bits < FEW_BITS => Self::FewBits,
            Found::Garbled { .. } => Self::ManyBits,
            Found::Changing => Self::Changing,
            Found::ReadFailed => Self::ReadFailed,
            Found::WriteFailed => Self::WriteFailed,
        }
    }
}
