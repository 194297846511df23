//! `cargo xtask prove hub`: what kills, a full disk, an absent database, slow clients and bombs do to the hub.
//!
//! The hub is a workspace of its own, so its tests are run as a program, with the counts of the full claim. Each
//! shows its row in a line of its own; a test that fails or is skipped breaks the claim.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::{Asked, DependsOn, Proof, Proved, Rows, Takes};
use crate::program::cargo;

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "hub",
    shows: "what kills, full disks, absent databases, slow clients and bombs do to the hub; --count is of moments",
    document: "docs/design/hub.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Seed, Takes::Count, Takes::Only],
    run,
};

/// Moments of each of the three kinds of kill, in full (more than a thousand in all) and in the short form.
const KILLS: (usize, usize) = (334, 8);

/// A part of the claim: the tests that show it, and the head of its table.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) tests: &'static [&'static str],
    pub(super) head: &'static str,
}

const PARTS: [Part; 2] = [
    Part {
        name: "kills",
        tests: &["crashes::"],
        head: "| under load | moments | acknowledged | deletions acknowledged | kept, answer lost | lost | doubled | \
               deleted and there again |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    },
    Part {
        name: "hardship",
        tests: &["hardship::", "hostile::slow_clients", "hostile::bombs"],
        head: "| hardship | what the hub did |\n| --- | --- |",
    },
];

/// What a test says before its row.
const SHOWN: &str = "shown: ";

fn run(asked: &Asked) -> Result<Proved> {
    let mut tables = Vec::new();
    let mut holds = true;
    for part in PARTS {
        if !asked.only.is_empty() && !asked.only.iter().any(|name| name == part.name) {
            continue;
        }
        let kills = asked.count_or(KILLS.0, KILLS.1);
        let (rows, is_good) = shown(&part, asked, ("CARDPROOF_HUB_KILLS", kills))?;
        tables.push(rows);
        holds &= is_good;
    }
    ensure!(!tables.is_empty(), "--only takes {}", PARTS.map(|part| part.name).join(", "));
    Ok(Proved { tables: tables.join("\n"), holds })
}

/// The rows of `part`, and whether every test of it has passed and none was skipped. `count` is a variable of the
/// environment and the number that it tells the tests.
pub(super) fn shown(part: &Part, asked: &Asked, count: (&str, usize)) -> Result<(String, bool)> {
    let mut command = tests(part, asked, count);
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let mut rows = Rows::below(part.head)?;
    let mut is_whole = true;
    let stdout = child.stdout.take().context("cargo has no output")?;
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        match line.split_once(SHOWN) {
            Some((_, row)) => rows.add(row)?,
            None if line.contains("skipped: ") => {
                eprintln!("{line}");
                is_whole = false;
            }
            None => {}
        }
    }
    Ok((rows.into_text(), child.wait()?.success() && is_whole))
}

fn tests(part: &Part, asked: &Asked, count: (&str, usize)) -> Command {
    let mut command = cargo();
    command.current_dir("hub").args(["test", "--quiet", "--locked", "--test", "it", "--"]);
    command.args(["--nocapture", "--include-ignored"]).args(part.tests).stdin(Stdio::null());
    // The settings of this workspace for SQLite are not the hub's.
    command.env_remove("LIBSQLITE3_FLAGS");
    command.env(count.0, count.1.to_string());
    if let Some(seed) = asked.seed {
        command.env("CARDPROOF_TEST_SEED", seed.get().to_string());
    }
    command
}
