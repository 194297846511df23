//! The marker beside a set of test files: it says that they are ours, and which.
//!
//! Its first line is always the same. Each further line names a file, and once that was made its number in the
//! file system. The name comes first, so that a file that a killed test has made and not numbered yet is known:
//! it is empty.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use cardproof_io::scratch::NamedFiles;

use super::{FILE_BYTES, SECTOR, fill, in_the_way, name_of, unwritable};
use crate::failure::Failure;

/// What it is called.
const NAME: &str = ".cardproof-h2w";

const FIRST_LINE: &str =
    "Files of a test that was interrupted. cardproof verify continues this test.";

/// No marker is longer: 2^20 files of 1 GiB.
const LENGTH_MAX: u64 = 32 << 20;

/// A marker of ours.
#[derive(Debug)]
pub(super) struct Marker {
    /// By which number [`NamedFiles`] knows it.
    file: usize,
    /// Each file that was to be made, with its number in the file system if it was.
    listed: Listed,
}

impl Marker {
    /// Whether something is called so.
    pub(super) fn is_in(files: &NamedFiles) -> bool {
        files.names().is_ok_and(|names| names.iter().any(|name| name == NAME))
    }

    /// The marker among `files`, which is made where there is none.
    pub(super) fn open(directory: &Path, files: &mut NamedFiles) -> Result<Self, Failure> {
        if Self::is_in(files) {
            let taken = taken(files).map_err(|error| in_the_way(directory, NAME, &error));
            return taken.map(|(file, listed)| Self { file, listed });
        }
        let made = files.make(NAME).and_then(|file| {
            files.file(file).write_all_at(format!("{FIRST_LINE}\n").as_bytes(), 0)?;
            Ok(file)
        });
        let file = made.map_err(|error| unwritable(directory, NAME, &error))?;
        Ok(Self { file, listed: Vec::new() })
    }

    /// Takes over the file `number` of the set, if it is listed and is the one that was made.
    ///
    /// # Errors
    /// It is not, or cannot be opened.
    pub(super) fn take(&self, files: &mut NamedFiles, number: u64) -> io::Result<usize> {
        let no_file_of_ours = || io::Error::from(io::ErrorKind::InvalidInput);
        let of = |listed: &&(u64, Option<u64>)| listed.0 == number;
        let listed = self.listed.iter().rfind(of).ok_or_else(no_file_of_ours)?;
        let file = files.look(&name_of(number))?;
        let found = file.metadata()?;
        let is_known = match listed.1 {
            _ if found.len() == 0 => true,
            Some(numbered) if files.has_lasting_numbers() => found.ino() == numbered,
            // Where numbers do not last, the data say whose they are.
            Some(_) => begins_right(&file, number),
            None => false,
        };
        if !is_known {
            return Err(no_file_of_ours());
        }
        files.take(&name_of(number), &file)
    }

    /// Makes the file `number` of the set and lists it.
    ///
    /// # Errors
    /// The system's answer.
    pub(super) fn make(&mut self, files: &mut NamedFiles, number: u64) -> io::Result<usize> {
        self.list(files, number, None)?;
        let made = files.make(&name_of(number))?;
        let inode = files.file(made).metadata()?.ino();
        self.list(files, number, Some(inode))?;
        Ok(made)
    }

    fn list(&mut self, files: &NamedFiles, number: u64, inode: Option<u64>) -> io::Result<()> {
        let mut file = files.file(self.file);
        let inode_text = inode.map_or_else(String::new, |inode| format!(" {inode}"));
        file.seek(SeekFrom::End(0))?;
        file.write_all(format!("{}{inode_text}\n", name_of(number)).as_bytes())?;
        file.sync_data()?;
        self.listed.push((number, inode));
        Ok(())
    }
}

/// The files that a marker lists.
type Listed = Vec<(u64, Option<u64>)>;

/// Takes over the marker that is there.
fn taken(files: &mut NamedFiles) -> io::Result<(usize, Listed)> {
    let known = files.look(NAME)?;
    let mut text = String::new();
    (&known).take(LENGTH_MAX).read_to_string(&mut text)?;
    let listed = read(&text).ok_or(io::ErrorKind::InvalidInput)?;
    let file = files.take(NAME, &known)?;
    if text.is_empty() {
        // It was made by a test that was killed before it wrote to it.
        files.file(file).write_all_at(format!("{FIRST_LINE}\n").as_bytes(), 0)?;
    }
    Ok((file, listed))
}

/// What a marker lists; a torn last line counts for nothing. `None` for a text that is none.
fn read(text: &str) -> Option<Listed> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let rest = text.strip_prefix(FIRST_LINE)?;
    let whole = rest.rfind('\n').map_or("", |end| &rest[..end]);
    let listed = |line: &str| {
        let mut words = line.split(' ');
        let number = words.next()?.strip_suffix(".h2w")?.parse().ok()?;
        Some((number, words.next().and_then(|inode| inode.parse().ok())))
    };
    Some(whole.lines().filter_map(listed).collect())
}

/// Whether `file` begins as the file `number` of a set.
fn begins_right(file: &File, number: u64) -> bool {
    let (mut sector, mut right) = ([0; SECTOR], [0; SECTOR]);
    fill((number - 1) * FILE_BYTES, &mut right);
    file.read_exact_at(&mut sector, 0).is_ok() && sector == right
}
