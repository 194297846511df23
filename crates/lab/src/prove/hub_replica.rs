//! `cargo xtask prove hub-replica`: a replica of PostgreSQL takes over from a killed primary while submissions go on.
//!
//! The hub is a workspace of its own, so its tests are run as a program, with the count of the full claim.

use anyhow::Result;

use super::hub::{Part, shown};
use super::{Asked, DependsOn, Proof, Proved, Takes};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "hub-replica",
    shows: "what is lost when a replica of PostgreSQL takes over under load; --count is of failovers",
    document: "docs/design/hub-scale.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Seed, Takes::Count],
    run,
};

/// Failovers of each of the two modes, in full and in the short form.
const FAILOVERS: (usize, usize) = (10, 2);

const PART: Part = Part {
    name: "failovers",
    tests: &["replica::"],
    head: "| replication | failovers | acknowledged | of these lost | time without answers, median | longest |\n\
           | --- | ---: | ---: | ---: | ---: | ---: |",
};

fn run(asked: &Asked) -> Result<Proved> {
    let count = asked.count_or(FAILOVERS.0, FAILOVERS.1);
    let (tables, holds) = shown(&PART, asked, ("CARDPROOF_HUB_FAILOVERS", count))?;
    Ok(Proved { tables, holds })
}
