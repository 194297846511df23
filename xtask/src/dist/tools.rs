//! The tools that a release needs, installed where they are missing.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::workspace::cargo;

/// A subcommand of cargo, and the version that the release was tried with.
const SUBCOMMANDS: &[(&str, &str)] =
    &[("cargo-zigbuild", "0.24.1"), ("cargo-deb", "3.8.0"), ("cargo-cyclonedx", "0.5.9")];

/// The release of Zig: C compiler, linker and musl. Other releases make other bytes.
const ZIG_VERSION: &str = "0.17.1";

/// Installs what building needs.
///
/// # Errors
/// Something is missing that cannot be installed; the error names it.
pub(crate) fn install() -> Result<()> {
    let installed = Command::new(cargo()).args(["install", "--list"]).output()?.stdout;
    let installed = String::from_utf8_lossy(&installed);
    for (name, version) in SUBCOMMANDS {
        let line = format!("{name} v{version}:");
        if !installed.lines().any(|found| found == line) {
            println!("installing {name} {version}");
            let version = format!("={version}");
            run(
                cargo().as_str(),
                &["install", "--locked", "--quiet", name, "--version", &version],
            )?;
        }
    }
    if zig_version().as_deref() != Some(ZIG_VERSION) {
        println!("installing Zig {ZIG_VERSION}");
        install_zig()?;
    }
    run("rustup", &["component", "add", "rust-src"])
}

/// The version of the Zig that cargo-zigbuild takes: Python's package, else the program in the path.
fn zig_version() -> Option<String> {
    printed("python3", &["-m", "ziglang", "version"]).or_else(|| printed("zig", &["version"]))
}

/// Installs Zig from Python's registry. Debian's Python refuses to install beside its own packages
/// unless told otherwise; older ones do not know that option.
fn install_zig() -> Result<()> {
    let package = format!("ziglang=={ZIG_VERSION}");
    let pip = ["-m", "pip", "install", "--quiet", "--user", &package];
    if !succeeds("python3", &pip) {
        succeeds("python3", &[&pip[..], &["--break-system-packages"]].concat());
    }
    ensure!(
        zig_version().as_deref() == Some(ZIG_VERSION),
        "Zig {ZIG_VERSION} is missing; install it, or Python's package {package}"
    );
    Ok(())
}

/// The commit and the versions of everything that the bytes of a release depend on, a line each.
///
/// # Errors
/// One of the tools cannot be asked.
pub(crate) fn versions(commit: &str) -> Result<String> {
    let compiler = printed("rustc", &["--version"]).context("rustc prints no version")?;
    let zig = zig_version().context("Zig prints no version")?;
    let xz = printed("xz", &["--version"]).context("xz prints no version; install xz-utils")?;
    let mut text = format!("commit {commit}\n{compiler}\nzig {zig}\n{xz}\n");
    for (name, version) in SUBCOMMANDS {
        text.push_str(&format!("{name} {version}\n"));
    }
    Ok(text)
}

/// The first line that `program` prints; `None` where it cannot be started or fails.
fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
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
