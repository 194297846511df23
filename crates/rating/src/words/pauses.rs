//! Pauses in sentences: how long a program waits while the storage finishes nothing.

use crate::meaning::{FeltPauses, LongOperation, OtherCause, PausesFound};
use crate::pauses::FELT_PAUSE;

const WHAT_A_PAUSE_IS: &str = "In a pause, the storage finishes no operation.";

/// What was found, and what it means.
pub(super) fn in_words(found: &PausesFound) -> (String, String) {
    match found {
        PausesFound::CannotShow => ("No phase is able to show pauses.".to_owned(), String::new()),
        PausesFound::NoRatesOverTime { longest } => {
            let longest = longest
                .map_or(String::new(), |longest| format!("; the longest operation took {longest}"));
            let none =
                format!("The record has no rates over time, which would show pauses{longest}.");
            (none, String::new())
        }
        PausesFound::NoneFelt { long, has_written } => none_felt(long.as_ref(), *has_written),
        PausesFound::Felt(found) => felt(found),
    }
}

fn none_felt(long: Option<&LongOperation>, has_written: bool) -> (String, String) {
    let beside = long.map_or_else(String::new, beside);
    let where_it_was = long.filter(|found| found.is_unusual()).map_or_else(String::new, place);
    let none = format!("No pause of {FELT_PAUSE} or more{beside}.");
    if has_written {
        let comparison = format!(
            "{WHAT_A_PAUSE_IS}{where_it_was} The SD specification allows a card to be busy for up to \
             {FELT_PAUSE}."
        );
        (none, comparison)
    } else {
        (format!("{none} Pauses occur during writes, and this run only read."), String::new())
    }
}

/// The end of a sentence that tells a long operation: the table beside shows it, and it was no pause, since others
/// finished meanwhile or all operations there take long.
fn beside(long: &LongOperation) -> String {
    if long.depth > 1 {
        // The others end meanwhile, so that it is no pause.
        return format!("; at depth {}, one request took {}", long.depth, long.longest);
    }
    format!("; the longest operation took {}", long.longest)
}

/// A sentence on where it was.
fn place(long: &LongOperation) -> String {
    format!(" The longest operation was in {}, where {} is usual.", long.phase, long.usual)
}

fn felt(found: &FeltPauses) -> (String, String) {
    let FeltPauses { count, longest, phase: name, longer, share, cause } = found;
    let (longer, where_it_was) =
        longer.as_ref().map(|found| (beside(found), place(found))).unwrap_or_default();
    let finding = match count {
        0 => format!("All operations are slow: one took {longest} (in {name})."),
        1 => format!("There was 1 pause of {FELT_PAUSE} or more: {longest} (in {name}){longer}."),
        count => format!(
            "There were {count} pauses of {FELT_PAUSE} or more. The longest was {longest} (in {name}){longer}."
        ),
    };
    let stop = "Programs that wait for the storage stop for that time.";
    let comparison = match count {
        0 => stop.to_owned(),
        _ => format!("{WHAT_A_PAUSE_IS} {stop}{where_it_was}"),
    };
    let stood = share.map_or_else(String::new, |share| {
        format!(" In one test the storage stood still for {:.0} % of the time.", 100.0 * share)
    });
    let cause = match cause {
        Some(OtherCause::Processor) => {
            " The processor was busy at that time, so the storage may not be the cause."
        }
        Some(OtherCause::OtherPrograms) => {
            " Other programs disturbed these tests, so the storage may not be the cause."
        }
        None => "",
    };
    (format!("{finding}{stood}{cause}"), comparison)
}
