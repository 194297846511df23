//! How likely each finding is at an address that has no flash, and at a damaged place.
//!
//! The figures are rough on purpose: they only have to rank the findings. An error that the device
//! reports counts against a fake, because fakes answer; a foreign sector counts against damage,
//! because damage does not copy.

use super::observation::Found;

/// What an address without flash gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// The write is dropped; what is read is the same each time.
    Drop,
    /// What is read is something else each time.
    Limbo,
    /// Every such address is the last block of the flash.
    LastBlock,
}

impl Lost {
    /// Every way.
    pub(super) const ALL: [Self; 3] = [Self::Drop, Self::Limbo, Self::LastBlock];

    /// The chance of a right place where nothing is stored.
    const RIGHT: f64 = 1e-9;

    /// The logarithm of the chance of `found` there. `is_latest` says that a foreign sector is the
    /// one written last before the reading.
    pub(super) fn ln_chance(self, found: Found, is_latest: bool) -> f64 {
        let class = Class::of(found);
        let chance = match (self, class) {
            (_, Class::Right) => Self::RIGHT,
            (Self::LastBlock, Class::Foreign) if is_latest => 0.9,
            (_, Class::Foreign) => 1e-6,
            (_, Class::ReadFailed | Class::WriteFailed) => 1e-4,
            (_, Class::FewBits) => 1e-5,
            (Self::Drop, Class::Constant) => 0.6,
            (Self::Drop, Class::ManyBits) => 0.3,
            (Self::Drop, Class::Old) => 0.05,
            (Self::Drop, Class::Changing) => 0.01,
            (Self::Limbo, Class::Changing) => 0.8,
            (Self::Limbo, Class::ManyBits) => 0.1,
            (Self::Limbo, Class::Constant | Class::Old) => 0.01,
            (Self::LastBlock, Class::Old | Class::ManyBits | Class::Constant | Class::Changing) => {
                1e-3
            }
        };
        chance.ln()
    }
}

/// The logarithm of the chance that a damaged place shows `found`; zero for a right one, of which
/// nothing has to be explained.
pub(super) fn ln_damage(found: Found) -> f64 {
    match Class::of(found) {
        Class::Right => 0.0,
        Class::ReadFailed => 0.4_f64.ln(),
        Class::WriteFailed | Class::ManyBits | Class::Constant | Class::Old => 0.1_f64.ln(),
        Class::FewBits => 0.15_f64.ln(),
        Class::Changing => 0.05_f64.ln(),
        Class::Foreign => 1e-4_f64.ln(),
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
