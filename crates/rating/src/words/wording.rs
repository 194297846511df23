//! Figures in words, the same in verdicts, advice and every report.

use std::fmt::Display;

use cardproof_facts::Class;
use cardproof_record::{Estimate, Likelihood, Outcome};

use crate::pick::BoundedRate;
use crate::quantity::Rate;

/// A figure with its interval, such as `1480 IOPS (1450 to 1510)`. The confidence of the intervals stands
/// above the table of the phases.
#[must_use]
pub fn figure(figure: &BoundedRate) -> String {
    if is_unbounded(figure) {
        return format!("{} (no interval: two runs that differ are too few)", figure.estimate);
    }
    with_interval(&figure.estimate, &figure.low, &figure.high)
}

/// An interval that reaches further than this multiple of its figure bounds nothing.
const REACH_MAX: f64 = 20.0;

/// Whether the interval of `figure` says nothing, as of two runs that differ.
#[must_use]
pub fn is_unbounded(figure: &BoundedRate) -> bool {
    figure.high.per_second() > REACH_MAX * figure.estimate.per_second()
}

/// A figure alone, or with its interval where that is wider than a tenth of it either way.
#[must_use]
pub fn figure_unless_narrow(figure: &BoundedRate) -> String {
    let [low, value, high] = [figure.low, figure.estimate, figure.high].map(Rate::per_second);
    let is_narrow = (high - value).max(value - low) <= 0.1 * value;
    if is_narrow { figure.estimate.to_string() } else { self::figure(figure) }
}

/// An estimate with its interval, such as `18 MB/s (17.2 to 18.9)`.
#[must_use]
pub fn estimate<Unit: Display>(estimate: &Estimate<Unit>) -> String {
    with_interval(&estimate.estimate, &estimate.low, &estimate.high)
}

fn with_interval(value: &impl Display, low: &impl Display, high: &impl Display) -> String {
    format!("{value} ({})", ends(low, high))
}

/// The ends of an interval without their unit, such as `1450 to 1510`.
#[must_use]
pub fn ends(low: &impl Display, high: &impl Display) -> String {
    format!("{} to {}", bare(low), bare(high))
}

/// The class with its kind, such as `Speed class V6`: beside other letters and digits it is told from a code.
#[must_use]
pub fn class(name: &str) -> String {
    match Class::named(name) {
        Some(class) if class.is_application() => format!("Application class {name}"),
        Some(_) => format!("Speed class {name}"),
        None => name.to_owned(),
    }
}

/// A whole number with its thousands set apart, such as `4,298,753`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share in per cent with at most one decimal: `99 %`, `99.5 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{} %", (share * 1_000.0).round() / 10.0)
}

/// A share in whole per cent: `99 %`.
#[must_use]
pub fn whole_percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A share of lost data in per cent, rounded up to two digits so that no more is claimed than was
/// found: `0.46 %`, `7 %`.
#[must_use]
pub fn percent_of_loss(share: f64) -> String {
    let percent = 100.0 * share;
    let step = if percent >= 10.0 {
        1.0
    } else if percent >= 1.0 {
        0.1
    } else {
        0.01
    };
    format!("{} %", ((percent / step - 1e-9).ceil() * step * 100.0).round() / 100.0)
}

/// A value of one of our units without the unit.
#[must_use]
pub fn bare(value: &impl Display) -> String {
    format!("{value:#}")
}

/// Programs and file systems whose names have no digit and are written small.
const SMALL_NAMES: [&str; 16] = [
    "btrfs",
    "cardproof",
    "dd",
    "exfat",
    "fio",
    "flashbench",
    "hdparm",
    "iostat",
    "iozone",
    "mmc",
    "nvme",
    "sdmon",
    "smartctl",
    "sysbench",
    "vfat",
    "xfs",
];

/// Whether `word` is a name that is written as it is: of a program, a device or a file.
fn is_name(word: &str) -> bool {
    let of_disk = ["sd", "hd", "vd", "xvd"].iter().filter_map(|kind| word.strip_prefix(kind));
    let is_disk = |rest: &str| {
        matches!(rest.len(), 1 | 2) && rest.chars().all(|letter| letter.is_ascii_lowercase())
    };
    SMALL_NAMES.contains(&word)
        || word.contains(|c: char| c.is_ascii_digit() || "/_=`".contains(c))
        || of_disk.into_iter().any(is_disk)
}

/// `words` with a capital at the beginning, unless they begin with a name that has none.
#[must_use]
pub fn sentence(words: &str) -> String {
    let first = words.split([' ', '\'', ',', ':', '.']).next().unwrap_or_default();
    if is_name(first) {
        return words.to_owned();
    }
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Names in a row, such as `C10, U1 and V10`; nothing where there are none.
#[must_use]
pub fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}

/// An outcome in words, such as `cannot be tested here`.
#[must_use]
pub const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Meets => "passed on this computer",
        Outcome::Misses => "not passed on this computer",
        Outcome::Undecided => "undecided",
        Outcome::NotTestable => "cannot be tested here",
        Outcome::Unknown => "judged by a newer version of cardproof",
    }
}

/// What an indication says, in words that no verdict has.
#[must_use]
pub const fn likelihood(likelihood: Likelihood) -> &'static str {
    match likelihood {
        Likelihood::LikelyMeets => "probably passed",
        Likelihood::LikelyMisses => "probably not passed",
        Likelihood::Unclear => "cannot be told",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardproof_units::{Iops, Throughput};

    #[test]
    fn a_name_at_the_beginning_of_a_sentence_stays_as_it_is() {
        for words in
            ["mmcblk0 did not answer", "sdb: no answer", "fio's plain output", "/dev/sda is"]
        {
            assert_eq!(sentence(words), words);
        }
        assert_eq!(sentence("the card"), "The card");
        assert_eq!(sentence("sd cards"), "Sd cards");
        assert_eq!(sentence("reads, 4 KiB"), "Reads, 4 KiB");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn an_estimate_is_printed_with_its_interval() {
        let iops = Estimate {
            estimate: Iops(1480.2),
            low: Iops(1450.0),
            high: Iops(1510.0),
            confidence: 0.99,
        };
        assert_eq!(estimate(&iops), "1480 IOPS (1450 to 1510)");
        let rate = Estimate {
            estimate: Throughput(9.84e6),
            low: Throughput(0.9e6),
            high: Throughput(20e6),
            confidence: 0.995,
        };
        assert_eq!(estimate(&rate), "9.8 MB/s (0.90 to 20)");
    }
}
