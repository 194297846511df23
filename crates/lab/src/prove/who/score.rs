//! What `watch --who` said beside what is true.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use cardproof_rating::who::{FILESYSTEM, SWAP};
use serde_json::Value;

use super::programs::PROGRAMS;
use super::truth::Truth;

/// What was said: bytes by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// What reached the device.
    pub(super) total: u64,
    /// The writers' bytes.
    pub(super) writers: BTreeMap<String, u64>,
    /// Whether the kernel counted by service.
    pub(super) is_counted: bool,
}

/// A name with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) what: &'static str,
    /// Bytes of contents, which this name alone is right for.
    pub(super) contents: u64,
    /// Bytes of tables of its files, which the file system is right for as well.
    pub(super) tables: u64,
    pub(super) said: u64,
    /// Of what was said, how much is right.
    pub(super) right: u64,
}

/// All names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Score {
    pub(super) rows: Vec<Row>,
    /// The share that is right of all bytes whose owner is known, 0 to 1.
    pub(super) share: f64,
    /// The share of all bytes whose owner the truth does not know, 0 to 1.
    pub(super) unknown: f64,
}

impl Said {
    /// The document of `watch --who --json`.
    ///
    /// # Errors
    /// It is no such document.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let document: Value = serde_json::from_str(text).context("no JSON")?;
        let total = document["device_bytes"].as_u64().context("no device_bytes")?;
        let writers = document["writers"].as_array().context("no writers")?;
        let mut said = Self { total, ..Self::default() };
        for writer in writers {
            let name = writer["name"].as_str().context("a writer without a name")?;
            let bytes = writer["reached_bytes"].as_u64().context("no reached_bytes")?;
            *said.writers.entry(name.to_owned()).or_default() += bytes;
            said.is_counted |= writer["is_counted"] == true;
        }
        Ok(said)
    }
}

impl Score {
    pub(super) fn of(truth: &Truth, said: &Said) -> Self {
        let names = PROGRAMS.iter().map(|it| (it.service, it.what));
        let mut rows: Vec<Row> = names
            .chain([(SWAP, "pages of `hungry.service`")])
            .map(|(name, what)| {
                let of = |known: &BTreeMap<&str, u64>| known.get(name).copied().unwrap_or(0);
                let (contents, tables) = (of(&truth.contents), of(&truth.tables));
                let said = said.writers.get(name).copied().unwrap_or(0);
                let right = said.min(contents + tables);
                Row { name: name.to_owned(), what, contents, tables, said, right }
            })
            .collect();
        // The tables that no program was named for are the file system's.
        let left: u64 = rows
            .iter()
            .map(|it| it.tables - it.right.saturating_sub(it.contents).min(it.tables))
            .sum();
        let contents = truth.contents.get(FILESYSTEM).copied().unwrap_or(0);
        let told = said.writers.get(FILESYSTEM).copied().unwrap_or(0);
        rows.push(Row {
            name: FILESYSTEM.to_owned(),
            what: "",
            contents,
            tables: 0,
            said: told,
            right: told.min(contents + left),
        });
        let named: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        let others: Vec<(&String, &u64)> =
            said.writers.iter().filter(|(name, _)| !named.contains(&name.as_str())).collect();
        let others: Vec<Row> = others
            .into_iter()
            .map(|(name, bytes)| Row {
                name: name.clone(),
                what: "",
                contents: 0,
                tables: 0,
                said: *bytes,
                right: 0,
            })
            .collect();
        rows.extend(others);
        let unknown: u64 = truth.strangers.values().sum();
        let right: u64 = rows.iter().map(|row| row.right).sum();
        let known = truth.total.saturating_sub(unknown).max(1);
        Self {
            rows,
            share: right as f64 / known as f64,
            unknown: unknown as f64 / truth.total.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(writers: &[(&str, u64)]) -> Said {
        let writers = writers.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect();
        Said { total: 1000, writers, is_counted: true }
    }

    fn truth() -> Truth {
        Truth {
            total: 1000,
            contents: [("database.service", 300), (SWAP, 200), (FILESYSTEM, 300)].into(),
            tables: [("database.service", 100)].into(),
            strangers: [("/opt of ?".to_owned(), 100)].into(),
            looks: 60,
        }
    }

    #[test]
    fn tables_may_be_the_programs_or_the_file_systems_and_count_once() {
        for (database, filesystem) in [(400, 300), (300, 400), (350, 350)] {
            let said =
                said(&[("database.service", database), (SWAP, 200), (FILESYSTEM, filesystem)]);
            let score = Score::of(&truth(), &said);
            assert!((score.share - 1.0).abs() < 1e-9, "{database}: {score:?}");
            assert!((score.unknown - 0.1).abs() < 1e-9);
        }
    }

    #[test]
    fn what_is_told_of_another_is_not_right() {
        let said = said(&[("database.service", 700), ("system.slice", 200)]);
        let score = Score::of(&truth(), &said);
        assert!((score.share - 400.0 / 900.0).abs() < 1e-9, "{score:?}");
        assert!(score.rows.iter().any(|row| row.name == "system.slice" && row.right == 0));
    }
}
