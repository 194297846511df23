//! What an address asks for, read strictly: what is not known is refused, and never answered as if it were something
//! else. A field of a form that was left empty asks for nothing.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use cardproof_rating::compare::Use;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// For `#[serde(default, deserialize_with = "given")]`: a value by its text, none where that is empty.
pub(super) fn given<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let text = Cow::<str>::deserialize(deserializer)?;
    if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(D::Error::custom) }
}

/// A use by its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted(pub(super) Use);

impl Default for Wanted {
    fn default() -> Self {
        Self(Use::System)
    }
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Use::ALL.into_iter().find(|known| known.name() == name);
        let names = Use::ALL.map(Use::name).join(", ");
        known.map(Self).ok_or_else(|| format!("a use is one of {names}"))
    }
}

/// An amount of money.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount(pub(super) f64);

impl FromStr for Amount {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let amount = text.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0);
        amount.map(Self).ok_or("a price is a number such as 9.90")
    }
}

/// What an order is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// The figure of the use.
    #[default]
    Value,
    /// The price.
    Price,
    /// The speed for the price.
    Worth,
}

impl Sort {
    pub(super) const ALL: [Self; 3] = [Self::Value, Self::Price, Self::Worth];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Price => "price",
            Self::Worth => "worth",
        }
    }
}

impl FromStr for Sort {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|it| it.word() == word);
        known.ok_or("cards are sorted by value, price or worth")
    }
}

/// What a card is looked for by.
#[derive(Clone, Debug)]
pub(super) struct Text(pub(super) String);

/// The most characters of it: the address of a card on a hub with a long name fits.
const TEXT_MAX: usize = 200;

impl FromStr for Text {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = text.chars().count() <= TEXT_MAX;
        fits.then(|| Self(text.to_owned()))
            .ok_or_else(|| format!("q has at most {TEXT_MAX} characters"))
    }
}
