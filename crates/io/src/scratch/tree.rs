//! Removing a tree of files that we made.
//!
//! Everything below it is ours: it lies in a directory that only we may enter, under a name that
//! only we give. Links are removed and never followed. What somebody has mounted in it is not ours,
//! though it may lie on the same file system: it is left alone and named, and all else goes.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::mount_id::on_one_mount;
use super::private;

/// Deeper than this no job of ours goes.
const DEPTH_MAX: u32 = 64;

/// More mounts than this are not named.
const MOUNTS_MAX: usize = 8;

/// Removes `name` in `parent` and all below it, if it is a directory; anything else of that name is
/// somebody else's. Returns the paths below `parent` on which something is mounted, which stay.
///
/// # Errors
/// Something else could not be removed.
pub(super) fn remove(parent: BorrowedFd<'_>, name: &str) -> Result<Vec<String>, Errno> {
    let directory = match private::open(parent, name) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut removal = Removal { parent, mounted: Vec::new() };
    let path = CString::new(name).map_err(|_| Errno::INVAL)?;
    removal.directory(parent, &path, &directory, name, DEPTH_MAX)?;
    Ok(removal.mounted)
}

/// A removal under way.
struct Removal<'fd> {
    /// On the mount beyond which nothing is touched.
    parent: BorrowedFd<'fd>,
    mounted: Vec<String>,
}

impl Removal<'_> {
    /// Removes `directory`, which is `name` in `above` and `path` for people; true where it is gone.
    fn directory(
        &mut self,
        above: BorrowedFd<'_>,
        name: &CStr,
        directory: &OwnedFd,
        path: &str,
        depth: u32,
    ) -> Result<bool, Errno> {
        if !on_one_mount(self.parent, directory) {
            return Ok(self.stays(path));
        }
        if depth == 0 {
            return Err(Errno::LOOP);
        }
        let mut is_empty = true;
        // All names first: some file systems lose their place when names go while they are listed.
        for (inner, is_directory) in names(directory)? {
            let path = format!("{path}/{}", inner.to_string_lossy());
            is_empty &= if is_directory {
                let opened = open(directory.as_fd(), &inner)?;
                self.directory(directory.as_fd(), &inner, &opened, &path, depth - 1)?
            } else {
                self.unlink(directory.as_fd(), &inner, AtFlags::empty(), &path)?
            };
        }
        Ok(is_empty && self.unlink(above, name, AtFlags::REMOVEDIR, path)?)
    }

    /// Removes one name; the kernel refuses where something is mounted on it.
    fn unlink(
        &mut self,
        above: BorrowedFd<'_>,
        name: &CStr,
        flags: AtFlags,
        path: &str,
    ) -> Result<bool, Errno> {
        match rustix::fs::unlinkat(above, name, flags) {
            Err(Errno::BUSY) => Ok(self.stays(path)),
            removed => removed.map(|()| true),
        }
    }

    fn stays(&mut self, path: &str) -> bool {
        if self.mounted.len() < MOUNTS_MAX {
            let plain = |c: char| if c.is_control() { '?' } else { c };
            self.mounted.push(path.chars().map(plain).collect());
        }
        false
    }
}

fn open(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// What is in `directory`, and which of it are directories.
fn names(directory: &OwnedFd) -> Result<Vec<(CString, bool)>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let status = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(status.st_mode)
            }
            known => known,
        };
        names.push((name.to_owned(), kind.is_dir()));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_tree_goes_and_what_its_links_lead_to_stays() {
        let around = tempfile::tempdir().unwrap();
        let (tree, outside) = (around.path().join("tree"), around.path().join("outside"));
        fs::create_dir_all(tree.join("a/b/c")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("photo.jpg"), "kept").unwrap();
        fs::write(tree.join("a/b/file"), "gone").unwrap();
        symlink(&outside, tree.join("a/link")).unwrap();
        symlink(outside.join("photo.jpg"), tree.join("a/b/c/link")).unwrap();
        fs::hard_link(outside.join("photo.jpg"), tree.join("a/second-name")).unwrap();
        let parent = fs::File::open(around.path()).unwrap();
        assert_eq!(remove(parent.as_fd(), "tree"), Ok(Vec::new()));
        assert!(!tree.exists());
        assert_eq!(fs::read_to_string(outside.join("photo.jpg")).unwrap(), "kept");
        // A second time there is nothing to do.
        remove(parent.as_fd(), "tree").unwrap();
    }

    #[test]
    fn what_only_has_the_name_stays() {
        let around = tempfile::tempdir().unwrap();
        fs::create_dir(around.path().join("outside")).unwrap();
        fs::write(around.path().join("outside/file"), "kept").unwrap();
        symlink("outside", around.path().join("link")).unwrap();
        fs::write(around.path().join("file"), "kept").unwrap();
        let parent = fs::File::open(around.path()).unwrap();
        for name in ["link", "file"] {
            remove(parent.as_fd(), name).unwrap();
            assert!(around.path().join(name).exists(), "{name}");
        }
        assert!(around.path().join("outside/file").exists());
    }

    #[test]
    fn a_deep_tree_is_no_tree_of_ours() {
        let around = tempfile::tempdir().unwrap();
        let deep = vec!["d"; DEPTH_MAX as usize + 1].join("/");
        fs::create_dir_all(around.path().join("tree").join(deep)).unwrap();
        let parent = fs::File::open(around.path()).unwrap();
        assert_eq!(remove(parent.as_fd(), "tree"), Err(Errno::LOOP));
        assert!(around.path().join("tree").exists());
    }
}
