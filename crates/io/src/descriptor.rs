//! A descriptor that this process was started with, by its number.
//!
//! Opening `/dev/fd/N` makes a file of its own, which begins at its first byte and knows nothing of how
//! the shell has opened it. A duplicate goes on where the descriptor is, as a shell's redirection means it.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};

/// A duplicate of the descriptor `number`: the same open file, with the same place in it.
///
/// # Errors
/// No file is open under this number.
pub fn duplicate(number: RawFd) -> io::Result<File> {
    if number < 0 {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::BADF.raw_os_error()));
    }
    // SAFETY: the number is not -1, and the borrow ends with this statement, which only asks the kernel
    // for a duplicate; a number that is not open is refused by the kernel.
    let owned = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned()?;
    Ok(File::from(owned))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_duplicate_goes_on_where_the_descriptor_is() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"before").unwrap();
        duplicate(file.as_raw_fd()).unwrap().write_all(b" after").unwrap();
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "before after");
    }

    #[test]
    fn a_number_that_is_not_open_is_an_error() {
        assert!(duplicate(-1).is_err());
        assert!(duplicate(1 << 20).is_err());
    }
}
