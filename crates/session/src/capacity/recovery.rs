//! Journals of tests that were killed: where they lie, and what is done about them.
//!
//! A journal lies where the user says, or in a directory of our own. Of a journal elsewhere our own
//! directory keeps a note, so that the next test finds it without being told.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cardproof_io::Target;

use super::Journals;
use super::journal::{ENDING, Journal, Trust, failed, restore};
use crate::failure::Failure;
use crate::frontend::Frontend;

/// How the names of notes end that say where a journal lies.
const NOTE_ENDING: &str = "elsewhere";

impl Journals {
    /// Where the next journal lies.
    pub(super) fn directory(&self) -> &Path {
        self.named.as_deref().unwrap_or(&self.home)
    }

    /// The note of a journal elsewhere.
    fn note_of(&self, journal: &Path) -> PathBuf {
        let name = journal.file_stem().unwrap_or_default();
        self.home.join(name).with_extension(NOTE_ENDING)
    }
}

/// Begins a journal whose test has sectors of `salt`.
pub(super) fn begin(journals: &Journals, salt: u64) -> Result<Journal, Failure> {
    let journal = Journal::create(journals.directory(), &journals.device, salt)?;
    if journals.named.is_some() {
        let note = journals.note_of(journal.path());
        let path = fs::canonicalize(journal.path());
        let write = |path: PathBuf| -> std::io::Result<()> {
            fs::create_dir_all(&journals.home)?;
            fs::write(&note, path.as_os_str().as_bytes())?;
            fs::File::open(&note)?.sync_all()
        };
        path.and_then(write).map_err(|error| failed(&note, "note", &error))?;
    }
    Ok(journal)
}

/// Removes a journal whose data were put back, and the note of it.
pub(super) fn end(journals: &Journals, journal: Journal) -> Result<(), Failure> {
    let note = journals.note_of(journal.path());
    journal.remove()?;
    match fs::remove_file(&note) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(failed(&note, "remove", &error))
        }
        _ => Ok(()),
    }
}

/// Says that a journal waits for `journals.device`, to somebody who may not write to it.
pub(super) fn mention(journals: &Journals, frontend: &mut dyn Frontend) {
    for path in found(journals, frontend) {
        if let Ok(Some((journal, device))) = Journal::open(&path)
            && device == journals.device
            && !journal.is_empty()
        {
            frontend.note(&format!(
                "A test of this device was killed, and part of its data is in {} only: \
                 cardproof verify with --restore puts it back.",
                path.display()
            ));
        }
    }
}

/// Restores what killed tests left on `target`.
pub(super) fn recover(
    target: &mut dyn Target,
    journals: &Journals,
    frontend: &mut dyn Frontend,
) -> Result<(), Failure> {
    for path in found(journals, frontend) {
        let opened = Journal::open(&path).map_err(|error| failed(&path, "read", &error))?;
        let Some((journal, device)) = opened else { continue };
        if device != journals.device {
            continue;
        }
        let restored = restore(target, &journal, Trust::FoundAgain)?;
        if restored.put_back > 0 {
            frontend.note("Put back what an earlier test had saved when it was killed.");
        }
        // Without a serial number another device of this size passes for the one of the journal.
        if restored.put_back == 0 && restored.foreign > 0 {
            frontend.note(&format!(
                "{} stays: it may belong to another device of this size, for nothing of its test \
                 is on this one. Remove it if there is no other.",
                path.display()
            ));
            continue;
        }
        end(journals, journal)?;
    }
    Ok(())
}

/// Every journal in the directories of `journals`, and those elsewhere that are noted.
fn found(journals: &Journals, frontend: &mut dyn Frontend) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for directory in [Some(&journals.home), journals.named.as_ref()].into_iter().flatten() {
        for path in files_in(directory, ENDING) {
            paths.extend(fs::canonicalize(path));
        }
    }
    for note in files_in(&journals.home, NOTE_ENDING) {
        let Ok(name) = fs::read(&note) else { continue };
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(&name));
        if path.exists() {
            paths.push(path);
        } else {
            frontend.note(&format!(
                "A test that was killed has left the journal {}, which is not there. If it was of \
                 this device, connect its disk first; if you have removed it, remove {} too.",
                path.display(),
                note.display()
            ));
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

fn files_in(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    // A pipe would be waited for.
    let paths =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_file());
    paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

#[cfg(test)]
mod tests {
    use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
    use cardproof_probe::Drive;
    use cardproof_sim::Keeping;
    use cardproof_units::{Bytes, Seed};

    use super::*;
    use crate::frontend::Silent;

    #[test]
    fn a_journal_of_another_card_of_the_same_size_is_kept() {
        let place = tempfile::tempdir().unwrap();
        let card = cardproof_sim::find("sandisk-ultra-a1").unwrap();
        let mut target = card.open(Seed::from_bits(1), Keeping::Bytes).unwrap();
        let journals = Journals {
            home: place.path().to_owned(),
            named: None,
            device: "64000000000".to_owned(),
        };
        let mut journal = begin(&journals, 7).unwrap();
        journal.save(4096, &[1; SECTOR]).unwrap();
        let recover = |target: &mut dyn Target| {
            recover(target, &journals, &mut Silent).unwrap();
            journal.path().exists()
        };
        assert!(recover(&mut *target), "nothing of the test is on this card");
        let stamp = Stamp { salt: 7, address_bytes: 4096, generation: 1 };
        let length = SECTOR as u64;
        let mut drive = Drive::new(&mut *target, Bytes(length)).unwrap();
        drive.write(4096, length, |data| stamp.fill(data)).unwrap().unwrap();
        drop(drive);
        assert!(!recover(&mut *target), "all of the test is put back");
        let mut drive = Drive::new(&mut *target, Bytes(length)).unwrap();
        assert_eq!(drive.read(4096, length).unwrap().unwrap(), [1; SECTOR]);
    }
}
