//! The JSON schema of the record, generated from the types themselves.

use serde_json::Value;

use crate::{Record, SCHEMA};

/// The published schema, JSON Schema draft 2020-12.
///
/// # Errors
/// The schema cannot be expressed as JSON; that is a fault of this crate.
pub fn json_schema() -> Result<Value, serde_json::Error> {
    let mut schema = serde_json::to_value(schemars::schema_for!(Record))?;
    if let Some(properties) = schema.get_mut("properties").and_then(|p| p.get_mut("schema")) {
        properties["const"] = Value::from(SCHEMA);
    }
    Ok(schema)
}
