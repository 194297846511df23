//! What was written between the first look and the last, from a look at everything now and then and at processes that
//! have begun every second.
//!
//! When a process has ended and its parent has waited for it, the parent's counters hold all that it ever wrote. So
//! what a process has left to another is taken from the other again, at the look at which it is gone. Counters of
//! control groups begin anew with a group of the same name.

use std::collections::BTreeMap;

use cardproof_device::{GroupWrites, ProcessId, ProcessWrites, Sysroot, WriteCounters, Writes};
use cardproof_rating::ledger::CardCounters;
use cardproof_rating::who::{GroupGrowth, ProgramWrites, Waiting, Watched};

/// The process that takes over all whose parent has ended, and waits for every service.
const INIT: u32 = 1;

/// The sums so far.
pub(super) struct Tally {
    first: WriteCounters,
    last: WriteCounters,
    /// By program and group.
    programs: BTreeMap<(String, String), Writes>,
    groups: BTreeMap<String, GroupGrowth>,
}

impl Tally {
    /// Nothing, after the look `first`.
    pub(super) fn new(first: WriteCounters) -> Self {
        Self { last: first.clone(), first, programs: BTreeMap::new(), groups: BTreeMap::new() }
    }

    /// Adds the processes that have begun since: they may have ended at the next look at everything.
    pub(super) fn meet(&mut self, root: &Sysroot) {
        for process in self.last.meet(root) {
            self.add_program(&process, process.writes);
        }
    }

    /// Adds what the next look at everything shows.
    pub(super) fn add(&mut self, now: WriteCounters) {
        let mut grown: BTreeMap<ProcessId, Writes> = BTreeMap::new();
        for (id, process) in &now.processes {
            let then = self.last.processes.get(id).map_or_else(Writes::default, |it| it.writes);
            grown.insert(*id, less(process.writes, then));
        }
        let inherited = self.take_inheritances(&now, &mut grown);
        for (id, process) in &now.processes {
            self.add_program(process, grown[id]);
        }
        for (process, writes) in inherited {
            self.add_program(&process, writes);
        }
        self.add_groups(&now);
        self.last = now;
    }

    /// Takes from those that live what processes that ended have left to them. What a process wrote after it was seen
    /// last is with whoever waited for it, and stays there, unless that was the first process: then it is returned.
    fn take_inheritances(
        &self,
        now: &WriteCounters,
        grown: &mut BTreeMap<ProcessId, Writes>,
    ) -> Vec<(ProcessWrites, Writes)> {
        let numbers = |counters: &WriteCounters| -> BTreeMap<u32, ProcessId> {
            counters.processes.keys().map(|id| (id.number, *id)).collect()
        };
        let (then, living) = (numbers(&self.last), numbers(now));
        let mut of_init: Vec<&ProcessWrites> = Vec::new();
        for (id, process) in &self.last.processes {
            if now.processes.contains_key(id) {
                continue;
            }
            let Some(heir) = heir(process, &self.last, now, &then, &living) else { continue };
            let Some(grown) = grown.get_mut(&heir) else { continue };
            *grown = less(*grown, process.writes);
            if heir.number == INIT {
                of_init.push(process);
            }
        }
        let init = living.get(&INIT).and_then(|id| grown.get_mut(id));
        let Some(init) = init.filter(|_| !of_init.is_empty()) else { return Vec::new() };
        let rest = std::mem::take(init);
        // One byte more, so that a process that had written nothing yet has a share.
        let weight = |process: &ProcessWrites| process.writes.dirtied_bytes + 1;
        let all = of_init.iter().map(|it| weight(it)).sum();
        of_init.into_iter().map(|it| (it.clone(), part(rest, weight(it), all))).collect()
    }

    fn add_program(&mut self, process: &ProcessWrites, grown: Writes) {
        let key = (process.program.clone(), process.group.clone());
        let sum = self.programs.entry(key).or_default();
        sum.asked_bytes += grown.asked_bytes;
        sum.dirtied_bytes += grown.dirtied_bytes;
        sum.cancelled_bytes += grown.cancelled_bytes;
    }

    fn add_groups(&mut self, now: &WriteCounters) {
        for (path, group) in &now.groups {
            let then = self.last.groups.get(path).copied().unwrap_or_default();
            let sum = self.groups.entry(path.clone()).or_default();
            let is_anew = group.reached_bytes < then.reached_bytes;
            let then = if is_anew { GroupWrites::default() } else { then };
            sum.has_ended |= is_anew;
            sum.reached_bytes += group.reached_bytes - then.reached_bytes;
            sum.swap_weight += swapped_out(group, &then);
        }
        for path in self.last.groups.keys().filter(|path| !now.groups.contains_key(*path)) {
            self.groups.entry(path.clone()).or_default().has_ended = true;
        }
    }

    /// The whole device.
    pub(super) fn disk(&self) -> &str {
        &self.last.disk
    }

    /// All of it.
    pub(super) fn watched(&self, seconds: f64) -> Watched {
        let program = |((program, group), writes): (&(String, String), &Writes)| ProgramWrites {
            program: program.clone(),
            group: group.clone(),
            asked_bytes: writes.asked_bytes,
            dirtied_bytes: writes.dirtied_bytes,
            cancelled_bytes: writes.cancelled_bytes,
        };
        let device = self.device();
        let pages = self.last.swapped_out_pages.saturating_sub(self.first.swapped_out_pages);
        Watched {
            seconds,
            programs: self.programs.iter().map(program).collect(),
            groups: self.groups.clone(),
            waiting: self.waiting(),
            device_bytes: device.sectors_written * 512,
            device_writes: device.writes,
            flushes: device.flushes,
            swapped_out_bytes: pages * page_bytes(),
            hidden: self.last.hidden,
        }
    }

    /// What waited in memory at the first look and at the last.
    fn waiting(&self) -> BTreeMap<String, Waiting> {
        let (first, last) = (&self.first.waiting, &self.last.waiting);
        let of = |path: &String| Waiting {
            before_bytes: first.get(path).copied().unwrap_or(0),
            after_bytes: last.get(path).copied(),
        };
        first.keys().chain(last.keys()).map(|path| (path.clone(), of(path))).collect()
    }

    /// What the device did.
    fn device(&self) -> CardCounters {
        let of = |counters: &WriteCounters| CardCounters::from_stat(&counters.disk_counters);
        let (first, last) = (of(&self.first), of(&self.last));
        first.zip(last).map_or_else(CardCounters::default, |(first, last)| last.since(&first))
    }
}

/// Who has the counters of `process`, which has ended: the nearest above it that lives, or the first process.
fn heir(
    process: &ProcessWrites,
    last: &WriteCounters,
    now: &WriteCounters,
    then: &BTreeMap<u32, ProcessId>,
    living: &BTreeMap<u32, ProcessId>,
) -> Option<ProcessId> {
    let mut parent = process.parent;
    // A chain of parents is no longer than there are processes.
    for _ in 0..last.processes.len() {
        let Some(id) = then.get(&parent) else { break };
        if now.processes.contains_key(id) {
            return Some(*id);
        }
        parent = last.processes.get(id)?.parent;
    }
    living.get(&INIT).copied()
}

/// Bytes that were swapped out for a group, or as much as what lies in swap and what was read from it tell.
fn swapped_out(now: &GroupWrites, then: &GroupWrites) -> u64 {
    if let Some(pages) = now.swapped_out_pages {
        return pages.saturating_sub(then.swapped_out_pages.unwrap_or(0)) * page_bytes();
    }
    let read = now.swapped_in_pages.saturating_sub(then.swapped_in_pages) * page_bytes();
    (now.swap_bytes + read).saturating_sub(then.swap_bytes)
}

fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

const fn less(from: Writes, take: Writes) -> Writes {
    Writes {
        asked_bytes: from.asked_bytes.saturating_sub(take.asked_bytes),
        dirtied_bytes: from.dirtied_bytes.saturating_sub(take.dirtied_bytes),
        cancelled_bytes: from.cancelled_bytes.saturating_sub(take.cancelled_bytes),
    }
}

/// `weight` of `all` of `of`.
fn part(of: Writes, weight: u64, all: u64) -> Writes {
    let share = weight as f64 / all as f64;
    let part = |bytes: u64| (bytes as f64 * share) as u64;
    Writes {
        asked_bytes: part(of.asked_bytes),
        dirtied_bytes: part(of.dirtied_bytes),
        cancelled_bytes: part(of.cancelled_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A look at processes, each with its number, its parent, its group and its bytes, and at groups.
    fn look(processes: &[(u32, u32, &str, u64)], groups: &[(&str, u64)]) -> WriteCounters {
        let mut dump = String::from(
            "# cardproof dump 1\n\
             sys/class/block/mmcblk0 -> sys/devices/x/block/mmcblk0\n\
             sys/devices/x/block/mmcblk0/dev = 179:0\n\
             sys/devices/x/block/mmcblk0/stat = 1 2 3 4 5 6 7 8 9 10 11\n\
             sys/fs/cgroup/cgroup.controllers = io memory\n",
        );
        for (number, parent, group, bytes) in processes {
            dump += &format!(
                "proc/{number}/stat = {number} (p{number}) S {parent} 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 77 1 2\n\
                 proc/{number}/cgroup = 0::{group}\n\
                 proc/{number}/io = wchar: {bytes}\n\
                 proc/{number}/io = write_bytes: {bytes}\n\
                 proc/{number}/io = cancelled_write_bytes: 0\n"
            );
        }
        for (path, bytes) in groups {
            dump += &format!(
                "sys/fs/cgroup{path}/cgroup.procs /\n\
                 sys/fs/cgroup{path}/io.stat = 179:0 rbytes=0 wbytes={bytes}\n"
            );
        }
        let root = Sysroot::from_dump(&dump).unwrap_or_else(|error| panic!("{error}"));
        WriteCounters::read(&root, "mmcblk0")
    }

    fn tally(looks: Vec<WriteCounters>) -> Watched {
        let mut looks = looks.into_iter();
        let mut tally = Tally::new(looks.next().unwrap_or_default());
        looks.for_each(|look| tally.add(look));
        tally.watched(1.0)
    }

    /// The bytes that the programs of each group made dirty.
    fn dirtied(watched: &Watched) -> BTreeMap<&str, u64> {
        let mut sums = BTreeMap::new();
        for program in watched.programs.iter().filter(|it| it.dirtied_bytes > 0) {
            *sums.entry(program.group.as_str()).or_default() += program.dirtied_bytes;
        }
        sums
    }

    const UPGRADE: &str = "/system.slice/upgrade.service";
    const MANAGER: &str = "/init.scope";

    #[test]
    fn what_a_child_wrote_counts_once() {
        let watched = tally(vec![
            look(&[(1, 0, MANAGER, 5), (20, 1, UPGRADE, 100)], &[]),
            look(&[(1, 0, MANAGER, 5), (20, 1, UPGRADE, 100), (21, 20, UPGRADE, 700)], &[]),
            // The parent waited for it; it had written 50 more.
            look(&[(1, 0, MANAGER, 5), (20, 1, UPGRADE, 100 + 750 + 30)], &[]),
        ]);
        assert_eq!(dirtied(&watched), [(UPGRADE, 780)].into());
    }

    #[test]
    fn a_service_that_ends_leaves_nothing_to_the_manager() {
        let watched = tally(vec![
            look(&[(1, 0, MANAGER, 5)], &[]),
            look(&[(1, 0, MANAGER, 5), (20, 1, UPGRADE, 1000)], &[]),
            // It had written 10 more.
            look(&[(1, 0, MANAGER, 5 + 1010)], &[]),
        ]);
        assert_eq!(dirtied(&watched), [(UPGRADE, 1010)].into());
    }

    #[test]
    fn what_was_written_before_the_watch_is_nobodys_when_its_writer_ends() {
        let watched = tally(vec![
            look(&[(1, 0, MANAGER, 5), (20, 1, UPGRADE, 9000)], &[]),
            look(&[(1, 0, MANAGER, 9005)], &[]),
        ]);
        assert_eq!(dirtied(&watched), BTreeMap::new());
    }

    #[test]
    fn a_group_that_ends_or_begins_again_keeps_what_it_wrote() {
        let watched = tally(vec![
            look(&[], &[("/system.slice", 1000)]),
            look(&[], &[("/system.slice", 1500), (UPGRADE, 400)]),
            look(&[], &[("/system.slice", 1600)]),
            look(&[], &[("/system.slice", 1700), (UPGRADE, 90)]),
            look(&[], &[("/system.slice", 1900), (UPGRADE, 60)]),
        ]);
        assert_eq!(watched.groups["/system.slice"].reached_bytes, 900);
        assert!(!watched.groups["/system.slice"].has_ended);
        assert_eq!(watched.groups[UPGRADE].reached_bytes, 400 + 90 + 60);
        assert!(watched.groups[UPGRADE].has_ended);
    }

    #[test]
    fn what_waits_is_told_of_the_first_look_and_the_last() {
        let waiting = |groups: &[(&str, u64)]| {
            let mut counters = WriteCounters::default();
            let groups = groups.iter().map(|(path, bytes)| ((*path).to_owned(), *bytes));
            counters.waiting = groups.collect();
            counters
        };
        let watched = tally(vec![
            waiting(&[("/system.slice", 500), (MANAGER, 7)]),
            waiting(&[("/system.slice", 900), (UPGRADE, 400)]),
            waiting(&[("/system.slice", 800), ("/user.slice", 3)]),
        ]);
        let of = |before_bytes, after_bytes| Waiting { before_bytes, after_bytes };
        let expected = [
            ("/system.slice", of(500, Some(800))),
            (MANAGER, of(7, None)),
            ("/user.slice", of(0, Some(3))),
        ];
        assert_eq!(watched.waiting, expected.map(|(path, it)| (path.to_owned(), it)).into());
    }
}
