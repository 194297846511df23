//! How far a run is: two lines that are drawn over on a terminal, plain lines elsewhere.

use std::io::{self, IsTerminal};
use std::time::Duration;

use cardproof_record::{Phase, PhaseState};
use cardproof_runner::Progress;
use cardproof_units::{Bytes, Nanos};
use cardproof_workload::PhaseSpec;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::talk::Talk;

/// Shows the progress of one run.
pub(crate) struct ProgressView {
    talk: Talk,
    /// On a terminal only.
    bar: Option<ProgressBar>,
    time_budget: Nanos,
    phase: String,
}

impl ProgressView {
    /// A view of a run of at most `time_budget`, on standard error.
    pub(crate) fn new(talk: Talk, time_budget: Nanos) -> Self {
        let is_live = !talk.is_quiet() && io::stderr().is_terminal();
        Self {
            talk,
            bar: is_live.then(|| live_bar(time_budget)),
            time_budget,
            phase: String::new(),
        }
    }

    /// A phase begins.
    pub(crate) fn phase_started(&mut self, index: usize, count: usize, spec: &PhaseSpec) {
        self.phase = format!("[{}/{count}] {}", index + 1, spec.name);
        match &self.bar {
            Some(bar) => {
                bar.set_message(self.phase.clone());
                bar.tick();
            }
            None => self.talk.note(&self.phase),
        }
    }

    /// Some time has passed.
    pub(crate) fn progress(&self, progress: &Progress) {
        let Some(bar) = &self.bar else { return };
        bar.set_position(millis(self.time_budget.saturating_sub(progress.time_left)));
        bar.set_message(format!("{}\n{}", self.phase, figures(progress)));
        bar.tick();
    }

    /// A phase is over.
    pub(crate) fn phase_finished(&self, phase: &Phase) {
        let line = outcome(phase);
        match &self.bar {
            Some(bar) => bar.println(format!("{}  {line}", self.phase)),
            None => self.talk.note(&format!("  {line}")),
        }
    }

    /// The run is over.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn live_bar(time_budget: Nanos) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(10);
    let bar = ProgressBar::with_draw_target(Some(millis(time_budget)), target);
    // The template is a constant; a fault in it would only cost the bar.
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

fn millis(time: Nanos) -> u64 {
    time.get() / 1_000_000
}

/// What is going on, in fewer than 80 columns.
fn figures(progress: &Progress) -> String {
    let Progress { iops, throughput, latency_max, time_left, bytes_to_write_left } = progress;
    let seconds = time_left.get().div_ceil(1_000_000_000);
    let still = match bytes_to_write_left {
        Some(bytes) if *bytes > Bytes::ZERO => {
            format!(", {} MiB to write", bytes.get().div_ceil(1 << 20))
        }
        _ => String::new(),
    };
    format!("{iops}, {throughput}, longest {latency_max}; at most {seconds} s{still} left")
}

/// What a phase yielded, in a line.
fn outcome(phase: &Phase) -> String {
    match (&phase.state, phase.iops, phase.throughput_bytes_per_s) {
        (PhaseState::NotMeasured { cause }, _, _) => format!("not measured: {cause}"),
        (_, Some(iops), Some(throughput)) => {
            let stopped = if phase.is_measured() { "" } else { " (stopped early)" };
            format!("{}, {}{stopped}", iops.estimate, throughput.estimate)
        }
        _ => "stopped before anything was measured".to_owned(),
    }
}
