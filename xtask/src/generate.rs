//! The files that are made from the source, and the check that they are as the source has them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use cardproof_device::identify;
use cardproof_rating::{compare, limits, powercut};
use cardproof_record::{CapacityAnswer, VERIFY_SCHEMA};
use cardproof_report::LIST_SCHEMA;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::cli_reference;

/// A generated file: where it lies and what it should hold.
struct Generated {
    path: &'static str,
    text: String,
}

/// All of them.
fn all() -> Result<Vec<Generated>> {
    let identity = written::<identify::Document<'_>>();
    let watch = written::<limits::WatchDocument<'_>>();
    let comparison = written::<compare::Document<'_>>();
    let power_cuts = written::<powercut::Document<'_>>();
    let list = written::<cardproof_report::List<'_>>();
    let endure = written::<cardproof_record::EndureDocument>();
    let endure_cards = written::<cardproof_record::EndureCardsDocument>();
    let health = written::<cardproof_record::HealthDocument>();
    let verify = written::<CapacityAnswer<'_>>();
    let of = |schema: schemars::Schema, name: &str| -> Result<String> {
        text(&named(serde_json::to_value(schema)?, name))
    };
    Ok(vec![
        Generated { path: "docs/record-v1.schema.json", text: schema()? },
        Generated {
            path: "docs/identity-v1.schema.json",
            text: of(identity, identify::IDENTITY_SCHEMA)?,
        },
        Generated { path: "docs/watch-v1.schema.json", text: of(watch, limits::WATCH_SCHEMA)? },
        Generated {
            path: "docs/comparison-v1.schema.json",
            text: of(comparison, compare::COMPARISON_SCHEMA)?,
        },
        Generated {
            path: "docs/powercut-v1.schema.json",
            text: of(power_cuts, powercut::POWERCUT_SCHEMA)?,
        },
        Generated { path: "docs/list-v1.schema.json", text: of(list, LIST_SCHEMA)? },
        Generated {
            path: "docs/endure-v1.schema.json",
            text: of(endure, cardproof_record::ENDURE_SCHEMA)?,
        },
        Generated {
            path: "docs/endure-cards-v1.schema.json",
            text: of(endure_cards, cardproof_record::ENDURE_CARDS_SCHEMA)?,
        },
        Generated {
            path: "docs/health-v1.schema.json",
            text: of(health, cardproof_record::HEALTH_SCHEMA)?,
        },
        Generated { path: "docs/verify-v1.schema.json", text: of(verify, VERIFY_SCHEMA)? },
        Generated {
            path: "docs/submission-v1.schema.json",
            text: text(&cardproof_submission::json_schema())?,
        },
        Generated { path: "docs/cli.md", text: cli_reference::page()? },
    ])
}

/// The published form of a record.
fn schema() -> Result<String> {
    text(&cardproof_record::json_schema()?)
}

/// The schema of what is written and never read back: a field that may be left out is not required.
fn written<T: schemars::JsonSchema>() -> schemars::Schema {
    SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// `schema` with `name` as the only value of its property `schema`.
fn named(mut schema: Value, name: &str) -> Value {
    if let Some(property) = schema.pointer_mut("/properties/schema") {
        property["const"] = Value::from(name);
    }
    schema
}

fn text(schema: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(schema)? + "\n")
}

/// Writes every generated file.
pub(crate) fn write() -> Result<bool> {
    for file in all()? {
        fs::write(file.path, &file.text).with_context(|| format!("cannot write {}", file.path))?;
        println!("wrote {}", file.path);
    }
    Ok(true)
}

/// Whether every generated file is as it would be generated; names those that are not.
pub(crate) fn are_fresh() -> Result<bool> {
    let stale: Vec<_> = all()?.into_iter().filter(|file| !is_fresh(file)).collect();
    for file in &stale {
        println!("{} is stale: run `cargo xtask generate` and commit it", file.path);
    }
    Ok(stale.is_empty())
}

/// Whether the file holds what it should; one that is not there does not.
fn is_fresh(file: &Generated) -> bool {
    fs::read_to_string(Path::new(file.path)).is_ok_and(|text| text == file.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_names_its_form() {
        assert!(schema().unwrap().contains("cardproof.record/1"));
    }

    #[test]
    fn a_file_that_is_not_there_is_not_fresh() {
        let file = Generated { path: "docs/no-such-file.json", text: String::new() };
        assert!(!is_fresh(&file));
    }
}
