//! The figures that a run has in the units of the tool whose method it followed.

use cardproof_rating::compare::Shape;
use cardproof_record::{Figure, Phase, Record, WarningCode};
use cardproof_units::Bytes;

use crate::clean::one_line;

/// A million bytes.
const MEGABYTE: f64 = 1e6;

/// 2^20 bytes, which some tools call MB.
const MEBIBYTE: f64 = 1_048_576.0;

/// What stands over them in every report.
pub(crate) fn heading(record: &Record) -> &'static str {
    if record.is_imported() { "As the tool printed it" } else { "As the tools would print it" }
}

/// The figures of `record`, one line each.
pub(crate) fn figures(record: &Record) -> Vec<String> {
    let test = |figure: &Figure| {
        name_of(figure, record).or_else(|| test_of(figure, record)).unwrap_or_default()
    };
    // A score that sums up others comes first.
    let is_score = |figure: &&Figure| !record.is_imported() && figure.phases.is_empty();
    let (scores, others): (Vec<&Figure>, Vec<&Figure>) = record.figures.iter().partition(is_score);
    let figures = scores.into_iter().chain(others);
    figures.map(|figure| line(figure, &test(figure)) + note(figure, &record.phases)).collect()
}

/// The one test that another tool's `figure` is of, which its name does not tell.
fn test_of(figure: &Figure, record: &Record) -> Option<String> {
    let [name] = figure.phases.as_slice() else { return None };
    let phase = record.phases.iter().find(|phase| phase.name == *name)?;
    let is_known = record.is_imported() && phase.block_size_bytes > Bytes::ZERO;
    let is_buffered = phase.warnings.iter().any(|it| it.code == WarningCode::Buffered);
    let how = if is_buffered { ", through the page cache" } else { "" };
    is_known.then(|| format!("{}{how}: ", Shape::from_phase(phase)))
}

/// The name of the one test that `figure` is of, where nothing else tells it from figures of others.
fn name_of(figure: &Figure, record: &Record) -> Option<String> {
    let [name] = figure.phases.as_slice() else { return None };
    let is_other = |it: &Figure| {
        it.name == figure.name
            && it.tool == figure.tool
            && it.phases != figure.phases
            && test_of(it, record) == test_of(figure, record)
    };
    record.figures.iter().any(is_other).then(|| format!("{}: ", one_line(name)))
}

/// What must be known of `figure` before it is held against a tool's.
fn note(figure: &Figure, phases: &[Phase]) -> &'static str {
    let lacks_cache = |phase: &Phase| {
        phase.warnings.iter().any(|warning| warning.code == WarningCode::NoPageCache)
    };
    let mut of_figure = phases.iter().filter(|phase| figure.phases.contains(&phase.name));
    if of_figure.any(lacks_cache) {
        return " - not comparable: no page cache here";
    }
    // A sum names no phases; its terms are the other figures.
    if figure.phases.is_empty() && phases.iter().any(lacks_cache) {
        return " - not comparable: a part of it has no page cache here";
    }
    ""
}

fn line(figure: &Figure, test: &str) -> String {
    let Figure { name, tool, value, unit, .. } = figure;
    let (tool, name) = (one_line(tool), one_line(name));
    let own = format!("{tool}: {test}{name}: {} {}", number(*value), one_line(unit));
    match (figure.unit_bytes_per_s, figure.bytes_per_s()) {
        // A unit that is what it says needs no translation.
        (Some(MEGABYTE), _) | (None, _) | (_, None) => own,
        (Some(unit_bytes), Some(bytes)) => {
            let is_binary = if unit_bytes == MEBIBYTE && unit.starts_with("MB") {
                "; this tool's MB is MiB"
            } else {
                ""
            };
            format!("{own} ({} MB/s{is_binary})", number(bytes / MEGABYTE))
        }
    }
}

/// A number with as many digits as tools print: at least three, and all before the point.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        small if small < 10.0 => 2,
        middle if middle < 1000.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use cardproof_record::{OpName, PatternName, Warning};

    use super::*;

    fn figure(value: f64, unit: &str, unit_bytes_per_s: Option<f64>) -> Figure {
        Figure {
            name: "write 4k".to_owned(),
            tool: "iozone".to_owned(),
            value,
            unit: unit.to_owned(),
            unit_bytes_per_s,
            phases: Vec::new(),
        }
    }

    #[test]
    fn a_unit_that_misleads_is_translated() {
        let cases = [
            (figure(4813.4, "kB/s", Some(1024.0)), "iozone: write 4k: 4813 kB/s (4.93 MB/s)"),
            (
                figure(20.21, "MB/sec", Some(1_048_576.0)),
                "iozone: write 4k: 20.2 MB/sec (21.2 MB/s; this tool's MB is MiB)",
            ),
            (figure(19.3, "MB/s", Some(1e6)), "iozone: write 4k: 19.3 MB/s"),
            (figure(1151.2, "points", None), "iozone: write 4k: 1151 points"),
        ];
        for (figure, wanted) in cases {
            assert_eq!(line(&figure, ""), wanted);
        }
    }

    #[test]
    fn a_figure_without_the_page_cache_that_it_is_about_says_so() {
        let begun =
            |name: &str| Phase::begun(name.to_owned(), OpName::Write, PatternName::Sequential);
        let mut phases = [begun("dd"), begun("direct")];
        let of = |phases: Vec<&str>| Figure {
            phases: phases.into_iter().map(str::to_owned).collect(),
            ..figure(1.0, "MB/s", None)
        };
        assert_eq!(note(&of(vec!["dd"]), &phases), "");
        let message = String::new();
        phases[0].warnings.push(Warning::stated(WarningCode::NoPageCache, message));
        assert!(note(&of(vec!["dd"]), &phases).contains("not comparable"));
        assert!(note(&of(Vec::new()), &phases).contains("a part of it"));
        assert_eq!(note(&of(vec!["direct"]), &phases), "");
    }

    #[test]
    fn a_name_cannot_break_the_line() {
        let figure = Figure { name: "a\nb\u{1b}[1m".to_owned(), ..figure(1.0, "s", None) };
        assert!(!line(&figure, "").contains(['\n', '\u{1b}']));
    }
}
