//! `cargo xtask prove NAME`: a published claim reproduced in full, its table in the documents
//! rewritten.
//!
//! A proof is one file below this one with a [`Proof`], a line in [`PROOFS`], and two marks in the
//! document that holds its table. A short form, or one with a count of its own, prints its table
//! and writes nothing.

pub(crate) mod attack;
mod blind;
mod boards;
mod cards_of_today;
mod endure;
mod free_space;
mod geometry;
mod hub;
mod hub_attack;
mod integrity;
mod integrity_machine;
mod kill;
mod lives;
mod log_layout;
mod misalignment;
mod packages;
mod packages_install;
mod parallel;
mod pastes;
mod powercut;
mod powercut_machine;
mod prediction;
mod replay;
mod replay_cards;
mod rows;
mod same_bytes;
mod served;
mod setups;
mod short_jobs;
mod sqlite;
mod stamp;
mod tune;
mod verdicts;
mod verify;
mod who;

use anyhow::{Context, Result, bail, ensure};
use cardproof_testkit::require_root;
use cardproof_units::Seed;

use crate::document;
use rows::Rows;

pub(crate) use stamp::Stamp;

pub(crate) use packages::{Chroot, mirror_address, proxy};

/// Every claim that can be proved.
const PROOFS: [&Proof; 36] = [
    &attack::PROOF,
    &blind::PROOF,
    &boards::PROOF,
    &cards_of_today::PROOF,
    &endure::PROOF,
    &free_space::PROOF,
    &geometry::PROOF,
    &hub::PROOF,
    &hub_attack::PROOF,
    &integrity::PROOF,
    &integrity_machine::PROOF,
    &kill::PROOF,
    &lives::PROOF,
    &misalignment::PROOF,
    &log_layout::PROOF,
    &packages::on_cards::PROOF,
    &packages::PROOF,
    &packages_install::PROOF,
    &pastes::PROOF,
    &powercut::PROOF,
    &powercut_machine::PROOF,
    &prediction::PROOF,
    &replay::PROOF,
    &replay_cards::PROOF,
    &same_bytes::PROOF,
    &setups::PROOF,
    &short_jobs::PROOF,
    &sqlite::PROOF,
    &tune::PROOF,
    &tune::SERVED,
    &verdicts::PROOF,
    &verify::PROOF,
    &verify::PEERS,
    &verify::RESTORE,
    &verify::TIMES,
    &who::PROOF,
];

/// A published claim, and how it is reproduced.
#[derive(Debug)]
struct Proof {
    /// Its name on the command line and in the marks of its document.
    name: &'static str,
    /// What its table shows, for the list of proofs.
    shows: &'static str,
    /// The document that holds its table, from the workspace's root.
    document: &'static str,
    /// What its figures depend on.
    depends_on: DependsOn,
    /// Whether it makes devices or file systems.
    needs_root: bool,
    /// The options that it follows.
    takes: &'static [Takes],
    /// Computes or measures it.
    run: fn(&Asked) -> Result<Proved>,
}

/// What the figures of a proof depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DependsOn {
    /// On the source, the seed and the count alone: the same on every computer.
    Nothing,
    /// On the machine and its load too: date, processor and load are written above the table.
    Machine,
}

/// An option that a proof may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Short,
    Seed,
    Count,
    Only,
}

/// How a proof is to be run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Asked {
    /// The short form: some minutes at most, not written into the document.
    is_short: bool,
    /// The seed, where not the proof's own.
    seed: Option<Seed>,
    /// How many cards, pairs or trials, where not the proof's own number.
    count: Option<usize>,
    /// Only these of the things that the proof looks at; all where empty.
    only: Vec<String>,
}

impl Asked {
    /// Whether all of the published claim is asked for.
    fn is_whole(&self) -> bool {
        self.options().next().is_none()
    }

    /// The options that are asked for.
    fn options(&self) -> impl Iterator<Item = (Takes, &'static str)> {
        [
            (self.is_short, Takes::Short, "--short"),
            (self.seed.is_some(), Takes::Seed, "--seed"),
            (self.count.is_some(), Takes::Count, "--count"),
            (!self.only.is_empty(), Takes::Only, "--only"),
        ]
        .into_iter()
        .filter_map(|(is_asked, option, name)| is_asked.then_some((option, name)))
    }

    /// The number asked for, or the proof's own for its full and its short form.
    fn count_or(&self, full: usize, short: usize) -> usize {
        self.count.unwrap_or(if self.is_short { short } else { full })
    }
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Proved {
    /// The tables, in Markdown.
    tables: String,
    /// Whether they show what is claimed.
    holds: bool,
}

/// Reproduce a published claim and rewrite its table.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The claim; without one, all are listed
    name: Option<String>,
    /// Run the short form and only print its table
    #[arg(long)]
    short: bool,
    /// Print the names of the claims that have a short form, one a line
    #[arg(long, hide = true)]
    list_short: bool,
    /// Seed instead of the published one; the table is only printed
    #[arg(long, value_name = "SEED")]
    seed: Option<Seed>,
    /// Number of cards, pairs or trials instead of the published one; the table is only printed
    #[arg(long, value_name = "N")]
    count: Option<usize>,
    /// Only these parts of it, such as a storage; the table is only printed
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<String>,
}

/// Runs the proof that `arguments` name; whether its claim holds.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    if arguments.list_short {
        for proof in PROOFS.iter().filter(|proof| proof.takes.contains(&Takes::Short)) {
            println!("{}", proof.name);
        }
        return Ok(true);
    }
    let Some(name) = &arguments.name else {
        for proof in PROOFS {
            let root = if proof.needs_root { "; needs root" } else { "" };
            println!("{:<16} {}{root}: {}", proof.name, proof.shows, proof.document);
        }
        return Ok(true);
    };
    let proof = PROOFS.into_iter().find(|proof| proof.name == name).with_context(|| {
        format!(
            "there is no proof '{name}'; there are {}",
            PROOFS.map(|proof| proof.name).join(", ")
        )
    })?;
    let asked = Asked {
        is_short: arguments.short,
        seed: arguments.seed,
        count: arguments.count,
        only: arguments.only.clone(),
    };
    ensure!(asked.count != Some(0), "--count takes a number from 1");
    if let Some((_, option)) = asked.options().find(|(option, _)| !proof.takes.contains(option)) {
        bail!("the proof '{name}' has no use for {option}");
    }
    reproduce(proof, &asked)
}

/// Runs `proof` as `asked`, prints its tables and, when it is the whole of it, writes them.
fn reproduce(proof: &Proof, asked: &Asked) -> Result<bool> {
    if proof.needs_root {
        require_root()?;
    }
    let stamp = Stamp::take()?;
    let Proved { tables, holds } = (proof.run)(asked)?;
    let text = match proof.depends_on {
        DependsOn::Nothing => tables,
        DependsOn::Machine => format!("{}\n\n{tables}", stamp.sentence()),
    };
    println!("{}", text.trim_end());
    if asked.is_whole() {
        document::write(proof.document, &command(proof), &text)?;
        println!("written into {}", proof.document);
    }
    Ok(holds)
}

/// The command as the marks have it.
fn command(proof: &Proof) -> String {
    format!("prove {}", proof.name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The workspace's root.
    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    #[test]
    fn every_proof_has_its_place_in_its_document() {
        for proof in PROOFS {
            let document = fs::read_to_string(root().join(proof.document)).unwrap();
            document::with_text(&document, &command(proof), "").unwrap();
        }
    }

    #[test]
    fn every_mark_of_a_proof_has_its_proof() {
        let known: BTreeSet<String> = PROOFS.map(command).into();
        for entry in fs::read_dir(root().join("docs/design")).unwrap() {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            for mark in text.split("<!-- written by `cargo xtask prove ").skip(1) {
                let name = mark.split('`').next().unwrap();
                assert!(known.contains(&format!("prove {name}")), "no proof {name}");
            }
        }
    }

    #[test]
    fn only_the_whole_claim_is_written() {
        assert!(Asked::default().is_whole());
        let parts = [
            Asked { is_short: true, ..Asked::default() },
            Asked { seed: Some(Seed::from_bits(1)), ..Asked::default() },
            Asked { count: Some(3), ..Asked::default() },
            Asked { only: vec!["memory".to_owned()], ..Asked::default() },
        ];
        for part in parts {
            assert!(!part.is_whole(), "{part:?}");
        }
    }
}
