//! How far an experiment in steps is: a line that is drawn over on a terminal, a line for each step elsewhere.

use std::time::{Duration, Instant};

use cardproof_report::beginning;
use cardproof_units::Nanos;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::columns;
use crate::talk::Talk;

/// How often a long step is told of where lines are not drawn over.
const AGAIN: Duration = Duration::from_secs(30);

/// The columns of the bar and the per cent before the text beside them.
const BAR_COLUMNS: usize = 28;

/// The bar counts in so many parts.
const PARTS: u64 = 1000;

/// Shows the progress of an experiment that goes in steps.
pub(crate) struct StepView {
    talk: Talk,
    /// On a terminal that can be drawn over only.
    bar: Option<ProgressBar>,
    /// The step that was told of last, and when.
    told: Option<(String, Instant)>,
}

impl StepView {
    /// A view on standard error.
    pub(crate) fn new(talk: Talk) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let is_live = !talk.is_quiet() && !target.is_hidden();
        let bar = is_live.then(|| live_bar(target));
        Self { talk, bar, told: None }
    }

    /// The step called `name`, which does `deed`, is under way: the share `done` of all steps, 0 to
    /// 1, after `elapsed`.
    pub(crate) fn step(&mut self, name: &str, deed: &str, done: f64, elapsed: Nanos) {
        match &self.bar {
            Some(bar) => {
                bar.set_position((PARTS as f64 * done.clamp(0.0, 1.0)) as u64);
                let what = if deed.is_empty() { name } else { deed };
                bar.set_message(fitting(&in_time(what, elapsed), columns()));
            }
            None if self.is_due(name) => {
                self.talk.note(&format!("  {name:<10} {deed}"));
                self.told = Some((name.to_owned(), Instant::now()));
            }
            None => {}
        }
    }

    /// Of a part that does `deed`, `done` of `of` is over: where lines are not drawn over, a line as it begins and one
    /// now and then.
    pub(crate) fn part(&mut self, deed: &str, done: u64, of: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(
                (PARTS as f64 * (done as f64 / of.max(1) as f64).clamp(0.0, 1.0)) as u64,
            );
            bar.set_message(fitting(deed, columns()));
            return;
        }
        if self.is_due(deed) {
            let percent = u128::from(done) * 100 / u128::from(of.max(1));
            self.talk.note(&match percent {
                0 => format!("  {deed}"),
                percent => format!("  {deed}: {percent} %"),
            });
            self.told = Some((deed.to_owned(), Instant::now()));
        }
    }

    fn is_due(&self, name: &str) -> bool {
        let is_same = |(told, at): &(String, Instant)| told == name && at.elapsed() < AGAIN;
        !self.told.as_ref().is_some_and(is_same)
    }

    /// Does `tell` while the line is away.
    pub(crate) fn aside(&self, tell: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }

    /// The last step is over; what it made is being removed.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for StepView {
    fn drop(&mut self) {
        self.finish();
    }
}

/// `what` with the time that it has taken.
fn in_time(what: &str, elapsed: Nanos) -> String {
    format!("{what} ({} so far)", elapsed.in_whole_seconds())
}

/// As much of `text` as stands beside the bar: a line that wraps cannot be drawn over.
fn fitting(text: &str, columns: usize) -> String {
    beginning(text, columns.saturating_sub(BAR_COLUMNS)).to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_seconds() {
        let shown = in_time("writing, 3 s left", Nanos::from_millis(1_280));
        assert_eq!(shown, "writing, 3 s left (2 s so far)");
    }

    #[test]
    fn a_long_step_stays_in_its_line() {
        let text = "cycle 12 writes 40 %, 0.000 % bad, 9.2 GB written, 40 MB/s, 31 h 39 min";
        let shown = fitting(text, 79);
        assert_eq!(shown.chars().count() + BAR_COLUMNS, 79);
        assert!(text.starts_with(&shown));
        assert_eq!(fitting("short", 79), "short");
    }
}
