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
    /// None of the run, which has not completed a piece yet.
    NotExpected,
}

/// The marks on `target` of the run of `plan` that stands at `state`. Only reads.
///
/// # Errors
/// The engine failed or the device vanished.
pub fn marks(target: &mut dyn Target, plan: &Plan, state: &State) -> Result<Marks, DriveError> {
    found(&mut Drive::new(target, Bytes(PAGE))?, plan, state)
}

/// The same on a device that is in use.
pub(super) fn found(
    drive: &mut Drive<'_>,
    plan: &Plan,
    state: &State,
) -> Result<Marks, DriveError> {
    let position = &state.position;
    let order = plan.order(Pass::Write, position.cycle);
    let is_first = state.cycles.is_empty() && position.pass == Pass::Write;
    // In the first pass only the pieces before the position are ours.
    let written =
        if is_first { &order[..(position.done as usize).min(order.len())] } else { &order };
    if written.is_empty() {
        let is_marked = is_own(drive, plan, first_place(plan))? == Some(true);
        return Ok(if is_marked { Marks::Own } else { Marks::NotExpected });
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(plan.seed.derive("endurance marks"));
    let mut is_readable = false;
    for _ in 0..PLACES {
        let number = written[(random.next_u64() % written.len() as u64) as usize];
        let (offset, _) = plan.piece(Pass::Write, number);
        match is_own(drive, plan, offset)? {
            Some(true) => return Ok(Marks::Own),
            Some(false) => is_readable = true,
            None => {}
        }
    }
    Ok(if is_readable { Marks::Foreign } else { Marks::Unreadable })
}

/// Marks a card on which a run begins, so that it is known from its first piece on. A card that fails to
/// write shows that in the run. Whether it took the mark.
///
/// # Errors
/// The engine failed or the device vanished.
pub(super) fn mark(drive: &mut Drive<'_>, plan: &Plan) -> Result<bool, DriveError> {
    let offset = first_place(plan);
    let written = drive.write_stamped(offset, PAGE, plan.stamp(offset, 1))?;
    let _ = drive.flush()?;
    Ok(written.is_ok())
}

/// Where the first piece of the first cycle begins.
fn first_place(plan: &Plan) -> u64 {
    plan.order(Pass::Write, 1).first().map_or(0, |&number| plan.piece(Pass::Write, number).0)
}

/// Whether a page carries a sector of the run; `None` where it cannot be read.
fn is_own(drive: &mut Drive<'_>, plan: &Plan, offset: u64) -> Result<Option<bool>, DriveError> {
    let Ok(data) = drive.read(offset, PAGE)? else { return Ok(None) };
    let mut stamps = data.as_chunks::<SECTOR>().0.iter().filter_map(Stamp::on);
    Ok(Some(stamps.any(|stamp| stamp.salt == plan.salt())))
}

#[cfg(test)]
mod tests {
    use cardproof_sim::Keeping;
    use cardproof_units::Seed;

    use super::super::plan::{Pattern, Wish};
    use super::*;

    #[test]
    fn a_card_is_known_before_its_first_piece_and_another_with_the_same_seed_is_not() {
        let wish = Wish { pattern: Pattern::Random, cycles_max: None, bytes_max: None };
        let plan = |salt| {
            Plan::new(Bytes::mib(64), wish.clone(), Seed::from_bits(1)).unwrap().salted(salt)
        };
        let card = cardproof_sim::find("sandisk-ultra-a1").unwrap();
        let [mut one, mut other, mut blank] =
            [1, 2, 3].map(|seed| card.open(Seed::from_bits(seed), Keeping::Bytes).unwrap());
        for (target, salt) in [(&mut one, 11), (&mut other, 12)] {
            let mut drive = Drive::new(&mut **target, Bytes(PAGE)).unwrap();
            mark(&mut drive, &plan(salt)).unwrap();
        }
        let state = State::new(&plan(11));
        let found = |target: &mut dyn Target| marks(target, &plan(11), &state).unwrap();
        assert_eq!(found(&mut *one), Marks::Own);
        assert_eq!(found(&mut *other), Marks::NotExpected);
        assert_eq!(found(&mut *blank), Marks::NotExpected);
    }
}
