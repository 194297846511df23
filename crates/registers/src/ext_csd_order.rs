//! Which byte a dump of EXT_CSD begins with, found in the dump itself.
//!
//! Linux's debugfs prints byte 0 first (`mmc_ext_csd_open` in `drivers/mmc/core/block.c`), as other
//! tools do. Its older kernels counted down from byte 511 (`drivers/mmc/core/debugfs.c` of 3.x), and
//! so do dumps in posts of their time. No text says which it is, but its bytes do: bytes 0 to 14 and
//! 309 to 485 are reserved, and what stands at their mirrors is not.

use cardproof_units::Bytes;

use crate::{ExtCsd, Register, RegisterError, field, parse_hex};

/// Which byte a dump of EXT_CSD has first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Byte 511, as older kernels' debugfs prints it.
    LastFirst,
    /// Byte 0.
    FirstFirst,
}

/// How well bytes fit as a register: whether their capacity is the known one, and how many of
/// [`signs`] they show.
type Fit = (bool, usize);

impl ExtCsd {
    /// Decodes a dump in hex, whichever byte it has first, and says which that is. The device's
    /// `capacity`, where it is known, decides; else the fields that every eMMC fills in, and the
    /// bytes that none does. Where neither order fits better, byte 0 is first.
    ///
    /// # Errors
    /// [`RegisterError`] where it is not 1024 hex digits.
    pub fn from_dump(
        text: &str,
        capacity: Option<Bytes>,
    ) -> Result<(Self, ByteOrder), RegisterError> {
        Self::from_dump_bytes(&parse_hex(text)?, capacity)
    }

    /// As [`from_dump`](Self::from_dump), of bytes.
    ///
    /// # Errors
    /// [`RegisterError`] where they are not 512.
    pub fn from_dump_bytes(
        bytes: &[u8],
        capacity: Option<Bytes>,
    ) -> Result<(Self, ByteOrder), RegisterError> {
        let upward: [u8; 512] = *field::exactly(Self::NAME, bytes)?;
        let mut downward = upward;
        downward.reverse();
        if fit(&downward, capacity) > fit(&upward, capacity) {
            return Ok((Self::decode(&downward), ByteOrder::LastFirst));
        }
        Ok((Self::decode(&upward), ByteOrder::FirstFirst))
    }
}

fn fit(bytes: &[u8; 512], capacity: Option<Bytes>) -> Fit {
    let register = ExtCsd::decode(bytes);
    let is_its_capacity = register.capacity().is_some_and(|own| Some(own) == capacity);
    (is_its_capacity, signs(bytes, &register))
}

/// How many places hold what they hold in every eMMC.
fn signs(bytes: &[u8; 512], register: &ExtCsd) -> usize {
    let signs = [
        (1..=9).contains(&register.revision),
        (1..=3).contains(&register.csd_structure),
        register.device_type & 1 == 1,
        register.sectors != 0,
        register.erase_group_units != 0,
        // S_CMD_SET: the standard commands.
        bytes[504] & 1 == 1,
        bytes[..15].iter().all(|byte| *byte == 0),
        bytes[309..486].iter().all(|byte| *byte == 0),
    ];
    signs.iter().filter(|&&sign| sign).count()
}
