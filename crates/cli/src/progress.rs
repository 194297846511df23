//! How far a run is: two lines that are drawn over on a terminal, plain lines elsewhere.

mod steps;

use std::io;
use std::time::Duration;

use cardproof_rating::{Rate, rate_for_verdicts};
use cardproof_record::{DisturbanceKind, Phase, PhaseState};
use cardproof_report::{columns_of, left};
use cardproof_runner::Progress;
use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use cardproof_workload::{Access, PhaseSpec};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::talk::{self, Talk};

pub(crate) use steps::StepView;

/// The columns of a phase's name, as wide as the longest of the standard profile.
const NAME_COLUMNS: usize = 28;

/// The columns of the bar and the per cent before the text beside them.
const BAR_COLUMNS: usize = 18;

/// Shows the progress of one run.
pub(crate) struct ProgressView {
    talk: Talk,
    /// On a terminal that can be drawn over only.
    bar: Option<ProgressBar>,
    time_budget: Nanos,
    phase: PhaseLine,
}

/// What a line about a phase begins with.
#[derive(Default)]
struct PhaseLine {
    /// Such as ` 3/10`.
    turn: String,
    name: String,
    /// Whether bytes a second tell more of it than operations a second.
    is_sequential: bool,
}

impl ProgressView {
    /// A view of a run of at most `time_budget`, on standard error.
    pub(crate) fn new(talk: Talk, time_budget: Nanos) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let is_live = !talk.is_quiet() && !target.is_hidden();
        let bar = is_live.then(|| live_bar(target, time_budget));
        Self { talk, bar, time_budget, phase: PhaseLine::default() }
    }

    /// A phase begins.
    pub(crate) fn phase_started(&mut self, index: usize, count: usize, spec: &PhaseSpec) {
        self.phase = PhaseLine {
            turn: format!("{:>2}/{count}", index + 1),
            name: title(spec),
            is_sequential: spec.access == Access::Sequential,
        };
        if let Some(bar) = &self.bar {
            bar.set_prefix(self.phase.fitted(&[]));
            bar.tick();
        }
    }

    /// Some time has passed.
    pub(crate) fn progress(&self, progress: &Progress) {
        let Some(bar) = &self.bar else { return };
        bar.set_position(millis(self.time_budget.saturating_sub(progress.time_left)));
        bar.set_prefix(self.phase.fitted(&self.current(progress)));
        bar.set_message(fitted(&still(progress), ", ", columns().saturating_sub(BAR_COLUMNS)));
        bar.tick();
    }

    /// The figures of the last half second.
    fn current(&self, progress: &Progress) -> Vec<String> {
        let Progress { iops, throughput, latency_max, .. } = progress;
        if *latency_max == Nanos::ZERO {
            return vec!["waiting for the storage".to_owned()];
        }
        let mut parts = self.phase.rates(*iops, *throughput);
        parts.push(format!("slowest {latency_max}"));
        parts
    }

    /// A phase was disturbed and is run again.
    pub(crate) fn phase_repeated(&self, first: &Phase) {
        let line = format!("{}  {}", self.phase.start(), repeated(first));
        self.aside(|| self.talk.note(&line));
    }

    /// A phase is over.
    pub(crate) fn phase_finished(&self, phase: &Phase) {
        let line = format!("{}  {}", self.phase.start(), self.outcome(phase));
        self.aside(|| self.talk.note(&line));
    }

    /// What a phase yielded.
    fn outcome(&self, phase: &Phase) -> String {
        match (&phase.state, phase.iops, phase.throughput_bytes_per_s) {
            (PhaseState::NotMeasured { cause }, _, _) => format!("not measured: {cause}"),
            (_, Some(iops), Some(throughput)) => {
                // As in the result: the figure of the verdict, where the phase has one.
                let factor = match rate_for_verdicts(phase).map(|figure| figure.estimate) {
                    Some(Rate::Iops(of_verdict)) => of_verdict.0 / iops.estimate.0,
                    Some(Rate::Throughput(of_verdict)) => of_verdict.0 / throughput.estimate.0,
                    None => 1.0,
                };
                let (iops, throughput) =
                    (Iops(iops.estimate.0 * factor), Throughput(throughput.estimate.0 * factor));
                let rates = self.phase.rates(iops, throughput).join("  ");
                let stopped = if phase.is_measured() { "" } else { "  (stopped early)" };
                format!("{}{stopped}", rates.trim_end())
            }
            _ => "stopped before anything was measured".to_owned(),
        }
    }

    /// Does `tell` while the lines are away.
    pub(crate) fn aside(&self, tell: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }

    /// The run is over.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl PhaseLine {
    fn start(&self) -> String {
        format!("{}  {}", self.turn, left(&self.name, NAME_COLUMNS))
    }

    /// The line with as many of `parts` as the terminal has columns for.
    fn fitted(&self, parts: &[String]) -> String {
        let parts: Vec<String> = [self.start()].iter().chain(parts).cloned().collect();
        fitted(&parts, "  ", columns())
    }

    /// Rates under one another from phase to phase, the one that tells more first; that of large
    /// operations alone.
    fn rates(&self, iops: Iops, throughput: Throughput) -> Vec<String> {
        let throughput = format!("{:>11}", throughput.to_string());
        if self.is_sequential {
            return vec![throughput];
        }
        vec![format!("{:>11}", iops.to_string()), throughput]
    }
}

/// What a phase does, as `compare` calls it: `4 KiB random write, depth 32`.
fn title(spec: &PhaseSpec) -> String {
    let (order, is_random) = match spec.access {
        Access::Sequential => ("sequential", false),
        Access::Random(_) => ("random", true),
    };
    let order = if spec.fsync_every == Some(1) { "synced" } else { order };
    let deed = match spec.read_percent {
        0 => "write",
        100 => "read",
        _ => "mix",
    };
    let depth = match spec.queue_depth {
        depth if is_random && depth > 1 => format!(", depth {depth}"),
        _ => String::new(),
    };
    format!("{} {order} {deed}{depth}", spec.block_size.in_short())
}

fn live_bar(target: ProgressDrawTarget, time_budget: Nanos) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(millis(time_budget)), target);
    // The template is a constant; a fault in it would only cost the bar.
    if let Ok(style) = ProgressStyle::with_template("{prefix}\n{bar:10} {percent:>3} %  {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

fn millis(time: Nanos) -> u64 {
    time.get() / 1_000_000
}

/// That a phase is run again; by how much it was disturbed is in the record.
fn repeated(first: &Phase) -> &'static str {
    match first.disturbances.as_slice() {
        [only] => match only.kind {
            DisturbanceKind::Heat => "again (the processor was too hot)",
            DisturbanceKind::UnderVoltage => "again (the supply voltage was too low)",
            DisturbanceKind::OtherIo => "again (another program used the storage)",
            DisturbanceKind::CpuByOthers => "again (other programs used the processor)",
            DisturbanceKind::ClockChanged | DisturbanceKind::Other => "again (it was disturbed)",
        },
        _ => "again (it was disturbed)",
    }
}

/// The most that the whole run still takes and writes.
fn still(progress: &Progress) -> Vec<String> {
    let seconds = progress.time_left.get().div_ceil(1_000_000_000);
    if seconds == 0 {
        return vec!["finishing".to_owned()];
    }
    let mut parts = vec![format!("at most {seconds} s left")];
    if let Some(bytes) = progress.bytes_to_write_left.filter(|bytes| *bytes > Bytes::ZERO) {
        parts.push(format!("{} MiB to write", bytes.get().div_ceil(1 << 20)));
    }
    parts
}

/// The first of `parts` that fit `columns` together; what does not fit is left out, since a line
/// that wraps cannot be drawn over.
fn fitted(parts: &[String], between: &str, columns: usize) -> String {
    let mut line = String::new();
    for part in parts {
        let gap = if line.is_empty() { "" } else { between };
        if columns_of(&line) + gap.len() + columns_of(part) > columns {
            break;
        }
        line.push_str(gap);
        line.push_str(part);
    }
    line
}

/// The columns that may be drawn in. The last stays free: some terminals wrap once it is filled.
fn columns() -> usize {
    talk::width_of(io::stderr()).saturating_sub(1).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_left_out_whole() {
        let parts = ["phase".to_owned(), "12 IOPS".to_owned(), "3 ms".to_owned()];
        assert_eq!(fitted(&parts, ", ", 80), "phase, 12 IOPS, 3 ms");
        assert_eq!(fitted(&parts, ", ", 14), "phase, 12 IOPS");
        assert_eq!(fitted(&parts, ", ", 13), "phase");
        assert_eq!(fitted(&parts, ", ", 4), "");
    }
}
