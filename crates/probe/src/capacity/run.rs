//! The order of the experiment: places, filler with looks, reading back, the closer look.

use cardproof_io::Target;

use super::experiment::{Experiment, Outcome, Watch};
use super::plan::Plan;
use super::refine;
use crate::DriveError;

/// Runs `plan` on `target`.
///
/// # Errors
/// The engine failed or the device vanished. A device that fails to read or write is no error.
pub fn run(
    target: &mut dyn Target,
    plan: &Plan,
    watch: &mut dyn Watch,
) -> Result<Outcome, DriveError> {
    let mut experiment = Experiment::new(target, plan, watch)?;
    experiment.write_places()?;
    if experiment.write_filler_with_looks()? {
        experiment.read_all()?;
    } else {
        experiment.read_rest()?;
    }
    refine::narrow(&mut experiment)?;
    experiment.finish()
}
