//! One saved sector with a head: it stands by itself, so that a fault beside it takes nothing of it.
//!
//! | bytes | what |
//! | --- | --- |
//! | 0 to 7 | the salt of the test |
//! | 8 | kind |
//! | 9 | 1 for a sector that read differently each time |
//! | 10 to 12, 13 to 15 | its number in its batch, and the length of the batch in sectors |
//! | 16 to 23 | where the sector lies on the device, in bytes; of a phase its number |
//! | 24 to 31 | checksum over all other bytes and the cell's own place in the journal |
//! | 32 to 543 | the sector |

use cardproof_evidence::capacity::stamp::SECTOR;

use super::check;

/// How long a cell is.
pub(super) const CELL: usize = HEAD + SECTOR;

const HEAD: usize = 32;

/// The most sectors that a batch may have.
pub(super) const BATCH_MAX: u64 = (1 << 24) - 1;

/// What a cell is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A sector that was saved.
    Saved = 1,
    /// A saved sector whose place holds a mark until all others are put back.
    Mark = 2,
    /// A phase that the test has reached.
    Phase = 3,
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) kind: Kind,
    /// Each reading gave something else; this is the last.
    pub(super) is_unstable: bool,
    /// Which of its batch it is, from 0.
    pub(super) index: u32,
    /// How many cells its batch has.
    pub(super) count: u32,
    pub(super) address: u64,
    pub(super) sector: [u8; SECTOR],
}

impl Cell {
    /// Appends the cell, which is `number` in the journal of `salt`, to `bytes`.
    pub(super) fn write(&self, salt: u64, number: u64, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.extend(salt.to_le_bytes());
        bytes.extend([self.kind as u8, u8::from(self.is_unstable)]);
        bytes.extend(&self.index.to_le_bytes()[..3]);
        bytes.extend(&self.count.to_le_bytes()[..3]);
        bytes.extend(self.address.to_le_bytes());
        bytes.extend(&self.sector);
        let sum = check::sum(number, &bytes[start..]);
        bytes.splice(start + 24..start + 24, sum.to_le_bytes());
    }

    /// The cell that is `number` in the journal of `salt`; `None` where more than one bit of it is wrong.
    pub(super) fn read(bytes: &[u8; CELL], salt: u64, number: u64) -> Option<Self> {
        // Where nothing was written yet there is nothing to mend.
        if bytes.iter().all(|&byte| byte == 0) {
            return None;
        }
        let stored = word(&bytes[24..]);
        let mut summed = [0; CELL - 8];
        summed[..24].copy_from_slice(&bytes[..24]);
        summed[24..].copy_from_slice(&bytes[HEAD..]);
        if !check::mend(number, &mut summed, stored) || word(&summed) != salt {
            return None;
        }
        let kind = match summed[8] {
            1 => Kind::Saved,
            2 => Kind::Mark,
            3 => Kind::Phase,
            _ => return None,
        };
        let small = |at: usize| u32::from_le_bytes([summed[at], summed[at + 1], summed[at + 2], 0]);
        Some(Self {
            kind,
            is_unstable: summed[9] == 1,
            index: small(10),
            count: small(13),
            address: word(&summed[16..]),
            sector: *summed[24..].first_chunk()?,
        })
    }
}

/// The first 8 bytes as a number.
pub(super) fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_comes_back_with_any_one_bit_wrong_and_from_its_own_place_alone() {
        let cell = Cell {
            kind: Kind::Mark,
            is_unstable: true,
            index: 70_000,
            count: 80_000,
            address: 1 << 40,
            sector: [7; SECTOR],
        };
        let mut bytes = Vec::new();
        cell.write(9, 5, &mut bytes);
        let bytes: [u8; CELL] = bytes.try_into().unwrap();
        for bit in 0..CELL * 8 {
            let mut wrong = bytes;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Cell::read(&wrong, 9, 5).as_ref(), Some(&cell), "bit {bit}");
        }
        assert_eq!(Cell::read(&bytes, 9, 6), None);
        assert_eq!(Cell::read(&bytes, 8, 5), None);
        assert_eq!(Cell::read(&[0; CELL], 0, 0), None);
    }
}
