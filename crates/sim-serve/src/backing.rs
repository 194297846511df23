//! A card's bytes in a sparse file, for cards that are to be filled or kept.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use cardproof_sim::{Store, StoreError};
use cardproof_units::Bytes;
use rustix::fs::{FallocateFlags, FlockOperation, OFlags};
use rustix::io::Errno;

/// A file that holds what a card holds, byte for byte, and takes room for what was written.
#[derive(Debug)]
pub struct FileStore {
    file: File,
}

impl FileStore {
    /// Opens or makes the file at `path` with room for `capacity`. What is in it stays: a card can
    /// be taken out and put in again.
    ///
    /// # Errors
    /// The file cannot be opened, or holds something and is not as long as the card: then it is
    /// another card's, or no card's at all, and stays as it is.
    pub fn open(path: &Path, capacity: Bytes) -> std::io::Result<Self> {
        // A pipe that nobody reads is not waited for.
        let no_wait = OFlags::NONBLOCK.bits().cast_signed();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).custom_flags(no_wait);
        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            let message = "it is no regular file; name one, or one that is not there";
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
        }
        lock(&file)?;
        let length = file.metadata()?.len();
        if length != 0 && length != capacity.get() {
            let message = format!(
                "{} holds {}, and the card {capacity}: it is no file of this card; name another, or \
                 one that is not there",
                path.display(),
                Bytes(length)
            );
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
        }
        file.set_len(capacity.get())?;
        Ok(Self { file })
    }
}

/// Locks `file` until it is closed: two cards on one file would overwrite each other.
fn lock(file: &File) -> std::io::Result<()> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => {
            let message = "another program keeps a card in it or writes to it; end that, or name \
                           another file";
            Err(std::io::Error::new(std::io::ErrorKind::ResourceBusy, message))
        }
        locked => Ok(locked?),
    }
}

impl Store for FileStore {
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        Ok(self.file.read_exact_at(into, offset)?)
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), StoreError> {
        Ok(self.file.write_all_at(from, offset)?)
    }

    fn discard(&mut self, offset: u64, length: u64) -> Result<(), StoreError> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(rustix::fs::fallocate(&self.file, flags, offset, length)
            .map_err(std::io::Error::from)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_outlive_the_store() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("card");
        let mut store = FileStore::open(&path, Bytes::mib(1)).unwrap();
        store.write(4096, &[7; 4096]).unwrap();
        store.write(8192, &[8; 4096]).unwrap();
        store.discard(4096, 4096).unwrap();
        drop(store);
        let store = FileStore::open(&path, Bytes::mib(1)).unwrap();
        let mut bytes = [1; 8192];
        store.read(4096, &mut bytes).unwrap();
        assert!(bytes[..4096].iter().all(|&byte| byte == 0));
        assert!(bytes[4096..].iter().all(|&byte| byte == 8));
    }

    #[test]
    fn two_cards_do_not_share_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("card");
        let first = FileStore::open(&path, Bytes::mib(1)).unwrap();
        let refused = FileStore::open(&path, Bytes::mib(1)).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ResourceBusy);
        drop(first);
        assert!(FileStore::open(&path, Bytes::mib(1)).is_ok());
    }

    #[test]
    fn another_cards_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("card");
        FileStore::open(&path, Bytes::mib(2)).unwrap();
        for capacity in [Bytes::mib(1), Bytes::mib(3)] {
            assert!(FileStore::open(&path, capacity).is_err());
        }
    }

    #[test]
    fn somebodys_file_is_not_made_a_card() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("letter.txt");
        std::fs::write(&path, "Dear Ann").unwrap();
        assert!(FileStore::open(&path, Bytes::mib(1)).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "Dear Ann");
    }
}
