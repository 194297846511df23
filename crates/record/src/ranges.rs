//! Numbers that no storage can have, found in a record before anything is computed from it.
//!
//! A record may come from anywhere. Whatever lies outside of what is physically possible is refused
//! with the name of its field, so that no ratio of it becomes endless and no sum overflows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

/// A number outside of its range.
#[derive(Debug, thiserror::Error)]
#[error("{field} is {number}; it must lie between {least:e} and {most:e}")]
pub struct RangeError {
    /// The way to the field, such as `phases.3.iops.high`.
    pub field: String,
    /// What it holds.
    pub number: f64,
    /// The least that it may be.
    pub least: f64,
    /// The most that it may be.
    pub most: f64,
}

/// No storage does more operations a second.
pub(crate) const IOPS_MOST: f64 = 1e12;

/// No storage moves more bytes a second.
pub(crate) const BYTES_PER_S_MOST: f64 = 1e15;

/// A name that the way to a field holds, and the range of the numbers below it.
const RANGES: [(&str, f64, f64); 10] = [
    // By how much one read takes longer than another.
    ("difference_ns", -6.4e18, 6.4e18),
    ("confidence", 0.0, 1.0),
    ("read_percent", 0.0, 100.0),
    ("iops", 0.0, IOPS_MOST),
    ("bytes_per_s", 0.0, BYTES_PER_S_MOST),
    ("celsius", -273.15, 1e4),
    // Two hundred years.
    ("_ns", 0.0, 6.4e18),
    ("_hz", 0.0, 1e12),
    // Eight exbibytes, so that two of them can be added.
    ("bytes", 0.0, 9.3e18),
    ("ops", 0.0, 9.3e18),
];

/// Everything else.
const ANYTHING: Range = (-1e19, 1.9e19);

/// A part of the way to a field.
enum Step<'de> {
    Name(Cow<'de, str>),
    At(usize),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::At(at) => at.fmt(f),
        }
    }
}

/// Whether every number of `record`, which was read as a record before, lies within its range.
///
/// # Errors
/// The first that does not.
pub(crate) fn check<'de>(record: impl Deserializer<'de>) -> Result<(), RangeError> {
    let mut walk = Walk::default();
    // What was read before is read again: only a number outside of its range ends it.
    let _ended = Below { walk: &mut walk, range: ANYTHING }.deserialize(record);
    walk.outside.map_or(Ok(()), Err)
}

/// The range of a field's numbers, or of those below it.
type Range = (f64, f64);

/// A walk over all fields of a record, as they are read: a record may have hundreds of thousands, so none is kept.
#[derive(Default)]
struct Walk<'de> {
    /// The way to the field that is looked at.
    way: Vec<Step<'de>>,
    /// The range that each name tells, where it tells one: thousands of fields share some hundred names.
    known: HashMap<Cow<'de, str>, Option<Range>>,
    /// The number that ended the walk.
    outside: Option<RangeError>,
}

impl Walk<'_> {
    fn number<E: Error>(&mut self, number: f64, (least, most): Range) -> Result<(), E> {
        if (least..=most).contains(&number) {
            return Ok(());
        }
        let names: Vec<String> = self.way.iter().map(ToString::to_string).collect();
        self.outside = Some(RangeError { field: names.join("."), number, least, most });
        Err(E::custom("a number outside of its range"))
    }
}

/// What lies at the end of the way, with the range of the nearest name on it that has one: of `iops.confidence` the
/// second decides.
struct Below<'w, 'de> {
    walk: &'w mut Walk<'de>,
    range: Range,
}

impl<'de> DeserializeSeed<'de> for Below<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Below<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.walk.number(number as f64, self.range)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.walk.number(number as f64, self.range)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.walk.number(number, self.range)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        for at in 0.. {
            self.walk.way.push(Step::At(at));
            let item = items.next_element_seed(Below { walk: self.walk, range: self.range })?;
            self.walk.way.pop();
            if item.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key_seed(Name)? {
            let known = self.walk.known.get(&name).copied();
            let own = known.unwrap_or_else(|| {
                let own = of_name(&name);
                self.walk.known.insert(name.clone(), own);
                own
            });
            self.walk.way.push(Step::Name(name));
            fields.next_value_seed(Below { walk: self.walk, range: own.unwrap_or(self.range) })?;
            self.walk.way.pop();
        }
        Ok(())
    }
}

/// A field's name, from the text where it stands there as it is.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

/// The range of the numbers below the field `name`, where the name tells one.
fn of_name(name: &str) -> Option<Range> {
    let holds = |part: &str| name.as_bytes().windows(part.len()).any(|it| it == part.as_bytes());
    RANGES.iter().find(|(part, ..)| holds(part)).map(|(_, least, most)| (*least, *most))
}
