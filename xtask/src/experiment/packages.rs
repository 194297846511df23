//! `cargo xtask experiment packages`: the package jobs beside what apt and dpkg do to a disk.
//!
//! A Debian root gets a desktop of some 400 packages, loses it, and gets it again, on ext4 on a
//! loop device in memory; then our jobs do the same on a fresh one. What the device sees of each
//! is recorded from the kernel's tracepoints. The archives are downloaded before, once; a later
//! run needs no network.

mod base;
mod chroot;
pub(super) mod on_cards;
mod ours;
mod real;
mod stage;
mod table;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use cardproof_testkit::{require_root, run_command};

use super::program;
use crate::workspace::Metadata;
use real::Real;
use table::{Pair, table};

pub(crate) use base::{Base, WANTED};
pub(crate) use chroot::Chroot;
use stage::Seen;
pub(crate) use stage::Stage;

/// The document that holds the table.
const DOCUMENT: &str = "docs/design/jobs.md";
const BEGIN: &str = "<!-- written by `cargo xtask experiment packages`: begin -->\n";
const END: &str = "<!-- written by `cargo xtask experiment packages`: end -->\n";

/// The jobs, in the order in which they are done.
const JOBS: [&str; 3] = ["package-install", "package-remove", "package-reinstall"];

/// Does all jobs, prints the table, and puts it into the design document.
pub(super) fn run(options: &[&str]) -> Result<bool> {
    require_root()?;
    let (is_ours_alone, options) = match options {
        ["--ours", options @ ..] => (true, options),
        options => (false, options),
    };
    let program = program::build()?;
    if is_ours_alone {
        ours::run(&program)?;
        return Ok(true);
    }
    let base = Base::fetch(&cache(options)?)?;
    let ours = ours::run(&program)?;
    let real = real::run(&program, &base)?;
    let (text, is_good) = text(&real, &ours)?;
    print!("{text}");
    let document = std::fs::read_to_string(DOCUMENT).with_context(|| DOCUMENT.to_owned())?;
    std::fs::write(DOCUMENT, with_table(&document, BEGIN, END, &text)?)?;
    Ok(is_good)
}

/// Where what was downloaded is kept.
pub(crate) fn cache(options: &[&str]) -> Result<PathBuf> {
    match options {
        [] => Ok(Metadata::read()?.target_directory.join("packages")),
        ["--cache", directory] => Ok(PathBuf::from(directory)),
        _ => bail!("the option is --cache DIRECTORY"),
    }
}

/// `document` with `text` between the marks `begin` and `end`.
fn with_table(document: &str, begin: &str, end: &str, text: &str) -> Result<String> {
    let (before, rest) = document.split_once(begin).context("the document has no begin mark")?;
    let (_, after) = rest.split_once(end).context("the document has no end mark")?;
    Ok(format!("{before}{begin}\n{text}\n{end}{after}"))
}

/// What is printed, and whether all of it is near enough.
fn text(real: &Real, ours: &[Seen; 3]) -> Result<(String, bool)> {
    let pairs: Vec<Pair<'_>> = JOBS
        .iter()
        .zip(&real.seen)
        .zip(ours)
        .map(|((name, real), ours)| Pair { name, real: &real.shape, ours: &ours.shape })
        .collect();
    let (table, is_good) = table(&pairs)?;
    let seconds = |seen: &[Seen; 3]| {
        let each = seen.iter().map(|seen| format!("{:.0}", seen.seconds));
        each.collect::<Vec<_>>().join(", ")
    };
    let mut date = Command::new("date");
    date.args(["--utc", "+%Y-%m-%d"]);
    let [installed, removed, again] = real.packages;
    let head = format!(
        "{}: {}.\nPackages installed, removed, installed again: {installed}, {removed}, {again}. \
         It took apt {} s,\nand the jobs, which compute nothing in between, {} s.\n",
        run_command(date)?.trim(),
        real.versions,
        seconds(&real.seen),
        seconds(ours),
    );
    Ok((format!("{head}\n{table}"), is_good))
}
