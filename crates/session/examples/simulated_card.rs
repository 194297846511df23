//! Writes a block to a simulated fake beyond its real size, reads it back and compares. The time is
//! virtual.
//!
//!     cargo run --release -p cardproof-session --example simulated_card
#![allow(clippy::print_stdout)]

use std::error::Error;

use cardproof_probe::Drive;
use cardproof_units::{Bytes, Seed};

fn main() -> Result<(), Box<dyn Error>> {
    let mut card = cardproof_sim::open("fake-drop", Seed::from_bits(1))?;
    let block = Bytes::kib(4);
    let mut drive = Drive::new(&mut *card, block)?;
    for gib in [1, 40] {
        let address = Bytes::gib(gib).get();
        let start = drive.now();
        drive.write(address, block.get(), |data| data.fill(0xA5))??;
        let is_kept = drive.read(address, block.get())??.iter().all(|&byte| byte == 0xA5);
        let took = drive.now() - start;
        println!("at {gib:>2} GiB: written and read in {took}; kept: {is_kept}");
    }
    Ok(())
}
