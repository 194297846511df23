//! A logical block address: a position counted in blocks, not in bytes.

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// The number of a logical block, from 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Lba(pub u64);

impl Lba {
    /// The block of `block_size` that holds the byte at `offset`; block 0 for a size of zero.
    #[must_use]
    pub const fn of_offset(offset: Bytes, block_size: Bytes) -> Self {
        match offset.0.checked_div(block_size.0) {
            Some(number) => Self(number),
            None => Self(0),
        }
    }

    /// The offset of this block's first byte; saturates at the largest offset.
    #[must_use]
    pub const fn offset(self, block_size: Bytes) -> Bytes {
        Bytes(self.0.saturating_mul(block_size.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_and_its_offset_agree() {
        let sector = Bytes(512);
        assert_eq!(Lba::of_offset(Bytes(1023), sector), Lba(1));
        assert_eq!(Lba(3).offset(sector), Bytes(1536));
        assert_eq!(Lba::of_offset(Bytes(1023), Bytes(0)), Lba(0));
    }
}
