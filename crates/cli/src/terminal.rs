//! A session on a terminal: shows its events on standard error and asks its questions there.

use std::io::{self, BufRead};
use std::path::Path;

use cardproof_device::guard::Leave;
use cardproof_record::Record;
use cardproof_runner::Event as OfPhases;
use cardproof_session::{Event, Frontend, Prepared, Question};

use crate::progress::{ProgressView, StepView};
use crate::signals;
use crate::talk::Talk;

/// A session's frontend on standard error, silent with `--quiet`.
pub(crate) struct Terminal {
    talk: Talk,
    /// Phases of a profile, once the first has begun.
    phases: Option<ProgressView>,
    /// Steps of an experiment, once the first has begun.
    steps: Option<StepView>,
    time_guess: cardproof_units::Nanos,
    /// Whether it is said what is about to be done.
    announces: bool,
}

impl Terminal {
    /// One on which nothing was shown yet.
    pub(crate) fn new(talk: Talk) -> Self {
        let time_guess = cardproof_units::Nanos::ZERO;
        Self { talk, phases: None, steps: None, time_guess, announces: true }
    }

    /// One that leaves it to the command to say what is about to be done.
    pub(crate) fn unannounced(talk: Talk) -> Self {
        Self { announces: false, ..Self::new(talk) }
    }

    /// Says what is measured and what will be written, so that nobody waits for the wrong storage.
    fn ready(
        &mut self,
        target: &Path,
        draft: &Record,
        prepared: &Prepared,
        announcement: &[String],
    ) {
        self.time_guess = prepared.effect.time_guess;
        if !self.announces {
            return;
        }
        let whole = target.canonicalize();
        let name = whole.as_deref().unwrap_or(target).display();
        self.talk.note(&format!("Measuring {name}: {}.", cardproof_report::title(draft)));
        announcement.iter().for_each(|sentence| self.talk.note(sentence));
    }

    fn steps(&mut self) -> &mut StepView {
        let talk = self.talk;
        self.steps.get_or_insert_with(|| StepView::new(talk))
    }

    fn phases(&mut self, event: &OfPhases<'_>) {
        let (talk, time) = (self.talk, self.time_guess);
        let view = self.phases.get_or_insert_with(|| ProgressView::new(talk, time));
        match event {
            OfPhases::PhaseStarted { index, count, spec } => {
                view.phase_started(*index, *count, spec);
            }
            OfPhases::Progress(progress) => view.progress(progress),
            OfPhases::PhaseRepeated { first, .. } => view.phase_repeated(first),
            OfPhases::PhaseFinished { phase, .. } => view.phase_finished(phase),
            OfPhases::Checkpoint(_) => {}
        }
    }

    /// Says `sentence` above what shows the progress.
    fn say(&self, sentence: &str) {
        let talk = self.talk;
        match (&self.phases, &self.steps) {
            (Some(phases), _) => phases.aside(|| talk.note(sentence)),
            (None, Some(steps)) => steps.aside(|| talk.note(sentence)),
            (None, None) => talk.note(sentence),
        }
    }
}

/// That no record is kept, and why.
pub(crate) fn not_saved(why: &str) -> String {
    format!("Not saved: {why}.")
}

impl Frontend for Terminal {
    fn tell(&mut self, event: Event<'_>) {
        match event {
            Event::Note(sentence) => self.say(sentence),
            Event::Ready { target, draft, prepared, announcement } => {
                self.ready(target, draft, prepared, announcement);
            }
            Event::Phases(event) => self.phases(event),
            Event::Step { name, deed, done, elapsed } => {
                self.steps().step(name, deed, done, elapsed);
            }
            Event::Part { deed, done, of } => self.steps().part(deed, done, of),
            Event::Saved(_) => {}
            // That is an error, which is told even where nothing else is.
            Event::Unkept(failure) => Talk::new(false).note(&not_saved(&failure.message)),
            Event::Ended => {
                self.phases.iter().for_each(ProgressView::finish);
                self.steps.iter().for_each(StepView::finish);
            }
        }
    }

    fn ask(&mut self, question: Question<'_>) -> Option<String> {
        if !self.talk.can_ask() {
            return None;
        }
        let Question::Identity { refusal, leave } = question;
        self.talk.note(refusal);
        self.talk.note(match leave {
            Leave::Destroy => {
                "To destroy it all the same, type its identity as shown above, then Enter:"
            }
            Leave::Restore => "To test it, type its identity as shown above, then Enter:",
        });
        let mut line = String::new();
        // An answer that cannot be read is none.
        let _ = signals::ending_at_once(|| io::stdin().lock().read_line(&mut line));
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use cardproof_record::ProfileInfo;
    use cardproof_session::{Effect, Identity, blank};
    use cardproof_units::{Nanos, Seed};

    use super::*;

    #[test]
    fn the_bar_knows_its_time_without_an_announcement_too() {
        let identity = Identity {
            id: "1".to_owned(),
            label: None,
            created: "1970-01-01T00:00:00Z".to_owned(),
        };
        let profile = ProfileInfo::untimed("check", 1);
        let draft = blank(profile, Seed::from_bits(1), Default::default(), identity);
        let effect = Effect { time_guess: Nanos::from_secs(45), ..Effect::default() };
        let prepared = Prepared { effect, ..Prepared::default() };
        for mut terminal in [Terminal::new(Talk::new(true)), Terminal::unannounced(Talk::new(true))]
        {
            let target = Path::new(".");
            terminal.tell(Event::Ready {
                target,
                draft: &draft,
                prepared: &prepared,
                announcement: &[],
            });
            assert_eq!(terminal.time_guess, Nanos::from_secs(45));
        }
    }
}
