//! What this process has had read from storage, and what it has written to files.
//!
//! The kernel charges a read to the process that caused it when it goes to the storage, and not when
//! the page cache has it (`Documentation/filesystems/proc.rst`, `/proc/PID/io`). So it tells
//! whether a read was one.

use cardproof_units::Bytes;

/// What this process has had fetched from storage since its start, what was read ahead included;
/// none where the kernel keeps no such account.
#[must_use]
pub fn read_from_storage() -> Option<Bytes> {
    account("read_bytes: ")
}

/// What this process has changed in the page cache or written past it since its start, for the
/// storage to have it; none where the kernel keeps no such account. The file system's own share is
/// not in it.
#[must_use]
pub fn written_for_storage() -> Option<Bytes> {
    account("write_bytes: ")
}

fn account(name: &str) -> Option<Bytes> {
    parse(&std::fs::read_to_string("/proc/self/io").ok()?, name)
}

fn parse(text: &str, name: &str) -> Option<Bytes> {
    let number = text.lines().find_map(|line| line.strip_prefix(name))?;
    number.trim().parse().ok().map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_account_is_read() {
        let text = "rchar: 1\nwchar: 2\nread_bytes: 4096\nwrite_bytes: 8192\n";
        assert_eq!(parse(text, "read_bytes: "), Some(Bytes(4096)));
        assert_eq!(parse(text, "write_bytes: "), Some(Bytes(8192)));
        assert_eq!(parse("rchar: 1\n", "read_bytes: "), None);
        assert_eq!(parse("read_bytes: many\n", "read_bytes: "), None);
    }
}
