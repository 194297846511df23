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

use cardproof_facts::{Class, RANDOM_SPAN};
use cardproof_record::{
    CapacityVerdict, EndedBy, OpName, Outcome, PatternName, Phase, Record, Replay, State,
    Transport, Trial, Verdict, WarningCode,
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

/// Where a check was too short.
const LONGER: &str = "For a longer test: `cardproof run`.";

pub use imported::{SPEED_TELLS_NO_FAKE, speed_tells_no_fake};

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

    /// Where else the storage can be tested, as the end of a clause; empty where it cannot be taken out.
    fn elsewhere(&self) -> &'static str {
        match self.transport() {
            _ if self.record.is_simulated() => "",
            Some(Transport::Sd) => " in another reader",
            Some(Transport::Usb) => " in another reader or port",
            _ => "",
        }
    }

    /// Whether the figures are those of the storage, so that advice about it makes sense.
    fn speaks_of_storage(&self) -> bool {
        !self.codes.iter().any(|code| code.forbids_verdict())
    }
}

/// What to do next, most important first; never empty.
#[must_use]
pub fn next_steps(record: &Record, verdicts: &[Verdict]) -> Vec<String> {
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
    let mut steps: Vec<String> = advisers.iter().filter_map(|adviser| adviser(&case)).collect();
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
type Adviser = fn(&Case<'_>) -> Option<String>;

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

/// The advice for a disturbed run, where no other says it.
const IN_PEACE: &str = "Close other programs and run again: other work disturbed the test.";

/// The advice for jobs on files, which show the figures of the job only.
const MEASURE_STORAGE: &str = "Measure the storage itself with `cardproof run`. Its result shows why the job took \
                               this time, and what would make it faster.";

/// The advice where nothing went wrong.
fn otherwise(case: &Case<'_>) -> String {
    if !case.record.flash_timings.is_empty() {
        return flash::of_geometry(case.record);
    }
    otherwise_in_general(case).to_owned()
}

/// The same for all records but those of the geometry.
fn otherwise_in_general(case: &Case<'_>) -> &'static str {
    let record = case.record;
    match &record.trial {
        Some(Trial::Setups(setups)) if setups.comparisons.is_empty() => {
            return "Nothing was compared. Remove the cause that is named above, or choose other setups with \
                    --only.";
        }
        Some(Trial::Setups(_)) if record.phases.is_empty() => return MEASURE_STORAGE,
        Some(Trial::Integrity(_)) => return integrity::NO_HARM,
        Some(Trial::PowerCuts(_)) => {
            return "To find a loss that is rarer, test with more power cuts, such as --cuts 1000.";
        }
        // Their advice is that of what they found, or of the phases and replays beside them.
        Some(Trial::Setups(_) | Trial::Capacity(_) | Trial::Endurance(_) | Trial::Layout(_))
        | None => {}
    }
    if record.phases.is_empty() && !record.job_runs.is_empty() {
        return MEASURE_STORAGE;
    }
    if !record.replays.is_empty() {
        return of_replays(record);
    }
    if record.profile.name == HONESTY {
        return "Cut the power: only power cuts can show whether flushes are honest. `cardproof powercut write --help` \
                says how.";
    }
    if case.has(WarningCode::Disturbed) {
        return "Measure again when nothing else works on this computer. Compare no figures of this run.";
    }
    "Keep this record, and measure again when the system feels slower."
}

/// What is left to say after replays.
fn of_replays(record: &Record) -> &'static str {
    let longest = |replay: &Replay| {
        let kinds = [&replay.reads, &replay.writes, &replay.flushes];
        kinds.into_iter().flatten().map(|requests| requests.latency_ns.max).max()
    };
    if record.replays.iter().filter_map(longest).max() >= Some(FELT_PAUSE) {
        "The job waited 250 ms or more for single requests, which a user notices. Measure the storage \
         itself with `cardproof run`, and compare with a replay on another card."
    } else {
        "No request took so long that a user notices it. For verdicts, measure the storage itself with \
         `cardproof run`."
    }
}

fn say(applies: bool, text: &str) -> Option<String> {
    applies.then(|| text.to_owned())
}

fn distrust(case: &Case<'_>) -> Option<String> {
    case.has(WarningCode::WrongData).then(|| {
        format!(
            "Do not store data on this storage: it returned wrong data. Copy your important files to another \
             device. Then run `cardproof verify`{}. If data is wrong again, replace the storage.",
            case.elsewhere()
        )
    })
}

fn follow_capacity(case: &Case<'_>) -> Option<String> {
    let found = capacity(case.record)?;
    Some(found.advice().unwrap_or_else(|| {
        "The capacity is not proven. Run `cardproof verify` on the device itself with --restore (keeps \
         your data) or --destroy."
            .to_owned()
    }))
}

fn distrust_after_cuts(case: &Case<'_>) -> Option<String> {
    let cuts = case.record.power_cuts()?;
    if cuts.harmful_cuts > 0 {
        return Some(
            "Do not rely on this storage where the power can fail: it lost data that it had reported as \
             written. Use other storage, or a power supply with a battery."
                .to_owned(),
        );
    }
    say(
        cuts.effective_cuts == 0,
        "Run more power cuts, such as --cuts 1000: none of these came during a write, so they tested nothing.",
    )
}

fn distrust_worn(case: &Case<'_>) -> Option<String> {
    let endurance = case.record.endurance()?;
    let has_passed = life::budget(endurance).is_some_and(|budget| budget.passed == Some(true));
    let text = if life::failed_at_once(endurance) {
        "Do not store data on this card: it failed in the first cycle of the test. Find out with `cardproof \
         verify` whether it is a fake."
    } else if endurance.end.is_some() || endurance.bad_pages > 0 {
        "Do not store data on this card: the test has worn it out. Compare its life with other cards of \
         the same model before you buy more of them."
    } else if has_passed {
        "The test used up a part of this card's life. To learn how long such a card lasts, test another \
         one with a larger --budget, or without one."
    } else {
        life::advice_to_go_on(case.record, endurance)
    };
    Some(text.to_owned())
}

fn look_into_faults(case: &Case<'_>) -> Option<String> {
    let has_failed = case.has(WarningCode::Faults)
        || (case.record.state == State::Failed && case.record.setups().is_none());
    let others = match case.transport() {
        Some(Transport::Sd | Transport::Usb) => "Then try another reader, port or power supply. ",
        Some(Transport::Sata) => "Then try another cable, port or power supply. ",
        _ => "",
    };
    has_failed.then(|| {
        format!(
            "Operations failed. Copy your important files to another device, and read the kernel log (dmesg). \
             {others}If operations fail again, replace the storage."
        )
    })
}

fn name_real_storage(case: &Case<'_>) -> Option<String> {
    say(
        case.has(WarningCode::Memory),
        "This run measured memory. Name a directory on the storage that you want to measure, such as \
         one below /home or /media: cardproof run DIRECTORY.",
    )
}

fn show_layer_beneath(case: &Case<'_>) -> Option<String> {
    say(
        case.has(WarningCode::LayerUnknown) && !case.has(WarningCode::Memory),
        "Run cardproof as root and outside of any chroot or container, so that it can find the device \
         below; or name a directory on the storage itself.",
    )
}

fn go_around_file_system(case: &Case<'_>) -> Option<String> {
    say(
        case.has(WarningCode::CopyOnWrite),
        "To judge the storage itself, measure a directory on a file system that overwrites in \
         place, such as ext4, or read the whole device.",
    )
}

fn go_around_cache(case: &Case<'_>) -> Option<String> {
    say(
        case.has(WarningCode::Buffered) && !case.has(WarningCode::Memory),
        "Measure a directory on a file system with direct I/O, such as ext4: the page cache hides the \
         speed of the storage.",
    )
}

fn go_around_memory(case: &Case<'_>) -> Option<String> {
    say(
        case.has(WarningCode::AboveLink),
        "A rate is above the bus limit, so the data came from elsewhere, such as a cache. Measure again \
         with a larger --size, or attach the storage directly.",
    )
}

fn finish(case: &Case<'_>) -> Option<String> {
    let seconds = case.record.profile.time_budget_ns.as_secs_f64();
    matches!(case.record.state, State::Partial | State::Running).then(|| {
        // Work of a fixed amount has no time of its own.
        let is_repeated = case.record.phases.iter().any(|phase| phase.runs.len() > 1);
        let of_one = if is_repeated { "each of its runs" } else { "it" };
        let time = if seconds > 0.0 {
            format!("; {of_one} takes about {seconds:.0} s")
        } else {
            String::new()
        };
        format!("The run is not complete. Run it again to its end{time}.")
    })
}

/// Advice where the test range was too small: by the time budget, by the room, or by `--size`.
fn widen_range(case: &Case<'_>) -> Option<String> {
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
        Some(whole) if case.is_of_check() => format!(
            "The test range was {least} instead of {whole}, since the time of a check ended. {LONGER}"
        ),
        None if case.is_of_check() => range::widen_for_check(case, least)?,
        Some(whole) => format!(
            "The test range was {least} instead of {whole}, since the time budget ended. Run again \
             with a longer --time-budget, such as 5m."
        ),
        // A profile that follows another tool's method has that tool's range.
        None if !case.record.figures.is_empty() => return None,
        None => range::widen_to_class_range(case, least)?,
    })
}

fn allow_writes(case: &Case<'_>) -> Option<String> {
    say(
        case.record.conditions.target.read_only,
        "To measure writes too, name a directory on the mounted storage. cardproof writes its own file \
         there and removes it.",
    )
}

fn repeat_in_peace(case: &Case<'_>) -> Option<String> {
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
    let (option, why) = if is_repeated {
        ("a larger --repeat, such as 5", "more runs give a clearer result")
    } else if case.ended_by_its_bytes() {
        ("--profile standard --time-budget 5m", "this profile has written as much as it may")
    } else {
        ("a longer --time-budget, such as 5m", "a longer test gives a clearer result")
    };
    let has_room = widen_range(case).is_none() && !case.record.conditions.target.read_only;
    let first = if case.record.is_simulated() { "Run" } else { "Close other programs and run" };
    if slow::is_hopeless(case) {
        return None;
    }
    if !(case.speaks_of_storage() && has_room && (is_undecided || is_unclear)) {
        return say(case.has(WarningCode::Disturbed) && !range::is_futile(case), IN_PEACE);
    }
    Some(if case.is_of_check() {
        format!("{first} the check again: its figures are too uneven. {LONGER}")
    } else {
        format!("{first} again with {option}: {why}.")
    })
}

/// Advice where the run ended as soon as one class was certain, and another class stayed open.
fn test_other_class(case: &Case<'_>) -> Option<String> {
    let profiles = [("A1", "a1"), ("A2", "a2")];
    let is_open = |(rule, _): &(&str, &str)| case.outcome(rule) == Some(Outcome::Undecided);
    let (rule, profile) = profiles.into_iter().find(is_open)?;
    case.ends_when_certain().then(|| {
        format!(
            "This run ended when one class was certain. To test {rule}, run with --profile {profile}."
        )
    })
}

/// Advice where the sequential read rate is close to the bus limit.
fn unblock_link(case: &Case<'_>) -> Option<String> {
    let device = &case.record.conditions.device;
    let ceiling = device.link_ceiling_bytes_per_s? as f64;
    let read = Finding::find(case.record, |phase| is_sequential(phase, OpName::Read));
    let rate = shown_rate(read.measured()?)?.estimate;
    let limit = Throughput(ceiling);
    // What is soldered or virtual has no other reader.
    let faster = match case.transport() {
        Some(Transport::Sd | Transport::Usb) => " A faster reader or port may give a higher rate.",
        _ => "",
    };
    (case.speaks_of_storage() && rate.per_second() >= BUS_BOUND * ceiling).then(|| {
        format!("The sequential read rate ({rate}) is close to the bus limit ({limit}).{faster}")
    })
}

fn settle_pauses(case: &Case<'_>) -> Option<String> {
    let pauses = (0..case.record.phases.len()).flat_map(|index| pauses_in(case.record, index));
    let stands_still = pauses.map(|pause| pause.length).max() >= Some(PAUSE_POOR);
    (case.speaks_of_storage() && stands_still).then(|| {
        let trim = match card::trimming(case) {
            card::Trimming::Unknown => "",
            card::Trimming::NoHarmKnown => ", run fstrim if the file system supports it",
            card::Trimming::Harmful => " (do not run fstrim: a kernel's list says that it can harm this card)",
        };
        format!(
            "The storage paused for a second or more. Free some space{trim}, and measure again. If the pauses \
             stay, the storage itself causes them; only other storage helps."
        )
    })
}

/// Advice where the run tested a part of a card or stick, so that the rest may not exist.
fn verify_capacity(case: &Case<'_>) -> Option<String> {
    let record = case.record;
    let is_of_run =
        !record.is_imported() && !record.phases.is_empty() && record.capacity().is_none();
    let is_often_faked = matches!(case.transport(), Some(Transport::Sd | Transport::Usb));
    if !is_of_run || !is_often_faked || case.has(WarningCode::WrongData) {
        return None;
    }
    let size = size_beyond_range(record)?;
    Some(format!("A run does not show whether all {size} are real. `cardproof verify` does."))
}
