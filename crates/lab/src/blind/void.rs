//! What is read of an address that has no cell and that no hidden store keeps.

use super::cells::Data;

/// What lies beyond the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Void {
    /// The same byte everywhere.
    Same(u8),
    /// Noise that is the same at each reading: what a controller gives, or old data.
    Stale { seed: u64 },
    /// Noise that differs from reading to reading.
    Fresh,
    /// The data of another address, so many sectors before it.
    Others { distance: u64 },
    /// What the last write had in its buffer.
    LastWritten,
}

/// What of the void is the same for each sector, or that it lies elsewhere.
pub(super) enum Found {
    Data(Data),
    /// As the cells from this address on.
    At(u64),
    /// As the last write.
    LastWritten,
}

impl Void {
    /// What is read at `address` in the reading of this number.
    pub(super) fn at(self, address: u64, reading: u64) -> Found {
        match self {
            Self::Same(byte) => Found::Data(Data::Same(byte)),
            Self::Stale { seed } => Found::Data(Data::Noise(seed.wrapping_add(address))),
            Self::Fresh => Found::Data(Data::Noise(address ^ reading << 40)),
            Self::Others { distance } => Found::At(address.saturating_sub(distance)),
            Self::LastWritten => Found::LastWritten,
        }
    }
}
