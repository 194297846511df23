//! Advice that rests on what the kernel's lists know of the card.

use cardproof_record::{Outcome, Transport};

use super::{Case, Step};
use crate::sd_queue::{QueueStep, queue_step};

/// What is known of telling the storage what is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trimming {
    /// A kernel's list says that this card loses data by it, or that it does not work.
    Harmful,
    /// The lists were looked at and do not name it, or its kind has no such list.
    NoHarmKnown,
    /// It could not be looked up.
    Unknown,
}

/// Whether the storage may be trimmed. A card behind a USB reader is known by no list.
pub(super) fn trimming(case: &Case<'_>) -> Trimming {
    let card = case.record.conditions.device.lowest().card.as_ref();
    match (card.and_then(|card| card.harmed_by_trimming), case.transport()) {
        (Some(true), _) => Trimming::Harmful,
        (Some(false), _) | (None, Some(Transport::Nvme | Transport::Sata)) => Trimming::NoHarmKnown,
        (None, _) => Trimming::Unknown,
    }
}

/// How A2 can be tested, where A1 is passed and A2 could not be tested.
pub(super) fn test_a2(case: &Case<'_>) -> Option<Step> {
    let is_open = case.outcome("A2") == Some(Outcome::NotTestable)
        && case.outcome("A1") == Some(Outcome::Meets);
    if !is_open || case.transport() != Some(&Transport::Sd) {
        return None;
    }
    match queue_step(&case.record.conditions) {
        QueueStep::InUse | QueueStep::NotWithThisCard => None,
        step => Some(Step::TestA2(step)),
    }
}
