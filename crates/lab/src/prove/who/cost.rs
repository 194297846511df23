//! What `watch --who` costs a slow processor, in instructions, the kernel's included.
//!
//! QEMU's clock moves on by a nanosecond with each instruction, so that the time which the kernel charges the watch's
//! control group with is a count of instructions. It does not depend on what else this machine does.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::virtual_machine::{Image, Kernel, Machine};

const TASK: &str = include_str!("cost.sh");

/// Drivers of the disk.
const MODULES: &[&str] = &["virtio_pci", "virtio_blk"];

const DISK_BYTES: u64 = 64 << 20;

/// How long the machine may take.
const TIME_MAX: Duration = Duration::from_secs(1200);

/// Instructions that a slow core does in a second: the ARM1176 of a Pi Zero at 1 GHz and one in two cycles.
const SLOW_CORE: f64 = 0.5e9;

/// What a minute of watching took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) processes: u64,
    pub(super) instructions: u64,
}

impl Cost {
    /// Watches for a minute with `program`.
    ///
    /// # Errors
    /// As [`Machine::run`].
    pub(super) fn measure(kernel: &Kernel, program: &Path) -> Result<Self> {
        let image = Image::new()?;
        image.add_modules(&kernel.modules(MODULES)?)?;
        image.add_stripped(program)?;
        image.set_task(TASK)?;
        let directory = tempfile::tempdir()?;
        let disk = directory.path().join("disk");
        File::create(&disk)?.set_len(DISK_BYTES)?;
        let drive = format!("if=none,id=disk,format=raw,file={}", disk.display());
        let devices = [
            // One processor, whose instructions are its clock.
            ["-smp", "1"],
            ["-icount", "shift=0,sleep=off"],
            ["-drive", &drive],
            ["-device", "virtio-blk-pci,drive=disk"],
        ];
        let devices = devices.as_flattened().iter().map(|word| (*word).to_owned()).collect();
        let machine =
            Machine { kernel, image: &image, memory_mib: 512, devices, time_max: TIME_MAX };
        Self::parse(&machine.run()?)
    }

    /// The lines `USED seconds processes microseconds` of a short watch and one that is a minute longer, each with the
    /// sum so far.
    fn parse(said: &str) -> Result<Self> {
        let used = said.lines().filter_map(|line| line.strip_prefix("USED "));
        let used: Vec<[u64; 3]> = used
            .filter_map(|line| {
                let numbers: Option<Vec<u64>> =
                    line.split_whitespace().map(|word| word.parse().ok()).collect();
                numbers?.try_into().ok()
            })
            .collect();
        ensure!(used.len() == 2, "the machine said:\n{said}");
        let [[_, _, short], [_, processes, both]] = [used[0], used[1]];
        let micros = both.checked_sub(2 * short).context("the longer watch took less")?;
        Ok(Self { processes, instructions: micros * 1000 })
    }

    /// The share of a slow core's time, 0 to 1.
    pub(super) fn share(self) -> f64 {
        self.instructions as f64 / (60.0 * SLOW_CORE)
    }

    pub(super) fn sentence(self) -> String {
        format!(
            "A minute of watching a machine of {} processes, threads of the kernel included, in 40 groups, with swap, \
             takes {:.0} million instructions, the kernel's included: {:.2} % of a core that does {:.1} thousand million \
             a second, such as a Pi Zero's at 1 GHz and half an instruction a cycle. They are instructions of x86-64.\n",
            self.processes,
            self.instructions as f64 / 1e6,
            100.0 * self.share(),
            SLOW_CORE / 1e9,
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_minute_is_the_longer_watch_without_the_shorter() {
        let cost = Cost::parse("USED 2 200 100000\nUSED 62 201 500000\n").unwrap();
        assert_eq!(cost, Cost { processes: 201, instructions: 300_000_000 });
        assert!((cost.share() - 0.01).abs() < 1e-9);
        assert!(Cost::parse("USED 2 200 100000\nFAILED\n").is_err());
    }
}
