//! Signs in the kernel's log.

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
    let earlier = of_troubles(&seen.earlier_troubles, SignSource::EarlierLog, Some(true));
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

fn of_troubles(troubles: &[Trouble], source: SignSource, is_present: Option<bool>) -> Vec<Sign> {
    let mut signs: Vec<Sign> = Vec::new();
    // Whether a card is write-protected is asked of the card and not of its log.
    for trouble in troubles.iter().filter(|it| it.kind != TroubleKind::WriteProtected) {
        let sign = of_trouble(trouble, source, is_present);
        // Two numbers of the kernel may be one kind of sign.
        match signs.iter_mut().find(|known| is_like(known, &sign)) {
            Some(known) => {
                known.count += sign.count;
                if sign.weight > known.weight {
                    (known.weight, known.certainty) = (sign.weight, sign.certainty);
                }
                known.evidence.last_at = sign.evidence.last_at.or(known.evidence.last_at.take());
            }
            None => signs.push(sign),
        }
    }
    signs
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
