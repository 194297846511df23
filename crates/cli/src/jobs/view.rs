//! How far a job is: a line that is drawn over on a terminal, a line for each step elsewhere.

use std::time::Duration;

use cardproof_runner::JobProgress;
use cardproof_workload::jobs::StepSpec;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::talk::Talk;

/// The bar counts in so many parts.
const PARTS: u64 = 1000;

/// Shows the progress of one job.
pub(crate) struct JobView {
    talk: Talk,
    steps: &'static [StepSpec],
    /// On a terminal that can be drawn over only.
    bar: Option<ProgressBar>,
    /// The step that was told of last.
    told: Option<usize>,
}

impl JobView {
    /// A view of a job of `steps`, on standard error.
    pub(crate) fn new(talk: Talk, steps: &'static [StepSpec]) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let is_live = !talk.is_quiet() && !target.is_hidden();
        let bar = is_live.then(|| live_bar(target));
        Self { talk, steps, bar, told: None }
    }

    /// Some time has passed.
    pub(crate) fn progress(&mut self, progress: JobProgress) {
        let JobProgress { step, ops, ops_of, elapsed } = progress;
        let Some(spec) = self.steps.get(step) else { return };
        match &self.bar {
            Some(bar) => {
                bar.set_position(PARTS.min(PARTS * ops / ops_of.max(1)));
                bar.set_message(format!("{}, {elapsed}", spec.name));
            }
            None if self.told != Some(step) => {
                self.talk.note(&format!("  {:<10} {}", spec.name, spec.what));
            }
            None => {}
        }
        self.told = Some(step);
    }

    /// The job is over; what it made is being removed.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn live_bar(target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(PARTS), target);
    // The template is a constant; a fault in it would only cost the bar.
    if let Ok(style) = ProgressStyle::with_template("{bar:20} {percent:>3} %  {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
