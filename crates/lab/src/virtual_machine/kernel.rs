//! A Debian kernel for the laboratory machine: its image and the modules that it needs.
//!
//! The package is downloaded and unpacked below cargo's target directory, never installed: the
//! machine on which this runs keeps its own kernel, and root is not needed.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use cardproof_testkit::{LabError, run, run_command};

/// The package that names the current kernel.
const META_PACKAGE: &str = "linux-image-amd64";

/// An unpacked kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    tree: PathBuf,
    release: String,
}

impl Kernel {
    /// The kernel kept in `cache`, downloaded first where there is none.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] where Debian's packages cannot be had.
    pub(crate) fn fetch(cache: &Path) -> Result<Self> {
        let tree = cache.join("kernel");
        // Two laboratories may start at once.
        let lock = fs::File::create(cache.join("kernel.lock"))?;
        lock.lock()?;
        if let Some(release) = release_in(&tree) {
            return Ok(Self { tree, release });
        }
        let download = tempfile::tempdir()?;
        let package = download_package(download.path())?;
        // Unpacked beside its place and then moved there, so that a half of it is never found.
        let fresh = cache.join("kernel.unpacking");
        if fresh.exists() {
            fs::remove_dir_all(&fresh)?;
        }
        fs::create_dir_all(&fresh)?;
        run("dpkg-deb", [OsStr::new("--extract"), package.as_os_str(), fresh.as_os_str()])?;
        join_usr(&fresh)?;
        let release = release_in(&fresh).context("the package holds no kernel")?;
        run("depmod", [OsStr::new("--basedir"), fresh.as_os_str(), OsStr::new(&release)])?;
        if tree.exists() {
            fs::remove_dir_all(&tree)?;
        }
        fs::rename(&fresh, &tree)?;
        Ok(Self { tree, release })
    }

    /// The kernel unpacked in `tree`, for any processor.
    ///
    /// # Errors
    /// There is no whole kernel, or depmod cannot be started.
    pub(crate) fn unpacked_in(tree: &Path) -> Result<Self> {
        join_usr(tree)?;
        let release = release_in(tree).context("the package holds no kernel")?;
        if !tree.join("lib/modules").join(&release).join("modules.dep").is_file() {
            run("depmod", ["--basedir".as_ref(), tree.as_os_str(), OsStr::new(&release)])?;
        }
        Ok(Self { tree: tree.to_owned(), release })
    }

    /// The kernel's image.
    pub(crate) fn image(&self) -> Result<PathBuf> {
        image_in(&self.tree, &self.release).context("the kernel's image is gone")
    }

    /// A board's device tree, by its name in the package.
    pub(crate) fn device_tree(&self, name: &str) -> PathBuf {
        self.tree.join(format!("usr/lib/linux-image-{}", self.release)).join(name)
    }

    /// The files of the modules `names` and of all that they need, in the order to load them.
    pub(crate) fn modules(&self, names: &[&str]) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for name in names {
            let mut command = Command::new("modprobe");
            command.arg("--dirname").arg(&self.tree);
            command.args(["--set-version", &self.release, "--show-depends", name]);
            let text = run_command(command).with_context(|| format!("no module {name}"))?;
            for file in text.lines().filter_map(|line| line.strip_prefix("insmod ")) {
                // Options of a module stand behind its file.
                let file = file.split_whitespace().next().unwrap_or_default();
                let file = PathBuf::from(file);
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        Ok(files)
    }
}

/// Debian 13 and later pack modules below `usr/lib`, and rely on the system's link from `lib` to there.
fn join_usr(tree: &Path) -> io::Result<()> {
    let is_packed_below_usr = tree.join("usr/lib/modules").is_dir();
    if is_packed_below_usr && !tree.join("lib").exists() {
        symlink("usr/lib", tree.join("lib"))?;
    }
    Ok(())
}

/// The release of the kernel in `tree`, if there is a whole one.
fn release_in(tree: &Path) -> Option<String> {
    let modules = fs::read_dir(tree.join("lib/modules")).ok()?.next()?.ok()?;
    let release = modules.file_name().into_string().ok()?;
    image_in(tree, &release).map(|_| release)
}

/// Debian's image: packed on most processors, plain on RISC-V, and beside the modules after Debian 13.
fn image_in(tree: &Path, release: &str) -> Option<PathBuf> {
    let places = [
        format!("boot/vmlinuz-{release}"),
        format!("boot/vmlinux-{release}"),
        format!("lib/modules/{release}/vmlinuz"),
    ];
    places.iter().map(|place| tree.join(place)).find(|image| image.is_file())
}

/// Downloads the current kernel's package into `directory`.
fn download_package(directory: &Path) -> Result<PathBuf> {
    if cfg!(not(target_arch = "x86_64")) {
        return Err(
            LabError::Unavailable("the laboratory machine is an x86-64 one".to_owned()).into()
        );
    }
    let relations = run("apt-cache", ["depends", META_PACKAGE])?;
    let name = relations
        .lines()
        .find_map(|line| line.trim().strip_prefix("Depends: "))
        .filter(|name| name.starts_with("linux-image-"))
        .ok_or_else(|| {
            LabError::Unavailable(
                "no Debian kernel in the package lists; run apt-get update".to_owned(),
            )
        })?;
    let mut command = Command::new("apt-get");
    command.args(["--quiet=2", "download", name]).current_dir(directory);
    run_command(command).map_err(|error| {
        LabError::Unavailable(format!("the package {name} cannot be downloaded: {error}"))
    })?;
    let file = fs::read_dir(directory)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension() == Some(OsStr::new("deb")));
    file.context("apt-get downloaded nothing")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_kernel_is_found_wherever_debian_packs_its_modules() {
        for lib in ["lib", "usr/lib"] {
            let tree = tempfile::tempdir().unwrap();
            fs::create_dir_all(tree.path().join(lib).join("modules/6.12.1-amd64")).unwrap();
            fs::create_dir_all(tree.path().join("usr/lib/linux-image-6.12.1-amd64")).unwrap();
            fs::create_dir(tree.path().join("boot")).unwrap();
            fs::write(tree.path().join("boot/vmlinuz-6.12.1-amd64"), "").unwrap();
            join_usr(tree.path()).unwrap();
            assert_eq!(release_in(tree.path()).as_deref(), Some("6.12.1-amd64"), "{lib}");
            join_usr(tree.path()).unwrap();
        }
    }
}
