//! What is found of one quantity: a claim, or the reason why there is none.

use cardproof_units::{Bytes, Throughput};

/// The quantities of a card's geometry.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// What the card erases together.
    pub allocation_unit: Finding,
    /// What the card reads at once.
    pub page: Finding,
    /// How many allocation units can be written from front to back at a time.
    pub open_units_linear: Finding,
    /// How many allocation units can be written in random order at a time.
    pub open_units_random: Finding,
    /// Writes shorter than this are collected in a log of their own.
    pub small_write_threshold: Finding,
    /// The fast part of the flash.
    pub slc_cache: Finding,
    /// The rate at which an idle card empties it.
    pub slc_recovery: Finding,
    /// How many bytes of the card its map at hand covers.
    pub map_reach: Finding,
    /// Whether the card maps by page or by unit.
    pub mapping: Finding,
    /// The front part of the card that copes with small writes.
    pub first_area: Finding,
}

impl Geometry {
    /// All quantities in their order, by the names that scripts know.
    #[must_use]
    pub fn quantities(&self) -> [(&'static str, &Finding); 10] {
        [
            ("allocation_unit", &self.allocation_unit),
            ("page", &self.page),
            ("open_units_linear", &self.open_units_linear),
            ("open_units_random", &self.open_units_random),
            ("small_write_threshold", &self.small_write_threshold),
            ("slc_cache", &self.slc_cache),
            ("slc_recovery", &self.slc_recovery),
            ("map_reach", &self.map_reach),
            ("mapping", &self.mapping),
            ("first_area", &self.first_area),
        ]
    }
}

/// Why something does not show: `other`, or that the card maps by page, as far as the mapping is not `known`.
pub(super) fn or_by_page(other: &str, known: Option<Mapping>) -> String {
    match known {
        None => format!("{other}, or the card maps by page"),
        Some(Mapping::Units) => other.to_owned(),
        Some(Mapping::Pages) => "this is as on any card that maps by page".to_owned(),
    }
}

/// What is found of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// It shows.
    Claimed(Claim),
    /// It does not, for the reason given, in words.
    CannotBeSeen(String),
}

impl Finding {
    /// A quantity that `missing` kept from being measured, or that nothing was measured of.
    pub(super) fn unmeasured(missing: Option<&str>) -> Self {
        Self::CannotBeSeen(missing.unwrap_or("it was not measured").to_owned())
    }

    /// The mapping that is claimed.
    pub(super) fn mapping(&self) -> Option<Mapping> {
        match self.claim()?.value {
            Value::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    /// The claim, if there is one.
    #[must_use]
    pub const fn claim(&self) -> Option<&Claim> {
        match self {
            Self::Claimed(claim) => Some(claim),
            Self::CannotBeSeen(_) => None,
        }
    }

    /// The claimed size, if one is claimed.
    #[must_use]
    pub fn bytes(&self) -> Option<Bytes> {
        match self.claim()?.value {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The claimed number, if one is claimed.
    #[must_use]
    pub fn count(&self) -> Option<u16> {
        match self.claim()?.value {
            Value::Units(count) => Some(count),
            _ => None,
        }
    }
}

/// A value with the probability that it is right.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The value.
    pub value: Value,
    /// How probable it is that the value is right, 0 to 1.
    pub probability: f64,
    /// How it was found, in a few words.
    pub method: &'static str,
    /// What else should be known of it: other values that are possible, what the card reports.
    pub notes: Vec<String>,
}

/// The value of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A size.
    Bytes(Bytes),
    /// A number of allocation units.
    Units(u16),
    /// Bytes a second.
    Rate(Throughput),
    /// A kind of map.
    Mapping(Mapping),
}

impl Value {
    /// The unit in which scripts get the value.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Bytes(_) => "bytes",
            Self::Units(_) => "allocation units",
            Self::Rate(_) => "bytes/s",
            Self::Mapping(_) => "kind",
        }
    }
}

/// What a card's map speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Every page can lie anywhere.
    Pages,
    /// Whole allocation units are moved.
    Units,
}

impl Mapping {
    /// Its name for scripts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Units => "units",
        }
    }
}
