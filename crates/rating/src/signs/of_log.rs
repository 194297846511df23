//! Signs in the kernel's log.

use std::ops::RangeInclusive;

use cardproof_kernel_log::{Trouble, TroubleKind};
use cardproof_record::OpName;

use super::seen::Seen;
use super::sign::{Certainty, Evidence, Sign, SignKind, SignSource, Weight};

/// Fewer resets of a USB device than this have harmless causes, such as power saving.
const RESETS_MIN: u64 = 3;

/// The kernel's numbers of errors in a checksum: EILSEQ and EBADMSG.
const CHECKSUM_ERRORS: [u16; 2] = [84, 74];

/// The kernel's number of an answer that did not come in time: ETIMEDOUT.
const TIMEOUT_ERROR: u16 = 110;

/// What happens so often, on several days, has no passing cause.
const RETURNS_MIN: u64 = 5;

/// The signs in the log since the start, and in earlier ones.
pub(super) fn signs(seen: &Seen) -> Vec<Sign> {
    let now = of_troubles(&seen.troubles, SignSource::KernelLog, seen.is_present);
    // What could not be used then can be used now.
    let journal = of_troubles(&seen.earlier_troubles, SignSource::EarlierLog, Some(true));
    let crashes = of_troubles(&seen.crash_troubles, SignSource::EarlierLog, Some(true));
    let earlier = of_both(journal, crashes);
    let old = of_troubles(&seen.old_troubles, SignSource::EarlierLog, Some(true));
    let before = before(&seen.errors_before);
    now.into_iter().chain(earlier).chain(old.into_iter().filter_map(faded)).chain(before).collect()
}

/// One note of all errors of what was in this place before.
fn before(errors: &[Trouble]) -> Option<Sign> {
    let first = errors.iter().min_by_key(|it| it.line)?;
    let last = errors.iter().max_by_key(|it| it.last_line)?;
    let count = errors.iter().map(|it| it.count).sum();
    let mut sign = Sign::new(SignKind::EarlierMedium, SignSource::KernelLog, count);
    sign.evidence.first_at = first.first.clone();
    sign.evidence.last_at = last.last.clone();
    Some(sign)
}

/// A sign that is more than 30 days old: it may have been dealt with since.
fn faded(mut sign: Sign) -> Option<Sign> {
    sign.weight = match sign.weight {
        Weight::Dead | Weight::CopyNow => Weight::Watch,
        Weight::Watch => Weight::Note,
        Weight::Note => return None,
    };
    sign.certainty = Certainty::Weak;
    Some(sign)
}

/// The signs of the journal with those of crash logs, each kind once. The same messages may be in both, and each log
/// has its own clock: so the larger count is told, and no time where both have one.
fn of_both(mut signs: Vec<Sign>, others: Vec<Sign>) -> Vec<Sign> {
    for sign in others {
        match signs.iter_mut().find(|known| is_like(known, &sign)) {
            Some(known) => {
                known.count = known.count.max(sign.count);
                let (first_at, last_at) = match (&known.evidence, &sign.evidence) {
                    (Evidence { first_at: None, last_at: None, .. }, it)
                    | (it, Evidence { first_at: None, last_at: None, .. }) => {
                        (it.first_at.clone(), it.last_at.clone())
                    }
                    _ => (None, None),
                };
                join(known, sign);
                (known.evidence.first_at, known.evidence.last_at) = (first_at, last_at);
            }
            None => signs.push(sign),
        }
    }
    signs
}

/// Takes over from `other` of the same kind what it weighs and what both have in common.
fn join(known: &mut Sign, other: Sign) {
    if other.weight > known.weight {
        (known.weight, known.certainty) = (other.weight, other.certainty);
    }
    let (evidence, other) = (&mut known.evidence, other.evidence);
    evidence.error = evidence.error.filter(|error| other.error == Some(*error));
    evidence.filesystem =
        evidence.filesystem.take().filter(|it| other.filesystem.as_ref() == Some(it));
    evidence.wait_ms = evidence.wait_ms.max(other.wait_ms);
}

/// The signs of one log. Two numbers of the kernel may be one kind of sign, and may come by turns.
fn of_troubles(troubles: &[Trouble], source: SignSource, is_present: Option<bool>) -> Vec<Sign> {
    let mut found: Vec<(Sign, RangeInclusive<usize>)> = Vec::new();
    // Whether a card is write-protected is asked of the card and not of its log.
    for trouble in troubles.iter().filter(|it| it.kind != TroubleKind::WriteProtected) {
        let sign = of_trouble(trouble, source, is_present);
        match found.iter_mut().find(|(known, _)| is_like(known, &sign)) {
            Some((known, lines)) => {
                known.count += sign.count;
                if trouble.line < *lines.start() {
                    known.evidence.first_at.clone_from(&sign.evidence.first_at);
                }
                if trouble.last_line > *lines.end() {
                    known.evidence.last_at.clone_from(&sign.evidence.last_at);
                }
                let (first, last) = (*lines.start(), *lines.end());
                *lines = first.min(trouble.line)..=last.max(trouble.last_line);
                join(known, sign);
            }
            None => found.push((sign, trouble.line..=trouble.last_line)),
        }
    }
    found.into_iter().map(|(sign, _)| sign).collect()
}

fn is_like(one: &Sign, other: &Sign) -> bool {
    one.kind == other.kind
        && one.source == other.source
        && one.evidence.op == other.evidence.op
        && one.evidence.partition == other.evidence.partition
}

fn of_trouble(trouble: &Trouble, source: SignSource, is_present: Option<bool>) -> Sign {
    let kind = kind(trouble);
    let mut sign = Sign::new(kind, source, trouble.count);
    sign.evidence = Evidence {
        op: Some(trouble.op).filter(|op| matches!(op, OpName::Read | OpName::Write)),
        partition: trouble.partition.clone(),
        filesystem: trouble.filesystem.map(|it| it.name().to_owned()),
        error: match trouble.kind {
            TroubleKind::Command(error) | TroubleKind::Init(error) => Some(error),
            _ => None,
        },
        first_at: trouble.first.clone(),
        last_at: trouble.last.clone(),
        wait_ms: (trouble.seconds > 0).then_some(trouble.seconds * 1000),
        ..Evidence::default()
    };
    let is_absent = is_present == Some(false);
    match kind {
        // It was found at a later try, or another card is in its place.
        SignKind::NotUsable if !is_absent => {
            (sign.weight, sign.certainty) = (Weight::Watch, Certainty::Likely);
        }
        SignKind::WentAway if is_absent => {
            (sign.weight, sign.certainty) = (Weight::Dead, Certainty::Weak);
        }
        SignKind::Resets if trouble.count < RESETS_MIN => {
            (sign.weight, sign.certainty) = (Weight::Note, Certainty::Weak);
        }
        // A card that stands still again and again is about to stop; one that did so once may go on for years.
        SignKind::NoAnswer | SignKind::StuckBusy if comes_back(trouble) => {
            (sign.weight, sign.certainty) = (Weight::CopyNow, Certainty::Weak);
        }
        _ => {}
    }
    // A file that is used as a device ends too early more often than its disk fails; of an array another disk may fail.
    if trouble.is_indirect && sign.weight > Weight::Watch {
        (sign.weight, sign.certainty) = (Weight::Watch, Certainty::Weak);
    }
    sign
}

/// Whether `trouble` came often, and on more than one day.
const fn comes_back(trouble: &Trouble) -> bool {
    trouble.count >= RETURNS_MIN && trouble.days > 1
}

fn kind(trouble: &Trouble) -> SignKind {
    match trouble.kind {
        TroubleKind::Command(error) if CHECKSUM_ERRORS.contains(&error) => SignKind::WrongChecksums,
        TroubleKind::Command(TIMEOUT_ERROR) => SignKind::NoAnswer,
        TroubleKind::Command(_) => SignKind::FailedCommands,
        TroubleKind::Init(_) => SignKind::NotUsable,
        TroubleKind::StuckBusy => SignKind::StuckBusy,
        TroubleKind::Io if is_boot_area(trouble) => SignKind::FailedBootArea,
        // Nothing can be read of a device that was pulled out, whatever its health.
        TroubleKind::Io
        | TroubleKind::WriteLost
        | TroubleKind::Filesystem
        | TroubleKind::ReadOnly
            if trouble.is_after_gone =>
        {
            SignKind::FailedAfterRemoval
        }
        TroubleKind::Io => SignKind::FailedRequests,
        TroubleKind::Medium => SignKind::UnreadablePlaces,
        TroubleKind::WriteLost => SignKind::LostWrites,
        TroubleKind::Filesystem => SignKind::FilesystemErrors,
        TroubleKind::ReadOnly => SignKind::TurnedReadOnly,
        TroubleKind::Unclean => SignKind::NotUnmounted,
        TroubleKind::BeyondEnd => SignKind::SmallerThanItsFilesystem,
        TroubleKind::Width | TroubleKind::Mode => SignKind::SlowerBus,
        TroubleKind::Queue => SignKind::QueueRestarts,
        TroubleKind::UsbReset => SignKind::Resets,
        TroubleKind::Link => SignKind::LinkErrors,
        TroubleKind::DeviceTimeout => SignKind::NoAnswer,
        TroubleKind::Gone => SignKind::WentAway,
        TroubleKind::TaskBlocked => SignKind::LongWaits,
        TroubleKind::UnderVoltage => SignKind::UnderVoltage,
        TroubleKind::WriteProtected => SignKind::WriteProtected,
    }
}

/// Whether all that failed is in a boot area of an eMMC or in its protected memory.
fn is_boot_area(trouble: &Trouble) -> bool {
    let partition = trouble.partition.as_deref().unwrap_or_default();
    partition.contains("boot") || partition.ends_with("rpmb")
}
