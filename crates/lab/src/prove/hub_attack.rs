//! `cargo xtask prove hub-attack`: hostile clients beside honest ones.
//!
//! The hub is a workspace of its own, so its tests are run as a program, with the count of the full claim.

use anyhow::Result;

use super::hub::{Part, shown};
use super::{Asked, DependsOn, Proof, Proved, Takes};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "hub-attack",
    shows: "what hostile clients change of the hub's order and of honest clients; --count is of hostile clients",
    document: "docs/design/hub.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Seed, Takes::Count],
    run,
};

/// Hostile clients in full and in the short form.
const HOSTILE: (usize, usize) = (10_000, 400);

const PART: Part = Part {
    name: "attack",
    tests: &["attack::"],
    head: "| who | honest clients refused | rank correlation with the truth, lowest | memory at most |\n\
           | --- | ---: | ---: | ---: |",
};

fn run(asked: &Asked) -> Result<Proved> {
    let count = asked.count_or(HOSTILE.0, HOSTILE.1);
    let (tables, holds) = shown(&PART, asked, ("CARDPROOF_HUB_ATTACKS", count))?;
    Ok(Proved { tables, holds })
}
