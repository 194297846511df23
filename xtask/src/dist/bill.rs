//! The crates in the program, as a CycloneDX document (SBOM).

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::Release;
use crate::workspace::{Metadata, cargo};

/// The name of the file that cargo-cyclonedx writes beside each manifest, without its ending.
const NAME: &str = "cardproof-sbom";

/// Writes `cardproof-VERSION.cdx.json`.
///
/// # Errors
/// cargo-cyclonedx failed or wrote nothing for the program.
pub(crate) fn write(release: &Release) -> Result<()> {
    let status = Command::new(cargo())
        .args(["cyclonedx", "--quiet", "--format", "json", "--spec-version", "1.5"])
        .args(["--override-filename", NAME, "--manifest-path", "crates/cli/Cargo.toml"])
        .current_dir(&release.root)
        // Leaves out the serial number, which is random, and takes the time of the commit.
        .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
        .status()
        .context("cannot start cargo cyclonedx")?;
    ensure!(status.success(), "cargo cyclonedx failed");
    let name = format!("cardproof-{}.cdx.json", release.version);
    let text = without_directory(&collect()?, &release.root)?;
    fs::write(release.out.join(name), text).context("cannot write the list of crates")
}

/// Takes away the files that cargo-cyclonedx wrote for the packages of the workspace, and returns the
/// text of the program's.
fn collect() -> Result<String> {
    let metadata = Metadata::read()?;
    let mut text = None;
    for package in metadata.members() {
        let directory = package.manifest_path.parent().context("a manifest without a directory")?;
        let bill = directory.join(format!("{NAME}.json"));
        if !bill.exists() {
            continue;
        }
        if package.name == "cardproof-cli" {
            text = Some(fs::read_to_string(&bill)?);
        }
        fs::remove_file(&bill)?;
    }
    text.context("cargo cyclonedx wrote no list for cardproof-cli")
}

/// `bill` with the directory of this machine's sources, which it names for each of the workspace's
/// packages, cut off.
fn without_directory(bill: &str, root: &Path) -> Result<String> {
    let root = root.to_str().context("the workspace's path is no UTF-8")?;
    Ok(bill.replace(&format!("{root}/"), "").replace(root, "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_of_the_machine_stands_in_the_list() {
        let bill = r#"{"bom-ref": "path+file:///home/me/cardproof/crates/io#0.1.0"}"#;
        let bill = without_directory(bill, Path::new("/home/me/cardproof")).unwrap();
        assert_eq!(bill, r#"{"bom-ref": "path+file://crates/io#0.1.0"}"#);
    }
}
