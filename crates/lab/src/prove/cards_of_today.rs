//! `cargo xtask prove cards-of-today`: how near the simulated cards of 2024 and 2025 are to the figures
//! that were published of the real ones.
//!
//! Every card does in virtual time what the real one did, and each figure stands beside the published
//! one: those that the parameters were fitted to, and those that had no part in the fit.

mod errors;
mod express;
mod pi5;

use anyhow::Result;
use cardproof_units::Seed;

use super::{Asked, DependsOn, Proof, Proved, Takes};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "cards-of-today",
    shows: "how near simulated A2 and Express cards are to published figures",
    document: "docs/design/cards-of-today.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[Takes::Short, Takes::Seed],
    run,
};

fn run(asked: &Asked) -> Result<Proved> {
    let seed = asked.seed.unwrap_or(Seed::from_bits(1));
    let [pi5, express] =
        [pi5::proved(seed, asked.is_short)?, express::proved(seed, asked.is_short)?];
    Ok(Proved {
        tables: format!("{}\n{}", pi5.tables, express.tables),
        holds: pi5.holds && express.holds,
    })
}
