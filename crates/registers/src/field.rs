//! What all registers have in common: a name, a length, and fields to show.

use crate::Position;
use crate::hex::{self, HexError};

/// Whether serial numbers are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Serials {
    /// As `0x********`.
    #[default]
    Masked,
    /// In full, because the user asked for it.
    Shown,
}

/// How well a field's place and meaning are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Published in the specification.
    Documented,
    /// Not settled by public text: to be shown as such, and never to be judged by.
    Unverified,
}

/// One field of a decoded register, for showing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in the specification, such as `AU_SIZE`.
    pub name: &'static str,
    /// Where it stands.
    pub position: Position,
    /// The raw value; a serial number is masked unless it was asked for.
    pub value: String,
    /// What the value stands for, in words; empty where the value says it all.
    pub meaning: String,
    /// How well this is known.
    pub certainty: Certainty,
}

/// A text or a string of bytes that is not the register that it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The number of bytes is not that of the register.
    #[error(
        "{register} has {expected_bytes} bytes ({} hex digits), but {found_bytes} ({} digits) \
         were given; copy the whole register",
        expected_bytes * 2,
        found_bytes * 2
    )]
    Length {
        /// The register's name.
        register: &'static str,
        /// How many bytes it has.
        expected_bytes: usize,
        /// How many there are.
        found_bytes: usize,
    },
    /// The text is not hex.
    #[error(transparent)]
    Hex(#[from] HexError),
}

/// A register: bytes of a fixed number, made of fields.
pub trait Register: Sized {
    /// Its name in the specification, such as `CSD`.
    const NAME: &'static str;
    /// How many bytes it has.
    const LENGTH_BYTES: usize;

    /// Decodes bytes, the highest bit first, or EXT_CSD's from byte 0 on.
    ///
    /// # Errors
    /// [`RegisterError::Length`] where there are more or fewer than [`Self::LENGTH_BYTES`].
    fn from_slice(bytes: &[u8]) -> Result<Self, RegisterError>;

    /// Decodes hex text, such as the kernel's files hold; see [`hex::parse`] for what is accepted.
    ///
    /// # Errors
    /// [`RegisterError::Hex`] where it is not hex, [`RegisterError::Length`] where it is too long
    /// or too short.
    fn from_hex(text: &str) -> Result<Self, RegisterError> {
        Self::from_slice(&hex::parse(text)?)
    }

    /// Its fields in the order of the specification.
    fn fields(&self, serials: Serials) -> Vec<Field>;
}

/// `bytes` as an array of the register's length.
pub(super) fn exactly<'bytes, const N: usize>(
    register: &'static str,
    bytes: &'bytes [u8],
) -> Result<&'bytes [u8; N], RegisterError> {
    bytes.try_into().map_err(|_| RegisterError::Length {
        register,
        expected_bytes: N,
        found_bytes: bytes.len(),
    })
}
