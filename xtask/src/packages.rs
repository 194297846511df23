//! The Debian packages that the laboratories drive, installed where that is possible.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;
use cardproof_testkit::require_root;

use crate::steps::{Outcome, shown_command};

/// A program that a test runs, and the package it comes in.
const PROGRAMS: &[(&str, &str)] = &[
    ("blktrace", "blktrace"),
    ("busybox", "busybox-static"),
    ("chromium", "chromium"),
    ("cpio", "cpio"),
    ("cryptsetup", "cryptsetup-bin"),
    ("curl", "curl"),
    ("debootstrap", "debootstrap"),
    ("dmsetup", "dmsetup"),
    ("f3probe", "f3"),
    ("fio", "fio"),
    ("genisoimage", "genisoimage"),
    ("hdparm", "hdparm"),
    ("iostat", "sysstat"),
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
    ("node", "nodejs"),
    ("npm", "npm"),
    ("pg_lsclusters", "postgresql"),
    ("qemu-io", "qemu-utils"),
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("sfdisk", "fdisk"),
    ("sgdisk", "gdisk"),
    ("sqlite3", "sqlite3"),
    ("strace", "strace"),
    ("strip", "binutils"),
    ("ubinize", "mtd-utils"),
];

/// Installs what is missing.
pub(crate) fn install() -> Result<Outcome> {
    let missing = missing();
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

/// What drives a browser in the tests of pages, and what judges them, with their versions.
const BROWSER_PACKAGES: [&str; 2] = ["playwright-core@1", "axe-core@4"];

/// Installs what the tests of pages need from the npm registry, below the target directory.
pub(crate) fn install_browser_packages() -> Result<Outcome> {
    if Path::new("target/browser/node_modules/axe-core").is_dir() {
        return Ok(Outcome::Passed);
    }
    if !is_in_path("npm") {
        return Ok(Outcome::Skipped("no npm, so pages are not tried in a browser".to_owned()));
    }
    fs::create_dir_all("target/browser")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--prefix", "target/browser", "--no-audit", "--no-fund", "--silent"]);
    npm.args(BROWSER_PACKAGES);
    Ok(match shown_command(&mut npm)? {
        Outcome::Failed => {
            Outcome::Skipped("playwright-core and axe-core are not to be had".to_owned())
        }
        other => other,
    })
}

/// Where Python has its own packages for the tests.
const ENGINES: &str = "target/engines";

/// The engines that read the hub's dump in its tests: what they are called when imported, and as packages.
const ENGINE_PACKAGES: [(&str, &str); 3] =
    [("duckdb", "duckdb==2.*"), ("chdb", "chdb==4.*"), ("polars", "polars==2.*")];

/// Installs what the tests of the hub's dump need from Python's registry, in an environment of its own below
/// the target directory.
pub(crate) fn install_engines() -> Result<Outcome> {
    let wanted: Vec<&str> = ENGINE_PACKAGES
        .iter()
        .filter(|(module, _)| !has_module(module))
        .map(|&(_, package)| package)
        .collect();
    if wanted.is_empty() {
        return Ok(Outcome::Passed);
    }
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv", ENGINES]);
    if !is_in_path("python3") || shown_command(&mut environment)? == Outcome::Failed {
        let reason =
            "no python3 with venv (Debian: python3-venv), so the hub's dump is read by no engine";
        return Ok(Outcome::Skipped(reason.to_owned()));
    }
    // One by one: without one of them the others still answer.
    let mut not_had = Vec::new();
    for package in wanted {
        let mut pip = Command::new(format!("{ENGINES}/bin/python"));
        // Compiled are the few files that the tests import, when they do.
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-compile",
        ]);
        pip.arg(package);
        if shown_command(&mut pip)? == Outcome::Failed {
            not_had.push(package);
        }
    }
    if not_had.is_empty() {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Skipped(format!("not to be had here: {}", not_had.join(" "))))
}

/// Whether the environment's Python finds `module`.
fn has_module(module: &str) -> bool {
    let question =
        format!("import importlib.util, sys; sys.exit(not importlib.util.find_spec('{module}'))");
    let mut command = Command::new(format!("{ENGINES}/bin/python"));
    command.args(["-c", &question]).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The packages that are not there.
fn missing() -> Vec<&'static str> {
    let mut missing: Vec<&str> = PROGRAMS
        .iter()
        .filter(|(program, _)| !is_in_path(program))
        .map(|&(_, package)| package)
        .collect();
    if !["python3", "/usr/bin/python3"].iter().any(|python| has_jsonschema(python)) {
        missing.push("python3-jsonschema");
    }
    if !has_venv() {
        missing.push("python3-venv");
    }
    missing
}

/// Whether `python` has the validator that judges records by their schema.
fn has_jsonschema(python: &str) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", "import jsonschema"]).stderr(Stdio::null());
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
