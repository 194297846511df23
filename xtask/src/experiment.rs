//! `cargo xtask experiment NAME`: what the design documents claim, computed again and written into
//! their tables.

pub(crate) mod packages;
mod prediction;
mod program;
mod replay;
mod replay_cards;
mod rows;
mod short_jobs;
mod sqlite;
mod verdicts;

use anyhow::{Result, bail};

/// Runs the experiment `words` name.
pub(crate) fn run(words: &[&str]) -> Result<bool> {
    match words {
        ["job-and-replay"] => packages::on_cards::run(),
        ["packages", options @ ..] => packages::run(options),
        ["prediction"] => prediction::run(),
        ["replay", options @ ..] => replay::run(options),
        ["replay-cards"] => replay_cards::run(),
        ["short-jobs"] => short_jobs::run(),
        ["sqlite"] => sqlite::run(),
        ["verdicts", options @ ..] => verdicts::run(options),
        _ => bail!(
            "there are the experiments: job-and-replay, packages, prediction, replay, replay-cards, short-jobs, \
             sqlite, verdicts"
        ),
    }
}
