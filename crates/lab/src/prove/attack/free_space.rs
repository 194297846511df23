//! Attacks on the free space that `verify DIR` fills, and on whose files lie there.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use cardproof_testkit::{Mount, Noise, Tree};

use super::Lab;

/// How long a test of such a file system may take on a busy computer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A test of the free space of a small file system while somebody acts in it.
pub(super) fn filled(lab: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let outside = tempfile::tempdir()?;
    let disk = Mount::tmpfs("size=24M")?;
    let home = tempfile::tempdir()?;
    let place = disk.path().join("card");
    fs::create_dir(&place)?;
    fs::write(disk.path().join("photo.jpg"), noise.bits().to_le_bytes())?;
    fs::write(place.join("letter.txt"), noise.bits().to_le_bytes())?;
    // What the program would call its own, in the directory to which it may be led astray.
    for number in 1..5 {
        fs::write(outside.path().join(format!("{number}.h2w")), noise.bits().to_le_bytes())?;
    }
    let before = Tree::read(outside.path())?;
    let way = noise.below(5);
    let mut command = command(lab, noise, way);
    command.arg("verify").arg(&place).arg("--quiet").env("XDG_DATA_HOME", home.path());
    // Without it samples are taken, in a file without a name.
    command.arg("--full");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().context("cannot start the program")?;
    let placed = match way {
        0 | 1 => place_files(&mut child, &place, noise)?,
        2 => {
            swap_for_link(&mut child, &place, outside.path(), noise)?;
            Vec::new()
        }
        _ => Vec::new(),
    };
    wait(&mut child)?;
    let moved = disk.path().join("moved");
    let theirs = if moved.exists() { &moved } else { &place };
    for (path, content) in placed {
        if fs::read(&path).ok().as_deref() != Some(content.as_bytes()) {
            return Ok(Some(format!("way {way}: {} was somebody's", path.display())));
        }
        fs::remove_file(&path)?;
    }
    let changes = before.changes(&Tree::read(outside.path())?);
    if !changes.is_empty() {
        return Ok(Some(format!("way {way}, outside: {changes}")));
    }
    // What is left of ours where the test has ended of itself.
    let left: Vec<String> = fs::read_dir(theirs)?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "letter.txt")
        .collect();
    Ok((!left.is_empty()).then(|| format!("way {way}: files stay: {left:?}")))
}

/// The program, under a limit for some ways.
fn command(lab: &Lab, noise: &mut Noise, way: u64) -> Command {
    match way {
        3 => {
            let blocks = 64 << noise.below(8);
            let mut command = Command::new("sh");
            command.args(["-c", &format!("ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
            command.arg(&lab.program);
            command
        }
        4 => {
            // As a quota does it: from some write on there is no more room for this user.
            let when = 1 + noise.below(60);
            let mut command = Command::new("strace");
            command.args(["--follow-forks", "--quiet=all", "--output=/dev/null"]);
            let calls = "pwrite64,fallocate,ftruncate";
            command.arg(format!("--inject={calls}:error=EDQUOT:when={when}+"));
            command.arg(&lab.program);
            command
        }
        _ => Command::new(&lab.program),
    }
}

/// Somebody puts files of the program's names there meanwhile; what he put there.
fn place_files(
    child: &mut Child,
    place: &Path,
    noise: &mut Noise,
) -> Result<Vec<(PathBuf, String)>> {
    let mut placed = Vec::new();
    let start = Instant::now();
    while child.try_wait()?.is_none() && start.elapsed() < PATIENCE {
        let path = place.join(format!("{}.h2w", 1 + noise.below(4)));
        if noise.below(3) == 0 && !placed.iter().any(|(known, _)| *known == path) {
            // A file of the program's may be in his way: that is his to remove.
            let _ = fs::remove_file(&path);
        }
        if let Ok(mut file) = OpenOptions::new().write(true).create_new(true).open(&path) {
            let content = format!("mine {}", noise.bits());
            if file.write_all(content.as_bytes()).is_ok() {
                placed.push((path, content));
            } else {
                let _ = fs::remove_file(&path);
            }
        }
        std::thread::sleep(Duration::from_micros(noise.below(3000)));
    }
    Ok(placed)
}

/// Somebody renames the directory and puts a link in its place.
fn swap_for_link(child: &mut Child, place: &Path, to: &Path, noise: &mut Noise) -> Result<()> {
    std::thread::sleep(Duration::from_millis(noise.below(300)));
    if child.try_wait()?.is_none() {
        fs::rename(place, place.with_file_name("moved"))?;
        symlink(to, place)?;
    }
    Ok(())
}

fn wait(child: &mut Child) -> Result<()> {
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            bail!("verify did not end in {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
