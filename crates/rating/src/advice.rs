//! What to do next, from what a record and its verdicts say.
//!
//! Advice is given only where the record gives a cause for it; a run that leaves nothing to do
//! says so. What protects data comes first, then what makes the measurement sound, then what
//! makes the system faster.

use cardproof_record::{OpName, Outcome, Record, Replay, State, Transport, Verdict, WarningCode};

use crate::bus::BUS_BOUND;
use crate::classes::{CLASS_SPAN, Class};
use crate::doubts::doubts;
use crate::meaning::PAUSE_POOR;
use crate::pauses::{FELT_PAUSE, pauses_in};
use crate::pick::{Figure, Finding, is_sequential};
use crate::transports::storage;

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
    let advisers: &[Adviser] = if record.is_imported() { &OF_IMPORTED } else { &OF_OWN };
    let mut steps: Vec<String> = advisers.iter().filter_map(|adviser| adviser(&case)).collect();
    if steps.is_empty() {
        steps.push(otherwise(record).to_owned());
    }
    steps
}

/// Gives a piece of advice where it applies.
type Adviser = fn(&Case<'_>) -> Option<String>;

/// What another tool did cannot be run again from here, nor can its conditions be seen.
const OF_IMPORTED: [Adviser; 3] = [distrust, look_into_faults, measure_with_intervals];

const OF_OWN: [Adviser; 15] = [
    distrust,
    look_into_faults,
    name_real_storage,
    show_layer_beneath,
    go_around_file_system,
    go_around_cache,
    go_around_memory,
    finish,
    give_room,
    allow_writes,
    repeat_in_peace,
    unblock_link,
    settle_pauses,
    choose_card,
    test_a2,
];

/// What is left to say where nothing needs doing.
fn otherwise(record: &Record) -> &'static str {
    if record.phases.is_empty() && (!record.job_runs.is_empty() || record.setups.is_some()) {
        return "Measure the storage itself with `cardproof run`: it tells why the job took so long, \
                and what can be done about it.";
    }
    if !record.replays.is_empty() {
        return of_replays(record);
    }
    "No action is needed. Keep this record, and measure again when the system feels slower."
}

/// What is left to say after replays.
fn of_replays(record: &Record) -> &'static str {
    let longest = |replay: &Replay| {
        let kinds = [&replay.reads, &replay.writes, &replay.flushes];
        kinds.into_iter().flatten().map(|requests| requests.latency_ns.max).max()
    };
    if record.replays.iter().filter_map(longest).max() >= Some(FELT_PAUSE) {
        "The job waited for single requests for a quarter of a second or more, which is felt. Measure \
         the storage itself with `cardproof run`, and compare with a replay on another card."
    } else {
        "No request of the job was waited for long enough to be felt. Measure the storage itself with \
         `cardproof run` for its verdicts."
    }
}

fn say(applies: bool, text: &str) -> Option<String> {
    applies.then(|| text.to_owned())
}

fn distrust(case: &Case<'_>) -> Option<String> {
    say(
        case.has(WarningCode::WrongData),
        "Do not trust this storage with data: it returned data that differs from what was written. Copy \
         off what matters, then measure again in another reader; if it happens again, replace it.",
    )
}

fn look_into_faults(case: &Case<'_>) -> Option<String> {
    say(
        case.has(WarningCode::Faults) || case.record.state == State::Failed,
        "Operations failed. Copy off what matters, read the kernel's log (dmesg), and try another \
         reader, port or power supply; if it fails again, replace the storage.",
    )
}

fn measure_with_intervals(case: &Case<'_>) -> Option<String> {
    Some(format!(
        "For verdicts and grades, measure the storage with `cardproof run`; compare the figures of \
         {} with others by `cardproof compare`.",
        case.record.tool.name
    ))
}

fn name_real_storage(case: &Case<'_>) -> Option<String> {
    say(
        case.has(WarningCode::Memory),
        "Name a directory on the storage you mean, such as one under /home or /media: cardproof \
         run DIRECTORY.",
    )
}

fn show_layer_beneath(case: &Case<'_>) -> Option<String> {
    say(
        case.has(WarningCode::LayerUnknown) && !case.has(WarningCode::Memory),
        "Run cardproof as root and outside of any chroot or container, where it can see what the \
         device rests on; or name a directory on the storage itself.",
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
        "Measure where direct I/O is possible, such as a directory on ext4: what passes through \
         memory says little of the storage.",
    )
}

fn go_around_memory(case: &Case<'_>) -> Option<String> {
    say(
        case.has(WarningCode::AboveLink),
        "A figure is above what the link can carry, so something else than the storage answered. \
         Measure again with a larger --size, or attach the storage directly.",
    )
}

fn finish(case: &Case<'_>) -> Option<String> {
    let seconds = case.record.profile.time_budget_ns.as_secs_f64();
    matches!(case.record.state, State::Partial | State::Running).then(|| {
        // Work of a fixed amount has no time of its own.
        let time =
            if seconds > 0.0 { format!(": it takes about {seconds:.0} s") } else { String::new() };
        format!("Run it again to its end{time}.")
    })
}

fn give_room(case: &Case<'_>) -> Option<String> {
    let is_short =
        case.record.phases.iter().any(|phase| phase.is_measured() && phase.span_bytes < CLASS_SPAN);
    (is_short || case.has(WarningCode::SpanReduced)).then(|| {
        format!(
            "Free some space and run it again, or ask for the full range with --size 256M: the \
             class limits are for {CLASS_SPAN}, and a smaller range flatters."
        )
    })
}

fn allow_writes(case: &Case<'_>) -> Option<String> {
    say(
        case.record.conditions.target.read_only,
        "To measure writes as well, name a directory on the mounted storage: cardproof writes a \
         file of its own there and removes it.",
    )
}

fn repeat_in_peace(case: &Case<'_>) -> Option<String> {
    let is_undecided = case.verdicts.iter().any(|verdict| {
        let is_application = Class::named(&verdict.rule).is_none_or(Class::is_application);
        is_application && verdict.outcome == Outcome::Undecided
    });
    let is_unclear = case.has(WarningCode::Unsteady) || case.has(WarningCode::FewOperations);
    let has_room = give_room(case).is_none() && !case.record.conditions.target.read_only;
    say(
        case.speaks_of_storage() && has_room && (is_undecided || is_unclear),
        "Run it again while the machine does nothing else, with a larger --time-budget: more \
         operations narrow the intervals.",
    )
}

/// Advice where the sequential read is near what the link can carry.
fn unblock_link(case: &Case<'_>) -> Option<String> {
    let device = &case.record.conditions.device;
    let ceiling = device.link_ceiling_bytes_per_s? as f64;
    let read = Finding::of(case.record, |phase| is_sequential(phase, OpName::Read));
    let rate = Figure::of_throughput(read.measured()?)?.estimate;
    let link = device.link.as_deref().unwrap_or("its link");
    (case.speaks_of_storage() && rate.per_second() >= BUS_BOUND * ceiling).then(|| {
        format!(
            "Sequential reading ({rate}) is near what the link carries ({link}): a faster reader \
             or port may show more."
        )
    })
}

fn settle_pauses(case: &Case<'_>) -> Option<String> {
    let pauses = (0..case.record.phases.len()).flat_map(|index| pauses_in(case.record, index));
    let stands_still = pauses.map(|pause| pause.length).max() >= Some(PAUSE_POOR);
    say(
        case.speaks_of_storage() && stands_still,
        "Free space, run fstrim where the file system offers it, and measure again. Pauses that \
         stay are the card's own housekeeping, and only another card ends them.",
    )
}

fn choose_card(case: &Case<'_>) -> Option<String> {
    if case.outcome("A1") != Some(Outcome::Misses) {
        return None;
    }
    let text = match case.transport() {
        Some(Transport::Sd | Transport::Usb) => {
            "Measure once more in another reader or board. If it misses A1 there too, keep it for \
             photos and files, and run systems from a card that meets A1."
        }
        _ => "To run a system from it, compare with a card that meets A1, or with an SSD.",
    };
    Some(text.to_owned())
}

fn test_a2(case: &Case<'_>) -> Option<String> {
    let is_open = case.outcome("A2") == Some(Outcome::NotTestable)
        && case.outcome("A1") == Some(Outcome::Meets);
    say(
        is_open && case.transport() == Some(&Transport::Sd),
        "To test for A2, the host must use the card's command queue and cache. On Linux, \
         Raspberry Pi's own kernel does so on a Pi 5 (dtparam=sd_cqe).",
    )
}
