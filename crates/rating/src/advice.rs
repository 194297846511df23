//! What to do next, from what a record and its verdicts say.
//!
//! Each piece of advice has its cause in the record; a run that needs no action says so. Advice that
//! protects data comes first, then advice for a sound measurement, then advice for a faster system.

mod bad;
mod card;
mod flash;
mod imported;
mod integrity;
mod range;
mod slow;
mod step;

use cardproof_facts::{Class, RANDOM_SPAN};
use cardproof_record::{
    CapacityVerdict, EndedBy, OpName, Outcome, PatternName, Phase, Record, Replay, State,
    StoppedBy, Transport, Trial, Verdict, WarningCode,
};

use crate::bus::BUS_BOUND;
use crate::capacity::capacity;
use crate::defect::defect;
use crate::doubts::doubts;
use crate::life;
use crate::meaning::PAUSE_POOR;
use crate::pauses::{FELT_PAUSE, pauses_in};
use crate::pick::{Finding, is_sequential};
use crate::scope::size_beyond_range;
use crate::shown::shown_rate;
use crate::transports::storage;
use cardproof_units::Throughput;

/// The profile of bursts with flushes.
const HONESTY: &str = "honesty";

pub(crate) use card::Trimming;
pub use imported::speed_tells_no_fake;
pub(crate) use step::{Again, Elsewhere, GoOn, OtherWay, Room, Step};

/// What the pieces of advice look at.
struct Case<'r> {
    record: &'r Record,
    verdicts: &'r [Verdict],
    codes: Vec<WarningCode>,
}

impl Case<'_> {
    fn has(&self, code: WarningCode) -> bool {
        self.codes.contains(&code)
    }

    fn outcome(&self, rule: &str) -> Option<Outcome> {
        self.verdicts.iter().find(|verdict| verdict.rule == rule).map(|verdict| verdict.outcome)
    }

    fn transport(&self) -> Option<&Transport> {
        storage(&self.record.conditions.device)
    }

    /// Whether the run ended because the class of its profile was decided, so that more time would not
    /// help another class.
    fn ends_when_certain(&self) -> bool {
        let own = match self.record.profile.name.as_str() {
            "a1" => "A1",
            "a2" => "A2",
            _ => return false,
        };
        let is_decided = matches!(self.outcome(own), Some(Outcome::Meets | Outcome::Misses));
        is_decided && self.record.phases.iter().any(|it| it.ended_by == Some(EndedBy::Decision))
    }

    /// Whether a phase that was to decide the class of the profile has written what it may, so that more
    /// time would not help.
    fn ended_by_its_bytes(&self) -> bool {
        let is_application = matches!(self.record.profile.name.as_str(), "a1" | "a2");
        let is_at_its_end = |phase: &Phase| {
            phase.pattern == PatternName::Random && phase.ended_by == Some(EndedBy::Bytes)
        };
        is_application && self.record.phases.iter().any(is_at_its_end)
    }

    /// Whether `check` measured it, which has no options for time and range.
    fn is_of_check(&self) -> bool {
        self.record.profile.name == "check"
    }

    /// Where else the storage can be tested.
    fn elsewhere(&self) -> Elsewhere {
        match self.transport() {
            _ if self.record.is_simulated() => Elsewhere::Nowhere,
            Some(Transport::Sd) => Elsewhere::Reader,
            Some(Transport::Usb) => Elsewhere::ReaderOrPort,
            _ => Elsewhere::Nowhere,
        }
    }

    /// Whether the figures are those of the storage, so that advice about it makes sense.
    fn speaks_of_storage(&self) -> bool {
        !self.codes.iter().any(|code| code.forbids_verdict())
    }
}

/// What to do next, most important first; never empty.
pub(crate) fn steps(record: &Record, verdicts: &[Verdict]) -> Vec<Step> {
    let codes = doubts(record).into_iter().map(|doubt| doubt.warning.code).collect();
    let case = Case { record, verdicts, codes };
    let is_to_be_returned = matches!(
        capacity(record).map(|found| found.verdict),
        Some(CapacityVerdict::Fake | CapacityVerdict::Damaged)
    );
    // Nothing makes such a card better.
    if is_to_be_returned && let Some(advice) = follow_capacity(&case) {
        return vec![advice];
    }
    if let Some(defect) = defect(record) {
        return bad::steps(&case, &defect);
    }
    let advisers: &[Adviser] = if record.is_imported() { &OF_IMPORTED } else { &OF_OWN };
    let mut steps: Vec<Step> = advisers.iter().filter_map(|adviser| adviser(&case)).collect();
    if steps.is_empty() {
        steps.push(otherwise(&case));
    }
    if let Some(verify) = verify_capacity(&case) {
        // A screen shows three steps, and a fake is worse than a slow card.
        steps.insert(steps.len().min(VERIFY_PLACE), verify);
    }
    steps
}

/// At most so many steps stand before the one that finds a fake.
const VERIFY_PLACE: usize = 2;

/// Gives a piece of advice where it applies.
type Adviser = fn(&Case<'_>) -> Option<Step>;

/// What another tool did cannot be run again from here, nor can its conditions be seen.
const OF_IMPORTED: [Adviser; 4] =
    [distrust, look_into_faults, imported::tell_no_fake, imported::measure_with_intervals];

const OF_OWN: [Adviser; 23] = [
    distrust,
    follow_capacity,
    distrust_after_cuts,
    integrity::distrust_queue,
    integrity::judge_discards,
    distrust_worn,
    look_into_faults,
    slow::replace,
    flash::complete_geometry,
    name_real_storage,
    show_layer_beneath,
    go_around_file_system,
    go_around_cache,
    go_around_memory,
    finish,
    widen_range,
    allow_writes,
    repeat_in_peace,
    test_other_class,
    unblock_link,
    settle_pauses,
    slow::choose_card,
    card::test_a2,
];

/// The advice where nothing went wrong.
fn otherwise(case: &Case<'_>) -> Step {
    if !case.record.flash_timings.is_empty() {
        return flash::of_geometry(case.record);
    }
    otherwise_in_general(case)
}

/// The same for all records but those of the geometry.
fn otherwise_in_general(case: &Case<'_>) -> Step {
    let record = case.record;
    match &record.trial {
        Some(Trial::Setups(setups)) if setups.comparisons.is_empty() => {
            return Step::NothingCompared;
        }
        Some(Trial::Setups(_)) if record.phases.is_empty() => return Step::MeasureStorage,
        Some(Trial::Integrity(_)) => return Step::NoHarm,
        Some(Trial::PowerCuts(_)) => return Step::MorePowerCuts,
        // Their advice is that of what they found, or of the phases and replays beside them.
        Some(Trial::Setups(_) | Trial::Capacity(_) | Trial::Endurance(_) | Trial::Layout(_))
        | None => {}
    }
    if record.phases.is_empty() && !record.job_runs.is_empty() {
        return Step::MeasureStorage;
    }
    if !record.replays.is_empty() {
        return of_replays(record);
    }
    if record.profile.name == HONESTY {
        return Step::CutThePower;
    }
    if case.has(WarningCode::Disturbed) {
        return Step::MeasureInPeace;
    }
    Step::KeepRecord
}

/// What is left to say after replays.
fn of_replays(record: &Record) -> Step {
    let longest = |replay: &Replay| {
        let kinds = [&replay.reads, &replay.writes, &replay.flushes];
        kinds.into_iter().flatten().map(|requests| requests.latency_ns.max).max()
    };
    if record.replays.iter().filter_map(longest).max() >= Some(FELT_PAUSE) {
        Step::JobWaited
    } else {
        Step::NoRequestIsFelt
    }
}

fn distrust(case: &Case<'_>) -> Option<Step> {
    case.has(WarningCode::WrongData).then(|| Step::WrongData(case.elsewhere()))
}

fn follow_capacity(case: &Case<'_>) -> Option<Step> {
    let found = capacity(case.record)?;
    Some(Step::OfCapacity(Box::new(found)))
}

fn distrust_after_cuts(case: &Case<'_>) -> Option<Step> {
    let cuts = case.record.power_cuts()?;
    if cuts.harmful_cuts > 0 {
        return Some(Step::LosesDataInPowerCuts);
    }
    (cuts.effective_cuts == 0).then_some(Step::CutsTestedNothing)
}

fn distrust_worn(case: &Case<'_>) -> Option<Step> {
    let endurance = case.record.endurance()?;
    let has_passed = life::budget(endurance).is_some_and(|budget| budget.passed == Some(true));
    Some(if life::failed_at_once(endurance) {
        Step::FailedInFirstCycle
    } else if endurance.end.is_some() || endurance.bad_pages > 0 {
        Step::WornOut
    } else if has_passed {
        Step::TestAnotherCard
    } else {
        Step::GoOn(if case.record.is_simulated() {
            GoOn::Simulated
        } else if endurance.stopped_by == StoppedBy::Cycles {
            GoOn::LargerCycles
        } else {
            GoOn::SameCommand
        })
    })
}

fn look_into_faults(case: &Case<'_>) -> Option<Step> {
    let has_failed = case.has(WarningCode::Faults)
        || (case.record.state == State::Failed && case.record.setups().is_none());
    let others = match case.transport() {
        Some(Transport::Sd | Transport::Usb) => Some(OtherWay::Reader),
        Some(Transport::Sata) => Some(OtherWay::Cable),
        _ => None,
    };
    has_failed.then_some(Step::OperationsFailed(others))
}

fn name_real_storage(case: &Case<'_>) -> Option<Step> {
    case.has(WarningCode::Memory).then_some(Step::MeasuredMemory)
}

fn show_layer_beneath(case: &Case<'_>) -> Option<Step> {
    (case.has(WarningCode::LayerUnknown) && !case.has(WarningCode::Memory))
        .then_some(Step::RunOutsideOfContainers)
}

fn go_around_file_system(case: &Case<'_>) -> Option<Step> {
    case.has(WarningCode::CopyOnWrite).then_some(Step::OtherFilesystem)
}

fn go_around_cache(case: &Case<'_>) -> Option<Step> {
    (case.has(WarningCode::Buffered) && !case.has(WarningCode::Memory))
        .then_some(Step::WithoutPageCache)
}

fn go_around_memory(case: &Case<'_>) -> Option<Step> {
    case.has(WarningCode::AboveLink).then_some(Step::AboveBusLimit)
}

fn finish(case: &Case<'_>) -> Option<Step> {
    let seconds = case.record.profile.time_budget_ns.as_secs_f64();
    matches!(case.record.state, State::Partial | State::Running).then(|| Step::RunToItsEnd {
        // Work of a fixed amount has no time of its own.
        seconds: (seconds > 0.0).then_some(seconds),
        is_repeated: case.record.phases.iter().any(|phase| phase.runs.len() > 1),
    })
}

/// Advice where the test range was too small: by the time budget, by the room, or by `--size`.
fn widen_range(case: &Case<'_>) -> Option<Step> {
    let measured = || case.record.phases.iter().filter(|phase| phase.is_measured());
    let smallest = measured().min_by_key(|phase| phase.span_bytes)?;
    let least = smallest.span_bytes;
    // The phase that writes the test file was to write all of it, and the time ended it.
    let whole = measured()
        .filter(|phase| phase.op == OpName::Write && phase.ended_by == Some(EndedBy::Time))
        .map(|phase| phase.span_bytes)
        .max()
        .filter(|whole| *whole > least);
    let is_enough = whole.is_none() && least >= RANDOM_SPAN && !case.has(WarningCode::SpanReduced);
    if is_enough || case.has(WarningCode::WrongData) {
        return None;
    }
    Some(match whole {
        Some(whole) if case.is_of_check() => Step::CheckRangeCut { least, whole },
        None if case.is_of_check() => range::widen_for_check(case, least)?,
        Some(whole) => Step::RangeCut { least, whole },
        // A profile that follows another tool's method has that tool's range.
        None if !case.record.figures.is_empty() => return None,
        None => range::widen_to_class_range(case, least)?,
    })
}

fn allow_writes(case: &Case<'_>) -> Option<Step> {
    case.record.conditions.target.read_only.then_some(Step::NameDirectory)
}

fn repeat_in_peace(case: &Case<'_>) -> Option<Step> {
    let is_undecided = case.verdicts.iter().any(|verdict| {
        let is_application = Class::named(&verdict.rule).is_none_or(Class::is_application);
        is_application && verdict.outcome == Outcome::Undecided
    });
    let is_undecided = is_undecided && !case.ends_when_certain();
    // The bursts of this profile are few by design, whatever its time.
    let is_of_bursts = case.record.profile.name == HONESTY;
    let is_unclear =
        !is_of_bursts && (case.has(WarningCode::Unsteady) || case.has(WarningCode::FewOperations));
    let is_repeated = case.record.phases.iter().any(|phase| phase.runs.len() > 1);
    let how = if is_repeated {
        Again::MoreRuns
    } else if case.ended_by_its_bytes() {
        Again::StandardProfile
    } else {
        Again::MoreTime
    };
    let has_room = widen_range(case).is_none() && !case.record.conditions.target.read_only;
    let is_simulated = case.record.is_simulated();
    if slow::is_hopeless(case) {
        return None;
    }
    if !(case.speaks_of_storage() && has_room && (is_undecided || is_unclear)) {
        let may_help = case.has(WarningCode::Disturbed) && !range::is_futile(case);
        return may_help.then_some(Step::RunInPeace);
    }
    Some(if case.is_of_check() {
        Step::CheckAgain { is_simulated }
    } else {
        Step::RunAgain { is_simulated, how }
    })
}

/// Advice where the run ended as soon as one class was certain, and another class stayed open.
fn test_other_class(case: &Case<'_>) -> Option<Step> {
    let profiles = [("A1", "a1"), ("A2", "a2")];
    let is_open = |(rule, _): &(&str, &str)| case.outcome(rule) == Some(Outcome::Undecided);
    let (rule, profile) = profiles.into_iter().find(is_open)?;
    case.ends_when_certain().then_some(Step::TestOtherClass { rule, profile })
}

/// Advice where the sequential read rate is close to the bus limit.
fn unblock_link(case: &Case<'_>) -> Option<Step> {
    let device = &case.record.conditions.device;
    let ceiling = device.link_ceiling_bytes_per_s? as f64;
    let read = Finding::find(case.record, |phase| is_sequential(phase, OpName::Read));
    let rate = shown_rate(read.measured()?)?.estimate;
    let limit = Throughput(ceiling);
    // What is soldered or virtual has no other reader.
    let has_other_reader = matches!(case.transport(), Some(Transport::Sd | Transport::Usb));
    (case.speaks_of_storage() && rate.per_second() >= BUS_BOUND * ceiling)
        .then_some(Step::CloseToBusLimit { rate, limit, has_other_reader })
}

fn settle_pauses(case: &Case<'_>) -> Option<Step> {
    let pauses = (0..case.record.phases.len()).flat_map(|index| pauses_in(case.record, index));
    let stands_still = pauses.map(|pause| pause.length).max() >= Some(PAUSE_POOR);
    (case.speaks_of_storage() && stands_still).then(|| Step::StorageStops(card::trimming(case)))
}

/// Advice where the run tested a part of a card or stick, so that the rest may not exist.
fn verify_capacity(case: &Case<'_>) -> Option<Step> {
    let record = case.record;
    let is_of_run =
        !record.is_imported() && !record.phases.is_empty() && record.capacity().is_none();
    let is_often_faked = matches!(case.transport(), Some(Transport::Sd | Transport::Usb));
    if !is_of_run || !is_often_faked || case.has(WarningCode::WrongData) {
        return None;
    }
    let size = size_beyond_range(record)?;
    Some(Step::VerifyCapacity(size))
}
