//! QEMU as a board: boots its kernel, hands over to the system on its disk, reads its console.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use cardproof_testkit::{LabError, run as run_tool};
use cardproof_units::in_words;

use super::board::{Board, Storage, Unpacked};
use crate::virtual_machine::Image;

/// The last line of a visit.
const DONE: &str = "VISIT-IS-DONE";

/// How long a visit may take, on a machine with other work too.
const TIME_MAX: Duration = Duration::from_secs(1800);

/// Loads the drivers and starts the visit from the disk; `PARTITION` is replaced. A small Debian has no
/// `mount`, so everything is mounted here.
const INIT: &str = "\
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t debugfs debugfs /sys/kernel/debug
for module in /modules/*; do insmod $module || echo \"cannot load $module\"; done
while [ ! -b /dev/PARTITION ]; do sleep 0.2; done
mkdir -p /system
mount -t ext4 /dev/PARTITION /system
mount --move /dev /system/dev
mount --move /proc /system/proc
mount --move /sys /system/sys
mount -t tmpfs tmpfs /system/tmp
exec switch_root /system /bin/sh /visit.sh
";

/// Boots `board` from `image` and returns what its console showed.
///
/// # Errors
/// [`LabError::Unavailable`] without QEMU; else the console's last lines.
pub(super) fn run(board: &Board, unpacked: &Unpacked, image: &Path) -> Result<String> {
    let initial =
        Image::with(&unpacked.busybox, &INIT.replace("PARTITION", board.storage.partition()))?;
    initial.add_modules(&plain(&unpacked.kernel.modules(board.modules)?)?)?;
    let directory = tempfile::tempdir()?;
    let [initramfs, console] = ["initramfs", "console"].map(|name| directory.path().join(name));
    initial.pack(&initramfs)?;
    let mut machine = start(board, unpacked, &initramfs, &console, image)?;
    let ended = wait(&mut machine, &console);
    // What a visit leaves running ends with it.
    machine.kill()?;
    machine.wait()?;
    let text = read(&console);
    match ended? {
        true => Ok(text),
        false => bail!("{} did not come to its end\n{}", board.name, tail(&text)),
    }
}

/// The modules, those packed with xz unpacked beside themselves: busybox loads plain ones.
fn plain(modules: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let unpack = |module: &PathBuf| {
        if module.extension().is_none_or(|extension| extension != "xz") {
            return Ok(module.clone());
        }
        let plain = module.with_extension("");
        if !plain.exists() {
            run_tool("xz", ["--decompress".as_ref(), "--keep".as_ref(), module.as_os_str()])?;
        }
        Ok(plain)
    };
    modules.iter().map(unpack).collect()
}

fn start(
    board: &Board,
    unpacked: &Unpacked,
    initramfs: &Path,
    console: &Path,
    image: &Path,
) -> Result<Child> {
    let (program, machine) = board.emulator.split_first().context("a board without emulator")?;
    let mut command = Command::new(program);
    command.args(machine).args(["-display", "none", "-no-reboot", "-nic", "none"]);
    command.arg("-kernel").arg(unpacked.kernel.image()?).arg("-initrd").arg(initramfs);
    if let Some(name) = board.device_tree {
        command.arg("-dtb").arg(unpacked.kernel.device_tree(name));
    }
    command.arg("-append").arg(format!("{} panic=-1 loglevel=4", board.kernel_words));
    for _ in 0..board.serial_port {
        command.args(["-serial", "null"]);
    }
    command.arg("-serial").arg(format!("file:{}", console.display()));
    let drive = format!("format=raw,file={}", image.display());
    match board.storage {
        Storage::Card => command.arg("-drive").arg(format!("if=sd,{drive}")),
        Storage::Virtio => command
            .arg("-drive")
            .arg(format!("id=disk,if=none,{drive}"))
            .args(["-device", "virtio-blk-pci,drive=disk"]),
    };
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().map_err(|error| {
        let reason = format!(
            "{program} cannot be started ({why}); is it installed?",
            why = in_words(&error)
        );
        LabError::Unavailable(reason).into()
    })
}

/// Waits for the last line; `false` where the machine ended or the time was over before.
fn wait(machine: &mut Child, console: &Path) -> Result<bool> {
    let start = Instant::now();
    while start.elapsed() < TIME_MAX {
        if read(console).lines().any(|line| line.trim_end() == DONE) {
            return Ok(true);
        }
        if machine.try_wait().context("cannot wait for QEMU")?.is_some() {
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(false)
}

fn read(console: &Path) -> String {
    String::from_utf8_lossy(&fs::read(console).unwrap_or_default()).into_owned()
}

/// The last lines of what the console showed.
fn tail(console: &str) -> String {
    let lines: Vec<&str> = console.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}
