//! The scratch directory and what others have mounted in it or on it.

use std::fs;
use std::path::{Path, PathBuf};

use cardproof_io::scratch::{Scratch, sweep};
use cardproof_testkit::{LabError, Mount, Tree, lab_or_skip};

use super::{MARKER, TEST_FILE, leave, marker_text, names, users_directory};

#[test]
fn a_file_system_mounted_on_a_left_directory_is_not_entered() {
    let directory = users_directory();
    let mount = lab_or_skip!(Mount::tmpfs("size=1M"));
    let left = leave(directory.path());
    let bound = lab_or_skip!(Bound::new(mount.path(), &left));
    leave(mount.path());
    fs::write(left.join(MARKER), marker_text()).unwrap();
    let swept = sweep(directory.path()).unwrap();
    assert!(swept.left[0].to_string().contains("mounted on it"), "{:?}", swept.left);
    assert!(mount.path().join(MARKER).exists());
    drop(bound);
    assert_eq!(sweep(directory.path()).unwrap().removed, 1);
}

/// The same file system, so that its number tells nothing.
#[test]
fn a_directory_bound_over_a_left_directory_is_not_entered() {
    let (directory, theirs) = (users_directory(), users_directory());
    leave(theirs.path());
    fs::write(theirs.path().join(MARKER), marker_text()).unwrap();
    fs::write(theirs.path().join(TEST_FILE), "a film").unwrap();
    let left = leave(directory.path());
    let bound = lab_or_skip!(Bound::new(theirs.path(), &left));
    let swept = sweep(directory.path()).unwrap();
    assert!(swept.left[0].to_string().contains("mounted on it"), "{:?}", swept.left);
    assert_eq!(fs::read(theirs.path().join(TEST_FILE)).unwrap(), b"a film");
    drop(bound);
    assert_eq!(sweep(directory.path()).unwrap().removed, 1);
    assert_eq!(names(directory.path()), ["photo.jpg"]);
}

/// A foreign directory or file that is bind-mounted into our directory, on the same file system.
#[test]
fn files_bound_into_our_directory_stay_and_are_named() {
    let theirs = users_directory();
    fs::create_dir_all(theirs.path().join("deep/er")).unwrap();
    fs::write(theirs.path().join("deep/er/diary"), "mine").unwrap();
    let before = Tree::read(theirs.path()).unwrap();
    let file = theirs.path().join("photo.jpg");
    let cases: [(&Path, &str, bool); 5] = [
        (theirs.path(), "test-tree/a", true),
        (theirs.path(), "test-tree/a/b", true),
        (theirs.path(), "test-tree", true),
        (&file, "test-tree/a/one", false),
        (&file, TEST_FILE, false),
    ];
    for (what, at, is_directory) in cases {
        for is_killed in [false, true] {
            let directory = users_directory();
            let scratch = (!is_killed).then(|| Scratch::create(directory.path(), None).unwrap());
            let inside = match &scratch {
                Some(scratch) => scratch.path(),
                None => leave(directory.path()),
            };
            let _file = scratch.as_ref().map(|scratch| scratch.create_file().unwrap());
            fs::create_dir_all(inside.join("test-tree/a/b")).unwrap();
            let point = inside.join(at);
            if !is_directory && at != TEST_FILE {
                fs::write(&point, "ours").unwrap();
            }
            let bound = lab_or_skip!(Bound::new(what, &point));
            let said = match scratch {
                Some(scratch) => scratch.remove().unwrap_err().to_string(),
                None => sweep(directory.path()).unwrap().left[0].to_string(),
            };
            assert!(said.contains(at) && said.contains("mounted"), "{at}: {said}");
            assert_eq!(before.changes(&Tree::read(theirs.path()).unwrap()), "", "{at}");
            drop(bound);
            assert_eq!(sweep(directory.path()).unwrap().removed, 1, "{at}");
            assert_eq!(names(directory.path()), ["photo.jpg"]);
        }
    }
}

/// A directory bound to another place, until dropped.
struct Bound(PathBuf);

impl Bound {
    fn new(what: &Path, at: &Path) -> Result<Self, LabError> {
        cardproof_testkit::require_root()?;
        cardproof_testkit::run("mount", ["--bind".as_ref(), what.as_os_str(), at.as_os_str()])?;
        Ok(Self(at.to_owned()))
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        let _ = cardproof_testkit::run("umount", [&self.0]);
    }
}
