//! File systems in turns on one ground.

use cardproof_io::PrivateMount;
use cardproof_io::scratch::Scratch;
use cardproof_record::SetupGround;
use cardproof_units::{Bytes, in_words, with_causes};

use super::bench::{self, Stopped};
use super::catalogue::{ForWhom, Setup};
use super::choice::{Choice, of_setup};
use super::contest::{Contest, Contestant, Task};
use super::place::SetupsPlace;
use super::setup_storage::{self, SetupStorage};
use super::{Common, Found, modes, not_tried};
use crate::failure::Failure;
use crate::target::of_scratch;

/// What a turn writes at most, roughly, beside what its jobs say: a new file system.
const NEW_SYSTEM: Bytes = Bytes::mib(24);

/// Compares in an image in our directory.
pub(super) fn in_image(
    common: &mut Common<'_>,
    place: &SetupsPlace,
    found: &mut Found,
) -> Result<(), Failure> {
    let Some(scratch) = &place.scratch else { return Ok(()) };
    let (file, size) = (scratch.create_file().map_err(|error| of_scratch(&error))?, place.size);
    setup_storage::fill(&file, size, common.seed, common.stop)
        .map_err(Failure::because("cannot write the image"))?;
    if common.is_stopped() {
        return Ok(());
    }
    let ground = SetupStorage::prepare(file, size, scratch)?;
    found.ground = Some(SetupGround { kind: "loop image".to_owned(), size_bytes: size });
    compare(common, &ground, found);
    Ok(())
}

/// What all turns of file systems write at most, roughly, and finding out beforehand what works; of
/// `missing` ones there is no program that makes them.
pub(super) fn written(choice: &Choice, missing: usize, rounds: u32) -> Bytes {
    let jobs: Bytes = choice.tasks.iter().map(|&task| bench::writes(task)).sum();
    let rounds = u64::from(rounds);
    let of_each = rounds * (jobs + NEW_SYSTEM).get() + NEW_SYSTEM.get();
    let setups = choice.setups.len().saturating_sub(missing);
    Bytes(of_each.saturating_mul(setups as u64))
}

/// Compares on `ground` what can be tried there.
pub(super) fn compare(common: &mut Common<'_>, ground: &SetupStorage, found: &mut Found) {
    let mut setups = Vec::new();
    for &setup in &common.choice.setups {
        if common.is_stopped() {
            return;
        }
        // Made and mounted once before it counts: what does not work is found out at once.
        match ground.lay(setup).map(PrivateMount::unmount) {
            Ok(_) => setups.push(setup),
            Err(error) => found.not_tried.push(not_tried(setup.name, &with_causes(&error))),
        }
    }
    if setups.is_empty() {
        return;
    }
    // A baseline alone compares nothing.
    if setups.len() == 1 && common.choice.setups.len() > 1 {
        common.frontend.note(&format!(
            "Only {} works here, so there is nothing to compare it with.",
            setups[0].name
        ));
        return;
    }
    let contestants = setups.iter().map(|setup| of_setup(setup)).collect();
    let title = "File systems and their options";
    let mut contest = Contest::new(title, contestants, common.choice.tasks.clone(), common.seed);
    contest.doubts.extend(ground.doubt().into_iter().chain(common.place_doubts.clone()));
    // A stop leaves what was measured until then.
    let _ = all_rounds(common, ground, &setups, &mut contest);
    found.contests.push(contest);
}

fn all_rounds(
    common: &mut Common<'_>,
    ground: &SetupStorage,
    setups: &[&'static Setup],
    contest: &mut Contest,
) -> Result<(), Stopped> {
    for round in 0..common.rounds {
        for index in contest.order(round) {
            let setup = setups[index];
            common.frontend.note(&format!(
                "  round {} of {}: {}",
                round + 1,
                common.rounds,
                setup.name
            ));
            turn(common, ground, setup, (index, round), contest)?;
        }
    }
    Ok(())
}

/// All tasks of one setup in one round, on a fresh file system.
fn turn(
    common: &mut Common<'_>,
    ground: &SetupStorage,
    setup: &Setup,
    (index, round): (usize, u32),
    contest: &mut Contest,
) -> Result<(), Stopped> {
    let tasks = common.choice.tasks.clone();
    let mount = match ground.lay(setup) {
        Ok(mount) => mount,
        // Ctrl-C ends the tool as well.
        Err(_) if common.is_stopped() => return Err(Stopped),
        Err(error) => {
            for task in tasks {
                contest.note(index, task, round, Err(with_causes(&error)));
            }
            return Ok(());
        }
    };
    for task in tasks {
        if task == Task::Packages && setup.for_whom == ForWhom::StorageOnly {
            let cause = "no packages can be installed on it: it has no owners, rights or links";
            contest.note(index, task, round, Err(cause.to_owned()));
            continue;
        }
        let turn = bench::perform(task, mount.point(), common.seed, common.stop)?;
        contest.note(index, task, round, turn);
    }
    if let Err(error) = mount.unmount() {
        common.frontend.note(&format!(
            "  {} could not be unmounted: {error}",
            setup.name,
            error = in_words(&error)
        ));
    }
    Ok(())
}

/// The same tasks on the file system of the directory itself, which is compared with nothing.
pub(super) fn as_it_is(common: &mut Common<'_>) -> Option<Contest> {
    let contestant = Contestant {
        name: "as it is".to_owned(),
        costs: "nothing changes",
        for_whom: ForWhom::Anything,
    };
    let tasks = vec![Task::SyncedWrites];
    let title = "The file system that is there";
    let mut contest = Contest::new(title, vec![contestant], tasks, common.seed);
    contest.doubts.extend(common.own_doubts());
    for round in 0..common.rounds {
        let (directory, stop) = (&common.target, common.stop);
        let turn = bench::perform(Task::SyncedWrites, directory, common.seed, stop).ok()?;
        contest.note(0, Task::SyncedWrites, round, turn);
    }
    Some(contest)
}

/// Journal modes on a fresh baseline file system.
pub(super) fn modes_on_baseline(common: &mut Common<'_>, ground: &SetupStorage, found: &mut Found) {
    let baseline = &super::catalogue::SETUPS[0];
    let not_tried = |reason: &str| not_tried("journal modes", reason);
    let mount = match ground.lay(baseline) {
        Ok(mount) => mount,
        Err(error) => return found.not_tried.push(not_tried(&with_causes(&error))),
    };
    // All of it is ours, so all of its space is.
    let compared = Scratch::create(mount.point(), None)
        .map_err(|error| of_scratch(&error))
        .and_then(|scratch| modes::compare(common, &scratch, baseline.name));
    match compared {
        Ok(mut contest) => {
            contest.doubts.extend(ground.doubt());
            found.contests.push(contest);
        }
        Err(failure) => {
            common.frontend.note(&failure.message);
            found.not_tried.push(not_tried(failure.kind.in_record()));
        }
    }
}
