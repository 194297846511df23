//! fio as a measure for our own measuring: one job, its figures, its cost.
//!
//! Costs are those of fio's job threads during the job (fio's own account of `getrusage`), so
//! its start and end, which are long, do not count against it.

use std::path::PathBuf;
use std::process::Command;

use cardproof_units::{Bytes, Nanos};
use serde::Deserialize;

use crate::command::run_command;
use crate::{LabError, Throttle};

/// How fio submits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioEngine {
    /// `pread` and `pwrite`; depth comes from threads.
    Psync,
    /// io_uring as it comes.
    IoUring,
    /// io_uring with registered buffers and files.
    IoUringFixed,
    /// No I/O at all.
    Null,
}

/// What fio does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioPattern {
    /// Reads one after the other.
    Read,
    /// Writes one after the other.
    Write,
    /// Reads anywhere, with repetition.
    RandomRead,
    /// Writes anywhere, with repetition.
    RandomWrite,
    /// Both anywhere, with repetition, this many of 100 being reads.
    RandomMixed(u8),
}

/// When fio stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioEnd {
    /// After this time.
    Time(Nanos),
    /// After this many operations.
    Ops(u64),
}

/// One fio job.
#[derive(Clone, Debug)]
pub struct FioJob {
    /// The device or file; for [`FioEngine::Null`] only a name.
    pub target: PathBuf,
    /// How to submit.
    pub engine: FioEngine,
    /// What to do.
    pub pattern: FioPattern,
    /// The size of each operation.
    pub block_size: Bytes,
    /// The range of addresses.
    pub span: Bytes,
    /// Operations in flight.
    pub queue_depth: u16,
    /// When to stop.
    pub end: FioEnd,
}

/// What fio measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FioResult {
    /// Operations.
    pub ops: u64,
    /// Operations a second, reads and writes together.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Processor time of the job in fio's own code.
    pub cpu_user: Nanos,
    /// Processor time of the job in the kernel.
    pub cpu_system: Nanos,
}

impl FioJob {
    /// Runs the job, under `throttle` where given.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without fio; else what fio said.
    pub fn run(&self, throttle: Option<&Throttle>) -> Result<FioResult, LabError> {
        FioResult::parse(&run_command(self.command(throttle))?)
    }

    /// Runs the job with writes from the same buffers again and again, of which fio changes a few bytes.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_reusing_buffers(&self) -> Result<FioResult, LabError> {
        FioResult::parse(&run_command(self.command_reusing_buffers())?)
    }

    /// The command line of [`run_reusing_buffers`](Self::run_reusing_buffers).
    #[must_use]
    pub fn command_reusing_buffers(&self) -> Command {
        self.command_with(None, false)
    }

    /// The command line of the job, under `throttle` where given.
    #[must_use]
    pub fn command(&self, throttle: Option<&Throttle>) -> Command {
        self.command_with(throttle, true)
    }

    /// The command line, with fresh data in every block that is written or without.
    fn command_with(&self, throttle: Option<&Throttle>, is_fresh: bool) -> Command {
        let mut command =
            throttle.map_or_else(|| Command::new("fio"), |throttle| throttle.command("fio"));
        command.args(["--name=cardproof", "--output-format=json", "--norandommap"]);
        command.arg("--randrepeat=0");
        command.arg(format!("--bs={}", self.block_size.get()));
        command.arg(format!("--size={}", self.span.get()));
        self.add_engine(&mut command);
        self.add_pattern(&mut command, is_fresh);
        match self.end {
            FioEnd::Time(time) => {
                let millis = time.get() / 1_000_000;
                command.args(["--time_based".to_owned(), format!("--runtime={millis}ms")]);
            }
            FioEnd::Ops(ops) => {
                command.arg(format!("--number_ios={ops}"));
            }
        }
        command
    }

    /// The engine, the target that goes with it, and how depth is had.
    fn add_engine(&self, command: &mut Command) {
        let depth = self.queue_depth;
        if self.engine == FioEngine::Null {
            command.args(["--ioengine=null", &format!("--iodepth={depth}")]);
            return;
        }
        command.arg("--direct=1").arg(format!("--filename={}", self.target.display()));
        match self.engine {
            FioEngine::Psync => {
                command.arg("--ioengine=psync");
                if depth > 1 {
                    command.args(["--thread", "--group_reporting", &format!("--numjobs={depth}")]);
                }
            }
            FioEngine::IoUringFixed => {
                command.args(["--ioengine=io_uring", "--fixedbufs", "--registerfiles"]);
                command.arg(format!("--iodepth={depth}"));
            }
            FioEngine::IoUring | FioEngine::Null => {
                command.args(["--ioengine=io_uring", &format!("--iodepth={depth}")]);
            }
        }
    }

    /// The pattern in fio's words.
    fn add_pattern(&self, command: &mut Command, is_fresh: bool) {
        let word = match self.pattern {
            FioPattern::Read => "read",
            FioPattern::Write => "write",
            FioPattern::RandomRead => "randread",
            FioPattern::RandomWrite => "randwrite",
            FioPattern::RandomMixed(_) => "randrw",
        };
        command.arg(format!("--rw={word}"));
        if is_fresh && !matches!(self.pattern, FioPattern::Read | FioPattern::RandomRead) {
            // Fresh data in every block, as ours has it, rather than one buffer again and again.
            command.arg("--refill_buffers");
        }
        if let FioPattern::RandomMixed(read_percent) = self.pattern {
            command.arg(format!("--rwmixread={read_percent}"));
        }
    }
}

/// The part of fio's output that is used.
#[derive(Deserialize)]
struct Output {
    jobs: Vec<JobOutput>,
}

/// One job, or a group of them reported as one.
#[derive(Deserialize)]
struct JobOutput {
    read: Direction,
    write: Direction,
    /// Milliseconds, summed over the jobs of a group.
    job_runtime: u64,
    /// Percent of `job_runtime`.
    usr_cpu: f64,
    /// Percent of `job_runtime`.
    sys_cpu: f64,
}

/// One direction of a job.
#[derive(Deserialize)]
struct Direction {
    total_ios: u64,
    io_bytes: u64,
    iops: f64,
}

impl FioResult {
    /// The figures in fio's JSON.
    fn parse(text: &str) -> Result<Self, LabError> {
        let answer = |what: String| LabError::Answer { tool: "fio", what };
        // Notes of fio may stand before the document.
        let json = text.find('{').map_or(text, |start| &text[start..]);
        let output: Output =
            serde_json::from_str(json).map_err(|error| answer(error.to_string()))?;
        let [job] = output.jobs.as_slice() else {
            return Err(answer(format!("{} jobs instead of one", output.jobs.len())));
        };
        let ops = job.read.total_ios + job.write.total_ios;
        if ops == 0 {
            return Err(answer("a job without a single operation".to_owned()));
        }
        let iops = job.read.iops + job.write.iops;
        let bytes = job.read.io_bytes + job.write.io_bytes;
        let cpu = |percent: f64| Nanos((percent / 100.0 * job.job_runtime as f64 * 1e6) as u64);
        Ok(Self {
            ops,
            iops,
            bytes_per_s: iops * bytes as f64 / ops as f64,
            cpu_user: cpu(job.usr_cpu),
            cpu_system: cpu(job.sys_cpu),
        })
    }

    /// Processor time in fio's own code for each operation, in nanoseconds.
    #[must_use]
    pub fn cpu_user_ns_per_op(&self) -> f64 {
        self.cpu_user.get() as f64 / self.ops as f64
    }

    /// Processor time for each operation, in nanoseconds.
    #[must_use]
    pub fn cpu_total_ns_per_op(&self) -> f64 {
        (self.cpu_user + self.cpu_system).get() as f64 / self.ops as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> FioJob {
        FioJob {
            target: "/dev/loop9".into(),
            engine: FioEngine::Psync,
            pattern: FioPattern::RandomMixed(70),
            block_size: Bytes::kib(4),
            span: Bytes::mib(64),
            queue_depth: 32,
            end: FioEnd::Time(Nanos::from_millis(1500)),
        }
    }

    fn arguments(job: &FioJob) -> Vec<String> {
        let command = job.command(None);
        command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn depth_of_psync_comes_from_threads() {
        let arguments = arguments(&job());
        for wanted in
            ["--numjobs=32", "--thread", "--rwmixread=70", "--runtime=1500ms", "--bs=4096"]
        {
            assert!(arguments.iter().any(|argument| argument == wanted), "{wanted}: {arguments:?}");
        }
    }

    #[test]
    fn the_null_engine_names_no_file() {
        let arguments = arguments(&FioJob { engine: FioEngine::Null, ..job() });
        assert!(!arguments.iter().any(|argument| argument.contains("loop9")), "{arguments:?}");
    }

    #[test]
    fn figures_of_a_group_are_summed() {
        let text = r#"note: something
            {"jobs": [{"read": {"total_ios": 300, "io_bytes": 1228800, "iops": 150.0},
            "write": {"total_ios": 100, "io_bytes": 409600, "iops": 50.0},
            "job_runtime": 64000, "usr_cpu": 25.0, "sys_cpu": 50.0}]}"#;
        let result = FioResult::parse(text).unwrap();
        assert_eq!(result.ops, 400);
        assert!((result.iops - 200.0).abs() < 1e-9);
        assert!((result.bytes_per_s - 819_200.0).abs() < 1e-6);
        assert!((result.cpu_user_ns_per_op() - 4e7).abs() < 1.0);
        assert!((result.cpu_total_ns_per_op() - 1.2e8).abs() < 1.0);
    }

    #[test]
    fn a_job_without_operations_is_no_result() {
        let text = r#"{"jobs": [{"read": {"total_ios": 0, "io_bytes": 0, "iops": 0},
            "write": {"total_ios": 0, "io_bytes": 0, "iops": 0},
            "job_runtime": 1, "usr_cpu": 0, "sys_cpu": 0}]}"#;
        assert!(FioResult::parse(text).is_err());
    }
}
