//! How a run ended, in words.

use cardproof_record::State;

/// How a run in this state ended, where it did not reach its end.
pub(crate) const fn ended(state: &State) -> Option<&'static str> {
    match state {
        State::Complete => None,
        State::Running | State::Partial => Some("interrupted"),
        State::Failed => Some("ended by an error"),
        State::Unknown => Some("perhaps not complete"),
    }
}
