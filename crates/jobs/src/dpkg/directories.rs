//! Which directories are there because of which packages: dpkg makes one with the first package that
//! has something in it, and removes it with the last.

use std::collections::HashMap;

use crate::batch::Batch;
use crate::op::FileOp;
use crate::packages::PackageFiles;

/// The directories that the packages have brought.
#[derive(Clone, Debug, Default)]
pub(super) struct Directories {
    /// By path: how many packages have something in it.
    users: HashMap<String, u32>,
}

impl Directories {
    /// Makes the directories of `files` that are not there.
    pub(super) fn enter(&mut self, batch: &mut Batch, files: &PackageFiles) {
        for path in &files.directories {
            let users = self.users.entry(path.clone()).or_default();
            if *users == 0 {
                batch.push(FileOp::MakeDir(path.clone()));
            }
            *users += 1;
        }
    }

    /// Removes the directories of `files` in which nothing lies any more. Its settings stay, and so
    /// does where they lie.
    pub(super) fn leave(&mut self, batch: &mut Batch, files: &PackageFiles) {
        for path in files.directories.iter().rev() {
            let inside = |(setting, _): &(String, _)| {
                setting.strip_prefix(&**path).is_some_and(|rest| rest.starts_with('/'))
            };
            if files.settings.iter().any(inside) {
                continue;
            }
            let Some(users) = self.users.get_mut(path) else { continue };
            *users -= 1;
            if *users == 0 {
                self.users.remove(path);
                batch.push(FileOp::RemoveDir(path.clone()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use cardproof_units::Bytes;

    use super::*;

    fn changes(change: impl FnOnce(&mut Batch)) -> Vec<FileOp> {
        let mut batch = Batch::default();
        change(&mut batch);
        std::iter::from_fn(|| batch.take()).collect()
    }

    fn files(directories: &[&str], settings: &[&str]) -> PackageFiles {
        PackageFiles {
            directories: directories.iter().map(|path| (*path).to_owned()).collect(),
            settings: settings.iter().map(|path| ((*path).to_owned(), Bytes(1))).collect(),
            ..PackageFiles::default()
        }
    }

    #[test]
    fn a_shared_directory_goes_with_the_last_package_in_it() {
        let mut there = Directories::default();
        let (one, two) = (files(&["a", "a/b"], &[]), files(&["a"], &[]));
        assert_eq!(changes(|batch| there.enter(batch, &one)).len(), 2);
        assert_eq!(changes(|batch| there.enter(batch, &two)), []);
        let inner = FileOp::RemoveDir("a/b".to_owned());
        assert_eq!(changes(|batch| there.leave(batch, &one)), [inner]);
        let outer = FileOp::RemoveDir("a".to_owned());
        assert_eq!(changes(|batch| there.leave(batch, &two)), [outer]);
    }

    #[test]
    fn where_settings_stay_the_directory_stays() {
        let mut there = Directories::default();
        let package = files(&["a", "a/b", "ab"], &["a/b/x"]);
        assert_eq!(changes(|batch| there.enter(batch, &package)).len(), 3);
        let other = FileOp::RemoveDir("ab".to_owned());
        assert_eq!(changes(|batch| there.leave(batch, &package)), [other]);
    }
}
