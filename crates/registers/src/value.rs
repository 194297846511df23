//! The types of fields: numbers, switches, names, months, and serial numbers that hide.

use std::fmt;

use crate::Serials;

/// What can be made of a field's bits and shown again.
pub(super) trait Value {
    /// From the bits as a number; those that do not fit are cut off.
    fn from_number(number: u64) -> Self;
    /// As the table shows it.
    fn shown(&self, serials: Serials) -> String;
}

macro_rules! number_values {
    ($($number:ty),+) => {$(
        impl Value for $number {
            fn from_number(number: u64) -> Self {
                number as Self
            }

            fn shown(&self, _serials: Serials) -> String {
                if *self < 10 { self.to_string() } else { format!("{self:#x}") }
            }
        }
    )+};
}

number_values!(u8, u16, u32, u64);

impl Value for bool {
    fn from_number(number: u64) -> Self {
        number != 0
    }

    fn shown(&self, _serials: Serials) -> String {
        u8::from(*self).to_string()
    }
}

/// A card's serial number: it prints masked and is never serialised, for it identifies its owner's
/// card wherever it is seen again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Serial(u32);

impl Serial {
    /// The serial number `number`.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Nothing of it, in the form of a serial number.
    #[must_use]
    pub fn masked(self) -> String {
        "0x********".to_owned()
    }

    /// All of it, as the kernel prints it. Only for a user who asked for it.
    #[must_use]
    pub fn shown(self) -> String {
        format!("{:#010x}", self.0)
    }

    /// As `serials` says.
    #[must_use]
    pub fn text(self, serials: Serials) -> String {
        match serials {
            Serials::Masked => self.masked(),
            Serials::Shown => self.shown(),
        }
    }

    /// Whether it is zero or has nothing in its upper half: genuine cards have neither, but for
    /// the exceptions that [`crate::suspicion`] names.
    #[must_use]
    pub const fn is_low(self) -> bool {
        self.0 <= 0xffff
    }

    /// Whether it is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Debug for Serial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

impl Value for Serial {
    fn from_number(number: u64) -> Self {
        Self(number as u32)
    }

    fn shown(&self, serials: Serials) -> String {
        self.text(serials)
    }
}

/// A product's name: five bytes on SD cards, six on eMMC.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ProductName(u64);

impl ProductName {
    /// The name without its padding. What is not printable ASCII is `?`.
    #[must_use]
    pub fn text(self) -> String {
        let bytes = self.0.to_be_bytes();
        let printable = |&byte: &u8| if (b' '..=b'~').contains(&byte) { byte as char } else { '?' };
        let text: String = bytes.iter().skip_while(|&&byte| byte == 0).map(printable).collect();
        let padding = self.0.trailing_zeros() as usize / 8;
        let kept = text.len().saturating_sub(padding);
        text[..kept].trim().to_owned()
    }
}

impl fmt::Debug for ProductName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text())
    }
}

impl Value for ProductName {
    fn from_number(number: u64) -> Self {
        Self(number)
    }

    fn shown(&self, _serials: Serials) -> String {
        self.text()
    }
}

/// A month of making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    /// The year, 1997 to 2255.
    pub year: u16,
    /// The month, 1 to 12.
    pub month: u8,
}

impl Month {
    /// The month, or `None` where there is no such month.
    #[must_use]
    pub fn new(year: u16, month: u8) -> Option<Self> {
        (1..=12).contains(&month).then_some(Self { year, month })
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}
