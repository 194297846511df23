//! `cargo xtask lab NAME`: a virtual machine with hardware that this one has not, and the program
//! in it.
//!
//! The machine boots Debian's kernel under software emulation, so it needs no privilege and works
//! in a container.

mod frozen;
mod image;
mod kernel;
mod machine;
mod mmc;

use anyhow::Result;

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
}

/// Runs the laboratory; whether everything was as it should be.
pub(crate) fn run(laboratory: &Laboratory) -> Result<bool> {
    match laboratory {
        Laboratory::Mmc => mmc::run(),
    }
}
