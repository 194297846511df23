//! Builds the program for one target so that two builds in different directories are the same bytes.
//!
//! Zig is the C compiler and the linker: it brings musl for every processor here. Paths of this
//! machine are replaced before they reach a binary.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::targets::Target;
use super::tools;
use crate::workspace::cargo;

/// The variable that says how the C compiler is called; `.cargo/config.toml` has the ordinary value.
const C_FLAGS: &str = "-fno-asynchronous-unwind-tables";

/// Rust's standard library is built too: rustup has none for some processors, and this one is half a
/// megabyte smaller in the program. It sorts with less code, and names no functions after a panic,
/// which it could not do anyway where no names are kept.
const STANDARD_LIBRARY: [&str; 2] =
    ["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"];

/// Builds the program for `target` below `target_directory` and returns the binary's path.
///
/// # Errors
/// A tool is missing, the build failed, or the binary is for another processor.
pub(crate) fn build(target: &Target, root: &Path, target_directory: &Path) -> Result<PathBuf> {
    let paths = Paths::of_this_machine(root, target_directory)?;
    let mut command = Command::new(cargo());
    command
        .args([
            "zigbuild",
            "--quiet",
            "--profile",
            "dist",
            "--locked",
            "--package",
            "cardproof-cli",
        ])
        .args(["--target", target.triple])
        .args(STANDARD_LIBRARY)
        .current_dir(root)
        .env("PATH", tools::search_path()?)
        // `-Z` on a stable compiler: no stable way exists to build the standard library.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", target_directory)
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags(&paths, target).join("\x1f"))
        .env("CFLAGS", c_flags(&paths, target))
        // The time in the headers of archives.
        .env("ZERO_AR_DATE", "1");
    let status = command.status().context("cannot start cargo zigbuild")?;
    ensure!(status.success(), "the build for {} failed", target.name);
    let binary = target_directory.join(target.triple).join("dist/cardproof");
    check(target, &binary)?;
    Ok(binary)
}

/// Paths which the compiler would write into panic messages, and what stands for them.
struct Paths(Vec<(String, &'static str)>);

impl Paths {
    /// The longest come last: the last that fits counts for the compiler.
    fn of_this_machine(root: &Path, target_directory: &Path) -> Result<Self> {
        let mut paths = vec![(text(root)?, "cardproof"), (text(target_directory)?, "target")];
        let sources = cargo_home()?.join("registry/src");
        // One directory for each registry or mirror; its name has a hash of the address.
        for registry in fs::read_dir(&sources).into_iter().flatten() {
            paths.push((text(&registry?.path())?, "registry"));
        }
        let compiler = Command::new("rustc").args(["--print", "sysroot"]).output()?;
        let sysroot = PathBuf::from(String::from_utf8(compiler.stdout)?.trim());
        paths.push((text(&sysroot.join("lib/rustlib/src/rust"))?, "rust"));
        Ok(Self(paths))
    }
}

fn cargo_home() -> Result<PathBuf> {
    match env::var_os("CARGO_HOME") {
        Some(home) => Ok(home.into()),
        None => Ok(PathBuf::from(env::var_os("HOME").context("HOME is not set")?).join(".cargo")),
    }
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).with_context(|| format!("{} is no UTF-8", path.display()))
}

fn rust_flags(paths: &Paths, target: &Target) -> Vec<String> {
    let mut flags: Vec<String> =
        paths.0.iter().map(|(from, to)| format!("--remap-path-prefix={from}=/{to}")).collect();
    let linking = [
        "-Ctarget-feature=+crt-static",
        // Zig has start-up objects for every processor, rustup only for some.
        "-Clink-self-contained=no",
        // Nothing unwinds.
        "-Cforce-unwind-tables=no",
    ];
    flags.extend(linking.map(str::to_owned));
    if !target.is_outlined {
        flags.push("-Cllvm-args=-enable-machine-outliner=never".to_owned());
    }
    flags
}

fn c_flags(paths: &Paths, target: &Target) -> String {
    let outlining = if target.is_outlined { "" } else { " -mno-outline" };
    paths.0.iter().fold(format!("{C_FLAGS}{outlining}"), |flags, (from, to)| {
        format!("{flags} -ffile-prefix-map={from}=/{to}")
    })
}

/// Checks that the binary is static, for the right processor, and readable with large pages.
fn check(target: &Target, binary: &Path) -> Result<()> {
    let shown = read_elf(binary, &["--wide", "--file-header", "--program-headers", "-A"])?;
    ensure!(
        shown.lines().any(|line| line.contains("Machine:") && line.contains(target.machine)),
        "{} is not for {}",
        binary.display(),
        target.machine
    );
    ensure!(!shown.contains("INTERP"), "{} is not linked statically", binary.display());
    for attribute in target.attributes {
        ensure!(
            shown.lines().any(|line| line.trim() == *attribute),
            "{} lacks the build attribute '{attribute}'",
            binary.display()
        );
    }
    check_alignment(binary, &shown)
}

/// Kernels with pages of 64 KiB load only segments that are aligned to as much.
const PAGE_BYTES_MAX: u64 = 64 << 10;

fn check_alignment(binary: &Path, shown: &str) -> Result<()> {
    // Only 64-bit kernels have pages of more than 4 KiB.
    if !shown.lines().any(|line| line.contains("Class:") && line.contains("ELF64"))
        || shown.contains("X86-64")
        || shown.contains("RISC-V")
    {
        return Ok(());
    }
    for line in shown.lines().filter(|line| line.trim_start().starts_with("LOAD")) {
        let alignment = line.split_whitespace().last().unwrap_or_default();
        let bytes = u64::from_str_radix(alignment.trim_start_matches("0x"), 16)
            .with_context(|| format!("readelf printed the alignment '{alignment}'"))?;
        if bytes < PAGE_BYTES_MAX {
            bail!(
                "{} has a segment aligned to {bytes} bytes; a kernel with pages of 64 KiB cannot \
                 load it",
                binary.display()
            );
        }
    }
    Ok(())
}

fn read_elf(binary: &Path, options: &[&str]) -> Result<String> {
    let output = Command::new("readelf")
        .args(options)
        .arg(binary)
        .env("LC_ALL", "C")
        .output()
        .context("cannot start readelf; install binutils")?;
    ensure!(output.status.success(), "readelf cannot read {}", binary.display());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::targets::TARGETS;
    use super::*;

    const LOADED: &str = "  Class:   ELF64\n  Machine: AArch64\n  \
         LOAD           0x000000 0x0000000000200000 0x0000000000200000 0x1 0x1 R   ALIGN\n";

    #[test]
    fn a_binary_that_a_kernel_with_large_pages_cannot_load_is_refused() {
        let binary = Path::new("cardproof");
        check_alignment(binary, &LOADED.replace("ALIGN", "0x10000")).unwrap();
        let error = check_alignment(binary, &LOADED.replace("ALIGN", "0x1000")).unwrap_err();
        assert!(error.to_string().contains("4096 bytes"), "{error}");
    }

    #[test]
    fn neither_rust_nor_c_is_outlined_where_that_breaks_the_program() {
        for target in TARGETS {
            let paths = Paths(Vec::new());
            let rust =
                rust_flags(&paths, target).iter().any(|flag| flag.contains("outliner=never"));
            let c = c_flags(&paths, target).contains("-mno-outline");
            assert_eq!((rust, c), (target.name == "riscv64", target.name == "riscv64"));
        }
    }

    #[test]
    fn no_path_of_the_machine_reaches_a_binary() {
        let paths = Paths(vec![("/home/me/cardproof".to_owned(), "cardproof")]);
        let target = &TARGETS[0];
        assert!(
            rust_flags(&paths, target)
                .contains(&"--remap-path-prefix=/home/me/cardproof=/cardproof".to_owned())
        );
        assert!(
            c_flags(&paths, target).ends_with("-ffile-prefix-map=/home/me/cardproof=/cardproof")
        );
    }
}
