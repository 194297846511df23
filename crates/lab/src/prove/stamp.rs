//! When and where a table was measured: the line above every table whose figures depend on it.

use std::fs;
use std::thread;

use anyhow::Result;
use cardproof_testkit::run;

/// The date, the processor and the machine's load at the start of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    date: String,
    processor: String,
    threads: usize,
    load: String,
}

impl Stamp {
    /// Of now and here. The load is the mean of the last minute, in running threads.
    ///
    /// # Errors
    /// There is no `date` to ask.
    pub(crate) fn take() -> Result<Self> {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Ok(Self {
            date: run("date", ["--utc", "+%Y-%m-%d"])?.trim().to_owned(),
            processor: processor(&read("/proc/cpuinfo")),
            threads: thread::available_parallelism().map_or(1, usize::from),
            load: read("/proc/loadavg").split(' ').next().unwrap_or("unknown").to_owned(),
        })
    }

    /// As a sentence.
    pub(crate) fn sentence(&self) -> String {
        let Self { date, processor, threads, load } = self;
        format!("Measured on {date}: {processor}, {threads} threads, load {load} at the start.")
    }
}

/// The processor's name in the kernel's list, x86's or Arm's.
fn processor(cpuinfo: &str) -> String {
    let value = |key: &str| {
        let of = |line: &str| {
            Some(line.strip_prefix(key)?.trim_start().strip_prefix(':')?.trim().to_owned())
        };
        cpuinfo.lines().find_map(of)
    };
    value("model name").or_else(|| value("Model")).unwrap_or_else(|| "unknown processor".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named_as_the_kernel_has_it() {
        let cases = [
            ("processor\t: 0\nmodel\t\t: 85\nmodel name\t: A CPU @ 2 GHz\n", "A CPU @ 2 GHz"),
            ("processor\t: 0\nModel\t\t: Raspberry Pi 4\n", "Raspberry Pi 4"),
            ("", "unknown processor"),
        ];
        for (cpuinfo, name) in cases {
            assert_eq!(processor(cpuinfo), name);
        }
    }
}
