//! What stands before the measurements in the file of a record: enough to tell whether it is the one that is wanted,
//! from its first few thousand bytes. A record may have megabytes, and a store hundreds of records.

use std::fmt;
use std::io::Read;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::{Conditions, Record, SCHEMA, TargetKind};

/// What a record is called and what it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordHead {
    /// The unique name of the run.
    pub id: String,
    /// A name from the user.
    pub label: Option<String>,
    /// The conditions of the run.
    pub conditions: Conditions,
}

impl RecordHead {
    /// The head of the record that `reader` reads; the rest is not read. `None` where it is no record of this version,
    /// and where another program has put the fields into another order.
    pub fn from_reader(reader: impl Read) -> Option<Self> {
        let mut parts = Parts::default();
        // What stands behind the head is not read to its end, which is an error here.
        let _ended = serde_json::Deserializer::from_reader(reader).deserialize_map(&mut parts);
        let head = Self { id: parts.id?, label: parts.label, conditions: parts.conditions? };
        (parts.schema? == SCHEMA).then_some(head)
    }

    /// Whether the target was a model of a card.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.conditions.target.kind == TargetKind::Simulated
    }
}

impl From<&Record> for RecordHead {
    fn from(record: &Record) -> Self {
        let Record { id, label, conditions, .. } = record;
        Self { id: id.clone(), label: label.clone(), conditions: conditions.clone() }
    }
}

#[derive(Default)]
struct Parts {
    schema: Option<String>,
    id: Option<String>,
    label: Option<String>,
    conditions: Option<Conditions>,
}

impl<'de> Visitor<'de> for &mut Parts {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "schema" => self.schema = Some(fields.next_value()?),
                "id" => self.id = Some(fields.next_value()?),
                "label" => self.label = fields.next_value()?,
                "conditions" => self.conditions = Some(fields.next_value()?),
                // Where the measurements begin.
                "phases" => break,
                _ => _ = fields.next_value::<IgnoredAny>()?,
            }
        }
        Ok(())
    }
}
