//! `cargo xtask dist`: everything a release consists of, below `target/packages`.
//!
//! Static binaries for all processors, Debian packages, archives, an apt repository, the list of what is
//! in the program (SBOM), and the sums of all files. The bytes depend on the commit and on the versions
//! of the tools, which are listed beside them, and on nothing else.

mod apt;
mod archive;
mod bill;
mod build;
mod deb;
mod pages;
mod repack;
mod targets;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::workspace::{self, Metadata};
use targets::Target;

/// What all artefacts of a release share.
pub(crate) struct Release {
    /// The workspace.
    root: PathBuf,
    /// Where cargo builds.
    target_directory: PathBuf,
    /// Where the artefacts go.
    out: PathBuf,
    /// The program's version.
    version: String,
    /// The commit.
    commit: String,
    /// When the commit was made, in seconds since 1970: the time of every file.
    epoch: u64,
    /// The same as mail and Debian write it, in universal time.
    date_rfc2822: String,
}

/// What a release is made for.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only this processor; may be repeated
    #[arg(long = "target", value_name = "NAME")]
    targets: Vec<String>,
    /// Sign the apt repository with this secret key of gpg
    #[arg(long = "sign", value_name = "FINGERPRINT")]
    key: Option<String>,
}

/// Makes the release.
///
/// # Errors
/// A tool cannot be had, a build failed, or an artefact is not as it must be.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let chosen = targets::named(&arguments.targets)?;
    let release = Release::of_this_commit()?;
    tools::install()?;
    let versions = tools::versions(&release.commit)?;
    clear(&release.out, &versions, &arguments.targets)?;
    let pages = pages::write(&chosen, &release)?;
    for target in chosen {
        artefacts(target, &pages, &release)?;
    }
    bill::write(&release)?;
    fs::write(release.out.join(BUILD_INFO), versions)?;
    fs::copy(release.root.join("packaging/install.sh"), release.out.join("install.sh"))?;
    archive::write_sums(&release.out)?;
    let packages = deb::packages(&release.out)?;
    if !packages.is_empty() {
        apt::repository(&packages, arguments.key.as_deref(), &release)?;
    }
    print_list(&release.out)?;
    Ok(true)
}

/// The file with the commit and the versions of the tools.
const BUILD_INFO: &str = "build-info.txt";

/// Empties `out`. What `targets` alone are made for is added to what was made of the same commit with the
/// same tools, so that a release can be made one processor at a time.
fn clear(out: &Path, versions: &str, targets: &[String]) -> Result<()> {
    let is_same = fs::read_to_string(out.join(BUILD_INFO)).is_ok_and(|text| text == versions);
    if out.exists() && (targets.is_empty() || !is_same) {
        fs::remove_dir_all(out)?;
    }
    fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))
}

impl Release {
    fn of_this_commit() -> Result<Self> {
        let root = workspace::root()?;
        let metadata = Metadata::read()?;
        let version = metadata
            .packages
            .iter()
            .find(|package| package.name == "cardproof-cli")
            .map(|package| package.version.clone())
            .context("the workspace has no cardproof-cli")?;
        let shown = |format: &str| {
            let date = "--date=format-local:%a, %d %b %Y %H:%M:%S +0000";
            let output = Command::new("git")
                .args(["log", "--max-count=1", date, format])
                .current_dir(&root)
                .env("TZ", "UTC")
                .env("LC_ALL", "C")
                .output()?;
            ensure!(output.status.success(), "git shows no commit; dist needs a checkout");
            Ok(String::from_utf8(output.stdout)?.trim().to_owned())
        };
        Ok(Self {
            commit: shown("--format=%H")?,
            epoch: shown("--format=%ct")?.parse().context("git printed no time")?,
            date_rfc2822: shown("--format=%cd")?,
            out: metadata.target_directory.join("packages"),
            target_directory: metadata.target_directory,
            version,
            root,
        })
    }
}

/// Builds for `target`, and packs what was built.
fn artefacts(target: &Target, pages: &Path, release: &Release) -> Result<()> {
    let start = Instant::now();
    let binary = build::build(target, &release.root, &release.target_directory)?;
    let size = fs::metadata(&binary)?.len();
    println!("{}: {size} bytes in {:.0} s", target.name, start.elapsed().as_secs_f64());
    archive::pack(&folder(target, &binary, pages, release)?, release)?;
    match target.deb {
        Some(architecture) => deb::package(target, architecture, release),
        None => Ok(()),
    }
}

/// The folder which the archive of `target` holds.
fn folder(target: &Target, binary: &Path, pages: &Path, release: &Release) -> Result<PathBuf> {
    let name = format!("cardproof-{}-{}", release.version, target.name);
    let folder = release.target_directory.join("dist-folders").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("man"))?;
    fs::copy(binary, folder.join("cardproof"))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "LICENSE-FONT"] {
        fs::copy(release.root.join(file), folder.join(file))?;
    }
    for entry in fs::read_dir(pages)?.chain(fs::read_dir(pages.join("man"))?) {
        let path = entry?.path();
        let name = path.file_name().context("a page without a name")?;
        if path.is_dir() || name == "changelog" {
            continue;
        }
        let is_manual = path.extension().is_some_and(|extension| extension == "1");
        let to = if is_manual { folder.join("man") } else { folder.clone() };
        fs::copy(&path, to.join(name))?;
    }
    Ok(folder)
}

fn print_list(out: &Path) -> Result<()> {
    let mut names: Vec<_> = fs::read_dir(out)?.collect::<Result<_, _>>()?;
    names.sort_by_key(fs::DirEntry::file_name);
    println!("\n{}:", out.display());
    for entry in names.iter().filter(|entry| entry.path().is_file()) {
        println!("{:>10}  {}", entry.metadata()?.len(), entry.file_name().to_string_lossy());
    }
    Ok(())
}
