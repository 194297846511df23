//! The schemas of the documents that commands print, derived from their types.
//!
//! They are derived here and not in `xtask`, which would then compile half of the program before it can
//! check the format of a line.

use std::collections::BTreeMap;

use anyhow::Result;
use cardproof_device::identify;
use cardproof_rating::words::{diagnosis::DiagnosisDocument, tuning::TuningDocument};
use cardproof_rating::{
    compare, diagnosis, integrity, ledger, limits, powercut, signs, tuning, who,
};
use cardproof_record::{
    CHECK_SCHEMA, CapacityAnswer, ENDURE_CARDS_SCHEMA, ENDURE_SCHEMA, EndureCardsDocument,
    EndureDocument, EngineDocument, HEALTH_SCHEMA, IMPORT_SCHEMA, ImportDocument, VERIFY_SCHEMA,
};
use cardproof_report::{
    Catalogue, CheckDocument, EXPLAINED_SCHEMA, ExplainedDocument, LIST_SCHEMA, List,
    REGISTERS_SCHEMA, RegistersDocument,
};
use cardproof_sim_serve::{SERVED_SCHEMA, Served};
use cardproof_submission::{SHARED_SCHEMA, SharedDocument};
use cardproof_trace::{RECORDING_SCHEMA, RecordingSummary};
use cardproof_witness::{WITNESS_SCHEMA, WRITE_SCHEMA, WitnessLine, WriterEnd};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Each schema's text by its path below the workspace's root.
///
/// # Errors
/// A type has no schema.
pub(crate) fn all() -> Result<BTreeMap<&'static str, String>> {
    let schemas = [
        ("docs/record-v1.schema.json", cardproof_record::json_schema()?),
        ("docs/submission-v1.schema.json", cardproof_submission::json_schema()),
        (
            "docs/identity-v1.schema.json",
            written::<identify::Document<'_, &signs::Signs>>(identify::IDENTITY_SCHEMA)?,
        ),
        ("docs/watch-v1.schema.json", written::<limits::WatchDocument<'_>>(limits::WATCH_SCHEMA)?),
        (
            "docs/comparison-v1.schema.json",
            written::<compare::Document<'_>>(compare::COMPARISON_SCHEMA)?,
        ),
        (
            "docs/powercut-v1.schema.json",
            written::<powercut::Document<'_>>(powercut::POWERCUT_SCHEMA)?,
        ),
        (
            "docs/integrity-v1.schema.json",
            written::<integrity::Document<'_>>(integrity::INTEGRITY_SCHEMA)?,
        ),
        ("docs/list-v1.schema.json", written::<List<'_>>(LIST_SCHEMA)?),
        ("docs/endure-v1.schema.json", written::<EndureDocument>(ENDURE_SCHEMA)?),
        ("docs/endure-cards-v1.schema.json", written::<EndureCardsDocument>(ENDURE_CARDS_SCHEMA)?),
        ("docs/health-v1.schema.json", written::<signs::HealthPage<'_>>(HEALTH_SCHEMA)?),
        (
            "docs/ledger-outlook-v1.schema.json",
            written::<ledger::LedgerDocument<'_>>(ledger::LEDGER_SCHEMA)?,
        ),
        (
            "docs/diagnosis-v1.schema.json",
            written::<DiagnosisDocument<'_>>(diagnosis::DIAGNOSIS_SCHEMA)?,
        ),
        ("docs/who-v1.schema.json", written::<who::WhoDocument>(who::WHO_SCHEMA)?),
        ("docs/check-v1.schema.json", written::<CheckDocument<'_>>(CHECK_SCHEMA)?),
        ("docs/tuning-v1.schema.json", written::<TuningDocument<'_>>(tuning::TUNING_SCHEMA)?),
        ("docs/engine-v1.schema.json", unnamed::<EngineDocument>()?),
        ("docs/explained-v1.schema.json", written::<ExplainedDocument<'_>>(EXPLAINED_SCHEMA)?),
        ("docs/registers-v1.schema.json", written::<RegistersDocument>(REGISTERS_SCHEMA)?),
        ("docs/shared-v1.schema.json", written::<SharedDocument>(SHARED_SCHEMA)?),
        ("docs/catalogue-v1.schema.json", unnamed::<Catalogue<'_>>()?),
        ("docs/import-v1.schema.json", written::<ImportDocument>(IMPORT_SCHEMA)?),
        ("docs/powercut-witness-v1.schema.json", written::<WitnessLine<'_>>(WITNESS_SCHEMA)?),
        ("docs/powercut-write-v1.schema.json", written::<WriterEnd>(WRITE_SCHEMA)?),
        ("docs/recording-v1.schema.json", written::<RecordingSummary<'_>>(RECORDING_SCHEMA)?),
        ("docs/served-v1.schema.json", written::<Served<'_>>(SERVED_SCHEMA)?),
        ("docs/verify-v1.schema.json", written::<CapacityAnswer<'_>>(VERIFY_SCHEMA)?),
    ];
    schemas.into_iter().map(|(path, schema)| Ok((path, text(&schema)?))).collect()
}

/// The schema of what is written and never read back: a field that may be left out is not required.
/// `name` is the only value of its property `schema`.
fn written<T: JsonSchema>(name: &str) -> Result<Value> {
    let mut schema = unnamed::<T>()?;
    if let Some(property) = schema.pointer_mut("/properties/schema") {
        property["const"] = Value::from(name);
    }
    Ok(schema)
}

/// The same of what does not name its form.
fn unnamed<T: JsonSchema>() -> Result<Value> {
    let schema =
        SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<T>();
    let mut schema = serde_json::to_value(schema)?;
    without_null_of_absent(&mut schema);
    Ok(schema)
}

/// Takes `null` from each property that is not required: what is written leaves such a property out instead.
fn without_null_of_absent(schema: &mut Value) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let absent = properties.iter_mut().filter(|(name, _)| !required.contains(&json!(name)));
        absent.for_each(|(_, property)| take_null(property));
    }
    match schema {
        Value::Object(all) => all.values_mut().for_each(without_null_of_absent),
        Value::Array(all) => all.iter_mut().for_each(without_null_of_absent),
        _ => {}
    }
}

/// Takes `null` from what `property` may be.
fn take_null(property: &mut Value) {
    if let Some(types) = property.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|it| it != "null");
        if let [only] = types.as_slice() {
            property["type"] = only.clone();
        }
    }
    let Some(Value::Array(mut choices)) = property.get("anyOf").cloned() else { return };
    choices.retain(|it| *it != json!({"type": "null"}));
    if let (Some(property), [Value::Object(only)]) = (property.as_object_mut(), choices.as_slice())
    {
        property.remove("anyOf");
        property.extend(only.clone());
    }
}

fn text(schema: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(schema)? + "\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Their documents do not name their form.
    const NAMELESS: [&str; 2] = ["docs/catalogue-v1.schema.json", "docs/engine-v1.schema.json"];

    #[test]
    fn each_schema_names_its_form() {
        for (path, text) in all().unwrap().into_iter().filter(|(path, _)| !NAMELESS.contains(path))
        {
            assert!(text.contains("\"const\": \"cardproof."), "{path}");
        }
    }

    #[test]
    fn no_schema_is_written_by_hand() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let names = fs::read_dir(docs).unwrap().map(|entry| entry.unwrap().file_name());
        let published: BTreeSet<String> = names
            .filter_map(|name| name.into_string().ok().filter(|it| it.ends_with(".schema.json")))
            .map(|name| format!("docs/{name}"))
            .collect();
        let derived = all().unwrap().into_keys().map(str::to_owned).collect();
        assert_eq!(published, derived);
    }
}
