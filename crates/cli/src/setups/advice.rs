//! What follows from a comparison, said only of what was surely measured, and with its price.

use cardproof_stats::RatioInterval;

use super::catalogue::ForWhom;
use super::contest::{Contest, Task};

/// Less of a gain than this is worth no change.
const GAIN_MIN: f64 = 1.05;

/// What to make of `contest`, one sentence or two each; nothing where its figures are in doubt.
pub(super) fn advice(contest: &Contest) -> Vec<String> {
    if !contest.doubts.is_empty() {
        return Vec::new();
    }
    contest.tasks.iter().flat_map(|&task| of_task(contest, task)).collect()
}

fn of_task(contest: &Contest, task: Task) -> Vec<String> {
    let first = &contest.contestants[0].name;
    let ratios: Vec<_> = (1..contest.contestants.len())
        .filter_map(|index| Some((index, contest.ratio(index, task)?)))
        .collect();
    let mut faster: Vec<_> = ratios.iter().filter(|(_, ratio)| is_gain(ratio)).collect();
    faster.sort_by(|a, b| b.1.estimate.total_cmp(&a.1.estimate));
    if faster.is_empty() && !ratios.is_empty() {
        return vec![format!(
            "{}: nothing compared was surely faster than {first}.",
            capital(task.title())
        )];
    }
    faster.iter().map(|(index, ratio)| sentence(contest, task, *index, ratio)).collect()
}

/// Whether it is surely faster, and by enough to be worth it.
fn is_gain(ratio: &RatioInterval) -> bool {
    ratio.low > 1.0 && ratio.estimate >= GAIN_MIN
}

fn sentence(contest: &Contest, task: Task, index: usize, ratio: &RatioInterval) -> String {
    let contestant = &contest.contestants[index];
    let said = format!(
        "{}: {} is {:.2} times ({:.2} to {:.2}) as fast as {}",
        capital(task.title()),
        contestant.name,
        ratio.estimate,
        ratio.low,
        ratio.high,
        contest.contestants[0].name,
    );
    let costs = contestant.costs;
    match contestant.for_whom {
        ForWhom::Anything => format!("{said}. Its price: {costs}."),
        ForWhom::StorageOnly => format!("{said}. Only where nothing but files is kept: {costs}."),
        ForWhom::Nobody => format!("{said}, which shows what safety costs. Not advised: {costs}."),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::super::contest::tests::{drifting, in_doubt};
    use super::*;

    #[test]
    fn what_is_surely_faster_is_named_with_its_price_and_nothing_else() {
        let said = advice(&drifting());
        assert_eq!(
            said,
            ["4 KiB writes, fsync after each: f2fs is 2.00 times (2.00 to 2.00) as fast as ext4. \
              Its price: its price."]
        );
    }

    #[test]
    fn a_gain_in_doubt_is_no_advice() {
        let mut contest = drifting();
        for (round, rate) in [(0, 300.0), (1, 20.0), (2, 90.0), (3, 5.0)] {
            contest.note(0, Task::Packages, round, Ok(50.0));
            contest.note(1, Task::Packages, round, Ok(rate));
        }
        let said = advice(&contest);
        assert_eq!(said.len(), 2);
        assert!(said[1].ends_with("nothing compared was surely faster than ext4."), "{}", said[1]);
    }

    #[test]
    fn figures_in_doubt_are_no_ground_for_advice() {
        let mut contest = drifting();
        contest.doubts.push(in_doubt());
        assert_eq!(advice(&contest), Vec::<String>::new());
    }

    #[test]
    fn what_costs_data_is_never_advised() {
        let mut contest = drifting();
        contest.contestants[1].for_whom = ForWhom::Nobody;
        assert!(advice(&contest)[0].contains("Not advised: its price"));
    }
}
