//! What the classes of SD cards say of storage that is none: how fast it is, and not which class it has.

use cardproof_rating::wording;
use cardproof_record::Outcome;

use crate::wrap::sentence;

/// Whether storage is as fast as a class asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// That is not certain.
    Perhaps,
}

/// What the verdict on `classes` came to: `A1: passed on this computer`, or of storage that is no card `As fast as A1
/// asks`.
pub(crate) fn verdict_in_words(classes: &[&str], outcome: Outcome, is_card: bool) -> String {
    let reached = match outcome {
        Outcome::Meets => Reached::Yes,
        Outcome::Misses => Reached::No,
        Outcome::Undecided => Reached::Perhaps,
        Outcome::NotTestable | Outcome::Unknown => {
            return format!("{}: {}", wording::list(classes), wording::outcome(outcome));
        }
    };
    if is_card {
        return format!("{}: {}", wording::list(classes), wording::outcome(outcome));
    }
    sentence(&as_yardstick(classes, reached))
}

/// How fast storage that is no SD card is beside `classes`, such as `as fast as A2 and V30 ask`.
pub(crate) fn as_yardstick(classes: &[&str], reached: Reached) -> String {
    let comparison = match reached {
        Reached::Yes => "as fast as",
        Reached::No => "slower than",
        Reached::Perhaps => "perhaps as fast as",
    };
    let verb = if classes.len() == 1 { "asks" } else { "ask" };
    format!("{comparison} {} {verb}", wording::list(classes))
}
