//! The tools that a release needs, installed where they are missing.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::workspace::cargo;

/// A subcommand of cargo, and the version that the release was tried with.
const SUBCOMMANDS: &[(&str, &str)] =
    &[("cargo-zigbuild", "0.24.1"), ("cargo-deb", "3.8.0"), ("cargo-cyclonedx", "0.5.9")];

/// The release of Zig: C compiler, linker and musl. Other releases make other bytes.
const ZIG_VERSION: &str = "0.17.1";

/// Programs that no step here installs, and Debian's packages that bring them.
const PROGRAMS: &[(&str, &str)] = &[
    ("apt-ftparchive", "apt-utils"),
    ("dpkg-deb", "dpkg"),
    ("gpg", "gnupg"),
    ("python3", "python3"),
    ("readelf", "binutils"),
    ("xz", "xz-utils"),
];

/// Where Zig lies: an environment of Python, since Debian's own refuses packages beside its own.
const ZIG: &str = "target/zig";

/// Installs what building needs, after looking for what it cannot install.
///
/// # Errors
/// Something is missing that cannot be installed; the error names all of it.
pub(crate) fn install() -> Result<()> {
    let missing = missing();
    ensure!(missing.is_empty(), "dist needs what is not here:\n  {}", missing.join("\n  "));
    if zig_version().as_deref() != Some(ZIG_VERSION) {
        println!("installing Zig {ZIG_VERSION} below {ZIG}");
        install_zig()?;
    }
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
    Ok(())
}

/// What cannot be installed here and is not there, each with its remedy.
fn missing() -> Vec<String> {
    let mut missing: Vec<String> = PROGRAMS
        .iter()
        .filter(|(program, _)| printed(program, &["--version"]).is_none())
        .map(|(program, package)| format!("{program} (Debian: {package})"))
        .collect();
    if !succeeds("python3", &["-c", "import venv, ensurepip"]) {
        missing.push("Python's venv with pip (Debian: python3-venv)".to_owned());
    }
    if !has_library_source() && !succeeds("rustup", &["component", "add", "rust-src"]) {
        missing.push(
            "the source of Rust's standard library (`rustup component add rust-src`)".to_owned(),
        );
    }
    missing
}

/// Whether the compiler has the source of its standard library beside it.
fn has_library_source() -> bool {
    printed("rustc", &["--print", "sysroot"]).is_some_and(|sysroot| {
        Path::new(&sysroot).join("lib/rustlib/src/rust/library/std/Cargo.toml").is_file()
    })
}

/// The search path in which Zig's environment comes first, for what starts Zig as a module of Python.
///
/// # Errors
/// The path cannot be put together.
pub(crate) fn search_path() -> Result<OsString> {
    let own = env::current_dir()?.join(ZIG).join("bin");
    let path = env::var_os("PATH").unwrap_or_default();
    Ok(env::join_paths(std::iter::once(own).chain(env::split_paths(&path)))?)
}

/// The version of the Zig that cargo-zigbuild takes: Python's package, else the program in the path.
fn zig_version() -> Option<String> {
    let own = format!("{ZIG}/bin/python3");
    printed(&own, &["-m", "ziglang", "version"])
        .or_else(|| printed("python3", &["-m", "ziglang", "version"]))
        .or_else(|| printed("zig", &["version"]))
}

/// Installs Zig from Python's registry. What pip says is shown.
fn install_zig() -> Result<()> {
    run("python3", &["-m", "venv", ZIG])?;
    let package = format!("ziglang=={ZIG_VERSION}");
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &package];
    run(&format!("{ZIG}/bin/python3"), &pip)
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
