//! A machine that is booted once, frozen, and thawed as often as needed: in a second instead of the
//! many that booting takes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use cardproof_testkit::LabError;
use cardproof_units::in_words;
use tempfile::TempDir;

use super::image::Image;
use super::kernel::Kernel;

/// What the task prints when it may be frozen. It must wait for another disk after that.
pub(crate) const READY: &str = "READY";

/// Its memory in MiB.
const MEMORY_MIB: u32 = 384;

/// How long booting may take.
const BOOT_MAX: Duration = Duration::from_secs(240);

/// A frozen machine with one disk and a network whose host is 10.0.2.2.
pub(crate) struct Frozen {
    directory: TempDir,
    kernel: PathBuf,
}

impl Frozen {
    /// Boots `image` with a disk in the file `disk` until it is ready, and freezes it.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without QEMU; else what went wrong, with the console's last lines.
    pub(crate) fn boot(kernel: &Kernel, image: &Image, disk: &Path) -> Result<Self> {
        let frozen = Self { directory: tempfile::tempdir()?, kernel: kernel.image()? };
        image.pack(&frozen.path("initramfs"))?;
        let mut command = frozen.command(disk);
        command.args(["-monitor", "stdio"]).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut machine = start(&mut command)?;
        let begun = Instant::now();
        while !frozen.said().contains(READY) {
            if begun.elapsed() > BOOT_MAX || machine.try_wait()?.is_some() {
                machine.kill()?;
                machine.wait()?;
                let console = fs::read(frozen.path("console")).unwrap_or_default();
                bail!("the machine did not boot: {}", String::from_utf8_lossy(&console));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut monitor = machine.stdin.take().context("no monitor")?;
        let state = frozen.path("state");
        // A machine that was stopped before would stay so when it is thawed.
        write!(monitor, "migrate \"exec:cat > {}\"\nquit\n", state.display())?;
        ensure!(machine.wait()?.success(), "the machine could not be frozen");
        Ok(frozen)
    }

    /// Thaws it with `disk` in place of the one that it was booted with, of the same size.
    ///
    /// # Errors
    /// QEMU cannot be started.
    pub(crate) fn thaw(&self, disk: &Path) -> Result<Child> {
        let mut command = self.command(disk);
        command.args(["-monitor", "none", "-incoming"]);
        command.arg(format!("exec:cat {}", self.path("state").display()));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        start(&mut command)
    }

    /// What the task has printed since it was booted or thawed.
    pub(crate) fn said(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.path("said")).unwrap_or_default()).into_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, disk: &Path) -> Command {
        let mut command = Command::new("qemu-system-x86_64");
        command.args(["-accel", "tcg", "-machine", "q35", "-cpu", "max", "-nodefaults"]);
        command.args(["-m", &MEMORY_MIB.to_string(), "-display", "none", "-no-reboot"]);
        command.args(["-nic", "user,model=virtio-net-pci"]);
        command.arg("-kernel").arg(&self.kernel).arg("-initrd").arg(self.path("initramfs"));
        command.args(["-append", "console=ttyS0 panic=-1 quiet"]);
        command.arg("-serial").arg(format!("file:{}", self.path("console").display()));
        command.arg("-serial").arg(format!("file:{}", self.path("said").display()));
        // Without a cache of the host, so that only the card's own is volatile.
        let drive = format!("file={},format=raw,cache=none,if=none,id=card", disk.display());
        command.args(["-drive", &drive, "-device", "virtio-blk-pci,drive=card"]);
        command
    }
}

fn start(command: &mut Command) -> Result<Child> {
    command.spawn().map_err(|error| {
        let reason = format!(
            "qemu-system-x86_64 cannot be started ({why}); is it installed?",
            why = in_words(&error)
        );
        LabError::Unavailable(reason).into()
    })
}
