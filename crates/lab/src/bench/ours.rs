//! One phase by cardproof, through its developer's command `cardproof engine`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use cardproof_testkit::{
    FioEnd, FioEngine, FioJob, FioPattern, LabError, Throttle, identity, run_command,
};
use serde::Deserialize;

use super::rounds::Sample;

/// What `cardproof engine --json -` prints, as far as it is used.
#[derive(Debug, Deserialize)]
pub(super) struct EngineResult {
    ops: u64,
    iops: f64,
    cpu_user_ns: u64,
    cpu_system_ns: u64,
    engine: String,
    direct: bool,
    monitor_cpu_share: Option<f64>,
}

impl EngineResult {
    /// The result as a sample.
    fn sample(&self) -> Sample {
        let per_op = |nanos: u64| nanos as f64 / self.ops as f64;
        Sample {
            iops: self.iops,
            cpu_user_ns: per_op(self.cpu_user_ns),
            cpu_total_ns: per_op(self.cpu_user_ns + self.cpu_system_ns),
        }
    }
}

/// Runs by `program` the same phase as `job` describes for fio.
pub(super) fn run(program: &Path, job: &FioJob, throttle: Option<&Throttle>) -> Result<Sample> {
    Ok(result_of(command(program, job, throttle)?, job)?.sample())
}

/// As [`run`] with the monitor beside it, and the share of one processor that the monitor used.
pub(super) fn run_monitored(
    program: &Path,
    job: &FioJob,
    throttle: Option<&Throttle>,
) -> Result<(Sample, f64)> {
    let mut command = command(program, job, throttle)?;
    command.arg("--monitor");
    let result = result_of(command, job)?;
    let share = result.monitor_cpu_share.context("cardproof engine told nothing of its monitor")?;
    Ok((result.sample(), share))
}

/// What `command`, which runs `job`, answers.
fn result_of(command: Command, job: &FioJob) -> Result<EngineResult> {
    let text = run_command(command)?;
    let result: EngineResult = serde_json::from_str(&text)
        .with_context(|| format!("cardproof engine answered in another form: {text}"))?;
    check(&result, job)?;
    Ok(result)
}

/// The command line of the phase that `job` describes.
pub(super) fn command(
    program: &Path,
    job: &FioJob,
    throttle: Option<&Throttle>,
) -> Result<Command, LabError> {
    let mut command =
        throttle.map_or_else(|| Command::new(program), |throttle| throttle.command(program));
    let (op, pattern, read_percent) = words(job.pattern);
    command.args(["engine", "--json", "-", "--op", op, "--pattern", pattern]);
    command.args(["--block-size".to_owned(), job.block_size.get().to_string()]);
    command.args(["--queue-depth".to_owned(), job.queue_depth.to_string()]);
    command.args(["--size".to_owned(), job.span.get().to_string()]);
    if op == "mixed" {
        command.args(["--read-percent".to_owned(), read_percent.to_string()]);
    }
    match job.end {
        FioEnd::Time(time) => command.args(["--time".to_owned(), format!("{}ns", time.get())]),
        FioEnd::Ops(ops) => command.args(["--ops".to_owned(), ops.to_string()]),
    };
    match job.engine {
        FioEngine::Null => command.args(["--target", "null"]),
        FioEngine::Psync => command.args(["--engine", "psync", "--target"]).arg(&job.target),
        FioEngine::IoUring | FioEngine::IoUringFixed => {
            command.args(["--engine", "uring", "--target"]).arg(&job.target)
        }
    };
    if op != "read" && job.engine != FioEngine::Null {
        command.arg(format!("--destroy={}", identity(&job.target)?));
    }
    Ok(command)
}

/// The words for `pattern`: the operation, the order, and how many of 100 are reads.
const fn words(pattern: FioPattern) -> (&'static str, &'static str, u8) {
    match pattern {
        FioPattern::Read => ("read", "sequential", 100),
        FioPattern::Write => ("write", "sequential", 0),
        FioPattern::RandomRead => ("read", "random", 100),
        FioPattern::RandomWrite => ("write", "random", 0),
        FioPattern::RandomMixed(read_percent) => ("mixed", "random", read_percent),
    }
}

/// A fallback would compare something else than what the row says.
fn check(result: &EngineResult, job: &FioJob) -> Result<()> {
    let wanted = match job.engine {
        FioEngine::Null => "null",
        FioEngine::Psync => "psync",
        FioEngine::IoUring | FioEngine::IoUringFixed => "io_uring",
    };
    if result.engine != wanted {
        bail!("cardproof used the engine {}, not {wanted}", result.engine);
    }
    if !result.direct {
        bail!("cardproof went through the page cache on {}", job.target.display());
    }
    if result.ops == 0 {
        bail!("cardproof did not a single operation on {}", job.target.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use cardproof_units::{Bytes, Nanos};

    use super::*;

    #[test]
    fn a_mixed_phase_names_its_share_and_a_null_target_needs_no_identity() {
        let job = FioJob {
            target: "null".into(),
            engine: FioEngine::Null,
            pattern: FioPattern::RandomMixed(70),
            block_size: Bytes::kib(4),
            span: Bytes::mib(1),
            queue_depth: 8,
            end: FioEnd::Time(Nanos::from_millis(5)),
        };
        let command = command(Path::new("cardproof"), &job, None).unwrap();
        let arguments: Vec<_> =
            command.get_args().map(|argument| argument.to_string_lossy()).collect();
        let line = arguments.join(" ");
        assert!(line.contains("--op mixed --pattern random"), "{line}");
        assert!(line.contains("--read-percent 70"), "{line}");
        assert!(!line.contains("--destroy"), "{line}");
    }

    #[test]
    fn a_fallback_is_no_comparison() {
        let result = EngineResult {
            ops: 1,
            iops: 1.0,
            cpu_user_ns: 1,
            cpu_system_ns: 1,
            engine: "psync".to_owned(),
            direct: true,
            monitor_cpu_share: None,
        };
        let job = FioJob {
            target: "x".into(),
            engine: FioEngine::IoUring,
            pattern: FioPattern::Read,
            block_size: Bytes::kib(4),
            span: Bytes::mib(1),
            queue_depth: 1,
            end: FioEnd::Ops(1),
        };
        assert!(check(&result, &job).is_err());
        assert!(check(&EngineResult { direct: false, ..result }, &job).is_err());
    }
}
