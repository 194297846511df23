//! The two classes of the experiment: their limits, their hosts, their profiles.

use cardproof_facts::{A1, A1_RATES, A2, A2_RATES, RandomRates};
use cardproof_record::{Feature, Record, TargetKind};
use cardproof_sim::Host;
use cardproof_testkit::records;
use cardproof_units::Bytes;
use cardproof_workload::{Profile, application};

/// A class with its limits: operations a second, bytes a second.
pub(super) struct Class {
    pub(super) name: &'static str,
    pub(super) reads: f64,
    pub(super) writes: f64,
    pub(super) sequential: f64,
}

/// What the experiment is about.
pub(super) const CLASSES: [Class; 2] =
    [Class::from_published(&A1, A1_RATES), Class::from_published(&A2, A2_RATES)];

impl Class {
    const fn from_published(class: &cardproof_facts::Class, rates: RandomRates) -> Self {
        Self {
            name: class.name,
            reads: rates.read.0,
            writes: rates.write.0,
            sequential: class.sequential_write.0,
        }
    }

    /// A host on which the class can be tested. The cards have one way, so that their truth can be
    /// computed; a queue of commands hides the command times of none.
    pub(super) const fn host(&self) -> Host {
        Host::SDR104
    }

    pub(super) fn profile(&self) -> Profile {
        if self.name == "A1" { application::a1() } else { application::a2() }
    }

    /// A record of a run to come on a simulated card whose queue and cache are in use.
    pub(super) fn draft(&self) -> Record {
        let mut draft = Record { phases: Vec::new(), ..records::typical_a1_card() };
        (draft.bytes_written, draft.bytes_read) = (Bytes::ZERO, Bytes::ZERO);
        draft.conditions.target.kind = TargetKind::Simulated;
        (draft.conditions.device.link, draft.conditions.device.link_ceiling_bytes_per_s) =
            (None, None);
        let in_use = Feature { enabled: Some(true), ..Feature::default() };
        let card = draft.conditions.device.card.get_or_insert_default();
        (card.command_queue, card.cache) = (in_use.clone(), in_use);
        draft
    }
}
