//! A profile by cardproof, and the figures in its record.

use anyhow::{Context, Result, bail};
use cardproof_testkit::run_command;
use serde::Deserialize;
use std::path::Path;

use super::Figures;
use super::commands::Tools;
use super::labs::ToolTarget;

/// The part of a record that is used.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    figures: Vec<PeerFigure>,
}

#[derive(Deserialize)]
struct PeerFigure {
    name: String,
    value: f64,
}

/// Runs the profile and returns its figures.
pub(super) fn run(program: &Path, tools: &Tools, place: &ToolTarget<'_>) -> Result<Figures> {
    let Some(profile) = cardproof_workload::find(tools.profile) else {
        bail!("there is no profile {}", tools.profile);
    };
    let records = tempfile::tempdir()?;
    let mut command = place.command(program);
    command.args(["run", "--quiet", "--json", "-", "--profile", tools.profile]);
    // Named, so that a tenth of the free space is no limit.
    command.args(["--size", &profile.span.get().to_string()]).arg(place.directory);
    command.env("XDG_DATA_HOME", records.path());
    let text = run_command(command)?;
    let answer: Answer =
        serde_json::from_str(&text).context("cardproof answered in another form")?;
    Ok(answer.figures.into_iter().map(|figure| (figure.name, figure.value)).collect())
}
