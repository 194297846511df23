//! The sentences of the answer.

use cardproof_rating::Purpose;
use cardproof_rating::answer::{
    Answer, ClassPlace, Fast, Healthy, Missed, Overall, Place, Powered, Question, Real, SetUp,
    Standing, Thing, Untested,
};
use cardproof_rating::signs::{LogRead, Sign};
use cardproof_rating::{Defect, DefectKind, FELT_PAUSE, Grade, Wear, range_too_small};
use cardproof_record::{ReasonCode, Record, WarningCode};
use cardproof_units::Bytes;
use serde::Serialize;

use super::deciding::{deciding_figure, quantity_in_words};
use crate::clean::one_line;
use crate::signs::{NO_LOG, UNREAD_LOG, WEAR_UNKNOWN, wear_in_words};
use crate::yardstick::{Reached, as_yardstick};

/// The reply to a question, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reply {
    /// The question.
    pub question: Question,
    /// How good it is.
    pub standing: Standing,
    /// One to three words, such as `yes`.
    pub verdict: &'static str,
    /// What it rests on, in parts without full stops.
    pub details: Vec<String>,
}

impl Reply {
    /// The question as a word with its mark.
    #[must_use]
    pub const fn question_in_words(&self) -> &'static str {
        match self.question {
            Question::Real => "Real?",
            Question::Healthy => "Healthy?",
            Question::Fast => "Fast?",
            Question::SetUp => "Set up?",
            Question::Power => "Power?",
        }
    }
}

/// The reply to `question`; `None` where it was not asked.
/// Commands are on `target`.
pub(super) fn reply(answer: &Answer, question: Question, target: &str) -> Option<Reply> {
    let standing = answer.standing(question)?;
    let (verdict, details) = match question {
        Question::Real => {
            real(answer.real.as_ref()?, answer.real_found_on.as_deref(), answer.failure.as_deref())
        }
        Question::Healthy => healthy(answer.healthy.as_ref()?, target),
        Question::Fast => match (answer.fast.as_ref()?, &answer.real) {
            (Fast::NotMeasured { why }, Some(Real::NotTested { why: same }))
                if why == same && matches!(why, Untested::NotPermitted | Untested::Failed) =>
            {
                (NOT_KNOWN, vec!["for the same reason".to_owned()])
            }
            (told, _) => fast(told, answer.failure.as_deref()),
        },
        Question::SetUp => set_up(answer.set_up.as_ref()?),
        Question::Power => power(answer.power.as_ref()?),
    };
    Some(Reply { question, standing, verdict, details })
}

/// The headline.
pub(crate) const fn headline(overall: Overall) -> &'static str {
    match overall {
        Overall::Fake => "FAKE: DO NOT USE IT",
        Overall::Damaged => "DAMAGED: COPY YOUR DATA NOW",
        Overall::LosesData => "LOSES DATA: COPY YOUR DATA NOW",
        Overall::Failing => "FAILING: COPY YOUR DATA NOW",
        Overall::Suspicious => "SUSPICIOUS: TEST IT BEFORE USE",
        Overall::WatchIt => "WATCH IT, AND KEEP A BACKUP",
        Overall::ForASystem(Grade::Good) => "GOOD FOR A SYSTEM",
        Overall::ForASystem(Grade::FairOrGood) => "FAIR TO GOOD FOR A SYSTEM",
        Overall::ForASystem(Grade::Fair) => "FAIR FOR A SYSTEM",
        Overall::ForASystem(Grade::PoorOrFair) => "SLOW TO FAIR FOR A SYSTEM",
        Overall::ForASystem(Grade::Poor) => "TOO SLOW FOR A SYSTEM",
        Overall::WeakPower => "THE POWER SUPPLY IS TOO WEAK",
        Overall::NothingWrong => "NOTHING WRONG FOUND",
        Overall::ForASystem(Grade::Unknown) | Overall::Unknown => "NOT ENOUGH IS KNOWN",
    }
}

/// What `check` would say first of the speed of `record`; `None` where that was not graded.
pub(crate) fn for_a_system(record: &Record) -> Option<&'static str> {
    let overall = Answer::of_record(record)?.overall?;
    let is_graded = matches!(overall, Overall::ForASystem(grade) if grade != Grade::Unknown);
    is_graded.then(|| headline(overall))
}

/// How good the headline is.
pub(crate) const fn standing(overall: Overall) -> Standing {
    match overall {
        Overall::Fake
        | Overall::Damaged
        | Overall::LosesData
        | Overall::Failing
        | Overall::ForASystem(Grade::Poor) => Standing::Bad,
        Overall::Suspicious
        | Overall::WatchIt
        | Overall::WeakPower
        | Overall::ForASystem(Grade::Fair | Grade::PoorOrFair) => Standing::Warning,
        Overall::ForASystem(Grade::Good | Grade::FairOrGood) | Overall::NothingWrong => {
            Standing::Good
        }
        Overall::ForASystem(Grade::Unknown) | Overall::Unknown => Standing::Unknown,
    }
}

/// The [`quote`] for a page: a place among others is marked as the one figure to quote.
pub(crate) fn quote_in_page(answer: &Answer) -> Option<String> {
    let quote = quote(answer)?;
    Some(if is_place(answer) { format!("To quote: {quote}") } else { quote })
}

/// Whether the figure to quote is its place among others, and not what makes it bad.
fn is_place(answer: &Answer) -> bool {
    let is_fake = matches!(answer.real, Some(Real::No { .. }));
    !is_fake && answer.defect.as_ref().is_none_or(|it| is_said_above(answer, it))
}

/// Signs of failure stand in the reply about its health.
fn is_said_above(answer: &Answer, defect: &Defect) -> bool {
    defect.kind == DefectKind::Failing && answer.healthy.is_some()
}

/// The figure that a person can quote: what makes the storage bad, or its place among others.
pub(crate) fn quote(answer: &Answer) -> Option<String> {
    if let Some(Real::No { holds_min, holds_max, announced }) = &answer.real {
        return Some(if holds_max < announced {
            format!("holds {} of {announced}", range(*holds_min, *holds_max))
        } else {
            format!("holds less than {announced}")
        });
    }
    if let Some(defect) = answer.defect.as_ref().filter(|it| !is_said_above(answer, it)) {
        return Some(one_line(&defect.what_in_words()));
    }
    let Some(Fast::Measured { place, .. }) = &answer.fast else { return None };
    place.map(|place| {
        let Place { faster_than, faster_than_min: min, faster_than_max: max, of, .. } = place;
        // A range that is so narrow says no more than its middle.
        let is_narrow = max.abs_diff(min) * 10 <= of;
        match min {
            _ if is_narrow => {
                format!("small writes faster than {faster_than} of {of} published results")
            }
            0 => {
                format!("small writes slower than at least {} of {of} published results", of - max)
            }
            _ => format!("small writes faster than {min} to {max} of {of} published results"),
        }
    })
}

/// A verdict and what it rests on.
type Said = (&'static str, Vec<String>);

fn real(real: &Real, found_on: Option<&str>, failure: Option<&str>) -> Said {
    let (verdict, mut detail) = match real {
        Real::Yes { size, in_full: true } => ("yes", format!("all {size} keep data")),
        Real::Yes { size, in_full: false } => {
            ("yes", format!("samples over all {size} were correct"))
        }
        Real::SoFar { tested, of } => {
            ("yes so far", format!("samples over {tested} of {of} were all correct"))
        }
        Real::No { holds_min, holds_max, announced }
            if holds_min.get() == 0 && holds_max >= announced =>
        {
            ("NO", format!("holds less than the announced {announced}"))
        }
        Real::No { holds_min, holds_max, announced } => {
            ("NO", format!("holds {} of the announced {announced}", range(*holds_min, *holds_max)))
        }
        Real::Damaged => ("damaged", "parts of it do not keep data".to_owned()),
        Real::Suspicious { signs: 1 } => {
            ("doubtful", "1 sign of a counterfeit in what it says of itself".to_owned())
        }
        Real::Suspicious { signs } => {
            ("doubtful", format!("{signs} signs of a counterfeit in what it says of itself"))
        }
        Real::TooSmall { tested, of } => {
            (NOT_KNOWN, format!("nothing wrong found, but only {tested} of {of} were tested"))
        }
        Real::Undecided => (NOT_KNOWN, "the quick test ended before it could tell".to_owned()),
        Real::NotTested { why } => (NOT_KNOWN, untested(*why, failure)),
    };
    if let Some(date) = found_on {
        detail += &format!(" (tested on {date})");
    }
    (verdict, vec![detail])
}

/// The verdict word where there is none.
const NOT_KNOWN: &str = "not known";

/// The verdict word where some uses have a grade, and the whole has none.
const KNOWN_IN_PART: &str = "known in part";

/// Why there is no test; `failure` says what failed, where that is the cause.
fn untested(why: Untested, failure: Option<&str>) -> String {
    let words = match why {
        Untested::NotAsked => "not tested",
        Untested::Saved => "a saved copy of a computer cannot be tested",
        Untested::ReadOnly => "a test must write, and you cannot write here",
        Untested::NotPermitted => "a test must write, and this user may not write here",
        Untested::OnlyRead => "a device is only read",
        Untested::File => "a file has no capacity of its own to test",
        Untested::Holes => "the file has holes (empty parts), which lie on no storage",
        Untested::TooLittleSpace => "too little free space for a test",
        Untested::Unsupported => "this file system does not allow a quick test",
        Untested::Failed => "the test could not be completed",
    };
    match failure.filter(|_| why == Untested::Failed) {
        Some(failure) => format!("{words}: {}", one_line(failure)),
        None => words.to_owned(),
    }
}

fn range(low: Bytes, high: Bytes) -> String {
    let (low, high) = (low.to_string(), high.to_string());
    if low == high { low } else { format!("{low} to {high}") }
}

fn healthy(healthy: &Healthy, target: &str) -> Said {
    match healthy {
        Healthy::Yes { log, is_read_back, life_used_percent_max, wear, earlier_medium } => {
            let read_back = "test data was read back correctly".to_owned();
            let parts = [
                clean_log(*log, earlier_medium.is_some()),
                earlier_medium.as_ref().map(crate::signs::short),
                is_read_back.then_some(read_back),
                Some(life(*life_used_percent_max, *wear, target)),
            ];
            let is_all = *log != LogRead::NotPermitted;
            let parts = parts.into_iter().flatten().chain((!is_all).then(|| UNREAD_LOG.to_owned()));
            (if is_all { "yes" } else { "yes so far" }, parts.collect())
        }
        Healthy::Watch { signs, .. } => ("watch it", parts(signs)),
        Healthy::CopyNow { signs, .. } => ("NO", parts(signs)),
        Healthy::Dead { signs, .. } => ("DEAD", parts(signs)),
        Healthy::LosesData => ("NO", vec!["it loses data, see above".to_owned()]),
        Healthy::NotKnown { log: LogRead::NotPermitted } => {
            (NOT_KNOWN, vec![UNREAD_LOG.to_owned()])
        }
        Healthy::NotKnown { .. } => (NOT_KNOWN, vec![format!("{NO_LOG}, and {WEAR_UNKNOWN}")]),
    }
}

fn clean_log(log: LogRead, has_earlier_medium: bool) -> Option<String> {
    let of = if has_earlier_medium { " of this medium" } else { "" };
    match log {
        LogRead::Read { .. } => Some(crate::signs::log_in_words(log).map_or_else(
            || format!("no error{of} in the kernel log"),
            |log| format!("no error{of} in {log}"),
        )),
        LogRead::Lines | LogRead::NotPermitted | LogRead::Absent => None,
    }
}

/// The used life, or what is known of the wear in its place.
fn life(used_percent_max: Option<u8>, wear: Wear, target: &str) -> String {
    match used_percent_max {
        Some(used) => format!("{} % of its life used", band(used)),
        None if wear == Wear::NotLookedAt && !target.is_empty() => {
            format!("{}: sudo cardproof health {target}", wear_in_words(wear))
        }
        None => wear_in_words(wear).to_owned(),
    }
}

/// A band of ten per cent, which is how finely an eMMC reports its life.
fn band(upper: u8) -> String {
    format!("{} to {upper}", upper.saturating_sub(10))
}

/// At most so many signs are told in the answer; `health` tells all.
const SIGNS_MAX: usize = 3;

fn parts(signs: &[Sign]) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in signs.iter().map(crate::signs::short) {
        if parts.len() < SIGNS_MAX && !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

fn fast(fast: &Fast, failure: Option<&str>) -> Said {
    let (system, purposes, classes, doubt, disturbed, is_card, too_small) = match fast {
        Fast::Measured {
            system,
            purposes,
            a1,
            a2,
            a1_open,
            a2_open,
            a1_missed,
            doubt,
            disturbed,
            tests,
            is_card,
            too_small,
            ..
        } => {
            let classes = [("A1", *a1, *a1_open, *a1_missed), ("A2", *a2, *a2_open, None)];
            (*system, purposes, classes, doubt, (*disturbed, *tests), *is_card, *too_small)
        }
        Fast::NotMeasured { why } => return (NOT_KNOWN, vec![untested(*why, failure)]),
    };
    let known = purposes.iter().filter(|(_, grade)| *grade != Grade::Unknown);
    let mut parts: Vec<String> = known
        .map(|(purpose, grade)| {
            let word = speed_word(*purpose, *grade);
            let figure = deciding_figure(fast, *purpose);
            match (purpose, grade) {
                (Purpose::Pauses, Grade::Good) => format!("no pauses of {FELT_PAUSE} or more"),
                (Purpose::Pauses, _) => format!("{word} pauses{figure}"),
                _ => format!("{} {word}{figure}", purpose_in_words(*purpose)),
            }
        })
        .collect();
    let unknown = purposes.iter().filter(|(_, grade)| *grade == Grade::Unknown);
    let unknown: Vec<&str> = unknown.map(|(purpose, _)| purpose_in_words(*purpose)).collect();
    let is_in_part = system == Grade::Unknown && !parts.is_empty() && doubt.is_none();
    if (disturbed.0 > 0 || is_in_part) && !parts.is_empty() && !unknown.is_empty() {
        parts.push(format!("{} not known", unknown.join(", ")));
    }
    let [(_, a1, ..), _] = classes;
    let classes =
        classes.into_iter().filter_map(|(name, place, open, missed)| match (name, place) {
            // Where A1 is not reached, or cannot be tested either, A2 says no more.
            ("A2", ClassPlace::NotTestable)
                if is_card && matches!(a1, ClassPlace::Passed | ClassPlace::Undecided) =>
            {
                Some("A2 cannot be tested here".to_owned())
            }
            (_, ClassPlace::Failed) if is_card => Some(not_passed(name, missed)),
            _ => class(name, place, open, is_card),
        });
    parts.extend(classes);
    if let Some(doubt) = doubt {
        parts = vec![no_word(*doubt).to_owned()];
    } else if parts.is_empty() && too_small.is_some() {
        parts.push(range_too_small());
    } else if parts.is_empty() {
        parts.push("the figures are too uneven for a grade".to_owned());
    }
    if let (count @ 1.., tests) = disturbed {
        let effect = if doubt.is_none() { effect_of_disturbance(system) } else { "" };
        parts.push(format!("other programs disturbed {count} of {tests} tests{effect}"));
    }
    let verdict = match system {
        Grade::Unknown if is_in_part => KNOWN_IN_PART,
        Grade::Unknown => NOT_KNOWN,
        grade => speed_word(Purpose::System, grade),
    };
    (verdict, parts)
}

/// What the grade of a system is worth although other programs disturbed the tests: they only slow a test, and each
/// grade covers all that the storage may reach without them.
const fn effect_of_disturbance(system: Grade) -> &'static str {
    match system {
        Grade::Good => "; without them it can only be faster, so it stays good",
        Grade::FairOrGood | Grade::Fair | Grade::PoorOrFair => {
            "; they only slow it, and the grades allow for that"
        }
        Grade::Poor => "; it would be slow without them, too",
        Grade::Unknown => "",
    }
}

/// Why there is no word about the speed.
const fn no_word(doubt: WarningCode) -> &'static str {
    match doubt {
        WarningCode::WrongData => "data was read back wrong, so speed says nothing",
        WarningCode::Memory => "this is memory, not storage",
        WarningCode::AboveLink => "the figures are higher than its bus allows",
        WarningCode::CopyOnWrite => "this file system hides the speed of the storage",
        WarningCode::LayerUnknown => "it is not known what lies below this device",
        _ => "the figures are those of a cache, not of the storage",
    }
}

/// The grade of a use in a word or three.
pub(crate) const fn speed_word(purpose: Purpose, grade: Grade) -> &'static str {
    match (purpose, grade) {
        (Purpose::Pauses, Grade::Good) => "no",
        (Purpose::Pauses, Grade::FairOrGood | Grade::Fair | Grade::PoorOrFair) => "some",
        (Purpose::Pauses, Grade::Poor) => "bad",
        (_, grade) => grade.word(),
    }
}

/// The same behind the name of the use.
pub(crate) const fn grade_in_words(purpose: Purpose, grade: Grade) -> &'static str {
    match (purpose, grade) {
        (Purpose::Pauses, Grade::Good) => "none",
        _ => speed_word(purpose, grade),
    }
}

const fn purpose_in_words(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::System => "starting programs",
        Purpose::Programs => "installing",
        Purpose::Databases => "databases",
        Purpose::LargeFiles => "video",
        Purpose::Pauses => "pauses",
    }
}

/// The result of a class. What is no SD card has no class, and is only as fast as one asks.
fn class(name: &str, place: ClassPlace, open: Option<ReasonCode>, is_card: bool) -> Option<String> {
    Some(match place {
        ClassPlace::Passed if is_card => format!("{name} passed"),
        ClassPlace::Passed => as_yardstick(&[name], Reached::Yes),
        ClassPlace::Failed => as_yardstick(&[name], Reached::No),
        ClassPlace::Undecided if is_card => format!("{name} {}", why_open(open)),
        ClassPlace::Undecided => as_yardstick(&[name], Reached::Perhaps),
        ClassPlace::NotTestable => return None,
    })
}

/// That a card does not pass a class, and the rate that is too low.
fn not_passed(name: &str, missed: Option<Missed>) -> String {
    let why = missed.map_or_else(String::new, |Missed { quantity, reached, at_least }| {
        format!(" ({} {reached}, needs {at_least})", quantity_in_words(quantity))
    });
    format!("{name} not passed{why}")
}

/// That a class is undecided, and why.
const fn why_open(open: Option<ReasonCode>) -> &'static str {
    match open {
        Some(ReasonCode::LimitInInterval) => "too close to tell",
        Some(ReasonCode::TooUneven | ReasonCode::LowConfidence) => "not known (too uneven)",
        Some(ReasonCode::RangeReduced) => "not known (test range too small)",
        Some(ReasonCode::Disturbed) => "not known (disturbed)",
        Some(ReasonCode::BusNearLimit) => "not known (the bus is too slow)",
        Some(ReasonCode::Faults) => "not known (operations failed)",
        _ => NOT_KNOWN,
    }
}

fn set_up(set_up: &SetUp) -> Said {
    match set_up {
        SetUp::Yes => ("yes", vec!["no setting to change".to_owned()]),
        SetUp::CanBeBetter { things } => {
            let verdict = if things.len() == 1 { "one thing" } else { "can be better" };
            (verdict, things.iter().map(|&it| thing(it).to_owned()).collect())
        }
        SetUp::Simulated => (NOT_KNOWN, vec!["a simulated card has no settings".to_owned()]),
        SetUp::NotKnown => (NOT_KNOWN, vec!["the settings could not be read".to_owned()]),
    }
}

const fn thing(thing: Thing) -> &'static str {
    match thing {
        Thing::Misaligned => "the partition is not aligned to the card",
        Thing::Bus => "the bus does not run in a normal mode",
        Thing::QueueOrCache => "the card's A2 functions are not in use",
        Thing::Scheduler => "the I/O scheduler does not suit a card",
        Thing::ReadAhead => "the read-ahead is small",
        Thing::AccessTimes => "noatime is not set, so reading a file may write too",
    }
}

fn power(power: &Powered) -> Said {
    let (verdict, detail) = match power {
        Powered::Yes => ("yes", "no under-voltage since the start"),
        Powered::LowVoltage { now: true } => ("LOW", "the voltage is too low now"),
        Powered::LowVoltage { now: false } => {
            ("warning", "the voltage was too low at times since the start")
        }
        Powered::Throttled => ("warning", "heat slowed the processor since the start"),
        Powered::Simulated => (NOT_KNOWN, "a simulated card has no power supply"),
        Powered::NotKnown => (NOT_KNOWN, "the computer does not tell"),
    };
    (verdict, vec![detail.to_owned()])
}
