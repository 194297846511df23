//! Any bytes as the journal of a witness: they are refused, or read to a state that a further reading
//! gives again.
#![no_main]

use std::os::fd::AsRawFd;
use std::path::PathBuf;

use cardproof_witness::Journal;
use libfuzzer_sys::fuzz_target;
use rustix::fs::{MemfdFlags, memfd_create};

fuzz_target!(|data: &[u8]| {
    let file = memfd_create("journal", MemfdFlags::CLOEXEC).expect("the kernel has memory");
    rustix::io::write(&file, data).expect("the kernel has memory");
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let Ok(journal) = Journal::open(&path) else { return };
    let again = Journal::open(&path).expect("it was read before");
    assert_eq!(again.open_setup(), journal.open_setup());
    assert_eq!(again.tally(), journal.tally());
});
