//! Directories that are swapped for links while `verify`, `run` and `check` work in them.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use cardproof_testkit::{Filesystem, LoopDevice, Mount, Noise, Tree};
use cardproof_units::Bytes;

use super::Lab;

/// How long a command may take on a busy computer.
const PATIENCE: Duration = Duration::from_secs(240);

/// The size of the disk.
const SIZE: Bytes = Bytes::mib(64);

/// The status of a command line that makes no sense.
const USAGE: i32 = 2;

/// Commands on a directory.
const COMMANDS: [&[&str]; 4] = [
    &["verify", "PLACE", "--quiet", "--full"],
    &["run", "PLACE", "--quiet", "--size", "4M", "--time-budget", "2s"],
    &["check", "PLACE"],
    &["run", "PLACE", "--quiet", "--profile", "a1", "--size", "4M", "--time-budget", "2s"],
];

/// The directory, or the one around it, is a link to elsewhere from some moment on, and perhaps itself again.
pub(super) fn led_astray(lab: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let device = LoopDevice::new(SIZE)?;
    Filesystem::Ext4.make(&device)?;
    let disk = Mount::new(&device, Filesystem::Ext4, "")?;
    let (home, outside) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let around = disk.path().join("around");
    let place = around.join("card");
    // What the program would call its own, where it may be led.
    let (theirs, below) = (outside.path().to_owned(), outside.path().join("card"));
    for directory in [&place, &below] {
        fs::create_dir_all(directory)?;
    }
    for directory in [&place, &theirs, &below] {
        for name in ["1.h2w", "letter.txt", ".cardproof-0/test-file", "test-file"] {
            if directory == &place && name != "letter.txt" {
                continue;
            }
            let path = directory.join(name);
            fs::create_dir_all(path.parent().context("no parent")?)?;
            fs::write(path, noise.bits().to_le_bytes())?;
        }
    }
    let before = Tree::read(outside.path())?;
    let changed_at = fs::metadata(&below)?.modified()?;
    let letter = fs::read(place.join("letter.txt"))?;
    let words = COMMANDS[noise.below(COMMANDS.len() as u64) as usize];
    let mut child = started(lab, words, &place, home.path())?;
    let swapped = if noise.below(2) == 0 { place.clone() } else { around.clone() };
    let target = if swapped == place { &below } else { &theirs };
    let moved = disk.path().join("moved");
    let (mut is_swapped, mut has_begun, mut is_held) = (false, false, false);
    for _ in 0..=noise.below(3) {
        std::thread::sleep(Duration::from_millis(noise.below(400)));
        if child.try_wait()?.is_some() {
            break;
        }
        if !has_begun {
            is_held = holds_open(&child, &place);
        }
        if is_swapped {
            fs::remove_file(&swapped)?;
            fs::rename(&moved, &swapped)?;
        } else {
            fs::rename(&swapped, &moved)?;
            symlink(target, &swapped)?;
        }
        is_swapped = !is_swapped;
        has_begun = true;
    }
    let status = wait(&mut child)?;
    // What is led astray may be told that its place has gone, but an attack on nothing is none.
    ensure!(has_begun || status.code() != Some(USAGE), "{words:?} did not begin");
    // A program that had not opened its place yet was given the other one: it may work there if it cleans up.
    if !is_held {
        File::open(&below)?.set_modified(changed_at)?;
    }
    let changes = before.changes(&Tree::read(outside.path())?);
    if !changes.is_empty() {
        return Ok(Some(format!("{words:?}, outside: {changes}")));
    }
    let real = match (is_swapped, swapped == place) {
        (false, _) => place,
        (true, true) => moved,
        (true, false) => moved.join("card"),
    };
    if fs::read(real.join("letter.txt")).ok() != Some(letter) {
        return Ok(Some(format!("{words:?}: somebody's letter has changed")));
    }
    let left: Vec<String> = fs::read_dir(&real)?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "letter.txt")
        .collect();
    Ok((!left.is_empty()).then(|| format!("{words:?}: {left:?} stay")))
}

/// Whether `child` has opened `place` or something in it.
fn holds_open(child: &Child, place: &Path) -> bool {
    let opened = fs::read_dir(format!("/proc/{}/fd", child.id()));
    let mut paths =
        opened.into_iter().flatten().flatten().filter_map(|fd| fs::read_link(fd.path()).ok());
    paths.any(|path| path.starts_with(place))
}

fn started(lab: &Lab, words: &[&str], place: &Path, home: &Path) -> Result<Child> {
    let mut command = Command::new(&lab.program);
    for word in words {
        match *word {
            "PLACE" => command.arg(place),
            word => command.arg(word),
        };
    }
    command.env("XDG_DATA_HOME", home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().context("cannot start the program")
}

fn wait(child: &mut Child) -> Result<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            bail!("a command did not end in {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
