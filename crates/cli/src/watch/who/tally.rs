//! What was written between the first look and the last, from a look at everything now and then, and every second at
//! processes that write or have begun.
//!
//! When a process has ended and its parent has waited for it, the parent's counters hold all that it ever wrote. What it
//! wrote until it was seen last is its own. The rest is told as of programs that have ended, beside what was written by
//! those that began and ended between two looks. Counters of control groups begin anew with a group of the same name.

use std::collections::{BTreeMap, BTreeSet};

use cardproof_device::{
    GroupWrites, INIT, ProcessId, ProcessWrites, Sysroot, WriteCounters, Writes,
};
use cardproof_rating::ledger::CardCounters;
use cardproof_rating::who::{GroupGrowth, ProgramWrites, SyncWaits, Waiting, Watched};

/// The sums so far.
pub(super) struct Tally {
    first: WriteCounters,
    last: WriteCounters,
    programs: BTreeMap<Program, Writes>,
    groups: BTreeMap<String, GroupGrowth>,
    sync_looks: u64,
    /// By program and group, how often one was seen while it waited for its writes to be kept.
    sync_waits: BTreeMap<(String, String), u64>,
    /// Those that have begun or made pages dirty since the last look at everything, or in the time before it.
    busy: BTreeSet<ProcessId>,
    /// Those that have since.
    busy_again: BTreeSet<ProcessId>,
}

/// Whose a sum is.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Program {
    name: String,
    group: String,
    /// Whether it is not its own but of programs that it started and that have ended.
    is_of_ended: bool,
}

impl Program {
    fn of(process: &ProcessWrites, is_of_ended: bool) -> Self {
        Self { name: process.program.clone(), group: process.group.clone(), is_of_ended }
    }
}

impl Tally {
    /// Nothing, after the look `first`.
    pub(super) fn new(first: WriteCounters) -> Self {
        Self {
            last: first.clone(),
            first,
            programs: BTreeMap::new(),
            groups: BTreeMap::new(),
            sync_looks: 0,
            sync_waits: BTreeMap::new(),
            busy: BTreeSet::new(),
            busy_again: BTreeSet::new(),
        }
    }

    /// Looks again at those that write, and at those that have begun: they may have ended at the next look at
    /// everything.
    pub(super) fn look_again(&mut self, root: &Sysroot) {
        let mut now = self.last.clone();
        now.look_again(root, &self.busy);
        self.add_processes(&now);
        self.last = now;
    }

    /// Looks at who waits for writes to be kept, among those that write and those that have begun.
    pub(super) fn look_at_syncs(&mut self, root: &Sysroot) {
        self.sync_looks += 1;
        for waiting in self.last.syncing(root, &self.busy) {
            *self.sync_waits.entry(waiting).or_default() += 1;
        }
    }

    /// Looks at everything.
    pub(super) fn look(&mut self, root: &Sysroot, device: &str) {
        self.add(self.last.next(root, device));
    }

    /// Adds what the next look at everything shows.
    fn add(&mut self, now: WriteCounters) {
        self.add_processes(&now);
        self.add_groups(&now);
        self.busy = std::mem::take(&mut self.busy_again);
        self.last = now;
    }

    fn add_processes(&mut self, now: &WriteCounters) {
        let mut of_ended: BTreeMap<ProcessId, Writes> = BTreeMap::new();
        for (id, process) in &now.processes {
            let then = self.last.processes.get(id);
            if then == Some(process) {
                continue;
            }
            let growth = process.since(then);
            if then.is_none() || growth.own.dirtied_bytes > 0 {
                self.busy.insert(*id);
                self.busy_again.insert(*id);
            }
            self.add_program(Program::of(process, false), growth.own);
            of_ended.insert(*id, growth.of_ended);
        }
        let of_services = self.take_seen(now, &mut of_ended);
        for (process, writes) in of_services {
            self.add_program(Program::of(&process, false), writes);
        }
        for (id, writes) in of_ended {
            self.add_program(Program::of(&now.processes[&id], true), writes);
        }
    }

    /// Takes from `of_ended` what each process that has ended had written until it was seen last: that is told already.
    /// What it wrote after that stays with whoever waited for it, unless that is of another group, as the manager of
    /// services is: then it is returned.
    fn take_seen(
        &self,
        now: &WriteCounters,
        of_ended: &mut BTreeMap<ProcessId, Writes>,
    ) -> Vec<(ProcessWrites, Writes)> {
        let heirs = Heirs::new(&self.last, now);
        let mut strangers: BTreeMap<ProcessId, Vec<&ProcessWrites>> = BTreeMap::new();
        for (id, process) in &self.last.processes {
            if now.processes.contains_key(id) {
                continue;
            }
            let Some(heir) = heirs.of(process) else { continue };
            let Some(left) = of_ended.get_mut(&heir) else { continue };
            *left = left.less(process.writes);
            if now.processes[&heir].group != process.group {
                strangers.entry(heir).or_default().push(process);
            }
        }
        let mut parts = Vec::new();
        for (heir, ended) in strangers {
            let left = of_ended.remove(&heir).unwrap_or_default();
            // One byte more, so that a process that had written nothing yet has a share.
            let weight = |process: &ProcessWrites| process.writes.dirtied_bytes + 1;
            let all = ended.iter().map(|it| weight(it)).sum();
            parts.extend(ended.into_iter().map(|it| (it.clone(), part(left, weight(it), all))));
        }
        parts
    }

    fn add_program(&mut self, program: Program, grown: Writes) {
        if grown != Writes::default() {
            let sum = self.programs.entry(program).or_default();
            *sum = sum.plus(grown);
        }
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
        let program = |(program, writes): (&Program, &Writes)| ProgramWrites {
            program: program.name.clone(),
            group: program.group.clone(),
            is_of_ended: program.is_of_ended,
            asked_bytes: writes.asked_bytes,
            dirtied_bytes: writes.dirtied_bytes,
            cancelled_bytes: writes.cancelled_bytes,
        };
        let sync_waits = |((program, group), seen): (&(String, String), &u64)| SyncWaits {
            program: program.clone(),
            group: group.clone(),
            seen: *seen,
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
            sync_looks: self.sync_looks,
            sync_waits: self.sync_waits.iter().map(sync_waits).collect(),
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

/// Who has the counters of processes that have ended.
struct Heirs<'a> {
    last: &'a WriteCounters,
    now: &'a WriteCounters,
    then: BTreeMap<u32, ProcessId>,
    init: Option<ProcessId>,
}

impl<'a> Heirs<'a> {
    fn new(last: &'a WriteCounters, now: &'a WriteCounters) -> Self {
        let then = last.processes.keys().map(|id| (id.number, *id)).collect();
        let init = now.processes.keys().find(|id| id.number == INIT).copied();
        Self { last, now, then, init }
    }

    /// The nearest above `process` that lives, or the first process.
    fn of(&self, process: &ProcessWrites) -> Option<ProcessId> {
        let mut parent = process.parent;
        // A chain of parents is no longer than there are processes.
        for _ in 0..self.last.processes.len() {
            let Some(id) = self.then.get(&parent) else { break };
            if self.now.processes.contains_key(id) {
                return Some(*id);
            }
            parent = self.last.processes.get(id)?.parent;
        }
        self.init
    }
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

    /// A process with its number, its parent, its group, its own bytes, and those of its ended children.
    type Process<'a> = (u32, u32, &'a str, u64, u64);

    /// A look at processes and at groups.
    fn look(processes: &[Process<'_>], groups: &[(&str, u64)]) -> WriteCounters {
        let mut dump = String::from(
            "# cardproof dump 1\n\
             sys/class/block/mmcblk0 -> sys/devices/x/block/mmcblk0\n\
             sys/devices/x/block/mmcblk0/dev = 179:0\n\
             sys/devices/x/block/mmcblk0/stat = 1 2 3 4 5 6 7 8 9 10 11\n\
             sys/fs/cgroup/cgroup.controllers = io memory\n",
        );
        for (number, parent, group, own, of_ended) in processes {
            dump += &format!(
                "proc/{number}/stat = {number} (p{number}) S {parent} 1 1 0 -1 0 1 {of_ended} 3 0 5 6 0 0 20 0 1 0 77 1 2\n\
                 proc/{number}/cgroup = 0::{group}\n"
            );
            let all = (format!("proc/{number}"), own + of_ended);
            for (place, bytes) in [all, (format!("proc/{number}/task/{number}"), *own)] {
                dump += &format!(
                    "{place}/io = wchar: {bytes}\n{place}/io = write_bytes: {bytes}\n\
                     {place}/io = cancelled_write_bytes: 0\n"
                );
            }
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

    /// The bytes that each program made dirty, and those that programs which it started and that have ended did.
    fn by_program(watched: &Watched) -> Vec<(&str, bool, u64)> {
        let programs = watched.programs.iter().filter(|it| it.dirtied_bytes > 0);
        programs.map(|it| (it.program.as_str(), it.is_of_ended, it.dirtied_bytes)).collect()
    }

    #[test]
    fn what_a_child_wrote_counts_once_and_is_not_the_parents() {
        let watched = tally(vec![
            look(&[(1, 0, MANAGER, 5, 0), (20, 1, UPGRADE, 100, 0)], &[]),
            look(
                &[(1, 0, MANAGER, 5, 0), (20, 1, UPGRADE, 100, 0), (21, 20, UPGRADE, 700, 0)],
                &[],
            ),
            // The parent waited for it; it had written 50 more.
            look(&[(1, 0, MANAGER, 5, 0), (20, 1, UPGRADE, 130, 750)], &[]),
        ]);
        assert_eq!(dirtied(&watched), [(UPGRADE, 780)].into());
        let expected = [("p20", false, 30), ("p20", true, 50), ("p21", false, 700)];
        assert_eq!(by_program(&watched), expected);
    }

    #[test]
    fn a_child_that_was_never_seen_is_no_writing_of_its_parent() {
        let watched = tally(vec![
            look(&[(20, 1, UPGRADE, 100, 0)], &[]),
            look(&[(20, 1, UPGRADE, 100, 9000)], &[]),
        ]);
        assert_eq!(by_program(&watched), [("p20", true, 9000)]);
    }

    /// The child of a process that takes no notice of its children's ends leaves its counters to nobody.
    #[test]
    fn nothing_is_taken_from_a_parent_that_did_not_wait() {
        let watched = tally(vec![
            look(&[(20, 1, UPGRADE, 100, 0), (21, 20, UPGRADE, 700, 0)], &[]),
            look(&[(20, 1, UPGRADE, 600, 0)], &[]),
        ]);
        assert_eq!(by_program(&watched), [("p20", false, 500)]);
    }

    #[test]
    fn a_service_that_ends_leaves_nothing_to_the_manager() {
        let watched = tally(vec![
            look(&[(1, 0, MANAGER, 5, 0)], &[]),
            look(&[(1, 0, MANAGER, 5, 0), (20, 1, UPGRADE, 1000, 0)], &[]),
            // It had written 10 more.
            look(&[(1, 0, MANAGER, 5, 1010)], &[]),
        ]);
        assert_eq!(dirtied(&watched), [(UPGRADE, 1010)].into());
        assert_eq!(by_program(&watched), [("p20", false, 1010)]);
    }

    #[test]
    fn what_was_written_before_the_watch_is_nobodys_when_its_writer_ends() {
        let watched = tally(vec![
            look(&[(1, 0, MANAGER, 5, 0), (20, 1, UPGRADE, 9000, 0)], &[]),
            look(&[(1, 0, MANAGER, 5, 9000)], &[]),
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
