//! What this process has had read from storage.
//!
//! The kernel charges a read to the process that caused it when it goes to the storage, and not when
//! the page cache has it (`Documentation/filesystems/proc.rst`, `/proc/PID/io`). So it tells
//! whether a read was one.

use cardproof_units::Bytes;

/// What this process has had fetched from storage since its start, what was read ahead included;
/// none where the kernel keeps no such account.
#[must_use]
pub fn read_from_storage() -> Option<Bytes> {
    parse(&std::fs::read_to_string("/proc/self/io").ok()?)
}

fn parse(text: &str) -> Option<Bytes> {
    let number = text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?;
    number.trim().parse().ok().map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_account_is_read() {
        let text = "rchar: 1\nwchar: 2\nread_bytes: 4096\nwrite_bytes: 8192\n";
        assert_eq!(parse(text), Some(Bytes(4096)));
        assert_eq!(parse("rchar: 1\n"), None);
        assert_eq!(parse("read_bytes: many\n"), None);
    }
}
