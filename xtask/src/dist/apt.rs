//! A repository from which apt installs: `pool/` with the packages, `dists/stable/` with the lists.
//!
//! The lists are signed with the key of the caller. Since 2026 Debian's `sqv` rejects signatures that
//! rest on SHA-1, so the key must be Ed25519 or RSA of 4096 bits, and the digest is SHA-512.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::Release;
use super::targets::TARGETS;

/// Makes the repository below `release.out` from `packages`. `key` is the fingerprint of a secret key in
/// gpg's key ring; without it the repository is not signed.
///
/// # Errors
/// A tool is missing or failed, or the key is of a kind that apt rejects.
pub(crate) fn repository(
    packages: &[PathBuf],
    key: Option<&str>,
    release: &Release,
) -> Result<PathBuf> {
    let apt = release.out.join("apt");
    if apt.exists() {
        fs::remove_dir_all(&apt)?;
    }
    let pool = apt.join("pool/main/c/cardproof");
    fs::create_dir_all(&pool)?;
    for package in packages {
        let name = package.file_name().context("a package without a name")?;
        fs::copy(package, pool.join(name))?;
    }
    let stable = apt.join("dists/stable");
    for architecture in TARGETS.iter().filter_map(|target| target.deb) {
        write_list(&apt, &stable, architecture)?;
    }
    write_release(&stable, release)?;
    if let Some(key) = key {
        sign(&stable, &apt, key)?;
    }
    Ok(apt)
}

/// The list of the packages of one architecture, plain and packed.
fn write_list(apt: &Path, stable: &Path, architecture: &str) -> Result<()> {
    let directory = stable.join(format!("main/binary-{architecture}"));
    fs::create_dir_all(&directory)?;
    let list = output(
        Command::new("apt-ftparchive")
            .args(["--arch", architecture, "packages", "pool"])
            .current_dir(apt),
    )?;
    fs::write(directory.join("Packages"), list)?;
    let packed = output(
        Command::new("gzip")
            .args(["--no-name", "--best", "--stdout", "Packages"])
            .current_dir(&directory),
    )?;
    fs::write(directory.join("Packages.gz"), packed)?;
    Ok(())
}

fn write_release(stable: &Path, release: &Release) -> Result<()> {
    let architectures: Vec<&str> = TARGETS.iter().filter_map(|target| target.deb).collect();
    let options: [(&str, &str); 7] = [
        // Else it is the time of the build; only newer ones than Debian 12's know SOURCE_DATE_EPOCH.
        ("Date", &release.date_rfc2822),
        ("Origin", "cardproof"),
        ("Label", "cardproof"),
        ("Suite", "stable"),
        ("Codename", "stable"),
        ("Components", "main"),
        ("Architectures", &architectures.join(" ")),
    ];
    let mut command = Command::new("apt-ftparchive");
    for (name, value) in options {
        command.arg("--option").arg(format!("APT::FTPArchive::Release::{name}={value}"));
    }
    command.args(["release", "."]).current_dir(stable);
    let text = output(&mut command)?;
    fs::write(stable.join("Release"), text).context("cannot write the repository's Release")
}

/// Signs the lists, and lays the public key beside them for `Signed-By`.
fn sign(stable: &Path, apt: &Path, key: &str) -> Result<()> {
    check_key(key)?;
    let gpg = |arguments: &[&str]| {
        let mut command = Command::new("gpg");
        command.args(["--batch", "--yes", "--digest-algo", "SHA512", "--local-user", key]);
        command.args(arguments).current_dir(stable);
        output(&mut command)
    };
    gpg(&["--clearsign", "--output", "InRelease", "Release"])?;
    gpg(&["--detach-sign", "--armor", "--output", "Release.gpg", "Release"])?;
    let public = output(Command::new("gpg").args(["--batch", "--export", key]))?;
    fs::write(apt.join("cardproof-archive-keyring.gpg"), public)?;
    Ok(())
}

/// Refuses keys whose signatures apt rejects: DSA, RSA below 4096 bits.
fn check_key(key: &str) -> Result<()> {
    let listing =
        output(Command::new("gpg").args(["--batch", "--with-colons", "--list-secret-keys", key]))
            .with_context(|| format!("gpg has no secret key '{key}'"))?;
    let listing = String::from_utf8_lossy(&listing);
    ensure!(
        is_accepted(&listing),
        "apt rejects signatures of the key '{key}'; use Ed25519, or RSA with 4096 bits"
    );
    Ok(())
}

/// Whether the first key of a listing with colons is Ed25519 (algorithm 22) or RSA (1) with at least
/// 4096 bits. Fields: 3 is the length, 4 the algorithm (GnuPG, doc/DETAILS).
fn is_accepted(listing: &str) -> bool {
    let Some(key) = listing.lines().find(|line| line.starts_with("sec:")) else {
        return false;
    };
    let fields: Vec<&str> = key.split(':').collect();
    match (fields.get(3), fields.get(2).and_then(|bits| bits.parse::<u32>().ok())) {
        (Some(&"22"), _) => true,
        (Some(&"1"), Some(bits)) => bits >= 4096,
        _ => false,
    }
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {program}; install apt-utils, gnupg and gzip"))?;
    ensure!(
        output.status.success(),
        "{program} failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_apt_rejects_are_refused() {
        let cases = [
            ("sec:u:255:22:0A1B:1:::u:::scSC:::+::ed25519:::0:\n", true),
            ("sec:u:4096:1:0A1B:1:::u:::scESC::::::23::0:\n", true),
            ("sec:u:2048:1:0A1B:1:::u:::scESC::::::23::0:\n", false),
            ("sec:u:1024:17:0A1B:1:::u:::scESC::::::23::0:\n", false),
            ("", false),
        ];
        for (listing, accepted) in cases {
            assert_eq!(is_accepted(listing), accepted, "{listing}");
        }
    }
}
