//! A Debian root that programs are run in: the kernel's file systems mounted below it, services
//! kept from starting, no questions asked.
//!
//! The mounts go with the value, so that nothing of this machine stays bound into a root that is
//! about to be taken away.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use cardproof_testkit::{require_root, run, run_command};

/// What is mounted: the options of `mount` and the place below the root.
const MOUNTS: [(&[&str], &str); 3] = [
    (&["-t", "proc", "proc"], "proc"),
    (&["-t", "sysfs", "sysfs"], "sys"),
    (&["--bind", "/dev"], "dev"),
];

/// A root with its mounts.
#[derive(Debug)]
pub(crate) struct Chroot {
    root: PathBuf,
    mounted: Vec<PathBuf>,
}

impl Chroot {
    /// Mounts what programs need below `root`.
    ///
    /// # Errors
    /// Without root, or where a mount is refused.
    pub(crate) fn enter(root: &Path) -> Result<Self> {
        require_root()?;
        let mut chroot = Self { root: root.to_owned(), mounted: Vec::new() };
        for (options, place) in MOUNTS {
            let place = root.join(place);
            let options = options.iter().map(AsRef::<OsStr>::as_ref);
            run("mount", options.chain([place.as_os_str()]))?;
            chroot.mounted.push(place);
        }
        Ok(chroot)
    }

    /// The command that runs `words` in the root, with nothing of this machine's environment but
    /// its proxy.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("chroot");
        command.arg(&self.root).args(["env", "-i", "HOME=/root", "LC_ALL=C"]);
        command.args(["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive"]);
        if let Some(proxy) = proxy() {
            command.arg(format!("http_proxy={proxy}"));
        }
        command.args(words);
        command
    }

    /// The command that runs apt-get with `words`; recommended packages are left out.
    pub(super) fn apt(&self, words: &[&str]) -> Command {
        let options = ["apt-get", "--yes", "--quiet=2", "--no-install-recommends"];
        self.command(&[&options, words].concat())
    }

    /// Runs `words` in the root to their end and returns what they print.
    ///
    /// # Errors
    /// As [`run_command`].
    pub(crate) fn output(&self, words: &[&str]) -> Result<String> {
        Ok(run_command(self.command(words))?)
    }

    /// The names of the packages that are installed in the root.
    ///
    /// # Errors
    /// As [`run_command`].
    pub(super) fn installed(&self) -> Result<BTreeSet<String>> {
        let format = "--showformat=${db:Status-Abbrev} ${binary:Package}\n";
        let text = self.output(&["dpkg-query", "--show", format])?;
        let name = |line: &str| line.strip_prefix("ii")?.split_whitespace().next().map(Into::into);
        Ok(text.lines().filter_map(name).collect())
    }
}

impl Drop for Chroot {
    fn drop(&mut self) {
        for place in self.mounted.iter().rev() {
            // A daemon that a maintainer script has left may still use it; then it goes later.
            if run("umount", [place.as_os_str()]).is_err() {
                let _ = run("umount", ["--lazy".as_ref(), place.as_os_str()]);
            }
        }
    }
}

/// The proxy by which this machine's apt reaches its mirror, if it goes by one.
pub(crate) fn proxy() -> Option<String> {
    let text = run("apt-config", ["shell", "proxy", "Acquire::http::Proxy"]).unwrap_or_default();
    let configured = text.trim().strip_prefix("proxy='").and_then(|text| text.strip_suffix('\''));
    let configured = configured.map(str::to_owned);
    configured.or_else(|| std::env::var("http_proxy").ok()).filter(|proxy| !proxy.is_empty())
}
