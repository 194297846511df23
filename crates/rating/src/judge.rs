//! Verdicts: whether a record's figures meet the limits of the classes printed on cards.
//!
//! A class is passed if every limit is at or below the lower end of its figure's interval, and failed
//! if any limit is above the upper end. With intervals of 99 %, an application class is wrongly passed
//! in at most 1 % of records, since that takes one wrong interval (an intersection-union test: Berger,
//! Technometrics 24, 1982). It is wrongly failed in at most 1.5 %: half of 1 % for each of three
//! limits. The recording classes all limit one rate, so one sound interval makes all of their verdicts
//! right together. Everything else is undecided, or cannot be tested if the record lacks what the class
//! needs. No verdict is a certificate.

use cardproof_facts::{CLASSES, Class};
use cardproof_record::{Outcome, Phase, Record, State, Transport, Verdict};

use crate::bus::Bus;
use crate::claims::claimed;
use crate::doubts::{Doubt, doubts};
use crate::pick::Finding;
use crate::quantity::{ClassLimit, limits_of};
use crate::queue_and_cache::QueueAndCache;
use crate::ruling::{Grounds, Ruling};
use crate::transports::storage;
use crate::wording;

/// What each class says of `record`, in the order of [`CLASSES`]. Doubts in the record and
/// doubts that follow from it are both taken into account.
#[must_use]
pub fn judge(record: &Record) -> Vec<Verdict> {
    let doubts = doubts(record);
    let grounds = Grounds { record, doubts: &doubts, bus: Bus::of(record) };
    let mut verdicts: Vec<Verdict> = Vec::with_capacity(CLASSES.len());
    for class in &CLASSES {
        let verdict = judge_class(&grounds, class);
        let mut verdict = weigh_queue_and_cache(record, class, verdict, &verdicts);
        verdict.reasons.extend(claim(record, class));
        verdicts.push(verdict);
    }
    verdicts
}

fn judge_class(grounds: &Grounds<'_>, class: &Class) -> Verdict {
    let record = grounds.record;
    let verdict = |outcome, reasons| Verdict { rule: class.name.to_owned(), outcome, reasons };
    let forbidding: Vec<String> = grounds
        .doubts
        .iter()
        .filter(|doubt| doubt.forbids_all())
        .map(|doubt| Doubt::text(doubt, record))
        .collect();
    if !forbidding.is_empty() {
        return verdict(Outcome::NotTestable, forbidding);
    }
    let mut rulings: Vec<Ruling> =
        limits_of(class).into_iter().map(|limit| grounds.rule_on(class, limit)).collect();
    rulings.sort_by_key(|ruling| weight(ruling.outcome));
    let obstacle = obstacle(grounds, class);
    let worst = rulings.first().map_or(Outcome::NotTestable, |ruling| ruling.outcome);
    let outcome = if obstacle.is_some() { Outcome::NotTestable } else { worst };
    // A limit that the bus cannot carry is not failed by the card.
    let is_bus = obstacle.is_some() && is_out_of_reach(grounds, class);
    let limits = rulings.into_iter().filter(|ruling| !is_bus || ruling.outcome != Outcome::Misses);
    let limits = limits.map(|ruling| ruling.reason);
    let simulated = record.is_simulated().then(|| "this is a simulated card".to_owned());
    let notes = [simulated, yardstick(record, class), conditions(record, class)];
    verdict(
        outcome,
        obstacle.into_iter().chain(limits).chain(notes.into_iter().flatten()).collect(),
    )
}

/// The order in which outcomes decide: one proven miss settles a class, then whatever is missing,
/// then whatever is open. Only when all are met is the class met.
const fn weight(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Misses => 0,
        Outcome::NotTestable | Outcome::Unknown => 1,
        Outcome::Undecided => 2,
        Outcome::Meets => 3,
    }
}

/// Why the class cannot be judged, although figures of some phases may be sound.
fn obstacle(grounds: &Grounds<'_>, class: &Class) -> Option<String> {
    obstacle_to_all(grounds.record).or_else(|| {
        let bus = grounds.bus.as_ref().filter(|_| is_out_of_reach(grounds, class))?;
        Some(format!("{}, less than {} requires", bus.carries(), class.name))
    })
}

/// What the bus of `record` carries, in words, where this alone keeps the class `rule` from being
/// judged, such as `the bus (SD high speed) carries at most 25 MB/s`.
#[must_use]
pub fn limiting_bus(record: &Record, rule: &str) -> Option<String> {
    let class = Class::named(rule)?;
    let doubts = doubts(record);
    let grounds = Grounds { record, doubts: &doubts, bus: Bus::of(record) };
    let is_barred = doubts.iter().any(Doubt::forbids_all) || obstacle_to_all(record).is_some();
    let bus = grounds.bus.as_ref().filter(|_| !is_barred && is_out_of_reach(&grounds, class))?;
    Some(bus.carries())
}

/// Why no class can be judged.
fn obstacle_to_all(record: &Record) -> Option<String> {
    let is_certain = |phase: &Phase| phase.iops.is_some() || phase.throughput_bytes_per_s.is_some();
    if record.is_imported() && !record.phases.iter().any(is_certain) {
        let name = &record.tool.name;
        return Some(format!(
            "the output of {name} has no intervals, so the uncertainty of its figures is unknown"
        ));
    }
    if record.conditions.target.read_only {
        return Some("the target was read-only, so writes were not measured".to_owned());
    }
    if record.state == State::Failed {
        return Some("an error ended the run, so there is no verdict".to_owned());
    }
    None
}

/// Whether the bus carries less than `class` requires, and the storage might meet it on a faster bus.
fn is_out_of_reach(grounds: &Grounds<'_>, class: &Class) -> bool {
    let Some(bus) = &grounds.bus else { return false };
    let is_excluded =
        |limit: &ClassLimit| bus.excludes(limit.needs()) && !grounds.misses_on_any_bus(*limit);
    limits_of(class).iter().any(is_excluded)
}

/// What an SD class means for storage that is not seen to be an SD card.
fn yardstick(record: &Record, class: &Class) -> Option<String> {
    let name = class.name;
    match storage(&record.conditions.device) {
        Some(Transport::Sd) => None,
        Some(Transport::Usb) => Some(format!(
            "attached by USB: the {name} limits are for comparison, and the reader may be slower \
             than the card"
        )),
        Some(other) => {
            Some(format!("not an SD card ({other}): the {name} limits are for comparison only"))
        }
        None => Some(format!(
            "the kind of storage is unknown: the {name} limits are for comparison only"
        )),
    }
}

/// What verdicts on SD classes mean for the storage of `record`; `None` if it is seen to be an SD card.
#[must_use]
pub fn comparison_only(record: &Record) -> Option<&'static str> {
    match storage(&record.conditions.device) {
        Some(Transport::Sd) => None,
        Some(Transport::Usb) => Some(
            "Attached by USB: the limits of SD classes are for comparison, and the reader may be slower \
             than the card.",
        ),
        Some(_) => Some("Not an SD card: the limits of SD classes are for comparison only."),
        None => Some(
            "The kind of storage is unknown: the limits of SD classes are for comparison only.",
        ),
    }
}

/// Under which conditions a recording class was measured, and what differs from its own test.
fn conditions(record: &Record, class: &Class) -> Option<String> {
    let [limit] = limits_of(class)[..] else { return None };
    let phase = Finding::of(record, |phase| limit.quantity.is_measured_by(phase)).measured()?;
    let (bytes, block) = (phase.bytes, phase.block_size_bytes);
    let (differs, source) = (class.family.differs(), class.family.source());
    let part =
        if phase.anytime_iops.is_some() { ", and the rate is that of the second half" } else { "" };
    Some(format!("this test wrote {bytes} in blocks of {block}{part}; {differs}; source: {source}"))
}

/// What the card itself claims, where it claims this very class.
fn claim(record: &Record, class: &Class) -> Option<String> {
    let card = record.conditions.device.card.as_ref()?;
    let is_claimed = claimed(&card.claims).iter().any(|other| other.name == class.name);
    is_claimed.then(|| format!("the card claims {} in its registers", class.name))
}

/// Withdraws a miss that the host may be to blame for: A2 is stated for a host that uses the
/// card's command queue and cache.
fn weigh_queue_and_cache(
    record: &Record,
    class: &Class,
    verdict: Verdict,
    judged: &[Verdict],
) -> Verdict {
    let may_be_sd =
        matches!(storage(&record.conditions.device), None | Some(Transport::Sd | Transport::Usb));
    if !class.needs_queue_and_cache || verdict.outcome != Outcome::Misses || !may_be_sd {
        return verdict;
    }
    let name = class.name;
    let not_testable = |excuse: String| {
        let beside = judged.iter().filter(|other| is_application(other)).map(|other| {
            format!("for comparison, {}: {}", other.rule, wording::outcome(other.outcome))
        });
        let reasons = [excuse].into_iter().chain(beside).chain(verdict.reasons.clone()).collect();
        Verdict { outcome: Outcome::NotTestable, reasons, rule: verdict.rule.clone() }
    };
    // The measured misses come first, then what is known of queue and cache.
    let failed_with = |note: String| {
        let mut reasons = verdict.reasons.clone();
        let misses = reasons.iter().take_while(|reason| wording::is_miss(reason)).count();
        reasons.insert(misses, note);
        Verdict { outcome: Outcome::Misses, reasons, rule: verdict.rule.clone() }
    };
    match QueueAndCache::of(record) {
        QueueAndCache::InUse => {
            failed_with(format!("command queue and cache are in use, as {name} requires"))
        }
        QueueAndCache::MissingInCard(why) => failed_with(format!("{why}; {name} requires both")),
        QueueAndCache::NotUsed(why) => not_testable(format!(
            "{name} assumes that the host uses the card's command queue and cache; {why}"
        )),
        QueueAndCache::Unknown(why) => not_testable(why),
    }
}

fn is_application(verdict: &Verdict) -> bool {
    Class::named(&verdict.rule).is_some_and(Class::is_application)
}
