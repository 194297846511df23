//! `cargo xtask prove packages`: the package jobs beside what apt and dpkg do to a disk.
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

use anyhow::{Result, bail};

use super::{Asked, DependsOn, Proof, Proved, Takes};
use crate::program::{self, Build};
use real::Real;
use table::{Pair, table};

use base::Base;
pub(crate) use base::mirror_address;
pub(crate) use chroot::{Chroot, proxy};
use stage::Seen;

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "packages",
    shows: "the package jobs beside what apt and dpkg do to a disk; --only ours does the jobs alone",
    document: "docs/design/jobs.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Only],
    run,
};

/// The jobs, in the order in which they are done.
const JOBS: [&str; 3] = ["package-install", "package-remove", "package-reinstall"];

/// Does all jobs, the real ones and ours.
fn run(asked: &Asked) -> Result<Proved> {
    let program = program::build(Build::Quick)?;
    match asked.only.as_slice() {
        [] => {}
        [only] if only == "ours" => {
            ours::run(&program)?;
            return Ok(Proved { tables: String::new(), holds: true });
        }
        _ => bail!("--only takes 'ours' here"),
    }
    let base = Base::fetch(&program::cache("packages")?)?;
    let ours = ours::run(&program)?;
    let real = real::run(&program, &base)?;
    let (tables, holds) = text(&real, &ours)?;
    Ok(Proved { tables, holds })
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
    let [installed, removed, again] = real.packages;
    let head = format!(
        "{}.\nPackages installed, removed, installed again: {installed}, {removed}, {again}. \
         It took apt {} s,\nand the jobs, which compute nothing in between, {} s.\n",
        real.versions,
        seconds(&real.seen),
        seconds(ours),
    );
    Ok((format!("{head}\n{table}"), is_good))
}
