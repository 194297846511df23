//! The three jobs as Debian's own tools do them.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use cardproof_testkit::run_command;

use super::base::{Base, WANTED};
use super::chroot::Chroot;
use super::stage::{Seen, Stage};

/// Fewer packages than this are another job than the one that is meant.
const PACKAGES_MIN: usize = 350;

/// What was done, and by what.
#[derive(Debug)]
pub(super) struct Real {
    /// Installation, removal, second installation.
    pub(super) seen: [Seen; 3],
    /// How many packages were installed, removed and installed again.
    pub(super) packages: [usize; 3],
    /// Debian, apt, dpkg and the kernel.
    pub(super) versions: String,
}

/// Installs, removes and installs again, on a fresh file system.
///
/// # Errors
/// The machine cannot do it, or apt did not do what it was to do.
pub(super) fn run(program: &Path, base: &Base) -> Result<Real> {
    let stage = Stage::new()?;
    base.unpack(stage.path())?;
    let chroot = Chroot::enter(stage.path())?;
    let versions = versions(&chroot)?;
    let before = chroot.installed()?;
    let apt = |words: &[&str]| chroot.apt(words);
    let install = || apt(&[&["install", "--no-download"], WANTED].concat());

    let first = watch(&stage, program, "installation", &install())?;
    let after = chroot.installed()?;
    let fresh: Vec<&str> = after.difference(&before).map(String::as_str).collect();
    ensure!(fresh.len() >= PACKAGES_MIN, "apt has installed only {} packages", fresh.len());
    // What a metapackage depends on counts as asked for, and would stay.
    chroot.output(&[&["apt-mark", "auto"], &fresh[..]].concat())?;
    let removal = watch(&stage, program, "removal", &apt(&["autoremove"]))?;
    let left = chroot.installed()?;
    let removed = after.difference(&left).count();
    let second = watch(&stage, program, "second installation", &install())?;
    let again = chroot.installed()?.difference(&left).count();
    Ok(Real { seen: [first, removal, second], packages: [fresh.len(), removed, again], versions })
}

fn watch(stage: &Stage, program: &Path, name: &str, job: &Command) -> Result<Seen> {
    let seen = stage.watch(program, job)?;
    eprintln!("apt's {name}: {}", seen.line());
    Ok(seen)
}

/// Who did it, in a few words.
fn versions(chroot: &Chroot) -> Result<String> {
    let debian = chroot.output(&["cat", "/etc/debian_version"])?;
    let query = ["dpkg-query", "--show", "--showformat=${Version} ", "apt", "dpkg"];
    let tools = chroot.output(&query)?;
    let mut tools = tools.split_whitespace();
    let (apt, dpkg) = (tools.next().unwrap_or("?"), tools.next().unwrap_or("?"));
    let mut uname = Command::new("uname");
    uname.arg("--kernel-release");
    // What follows the number names whoever built it.
    let kernel = run_command(uname)?;
    let kernel = kernel.trim().split('-').next().unwrap_or_default().to_owned();
    Ok(format!("Debian {}, apt {apt}, dpkg {dpkg}, Linux {kernel}", debian.trim()))
}
