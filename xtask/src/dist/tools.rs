//! The tools that a release needs, installed where they are missing.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::is_built_here;
use super::targets::{StandardLibrary, Target};
use crate::workspace::cargo;

/// A subcommand of cargo, and the version that the release was tried with.
const SUBCOMMANDS: &[(&str, &str)] =
    &[("cargo-zigbuild", "0.24.1"), ("cargo-deb", "3.8.0"), ("cargo-cyclonedx", "0.5.9")];

/// The release of Zig: C compiler, linker and musl, from Python's registry.
const ZIG: &str = "ziglang==0.17.1";

/// Installs what building `targets` needs.
///
/// # Errors
/// Something is missing that cannot be installed; the error names it.
pub(crate) fn install(targets: &[&Target]) -> Result<()> {
    let installed = Command::new(cargo()).args(["install", "--list"]).output()?.stdout;
    let installed = String::from_utf8_lossy(&installed);
    for (name, version) in SUBCOMMANDS {
        if !installed.lines().any(|line| line.split(' ').next() == Some(name)) {
            println!("installing {name} {version}");
            let version = format!("={version}");
            run(
                cargo().as_str(),
                &["install", "--locked", "--quiet", name, "--version", &version],
            )?;
        }
    }
    if !succeeds("python3", &["-m", "ziglang", "version"]) && !succeeds("zig", &["version"]) {
        println!("installing {ZIG}");
        install_zig()?;
    }
    install_standard_libraries(targets)
}

/// Debian's Python refuses to install beside its own packages unless told otherwise; older ones do not
/// know that option.
fn install_zig() -> Result<()> {
    let pip = ["-m", "pip", "install", "--quiet", "--user", ZIG];
    if succeeds("python3", &pip)
        || succeeds("python3", &[&pip[..], &["--break-system-packages"]].concat())
    {
        return Ok(());
    }
    bail!("Zig is missing; install it, or Python's package {ZIG}");
}

fn install_standard_libraries(targets: &[&Target]) -> Result<()> {
    let prebuilt: Vec<&str> = targets
        .iter()
        .filter(|target| target.standard_library == StandardLibrary::Prebuilt)
        .map(|target| target.triple)
        .collect();
    if !prebuilt.is_empty() {
        run("rustup", &[&["target", "add"][..], &prebuilt].concat())?;
    }
    if targets.iter().any(|target| is_built_here(target)) {
        run("rustup", &["component", "add", "rust-src"])?;
    }
    Ok(())
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {program}; is it installed?"))?;
    ensure!(status.success(), "{program} {} failed", arguments.join(" "));
    Ok(())
}
