//! An open file of a tree.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use cardproof_units::Bytes;
use rustix::fs::Advice;
use rustix::io::Errno;

use super::FileFault;

/// An open file of a [`FileTree`](super::FileTree), closed with the value.
#[derive(Debug)]
pub struct TreeFile {
    file: OwnedFd,
}

impl TreeFile {
    pub(super) const fn new(file: OwnedFd) -> Self {
        Self { file }
    }

    /// Writes all of `data` on from the last write or read.
    ///
    /// # Errors
    /// The system's answer; so for all operations.
    pub fn write(&self, data: &[u8]) -> Result<(), FileFault> {
        all_written(data, |left, _| rustix::io::write(&self.file, left))
    }

    /// Writes all of `data` at `offset`.
    ///
    /// # Errors
    /// The system's answer.
    pub fn write_at(&self, data: &[u8], offset: Bytes) -> Result<(), FileFault> {
        all_written(data, |left, done| {
            rustix::io::pwrite(&self.file, left, offset.get() + done as u64)
        })
    }

    /// Reads on from the last write or read, and says how many bytes there were: fewer than
    /// `buffer` holds only at the end of the file.
    ///
    /// # Errors
    /// The system's answer.
    pub fn read(&self, buffer: &mut [u8]) -> Result<usize, FileFault> {
        let mut done = 0;
        while done < buffer.len() {
            match rustix::io::read(&self.file, &mut buffer[done..]) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(FileFault::to("read a file")(errno)),
            }
        }
        Ok(done)
    }

    /// Cuts or lengthens the file to `length`.
    ///
    /// # Errors
    /// The system's answer.
    pub fn truncate(&self, length: Bytes) -> Result<(), FileFault> {
        rustix::fs::ftruncate(&self.file, length.get()).map_err(FileFault::to("cut a file"))
    }

    /// Starts to write the file's data back.
    ///
    /// # Errors
    /// The system's answer.
    pub fn start_write_back(&self) -> Result<(), FileFault> {
        self.sync_range(libc::SYNC_FILE_RANGE_WRITE)
    }

    /// Waits for the file's data that is being written back.
    ///
    /// # Errors
    /// The system's answer.
    pub fn await_write_back(&self) -> Result<(), FileFault> {
        self.sync_range(libc::SYNC_FILE_RANGE_WAIT_BEFORE)
    }

    fn sync_range(&self, flags: libc::c_uint) -> Result<(), FileFault> {
        // SAFETY: the descriptor is open as long as `self` lives, and no memory is handed over.
        let status = unsafe { libc::sync_file_range(self.file.as_raw_fd(), 0, 0, flags) };
        if status == 0 {
            return Ok(());
        }
        let error = std::io::Error::last_os_error();
        match Errno::from_io_error(&error) {
            // A hint that a file system does not take, or a kernel without it, is no fault.
            Some(Errno::NOSYS | Errno::SPIPE | Errno::INVAL) | None => Ok(()),
            Some(errno) => Err(FileFault::to("write a file back")(errno)),
        }
    }

    /// Makes the file durable.
    ///
    /// # Errors
    /// The system's answer.
    pub fn sync(&self) -> Result<(), FileFault> {
        rustix::fs::fsync(&self.file).map_err(FileFault::to("sync a file"))
    }

    /// Makes the file's data durable, and of the rest what is needed to find it.
    ///
    /// # Errors
    /// The system's answer.
    pub fn sync_data(&self) -> Result<(), FileFault> {
        rustix::fs::fdatasync(&self.file).map_err(FileFault::to("sync a file's data"))
    }

    /// Asks the kernel to give the file's pages back that are on the storage. It may not.
    pub fn drop_cache(&self) {
        let _ = rustix::fs::fadvise(self.file.as_fd(), 0, None, Advice::DontNeed);
    }

    /// Asks the kernel to read what is asked for and nothing ahead. It may.
    pub(super) fn read_nothing_ahead(&self) {
        let _ = rustix::fs::fadvise(self.file.as_fd(), 0, None, Advice::Random);
    }
}

/// Goes on with `write` until all of `data` is written; it is handed what is left and how much is
/// done.
fn all_written(
    data: &[u8],
    mut write: impl FnMut(&[u8], usize) -> Result<usize, Errno>,
) -> Result<(), FileFault> {
    let failed = || FileFault::to("write a file");
    let mut done = 0;
    while done < data.len() {
        match write(&data[done..], done) {
            Ok(0) => return Err(failed()(Errno::IO)),
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(failed()(errno)),
        }
    }
    Ok(())
}
