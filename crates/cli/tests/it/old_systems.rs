//! Old kernels and small computers: a system call that the kernel lacks, or that a container's filter
//! forbids, has another way round.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use cardproof_testkit::{
    Filesystem, LabError, LoopDevice, MemoryLimit, Mount, Tree, lab_or_skip, run, some_of,
};
use cardproof_units::Bytes;
use rustix::fs::{FallocateFlags, fallocate};
use serde_json::Value;

use crate::home::{Home, SMALL, fill_up, free_bytes, our_directories, word};
use crate::process;

/// A call, and the error that the kernel or the filter answers with.
const DENIED: &[(&str, &str)] = &[
    // Linux before 5.1; containers of Docker, and systems with io_uring_disabled.
    ("io_uring_setup", "ENOSYS"),
    ("io_uring_setup", "EPERM"),
    // Linux before 4.11, and the filters of older containers.
    ("statx", "ENOSYS"),
    ("statx", "EPERM"),
    // Linux before 5.6.
    ("openat2", "ENOSYS"),
    ("openat2", "EPERM"),
    ("close_range,clone3,pidfd_open", "ENOSYS"),
    ("fallocate", "EOPNOTSUPP"),
    ("fadvise64,sync_file_range", "ENOSYS"),
];

/// strace answers in the kernel's place.
fn denying(home: &Home, calls: &str, error: &str, words: &[&str]) -> Result<Command, LabError> {
    run("strace", ["--version"])?;
    let mut command = Command::new("strace");
    home.surround(&mut command);
    command
        .args(["--follow-forks", "--seccomp-bpf", "--output=/dev/null", "--trace", calls])
        .arg(format!("--inject={calls}:error={error}"))
        .arg(env!("CARGO_BIN_EXE_cardproof"))
        .args(words);
    Ok(command)
}

#[test]
fn a_kernel_without_a_newer_call_still_measures() {
    for (calls, error) in some_of(DENIED, 3) {
        let home = Home::new();
        let place = word(home.place()).to_owned();
        let words = [&["run", &place, "--json", "-"], SMALL].concat();
        let command = lab_or_skip!(denying(&home, calls, error, &words));
        let done = process::run(command).expect(0);
        let record: Value = serde_json::from_str(&done.stdout)
            .unwrap_or_else(|fault| panic!("{calls} {error}: {fault}\n{}", done.stderr));
        let target = &record["conditions"]["target"];
        if *calls == "io_uring_setup" {
            assert_eq!(target["engine"], "psync", "{calls} {error}");
            assert!(target["engine_fallback"].is_string(), "{calls} {error}: {target}");
        }
        let phases = record["phases"].as_array().unwrap();
        assert!(phases.iter().any(|phase| phase["state"] == "measured"), "{calls} {error}");
        assert_eq!(our_directories(home.place()), Vec::<String>::new(), "{calls} {error}");
    }
}

#[test]
fn one_processor_is_enough() {
    let home = Home::new();
    let place = word(home.place()).to_owned();
    let mut command = Command::new("taskset");
    home.surround(&mut command);
    lab_or_skip!(run("taskset", ["--version"]));
    command.args(["--cpu-list", "0", env!("CARGO_BIN_EXE_cardproof"), "run", &place]).args(SMALL);
    process::run(command).expect(0);
    assert_eq!(our_directories(home.place()), Vec::<String>::new());
}

#[test]
fn memory_of_32_mib_is_enough() {
    let limit = lab_or_skip!(MemoryLimit::new(Bytes::mib(32)));
    let home = Home::new();
    let mut command = limit.command(env!("CARGO_BIN_EXE_cardproof"));
    home.surround(&mut command);
    command.args(["run", word(home.place())]).args(SMALL);
    process::run(command).expect(0);
    assert_eq!(our_directories(home.place()), Vec::<String>::new());
}

/// A board with one small file system for everything: what is free decides, and nothing is left behind.
#[test]
fn a_small_root_that_is_nearly_full() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(128)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let root = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, ""));
    let home = Home::on(root.path());
    let filler = home.data().join("filler");
    let before = Tree::of_user(home.place()).unwrap();
    let small = [&["run", word(home.place())], SMALL].concat();

    fill_up(&filler);
    leave_free(&filler, Bytes::mib(24));
    process::run(home.cardproof(&small)).expect(0);
    assert_eq!(home.records().len(), 1);
    let left = free_bytes(home.place());
    assert!(left > Bytes::mib(23).get(), "{left} bytes are free after the run");

    leave_free(&filler, Bytes::mib(8));
    let refused = process::run(home.cardproof(&small)).expect(3);
    assert!(refused.stderr.contains("free"), "{}", refused.stderr);
    assert_eq!(home.records().len(), 1);

    fill_up(&home.data().join("the-rest"));
    for words in [
        &["list"][..],
        &["show", "latest", "--markdown", "short"],
        &["identify", word(home.place())],
        &["watch", "--once", word(home.place())],
    ] {
        process::run(home.cardproof(words)).expect(0);
    }
    assert_eq!(our_directories(home.place()), Vec::<String>::new());
    assert_eq!(before.changes(&Tree::of_user(home.place()).unwrap()), "");
}

/// Makes `filler` so much smaller or larger that `free` is free.
fn leave_free(filler: &Path, free: Bytes) {
    let file = File::options().write(true).open(filler).unwrap();
    // The first bytes that are given back fill what only root may use.
    for _ in 0..2 {
        let length = file.metadata().unwrap().len();
        let (now, free) = (free_bytes(filler), free.get());
        if now < free {
            file.set_len(length - (free - now)).unwrap();
        } else if now > free {
            fallocate(&file, FallocateFlags::empty(), length, now - free).unwrap();
        }
    }
}
