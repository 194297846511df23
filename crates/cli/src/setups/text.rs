//! A comparison of setups in words: for the terminal, and as Markdown.

use std::fmt::Write;

use super::advice::advice;
use super::contest::{CONFIDENCE, Contest, Task};
use super::document::NotTried;

/// For the terminal: a block for each job, a line for each setup.
pub(super) fn plain(contests: &[Contest], not_tried: &[NotTried]) -> String {
    let mut text = String::new();
    for contest in contests.iter().filter(|contest| contest.has_figures()) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", contest.title);
        for &task in &contest.tasks {
            let _ = writeln!(text, "\n  {}", task.title());
            for index in 0..contest.contestants.len() {
                let name = &contest.contestants[index].name;
                let _ = writeln!(text, "    {name:<18} {}", cell(contest, index, task));
            }
        }
        let _ = writeln!(text);
        for sentence in conclusion(contest) {
            let _ = writeln!(text, "  {sentence}");
        }
        let _ = writeln!(text);
    }
    for NotTried { setup, reason } in not_tried {
        let _ = writeln!(text, "Not tried: {setup}: {reason}.");
    }
    let _ = writeln!(text, "{}", remark());
    text
}

/// As Markdown: a table for each contest.
pub(super) fn markdown(contests: &[Contest], not_tried: &[NotTried]) -> String {
    let mut text = String::new();
    for contest in contests.iter().filter(|contest| contest.has_figures()) {
        let _ = writeln!(text, "### {}\n", contest.title);
        let titles: Vec<_> = contest.tasks.iter().map(|task| task.title()).collect();
        let _ = writeln!(text, "| setup | {} |", titles.join(" | "));
        let _ = writeln!(text, "| --- |{}", " --- |".repeat(titles.len()));
        for index in 0..contest.contestants.len() {
            let cells: Vec<_> =
                contest.tasks.iter().map(|&task| cell(contest, index, task)).collect();
            let _ =
                writeln!(text, "| {} | {} |", contest.contestants[index].name, cells.join(" | "));
        }
        let _ = writeln!(text);
        for sentence in conclusion(contest) {
            let _ = writeln!(text, "- {sentence}");
        }
        let _ = writeln!(text);
    }
    for NotTried { setup, reason } in not_tried {
        let _ = writeln!(text, "- Not tried: {setup}: {reason}.");
    }
    let _ = writeln!(text, "\n{}", remark());
    text
}

/// What to make of `contest`, or why nothing is to be made of it.
fn conclusion(contest: &Contest) -> Vec<String> {
    let doubts = contest.doubts.iter();
    let doubts = doubts.map(|doubt| format!("In doubt, so nothing is advised: {}.", doubt.message));
    doubts.chain(advice(contest)).collect()
}

fn remark() -> String {
    format!(
        "Ratios are to the first of each list, of pairs run in turns, with intervals of {:.0} %.",
        100.0 * CONFIDENCE
    )
}

/// A rate and how many times as fast that is.
fn cell(contest: &Contest, index: usize, task: Task) -> String {
    let Some(mean) = contest.mean(index, task) else {
        return contest
            .cause(index, task)
            .map_or_else(|| "not run".to_owned(), |cause| format!("not measured: {cause}"));
    };
    let rate = match task {
        Task::Packages => format!("{:.1} s", 1.0 / mean),
        Task::SyncedWrites | Task::Transactions => format!("{mean:.0} /s"),
    };
    match contest.ratio(index, task) {
        None => rate,
        // An interval over an order of magnitude says nothing but that.
        Some(ratio) if ratio.high > 10.0 * ratio.low => {
            format!("{rate}, {:.2} times, far from sure", ratio.estimate)
        }
        Some(ratio) => {
            format!("{rate}, {:.2} times ({:.2} to {:.2})", ratio.estimate, ratio.low, ratio.high)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::contest::tests::{drifting, in_doubt};
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let none = [NotTried { setup: "nilfs2".to_owned(), reason: "no tool".to_owned() }];
        let plain = plain(&[drifting()], &none);
        assert!(
            plain.contains("    f2fs               71 /s, 2.00 times (2.00 to 2.00)"),
            "{plain}"
        );
        assert!(plain.contains("    vfat               not measured: no room"), "{plain}");
        assert!(plain.contains("Not tried: nilfs2: no tool."), "{plain}");
        let markdown = markdown(&[drifting()], &none);
        assert!(markdown.contains("| f2fs | 71 /s, 2.00 times (2.00 to 2.00) | not run |"));
        assert!(markdown.contains("- Not tried: nilfs2: no tool."));
    }

    #[test]
    fn a_doubt_is_said_in_the_place_of_advice() {
        let mut contest = drifting();
        contest.doubts.push(in_doubt());
        for text in [plain(&[contest.clone()], &[]), markdown(&[contest], &[])] {
            assert!(text.contains("In doubt, so nothing is advised: it is all memory."), "{text}");
            assert!(!text.contains("as fast as ext4"), "{text}");
        }
    }
}
