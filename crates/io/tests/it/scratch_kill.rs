//! Runs killed at any moment: nothing of the user's is touched, at most one directory of ours
//! stays, and the next sweep removes it.
//!
//! The runs are this test itself, started again as another process. It tells of each step it
//! takes through a pipe, and is killed after a random number of steps and a random delay counted
//! in loops, not in time.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cardproof_io::scratch::{Scratch, sweep};
use cardproof_testkit::{Filesystem, LoopDevice, Mount, Noise, Tree, exploring_seed, lab_or_skip};
use cardproof_units::Bytes;

/// The directory that [`run_until_killed`] works in, when this process is one to be killed.
const DIRECTORY: &str = "CARDPROOF_TEST_KILLED_DIRECTORY";

const KILLS: usize = 100;

/// Steps are told by this byte, which the harness does not print.
const STEP: u8 = 0x01;

/// Makes and removes scratch directories for ever; as a test of its own it does nothing.
#[test]
fn run_until_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let mut stdout = std::io::stdout();
    let mut step = || {
        stdout.write_all(&[STEP]).unwrap();
        stdout.flush().unwrap();
    };
    loop {
        let scratch = Scratch::create(&directory, None).unwrap();
        step();
        let mut file = scratch.create_file().unwrap();
        step();
        file.write_all(&[0x5a; 20_000]).unwrap();
        step();
        scratch.remove().unwrap();
        step();
    }
}

/// A run in a process of its own.
fn start(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "scratch_kill::run_until_killed", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills `child` after `steps` steps and `loops` more loops.
fn kill_after(mut child: Child, steps: u64, loops: u64) {
    let mut output = child.stdout.take().unwrap();
    let mut told = 0;
    let mut byte = [0];
    while told < steps {
        output.read_exact(&mut byte).unwrap();
        told += u64::from(byte[0] == STEP);
    }
    for count in 0..loops {
        std::hint::black_box(count);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// What a killed run left, as a word for the tally; fails on anything that it may not leave.
fn left_in(directory: &Path) -> &'static str {
    let is_ours = |name: &str| name.starts_with(".cardproof-");
    let names = |directory: &Path| {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    let ours: Vec<_> = names(directory).into_iter().filter(|name| is_ours(name)).collect();
    assert!(ours.len() <= 1, "{ours:?}");
    let Some(left) = ours.first() else { return "nothing" };
    let mut inside = names(&directory.join(left));
    inside.sort();
    let inside: Vec<_> = inside.iter().map(String::as_str).collect();
    match inside[..] {
        [] => "an empty directory",
        ["cardproof-marker"] => "a marker",
        ["cardproof-marker", "test-file"] => "a marker and a test file",
        _ => panic!("left {inside:?}"),
    }
}

/// Kills runs in `directory` at random moments, and sweeps after each.
fn kill_often(directory: &Path) {
    let seed = exploring_seed();
    println!("CARDPROOF_TEST_SEED={seed}");
    let mut noise = Noise::new(seed);
    fs::write(directory.join("photo.jpg"), vec![7; 100_000]).unwrap();
    fs::create_dir(directory.join("folder")).unwrap();
    let before = Tree::of_user(directory).unwrap();
    let mut tally = std::collections::BTreeMap::new();
    for _ in 0..KILLS {
        kill_after(start(directory), noise.below(24), noise.below(30_000));
        *tally.entry(left_in(directory)).or_insert(0) += 1;
        let swept = sweep(directory).unwrap();
        assert_eq!(swept.left, []);
        assert_eq!(left_in(directory), "nothing");
        let after = Tree::of_user(directory).unwrap();
        assert_eq!(before.changes(&after), "");
    }
    println!("left: {tally:?}");
    assert!(tally.len() > 1, "every kill came at the same moment: {tally:?}");
}

#[test]
fn killed_runs_in_a_plain_directory() {
    let directory = tempfile::tempdir().unwrap();
    kill_often(directory.path());
}

#[test]
fn killed_runs_on_a_loop_device() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(64)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, ""));
    kill_often(mount.path());
}

/// Runs that start, end and are killed all at once must not take one another's directory.
#[test]
fn killed_runs_beside_live_ones() {
    let directory = tempfile::tempdir().unwrap();
    let mut noise = Noise::new(exploring_seed());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..300 {
                let scratch = Scratch::create(directory.path(), None).unwrap();
                scratch.create_file().unwrap();
                assert!(scratch.path().join("test-file").exists());
                scratch.remove().unwrap();
            }
        });
        for _ in 0..KILLS {
            kill_after(start(directory.path()), 1 + noise.below(8), noise.below(30_000));
        }
    });
    assert_eq!(sweep(directory.path()).unwrap().left, []);
    assert_eq!(left_in(directory.path()), "nothing");
}
