//! Plain reads of the kernel's small files, below a root that a test can put anywhere.
//!
//! What is missing, unreadable, too long, not text, or not the number asked for is `None`: the
//! callers record facts and never guess. Nothing is written, no fixed path is opened, and a link
//! that is resolved may not lead out of the root.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The longest file read; the mount table of a container host has been seen at a megabyte.
const FILE_LENGTH_MAX: u64 = 8 << 20;

/// The longest attribute kept: the kernel's own limit is one page, names are far shorter.
const TEXT_LENGTH_MAX: usize = 256;

/// The directory below which `sys`, `proc` and `dev` are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sysroot {
    root: PathBuf,
}

impl Default for Sysroot {
    fn default() -> Self {
        Self::new("/")
    }
}

impl Sysroot {
    /// The root at `path`: `/` for the running system.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { root: path.into() }
    }

    /// Where `path` is below this root. A leading `/` means the root.
    pub(crate) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The bytes of the regular file at `path`.
    pub(crate) fn bytes(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        let path = self.at(path);
        if !fs::metadata(&path)?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut bytes = Vec::new();
        let length = File::open(path)?.take(FILE_LENGTH_MAX + 1).read_to_end(&mut bytes)?;
        if length as u64 > FILE_LENGTH_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    /// The text of the file at `path` without surrounding blanks; `None` where it is empty, is
    /// not printable UTF-8, or is longer than an attribute can be.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = self.bytes(path).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        let fits = !text.is_empty() && text.len() <= TEXT_LENGTH_MAX;
        (fits && !text.contains(char::is_control)).then(|| text.to_owned())
    }

    /// The number in the file at `path`.
    pub(crate) fn number<N: FromStr>(&self, path: impl AsRef<Path>) -> Option<N> {
        self.text(path)?.parse().ok()
    }

    /// The switch in the file at `path`: 0 or 1.
    pub(crate) fn switch(&self, path: impl AsRef<Path>) -> Option<bool> {
        match self.text(path)?.as_str() {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    }

    /// Whether anything is at `path`.
    pub(crate) fn has(&self, path: impl AsRef<Path>) -> bool {
        self.at(path).exists()
    }

    /// The names in the directory at `path`, in order; those that are not UTF-8 are left out,
    /// for the kernel gives no such names.
    pub(crate) fn list(&self, path: impl AsRef<Path>) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.at(path))? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// The path below the root to which all links in `path` lead; `None` where they lead
    /// nowhere or out of the root.
    pub(crate) fn resolve(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let root = fs::canonicalize(&self.root).ok()?;
        let resolved = fs::canonicalize(self.at(path)).ok()?;
        resolved.strip_prefix(root).ok().map(Path::to_owned)
    }

    /// The number of the block device whose node is at `path`.
    pub(crate) fn node(&self, path: impl AsRef<Path>) -> Option<crate::DeviceNumber> {
        use std::os::unix::fs::MetadataExt;
        let metadata = fs::metadata(self.at(path)).ok()?;
        let is_block = metadata.file_type().is_block_device();
        is_block.then(|| crate::DeviceNumber::from_raw(metadata.rdev()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_with(content: &[u8]) -> (tempfile::TempDir, Sysroot) {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), content).unwrap();
        let root = Sysroot::new(directory.path());
        (directory, root)
    }

    #[test]
    fn text_is_trimmed_of_blanks_and_of_the_device_trees_zero() {
        for content in ["Pi 4\n", " Pi 4  \n", "Pi 4\0"] {
            let (_keep, root) = root_with(content.as_bytes());
            assert_eq!(root.text("file").as_deref(), Some("Pi 4"), "{content:?}");
        }
    }

    #[test]
    fn garbage_is_nothing() {
        let long = vec![b'x'; TEXT_LENGTH_MAX + 1];
        for content in [b"".as_slice(), b"\n", b"\xff\xfe", b"a\x1b[2Jb", b"two\nlines", &long] {
            let (_keep, root) = root_with(content);
            assert_eq!(root.text("file"), None, "{content:?}");
        }
        let (_keep, root) = root_with(b"18446744073709551616");
        assert_eq!(root.number::<u64>("file"), None);
        assert_eq!(root.switch("file"), None);
    }

    #[test]
    fn what_is_not_a_plain_file_is_not_read() {
        let (keep, root) = root_with(b"x");
        fs::create_dir(keep.path().join("directory")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            keep.path().join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        assert_eq!(root.text("directory"), None);
        assert_eq!(root.text("pipe"), None);
        assert_eq!(root.text("missing"), None);
    }

    #[test]
    fn no_link_leads_out_of_the_root() {
        let (keep, root) = root_with(b"x");
        std::os::unix::fs::symlink("/etc", keep.path().join("out")).unwrap();
        std::os::unix::fs::symlink("file", keep.path().join("in")).unwrap();
        assert_eq!(root.resolve("out"), None);
        assert_eq!(root.resolve("in"), Some(PathBuf::from("file")));
    }
}
