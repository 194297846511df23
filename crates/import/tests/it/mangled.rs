//! Outputs that were cut, mixed up, spliced or hit by a bit flip: a record whose figures all stand
//! in the text, or an error with a line that the text has, and never a panic.

use cardproof_import::{ForeignTool, ImportError, Imported, import};
use cardproof_record::Record;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{all_of, fixture, fixture_names, origin};

/// Figures that are computed, from those that stand in the text.
const COMPUTED: &str = "score";

/// All numbers that stand in `text`, with groups of three parted by commas or points as one number too.
fn numbers(text: &str) -> Vec<f64> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let whole = |number: &str| {
        let groups: Vec<&str> = number.split([',', '.']).collect();
        let is_grouped = groups.len() > 1 && groups[1..].iter().all(|group| group.len() == 3);
        is_grouped.then(|| groups.concat().parse().ok()).flatten()
    };
    let grouped = text.split(|c| !is_part(c)).filter_map(whole);
    text.split(|c| !is_part(c))
        .map(|number| number.trim_matches(['.', ',']))
        .flat_map(|number| [number.replace(',', "."), number.replace(',', " ")])
        .flat_map(|number| number.split(' ').map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|number| number.parse().ok())
        .chain(grouped)
        .collect()
}

fn figures(record: &Record) -> Vec<(String, f64)> {
    let printed = record.figures.iter().filter(|figure| figure.name != COMPUTED);
    printed.map(|figure| (figure.name.clone(), figure.value)).collect()
}

/// What any text at all must come to.
fn check(text: &str, result: Result<Imported, ImportError>) -> Result<(), TestCaseError> {
    let lines = text.lines().count().max(1);
    match result {
        Ok(found) => {
            let known = numbers(text);
            found.records.iter().try_for_each(|record| check_record(record, &known))?;
            found.refused.iter().try_for_each(|error| check_line(error, lines))?;
            for run in found.skipped {
                prop_assert!(run.first <= run.last && run.last <= lines && run.count > 0);
            }
            Ok(())
        }
        Err(error) => check_line(&error, lines),
    }
}

fn check_record(record: &Record, known: &[f64]) -> Result<(), TestCaseError> {
    for (name, value) in figures(record) {
        prop_assert!(known.contains(&value), "{name} {value} is not in the text");
    }
    for phase in &record.phases {
        let rates =
            [phase.point_iops().map(|iops| iops.0), phase.point_throughput().map(|rate| rate.0)];
        for rate in rates.into_iter().flatten() {
            prop_assert!(rate.is_finite() && rate >= 0.0, "{}: {rate}", phase.name);
        }
        prop_assert!((phase.iops, phase.throughput_bytes_per_s) == (None, None));
    }
    prop_assert!(Record::from_json(&record.to_json().unwrap()).is_ok());
    Ok(())
}

fn check_line(error: &ImportError, lines: usize) -> Result<(), TestCaseError> {
    let line = match error {
        ImportError::Unexpected { line, .. }
        | ImportError::Ends { line, .. }
        | ImportError::Claim { line, .. }
        | ImportError::Contradiction { line, .. } => *line,
        ImportError::Unrecognised
        | ImportError::NoFault { .. }
        | ImportError::TooMany { .. }
        | ImportError::NoSuchTool { .. } => 1,
    };
    prop_assert!((1..=lines).contains(&line), "{error}, of {lines} lines");
    Ok(())
}

fn check_all(text: &str) -> Result<(), TestCaseError> {
    check(text, all_of(text))?;
    for tool in ForeignTool::ALL {
        check(text, import(text, Some(*tool), &origin()))?;
    }
    Ok(())
}

/// One output.
fn any_output() -> impl Strategy<Value = String> {
    proptest::sample::select(fixture_names()).prop_map(|name| fixture(&name))
}

fn cut(text: &str, at: Index) -> String {
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    text[..*at.get(&ends)].to_owned()
}

fn swapped(text: &str, a: Index, b: Index) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let (a, b) = (a.index(lines.len()), b.index(lines.len()));
    lines.swap(a, b);
    lines.join("\n")
}

fn without(text: &str, at: Index) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.remove(at.index(lines.len()));
    lines.join("\n")
}

fn flipped(text: &str, at: Index, bit: u8) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = at.index(bytes.len());
    bytes[at] ^= 1 << bit;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The beginning of one text and the end of another.
fn spliced(first: &str, second: &str, until: Index, from: Index) -> String {
    let (first, second): (Vec<&str>, Vec<&str>) =
        (first.lines().collect(), second.lines().collect());
    let (until, from) = (until.index(first.len()), from.index(second.len()));
    [&first[..until], &second[from..]].concat().join("\n")
}

/// The properties, each with so many texts.
macro_rules! properties {
    ($cases:literal $(, #[$mark:meta])?) => {
        use super::*;

        proptest! {
            #![proptest_config(ProptestConfig { cases: $cases, ..ProptestConfig::default() })]

            #[test]
            $(#[$mark])?
            fn cut_anywhere(text in any_output(), at: Index) {
                check_all(&cut(&text, at))?;
            }

            #[test]
            $(#[$mark])?
            fn lines_in_another_order(text in any_output(), a: Index, b: Index) {
                check_all(&swapped(&text, a, b))?;
            }

            #[test]
            $(#[$mark])?
            fn a_line_missing(text in any_output(), at: Index) {
                check_all(&without(&text, at))?;
            }

            #[test]
            $(#[$mark])?
            fn a_bit_flipped(text in any_output(), at: Index, bit in 0_u8..8) {
                check_all(&flipped(&text, at, bit))?;
            }

            #[test]
            $(#[$mark])?
            fn two_outputs_spliced(
                a in any_output(),
                b in any_output(),
                until: Index,
                from: Index,
            ) {
                check_all(&spliced(&a, &b, until, from))?;
            }

            #[test]
            $(#[$mark])?
            fn anything_at_all(text in "\\PC*") {
                check_all(&text)?;
            }
        }
    };
}

mod some {
    properties!(100);
}

mod many {
    properties!(400, #[ignore = "hundreds of texts, each read by every reader; nightly"]);
}
