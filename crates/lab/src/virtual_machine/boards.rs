//! The laboratory of boards: single-board computers under software emulation, each with a Debian system
//! on its card or disk, on which the release's package is installed, used and removed.
//!
//! It shows what user mode emulation cannot: the board's own drivers, its kernel, its page size. It says
//! nothing about speed. Two things a Pi has are not emulated: voltage and throttling (the firmware
//! answers without them), and the bus modes above 50 MHz.

mod board;
mod disk;
mod emulator;
mod seen;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use cardproof_testkit::require_root;

use crate::debian;
use crate::program;

pub(crate) use board::{Board, by_name};
pub(crate) use seen::Seen;

/// Visits the boards with these names, all of them without a name, and prints what they said.
pub(super) fn run(names: &[String]) -> Result<bool> {
    let mut is_good = true;
    for board in by_name(names)? {
        let seen = visit(board)?;
        print!("{}", seen.transcript());
        for fault in seen.faults(board) {
            println!("{}: {fault}", board.name);
            is_good = false;
        }
    }
    Ok(is_good)
}

/// Boots `board`, installs the package there, uses the program, removes it, and returns what was said.
///
/// # Errors
/// Without root, QEMU, mmdebstrap or the package; where the board does not come up.
pub(crate) fn visit(board: &Board) -> Result<Seen> {
    require_root()?;
    let package = debian::package(board.package)?;
    let cache = program::cache("debian")?;
    let kernel = board.kernel(&cache)?;
    let directory = tempfile::tempdir()?;
    let image: PathBuf = directory.path().join("disk");
    disk::make(&image, &board.system.root(&cache)?, &package, board)?;
    eprintln!("{}: booting", board.name);
    let start = Instant::now();
    let console = emulator::run(board, &kernel, &image)?;
    let seen = Seen::parse(&console).with_context(|| board.name.to_owned())?;
    eprintln!("{}: {:.0} s", board.name, start.elapsed().as_secs_f64());
    Ok(seen)
}
