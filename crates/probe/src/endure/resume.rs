//! Whether a card is the one that a run was begun on: our own marks on it.

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
use cardproof_io::Target;
use cardproof_units::Bytes;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::bad::PAGE;
use super::plan::Plan;
use super::state::{Pass, State};
use crate::{Drive, DriveError};

/// How many places are read.
const PLACES: u64 = 64;

/// What marks a card carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Those of the run.
    Own,
    /// None of the run: other data.
    Foreign,
    /// Nothing can be read.
    Unreadable,
    /// The run has not written anything that it is sure of.
    NotExpected,
}

/// The marks on `target` of the run of `plan` that stands at `state`. Only reads.
///
/// # Errors
/// The engine failed or the device vanished.
pub fn marks(target: &mut dyn Target, plan: &Plan, state: &State) -> Result<Marks, DriveError> {
    let position = &state.position;
    let order = plan.order(Pass::Write, position.cycle);
    let is_first = state.cycles.is_empty() && position.pass == Pass::Write;
    // In the first pass only the pieces before the position are ours.
    let written =
        if is_first { &order[..(position.done as usize).min(order.len())] } else { &order };
    if written.is_empty() {
        return Ok(Marks::NotExpected);
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(plan.seed.derive("endurance marks"));
    let mut drive = Drive::new(target, Bytes(PAGE))?;
    let (mut own, mut readable) = (0, 0);
    for _ in 0..PLACES {
        let number = written[(random.next_u64() % written.len() as u64) as usize];
        let (offset, _) = plan.piece(Pass::Write, number);
        if let Ok(data) = drive.read(offset, PAGE)? {
            readable += 1;
            let sectors = data.as_chunks::<SECTOR>().0;
            own +=
                u64::from(sectors.iter().any(|sector| {
                    Stamp::on(sector).is_some_and(|stamp| stamp.salt == plan.salt())
                }));
        }
    }
    Ok(match (own, readable) {
        (1.., _) => Marks::Own,
        (0, 1..) => Marks::Foreign,
        _ => Marks::Unreadable,
    })
}
