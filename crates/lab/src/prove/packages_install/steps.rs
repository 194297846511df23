//! What is done with a package in a root. The first step that does not do what it must is an error.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use cardproof_testkit::run;

use super::repository;
use crate::debian;
use crate::prove::Chroot;

/// A user of the root, who has records.
const USER: &str = "pi";

/// How many runs [`Guest::use_program`] makes.
const RUNS: usize = 2;

/// A root with the package beside it.
pub(super) struct Guest<'a> {
    chroot: Chroot,
    root: &'a Path,
    /// The package, and the one before it, as the root sees them.
    package: &'static str,
    before: &'static str,
    version: String,
    said: RefCell<String>,
}

impl<'a> Guest<'a> {
    /// Lays the packages for `architecture` into `root`.
    ///
    /// # Errors
    /// There is no package, or `root` is no root.
    pub(super) fn enter(root: &'a Path, architecture: &str) -> Result<Self> {
        let file = debian::package(architecture)?;
        let (package, before) = ("/tmp/cardproof.deb", "/tmp/before/cardproof.deb");
        fs::copy(&file, below(root, package))?;
        let version = debian::version(&file)?;
        write_before(&file, &version, &below(root, before))?;
        repository::lay_into(root)?;
        let chroot = Chroot::enter(root)?;
        let guest = Self { chroot, root, package, before, version, said: RefCell::default() };
        guest.output(&["useradd", "--create-home", USER])?;
        Ok(guest)
    }

    /// All steps; the cells of the table.
    pub(super) fn steps(&self) -> Result<String> {
        self.say(&["dpkg", "--install", self.before])?;
        let installed = self.version_of_package()?;
        ensure!(installed == lower(&self.version), "{installed} is installed");
        let program = self.say(&["cardproof", "--version"])?;
        self.use_program()?;
        self.say(&["apt-get", "--yes", "--quiet=2", "install", self.package])?;
        let upgraded = self.version_of_package()?;
        ensure!(upgraded == self.version, "{upgraded} is installed after the upgrade");
        self.as_user("cardproof show latest --markdown short")?;
        let files = self.files()?;
        let said = self.say(&["apt-get", "--yes", "remove", "cardproof"])?;
        ensure!(said.contains(".local/share/cardproof"), "the removal says no place: {said}");
        let left: Vec<&PathBuf> = files.iter().filter(|file| file.exists()).collect();
        ensure!(left.is_empty(), "the removal left {left:?}");
        let records = self.records()?;
        ensure!(records == RUNS, "after {RUNS} runs and the removal there are {records} records");
        let from_repository = self.install_from_repository()?;
        Ok(format!(
            "{} | yes | to {upgraded} | yes | {} | {records} | {from_repository}",
            program.trim(),
            left.len(),
        ))
    }

    /// What was typed and printed.
    pub(super) fn transcript(&self) -> String {
        self.said.borrow().clone()
    }

    /// A simulated card, a short run on the root's own storage, the card's identity, the manual.
    fn use_program(&self) -> Result<()> {
        self.as_user("cardproof run sim:sandisk-extreme-a1 --quiet")?;
        self.as_user("mkdir -p place && cardproof run place --size 8M --time-budget 20s --quiet")?;
        self.as_user("cardproof identify place")?;
        self.as_user("cardproof list")?;
        for file in [
            "usr/share/man/man1/cardproof.1.gz",
            "usr/share/man/man1/cardproof-run.1.gz",
            "usr/share/bash-completion/completions/cardproof",
            "usr/share/zsh/vendor-completions/_cardproof",
            "usr/share/fish/vendor_completions.d/cardproof.fish",
            "usr/share/doc/cardproof/copyright",
            "usr/share/doc/cardproof/changelog.Debian.gz",
        ] {
            // Small roots leave documents away (dpkg's path-exclude); then the package must have them.
            let listed = self.output(&["dpkg", "--listfiles", "cardproof"])?;
            ensure!(listed.contains(file), "the package has no {file}");
        }
        Ok(())
    }

    /// Installs from the signed repository; apt checks its signature with what it has.
    fn install_from_repository(&self) -> Result<String> {
        repository::enable(self.root)?;
        self.say(&["apt-get", "--quiet=2", "--error-on=any", "update"])?;
        self.say(&["apt-get", "--yes", "--quiet=2", "install", "cardproof"])?;
        let installed = self.version_of_package()?;
        ensure!(installed == self.version, "the repository gave {installed}");
        let checker = if self.root.join("usr/bin/sqv").exists() { "sqv" } else { "gpgv" };
        repository::damage(self.root)?;
        let refused = self.output(&["apt-get", "--quiet=2", "--error-on=any", "update"]).is_err();
        ensure!(refused, "apt accepted lists that were changed after they were signed");
        Ok(format!("yes, checked by {checker}"))
    }

    fn version_of_package(&self) -> Result<String> {
        let format = "--showformat=${db:Status-Abbrev} ${Version}";
        let text = self.output(&["dpkg-query", "--show", format, "cardproof"])?;
        let version = text.strip_prefix("ii").context("the package is not installed")?;
        Ok(version.trim().to_owned())
    }

    /// The package's files that are in the root.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let text = self.output(&["dpkg", "--listfiles", "cardproof"])?;
        Ok(text.lines().map(|line| below(self.root, line)).filter(|path| path.is_file()).collect())
    }

    /// How many records the user has; the reports beside them are not counted.
    fn records(&self) -> Result<usize> {
        let place = self.root.join(format!("home/{USER}/.local/share/cardproof/records"));
        let names = fs::read_dir(place)?.collect::<Result<Vec<_>, _>>()?;
        Ok(names.iter().filter(|name| is_record(&name.path())).count())
    }

    fn as_user(&self, line: &str) -> Result<String> {
        self.say(&["su", "-", USER, "-c", line])
    }

    /// Does it, and keeps what was typed and printed.
    fn say(&self, words: &[&str]) -> Result<String> {
        let text = self.output(words)?;
        let typed = match words {
            ["su", .., line] => format!("$ {line}"),
            _ => format!("# {}", words.join(" ")),
        };
        self.said.borrow_mut().push_str(&format!("{typed}\n{text}"));
        Ok(text)
    }

    fn output(&self, words: &[&str]) -> Result<String> {
        self.chroot.output(words).with_context(|| words.join(" "))
    }
}

/// Whether `path` is a record, not the report beside it.
fn is_record(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// Where `path`, absolute in the root, is here.
fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// A version before `version` (Debian Policy 5.6.12: `~` sorts before everything).
fn lower(version: &str) -> String {
    format!("{version}~before")
}

/// Writes the package `file` as one with a lower version to `to`.
fn write_before(file: &Path, version: &str, to: &Path) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let tree = directory.path().join("tree");
    run("dpkg-deb", ["--raw-extract".as_ref(), file.as_os_str(), tree.as_os_str()])?;
    let control = tree.join("DEBIAN/control");
    let text = fs::read_to_string(&control)?;
    let line = format!("Version: {version}\n");
    ensure!(text.contains(&line), "the package's control file has no '{}'", line.trim());
    fs::write(&control, text.replace(&line, &format!("Version: {}\n", lower(version))))?;
    fs::create_dir_all(to.parent().context("a file without a directory")?)?;
    run("dpkg-deb", ["--build".as_ref(), tree.as_os_str(), to.as_os_str()])?;
    Ok(())
}
