//! Attacks on the guard before a file or a device is overwritten.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, anyhow};
use cardproof_device::Sysroot;
use cardproof_device::guard::{Consent, inspect, open_for_destruction};
use cardproof_io::PrivateMounts;
use cardproof_testkit::{Contents, LoopDevice, Noise, run};
use cardproof_units::Bytes;
use tempfile::TempDir;

use super::Lab;

const SIZE: Bytes = Bytes::mib(2);

/// The image of a loop device in use.
pub(super) struct Image {
    around: TempDir,
    device: LoopDevice,
}

impl Image {
    pub(super) fn new() -> Result<Self> {
        let around = tempfile::tempdir()?;
        let device = LoopDevice::sparse_in(around.path(), SIZE)?;
        let mut bytes = vec![0; SIZE.as_len()];
        Noise::new(1).fill(&mut bytes);
        let file = OpenOptions::new().write(true).open(device.image())?;
        file.write_all_at(&bytes, 0)?;
        file.sync_all()?;
        Ok(Self { around, device })
    }
}

/// A command that is undone by another when the value is dropped.
struct Undone(&'static str, PathBuf);

impl Drop for Undone {
    fn drop(&mut self) {
        let _ = run(self.0, [&self.1]);
    }
}

fn bind(what: &Path, at: &Path) -> Result<Undone> {
    run("mount", ["--bind".as_ref(), what.as_os_str(), at.as_os_str()])?;
    Ok(Undone("umount", at.to_owned()))
}

/// Another name of the image, one or several steps away from it.
pub(super) fn image_under_another_name(lab: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let image = &lab.image;
    let before = Contents::read(image.device.image())?;
    let elsewhere = tempfile::tempdir()?;
    let mut kept = Vec::new();
    let mut name = image.device.image().to_owned();
    let mut links = Vec::new();
    for step in 0..=noise.below(3) {
        name = match noise.below(3) {
            0 => {
                let link = image.around.path().join(format!("{:016x}", noise.bits()));
                fs::hard_link(image.device.image(), &link)?;
                links.push(link.clone());
                link
            }
            1 => {
                let at = elsewhere.path().join(format!("file-{step}"));
                File::create(&at)?;
                kept.push(bind(&name, &at)?);
                at
            }
            _ => {
                let at = elsewhere.path().join(format!("directory-{step}"));
                fs::create_dir(&at)?;
                kept.push(bind(name.parent().context("no directory")?, &at)?);
                at.join(name.file_name().context("no name")?)
            }
        };
    }
    let root = Sysroot::default();
    let identity = inspect(&root, &name)?.identity.to_string();
    let opened = open_for_destruction(&root, &name, &Consent::Named(identity));
    let harm = match opened {
        Ok(_) => Some(format!("{} was opened for writing", name.display())),
        Err(error) if !error.is_refusal() => Some(format!("{}: {error}", name.display())),
        Err(_) => None,
    };
    // The last mount lies on the ones before.
    while kept.pop().is_some() {}
    links.iter().try_for_each(fs::remove_file)?;
    let is_same = Contents::read(image.device.image())? == before;
    Ok(harm.or_else(|| (!is_same).then(|| "the image has changed".to_owned())))
}

/// The program in a view of the mounts in which the image's own path leads elsewhere.
pub(super) fn image_in_another_view(lab: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let image = &lab.image;
    let before = Contents::read(image.device.image())?;
    let (other, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let hides = if noise.below(2) == 0 { "mount -t tmpfs none \"$0\"" } else { "true" };
    let script = format!("mount --bind \"$0\" \"$1\" && {hides} && shift && exec \"$@\"");
    let name = image.device.image().file_name().context("no name")?;
    let destroy = format!("--destroy={}:{}", name.to_string_lossy(), SIZE.get());
    let mut command = Command::new("sh");
    command.args(["-c", &script]);
    command.arg(image.around.path()).arg(other.path()).arg(&lab.program);
    command.arg("run").arg(other.path().join(name)).args([&destroy, "--quiet"]);
    command.env("XDG_DATA_HOME", data.path());
    let ended = in_own_view(&mut command)?;
    let told = String::from_utf8_lossy(&ended.stderr);
    let is_same = Contents::read(image.device.image())? == before;
    let is_refused = ended.status.code() == Some(3) && told.contains("losetup");
    Ok((!is_refused || !is_same).then(|| format!("{}, same: {is_same}: {told}", ended.status)))
}

/// Runs `command` in a view of the mounts of its own: that of the thread that starts it.
fn in_own_view(command: &mut Command) -> Result<Output> {
    let run = || -> Result<Output> {
        let _view = PrivateMounts::enter().context("no view of the mounts of its own")?;
        Ok(command.output()?)
    };
    let ended = std::thread::scope(|scope| scope.spawn(run).join());
    ended.unwrap_or_else(|_| Err(anyhow!("the thread of the attack panicked")))
}

/// A device whose content is damaged at random, with no consent or one to another device.
pub(super) fn without_identity(lab: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let device = &lab.image.device;
    let node = OpenOptions::new().write(true).open(device.path())?;
    let mut bytes = vec![0; 4096];
    if noise.below(2) == 0 {
        noise.fill(&mut bytes);
    }
    node.write_all_at(&bytes, noise.below(SIZE.get() / 4096) * 4096)?;
    node.sync_all()?;
    drop(node);
    let before = Contents::read(device.path())?;
    let identity = device.identity()?;
    let consent = match noise.below(5) {
        0 => Consent::Named(identity.replace("loop", "sd")),
        1 => Consent::Named(format!("{identity}0")),
        2 => Consent::Named(device.name()),
        3 => Consent::Named(format!("{identity}:SERIAL")),
        _ => Consent::General,
    };
    let opened = open_for_destruction(&Sysroot::default(), device.path(), &consent);
    let is_refused = opened.is_err_and(|error| error.is_refusal());
    let is_same = Contents::read(device.path())? == before;
    Ok((!is_refused || !is_same).then(|| format!("{consent:?}, same: {is_same}")))
}

/// A loop device whose file has gone: others can be used, and its file not under another name.
pub(super) fn beside_a_lost_image(lab: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let root = Sysroot::default();
    let around = tempfile::tempdir()?;
    let lost = LoopDevice::sparse_in(around.path(), SIZE)?;
    let link = around.path().join("another name");
    let has_link = noise.below(2) == 0;
    if has_link {
        fs::hard_link(lost.image(), &link)?;
    }
    fs::remove_file(lost.image())?;
    let dead = if noise.below(2) == 0 { Some(Dead::new(&lab.program)?) } else { None };
    let device = LoopDevice::filled(SIZE, noise.bits())?;
    let consent = Consent::Named(device.identity()?);
    if let Err(error) = open_for_destruction(&root, device.path(), &consent) {
        let is_dead = dead.is_some();
        return Ok(Some(format!("a device with its identity is refused ({is_dead}): {error}")));
    }
    if has_link {
        let identity = inspect(&root, &link)?.identity.to_string();
        if open_for_destruction(&root, &link, &Consent::Named(identity)).is_ok() {
            return Ok(Some("the image in use was opened under its other name".to_owned()));
        }
    }
    Ok(None)
}

/// A loop device over a file whose file system does not answer any more: that of a killed FUSE server.
struct Dead {
    node: String,
}

impl Dead {
    fn new(program: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["sim", "serve", "sandisk-ultra", "--no-block-device"]);
        let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut lines = BufReader::new(server.stdout.take().context("no output")?).lines();
        let file = lines.next().context("cardproof sim serve says nothing")??;
        let node = run("losetup", ["--find", "--show", &file]);
        server.kill()?;
        server.wait()?;
        Ok(Self { node: node?.trim().to_owned() })
    }
}

impl Drop for Dead {
    fn drop(&mut self) {
        let _ = run("losetup", ["--detach", &self.node]);
    }
}
