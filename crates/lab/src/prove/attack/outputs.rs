//! Attacks on the files to which results are written: `--json`, `--html`, `--markdown`, `--csv`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cardproof_io::PrivateMounts;
use cardproof_testkit::records::typical_a1_card;
use cardproof_testkit::{Noise, run};
use tempfile::TempDir;

use super::Lab;
use super::world::World;

/// Somebody who is not root.
const SOMEBODY: u32 = 12_345;

/// A command that writes a result, and the option that names the file.
const COMMANDS: [(&str, &str); 6] = [
    ("show", "--json"),
    ("show", "--html"),
    ("show", "--markdown"),
    ("compare", "--csv"),
    ("compare", "--html"),
    ("compare", "--markdown"),
];

/// What an attempt works with.
struct Scene<'lab> {
    program: &'lab Path,
    world: World,
    home: TempDir,
    record: PathBuf,
    words: (&'static str, &'static str),
}

/// One of the attacks.
pub(super) fn misdirected(lab: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let world = World::new(noise)?;
    let home = tempfile::tempdir()?;
    let record = home.path().join("record.json");
    fs::write(&record, serde_json::to_vec(&typical_a1_card())?)?;
    let words = COMMANDS[noise.below(COMMANDS.len() as u64) as usize];
    let scene = Scene { program: &lab.program, world, home, record, words };
    let plain = scene.home.path().join("plain");
    let ended = scene.run(&plain)?;
    ensure!(ended.status.success() && fs::metadata(&plain)?.len() > 100, "{}", told(&ended));
    let broken = match noise.below(6) {
        0 => scene.onto_link(noise)?,
        1 => scene.onto_device_names(noise)?,
        2 => scene.onto_private_file()?,
        3 => scene.by_sudo()?,
        4 => scene.onto_pipe()?,
        _ => scene.below_proc(noise)?,
    };
    match broken {
        Some(how) => Ok(Some(format!("{} {}: {how}", scene.words.0, scene.words.1))),
        None => scene.world.harm(),
    }
}

impl Scene<'_> {
    fn command(&self, file: &Path) -> Command {
        let mut command = Command::new(self.program);
        command.arg(self.words.0).arg(&self.record);
        if self.words.0 == "compare" {
            command.arg("ref:sandisk-extreme-a1");
        }
        let mut option = OsString::from(self.words.1);
        option.push("=");
        option.push(file);
        command.arg(option).current_dir(self.world.outside());
        command.env("XDG_DATA_HOME", self.home.path().join("data"));
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, file: &Path) -> Result<Output> {
        Ok(self.command(file).output()?)
    }

    /// A link to a file or into nothing, of somebody's making: the link stays.
    fn onto_link(&self, noise: &mut Noise) -> Result<Option<String>> {
        let to = match noise.below(3) {
            0 => self.home.path().join("a file of our own"),
            1 => PathBuf::from("/dev/null"),
            _ => PathBuf::from("/proc/self/fd/1"),
        };
        if noise.below(2) == 0 && to.starts_with(self.home.path()) {
            fs::write(&to, "before")?;
        }
        let link = self.home.path().join("link");
        symlink(&to, &link)?;
        let ended = self.run(&link)?;
        let now = fs::read_link(&link).ok();
        Ok((now.as_ref() != Some(&to))
            .then(|| format!("the link to {} is now {now:?}; {}", to.display(), told(&ended))))
    }

    /// `/dev/stdout` and its like, in a /dev of our own: the names stay, and the data arrive.
    fn onto_device_names(&self, noise: &mut Noise) -> Result<Option<String>> {
        let names = ["stdout", "fd/1", "fd/3", "stderr", "null", "full", "tty"];
        let name = names[noise.below(names.len() as u64) as usize];
        let ours = tempfile::tempdir()?;
        let received = self.home.path().join("received");
        let script = "mount -t tmpfs none \"$0\" && cd \"$0\" && ln -s /proc/self/fd fd && \
            ln -s /proc/self/fd/1 stdout && ln -s /proc/self/fd/2 stderr && mknod null c 1 3 && \
            mknod full c 1 7 && mknod tty c 5 0 && mkdir shm && mount --bind \"$0\" /dev && cd / && \
            { file=$1; shift; \"$@\" > \"$file\" 3> \"$file-3\"; status=$?; \
            stat -c '%N %F' /dev/* >&2; exit $status; }";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(ours.path()).arg(&received);
        let inner = self.command(&Path::new("/dev").join(name));
        command.arg(inner.get_program()).args(inner.get_args());
        command.env("XDG_DATA_HOME", self.home.path().join("data")).stdin(Stdio::null());
        let ended = in_own_view(&mut command)?;
        let seen = String::from_utf8_lossy(&ended.stderr).into_owned();
        let wanted = [
            "'/dev/stdout' -> '/proc/self/fd/1' symbolic link",
            "'/dev/stderr' -> '/proc/self/fd/2' symbolic link",
            "'/dev/fd' -> '/proc/self/fd' symbolic link",
            "'/dev/null' character special file",
            "'/dev/full' character special file",
            "'/dev/tty' character special file",
        ];
        if let Some(missing) = wanted.iter().find(|line| !seen.contains(*line)) {
            return Ok(Some(format!("/dev/{name}: no more {missing}: {seen}")));
        }
        let file = match name {
            "stdout" | "fd/1" => received,
            "fd/3" => self.home.path().join("received-3"),
            _ => return Ok(None),
        };
        let bytes = fs::metadata(&file)?.len();
        let is_done = ended.status.success();
        Ok((is_done && bytes < 100)
            .then(|| format!("/dev/{name}: status 0, and {bytes} bytes have arrived: {seen}")))
    }

    /// A file that only its owner may read keeps owner and mode.
    fn onto_private_file(&self) -> Result<Option<String>> {
        let file = self.home.path().join("private");
        fs::write(&file, "before")?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
        chown(&file, Some(SOMEBODY), Some(SOMEBODY))?;
        let ended = self.run(&file)?;
        let now = fs::metadata(&file)?;
        let is_kept = now.uid() == SOMEBODY && now.mode() & 0o777 == 0o600;
        Ok((!is_kept).then(|| {
            format!(
                "a private file of {SOMEBODY} has owner {} and mode {:o}; {}",
                now.uid(),
                now.mode(),
                told(&ended)
            )
        }))
    }

    /// By sudo, in the home of somebody: all that is left there is his.
    fn by_sudo(&self) -> Result<Option<String>> {
        let home = tempfile::tempdir()?;
        chown(home.path(), Some(SOMEBODY), Some(SOMEBODY))?;
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755))?;
        let record = home.path().join("record.json");
        fs::copy(&self.record, &record)?;
        chown(&record, Some(SOMEBODY), Some(SOMEBODY))?;
        let mut command = Command::new(self.program);
        command.args([
            "run",
            "sim:sandisk-extreme-a1",
            "--profile",
            "a1",
            "--quiet",
            "--size",
            "16M",
        ]);
        command.arg("--html").arg(home.path().join("report.html"));
        command.arg("--json").arg(home.path().join("result.json"));
        command.env_remove("XDG_DATA_HOME").env("HOME", home.path()).env("SUDO_USER", "somebody");
        command.env("SUDO_UID", SOMEBODY.to_string()).env("SUDO_GID", SOMEBODY.to_string());
        let ended = command.stdin(Stdio::null()).output()?;
        let left = of_others(home.path(), SOMEBODY)?;
        Ok((!left.is_empty())
            .then(|| format!("in the home of {SOMEBODY}: {left:?}; {}", told(&ended))))
    }

    /// A named pipe with a reader: it stays, and the data arrive.
    fn onto_pipe(&self) -> Result<Option<String>> {
        let pipe = self.home.path().join("pipe");
        run("mkfifo", [pipe.as_os_str()])?;
        let received = self.home.path().join("received");
        let mut reader = Command::new("timeout");
        reader.args(["60", "cat"]).arg(&pipe).stdin(Stdio::null()).stdout(File::create(&received)?);
        let mut reader = reader.spawn()?;
        let ended = Command::new("timeout")
            .args(["60"])
            .arg(self.program)
            .args(self.command(&pipe).get_args())
            .env("XDG_DATA_HOME", self.home.path().join("data"))
            .stdin(Stdio::null())
            .output()?;
        let is_pipe = fs::symlink_metadata(&pipe)?.file_type().is_fifo();
        // A program that refuses the pipe has not opened it, and its reader waits. Else the reader comes to the end.
        if !ended.status.success() {
            std::thread::sleep(Duration::from_millis(20));
            let _ = reader.kill();
        }
        reader.wait()?;
        let bytes = fs::metadata(&received)?.len();
        if !is_pipe {
            return Ok(Some(format!("the pipe has been replaced; {}", told(&ended))));
        }
        Ok((ended.status.success() && bytes < 100)
            .then(|| format!("status 0, and {bytes} bytes came out of the pipe; {}", told(&ended))))
    }

    /// Files of the kernel are not for results.
    fn below_proc(&self, noise: &mut Noise) -> Result<Option<String>> {
        let names = ["/proc/self/comm", "/proc/self/oom_score_adj", "/sys/kernel/uevent_seqnum"];
        let name = names[noise.below(names.len() as u64) as usize];
        let ended = self.run(Path::new(name))?;
        Ok(ended.status.success().then(|| format!("{name} was written: {}", told(&ended))))
    }
}

/// How a program ended, and what it said.
fn told(ended: &Output) -> String {
    format!("{}: {}", ended.status, String::from_utf8_lossy(&ended.stderr).trim())
}

/// Runs `command` in a view of the mounts of its own.
fn in_own_view(command: &mut Command) -> Result<Output> {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| -> Result<Output> {
            let _view = PrivateMounts::enter().context("no view of the mounts of its own")?;
            Ok(command.output()?)
        });
        run.join().unwrap_or_else(|_| Err(anyhow::anyhow!("the thread of the attack panicked")))
    })
}

/// What below `directory` does not belong to `owner`.
fn of_others(directory: &Path, owner: u32) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let metadata = fs::symlink_metadata(&path)?;
        if metadata.uid() != owner {
            found.push(path.clone());
        }
        if metadata.is_dir() {
            found.extend(of_others(&path, owner)?);
        }
    }
    Ok(found)
}
