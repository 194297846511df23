//! `cargo xtask measure packages`: the shapes of the packages that the experiment installs, as the
//! tables of the package jobs.
//!
//! The packages are those that `cargo xtask prove packages` downloads, in the order in which
//! apt unpacks them. Names are not kept, only their lengths.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::deb::Deb;
use super::tree::{LETTERS, Trees};
use crate::program;
use crate::prove::{Base, Chroot, Stage, WANTED};

/// Where the tables are.
const TABLES: &str = "crates/jobs/src/packages";

/// Lengths of names are kept at every so many per cent.
const QUANTILE_PERCENT: u64 = 5;

/// Measures the packages and writes the tables.
pub(super) fn run() -> Result<bool> {
    let base = Base::fetch(&program::cache("packages")?)?;
    let stage = Stage::new()?;
    base.unpack(stage.path())?;
    let had_before = directories(stage.path())?;
    let (order, release) = {
        let chroot = Chroot::enter(stage.path())?;
        let plan = chroot.output(
            &[&["apt-get", "install", "--simulate", "--no-install-recommends"], WANTED].concat(),
        )?;
        let release = chroot.output(&["cat", "/etc/debian_version"])?;
        (order(&plan), release.trim().to_owned())
    };
    let archives = archives(&stage.path().join("var/cache/apt/archives"))?;
    let mut trees = Trees::new(had_before);
    let mut packages = String::from("archive_bytes,entry_bytes,info_bytes,tree\n");
    for name in &order {
        let path = archives.get(name).with_context(|| format!("no archive of {name}"))?;
        write_package(&mut packages, &Deb::read(path)?, &mut trees)?;
    }
    for (name, text) in
        [("packages.csv", packages), ("sizes.csv", sizes(&trees)?), ("names.csv", names(&trees)?)]
    {
        println!("{name}: {} bytes", text.len());
        let source =
            format!("# Debian {release}, {}: cargo xtask measure packages\n", WANTED.join(", "));
        fs::write(Path::new(TABLES).join(name), source + &text)?;
    }
    let files: u64 = trees.classes.iter().map(|class| class.files).sum();
    let bytes: u64 = trees.classes.iter().map(|class| class.bytes).sum();
    println!("{} packages, {files} files, {bytes} bytes", order.len());
    Ok(true)
}

fn write_package(out: &mut String, deb: &Deb, trees: &mut Trees) -> Result<()> {
    let info: Vec<String> = deb.info_bytes.iter().map(u64::to_string).collect();
    let tree = trees.text(&deb.entries);
    writeln!(out, "{},{},{},{tree}", deb.archive_bytes, deb.control_bytes, info.join(" "))?;
    Ok(())
}

/// The names of the packages in the order in which the simulation `plan` unpacks them.
fn order(plan: &str) -> Vec<String> {
    let name = |line: &str| line.strip_prefix("Inst ")?.split(' ').next().map(str::to_owned);
    plan.lines().filter_map(name).collect()
}

/// The archives in `directory`, by their packages' names.
fn archives(directory: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut archives = BTreeMap::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some((name, _)) = name.split_once('_').filter(|_| name.ends_with(".deb")) {
            archives.insert(name.to_owned(), path);
        }
    }
    Ok(archives)
}

/// Every directory below `root`, relative to it. Links are not followed.
fn directories(root: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                let path = entry.path();
                let relative = path.strip_prefix(root)?.to_string_lossy().into_owned();
                found.insert(relative);
                open.push(path);
            }
        }
    }
    Ok(found)
}

/// The mean size of the files of each class.
fn sizes(trees: &Trees) -> Result<String> {
    let mut out = String::from("class,files,mean_bytes\n");
    for (letter, class) in LETTERS.iter().zip(trees.classes) {
        let mean = class.bytes.div_ceil(class.files.max(1));
        writeln!(out, "{},{},{mean}", char::from(*letter), class.files)?;
    }
    Ok(out)
}

/// The lengths of names, from the shortest to the longest, at equal distances.
fn names(trees: &Trees) -> Result<String> {
    let mut out = String::from("percent,file_name_bytes,directory_name_bytes\n");
    for percent in (0..=100).step_by(QUANTILE_PERCENT as usize) {
        let file = quantile(&trees.file_names, percent);
        writeln!(out, "{percent},{file},{}", quantile(&trees.directory_names, percent))?;
    }
    Ok(out)
}

/// The length that `percent` of the names do not exceed; 0 where there are none.
fn quantile(counts: &BTreeMap<usize, u64>, percent: u64) -> usize {
    let total: u64 = counts.values().sum();
    let rank = (total * percent).div_ceil(100).max(1);
    let mut seen = 0;
    let reached = counts.iter().find(|(_, count)| {
        seen += **count;
        seen >= rank
    });
    reached.map_or(0, |(length, _)| *length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_lengths_that_occur() {
        let counts = BTreeMap::from([(3, 1), (5, 2), (9, 1)]);
        let lengths = [0, 25, 50, 75, 100].map(|percent| quantile(&counts, percent));
        assert_eq!(lengths, [3, 3, 5, 5, 9]);
        assert_eq!(quantile(&BTreeMap::new(), 50), 0);
    }

    #[test]
    fn packages_are_unpacked_in_the_order_of_the_simulation() {
        let plan = "Reading...\nInst b (1 Debian:12 [amd64])\nInst a (2 Debian:12 [amd64])\n\
                    Conf b (1 Debian:12 [amd64])\n";
        assert_eq!(order(plan), ["b", "a"]);
    }
}
