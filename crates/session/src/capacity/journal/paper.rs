//! What a journal is written on: a file, or memory in tests.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes with addresses that grow at their end.
pub(in crate::capacity) trait Paper {
    /// How many bytes there are.
    fn length(&self) -> io::Result<u64>;

    /// Fills `data` from `at`; [`io::ErrorKind::UnexpectedEof`] where there are fewer bytes.
    fn read_at(&self, at: u64, data: &mut [u8]) -> io::Result<()>;

    /// Writes `data` at `at`.
    fn write_at(&mut self, at: u64, data: &[u8]) -> io::Result<()>;

    /// Takes away what lies behind `length`.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Returns once all that was written is on the medium.
    fn sync(&mut self) -> io::Result<()>;
}

impl Paper for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, at: u64, data: &mut [u8]) -> io::Result<()> {
        self.read_exact_at(data, at)
    }

    fn write_at(&mut self, at: u64, data: &[u8]) -> io::Result<()> {
        self.write_all_at(data, at)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}
