//! Plain reads of the kernel's small files, below a root that a test can put anywhere.
//!
//! What is missing, unreadable, too long, not text, or not the number asked for is `None`: the
//! callers record facts and never guess. Nothing is written, no fixed path is opened, and a link
//! that is resolved may not lead out of the root. A root can keep a journal of what was read of it,
//! from which a dump is made; the guard before writing works on the running system only and needs
//! none of this.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use crate::DeviceNumber;
use crate::dump::{self, DumpError, Entry, Tree};

/// The longest file read; the mount table of a container host has been seen at a megabyte.
const FILE_LENGTH_MAX: u64 = 8 << 20;

/// The longest dump read: ten of the longest files.
const DUMP_LENGTH_MAX: u64 = 10 * FILE_LENGTH_MAX;

/// The longest attribute kept: the kernel's own limit is one page, names are far shorter.
const TEXT_LENGTH_MAX: usize = 256;

/// The root below which `sys`, `proc` and `dev` are found: a directory, or a dump's tree.
#[derive(Clone, Debug)]
pub struct Sysroot {
    source: Source,
    journal: Option<Arc<Mutex<Tree>>>,
}

/// Where the files are.
#[derive(Clone, Debug)]
enum Source {
    Directory(PathBuf),
    Dump(Arc<Tree>),
}

impl Default for Sysroot {
    fn default() -> Self {
        Self::new("/")
    }
}

/// Two roots are the same when they lead to the same files; whether they keep a journal does not
/// matter.
impl PartialEq for Sysroot {
    fn eq(&self, other: &Self) -> bool {
        match (&self.source, &other.source) {
            (Source::Directory(one), Source::Directory(two)) => one == two,
            (Source::Dump(one), Source::Dump(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }
}

impl Eq for Sysroot {}

impl Sysroot {
    /// The root at `path`: `/` for the running system.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { source: Source::Directory(path.into()), journal: None }
    }

    /// The directory at `path`, or the dump that is the file at `path`.
    ///
    /// # Errors
    /// There is neither at `path`.
    pub fn open(path: &Path) -> Result<Self, DumpError> {
        if path.is_dir() {
            return Ok(Self::new(path));
        }
        let text = read_dump(path)
            .map_err(|source| DumpError::Unreadable { path: path.to_owned(), source })?;
        Self::from_dump(&text)
    }

    /// The root that the text of a dump describes.
    ///
    /// # Errors
    /// The text is no dump.
    pub fn from_dump(text: &str) -> Result<Self, DumpError> {
        let tree = dump::parse(text)?;
        Ok(Self { source: Source::Dump(Arc::new(tree)), journal: None })
    }

    /// The same root, keeping a journal of what is read from here on.
    #[must_use]
    pub fn with_journal(&self) -> Self {
        Self { source: self.source.clone(), journal: Some(Arc::default()) }
    }

    /// What was read since [`with_journal`](Self::with_journal).
    pub(crate) fn journal(&self) -> Tree {
        let read = self.journal.as_ref().and_then(|journal| journal.lock().ok());
        read.map(|tree| tree.clone()).unwrap_or_default()
    }

    /// Whether this is the machine that we run on.
    #[must_use]
    pub fn is_running_system(&self) -> bool {
        *self == Self::default()
    }

    /// Where `path` is, if this root is a directory. What is opened there is in no journal.
    pub(crate) fn at(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        match &self.source {
            Source::Directory(root) => Some(root.join(relative(path.as_ref()))),
            Source::Dump(_) => None,
        }
    }

    /// The bytes of the regular file at `path`.
    pub(crate) fn bytes(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        let path = relative(path.as_ref());
        let bytes = match &self.source {
            Source::Directory(root) => read_file(&root.join(path)),
            Source::Dump(tree) => tree.bytes(path),
        };
        match &bytes {
            Ok(bytes) => self.note(path, || Entry::File(bytes.clone())),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.note(path, || Entry::Denied);
            }
            Err(_) => {}
        }
        bytes
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
        let path = relative(path.as_ref());
        let is_there = match &self.source {
            Source::Directory(root) => root.join(path).exists(),
            Source::Dump(tree) => tree.resolve(path).is_some(),
        };
        if is_there {
            self.note(path, || Entry::Present);
        }
        is_there
    }

    /// The names in the directory at `path`, in order; those that are not UTF-8 are left out,
    /// for the kernel gives no such names. A journal has of them what is then read.
    pub(crate) fn list(&self, path: impl AsRef<Path>) -> io::Result<Vec<String>> {
        let path = relative(path.as_ref());
        let root = match &self.source {
            Source::Directory(root) => root,
            Source::Dump(tree) => return tree.list(path),
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(root.join(path))? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// As [`Self::list`], the directories alone; links to directories are none.
    pub(crate) fn directories(&self, path: impl AsRef<Path>) -> io::Result<Vec<String>> {
        let path = relative(path.as_ref());
        let root = match &self.source {
            Source::Directory(root) => root,
            Source::Dump(tree) => {
                let names = tree.list(path)?.into_iter();
                return Ok(names.filter(|name| tree.list(&path.join(name)).is_ok()).collect());
            }
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(root.join(path))? {
            let entry = entry?;
            if entry.file_type()?.is_dir()
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// The path below the root to which all links in `path` lead; `None` where they lead
    /// nowhere or out of the root.
    pub(crate) fn resolve(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let path = relative(path.as_ref());
        let resolved = self.resolved(path)?;
        self.note(path, || Entry::Present);
        Some(resolved)
    }

    fn resolved(&self, path: &Path) -> Option<PathBuf> {
        let root = match &self.source {
            Source::Directory(root) => root,
            Source::Dump(tree) => return tree.resolve(path),
        };
        let resolved = fs::canonicalize(root.join(path)).ok()?;
        resolved.strip_prefix(fs::canonicalize(root).ok()?).ok().map(Path::to_owned)
    }

    /// The number of the block device whose node is at `path`; a dump has no nodes.
    pub(crate) fn node(&self, path: impl AsRef<Path>) -> Option<DeviceNumber> {
        use std::os::unix::fs::MetadataExt;
        let Source::Directory(root) = &self.source else { return None };
        let metadata = fs::metadata(root.join(relative(path.as_ref()))).ok()?;
        let is_block = metadata.file_type().is_block_device();
        is_block.then(|| DeviceNumber::from_raw(metadata.rdev()))
    }

    /// Notes in the journal what is at `path`, where it leads to, and the links on the way.
    pub(crate) fn note(&self, path: &Path, entry: impl FnOnce() -> Entry) {
        let Some(Ok(mut journal)) = self.journal.as_ref().map(|journal| journal.lock()) else {
            return;
        };
        let mut here = PathBuf::new();
        for part in path.components() {
            here.push(part);
            // What may not be entered cannot be resolved, and is noted as it was asked for.
            if let Some(real) = self.resolved(&here)
                && real != here
            {
                journal.insert(here, Entry::Link(real.clone()));
                here = real;
            }
        }
        journal.insert(here, entry());
    }
}

/// `path` without the `/` before it.
fn relative(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// The text of a dump, a few files of the kernel at the most: a wrong name may lead to something
/// without an end.
fn read_dump(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut text = String::new();
    let length = open_at_once(path)?.take(DUMP_LENGTH_MAX + 1).read_to_string(&mut text)?;
    if length as u64 > DUMP_LENGTH_MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

/// Opens `path` so that no read of it waits. The kernel's logs (`/proc/kmsg`, `trace_pipe`) pass for regular
/// files, and a read of them waits for the next line.
fn open_at_once(path: &Path) -> io::Result<File> {
    let no_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    File::options().read(true).custom_flags(no_wait).open(path)
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    let length = open_at_once(path)?.take(FILE_LENGTH_MAX + 1).read_to_end(&mut bytes)?;
    if length as u64 > FILE_LENGTH_MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
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
    fn a_dump_without_an_end_is_refused() {
        let error = Sysroot::open(Path::new("/dev/zero")).unwrap_err();
        assert!(matches!(error, DumpError::Unreadable { .. }), "{error:?}");
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
