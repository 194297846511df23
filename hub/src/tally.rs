//! What all records say of a card's verdicts: one vote a submitter, a document once, and bounds of every share.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use cardproof_evidence::life::{CardLife, ModelLife, model_life};
use cardproof_evidence::powercut::interval;
use cardproof_hub_standing::{Change, Made, change, median};
use cardproof_rating::compare::Column;
use cardproof_record::CapacityVerdict;
use serde::Serialize;

use crate::index::{Card, Entry, Records};
use crate::summary::Origin;
use crate::verdicts::{Endured, Verdicts};

/// The confidence of every interval here.
const CONFIDENCE: f64 = 0.95;

/// A card is one to avoid only where so many of it are fakes at least.
const AVOID_ABOVE: f64 = 0.05;

/// The most records that are named for a finding, the latest.
const NAMED_MAX: usize = 12;

/// A share of submitters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Submitters of whose records more than half say so.
    pub found: usize,
    /// All submitters who have tested it.
    pub of: usize,
    /// The lower end of the interval that holds the true share, 95 % (Clopper and Pearson).
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Share {
    fn of(votes: &BTreeMap<u64, [usize; 2]>) -> Option<Self> {
        let found = votes.values().filter(|[yes, all]| 2 * yes > *all).count();
        let of = votes.len();
        let (low, high) = interval(found as u64, of as u64, CONFIDENCE);
        (of > 0).then_some(Self { found, of, low, high })
    }
}

/// The records of `card` of which `says` says anything, each document once.
fn saying<'c, T>(
    card: &'c Card,
    says: impl Fn(&'c Verdicts) -> Option<T>,
) -> impl Iterator<Item = (&'c Entry, T)> {
    let mut documents = HashSet::new();
    let said = card
        .records
        .iter()
        .filter_map(move |record| Some((record, says(record.verdicts.as_deref()?)?)));
    said.filter(move |(record, _)| documents.insert(record.document))
}

/// Of how many submitters `says` is true, of those for whom it says anything; and the latest records for which it is true
/// or, with `names_all`, anything.
fn share(
    card: &Card,
    names_all: bool,
    says: fn(&Verdicts) -> Option<bool>,
) -> Option<(Share, Vec<String>)> {
    let (mut votes, mut records) = (BTreeMap::<u64, [usize; 2]>::new(), Vec::new());
    for (record, is_so) in saying(card, says) {
        let vote = votes.entry(record.submitter).or_default();
        vote[0] += usize::from(is_so);
        vote[1] += 1;
        if is_so || names_all {
            records.push(record.id.to_string());
        }
    }
    records.reverse();
    records.truncate(NAMED_MAX);
    Some((Share::of(&votes)?, records))
}

const fn is_fake(verdicts: &Verdicts) -> Option<bool> {
    match &verdicts.capacity {
        Some(holds) => match holds.finding {
            CapacityVerdict::Fake => Some(true),
            CapacityVerdict::Genuine | CapacityVerdict::Damaged => Some(false),
            CapacityVerdict::Suspicious | CapacityVerdict::Undecided => None,
        },
        None => None,
    }
}

/// The share of fakes of `card`; none where nobody has tested its capacity.
#[must_use]
pub fn fakes_of(card: &Card) -> Option<Share> {
    Some(share(card, false, is_fake)?.0)
}

/// A model whose capacity was tested.
#[derive(Clone, Debug, Serialize)]
pub struct Tested {
    /// Its name in addresses.
    pub model: String,
    /// Its name.
    pub name: String,
    /// The share of fakes.
    pub fakes: Share,
    /// Whether it is one to avoid: more than 5 % are fakes, as surely as the interval says, and enough submitters have
    /// found one.
    pub is_to_avoid: bool,
    /// The latest records that found one.
    pub records: Vec<String>,
}

/// Every model of which `least` submitters have tested the capacity, those with the most fakes first.
#[must_use]
pub fn fakes(records: &Records, least: usize) -> Vec<Tested> {
    let of_model = |(key, card): (&String, &Card)| {
        let (fakes, found) = share(card, false, is_fake)?;
        (fakes.of >= least && is_listed(card, least)).then(|| Tested {
            model: key.clone(),
            name: card.name(least),
            fakes,
            is_to_avoid: fakes.low > AVOID_ABOVE && fakes.found >= least,
            records: found,
        })
    };
    let mut all: Vec<Tested> = records.cards.iter().filter_map(of_model).collect();
    all.sort_by(|a, b| b.fakes.low.total_cmp(&a.fakes.low).then(b.fakes.of.cmp(&a.fakes.of)));
    all
}

/// Simulated cards are in no list, nor is what too few agree with.
fn is_listed(card: &Card, least: usize) -> bool {
    card.is_agreed(least)
        && card.records.first().is_some_and(|record| record.origin != Origin::Simulated)
}

/// How long the cards of a model last, where each cycle writes by one pattern.
#[derive(Clone, Debug, Serialize)]
pub struct Lasted {
    /// The model's name in addresses.
    pub model: String,
    /// Its name.
    pub name: String,
    /// Where each cycle writes.
    pub pattern: String,
    /// The submitters, each with its latest run.
    pub submitters: usize,
    /// Of these whose card has come to its end.
    pub ended: usize,
    /// The cycles that half of the cards reach; none where too few have ended.
    pub median_cycles: Option<f64>,
    /// At least; 95 %.
    pub low_cycles: f64,
    /// At most; none where nothing bounds it.
    pub high_cycles: Option<f64>,
    /// The records.
    pub records: Vec<String>,
}

/// How long the cards of each model last, those of which most is known first.
#[must_use]
pub fn lives(records: &Records, least: usize) -> Vec<Lasted> {
    let listed = records.cards.iter().filter(|(_, card)| is_listed(card, least));
    let mut all: Vec<Lasted> =
        listed.flat_map(|(key, card)| lives_of(key, card, &card.name(least))).collect();
    all.retain(|lasted| lasted.submitters >= least);
    all.sort_by(|a, b| b.ended.cmp(&a.ended).then(b.low_cycles.total_cmp(&a.low_cycles)));
    all
}

fn lives_of(key: &str, card: &Card, name: &str) -> Vec<Lasted> {
    let mut runs = BTreeMap::<&str, BTreeMap<u64, (&Entry, &Endured)>>::new();
    for (record, run) in saying(card, |it| it.endured.as_ref()) {
        runs.entry(&run.pattern).or_default().insert(record.submitter, (record, run));
    }
    let of_pattern = |(pattern, runs): (&str, BTreeMap<u64, (&Entry, &Endured)>)| {
        let life = |(_, run): &(&Entry, &Endured)| CardLife {
            cycles: run.cycles,
            has_ended: run.has_ended,
        };
        let lives: Vec<CardLife> = runs.values().map(life).collect();
        let ModelLife { ended, median, .. } = model_life(&lives)?;
        Some(Lasted {
            model: key.to_owned(),
            name: name.to_owned(),
            pattern: pattern.to_owned(),
            submitters: lives.len(),
            ended,
            median_cycles: median.estimate,
            low_cycles: median.low,
            high_cycles: median.high,
            records: runs.values().map(|(it, _)| it.id.to_string()).take(NAMED_MAX).collect(),
        })
    };
    runs.into_iter().filter_map(of_pattern).collect()
}

/// What is known of a card besides its speed.
#[derive(Clone, Debug, Serialize)]
pub struct Told {
    /// Of what, such as `Capacity`.
    pub of: &'static str,
    /// What was found, with its bound.
    pub words: String,
    /// The latest records that say so.
    pub records: Vec<String>,
}

/// What tests of `card` have found.
#[must_use]
pub fn told(card: &Card, least: usize) -> Vec<Told> {
    type Says = fn(&Verdicts) -> Option<bool>;
    let shares: [(&'static str, &'static str, bool, Says); 6] = [
        ("Capacity", "found a fake", false, |it| is_fake(it)),
        ("Damage", "found places that do not keep data", false, |it| match it.capacity?.finding {
            CapacityVerdict::Damaged => Some(true),
            CapacityVerdict::Genuine | CapacityVerdict::Fake => Some(false),
            CapacityVerdict::Suspicious | CapacityVerdict::Undecided => None,
        }),
        ("A1", "found that it meets A1 on their host", true, |it| it.a1),
        ("A2", "found that it meets A2 on their host", true, |it| it.a2),
        ("Command queue", "found wrong data", false, |it| Some(!it.is_queue_sound?)),
        ("Discards", "found harm", false, |it| Some(!it.is_discard_sound?)),
    ];
    let of_share = |(of, words, names_all, says): (_, &str, _, Says)| {
        let (share, records) = share(card, names_all, says)?;
        let s = if share.of == 1 { "" } else { "s" };
        let [low, high] = [share.low, share.high].map(|it| 100.0 * it);
        let words = format!(
            "{} of {} submitter{s} {words}: {low:.0} to {high:.0} % of the cards",
            share.found, share.of
        );
        Some(Told { of, words, records })
    };
    let mut told: Vec<Told> = shares.into_iter().filter_map(of_share).collect();
    told.extend(cuts(card));
    told.extend(lives_of("", card, "").into_iter().map(life_told));
    told.extend(life_used(card));
    told.extend(setups(card, least));
    told
}

fn cuts(card: &Card) -> Option<Told> {
    let all: Vec<(&Entry, [u64; 2])> = saying(card, |it| it.cuts).collect();
    let [harmful, cuts] = all.iter().fold([0, 0], |[a, b], (_, [c, d])| [a + c, b + d]);
    let (low, high) = interval(harmful, cuts, CONFIDENCE);
    (cuts > 0).then(|| Told {
        of: "Power cuts",
        words: format!(
            "{harmful} of {cuts} cuts during writes did harm: {:.1} to {:.1} % of such cuts",
            100.0 * low,
            100.0 * high
        ),
        records: all.iter().rev().take(NAMED_MAX).map(|(it, _)| it.id.to_string()).collect(),
    })
}

fn life_told(lasted: Lasted) -> Told {
    let Lasted { pattern, ended, submitters, low_cycles, .. } = lasted;
    let cycles = match (lasted.median_cycles, lasted.high_cycles) {
        (Some(median), Some(high)) => {
            format!("half of the cards reach {median:.0} cycles ({low_cycles:.0} to {high:.0})")
        }
        _ => format!("half of the cards reach at least {low_cycles:.0} cycles"),
    };
    let words = format!("{cycles}, {pattern} writes; {ended} of {submitters} came to the end");
    Told { of: "Endurance", words, records: lasted.records }
}

fn life_used(card: &Card) -> Option<Told> {
    let (record, most) =
        saying(card, |it| it.life_used_percent).max_by_key(|(_, percent)| *percent)?;
    let words = format!("the most worn says that at most {most} % of its life are used");
    Some(Told { of: "Wear", words, records: vec![record.id.to_string()] })
}

/// The quickest set-up for each job, of those that `least` submitters have compared.
fn setups(card: &Card, least: usize) -> Vec<Told> {
    let mut all = BTreeMap::<[&str; 3], BTreeMap<u64, (&Entry, f64)>>::new();
    for (record, setups) in saying(card, |it| Some(&it.setups)) {
        for it in setups {
            let of_setup = all.entry([&it.job, &it.setup, &it.baseline]).or_default();
            of_setup.insert(record.submitter, (record, it.ratio));
        }
    }
    let mut best = BTreeMap::<&str, (f64, Told)>::new();
    for ([job, setup, baseline], votes) in all.into_iter().filter(|(_, it)| it.len() >= least) {
        let mut ratios: Vec<f64> = votes.values().map(|(_, ratio)| *ratio).collect();
        let Some(ratio) = median(&mut ratios) else { continue };
        let words = format!(
            "{job}: {setup} is {ratio:.2} times as fast as {baseline} ({} submitters)",
            votes.len()
        );
        let records = votes.values().take(NAMED_MAX).map(|(it, _)| it.id.to_string()).collect();
        let is_best = best.get(job).is_none_or(|(known, _)| ratio > *known);
        if is_best && setup != baseline && ratio > 1.0 {
            best.insert(job, (ratio, Told { of: "Set-up", words, records }));
        }
    }
    best.into_values().map(|(_, told)| told).collect()
}

/// A model that never changed is said to have changed with at most this probability, 1 % for both figures.
const FALSE_MAX: f64 = 0.005;

/// The figures in which a change of a model is looked for.
const CHANGING: [Column; 2] = [Column::RandomWrite, Column::SequentialWrite];

/// At which months of making, as `2024-03`, `card` changed, and in which figure. Every submitter counts with its first card.
#[must_use]
pub fn changes(card: &Card) -> Vec<(Column, String, Change)> {
    let of_column = |column: Column| {
        let mut known = HashSet::new();
        let mut hosts = BTreeMap::new();
        let made = |record: &Entry| {
            let month = months(record.lot.as_deref()?)?;
            let value = record.rate(column)?.ln();
            known.insert(record.submitter).then(|| {
                let next = hosts.len() as u64;
                let host = *hosts.entry(Arc::clone(&record.basis)).or_insert(next);
                Made { month, host, value }
            })
        };
        let found =
            change(&card.records.iter().filter_map(made).collect::<Vec<Made>>(), FALSE_MAX)?;
        let name = format!("{}-{:02}", found.month.div_euclid(12), found.month.rem_euclid(12) + 1);
        Some((column, name, found))
    };
    CHANGING.into_iter().filter_map(of_column).collect()
}

/// The months from year 0 to the month in `lot`, which has the form `2024-03`.
fn months(lot: &str) -> Option<i32> {
    let (year, month) = lot.split_once('-')?;
    let (year, month): (i32, i32) = (year.parse().ok()?, month.parse().ok()?);
    ((1990..2200).contains(&year) && (1..=12).contains(&month)).then(|| 12 * year + month - 1)
}
