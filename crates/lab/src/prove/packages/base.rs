//! The Debian root that the packages are installed into, with all their archives already
//! downloaded, kept as one tar file.
//!
//! It is made once, with the machine's own mirror; a later run of the experiment unpacks it and
//! needs no network. The tar file is moved to its place when it is whole.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use cardproof_testkit::{LabError, run, run_command};

use super::chroot::{Chroot, proxy};
use super::stage::Stage;

/// What is installed: a desktop and a browser, some 400 packages with all that they depend on.
pub(crate) const WANTED: &[&str] = &["lxqt", "xorg", "firefox-esr"];

/// Keeps maintainer scripts from starting services (Debian's `invoke-rc.d`, policy 101: forbidden).
const NO_SERVICES: &str = "#!/bin/sh\nexit 101\n";

/// A root as a tar file.
#[derive(Debug)]
pub(crate) struct Base {
    archive: PathBuf,
}

/// Debian's packages as this machine's apt has them.
#[derive(Debug, PartialEq, Eq)]
struct Mirror {
    address: String,
    release: String,
}

impl Base {
    /// The root kept in the directory `cache`, made first where there is none.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] where Debian's packages or debootstrap cannot be had.
    pub(crate) fn fetch(cache: &Path) -> Result<Self> {
        let archive = cache.join("root.tar");
        if !archive.is_file() {
            fs::create_dir_all(cache).with_context(|| cache.display().to_string())?;
            make(&archive)?;
        }
        Ok(Self { archive })
    }

    /// Puts the root into the empty directory `into`.
    ///
    /// # Errors
    /// The tar file cannot be read or there is no room.
    pub(crate) fn unpack(&self, into: &Path) -> Result<()> {
        let words = ["--extract", "--numeric-owner", "--file"].map(AsRef::as_ref);
        let paths = [self.archive.as_os_str(), "--directory".as_ref(), into.as_os_str()];
        run("tar", words.into_iter().chain(paths))?;
        Ok(())
    }
}

/// Makes the root on a file system of its own and keeps it as `archive`.
fn make(archive: &Path) -> Result<()> {
    let mirror = mirror()?;
    let stage = Stage::new()?;
    let root = stage.path();
    eprintln!("making a Debian root; this takes some minutes, once");
    let mut debootstrap = Command::new("debootstrap");
    debootstrap.args(["--variant=minbase", &mirror.release]).arg(root).arg(&mirror.address);
    if let Some(proxy) = proxy() {
        debootstrap.env("http_proxy", proxy);
    }
    run_command(debootstrap)?;
    let source = format!("deb {} {} main\n", mirror.address, mirror.release);
    fs::write(root.join("etc/apt/sources.list"), source)?;
    let policy = root.join("usr/sbin/policy-rc.d");
    fs::write(&policy, NO_SERVICES)?;
    fs::set_permissions(&policy, fs::Permissions::from_mode(0o755))?;
    let chroot = Chroot::enter(root)?;
    run_command(chroot.apt(&["clean"]))?;
    run_command(chroot.apt(&["update"]))?;
    run_command(chroot.apt(&[&["install", "--download-only"], WANTED].concat()))?;
    drop(chroot);
    let part = archive.with_extension("part");
    let words = ["--create", "--numeric-owner", "--one-file-system", "--file"].map(AsRef::as_ref);
    let paths = [part.as_os_str(), "--directory".as_ref(), root.as_os_str(), ".".as_ref()];
    run("tar", words.into_iter().chain(paths))?;
    fs::rename(&part, archive)?;
    Ok(())
}

/// The address of the mirror of Debian's main packages that this machine's apt uses.
///
/// # Errors
/// [`LabError::Unavailable`] on another system.
pub(crate) fn mirror_address() -> Result<String> {
    Ok(mirror()?.address)
}

/// The mirror of Debian's main packages that this machine's apt uses.
fn mirror() -> Result<Mirror> {
    let format = "$(REPO_URI) $(RELEASE) $(COMPONENT) $(LABEL)";
    let text = run("apt-get", ["indextargets", "--format", format, "Created-By: Packages"])?;
    let found = find_mirror(&text);
    found.ok_or_else(|| {
        LabError::Unavailable("apt knows no mirror of Debian; is this a Debian system?".to_owned())
            .into()
    })
}

/// The first line of Debian's own main packages that are not updates.
fn find_mirror(targets: &str) -> Option<Mirror> {
    targets.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [address, release, "main", "Debian"] if !release.contains('-') => {
                Some(Mirror { address: address.to_owned(), release: release.to_owned() })
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_that_of_the_release_itself() {
        let targets = "http://a.example/debian/ bookworm-updates main Debian\n\
                       http://a.example/debian/ bookworm contrib Debian\n\
                       http://a.example/debian/ bookworm main Debian\n\
                       http://b.example/other/ bookworm main Other\n";
        let wanted = Mirror {
            address: "http://a.example/debian/".to_owned(),
            release: "bookworm".to_owned(),
        };
        assert_eq!(find_mirror(targets), Some(wanted));
        assert_eq!(find_mirror("http://b.example/ noble main Ubuntu\n"), None);
    }
}
