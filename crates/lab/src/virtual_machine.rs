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

use anyhow::Result;

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
