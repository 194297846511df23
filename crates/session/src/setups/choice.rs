//! Which setups are compared: all, or those that the user names.

use cardproof_sqlite::Setting;
use cardproof_units::Bytes;

use super::catalogue::{self, ForWhom, SETUPS, Setup};
use super::contest::{Contestant, Task};
use super::programs::{find_program, is_in_kernel};
use super::setup_storage::NotTried;
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
    /// Whether the user named them.
    is_named: bool,
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
            return Ok(Self { setups, modes: Setting::USUAL.to_vec(), tasks, is_named: false });
        }
        let mut choice = Self { setups: Vec::new(), modes: Vec::new(), tasks, is_named: true };
        for name in only {
            choice.add(name)?;
        }
        Ok(choice)
    }

    /// The file systems that cannot be made with `size` or mounted here, with the reason. Only root may ask
    /// the kernel.
    pub(super) fn not_possible(&self, size: Bytes) -> Vec<(&'static str, String)> {
        let reason = |setup: &&'static Setup| {
            let (program, package) = setup.maker;
            let why = if find_program(program).is_none() {
                NotTried::NoMaker { program, package }
            } else if !is_in_kernel(setup.filesystem) {
                NotTried::NotInKernel { filesystem: setup.filesystem }
            } else if size < setup.size_min {
                let Setup { filesystem, size_min: needed, .. } = **setup;
                NotTried::TooSmall { filesystem, needed, size }
            } else {
                return None;
            };
            Some((setup.name, why.to_string()))
        };
        self.setups.iter().filter_map(reason).collect()
    }

    /// Refuses setups that the user named and that cannot be made here, before anything is written.
    pub(super) fn refuse_named(&self, missing: &[(&'static str, String)]) -> Result<(), Failure> {
        match missing.first() {
            Some((setup, reason)) if self.is_named => Err(Failure::usage(format!(
                "{setup} cannot be compared here: {reason}. To compare the others, leave {setup} out of --only"
            ))),
            _ => Ok(()),
        }
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
    fn a_named_setup_that_cannot_be_made_is_refused_before_writing() {
        let missing = [("f2fs", "mkfs.f2fs is not installed".to_owned())];
        let failure = chosen(&["f2fs"]).refuse_named(&missing).unwrap_err();
        assert!(failure.message.contains("mkfs.f2fs") && failure.message.contains("--only"));
        assert!(chosen(&["f2fs"]).refuse_named(&[]).is_ok());
        assert!(chosen(&[]).refuse_named(&missing).is_ok(), "the others are still compared");
    }

    #[test]
    fn an_unknown_name_gives_the_known_names() {
        let failure = Choice::new(&["ntfs".to_owned()], &[]).unwrap_err();
        assert!(failure.message.contains("exfat") && failure.message.contains("sqlite-off"));
    }
}
