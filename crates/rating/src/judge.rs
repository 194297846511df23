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
use crate::reason::Reason;
use crate::ruling::Grounds;
use crate::transports::{may_be_sd_card, storage};

/// What each class says of `record`, in the order of [`CLASSES`]. Doubts in the record and
/// doubts that follow from it are both taken into account.
#[must_use]
pub fn judge(record: &Record) -> Vec<Verdict> {
    let doubts = doubts(record);
    let grounds = Grounds { record, doubts: &doubts, bus: Bus::from_record(record) };
    let mut verdicts: Vec<Verdict> = Vec::with_capacity(CLASSES.len());
    for class in &CLASSES {
        let mut judged = judge_class(&grounds, class);
        weigh_queue_and_cache(record, class, &mut judged, &verdicts);
        judged.reasons.extend(claim(record, class));
        let reasons = judged.reasons.into_iter().map(Into::into).collect();
        verdicts.push(Verdict { rule: class.name.to_owned(), outcome: judged.outcome, reasons });
    }
    verdicts
}

/// What a class came to.
struct Judged {
    outcome: Outcome,
    reasons: Vec<Reason>,
}

fn judge_class(grounds: &Grounds<'_>, class: &'static Class) -> Judged {
    let record = grounds.record;
    let forbidding: Vec<Reason> = grounds
        .doubts
        .iter()
        .filter(|doubt| doubt.forbids_all())
        .map(|doubt| Reason::Doubt {
            phase: doubt.phase_of(record).map(|phase| phase.name.clone()),
            doubt: doubt.warning.clone(),
        })
        .collect();
    if !forbidding.is_empty() {
        return Judged { outcome: Outcome::NotTestable, reasons: forbidding };
    }
    let mut rulings: Vec<Reason> =
        limits_of(class).into_iter().map(|limit| grounds.rule_on(class, limit)).collect();
    rulings.sort_by_key(|ruling| weight(ruling.outcome()));
    let obstacle = obstacle(grounds, class);
    let worst = rulings.first().map_or(Outcome::NotTestable, Reason::outcome);
    let outcome = if obstacle.is_some() { Outcome::NotTestable } else { worst };
    // A limit that the bus cannot carry is not failed by the card.
    let is_bus = obstacle.is_some() && is_out_of_reach(grounds, class);
    let limits = rulings.into_iter().filter(|it| !is_bus || it.outcome() != Outcome::Misses);
    let simulated = record.is_simulated().then_some(Reason::Simulated);
    let notes = [simulated, yardstick(record, class), method(record, class)];
    let reasons = obstacle.into_iter().chain(limits).chain(notes.into_iter().flatten()).collect();
    Judged { outcome, reasons }
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
fn obstacle(grounds: &Grounds<'_>, class: &'static Class) -> Option<Reason> {
    obstacle_to_all(grounds.record).or_else(|| {
        let bus = grounds.bus.as_ref().filter(|_| is_out_of_reach(grounds, class))?;
        Some(Reason::BusTooSlow { bus: bus.clone(), class: class.name })
    })
}

/// The bus of `record`, where this alone keeps the class `rule` from being judged.
pub(crate) fn limiting_bus(record: &Record, rule: &str) -> Option<Bus> {
    let class = Class::named(rule)?;
    let doubts = doubts(record);
    let grounds = Grounds { record, doubts: &doubts, bus: Bus::from_record(record) };
    let is_barred = doubts.iter().any(Doubt::forbids_all) || obstacle_to_all(record).is_some();
    let bus = grounds.bus.as_ref().filter(|_| !is_barred && is_out_of_reach(&grounds, class))?;
    Some(bus.clone())
}

/// Why no class can be judged.
fn obstacle_to_all(record: &Record) -> Option<Reason> {
    let is_certain = |phase: &Phase| phase.iops.is_some() || phase.throughput_bytes_per_s.is_some();
    if record.is_imported() && !record.phases.iter().any(is_certain) {
        return Some(Reason::NoIntervals { tool: record.tool.name.clone() });
    }
    if record.conditions.target.read_only {
        return Some(Reason::ReadOnly);
    }
    if record.state == State::Failed {
        return Some(Reason::RunFailed);
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
fn yardstick(record: &Record, class: &'static Class) -> Option<Reason> {
    match storage(&record.conditions.device) {
        Some(Transport::Sd) => None,
        storage => Some(Reason::NotSeenAsSdCard { storage: storage.cloned(), class: class.name }),
    }
}

/// Under which conditions a recording class was measured.
fn method(record: &Record, class: &Class) -> Option<Reason> {
    let [limit] = limits_of(class)[..] else { return None };
    let phase = Finding::find(record, |phase| limit.quantity.is_measured_by(phase)).measured()?;
    Some(Reason::Method {
        written: phase.bytes,
        block: phase.block_size_bytes,
        is_of_second_half: phase.anytime_iops.is_some(),
        family: class.family,
    })
}

/// What the card itself claims, where it claims this very class.
fn claim(record: &Record, class: &'static Class) -> Option<Reason> {
    let card = record.conditions.device.card.as_ref()?;
    let is_claimed = claimed(&card.claims).iter().any(|other| other.name == class.name);
    is_claimed.then_some(Reason::Claimed { class: class.name })
}

/// Withdraws a miss that the host may be to blame for: A2 is stated for a host that uses the
/// card's command queue and cache.
fn weigh_queue_and_cache(
    record: &Record,
    class: &'static Class,
    judged: &mut Judged,
    others: &[Verdict],
) {
    let may_be_sd = may_be_sd_card(&record.conditions.device);
    if !class.needs_queue_and_cache || judged.outcome != Outcome::Misses || !may_be_sd {
        return;
    }
    let class = class.name;
    let excuse = match QueueAndCache::from_record(record) {
        QueueAndCache::InUse => return judged.note_behind_misses(Reason::QueueInUse { class }),
        QueueAndCache::MissingInCard(why) => {
            return judged.note_behind_misses(Reason::QueueMissing { why, class });
        }
        QueueAndCache::NotUsed(why) => Reason::QueueNotUsed { why, class },
        QueueAndCache::Unknown(why) => Reason::QueueUnknown { why },
    };
    judged.outcome = Outcome::NotTestable;
    let beside = others.iter().filter_map(|other| {
        let class = Class::named(&other.rule).filter(|class| class.is_application())?;
        Some(Reason::OtherClass { class: class.name, outcome: other.outcome })
    });
    judged.reasons.splice(0..0, [excuse].into_iter().chain(beside));
}

impl Judged {
    /// Puts `note` behind the measured misses, which come first.
    fn note_behind_misses(&mut self, note: Reason) {
        let misses = self.reasons.iter().take_while(|reason| reason.code().is_miss()).count();
        self.reasons.insert(misses, note);
    }
}
