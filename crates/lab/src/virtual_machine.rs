//! `cargo xtask lab NAME`: a virtual machine with hardware that this one has not, and the program
//! in it.
//!
//! The machine boots Debian's kernel under software emulation, so it needs no privilege and works
//! in a container.

mod boards;
mod frozen;
mod image;
mod kernel;
mod machine;
mod mmc;
mod reconnect;

use std::fs::File;
use std::time::Duration;

use anyhow::Result;

use crate::program::{self, Build};

pub(crate) use boards::{Board, Seen, by_name, visit};
pub(crate) use frozen::{Frozen, READY};
pub(crate) use image::Image;
pub(crate) use kernel::Kernel;
pub(crate) use machine::Machine;

/// A virtual machine to boot.
#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum Laboratory {
    /// Compare the output of `identify` with an SD card behind Linux's own MMC stack, and with USB,
    /// NVMe and virtio disks
    Mmc,
    /// Test the capacity of an SD card and of USB disks that are disconnected and connected again on
    /// the way
    Reconnect,
    /// Install the Debian packages on emulated boards and use the program there; prints all that it
    /// says. Needs root and the packages of `cargo xtask dist`
    Boards {
        /// The boards; all without a name
        #[arg(value_name = "BOARD")]
        names: Vec<String>,
    },
}

/// Runs the laboratory; whether everything was as it should be.
pub(crate) fn run(laboratory: &Laboratory) -> Result<bool> {
    match laboratory {
        Laboratory::Mmc => mmc::run(),
        Laboratory::Reconnect => reconnect::run(),
        Laboratory::Boards { names } => boards::run(names),
    }
}

/// A disk of a machine.
struct Disk {
    /// Its image, and its drive in QEMU's words.
    name: &'static str,
    size_bytes: u64,
    /// Its devices, in QEMU's words.
    devices: &'static [&'static str],
}

/// Boots a machine with the kernel's `modules`, the program and `disks`, and returns what `task` printed.
fn answers(modules: &[&str], task: &str, disks: &[Disk]) -> Result<String> {
    let kernel = Kernel::fetch(&program::cache("lab")?)?;
    let image = Image::new()?;
    image.add_modules(&kernel.modules(modules)?)?;
    image.add_stripped(&program::build(Build::Quick)?)?;
    image.set_task(task)?;
    let directory = tempfile::tempdir()?;
    let mut devices = Vec::new();
    for disk in disks {
        let file = directory.path().join(disk.name);
        File::create(&file)?.set_len(disk.size_bytes)?;
        devices.push("-drive".to_owned());
        devices.push(format!("id={},if=none,format=raw,file={}", disk.name, file.display()));
        for device in disk.devices {
            devices.extend(["-device".to_owned(), (*device).to_owned()]);
        }
    }
    let time_max = Duration::from_secs(400);
    Machine { kernel: &kernel, image: &image, memory_mib: 512, devices, time_max }.run()
}
