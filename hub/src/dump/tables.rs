//! The columns of the tables `runs` and `phases`, and what each holds: the published form of the data.
//!
//! Every column here is public. Within one version of [`DATA_SCHEMA`], no column changes its name, its type
//! or its meaning; a new column comes at the end.

use cardproof_submission::LICENCE;
use serde::Serialize;
use serde_json::{Value, json};

use super::phases::PHASES;
use super::runs::RUNS;
use super::sheet::Column;
use super::{PHASES_TABLE, RUNS_TABLE};

/// The name and version of the tables' form.
pub const DATA_SCHEMA: &str = "cardproof.data/1";

/// The form of a table.
#[derive(Clone, Debug, Serialize)]
pub struct TableForm {
    /// Its name.
    pub name: &'static str,
    /// What a row of it is, and in which order they come.
    #[serde(rename = "description")]
    pub about: &'static str,
    /// The columns that tell its rows apart.
    pub key: &'static [&'static str],
    /// Its columns, in order.
    pub columns: Vec<ColumnForm>,
}

/// The form of a column.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnForm {
    /// Its name.
    pub name: &'static str,
    /// Its type as SQL names it.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whether a row may have no value.
    #[serde(rename = "optional")]
    pub is_optional: bool,
    /// What it holds.
    #[serde(rename = "description")]
    pub about: &'static str,
}

/// The tables.
#[must_use]
pub fn forms() -> Vec<TableForm> {
    fn columns<Row>(columns: &[Column<Row>]) -> Vec<ColumnForm> {
        let one = |column: &Column<Row>| ColumnForm {
            name: column.name,
            kind: column.value.type_name(),
            is_optional: column.value.is_optional(),
            about: column.about,
        };
        columns.iter().map(one).collect()
    }
    vec![
        TableForm {
            name: RUNS_TABLE,
            about: "One row a record, sorted by model and id",
            key: &["id"],
            columns: columns(RUNS),
        },
        TableForm {
            name: PHASES_TABLE,
            about: "One row a phase of a record, sorted by model, run and position",
            key: &["run", "position"],
            columns: columns(PHASES),
        },
    ]
}

/// The description of the tables for programs.
#[must_use]
pub fn description() -> Value {
    json!({"schema": DATA_SCHEMA, "licence": LICENCE, "tables": forms()})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_plain_and_unique_and_have_their_units() {
        let both = [
            RUNS.iter().map(|it| it.name).collect::<Vec<_>>(),
            PHASES.iter().map(|it| it.name).collect(),
        ];
        for names in both {
            let different: BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(different.len(), names.len());
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(names.iter().all(|name| name.chars().all(is_plain)));
        }
    }
}
