//! Debian roots and kernels for any processor, unpacked below cargo's target directory and kept.
//!
//! mmdebstrap makes them from the machine's own mirror. A root for another processor needs QEMU's user
//! mode emulation registered with the kernel (`binfmt_misc`), because packages run scripts of their own.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use cardproof_testkit::{LabError, run, run_command};

use crate::prove::{mirror_address, proxy};

/// A release of Debian for one architecture, in Debian's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Debian {
    /// `bookworm` or `trixie`.
    pub(crate) suite: &'static str,
    /// Such as `arm64`.
    pub(crate) architecture: &'static str,
}

impl Debian {
    /// A root with apt and useradd, as a tar file in `cache`; made first where there is none.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] where mmdebstrap or Debian's packages cannot be had.
    pub(crate) fn root(&self, cache: &Path) -> Result<PathBuf> {
        self.check_emulation()?;
        self.archive(cache, "root", &["--variant=apt", "--include=passwd"])
    }

    /// As [`Debian::root`], with `packages` installed besides, for machines that boot it; kept under `name`.
    ///
    /// # Errors
    /// As [`Debian::root`].
    pub(crate) fn root_with(&self, cache: &Path, name: &str, packages: &str) -> Result<PathBuf> {
        self.check_emulation()?;
        self.archive(cache, name, &["--variant=apt", &format!("--include={packages}")])
    }

    /// `packages` and what they need, unpacked and not installed, as a tar file in `cache`.
    ///
    /// # Errors
    /// As [`Debian::root`].
    fn unpacked(&self, cache: &Path, packages: &str) -> Result<PathBuf> {
        self.archive(cache, packages, &["--variant=extract", &format!("--include={packages}")])
    }

    /// `packages` and what they need, unpacked into the directory `name` of `cache` and kept there.
    ///
    /// # Errors
    /// As [`Debian::root`].
    pub(crate) fn tree(&self, cache: &Path, packages: &str, name: &str) -> Result<PathBuf> {
        let tree = cache.join(name);
        if tree.exists() {
            return Ok(tree);
        }
        let archive = self.unpacked(cache, packages)?;
        let fresh = cache.join("unpacking");
        if fresh.exists() {
            fs::remove_dir_all(&fresh)?;
        }
        unpack(&archive, &fresh)?;
        // Since Debian 13 packages lay files below /usr, and a package of links leads there.
        for name in ["lib", "bin"].iter().filter(|name| !fresh.join(name).exists()) {
            symlink(Path::new("usr").join(name), fresh.join(name))?;
        }
        fs::rename(&fresh, &tree)?;
        fs::remove_file(&archive)?;
        Ok(tree)
    }

    fn archive(&self, cache: &Path, kind: &str, options: &[&str]) -> Result<PathBuf> {
        let Self { suite, architecture } = self;
        let archive = cache.join(format!("{suite}-{architecture}-{kind}.tar"));
        if archive.is_file() {
            return Ok(archive);
        }
        eprintln!("fetching {kind} of Debian {suite} for {architecture}, once");
        // Moved to its place when it is whole.
        let part = cache.join(format!("{suite}-{architecture}-{kind}.part.tar"));
        let mut command = Command::new("mmdebstrap");
        command.arg("--quiet").args(options).arg(format!("--architectures={architecture}"));
        // The root is made again after a power cut, so its files need no flush.
        command.arg("--dpkgopt=force-unsafe-io");
        if takes_old_lists() {
            command.arg("--aptopt=Acquire::Check-Valid-Until \"false\"");
        }
        command.arg(suite).arg(&part).arg(mirror_address()?);
        if let Some(proxy) = proxy() {
            command.env("http_proxy", proxy);
        }
        run_command(command)?;
        fs::rename(&part, &archive)?;
        Ok(archive)
    }

    /// Whether programs of this architecture run here.
    fn check_emulation(&self) -> Result<()> {
        let Some(emulator) = emulator(self.architecture) else { return Ok(()) };
        if Path::new("/proc/sys/fs/binfmt_misc").join(emulator).exists() {
            return Ok(());
        }
        let reason = format!(
            "programs for {} do not run here; install Debian's qemu-user-static and mount \
             binfmt_misc",
            self.architecture
        );
        Err(LabError::Unavailable(reason).into())
    }
}

/// Whether this machine's apt takes lists of any age, as one does that is set to a snapshot of the archive.
fn takes_old_lists() -> bool {
    let text = run("apt-config", ["shell", "checks", "Acquire::Check-Valid-Until"]);
    text.is_ok_and(|text| text.trim() == "checks='false'")
}

/// The entry of `binfmt_misc` that runs programs of a Debian architecture; `None` for this machine's own.
fn emulator(architecture: &str) -> Option<&'static str> {
    match (architecture, std::env::consts::ARCH) {
        ("amd64", "x86_64") | ("arm64", "aarch64") => None,
        ("amd64", _) => Some("qemu-x86_64"),
        ("arm64", _) => Some("qemu-aarch64"),
        ("riscv64", _) => Some("qemu-riscv64"),
        _ => Some("qemu-arm"),
    }
}

/// Puts what the tar file `archive` holds into the directory `into`.
///
/// # Errors
/// The file cannot be read or there is no room.
pub(crate) fn unpack(archive: &Path, into: &Path) -> Result<()> {
    fs::create_dir_all(into)?;
    let words = ["--extract", "--numeric-owner", "--file"].map(AsRef::<OsStr>::as_ref);
    let paths = [archive.as_os_str(), "--directory".as_ref(), into.as_os_str()];
    run("tar", words.into_iter().chain(paths))?;
    Ok(())
}

/// The package that `cargo xtask dist` made for `architecture`.
///
/// # Errors
/// [`LabError::Unavailable`] where there is none.
pub(crate) fn package(architecture: &str) -> Result<PathBuf> {
    let directory = crate::program::target_directory()?.join("packages");
    let ending = format!("_{architecture}.deb");
    let found = fs::read_dir(&directory).into_iter().flatten().find_map(|entry| {
        let path = entry.ok()?.path();
        path.file_name()?.to_str()?.ends_with(&ending).then_some(path)
    });
    found.ok_or_else(|| {
        let reason = format!(
            "no package for {architecture} in {}; make it with `cargo xtask dist`",
            directory.display()
        );
        LabError::Unavailable(reason).into()
    })
}

/// The version of the package in `file`.
///
/// # Errors
/// dpkg-deb cannot read it.
pub(crate) fn version(file: &Path) -> Result<String> {
    let text = run("dpkg-deb", ["--field".as_ref(), file.as_os_str(), "Version".as_ref()])?;
    let version = text.trim();
    (!version.is_empty()).then(|| version.to_owned()).context("the package has no version")
}
