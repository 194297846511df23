//! On what an experiment works: opened by the safety rules, described for the record, cleaned up.

use cardproof_device::Surroundings;
use cardproof_io::Usage;
use cardproof_record::TargetInfo;

use crate::announcement::Effect;
use crate::failure::Failure;
use crate::frontend::Frontend;
use crate::options::Options;

/// A kind of place that a session can open.
pub trait Place: Sized {
    /// What an experiment must say to get one.
    type Needs;

    /// Opens what the user named, or refuses.
    ///
    /// # Errors
    /// There is no such thing, it is not safe, or it is not of this kind.
    fn open(
        needs: &Self::Needs,
        options: &Options,
        frontend: &mut dyn Frontend,
    ) -> Result<Self, Failure>;

    /// What is known of its surroundings.
    fn surroundings(&self) -> &Surroundings;

    /// The target as the record has it.
    fn target_info(&self) -> TargetInfo;

    /// The name of the simulated card that it is on, if it is on one: then nothing around it has
    /// a meaning, and the record's name follows from the seed.
    fn simulated_card(&self) -> Option<&str> {
        None
    }

    /// All that decides what the simulated card does, in any text form.
    fn simulated_model(&self) -> Option<&str> {
        None
    }

    /// What driving it has cost this process until now; `None` where that says nothing.
    fn cost(&mut self) -> Option<Usage>;

    /// What `effect` does here, in a sentence; `None` where nobody needs to know.
    fn announcement(&self, effect: &Effect) -> Option<String>;

    /// Closes it and removes what is ours; a sentence where something had to stay.
    fn close(self) -> Option<String>;
}
