//! Cards that keep less than they announce, or none at all, behind something that remembers for them: a file system
//! in memory, an overlay over one, a loop device that reads its file through the page cache, a daemon of FUSE.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use cardproof_testkit::{Mount, Noise, run};
use serde_json::Value;
use tempfile::TempDir;

use super::Lab;
use crate::prove::served::Served;

/// A file system that a command has mounted; it goes when this is dropped.
struct Mounted(TempDir);

impl Mounted {
    fn by(command: &str, words: &[&str]) -> Result<Self> {
        let point = tempfile::tempdir()?;
        let at = point.path().to_str().context("no text")?;
        run(command, words.iter().copied().chain([at]))?;
        Ok(Self(point))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = run("umount", ["--lazy".as_ref(), self.0.path().as_os_str()]);
    }
}

/// A loop device; it goes when this is dropped.
struct Loop(String);

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = run("losetup", ["--detach", &self.0]);
    }
}

/// One of the attacks: GENUINE must not be said.
pub(super) fn called_genuine(lab: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    match noise.below(5) {
        0 => {
            let memory = Mount::tmpfs("size=48M")?;
            refused_on(lab, memory.path(), "tmpfs")
        }
        1 => {
            let memory = Mount::tmpfs("size=48M")?;
            let [upper, work, lower] = ["upper", "work", "lower"].map(|it| memory.path().join(it));
            for directory in [&upper, &work, &lower] {
                fs::create_dir(directory)?;
            }
            let options = format!(
                "lowerdir={},upperdir={},workdir={}",
                lower.display(),
                upper.display(),
                work.display()
            );
            let words = ["-t", "overlay", "overlay", "-o", &options];
            let overlay = Mounted::by("mount", &words)?;
            verdict_on(lab, overlay.0.path(), &["--full"], "an overlay over memory")
        }
        2 => cached_loop(lab, noise),
        3 => on_a_fake(lab, noise, "ext4 on a cached loop device"),
        _ => on_a_fake(lab, noise, "ntfs-3g"),
    }
}

/// A loop device that reads its file through the page cache, over the file of a fake.
fn cached_loop(lab: &Lab, noise: &mut Noise) -> Result<Option<String>> {
    let (_card, served) = fake(lab, 20 + noise.below(24))?;
    let node = over(served.device())?;
    let size = size_of(&node.0)?;
    let name = node.0.trim_start_matches("/dev/");
    let destroy = format!("--destroy={name}:{size}");
    verdict_on(lab, Path::new(&node.0), &[&destroy], "a cached loop device over a fake")
}

/// A file system on a fake, between which and the fake something remembers.
fn on_a_fake(lab: &Lab, noise: &mut Noise, way: &str) -> Result<Option<String>> {
    // NTFS keeps a copy of its table in the middle, without which it is not mounted.
    let least = if way == "ntfs-3g" { 36 } else { 20 };
    let (_card, served) = fake(lab, least + noise.below(44 - least))?;
    let device = served.device().to_str().context("no text")?.to_owned();
    if way == "ntfs-3g" {
        run("mkfs.ntfs", ["--quick", "--force", "--quiet", &device])?;
        let mounted = Mounted::by("ntfs-3g", &[&device])?;
        return verdict_on(lab, mounted.0.path(), &["--full"], way);
    }
    let node = over(served.device())?;
    run("mkfs.ext4", ["-q", "-F", &node.0])?;
    let mounted = Mounted::by("mount", &[&node.0])?;
    verdict_on(lab, mounted.0.path(), &["--full"], way)
}

/// A fake that announces 64 MiB and drops what lies behind the first `real` of them.
fn fake(lab: &Lab, real: u64) -> Result<(TempDir, Served)> {
    let directory = tempfile::tempdir()?;
    let card = directory.path().join("fake.toml");
    fs::write(&card, format!("size = \"64MiB\"\nreal_size = \"{real}MiB\"\nbeyond = \"drop\"\n"))?;
    let served = Served::start(&lab.program, &card, "100000", "1")?;
    Ok((directory, served))
}

/// A loop device over `device` that passes through the page cache.
fn over(device: &Path) -> Result<Loop> {
    let words = ["--find", "--show", "--direct-io=off"].map(PathBuf::from);
    let node = run("losetup", words.iter().chain([&device.to_owned()]))?;
    Ok(Loop(node.trim().to_owned()))
}

fn size_of(node: &str) -> Result<u64> {
    Ok(run("blockdev", ["--getsize64", node])?.trim().parse()?)
}

/// Memory itself is refused before anything is written: the status is that of a mistake in the call.
fn refused_on(lab: &Lab, place: &Path, way: &str) -> Result<Option<String>> {
    let ended = verify(lab, place, &["--full"])?;
    let is_refused = ended.status.code() == Some(2) && ended.stdout.is_empty();
    let left = fs::read_dir(place)?.count();
    Ok((!is_refused || left != 0)
        .then(|| format!("{way}: {}, {left} files are left", ended.status)))
}

/// The end of `cardproof verify place`.
fn verify(lab: &Lab, place: &Path, more: &[&str]) -> Result<Output> {
    let home = tempfile::tempdir()?;
    let mut command = Command::new(&lab.program);
    command.arg("verify").arg(place).args(more).args(["--quiet", "--json", "-"]);
    Ok(command.env("XDG_DATA_HOME", home.path()).stdin(Stdio::null()).output()?)
}

/// Tests `place`; how it was called genuine, or what of its files has changed.
fn verdict_on(lab: &Lab, place: &Path, more: &[&str], way: &str) -> Result<Option<String>> {
    let own = place.join("letter.txt");
    let is_directory = place.is_dir();
    if is_directory {
        fs::write(&own, "mine")?;
    }
    let ended = verify(lab, place, more)?;
    let told = String::from_utf8_lossy(&ended.stderr);
    let answer: Option<Value> = serde_json::from_slice(&ended.stdout).ok();
    let answer = answer.with_context(|| format!("{way}: {}: {told}", ended.status))?;
    ensure!(answer["verdict"].is_string(), "{way}: no verdict: {answer}");
    if answer["verdict"] == "genuine" {
        return Ok(Some(format!("{way}: genuine")));
    }
    let is_kept = !is_directory || fs::metadata(&own)?.size() == 4;
    Ok((!is_kept).then(|| format!("{way}: somebody's file has changed")))
}
