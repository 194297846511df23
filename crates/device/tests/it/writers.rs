//! Who writes, by the counters of this machine's kernel.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use cardproof_device::{Growth, ProcessId, ProcessWrites, Sysroot, WriteCounters};

/// What a script does between two looks; it says a line when it is done.
fn growth(program: &str, script: &[&str]) -> Growth {
    let mut command = Command::new(program);
    command.args(script).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut words = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut next_line = || lines.read_line(&mut String::new()).unwrap();
    let look = || -> (ProcessId, ProcessWrites) {
        let found = WriteCounters::read(&Sysroot::default(), "none");
        found.processes.into_iter().find(|(id, _)| id.number == child.id()).unwrap()
    };
    next_line();
    let (_, then) = look();
    words.write_all(b"go\n").unwrap();
    next_line();
    let (_, now) = look();
    drop(words);
    child.wait().unwrap();
    now.since(Some(&then))
}

const MIB: u64 = 1 << 20;

#[test]
fn what_an_ended_child_wrote_is_not_its_shells() {
    let write = "dd if=/dev/zero of=/dev/null bs=1048576 count=4 2>/dev/null";
    for child in [write.to_owned(), format!("({write}; true)"), format!("sh -c '{write}; true'")] {
        let growth = growth("sh", &["-c", &format!("echo; read go; {child}; echo; read end")]);
        assert!(growth.of_ended.asked_bytes >= 4 * MIB, "{child}: {growth:?}");
        assert!(growth.own.asked_bytes < 1000, "{child}: {growth:?}");
    }
}

#[test]
fn what_a_shell_writes_is_its_own() {
    let script = "echo; read go; i=0; while [ $i -lt 100 ]; do echo 1234567; i=$((i + 1)); done \
                  > /dev/null; echo; read end";
    let growth = growth("sh", &["-c", script]);
    assert_eq!((growth.own.asked_bytes, growth.of_ended.asked_bytes), (801, 0));
}
