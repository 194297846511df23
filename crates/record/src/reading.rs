//! A record from and to the fields of its JSON, of which at most one holds a trial.
//!
//! The trial is read while the fields pass by, so that a message about it names the line. `serde(flatten)` would
//! copy it into memory first, lose the line, and silently drop a trial that it cannot read.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{Record, Trial};

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // This calls the derived function: a function of the type goes before one of its traits.
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OfFields)
    }
}

/// Reads a record from its fields, in whatever order they come.
struct OfFields;

impl<'de> Visitor<'de> for OfFields {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct Record")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Record, A::Error> {
        let mut trial = None;
        let others = Others { fields, trial: &mut trial };
        // This calls the derived function, which knows no trial.
        let record = Record::deserialize(MapAccessDeserializer::new(others))?;
        Ok(Record { trial, ..record })
    }
}

/// The fields of a record that hold no trial; the one that does is kept apart.
struct Others<'e, A> {
    fields: A,
    trial: &'e mut Option<Trial>,
}

impl<'de, A: MapAccess<'de>> Others<'_, A> {
    fn keep(&mut self, field: &str) -> Result<(), A::Error> {
        if let Some(earlier) = &*self.trial
            && earlier.field() == field
        {
            return Err(Error::duplicate_field(earlier.field()));
        }
        let Some(found) = Trial::read(field, &mut self.fields)? else { return Ok(()) };
        if let Some(earlier) = &*self.trial {
            return Err(Error::custom(format_args!(
                "it holds both `{}` and `{field}`, but a record holds one test at most",
                earlier.field()
            )));
        }
        *self.trial = Some(found);
        Ok(())
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Others<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(field) = self.fields.next_key::<String>()? {
            if !is_of_trial(&field) {
                return seed.deserialize(field.into_deserializer()).map(Some);
            }
            self.keep(&field)?;
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.fields.next_value_seed(seed)
    }
}

fn is_of_trial(field: &str) -> bool {
    Trial::FIELDS.contains(&field)
}

/// None among the fields that the derived function sees; [`Others`] keeps it apart.
// With `skip_deserializing` in its place, the schema would lack the fields of trials.
pub(crate) fn no_trial<'de, D: Deserializer<'de>>(_: D) -> Result<Option<Trial>, D::Error> {
    Ok(None)
}

/// The fields of a newer version.
///
/// # Errors
/// A trial is among them: somebody has called the derived function and not the trait's.
pub(crate) fn newer_fields<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Map<String, Value>, D::Error> {
    let fields = Map::deserialize(deserializer)?;
    match fields.keys().find(|field| is_of_trial(field)) {
        Some(field) => Err(Error::custom(format_args!("the test in `{field}` was not read"))),
        None => Ok(fields),
    }
}
