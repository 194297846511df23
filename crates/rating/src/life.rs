//! What a run that wore a card out means: its life in cycles and days, and the model's life from
//! several cards.

use cardproof_evidence::life::{
    CONFIDENCE, CardLife, CardRun, Failures, Life, ModelLife, days, model_life, of_card,
    share_of_cards_max,
};
use cardproof_record::{
    BudgetVerdict, DailyUse, EnduranceRun, LifeDays, LifeInterval, ModelDocument, Record,
};
use cardproof_units::Bytes;

/// The milestone that ends a life.
const MILESTONE: &str = "0.1%";

/// Fewer cycles than this without an error say nothing of how long a card lasts. A choice: flash of today bears several
/// hundred cycles or more, and nobody asks whether a card lasts for days.
pub(crate) const CYCLES_MIN: f64 = 100.0;

/// The life that `run` shows.
#[must_use]
pub fn life(run: &EnduranceRun) -> Life {
    let failures = run.failures.iter();
    of_card(&CardRun {
        cycles: run.cycles,
        pages: run.pages,
        failures: failures
            .map(|it| Failures { cycle: it.cycle, places: it.places, pages: it.pages })
            .collect(),
        reached: run.milestones.get(MILESTONE).copied().flatten(),
    })
}

/// A life as documents have it.
#[must_use]
pub fn interval(life: &Life) -> LifeInterval {
    LifeInterval {
        estimate: life.estimate,
        low: life.low,
        high: life.high,
        confidence: CONFIDENCE,
        milestone: MILESTONE,
        basis: life.basis.name(),
    }
}

/// The life in days under `usage`, for a run whose cycles write `cycle_bytes`.
#[must_use]
pub fn life_in_days(life: &Life, cycle_bytes: Bytes, usage: DailyUse) -> LifeDays {
    let DailyUse { bytes_per_day, write_amplification } = usage;
    let in_days = |cycles: f64| {
        days(cycles, cycle_bytes.as_f64(), bytes_per_day.as_f64(), write_amplification)
    };
    // Two digits of a short life, and a lower bound that is never above the life.
    let rounded = |days: f64, round: fn(f64) -> f64| {
        let steps = if days < 1.0 { 1000.0 } else { 10.0 };
        round((days * steps * 1e6).round() / 1e6) / steps
    };
    LifeDays {
        estimate: life.estimate.map(|cycles| rounded(in_days(cycles), f64::round)),
        low: rounded(in_days(life.low), f64::floor),
        high: life.high.map(|cycles| rounded(in_days(cycles), f64::ceil)),
        bytes_per_day,
        write_amplification,
        write_amplification_is: "assumed",
    }
}

/// Whether `life` says how long the card lasts, and not only that a short test was no end of it.
pub(crate) fn is_telling(estimate: Option<f64>, low: f64) -> bool {
    estimate.is_some() || low >= CYCLES_MIN
}

/// The life in days under `usage`, or under the use that the run was asked about; `None` where no use is known, or the
/// life is not.
pub(crate) fn days_of(
    run: &EnduranceRun,
    life: &Life,
    usage: Option<DailyUse>,
) -> Option<LifeDays> {
    let usage = usage.or(run.daily_use).filter(|_| is_telling(life.estimate, life.low))?;
    Some(life_in_days(life, run.cycle_bytes, usage))
}

/// Whether the run has borne its budget; `None` where it has none.
#[must_use]
pub fn budget(run: &EnduranceRun) -> Option<BudgetVerdict> {
    let bytes = run.budget_bytes?;
    let has_failed = run.bad_pages > 0 || run.end.is_some();
    let is_done = run.written_bytes >= bytes;
    let passed = if has_failed { Some(false) } else { is_done.then_some(true) };
    Some(BudgetVerdict {
        bytes,
        passed,
        failing_share_of_cards_max: (passed == Some(true)).then(|| share_of_cards_max(1)),
        life_cycles_above: if has_failed { first_error(run).saturating_sub(1) } else { run.cycles },
    })
}

/// Whether the card failed in its first cycle: then the run has not worn it out.
#[must_use]
pub fn failed_at_once(run: &EnduranceRun) -> bool {
    let cycle = |name: &str| run.milestones.get(name).copied().flatten();
    cycle(MILESTONE) == Some(1) || (run.end.is_some() && cycle("first_error") == Some(1))
}

fn first_error(run: &EnduranceRun) -> u64 {
    run.milestones.get("first_error").copied().flatten().unwrap_or(run.cycles)
}

/// What the card calls itself, or its label.
pub(crate) fn model_of(record: &Record) -> String {
    let device = &record.conditions.device;
    let named = device.model.clone().or_else(|| device.name.clone());
    named.or_else(|| record.label.clone()).unwrap_or_else(|| "unknown".to_owned())
}

/// What several records say of each model of which there is more than one card.
#[must_use]
pub fn models(records: &[&Record]) -> Vec<ModelDocument> {
    let mut names: Vec<String> = records.iter().map(|record| model_of(record)).collect();
    names.sort();
    names.dedup();
    let lives = |name: &str| -> Vec<CardLife> {
        let of_model = records.iter().filter(|record| model_of(record) == name);
        of_model.filter_map(|record| record.endurance()).filter_map(card_life).collect()
    };
    names
        .into_iter()
        .filter_map(|model| {
            let lives = lives(&model);
            (lives.len() > 1).then_some(())?;
            Some(of_model(model, &model_life(&lives)?))
        })
        .collect()
}

/// `None` of a card that failed at once, which says nothing of its model's life.
fn card_life(run: &EnduranceRun) -> Option<CardLife> {
    let life = match run.milestones.get(MILESTONE).copied().flatten() {
        Some(cycle) => CardLife { cycles: cycle as f64, has_ended: true },
        None => CardLife { cycles: run.cycles as f64, has_ended: false },
    };
    (!failed_at_once(run)).then_some(life)
}

fn of_model(model: String, life: &ModelLife) -> ModelDocument {
    ModelDocument {
        model,
        cards: life.cards,
        ended: life.ended,
        median_life_cycles: interval(&life.median),
        weibull_shape: life.fit.map(|fit| fit.shape),
        weibull_scale_cycles: life.fit.map(|fit| fit.scale_cycles),
        all_lasted_cycles: life.all_lasted,
        failing_share_before_max: life.early_share_max,
    }
}

#[cfg(test)]
mod tests {
    use cardproof_record::EndureDocument;

    use crate::words::life::{days_in_words, document, in_words, life_in_words, result};

    use cardproof_record::{EnduranceFailures, Trial};

    use super::*;

    fn run(cycles: u64, milestone: Option<u64>) -> EnduranceRun {
        let milestones = [("first_error", milestone), (MILESTONE, milestone)];
        EnduranceRun {
            cycles,
            pages: 1_000_000,
            cycle_bytes: Bytes(4_096_000_000),
            written_bytes: Bytes(4_096_000_000 * cycles),
            milestones: milestones.map(|(name, cycle)| (name.to_owned(), cycle)).into(),
            budget_bytes: Some(Bytes(3_000_000_000_000)),
            ..EnduranceRun::default()
        }
    }

    #[test]
    fn a_card_without_an_error_has_no_upper_end() {
        let life = life(&run(500, None));
        let interval = interval(&life);
        assert_eq!((interval.estimate, interval.low, interval.high), (None, 500.0, None));
        assert_eq!((interval.basis, interval.milestone), ("no_errors", "0.1%"));
    }

    #[test]
    fn a_budget_is_passed_failed_or_open() {
        assert_eq!(budget(&run(800, None)).unwrap().passed, Some(true));
        assert_eq!(budget(&run(100, None)).unwrap().passed, None);
        let bad = EnduranceRun {
            bad_pages: 1,
            failures: vec![EnduranceFailures { cycle: 90, places: 1, pages: 1 }],
            ..run(100, Some(90))
        };
        let verdict = budget(&bad).unwrap();
        assert_eq!((verdict.passed, verdict.life_cycles_above), (Some(false), 89));
        assert!(budget(&EnduranceRun { budget_bytes: None, ..run(1, None) }).is_none());
    }

    #[test]
    fn days_follow_from_the_users_bytes() {
        let usage = DailyUse { bytes_per_day: Bytes(10_000_000_000), write_amplification: 4.0 };
        let days = life_in_days(&life(&run(1000, Some(1000))), Bytes(4_096_000_000), usage);
        assert_eq!((days.estimate, days.high), (Some(102.4), Some(102.4)));
    }

    #[test]
    fn a_lower_bound_in_days_is_never_rounded_up() {
        let usage = DailyUse { bytes_per_day: Bytes(5_000_000_000), write_amplification: 4.0 };
        let days = life_in_days(&life(&run(1, None)), Bytes(1_000_000_000), usage);
        assert_eq!((days.estimate, days.low, days.high), (None, 0.05, None));
    }

    #[test]
    fn a_fake_is_not_called_worn_out() {
        let fake = EnduranceRun {
            end: Some("silently_wrong".to_owned()),
            bad_pages: 900_000,
            ..run(0, Some(1))
        };
        assert_eq!(
            result(&fake),
            "FAILED IN CYCLE 1: the card reports success, but returns wrong data"
        );
        let life = interval(&life(&fake));
        assert_eq!((life.estimate, life.high, life.basis), (None, None, "first_cycle"));
        assert_eq!(life_in_words(&life), None);
        assert!(card_life(&fake).is_none(), "the model's life does not follow from it");
        let document = document_of(fake);
        assert!(document.reasons[0].contains("cardproof verify"), "{:?}", document.reasons);
    }

    fn document_of(run: EnduranceRun) -> EndureDocument {
        let mut record = cardproof_testkit::records::typical_a1_card();
        record.trial = Some(Trial::Endurance(run));
        document(&record, None).unwrap()
    }

    #[test]
    fn the_end_of_a_card_is_named_by_one_number() {
        let worn = EnduranceRun { end: Some("read_only".to_owned()), ..run(42, Some(43)) };
        assert!(result(&worn).starts_with("WORN OUT in cycle 43: "), "{}", result(&worn));
        let life = interval(&life(&worn));
        let words = life_in_words(&life).unwrap();
        assert!(words.ends_with(": 43 cycles"), "{words}");
    }

    #[test]
    fn a_run_stopped_in_its_first_cycle_is_no_success() {
        assert_eq!(result(&run(0, None)), "NO RESULT: stopped in the first cycle");
        assert_eq!(life_in_words(&interval(&life(&run(0, None)))), None);
        let without_budget = EnduranceRun { budget_bytes: None, ..run(12, None) };
        assert_eq!(result(&without_budget), "NO FAILURE in 12 cycles");
        // Beside that no word of a failure.
        let longer = EnduranceRun { budget_bytes: None, ..run(120, None) };
        let words = life_in_words(&interval(&life(&longer))).unwrap();
        assert!(!words.contains("failed"), "{words}");
    }

    #[test]
    fn a_few_cycles_say_nothing_of_how_long_a_card_lasts() {
        let usage = DailyUse { bytes_per_day: Bytes(5_000_000_000), write_amplification: 4.0 };
        let told = |cycles| {
            let run = EnduranceRun { daily_use: Some(usage), ..run(cycles, None) };
            let document = document_of(run);
            let life = life_in_words(&document.life_cycles);
            (life.is_some(), document.life_days.is_some(), document.reasons[0].clone())
        };
        let (life, days, reason) = told(2);
        assert_eq!((life, days), (false, false));
        assert_eq!(
            reason,
            "2 cycles are too few to say how long the card lasts: it takes 100 or more"
        );
        let (life, days, reason) = told(100);
        assert_eq!((life, days), (true, true));
        assert!(reason.starts_with("no cycle had an error"), "{reason}");
    }

    #[test]
    fn the_days_of_life_are_told_wherever_the_record_is_shown() {
        let usage = DailyUse { bytes_per_day: Bytes(5_000_000_000), write_amplification: 4.0 };
        let worn = EnduranceRun {
            end: Some("read_only".to_owned()),
            daily_use: Some(usage),
            ..run(1499, Some(1500))
        };
        let mut record = cardproof_testkit::records::typical_a1_card();
        record.conditions.device.size_bytes = Some(worn.cycle_bytes);
        record.trial = Some(Trial::Endurance(worn));
        let told = in_words(&record).join("\n");
        assert!(
            told.contains("at 5 GB a day, the card lasts 307 days. This assumes that small"),
            "{told}"
        );
        assert!(told.contains("the test observed this life"), "{told}");
        record.conditions.target.kind = cardproof_record::TargetKind::Simulated;
        let told = in_words(&record).join("\n");
        assert!(told.contains("the simulated card lasts 307 days"), "{told}");
        assert!(told.contains("the life of the simulated card"), "{told}");
    }

    #[test]
    fn a_long_life_is_told_in_years() {
        let usage = DailyUse { bytes_per_day: Bytes(500_000_000), write_amplification: 4.0 };
        let life = life(&run(1000, Some(1000)));
        let days = life_in_days(&life, Bytes(4_096_000_000), usage);
        let told = days_in_words(&days, "the card");
        assert!(
            told.starts_with("at 500 MB a day, the card lasts 5.6 years. This assumes"),
            "{told}"
        );
    }
}
