//! The Debian packages that the laboratories drive, installed where that is possible.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use cardproof_testkit::{require_root, run_command};

use crate::steps::{Outcome, shown_command};

/// A program that a test runs, and the package it comes in.
const PROGRAMS: &[(&str, &str)] = &[
    // The browser without its windows: a page costs half of what the whole one computes.
    ("chromium-headless-shell", "chromium-headless-shell"),
    ("cryptsetup", "cryptsetup-bin"),
    ("curl", "curl"),
    ("dmsetup", "dmsetup"),
    ("f3probe", "f3"),
    ("fio", "fio"),
    ("genisoimage", "genisoimage"),
    ("hdparm", "hdparm"),
    ("ip", "iproute2"),
    ("jq", "jq"),
    ("losetup", "mount"),
    ("make-bcache", "bcache-tools"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("mkfs.erofs", "erofs-utils"),
    ("mkfs.exfat", "exfatprogs"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.f2fs", "f2fs-tools"),
    ("mkfs.jfs", "jfsutils"),
    ("mkfs.nilfs2", "nilfs-tools"),
    ("mkfs.ntfs", "ntfs-3g"),
    ("mkfs.reiserfs", "reiserfsprogs"),
    ("mkfs.udf", "udftools"),
    ("mkfs.vfat", "dosfstools"),
    ("mkfs.xfs", "xfsprogs"),
    ("mksquashfs", "squashfs-tools"),
    ("mkswap", "util-linux"),
    ("modprobe", "kmod"),
    ("pg_lsclusters", "postgresql"),
    ("qemu-io", "qemu-utils"),
    ("sfdisk", "fdisk"),
    ("sgdisk", "gdisk"),
    ("sqlite3", "sqlite3"),
    ("strace", "strace"),
    ("strip", "binutils"),
    ("ubinize", "mtd-utils"),
    ("xz", "xz-utils"),
];

/// What only `cargo xtask nightly` runs.
const NIGHTLY_PROGRAMS: &[(&str, &str)] = &[
    ("blktrace", "blktrace"),
    ("busybox", "busybox-static"),
    ("cpio", "cpio"),
    ("debootstrap", "debootstrap"),
    ("iostat", "sysstat"),
    ("mmdebstrap", "mmdebstrap"),
    ("mosquitto", "mosquitto"),
    ("mosquitto_sub", "mosquitto-clients"),
    ("promtool", "prometheus"),
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("systemd-analyze", "systemd"),
];

/// For which command packages are installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// `cargo xtask test`.
    Gate,
    /// `cargo xtask nightly`, which runs what the other leaves out.
    All,
}

/// Installs what is missing.
pub(crate) fn install(want: Want) -> Result<Outcome> {
    let missing = missing(want);
    if missing.is_empty() {
        return Ok(Outcome::Passed);
    }
    let wanted = missing.join(" ");
    if require_root().is_err() {
        return Ok(Outcome::Skipped(format!("not root; missing: {wanted}")));
    }
    if !is_in_path("apt-get") {
        return Ok(Outcome::Skipped(format!("no apt-get here; missing: {wanted}")));
    }
    if apt(&["update"])? == Outcome::Failed {
        return Ok(Outcome::Skipped(format!("no package lists to be had; missing: {wanted}")));
    }
    let install = |packages: &[&str]| {
        apt(&[&["install", "--yes", "--no-install-recommends"], packages].concat())
    };
    if install(&missing)? == Outcome::Passed {
        return Ok(Outcome::Passed);
    }
    // One by one: a release that has dropped one of them still gives the others.
    let mut not_had = Vec::new();
    for package in missing {
        if install(&[package])? == Outcome::Failed {
            not_had.push(package);
        }
    }
    if not_had.is_empty() {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Skipped(format!("not to be had here: {}", not_had.join(" "))))
}

/// What drives a browser in the tests of pages, and what judges them. Both come ready from Python's registry:
/// Playwright with the Node.js that it needs, which a system's own may be too old for.
const BROWSER_PACKAGES: [(&str, &str); 2] = [
    ("playwright", "playwright==1.65.*"),
    ("axe_playwright_python", "axe-playwright-python==0.1.*"),
];

/// Where Python has its own packages for the tests of pages.
const BROWSER: &str = "target/browser";

/// Installs what the tests of pages need, below the target directory.
pub(crate) fn install_browser_packages() -> Result<Outcome> {
    let installed = install_from_python(BROWSER, &BROWSER_PACKAGES, &["--no-deps"])?;
    if installed != Outcome::Passed {
        return Ok(installed);
    }
    // Tests find them under names without Python's version.
    let sources = run_command(python(
        BROWSER,
        "import playwright, axe_playwright_python as axe; \
        print(*playwright.__path__, *axe.__path__, sep='\\n')",
    ))?;
    let mut sources = sources.lines().map(PathBuf::from);
    let (Some(playwright), Some(axe)) = (sources.next(), sources.next()) else {
        bail!("Python does not say where it has Playwright and axe");
    };
    for (name, source) in [("driver", playwright.join("driver")), ("axe", axe)] {
        let link = Path::new(BROWSER).join(name);
        let _ = fs::remove_file(&link);
        symlink(source, link)?;
    }
    Ok(Outcome::Passed)
}

/// Where Python has its own packages for the tests of the hub's dump.
const ENGINES: &str = "target/engines";

/// The engines that read the hub's dump in its tests: what they are called when imported, and as packages.
const ENGINE_PACKAGES: [(&str, &str); 3] =
    [("duckdb", "duckdb==2.*"), ("chdb", "chdb==4.*"), ("polars", "polars==2.*")];

/// Installs what the tests of the hub's dump need, below the target directory.
pub(crate) fn install_engines() -> Result<Outcome> {
    install_from_python(ENGINES, &ENGINE_PACKAGES, &[])
}

/// Installs packages of Python's registry, each as it is called when imported and as a package, in an environment
/// of their own at `place`.
fn install_from_python(
    place: &str,
    packages: &[(&str, &str)],
    options: &[&str],
) -> Result<Outcome> {
    let wanted: Vec<&str> = packages
        .iter()
        .filter(|(module, _)| !has_module(place, module))
        .map(|&(_, package)| package)
        .collect();
    if wanted.is_empty() {
        return Ok(Outcome::Passed);
    }
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv", place]);
    if !is_in_path("python3") || shown_command(&mut environment)? == Outcome::Failed {
        return Ok(Outcome::Skipped("no python3 with venv (Debian: python3-venv)".to_owned()));
    }
    // One by one: without one of them the others still serve.
    let mut not_had = Vec::new();
    for package in wanted {
        let mut pip = Command::new(format!("{place}/bin/python"));
        // Compiled are the few files that the tests import, when they do.
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-compile",
        ]);
        if shown_command(pip.args(options).arg(package))? == Outcome::Failed {
            not_had.push(package);
        }
    }
    if not_had.is_empty() {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Skipped(format!("not to be had here: {}", not_had.join(" "))))
}

/// The Python of the environment at `place`, with this program.
fn python(place: &str, program: &str) -> Command {
    let mut command = Command::new(format!("{place}/bin/python"));
    command.args(["-c", program]);
    command
}

/// Whether the Python of the environment at `place` finds `module`.
fn has_module(place: &str, module: &str) -> bool {
    let question =
        format!("import importlib.util, sys; sys.exit(not importlib.util.find_spec('{module}'))");
    let mut command = python(place, &question);
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The packages that are not there.
fn missing(want: Want) -> Vec<&'static str> {
    let nightly = if want == Want::All { NIGHTLY_PROGRAMS } else { &[] };
    let mut missing: Vec<&str> = PROGRAMS
        .iter()
        .chain(nightly)
        .filter(|(program, _)| !is_in_path(program))
        .map(|&(_, package)| package)
        .collect();
    if !["python3", "/usr/bin/python3"].iter().any(|python| can_import(python, "jsonschema")) {
        missing.push("python3-jsonschema");
    }
    if want == Want::All && !can_import("/usr/bin/python3", "prometheus_client") {
        missing.push("python3-prometheus-client");
    }
    if !has_venv() {
        missing.push("python3-venv");
    }
    missing
}

/// Whether `python` has `module`, such as the validator that judges records by their schema.
fn can_import(python: &str, module: &str) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", &format!("import {module}")]).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Whether Python can make an environment with packages of its own.
fn has_venv() -> bool {
    let mut command = Command::new("python3");
    command.args(["-c", "import venv, ensurepip"]).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs apt-get without questions.
fn apt(arguments: &[&str]) -> Result<Outcome> {
    shown_command(
        Command::new("apt-get")
            .args(["--quiet=2", "--option=Dpkg::Use-Pty=0"])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

/// Whether `program` is in one of the directories for programs, the system's own included.
fn is_in_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(Into::into))
        .any(|directory| directory.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_where_they_are() {
        assert!(is_in_path("sh"));
        assert!(!is_in_path("cardproof-no-such-program"));
    }
}
