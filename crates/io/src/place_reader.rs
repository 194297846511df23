//! Places of files and devices as the storage holds them: read past the page cache, without a trace.
//!
//! It opens for reading alone, and a file only where its time of access stays as it is.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use cardproof_units::Bytes;
use rustix::fs::{Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;

use crate::buffers::Buffers;
use crate::{Slot, TargetError};

/// Reads places of 4 KiB.
#[derive(Debug)]
pub struct PlaceReader {
    buffers: Buffers,
}

impl PlaceReader {
    /// The length of a place.
    pub const PLACE: Bytes = Bytes(4096);

    /// A reader with its buffer.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new() -> Result<Self, TargetError> {
        Ok(Self { buffers: Buffers::new(1, Self::PLACE)? })
    }

    /// What lies at `offset` of `file`, which [`open_unnoticed`] has opened: a place, or less at the end of a file.
    /// `offset` is a multiple of the place's length.
    ///
    /// # Errors
    /// The storage cannot read it.
    pub fn read(&mut self, file: impl AsFd, offset: Bytes) -> io::Result<&[u8]> {
        let buffer = self.buffers.slice_mut(Slot(0));
        loop {
            match rustix::io::pread(&file, &mut *buffer, offset.get()) {
                Err(Errno::INTR) => {}
                read => return Ok(&self.buffers.slice_mut(Slot(0))[..read?]),
            }
        }
    }
}

/// Opens the file or device `path`, which is no link, to be read past the page cache.
///
/// # Errors
/// It may not be read, cannot be read past the page cache, or reading it would change its time of access.
pub fn open_unnoticed(path: &Path) -> io::Result<File> {
    // Opening a pipe does not wait for its writer.
    let flags =
        OFlags::RDONLY | OFlags::DIRECT | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags | OFlags::NOATIME, Mode::empty()) {
        // Only the owner of a file may ask for that.
        Err(Errno::PERM) => {}
        opened => return Ok(opened?.into()),
    }
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let unnoticed = StatVfsMountFlags::NOATIME | StatVfsMountFlags::RDONLY;
    if rustix::fs::fstatvfs(&file)?.f_flag.intersects(unnoticed) {
        Ok(file)
    } else {
        Err(Errno::PERM.into())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use cardproof_testkit::{skip, test_name};

    use super::*;

    #[test]
    fn a_place_is_read_from_the_storage_and_the_end_of_a_file_is_short() {
        // The system's directory for such files may be in memory.
        let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&[7; 5000]).unwrap();
        file.as_file().sync_all().unwrap();
        let before = file.as_file().metadata().unwrap().accessed().unwrap();
        let opened = match open_unnoticed(file.path()) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                skip(test_name!(), "this file system has no direct I/O");
                return;
            }
            opened => opened.unwrap(),
        };
        let mut reader = PlaceReader::new().unwrap();
        assert_eq!(reader.read(&opened, Bytes::ZERO).unwrap(), [7; 4096]);
        assert_eq!(reader.read(&opened, PlaceReader::PLACE).unwrap(), [7; 904]);
        assert_eq!(file.as_file().metadata().unwrap().accessed().unwrap(), before);
    }

    #[test]
    fn a_link_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
        assert!(open_unnoticed(&link).is_err());
    }
}
