//! Why a value of wear cannot be true, and what the days left rest on.

use cardproof_evidence::health::{DaysBasis, Implausible};

/// Why a value cannot be true: what follows the value's name, or stands for itself.
#[must_use]
pub fn implausible(reason: &Implausible) -> String {
    match reason {
        Implausible::Rejected(reason) => reason.clone(),
        Implausible::NoNumber(number) => format!("{number} is no number of anything"),
        Implausible::AllBitsSet(number) => {
            format!("{number} is a field with all bits set: the card has not filled it")
        }
        Implausible::Above { percent, most } => format!("{percent} % is above {most} %"),
        Implausible::Order { small: (small, less), large: (large, more) } => {
            format!("{small} is {less} and {large} is {more}, which contradict each other")
        }
        Implausible::Sum { used, left } => {
            format!("{used} % used and {left} % left contradict each other")
        }
        Implausible::Healed { from, to } => format!("went from {from} to {to}: wear does not heal"),
        Implausible::TooFast { from, to, seconds } => {
            format!("went from {from} to {to} within {seconds:.0} s: no card wears so fast")
        }
    }
}

/// What days left rest on, or why they are not known, in a clause.
#[must_use]
pub const fn days_basis(basis: DaysBasis) -> &'static str {
    match basis {
        DaysBasis::NoValue => "the device reports no usable wear value",
        DaysBasis::UsedUp => "its rated life is used up. It may still work; replace it",
        DaysBasis::NothingRead => "no wear value could be read",
        DaysBasis::SeveralDevices => "the readings are of several devices; give those of one",
        DaysBasis::Undated => {
            "the readings have no date; set the dates of their files to the days of the readings \
             (touch -d 2024-01-31 FILE)"
        }
        DaysBasis::OneReading => "there is one reading, and the pace needs two, days apart",
        DaysBasis::OneDay => "all readings are of one day, and the pace needs two, days apart",
        DaysBasis::Contradictory => {
            "the readings contradict each other: the used life does not grow evenly"
        }
        DaysBasis::Unchanged => "the used life has not changed: the card wears too slowly to tell",
        DaysBasis::Pace => "at the pace between the readings, if it stays",
        DaysBasis::OneBand => {
            "the used life has stayed in one band, so there is a lower bound only"
        }
    }
}
