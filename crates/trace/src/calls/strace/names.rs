//! Names of files as numbers: what is kept of a path is which directory each part of it is in.

use std::collections::HashMap;

/// Places that hold no files of a storage.
const ELSEWHERE: [&str; 3] = ["proc", "sys", "dev"];

/// The names that have been met. 0 is the root.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<(u32, String), u32>,
    directories: Vec<u32>,
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathTarget {
    /// The file of this number, or the root as 0.
    Storage(u32),
    /// Somewhere without a storage.
    Elsewhere,
}

impl Names {
    /// The place of `path`, which is below the directory `base` unless it begins with a slash.
    pub(super) fn place(&mut self, base: u32, path: &str) -> PathTarget {
        let mut here = if path.starts_with('/') { 0 } else { base };
        let mut parts = path.split('/').filter(|part| !part.is_empty()).peekable();
        if here == 0
            && path.starts_with('/')
            && parts.peek().is_some_and(|part| ELSEWHERE.contains(part))
        {
            return PathTarget::Elsewhere;
        }
        for part in parts {
            here = match part {
                "." => here,
                ".." => self.directory_of(here),
                _ => self.number(here, part),
            };
        }
        PathTarget::Storage(here)
    }

    /// The directory that each name is in, for the names 1, 2, 3 and so on.
    pub(super) fn into_directories(self) -> Vec<u32> {
        self.directories
    }

    fn directory_of(&self, name: u32) -> u32 {
        let index = (name as usize).checked_sub(1);
        index.and_then(|index| self.directories.get(index)).copied().unwrap_or(0)
    }

    fn number(&mut self, directory: u32, part: &str) -> u32 {
        if let Some(&number) = self.numbers.get(&(directory, part.to_owned())) {
            return number;
        }
        self.directories.push(directory);
        // A text of four billion names would not fit into memory.
        let number = self.directories.len() as u32;
        self.numbers.insert((directory, part.to_owned()), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_number_however_it_is_spelt() {
        let mut names = Names::default();
        let PathTarget::Storage(home) = names.place(0, "/home/a") else { panic!("a place") };
        let file = names.place(home, "x/y");
        for path in ["/home/a/x/y", "/home//a/./x/../x/y"] {
            assert_eq!(names.place(0, path), file, "{path}");
        }
        assert_eq!(names.place(home, "../../.."), PathTarget::Storage(0));
        assert_eq!(names.place(home, "/proc/self/maps"), PathTarget::Elsewhere);
        assert_eq!(names.into_directories(), [0, 1, 2, 3]);
    }
}
