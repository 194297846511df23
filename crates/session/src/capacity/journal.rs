//! The journal of a test that restores: each block is saved, and the journal is on its disk, before
//! the block is overwritten.
//!
//! After a crash the journal is found by the next test of the same device. It restores only sectors
//! that still hold the test pattern of that run: what somebody wrote since then stays. Blocks are put
//! back in the reverse order of saving, so that on a device whose addresses start again the oldest
//! data win.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
use cardproof_io::Target;
use cardproof_probe::Drive;
use cardproof_units::Bytes;

use crate::failure::{Failure, with_causes};
use crate::file::open_regular;

/// The first bytes of a journal.
const MAGIC: &[u8; 16] = b"cardproof-undo-1";

/// The first word of each entry.
const ENTRY: u64 = 0x7972_746e_655f_7063;

/// The longest device name that a journal holds, in bytes.
const DEVICE_MAX: usize = 4096;

/// The longest entry: no write of the test is longer.
const ENTRY_MAX: u64 = 1 << 24;

/// How the names of journals end.
pub(super) const ENDING: &str = "undo";

/// An open journal.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    salt: u64,
    /// Where each entry's head begins, in the order of saving.
    entries: Vec<Entry>,
    end: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Where the data lie in the journal.
    at: u64,
    offset: u64,
    length: u64,
}

/// What restoring has cost, and what it met.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Restored {
    pub(super) written: Bytes,
    pub(super) read: Bytes,
    /// Entries whose place held sectors of the test.
    pub(super) put_back: u64,
    /// Entries whose place held something else than what was saved, and nothing of the test.
    pub(super) foreign: u64,
}

/// What is known of the device that a journal is put back on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// The test has just ended: what cannot be read holds the test's sectors.
    SameRun,
    /// It was found again: what cannot be read may be anything.
    FoundAgain,
}

pub(super) fn failed(path: &Path, doing: &str, error: &io::Error) -> Failure {
    Failure::incomplete(format!(
        "cannot {doing} the journal {}: {error}; name another directory with --journal",
        path.display()
    ))
}

impl Journal {
    /// A new journal for `device` in `directory`; `salt` is that of the test's sectors.
    pub(super) fn create(directory: &Path, device: &str, salt: u64) -> Result<Self, Failure> {
        fs::create_dir_all(directory).map_err(|error| failed(directory, "make", &error))?;
        let path = directory.join(format!("{salt:016x}.{ENDING}"));
        let create = || -> io::Result<(File, u64)> {
            // It holds what lies on the device, which other users may not read there.
            let mut options = File::options();
            options.read(true).write(true).create_new(true).mode(0o600);
            let mut file = options.open(&path)?;
            let mut head = MAGIC.to_vec();
            head.extend(salt.to_le_bytes());
            head.extend((device.len() as u64).to_le_bytes());
            head.extend(device.as_bytes());
            file.write_all(&head)?;
            file.sync_all()?;
            File::open(directory)?.sync_all()?;
            Ok((file, head.len() as u64))
        };
        let (file, end) = create().map_err(|error| failed(&path, "write", &error))?;
        Ok(Self { path, file, salt, entries: Vec::new(), end })
    }

    /// The journal at `path`, with the device it is for; `None` for another kind of file.
    pub(super) fn open(path: &Path) -> io::Result<Option<(Self, String)>> {
        let mut file = match open_regular(path) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(None),
            opened => opened?,
        };
        let mut head = [0; 32];
        if file.read_exact(&mut head).is_err() || head[..16] != *MAGIC {
            return Ok(None);
        }
        let salt = word(&head, 16);
        let length = word(&head, 24) as usize;
        if length > DEVICE_MAX {
            return Ok(None);
        }
        let mut device = vec![0; length];
        if file.read_exact(&mut device).is_err() {
            return Ok(None);
        }
        let mut journal = Self {
            path: path.to_owned(),
            file,
            salt,
            entries: Vec::new(),
            end: 32 + length as u64,
        };
        journal.read_entries()?;
        Ok(Some((journal, String::from_utf8_lossy(&device).into_owned())))
    }

    /// Finds the entries. The last may be torn: then its block was not overwritten yet.
    fn read_entries(&mut self) -> io::Result<()> {
        let mut head = [0; 32];
        loop {
            self.file.seek(SeekFrom::Start(self.end))?;
            if self.file.read_exact(&mut head).is_err() || word(&head, 0) != ENTRY {
                return Ok(());
            }
            let entry =
                Entry { at: self.end + 32, offset: word(&head, 8), length: word(&head, 16) };
            if entry.length > ENTRY_MAX {
                return Ok(());
            }
            let mut data = vec![0; entry.length as usize];
            if self.file.read_exact(&mut data).is_err() || sum(&data) != word(&head, 24) {
                return Ok(());
            }
            self.end = entry.at + entry.length;
            self.entries.push(entry);
        }
    }

    /// Saves `data`, which lie at `offset`; they are on the journal's disk when this returns.
    pub(super) fn save(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut entry = Vec::with_capacity(32 + data.len());
        for word in [ENTRY, offset, data.len() as u64, sum(data)] {
            entry.extend(word.to_le_bytes());
        }
        entry.extend(data);
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&entry)?;
        self.file.sync_data()?;
        self.entries.push(Entry { at: self.end + 32, offset, length: data.len() as u64 });
        self.end += entry.len() as u64;
        Ok(())
    }

    fn load(&self, entry: Entry) -> io::Result<Vec<u8>> {
        let mut data = vec![0; entry.length as usize];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(entry.at))?;
        file.read_exact(&mut data)?;
        Ok(data)
    }

    /// Where it lies.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes were saved.
    pub(super) fn saved(&self) -> Bytes {
        Bytes(self.entries.iter().map(|entry| entry.length).sum())
    }

    /// Whether nothing was saved.
    pub(super) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes the journal, once all is restored.
    pub(super) fn remove(self) -> Result<(), Failure> {
        fs::remove_file(&self.path).map_err(|error| failed(&self.path, "remove", &error))
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u64::from_le_bytes(*word))
}

/// FNV-1a over words and the bytes left over.
fn sum(data: &[u8]) -> u64 {
    let (words, rest) = data.as_chunks::<8>();
    let step = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    let sum = words.iter().map(|word| u64::from_le_bytes(*word)).fold(0xcbf2_9ce4_8422_2325, step);
    rest.iter().map(|&byte| u64::from(byte)).fold(sum, step)
}

/// Whether `directory` has room for a journal of `needed` and a little more.
pub(super) fn check_room(directory: &Path, needed: Bytes) -> Result<(), Failure> {
    fs::create_dir_all(directory).map_err(|error| failed(directory, "make", &error))?;
    let Ok(found) = rustix::fs::statvfs(directory) else { return Ok(()) };
    let free = Bytes(found.f_bavail.saturating_mul(found.f_frsize));
    let needed = needed + Bytes(needed.get() / 50) + Bytes::mib(16);
    if free >= needed {
        return Ok(());
    }
    Err(Failure::refused(format!(
        "{} has {free} of free space, and the journal needs {needed}; name a directory with more \
         room with --journal, or exclude a smaller hidden store with --exclude-store",
        directory.display()
    )))
}

/// Puts back what `journal` holds wherever `target` still holds the test's own sectors.
pub(super) fn restore(
    target: &mut dyn Target,
    journal: &Journal,
    trust: Trust,
) -> Result<Restored, Failure> {
    let cannot = |what: String| {
        Failure::incomplete(format!(
            "cannot put everything back: {what}; the journal is kept in {}: the next verify of \
             this device that may write tries again; remove that file to give up what it holds",
            journal.path.display()
        ))
    };
    let longest = journal.entries.iter().map(|entry| entry.length).max().unwrap_or(0);
    if longest == 0 {
        return Ok(Restored::default());
    }
    let engine = |error: cardproof_probe::DriveError| cannot(with_causes(&error));
    let mut drive = Drive::new(target, Bytes(longest)).map_err(engine)?;
    let mut faults = 0_u64;
    let mut restored = Restored::default();
    for &entry in journal.entries.iter().rev() {
        let saved = journal.load(entry).map_err(|error| cannot(error.to_string()))?;
        let wanted = match (drive.read(entry.offset, entry.length).map_err(engine)?, trust) {
            (Ok(now), _) => {
                let wanted = merged(now, &saved, journal.salt);
                restored.foreign += u64::from(wanted == now && now != saved);
                if wanted == now {
                    continue;
                }
                restored.put_back += 1;
                wanted
            }
            (Err(_), Trust::SameRun) => saved,
            (Err(_), Trust::FoundAgain) => {
                faults += 1;
                continue;
            }
        };
        let put = |data: &mut [u8]| data.copy_from_slice(&wanted);
        if drive.write(entry.offset, entry.length, put).map_err(engine)?.is_err() {
            faults += 1;
        }
    }
    if drive.flush().map_err(engine)?.is_err() {
        faults += 1;
    }
    if faults > 0 {
        return Err(cannot(format!("{faults} places of the device fail")));
    }
    Ok(Restored { written: drive.written(), read: drive.read_so_far(), ..restored })
}

/// What the place should hold: the saved sector wherever a sector of the test lies.
fn merged(now: &[u8], saved: &[u8], salt: u64) -> Vec<u8> {
    let mut wanted = now.to_vec();
    let (sectors, _) = wanted.as_chunks_mut::<SECTOR>();
    for (sector, saved) in sectors.iter_mut().zip(saved.as_chunks::<SECTOR>().0) {
        let is_ours = |sector: &[u8; SECTOR]| Stamp::on(sector).is_some_and(|s| s.salt == salt);
        // A saved sector of the test itself came from another address of the same place.
        if is_ours(sector) && !is_ours(saved) {
            *sector = *saved;
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_torn_entry_and_another_file_are_left_out() {
        let place = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(place.path(), "64000000000", 7).unwrap();
        journal.save(4096, &[1; 4096]).unwrap();
        journal.save(8192, &[2; 4096]).unwrap();
        let length = journal.end;
        journal.file.set_len(length - 1).unwrap();
        let path = journal.path.clone();
        let (again, device) = Journal::open(&path).unwrap().unwrap();
        assert_eq!((again.entries.len(), device.as_str(), again.salt), (1, "64000000000", 7));
        assert_eq!(again.load(again.entries[0]).unwrap(), [1; 4096]);
        let other = place.path().join("other.undo");
        fs::write(&other, "not a journal").unwrap();
        assert!(Journal::open(&other).unwrap().is_none());
    }

    #[test]
    fn a_pipe_with_the_name_of_a_journal_is_none_and_is_not_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe.undo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        assert!(Journal::open(&pipe).unwrap().is_none());
    }

    #[test]
    fn other_users_cannot_read_what_was_saved() {
        let place = tempfile::tempdir().unwrap();
        let journal = Journal::create(place.path(), "64000000000", 7).unwrap();
        let mode = fs::metadata(&journal.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn only_the_tests_own_sectors_are_replaced() {
        let mut now = vec![9; 3 * SECTOR];
        Stamp { salt: 7, address_bytes: 0, generation: 1 }.fill(&mut now[..SECTOR]);
        Stamp { salt: 8, address_bytes: 0, generation: 1 }.fill(&mut now[SECTOR..2 * SECTOR]);
        let wanted = merged(&now, &[5; 3 * SECTOR], 7);
        assert_eq!(wanted[..SECTOR], [5; SECTOR]);
        assert_eq!(wanted[SECTOR..], now[SECTOR..], "another run's and the user's stay");
    }
}
