//! Which setups are compared: all, or those that the user names.

use cardproof_sqlite::Setting;

use super::catalogue::{self, ForWhom, SETUPS, Setup};
use super::contest::{Contestant, Task};
use crate::failure::Failure;

/// What the names of journal modes begin with.
const SQLITE: &str = "sqlite-";

/// What takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// File systems, the baseline first; none where only journal modes are wanted.
    pub(super) setups: Vec<&'static Setup>,
    /// Journal modes, the baseline first; none where only file systems are wanted.
    pub(super) modes: Vec<Setting>,
    /// What each file system does.
    pub(super) tasks: Vec<Task>,
}

impl Choice {
    /// What `only` names, or everything that is safe to advise; `jobs` likewise.
    pub fn new(only: &[String], jobs: &[Task]) -> Result<Self, Failure> {
        let mut tasks = Vec::new();
        for &task in if jobs.is_empty() { &Task::DEFAULT } else { jobs } {
            if !tasks.contains(&task) {
                tasks.push(task);
            }
        }
        if only.is_empty() {
            let setups = SETUPS.iter().collect();
            return Ok(Self { setups, modes: Setting::USUAL.to_vec(), tasks });
        }
        let mut choice = Self { setups: Vec::new(), modes: Vec::new(), tasks };
        for name in only {
            choice.add(name)?;
        }
        Ok(choice)
    }

    fn add(&mut self, name: &str) -> Result<(), Failure> {
        if let Some(setup) = catalogue::find(name) {
            with_first(&mut self.setups, &SETUPS[0], setup);
            return Ok(());
        }
        match name.strip_prefix(SQLITE).and_then(Setting::find) {
            Some(mode) => with_first(&mut self.modes, Setting::DEFAULT, mode),
            None => {
                return Err(Failure::usage(format!(
                    "there is no setup '{name}'; there is: {}",
                    all_names().join(", ")
                )));
            }
        }
        Ok(())
    }
}

/// Adds `item` to `list`, once, behind what all are compared with.
fn with_first<T: Copy + PartialEq>(list: &mut Vec<T>, first: T, item: T) {
    for item in [first, item] {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

fn all_names() -> Vec<String> {
    let setups = SETUPS.iter().map(|setup| setup.name.to_owned());
    setups.chain(Setting::all().map(mode_name)).collect()
}

/// What a journal mode is called here.
pub(super) fn mode_name(mode: Setting) -> String {
    format!("{SQLITE}{}", mode.name())
}

/// A file system as a contestant.
pub(super) fn of_setup(setup: &Setup) -> Contestant {
    Contestant { name: setup.name.to_owned(), costs: setup.costs, for_whom: setup.for_whom }
}

/// A journal mode as a contestant.
pub(super) fn of_mode(mode: Setting) -> Contestant {
    let for_whom = if mode.is_extreme() { ForWhom::Nobody } else { ForWhom::Anything };
    Contestant { name: mode_name(mode), costs: mode.what_a_crash_costs(), for_whom }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(only: &[&str]) -> Choice {
        let only: Vec<_> = only.iter().map(|&name| name.to_owned()).collect();
        Choice::new(&only, &[]).unwrap()
    }

    #[test]
    fn the_baselines_always_take_part_and_nothing_twice() {
        let names = |choice: &Choice| choice.setups.iter().map(|s| s.name).collect::<Vec<_>>();
        let choice = chosen(&["f2fs", "ext4", "f2fs"]);
        assert_eq!(names(&choice), ["ext4", "f2fs"]);
        assert!(choice.modes.is_empty());
        let choice = chosen(&["sqlite-wal-normal"]);
        assert!(choice.setups.is_empty());
        assert_eq!(choice.modes, [Setting::DEFAULT, Setting::find("wal-normal").unwrap()]);
        let jobs = [Task::Transactions, Task::SyncedWrites, Task::Transactions];
        assert_eq!(Choice::new(&[], &jobs).unwrap().tasks, jobs[..2]);
    }

    #[test]
    fn a_setup_that_can_destroy_a_database_runs_only_if_named() {
        assert!(chosen(&[]).modes.iter().all(|mode| !mode.is_extreme()));
        let named = chosen(&["sqlite-off"]);
        assert_eq!(of_mode(named.modes[1]).for_whom, ForWhom::Nobody);
    }

    #[test]
    fn an_unknown_name_gives_the_known_names() {
        let failure = Choice::new(&["ntfs".to_owned()], &[]).unwrap_err();
        assert!(failure.message.contains("exfat") && failure.message.contains("sqlite-off"));
    }
}
