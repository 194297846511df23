//! Programs whose names begin commands.

use super::view::Words;

/// Programs whose name after `# ` is a command at root's prompt, and in a heading names a test.
pub(super) static PROGRAMS: Words = Words::new(&[
    "agnostics",
    "apt",
    "bash",
    "cat",
    "cd",
    "curl",
    "dd",
    "dmesg",
    "echo",
    "f3probe",
    "f3read",
    "f3write",
    "fio",
    "flashbench",
    "hdparm",
    "iostat",
    "ioping",
    "iozone",
    "iozone3",
    "ls",
    "lsblk",
    "mkdir",
    "mkfs.ext4",
    "mmc",
    "mount",
    "rm",
    "sh",
    "sudo",
    "sync",
    "time",
    "umount",
    "wget",
    "df",
    "for",
]);

/// Whether `word` is a program's name, or a script's.
pub(super) fn is_program(word: &str) -> bool {
    PROGRAMS.have(word) || word.ends_with(".sh")
}
