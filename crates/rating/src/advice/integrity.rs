//! Advice after tests of a command queue and of discards.

use super::{Case, Step};
use crate::integrity::{DiscardVerdict, QueueVerdict, integrity};

pub(super) fn distrust_queue(case: &Case<'_>) -> Option<Step> {
    let queue = integrity(case.record)?.queue?;
    Some(match queue.verdict {
        QueueVerdict::Corrupts => Step::QueueCorrupts,
        QueueVerdict::CorruptsWithoutQueue => Step::WrongDataWithoutQueue,
        QueueVerdict::Failing => Step::DeviceErrors,
        QueueVerdict::Undecided if queue.queued.wrong > 0 => Step::WrongDataOfUnknownCause,
        QueueVerdict::Undecided => Step::LetTestEnd,
        QueueVerdict::Sound if queue.is_card_queue_on == Some(false) => Step::QueueNotTested,
        QueueVerdict::Sound => return None,
    })
}

pub(super) fn judge_discards(case: &Case<'_>) -> Option<Step> {
    let discard = integrity(case.record)?.discard?;
    Some(match discard.verdict {
        DiscardVerdict::HarmsData | DiscardVerdict::ReturnsOldData => Step::DoNotTrim,
        DiscardVerdict::NoEffect => Step::TrimHasNoEffect,
        DiscardVerdict::Unsupported => Step::CannotTrim,
        DiscardVerdict::Failing => Step::DeviceErrors,
        DiscardVerdict::CorruptsWithoutDiscards => Step::WrongDataWithoutDiscards,
        DiscardVerdict::Undecided if discard.wrong_places > 0 => Step::WrongDataOfUnknownCause,
        DiscardVerdict::Undecided => Step::LetTestEnd,
        DiscardVerdict::Sound => return None,
    })
}
