//! What the data cost that cardproof writes: time and instructions for a block of 4 KiB.
//!
//! The instructions are counted in this program itself, over two numbers of blocks, so that its start
//! and end fall out.

use std::hint::black_box;
use std::process::Command;

use anyhow::{Context, Result};
use cardproof_units::{Bytes, Seed};
use cardproof_workload::{DataPattern, Generation};

use super::instructions::counted;
use super::rounds::{median, range};
use super::table::{Row, Table, Target};

const BLOCK: Bytes = Bytes::kib(4);

/// Blocks of a timed round: about a fifth of a second.
const BLOCKS: u64 = 2_000_000;

const ROUNDS: usize = 9;

/// Blocks of the two counted runs.
const COUNTED: [u64; 2] = [10_000, 30_000];

/// Fills a block `blocks` times, as writes one after the other do.
pub(crate) fn fill_blocks(blocks: u64) {
    let pattern = DataPattern::new(Seed::from_bits(1));
    let mut block = vec![0; BLOCK.as_len()];
    for number in 0..blocks {
        pattern.fill(black_box(&mut block), BLOCK * number, Generation(number));
    }
    black_box(&block);
}

/// The rate and the instructions.
pub(super) fn run() -> Result<Table> {
    let mut table = Table::of_figures("The data that are written, blocks of 4 KiB");
    let rates: Vec<f64> = (0..ROUNDS).map(|_| gigabytes_per_s()).collect();
    let row = |name: &str, value: f64, decimals: usize| Row {
        name: name.to_owned(),
        other: String::new(),
        ours: format!("{value:.decimals$}"),
        value,
        range: None,
        target: Target::None,
    };
    let rate = median(&rates);
    table.add(Row { range: Some(range(&rates)), ..row("GB a second on one processor", rate, 1) });
    table.add(row("nanoseconds a block", BLOCK.as_f64() / rate, 0));
    table.add(row("instructions a block", instructions()?, 0));
    Ok(table)
}

/// By processor time, which others on the machine do not take away.
fn gigabytes_per_s() -> f64 {
    let processor_time = || {
        let usage = cardproof_io::usage();
        usage.cpu_user + usage.cpu_system
    };
    let start = processor_time();
    fill_blocks(BLOCKS);
    (BLOCK * BLOCKS).as_f64() / processor_time().saturating_sub(start).as_secs_f64() / 1e9
}

fn instructions() -> Result<f64> {
    let own = std::env::current_exe().context("this program has no file")?;
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    counted(COUNTED, |blocks| {
        let mut command = Command::new(&own);
        command.args(["fill-blocks", &blocks.to_string()]).env("CARGO_MANIFEST_DIR", &folder);
        Ok(command)
    })
}
