//! A contest as the record has it.

use cardproof_record::{SetupComparison, SetupRatio, SetupResult, SetupUse};

use super::catalogue::ForWhom;
use super::contest::{CONFIDENCE, Contest, Task};

/// What came of `contest`.
pub(super) fn comparison(contest: &Contest) -> SetupComparison {
    let tasks = contest.tasks.iter();
    let results = tasks.flat_map(|&task| {
        (0..contest.contestants.len()).map(move |index| result(contest, index, task))
    });
    SetupComparison {
        title: contest.title.clone(),
        baseline: contest.contestants[0].name.clone(),
        confidence: CONFIDENCE,
        results: results.collect(),
        doubts: contest.doubts.clone(),
    }
}

fn result(contest: &Contest, index: usize, task: Task) -> SetupResult {
    let contestant = &contest.contestants[index];
    SetupResult {
        setup: contestant.name.clone(),
        job: task.name().to_owned(),
        deed: task.title().to_owned(),
        unit: task.unit().to_owned(),
        rates: contest.rates(index, task),
        mean: contest.mean(index, task),
        ratio: contest.ratio(index, task).map(|ratio| SetupRatio {
            estimate: ratio.estimate,
            low: ratio.low,
            high: ratio.high,
        }),
        not_measured: contest.cause(index, task).map(str::to_owned),
        costs: contestant.costs.to_owned(),
        fit_for: match contestant.for_whom {
            ForWhom::Anything => SetupUse::Anything,
            ForWhom::StorageOnly => SetupUse::StorageOnly,
            ForWhom::Nobody => SetupUse::Nothing,
        },
    }
}
