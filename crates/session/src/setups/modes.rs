//! Journal modes of SQLite in turns on one database.

use cardproof_io::scratch::Scratch;
use cardproof_sqlite::{Database, End, Limits, ROWS, Run};
use cardproof_units::{Bytes, Nanos};

use super::Common;
use super::choice::{Choice, of_mode};
use super::contest::{CONFIDENCE, Contest, Task};
use crate::failure::Failure;
use crate::target::of_scratch;

/// When a turn ends: enough transactions for a figure, and no slow card's patience.
const TURN: Limits = Limits { transactions: 400, time: Nanos::from_secs(6) };

/// How much room it needs.
pub(super) fn room() -> Bytes {
    Database::size_max(ROWS)
}

/// What all turns write at most, roughly, and laying out the database.
pub(super) fn written(choice: &Choice, rounds: u32) -> Bytes {
    if choice.modes.is_empty() {
        return Bytes::ZERO;
    }
    let of_round: Bytes = choice.modes.iter().map(|mode| mode.bytes_a_transaction()).sum();
    let transactions = u64::from(TURN.transactions) * u64::from(rounds);
    room() + Bytes(of_round.get().saturating_mul(transactions))
}

/// Compares in `scratch`, which is on `place`.
pub(super) fn compare(
    common: &mut Common<'_>,
    scratch: &Scratch,
    place: &str,
) -> Result<Contest, Failure> {
    let tree = scratch.create_tree().map_err(|error| of_scratch(&error))?;
    let stop = common.stop;
    let mut database = Database::lay_out(&tree.path_by_handle(), ROWS, common.seed, stop)
        .map_err(Failure::because("no database can be laid out"))?;
    let modes = common.choice.modes.clone();
    let contestants = modes.iter().map(|&mode| of_mode(mode)).collect();
    let title = format!("Journal modes of SQLite, on {place}");
    let mut contest = Contest::new(title, contestants, vec![Task::Transactions], common.seed);
    contest.doubts.extend(common.own_doubts());
    for round in 0..common.rounds {
        common.frontend.note(&format!("  round {} of {}: SQLite", round + 1, common.rounds));
        for index in contest.order(round) {
            let run = database.run(modes[index], TURN, CONFIDENCE, &|| tree.now(), stop);
            if run.end == End::Stopped {
                return Ok(contest);
            }
            contest.note(index, Task::Transactions, round, turn(&run));
        }
    }
    Ok(contest)
}

/// The transactions a second of `run`, or why there is no figure.
pub(super) fn turn(run: &Run) -> Result<f64, String> {
    match (&run.end, run.rate) {
        (End::Failed { cause }, _) => Err(cause.clone()),
        (_, Some(rate)) => Ok(rate.estimate.0),
        (_, None) => Err("not one transaction was done in time".to_owned()),
    }
}
