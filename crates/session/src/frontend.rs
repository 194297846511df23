//! The other side of a session: whoever hears what happens and answers questions.

use std::path::Path;

use cardproof_device::guard::Leave;
use cardproof_record::Record;
use cardproof_units::Nanos;

use crate::announcement::Prepared;
use crate::failure::Failure;

/// What happens in a session.
#[derive(Debug)]
pub enum Event<'a> {
    /// A sentence that the user should read.
    Note(&'a str),
    /// The target is open and its surroundings are known; nothing was written yet.
    Ready {
        /// The target as the user named it.
        target: &'a Path,
        /// The record as it stands, without any figures.
        draft: &'a Record,
        /// What the experiment is about to do.
        prepared: &'a Prepared,
        /// The same in words, one sentence each, for those who decide whether it may begin.
        announcement: &'a [String],
    },
    /// Phases of a profile run, begin and end. Its checkpoints do not come here; see
    /// [`Saved`](Self::Saved).
    Phases(&'a cardproof_runner::Event<'a>),
    /// An experiment does one of its steps.
    Step {
        /// Its name.
        name: &'a str,
        /// What it does, in words.
        deed: &'a str,
        /// The share of the whole experiment that is done, 0 to 1.
        done: f64,
        /// The time since the experiment's start.
        elapsed: Nanos,
    },
    /// A part of the experiment is done.
    Part {
        /// What was done to it, such as `replayed`.
        deed: &'a str,
        /// So much, in any unit.
        done: u64,
        /// Of so much.
        of: u64,
    },
    /// A record was saved.
    Saved(&'a Record),
    /// No record of this session will be kept, and why; it goes on without.
    Unkept(&'a Failure),
    /// Nothing is measured any more; what was made is being removed.
    Ended,
}

/// A question that only the user can answer.
#[derive(Debug)]
pub enum Question<'a> {
    /// The target holds something and is destroyed only if its identity is given.
    Identity {
        /// Why it is refused without, with the identity to give.
        refusal: &'a str,
        /// What it asks leave for.
        leave: Leave,
    },
}

/// Hears what happens and answers questions. Its calls come while storage is measured, so they
/// must be quick, but for a question.
pub trait Frontend {
    /// Takes note of `event`.
    fn tell(&mut self, event: Event<'_>);

    /// The answer to `question`, empty where the user gave none; `None` where nobody can be asked,
    /// as by default.
    fn ask(&mut self, question: Question<'_>) -> Option<String> {
        let _ = question;
        None
    }

    /// Tells a sentence that the user should read.
    fn note(&mut self, sentence: &str) {
        self.tell(Event::Note(sentence));
    }
}

/// A frontend that does not listen and cannot be asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Frontend for Silent {
    fn tell(&mut self, _event: Event<'_>) {}
}
