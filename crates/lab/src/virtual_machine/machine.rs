//! A virtual machine that boots an initramfs, does its task, and hands out what it printed.
//!
//! It runs by software emulation, so that it works in any container, and has no network.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use cardproof_testkit::LabError;
use cardproof_units::in_words;

use super::image::Image;
use super::kernel::Kernel;

/// What the machine prints last when it has done all of its task.
const DONE: &str = "LABORATORY-IS-DONE\n";

/// A machine before it is switched on.
pub(crate) struct Machine<'a> {
    /// What it boots.
    pub(crate) kernel: &'a Kernel,
    /// What it has on board.
    pub(crate) image: &'a Image,
    /// Its memory in MiB.
    pub(crate) memory_mib: u32,
    /// Its devices, in QEMU's words.
    pub(crate) devices: Vec<String>,
    /// How long it may take.
    pub(crate) time_max: Duration,
}

impl Machine<'_> {
    /// Boots, does the task, and returns what the task printed.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without QEMU; else what went wrong, with the console's last lines.
    pub(crate) fn run(&self) -> Result<String> {
        let directory = tempfile::tempdir()?;
        let [initramfs, console, data, complaints] =
            ["initramfs", "console", "data", "complaints"].map(|name| directory.path().join(name));
        self.image.pack(&initramfs)?;
        let mut machine = self.start(&initramfs, &console, &data, &complaints)?;
        let ended = wait(&mut machine, self.time_max)?;
        let [console, data, complaints] = [console, data, complaints]
            .map(|file| String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned());
        match data.strip_suffix(DONE) {
            Some(data) => Ok(data.to_owned()),
            None if !ended => {
                bail!("the machine was not done after {:?}\n{}", self.time_max, tail(&console))
            }
            // QEMU complains about each error of a disk; why it did not start is all that it says then.
            None => bail!("the machine broke off\n{}\n{}", tail(&console), tail(&complaints)),
        }
    }

    fn start(
        &self,
        initramfs: &Path,
        console: &Path,
        data: &Path,
        complaints: &Path,
    ) -> Result<Child> {
        let mut command = Command::new("qemu-system-x86_64");
        command.args(["-accel", "tcg", "-machine", "q35", "-cpu", "max", "-smp", "2"]);
        command.args(["-m", &self.memory_mib.to_string()]);
        command.args(["-nodefaults", "-display", "none", "-no-reboot", "-nic", "none"]);
        command.arg("-kernel").arg(self.kernel.image()?).arg("-initrd").arg(initramfs);
        command.args(["-append", "console=ttyS0 panic=-1 loglevel=5"]);
        command.arg("-serial").arg(format!("file:{}", console.display()));
        command.arg("-serial").arg(format!("file:{}", data.display()));
        command.args(&self.devices).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(complaints)?);
        command.spawn().map_err(|error| {
            let reason = format!(
                "qemu-system-x86_64 cannot be started ({why}); is it installed?",
                why = in_words(&error)
            );
            LabError::Unavailable(reason).into()
        })
    }
}

/// Waits for the machine to switch itself off; `false` where it had to be switched off.
fn wait(machine: &mut Child, time_max: Duration) -> Result<bool> {
    let start = Instant::now();
    while start.elapsed() < time_max {
        if machine.try_wait().context("cannot wait for QEMU")?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    machine.kill()?;
    machine.wait()?;
    Ok(false)
}

/// The last lines of what the console showed.
fn tail(console: &str) -> String {
    let lines: Vec<&str> = console.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}
