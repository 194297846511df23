//! Several imported records in one document: `cardproof.import/1`.

use serde::Serialize;

use crate::Record;

/// The name and version of the form.
pub const IMPORT_SCHEMA: &str = "cardproof.import/1";

/// The answer of `import --json` where several records were read; one record is printed as it is.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ImportDocument {
    /// Name and version of this form.
    schema: &'static str,
    /// The records, each of the form in record-v1.schema.json.
    #[cfg_attr(feature = "schema", schemars(schema_with = "records_of_their_form"))]
    records: Vec<Record>,
}

impl ImportDocument {
    /// The document of `records`, at least two.
    #[must_use]
    pub const fn new(records: Vec<Record>) -> Self {
        Self { schema: IMPORT_SCHEMA, records }
    }
}

/// At least two records. Their form has a schema of its own, which is not repeated.
#[cfg(feature = "schema")]
fn records_of_their_form(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "minItems": 2,
        "items": {
            "type": "object",
            "properties": { "schema": { "const": crate::SCHEMA } },
            "required": ["schema"]
        }
    })
}
