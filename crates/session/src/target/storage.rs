//! A target that is driven by addresses: a device, a file, a file of our own, or a simulated card.

use cardproof_device::Surroundings;
use cardproof_io::scratch::Scratch;
use cardproof_io::{Abilities, Directness, Target, Usage};
use cardproof_record::{TargetInfo, TargetKind};
use cardproof_units::Bytes;

use super::{StorageNeeds, open_storage};
use crate::announcement::{Effect, Where, noun};
use crate::failure::Failure;
use crate::frontend::Frontend;
use crate::options::Options;
use crate::place::Place;

/// A target that is open, and what is known of it.
pub struct Storage {
    /// Drives it.
    pub target: Box<dyn Target>,
    /// What it is.
    pub kind: TargetKind,
    /// The name of the simulated card that it is, if it is one.
    pub simulated_card: Option<String>,
    /// All that its model is made of, in any text form.
    pub simulated_model: Option<String>,
    /// What is known of its surroundings.
    pub surroundings: Surroundings,
    /// How much of it may be worked in, from its start.
    pub span: Bytes,
    /// Our directory, where there is one; it goes when this goes.
    pub scratch: Option<Scratch>,
}

impl Place for Storage {
    type Needs = StorageNeeds;

    fn open(
        needs: &StorageNeeds,
        options: &Options,
        frontend: &mut dyn Frontend,
    ) -> Result<Self, Failure> {
        open_storage(needs, options, frontend)
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn target_info(&self) -> TargetInfo {
        let Abilities {
            engine,
            engine_fallback,
            size,
            logical_block,
            directness,
            read_only,
            written_before,
            ..
        } = self.target.abilities();
        TargetInfo {
            kind: self.kind,
            size_bytes: *size,
            logical_block_bytes: *logical_block,
            engine: engine.name().into(),
            engine_fallback: engine_fallback.clone(),
            direct: directness.is_direct(),
            buffered_reason: match directness {
                Directness::Direct => None,
                Directness::Buffered { reason } => Some(reason.clone()),
            },
            read_only: *read_only,
            written_before: *written_before,
            extra: Default::default(),
        }
    }

    fn simulated_card(&self) -> Option<&str> {
        self.simulated_card.as_deref()
    }

    fn simulated_model(&self) -> Option<&str> {
        self.simulated_model.as_deref()
    }

    fn cost(&mut self) -> Option<Usage> {
        self.target.cost()
    }

    fn announcement(&self, effect: &Effect) -> Option<String> {
        let abilities = self.target.abilities();
        if abilities.read_only || self.simulated_card.is_some() {
            return None;
        }
        effect.sentence(match self.scratch {
            Some(_) => Where::OwnFiles,
            None => Where::Over(abilities.size, noun(self.kind)),
        })
    }

    fn close(self) -> Option<String> {
        drop(self.target);
        self.scratch?.remove().err().map(|left| left.to_string())
    }
}
