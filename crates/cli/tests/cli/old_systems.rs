//! Old kernels and small computers: a system call that the kernel lacks, or that a container's filter
//! forbids, has another way round.

use std::process::Command;

use cardproof_testkit::{LabError, MemoryLimit, lab_or_skip, run};
use cardproof_units::Bytes;
use serde_json::Value;

use crate::home::{Home, SMALL, our_directories, word};
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
    for (calls, error) in DENIED {
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
