//! The signed apt repository of `cargo xtask dist --sign`, as a root sees it.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result};
use cardproof_testkit::{LabError, run};

use crate::program;

/// Where it lies in the root.
const PLACE: &str = "srv/cardproof";

/// The line that a user adds, with the key that signed.
const SOURCE: &str = "deb [signed-by=/srv/cardproof/cardproof-archive-keyring.gpg] file:/srv/cardproof stable main\n";

/// Copies the repository into `root`.
///
/// # Errors
/// [`LabError::Unavailable`] where it was not made, or is not signed.
pub(super) fn lay_into(root: &Path) -> Result<()> {
    let made = program::target_directory()?.join("dist/apt");
    if !made.join("dists/stable/InRelease").is_file() {
        let reason = "no signed repository; make it with `cargo xtask dist --sign FINGERPRINT`";
        return Err(LabError::Unavailable(reason.to_owned()).into());
    }
    fs::create_dir_all(root.join("srv"))?;
    let words = ["--recursive".as_ref(), made.as_os_str()];
    run("cp", words.into_iter().chain([root.join(PLACE).as_os_str()]))?;
    Ok(())
}

/// Makes it the only source of apt in `root`: what is proved needs no other, and no network.
pub(super) fn enable(root: &Path) -> Result<()> {
    let lists = root.join("etc/apt");
    for name in ["sources.list", "sources.list.d"] {
        let path = lists.join(name);
        if path.exists() {
            fs::rename(&path, lists.join(format!("{name}.away")))?;
        }
    }
    fs::create_dir_all(lists.join("sources.list.d"))?;
    fs::write(lists.join("sources.list"), SOURCE).context("cannot write the source")
}

/// Changes one byte of the signed list.
pub(super) fn damage(root: &Path) -> Result<()> {
    let list = root.join(PLACE).join("dists/stable/InRelease");
    let text = fs::read_to_string(&list)?;
    let place = text.find("Origin: ").context("the list names no origin")?;
    let file = fs::OpenOptions::new().write(true).open(&list)?;
    file.write_all_at(b"o", place as u64)?;
    Ok(())
}
