//! Signs of trouble in words.

use cardproof_rating::Wear;
use cardproof_rating::signs::{
    Attachment, Certainty, Experiment, HealthVerdict, LogRead, Sign, SignKind, SignSource, Signs,
    Suspect, Weight,
};
use cardproof_record::OpName;

use crate::wrap::sentence;

/// The verdict in a few words.
#[must_use]
pub const fn verdict_in_words(verdict: HealthVerdict) -> &'static str {
    match verdict {
        HealthVerdict::Fine => "fine",
        HealthVerdict::WatchIt => "watch it",
        HealthVerdict::CopyNow => "COPY YOUR DATA NOW",
        HealthVerdict::Dead => "DEAD",
        HealthVerdict::NotKnown => "not known",
    }
}

/// The verdict with what it rests on, as a line.
#[must_use]
pub fn headline(signs: &Signs) -> String {
    let verdict = verdict_in_words(signs.verdict);
    match signs.verdict {
        HealthVerdict::Fine => {
            let of = if signs.earlier_medium().is_some() { " of this medium" } else { "" };
            match log_in_words(signs.log) {
                Some(log) => format!("{verdict}: no sign of trouble{of} in {log}"),
                None => format!("{verdict}: no sign of trouble{of}"),
            }
        }
        HealthVerdict::NotKnown => format!("{verdict}, because {}", why_unknown(signs.log)),
        HealthVerdict::WatchIt if signs.weighty().all(|sign| sign.kind.is_of_wear()) => {
            format!("{verdict}: nothing is lost yet, but it is nearly worn out")
        }
        HealthVerdict::WatchIt => format!("{verdict}: nothing is lost yet; look again in a day"),
        HealthVerdict::CopyNow => format!("{verdict} to another device"),
        HealthVerdict::Dead => format!("{verdict}: it does not answer any more"),
    }
}

/// How much of the kernel's log was read, such as `41 days of kernel log (12 starts)`; `None` for less than a day.
pub(crate) fn log_in_words(log: LogRead) -> Option<String> {
    let days = match log.days()? {
        0 => return None,
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    };
    let starts = log.starts();
    let starts = if starts > 1 { format!(" ({starts} starts)") } else { String::new() };
    Some(format!("{days} of kernel log{starts}"))
}

/// What is missing where somebody else than root looks.
pub(crate) const UNREAD_LOG: &str = "this user may not read the kernel log";

/// What is missing where the kernel keeps no log.
pub(crate) const NO_LOG: &str = "there is no kernel log";

/// That nothing is known of the wear.
pub(crate) const WEAR_UNKNOWN: &str = "its wear is not known";

/// What is known of the wear of a device that has not told it, as a clause.
#[must_use]
pub const fn wear_in_words(wear: Wear) -> &'static str {
    match wear {
        Wear::NotLookedAt => "its wear was not looked at",
        Wear::NoStandard => "SD cards have no standard report of wear",
        Wear::Untold => "the kernel does not tell the wear of this eMMC",
        Wear::Virtual => "a virtual disk reports no wear",
        Wear::NoDevice => "this device reports no wear",
        Wear::Simulated => "a simulated card reports no wear",
        Wear::Told | Wear::Unknown => WEAR_UNKNOWN,
    }
}

fn why_unknown(log: LogRead) -> String {
    match log {
        LogRead::NotPermitted => UNREAD_LOG.to_owned(),
        LogRead::Lines => {
            "these lines hold no error of the storage; all that `dmesg` prints tells more"
                .to_owned()
        }
        LogRead::Read { .. } | LogRead::Absent => format!("{NO_LOG}, and {WEAR_UNKNOWN}"),
    }
}

/// The sign in one short part of a sentence, such as `12 writes failed`.
#[must_use]
pub fn short(sign: &Sign) -> String {
    let count = sign.count;
    let many = |one: &str, more: &str| counted(count, one, more);
    match sign.kind {
        SignKind::NotUsable => "it could not be put to use".to_owned(),
        SignKind::WrongData => "data was read back wrong".to_owned(),
        SignKind::UnreadablePlaces => many("unreadable place", "unreadable places"),
        SignKind::FailedRequests => match sign.evidence.op {
            Some(OpName::Read) => many("failed read", "failed reads"),
            Some(OpName::Write) => many("failed write", "failed writes"),
            _ => many("failed read or write", "failed reads or writes"),
        },
        SignKind::LostWrites => many("lost write", "lost writes"),
        SignKind::TurnedReadOnly => "the file system was turned read-only".to_owned(),
        SignKind::FilesystemErrors => many("file system error", "file system errors"),
        SignKind::NotedFilesystemErrors => {
            format!("{} noted on it", many("file system error", "file system errors"))
        }
        SignKind::SelfReportedFailure => "it reports that it fails".to_owned(),
        SignKind::BeyondLife => "it reports that it is beyond its life".to_owned(),
        SignKind::FewSpareBlocks if sign.weight > Weight::Watch => {
            "it reports that almost no spare blocks are left".to_owned()
        }
        SignKind::FewSpareBlocks => "it reports that few spare blocks are left".to_owned(),
        SignKind::NearEndOfLife => used(sign),
        SignKind::ReplacedBlocks => many("replaced block", "replaced blocks"),
        SignKind::WriteProtected => "it takes no writes".to_owned(),
        SignKind::WrongChecksums => many("wrong checksum", "wrong checksums"),
        SignKind::NoAnswer => many("time-out", "time-outs"),
        SignKind::StuckBusy => many("time stuck busy", "times stuck busy"),
        SignKind::FailedCommands => many("failed command", "failed commands"),
        SignKind::QueueRestarts => many("restart of its queue", "restarts of its queue"),
        SignKind::Resets => many("reset", "resets"),
        SignKind::WentAway => "it went away while in use".to_owned(),
        SignKind::FailedAfterRemoval => "requests failed after it had gone".to_owned(),
        SignKind::EarlierMedium => {
            format!("{} of what was in this place before it", many("error", "errors"))
        }
        SignKind::LinkErrors => many("error of the link", "errors of the link"),
        SignKind::LongWaits => "programs waited for it for minutes".to_owned(),
        SignKind::SmallerThanItsFilesystem => "its file system is larger than it".to_owned(),
        SignKind::SlowerBus => "a faster mode of the bus did not work".to_owned(),
        SignKind::UnderVoltage => "the supply voltage was too low".to_owned(),
        SignKind::NotUnmounted => "it was not unmounted before".to_owned(),
        SignKind::SlowRequests => "requests take long".to_owned(),
        SignKind::FailedBootArea => "reads of its boot area failed".to_owned(),
    }
}

fn used(sign: &Sign) -> String {
    match (sign.evidence.used_percent_min, sign.evidence.used_percent_max) {
        (Some(low), Some(high)) => format!("{low} to {high} % of its life used"),
        (Some(low), None) => format!("more than {low} % of its life used"),
        (None, _) => "its life is nearly used up".to_owned(),
    }
}

fn counted(count: u64, one: &str, more: &str) -> String {
    match count {
        0 => more.to_owned(),
        1 => format!("1 {one}"),
        count => format!("{count} {more}"),
    }
}

/// What a sign of this kind means, as a sentence without its full stop.
#[must_use]
pub const fn meaning(kind: SignKind) -> &'static str {
    match kind {
        SignKind::NotUsable => "the card did not start, or its contacts are bad",
        SignKind::WrongData => "it does not keep data",
        SignKind::UnreadablePlaces => "parts of it have failed; more will follow",
        SignKind::FailedRequests => "what was read or written there is lost",
        SignKind::LostWrites => "a file is not what the program wrote",
        SignKind::TurnedReadOnly => {
            "the kernel stopped writing to save what is there; nothing new is kept"
        }
        SignKind::FilesystemErrors => "the file system met wrong data; repair it after the copy",
        SignKind::NotedFilesystemErrors => {
            "the file system is damaged since its last repair; repair it after the copy"
        }
        SignKind::SelfReportedFailure => "the device expects to fail soon",
        SignKind::BeyondLife => "the life that its maker states is over; replace it",
        SignKind::FewSpareBlocks => "bad blocks can soon not be replaced any more",
        SignKind::NearEndOfLife => "plan its replacement",
        SignKind::ReplacedBlocks => "bad blocks were replaced; a growing number is a bad sign",
        SignKind::WriteProtected => {
            "a switch on the adapter, or a card that has ended its life by locking itself"
        }
        SignKind::WrongChecksums => "transfers were damaged on the way and repeated",
        SignKind::NoAnswer => "the device or the way to it stood still",
        SignKind::StuckBusy => "the card was occupied with itself for too long",
        SignKind::FailedCommands => "commands failed and were repeated",
        SignKind::QueueRestarts => {
            "the card's command queue is faulty; on a Raspberry Pi set dtparam=sd_cqe=0"
        }
        SignKind::Resets => "the driver started the device again, which loses what it held",
        SignKind::WentAway => "it was pulled out, lost its power, or failed",
        SignKind::FailedAfterRemoval => "what was not written before it went is lost",
        SignKind::EarlierMedium => {
            "another medium has come since, so they do not count against this storage"
        }
        SignKind::LinkErrors => "the cable or its plugs are bad, as a rule",
        SignKind::LongWaits => "it is overloaded or about to fail",
        SignKind::SmallerThanItsFilesystem => {
            "an image of a larger device was copied to it, or it is smaller than it claims"
        }
        SignKind::SlowerBus => "it runs slower than it could",
        SignKind::UnderVoltage => "writes may be cut off, which damages file systems and cards",
        SignKind::NotUnmounted => "the power was cut, or it was pulled out",
        SignKind::SlowRequests => "it is overloaded, or it corrects many errors",
        SignKind::FailedBootArea => "on some boards this is no fault",
    }
}

/// Where a sign was seen.
#[must_use]
pub const fn source_in_words(source: SignSource) -> &'static str {
    match source {
        SignSource::KernelLog => "kernel log",
        SignSource::EarlierLog => "log of an earlier start",
        SignSource::HostCounters => "counters of the host",
        SignSource::MountTable => "mount table",
        SignSource::FilesystemCounter => "file system's counter",
        SignSource::RequestCounters => "request counters",
        SignSource::Registers => "its registers",
        SignSource::DriveReport => "its health report",
        SignSource::PowerSensor => "power sensor",
        SignSource::ReadBack => "test data",
    }
}

/// How sure a sign is.
#[must_use]
pub const fn certainty_in_words(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Weak => "weak",
        Certainty::Likely => "likely",
        Certainty::Certain => "certain",
    }
}

/// What a sign weighs, in a word or two.
#[must_use]
pub const fn weight_in_words(weight: Weight) -> &'static str {
    match weight {
        Weight::Note => "note",
        Weight::Watch => "watch",
        Weight::CopyNow => "copy now",
        Weight::Dead => "dead",
    }
}

/// The parts that the signs point to; nothing where they point to none.
#[must_use]
pub fn suspects_in_words(signs: &Signs) -> Option<String> {
    let names: Vec<&str> =
        signs.suspects.iter().map(|&it| suspect_in_words(it, signs.attachment)).collect();
    match names.as_slice() {
        [] => None,
        [only] => Some((*only).to_owned()),
        [first @ .., last] => {
            Some(format!("{} or {last}; the signs do not tell them apart", first.join(", ")))
        }
    }
}

const fn suspect_in_words(suspect: Suspect, attachment: Attachment) -> &'static str {
    match suspect {
        Suspect::Card => match attachment {
            Attachment::Soldered => "the eMMC",
            Attachment::Cable | Attachment::Drive => "the drive",
            Attachment::Slot | Attachment::Usb | Attachment::Unknown => "the card",
        },
        Suspect::Reader => "the reader or its contacts",
        Suspect::Power => "the power supply",
        Suspect::Cable => "the cable or its port",
    }
}

/// An experiment as an instruction without its full stop.
#[must_use]
pub const fn experiment_in_words(experiment: Experiment) -> &'static str {
    match experiment {
        Experiment::SwapReader => "try the card in another reader: if errors go on, it is the card",
        Experiment::SwapSupply => {
            "use another power supply and a short cable: if errors stop, it was the power"
        }
        Experiment::SwapCable => {
            "use another cable and another port: if errors stop, it was the cable"
        }
        Experiment::VerifyFull => {
            "find out with cardproof verify --full, once your data is elsewhere, whether it still keeps data"
        }
    }
}

/// When a sign was seen first and last, in brackets; empty where that is not known.
#[must_use]
pub fn when(sign: &Sign) -> String {
    match (&sign.evidence.first_at, &sign.evidence.last_at) {
        (Some(first), Some(last)) if first != last => format!(" ({first} to {last})"),
        (Some(at), _) | (None, Some(at)) => format!(" ({at})"),
        (None, None) => String::new(),
    }
}

/// The whole page: the verdict, the table of signs, what they point to and what to do. `target` is the device as a word
/// of a shell.
#[must_use]
pub fn page(signs: &Signs, target: &str) -> String {
    let mut text = format!("Health: {}\n", headline(signs));
    for sign in &signs.signs {
        let place = match &sign.evidence.partition {
            Some(partition) => format!(" on {partition}"),
            None => String::new(),
        };
        text.push_str(&format!(
            "  {:<9} {}{place}{}\n            Source: {} ({}). {}.\n",
            weight_in_words(sign.weight),
            short(sign),
            when(sign),
            source_in_words(sign.source),
            certainty_in_words(sign.certainty),
            sentence(meaning(sign.kind))
        ));
    }
    text.extend(looked_in_words(signs).map(|it| format!("  Looked at: {it}.\n")));
    text.extend(suspects_in_words(signs).map(|it| format!("  Points to: {it}.\n")));
    let steps = steps(signs, target);
    for (number, step) in (1..).zip(&steps) {
        let head = if number == 1 { "Next:" } else { "     " };
        text.push_str(&format!("  {head} {number}. {step}\n"));
    }
    text
}

/// How far back was looked, where earlier starts were among it; else the verdict says enough.
fn looked_in_words(signs: &Signs) -> Option<String> {
    let LogRead::Read { days, earlier: Some(earlier) } = signs.log else { return None };
    let now =
        days.map_or_else(|| "this start".to_owned(), |days| format!("{days} days since the start"));
    Some(format!(
        "kernel log of {now}, and {} days of {} earlier starts",
        earlier.days, earlier.starts
    ))
}

/// What to do about wear that the device itself reports.
fn replace(signs: &Signs) -> Option<String> {
    let is_worn = signs.weighty().any(|sign| sign.kind.is_of_wear());
    let text = if signs.is_bad() {
        "replace it: it is worn out"
    } else {
        "get another one, and copy your data to it before this one is worn out"
    };
    is_worn.then(|| text.to_owned())
}

/// What to do, the most important first.
fn steps(signs: &Signs, target: &str) -> Vec<String> {
    let copy = signs.is_bad().then(|| "copy your data to another device now".to_owned());
    let experiments = signs.experiments.iter().map(|&it| experiment_in_words(it).to_owned());
    let is_unread = signs.log == LogRead::NotPermitted;
    let as_root =
        is_unread.then(|| format!("sudo cardproof health {target}   (reads the kernel log)"));
    copy.into_iter().chain(replace(signs)).chain(experiments).chain(as_root).collect()
}
