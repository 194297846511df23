//! Removing a tree of files that we made.
//!
//! Everything below it is ours: it lies in a directory that only we may enter, under a name that
//! only we give. Links are removed and never followed, and another file system that somebody has
//! mounted in it is left alone.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;

use super::private;

/// Deeper than this no job of ours goes.
const DEPTH_MAX: u32 = 64;

/// Removes `name` in `parent` and all below it, if it is a directory; anything else of that name is
/// somebody else's.
pub(super) fn remove(parent: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    match private::open(parent, name) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
        opened => {
            let directory = opened?;
            let device = rustix::fs::fstat(&directory)?.st_dev;
            if device != rustix::fs::fstat(parent)?.st_dev {
                return Err(Errno::XDEV);
            }
            empty(&directory, device, DEPTH_MAX)?;
            rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
        }
    }
}

/// Removes all that is in `directory`, which is on `device`.
fn empty(directory: &OwnedFd, device: u64, depth: u32) -> Result<(), Errno> {
    if depth == 0 {
        return Err(Errno::LOOP);
    }
    // All names first: some file systems lose their place when names go while they are listed.
    for (name, is_directory) in names(directory)? {
        let name = name.as_c_str();
        if !is_directory {
            rustix::fs::unlinkat(directory, name, AtFlags::empty())?;
            continue;
        }
        let inner = open(directory.as_fd(), name)?;
        if rustix::fs::fstat(&inner)?.st_dev != device {
            return Err(Errno::XDEV);
        }
        empty(&inner, device, depth - 1)?;
        rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

fn open(parent: BorrowedFd<'_>, name: &std::ffi::CStr) -> Result<OwnedFd, Errno> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// What is in `directory`, and which of it are directories.
fn names(directory: &OwnedFd) -> Result<Vec<(std::ffi::CString, bool)>, Errno> {
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
        remove(parent.as_fd(), "tree").unwrap();
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
