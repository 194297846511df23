//! Compared setups in words: a list for each job, and what to make of it.

use cardproof_rating::{ratio_in_words, setup_advice};
use cardproof_record::{ComparedSetups, Record, SetupComparison, SetupResult};

use crate::clean::one_line;

/// A heading and what stands under it, item by item.
pub(crate) type List = (String, Vec<String>);

/// The setups that `record` compares, in lists; empty where it compares none.
pub(crate) fn setups(record: &Record) -> Vec<List> {
    let Some(setups) = record.setups() else { return Vec::new() };
    let measured = setups.comparisons.iter().filter(|comparison| comparison.has_figures());
    let mut lists: Vec<List> = measured.flat_map(of_comparison).collect();
    if !setups.not_tried.is_empty() {
        lists.push(("Not tried".to_owned(), not_tried(setups)));
    }
    lists
}

/// Each comparison: its title, what to make of it, and the rate of each setup.
pub(crate) fn briefly(record: &Record) -> Vec<Vec<String>> {
    let Some(setups) = record.setups() else { return Vec::new() };
    let measured = setups.comparisons.iter().filter(|comparison| comparison.has_figures());
    let lines = |comparison: &SetupComparison| {
        let title = one_line(&format!("{}:", comparison.title));
        let results = comparison.results.iter().map(result);
        std::iter::once(title).chain(conclusion(comparison)).chain(results).collect()
    };
    let mut briefly: Vec<Vec<String>> = measured.map(lines).collect();
    if !setups.not_tried.is_empty() {
        let heading = "Not tried:".to_owned();
        briefly.push(std::iter::once(heading).chain(not_tried(setups)).collect());
    }
    briefly
}

/// What to make of the compared setups of `record`, in a sentence or more.
pub(crate) fn headline(record: &Record) -> String {
    let Some(setups) = record.setups() else { return String::new() };
    let told = |comparison: &SetupComparison| {
        let title = one_line(&comparison.title);
        let conclusion = conclusion(comparison).into_iter();
        conclusion.map(move |it| format!("{title}: {it}")).collect::<Vec<_>>()
    };
    setups.comparisons.iter().flat_map(told).collect::<Vec<_>>().join(" ")
}

fn not_tried(setups: &ComparedSetups) -> Vec<String> {
    let sentence = |setup: &str, reason: &str| one_line(&format!("{setup}: {reason}."));
    setups.not_tried.iter().map(|not_tried| sentence(&not_tried.setup, &not_tried.reason)).collect()
}

/// A list for each job, and the conclusion.
fn of_comparison(comparison: &SetupComparison) -> Vec<List> {
    let title = one_line(&comparison.title);
    let of_job = |(job, deed): (&str, &str)| {
        let results = comparison.of_job(job).map(result);
        (one_line(&format!("{title}: {deed}")), results.collect())
    };
    let mut lists: Vec<List> = comparison.jobs().into_iter().map(of_job).collect();
    let mut conclusion = conclusion(comparison);
    conclusion.push(format!(
        "Ratios are to {}, of pairs run in turns, with intervals of {:.0} %.",
        one_line(&comparison.baseline),
        100.0 * comparison.confidence
    ));
    lists.push((format!("{title}: conclusion"), conclusion));
    lists
}

/// What to make of `comparison`, or why nothing is to be made of it.
fn conclusion(comparison: &SetupComparison) -> Vec<String> {
    let doubts = comparison.doubts.iter();
    let doubts = doubts.map(|doubt| format!("No advice, because of a doubt: {doubt}."));
    doubts.chain(setup_advice(comparison)).map(|sentence| one_line(&sentence)).collect()
}

/// A setup with its rate and how many times as fast that is.
fn result(result: &SetupResult) -> String {
    let figure = match (result.mean, &result.not_measured) {
        (None, Some(cause)) => format!("not measured: {cause}"),
        (None, None) => "not run".to_owned(),
        (Some(mean), _) => format!("{}{}", rate(mean, &result.unit), ratio(result)),
    };
    one_line(&format!("{}: {figure}", result.setup))
}

/// A rate in its unit; the time of a whole job where that says more.
fn rate(mean: f64, unit: &str) -> String {
    if unit == "jobs/s" { format!("{:.1} s", 1.0 / mean) } else { format!("{mean:.0} {unit}") }
}

fn ratio(result: &SetupResult) -> String {
    match result.ratio {
        None => String::new(),
        Some(ratio) => format!(", {}", ratio_in_words(ratio)),
    }
}

#[cfg(test)]
mod tests {
    use cardproof_record::{
        ProfileInfo, SetupNotTried, SetupRatio, SetupUse, Tool, Trial, Warning, WarningCode,
    };

    use super::*;

    fn result_of(setup: &str, mean: Option<f64>, ratio: Option<SetupRatio>) -> SetupResult {
        SetupResult {
            setup: setup.to_owned(),
            job: "fsync-4k".to_owned(),
            deed: "4 KiB writes, fsync after each".to_owned(),
            unit: "writes/s".to_owned(),
            rates: mean.into_iter().collect(),
            mean,
            ratio,
            not_measured: mean.is_none().then(|| "no room".to_owned()),
            costs: "its price".to_owned(),
            fit_for: SetupUse::Anything,
        }
    }

    fn record(doubts: Vec<Warning>) -> Record {
        let twice = SetupRatio { estimate: 2.0, low: 1.9, high: 2.1 };
        let comparison = SetupComparison {
            title: "File systems".to_owned(),
            baseline: "ext4".to_owned(),
            confidence: 0.95,
            results: vec![
                result_of("ext4", Some(35.0), None),
                result_of("f2fs", Some(71.0), Some(twice)),
                result_of("vfat", None, None),
            ],
            doubts,
        };
        let not_tried =
            vec![SetupNotTried { setup: "nilfs2".to_owned(), reason: "no tool".to_owned() }];
        let setups =
            ComparedSetups { rounds: 4, ground: None, comparisons: vec![comparison], not_tried };
        let tool = Tool { name: "cardproof".to_owned(), version: "1".to_owned() };
        let profile = ProfileInfo::untimed("compare-setups", 1);
        let begun = Record::begun("id".to_owned(), "2026-01-01".to_owned(), tool, profile);
        Record { trial: Some(Trial::Setups(setups)), ..begun }
    }

    #[test]
    fn every_report_has_each_setup_and_what_was_not_tried() {
        let record = record(Vec::new());
        let html = crate::html(&record, &[]).unwrap();
        for text in [crate::summary(&record, &[], 100, false), crate::markdown(&record, &[]), html]
        {
            for said in ["71 writes/s, 2.00 times", "vfat", "no room", "nilfs2", "as fast as ext4"]
            {
                assert!(text.contains(said), "{said} is not in {text}");
            }
        }
    }

    #[test]
    fn the_brief_names_what_is_compared_and_gives_no_false_precision() {
        let mut record = record(Vec::new());
        let Some(Trial::Setups(setups)) = &mut record.trial else { panic!("no setups") };
        let uneven = SetupRatio { estimate: 60.57, low: 13.43, high: 273.2 };
        setups.comparisons[0].results[1].ratio = Some(uneven);
        let lines = briefly(&record).remove(0);
        assert_eq!(lines[0], "File systems:");
        assert!(lines[1].contains("f2fs is more than 13 times as fast as ext4"), "{lines:?}");
        assert!(lines.contains(&"f2fs: 71 writes/s, more than 13 times".to_owned()), "{lines:?}");
        assert!(lines.iter().all(|line| !line.contains("60.57")), "{lines:?}");
        let brief = crate::brief(&record, &[], 80, false);
        let indents = brief.lines().filter(|line| line.contains(": ") && line.contains("writes/s"));
        let indents: Vec<usize> =
            indents.map(|line| line.len() - line.trim_start().len()).collect();
        assert!(indents.len() == 2 && indents[0] == indents[1], "{brief}");
    }

    #[test]
    fn a_doubt_replaces_advice() {
        let message = "it is all memory".to_owned();
        let record = record(vec![Warning::stated(WarningCode::Memory, message)]);
        let text = crate::summary(&record, &[], 100, false);
        assert!(text.contains("No advice, because of a doubt: it is all memory."), "{text}");
        assert!(!text.contains("as fast as ext4"), "{text}");
    }
}
