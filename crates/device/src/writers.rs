//! Who writes: what each process and each control group has handed to storage so far.
//!
//! `/proc/PID/io` (proc_pid_io(5)) counts what a process wrote by system calls, to anything, and the pages that it
//! made dirty and that belong on storage; the kernel shows it of the user's own processes, and to root of all. It also
//! holds what children wrote that have ended, so [`ProcessWrites::since`] tells a process's own from theirs.
//! `io.stat` of a control group (Documentation/admin-guide/cgroup-v2.rst) counts what reached each device for the
//! group and those below it, written back from memory included, where the file system can tell (ext4, F2FS, Btrfs),
//! and the group's pages that were swapped out; everybody may read it. Without the controller of memory the kernel
//! writes back for nobody, and `io.stat` tells nothing. Names of programs and services are the user's own: they are
//! shown and never put into a record.

mod process;

use std::collections::{BTreeMap, BTreeSet};

use crate::block::BlockDevice;
use crate::task_waits::syncing;
use crate::{DeviceNumber, Sysroot};
use process::Seen;
pub use process::{Growth, ProcessId, ProcessWrites, Writes};

/// Where the control groups of version 2 are, alone or beside those of version 1.
const GROUPS: [&str; 2] = ["sys/fs/cgroup", "sys/fs/cgroup/unified"];

/// The process that takes over all whose parent has ended, and waits for every service.
pub const INIT: u32 = 1;

/// Control groups lie no deeper than this on any system seen.
const DEPTH_MAX: usize = 12;

/// What a control group has handed to one device, with those below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupWrites {
    /// Bytes that reached the device, swap included.
    pub reached_bytes: u64,
    /// Pages that were swapped out; absent where the kernel does not tell, as 6.1 does not.
    pub swapped_out_pages: Option<u64>,
    /// What lies in swap.
    pub swap_bytes: u64,
    /// Pages that were read from swap again.
    pub swapped_in_pages: u64,
}

/// What all have written so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteCounters {
    /// The processes that this user may look at, without threads of the kernel.
    pub processes: BTreeMap<ProcessId, ProcessWrites>,
    /// Processes that may not be looked at.
    pub hidden: usize,
    /// The numbers of threads of the kernel and of processes that may not be looked at.
    others: BTreeSet<u32>,
    /// The whole device, such as `mmcblk0`; empty where the kernel knows none.
    pub disk: String,
    /// The fields of its `stat`.
    pub disk_counters: Vec<u64>,
    /// Pages that were swapped out, where swap is on this device.
    pub swapped_out_pages: u64,
    /// What each control group below the root has written to the device; empty where the kernel does not tell.
    pub groups: BTreeMap<String, GroupWrites>,
    /// Bytes in memory that are still to be written for each group that the kernel does not count for, and those below
    /// it.
    pub waiting: BTreeMap<String, u64>,
}

impl WriteCounters {
    /// The counters below `root`, of control groups those of the whole device called `device`.
    #[must_use]
    pub fn read(root: &Sysroot, device: &str) -> Self {
        Self::read_after(root, device, None)
    }

    fn read_after(root: &Sysroot, device: &str, then: Option<&Self>) -> Self {
        let mut counters = Self::default();
        for number in numbers(root) {
            counters.look_at(root, number);
        }
        if let Some(then) = then {
            counters.look_at_heirs(root, then);
        }
        let Some(disk) = BlockDevice::by_name(root, device).map(|device| device.whole()) else {
            return counters;
        };
        disk.name().clone_into(&mut counters.disk);
        let has_swap = has_swap(root, disk.name());
        if let Some(number) = disk.number() {
            counters.add_groups(root, &Wanted { number, has_swap });
        }
        if has_swap {
            counters.swapped_out_pages = swapped_out_pages(root);
        }
        // Last, as near as can be to the end of the watch.
        counters.disk_counters = disk.counters().unwrap_or_default();
        counters
    }

    /// The counters of a later look, read like these. Whoever waited for a process that has ended since is read after
    /// that process was gone, so its counters hold those of the ended.
    #[must_use]
    pub fn next(&self, root: &Sysroot, device: &str) -> Self {
        Self::read_after(root, device, Some(self))
    }

    /// Looks again at a part of the processes, at a small part of the cost of looking at all: at those of `busy`, at
    /// those that have begun since, and at whoever waited for one that has ended.
    pub fn look_again(&mut self, root: &Sysroot, busy: &BTreeSet<ProcessId>) {
        let then = self.clone();
        let now: BTreeSet<u32> = numbers(root).collect();
        self.others.retain(|number| now.contains(number));
        self.processes.retain(|id, _| now.contains(&id.number) && !busy.contains(id));
        let known: BTreeSet<u32> = self.processes.keys().map(|id| id.number).collect();
        for number in now.difference(&known) {
            if !self.others.contains(number) {
                self.look_at(root, *number);
            }
        }
        self.look_at_heirs(root, &then);
    }

    /// Who waits at this moment for writes to be kept, by program and group: of those of `busy`, and of those that have
    /// begun since.
    #[must_use]
    pub fn syncing(&self, root: &Sysroot, busy: &BTreeSet<ProcessId>) -> Vec<(String, String)> {
        let busy: BTreeSet<u32> = busy.iter().map(|id| id.number).collect();
        let known: BTreeSet<u32> = self.processes.keys().map(|id| id.number).collect();
        let is_asked = |number: &u32| {
            busy.contains(number) || !known.contains(number) && !self.others.contains(number)
        };
        let asked = numbers(root).filter(is_asked);
        let found = asked.filter_map(|number| Some((number, syncing(root, number)?)));
        found.map(|(number, program)| (program, process::group(root, number))).collect()
    }

    /// Looks again at whoever waited for a process of `then` that has ended: its parent, or the first process.
    fn look_at_heirs(&mut self, root: &Sysroot, then: &Self) {
        let ended = then.processes.iter().filter(|(id, _)| !self.processes.contains_key(id));
        let mut heirs: BTreeSet<u32> = ended.map(|(_, process)| process.parent).collect();
        if !heirs.is_empty() {
            heirs.insert(INIT);
        }
        let living = self.processes.keys().map(|id| id.number);
        for number in living.filter(|number| heirs.contains(number)).collect::<Vec<_>>() {
            self.look_at(root, number);
        }
    }

    /// Adds what each group has written to the device, and what waits to be written for it; nothing where the kernel
    /// does not charge a group with what is written back from memory.
    fn add_groups(&mut self, root: &Sysroot, wanted: &Wanted) {
        let place =
            GROUPS.into_iter().find(|place| root.has(format!("{place}/cgroup.controllers")));
        let Some(place) = place else { return };
        let controllers = text(root, &format!("{place}/cgroup.controllers"));
        let has = |name| controllers.split_ascii_whitespace().any(|it| it == name);
        if has("io") && has("memory") {
            self.add_below(root, place, "", wanted, 0);
        }
    }

    /// Adds the groups below that at `path` of `place`.
    fn add_below(
        &mut self,
        root: &Sysroot,
        place: &str,
        path: &str,
        wanted: &Wanted,
        depth: usize,
    ) {
        for name in root.directories(format!("{place}{path}")).unwrap_or_default() {
            let child = format!("{path}/{name}");
            let directory = format!("{place}{child}");
            if let Some(writes) = group_writes(root, &directory, wanted) {
                self.groups.insert(child.clone(), writes);
            } else if let Some(bytes) = waiting(root, &directory) {
                self.waiting.insert(child.clone(), bytes);
            }
            if depth < DEPTH_MAX {
                self.add_below(root, place, &child, wanted, depth + 1);
            }
        }
    }

    /// Adds a process, or notes that it is none to be looked at.
    fn look_at(&mut self, root: &Sysroot, number: u32) {
        match process::read(root, number) {
            Seen::Process(id, process) => {
                self.processes.insert(id, process);
            }
            Seen::OfKernel => {
                self.others.insert(number);
            }
            Seen::Hidden => {
                self.others.insert(number);
                self.hidden += 1;
            }
            Seen::Ended => {}
        }
    }
}

/// The numbers of all processes.
fn numbers(root: &Sysroot) -> impl Iterator<Item = u32> {
    root.list("proc").unwrap_or_default().into_iter().filter_map(|name| name.parse().ok())
}

/// Whether something is swapped to `disk`. Of a file nobody tells the device; it counts as this one.
fn has_swap(root: &Sysroot, disk: &str) -> bool {
    let swaps = text(root, "proc/swaps");
    swaps.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().next()).any(|place| {
        place.strip_prefix("/dev/").is_none_or(|name| {
            BlockDevice::by_name(root, name).is_some_and(|device| device.whole().name() == disk)
        })
    })
}

/// Pages that were swapped out since the start (`pswpout` of `/proc/vmstat`).
fn swapped_out_pages(root: &Sysroot) -> u64 {
    value(&text(root, "proc/vmstat"), "pswpout ").unwrap_or(0)
}

fn text(root: &Sysroot, path: &str) -> String {
    String::from_utf8_lossy(&root.bytes(path).unwrap_or_default()).into_owned()
}

/// The number behind `name` in a text of lines.
fn value(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
}

/// What is asked of every group.
struct Wanted {
    number: DeviceNumber,
    has_swap: bool,
}

/// Bytes of a group's files in memory that are dirty or on their way to storage; `None` where nobody counts them.
fn waiting(root: &Sysroot, directory: &str) -> Option<u64> {
    let memory = text(root, &format!("{directory}/memory.stat"));
    Some(value(&memory, "file_dirty ")? + value(&memory, "file_writeback ")?)
}

/// `None` where the kernel does not count for the group.
fn group_writes(root: &Sysroot, directory: &str, wanted: &Wanted) -> Option<GroupWrites> {
    let bytes = root.bytes(format!("{directory}/io.stat")).ok()?;
    let reached_bytes = written(&String::from_utf8_lossy(&bytes), wanted.number)?;
    if !wanted.has_swap {
        return Some(GroupWrites { reached_bytes, ..GroupWrites::default() });
    }
    let memory = text(root, &format!("{directory}/memory.stat"));
    let swap = text(root, &format!("{directory}/memory.swap.current"));
    Some(GroupWrites {
        reached_bytes,
        swapped_out_pages: value(&memory, "pswpout "),
        swap_bytes: swap.trim().parse().unwrap_or(0),
        swapped_in_pages: value(&memory, "workingset_refault_anon ").unwrap_or(0),
    })
}

/// The bytes written to `number` by the lines of `io.stat`: `179:0 rbytes=1 wbytes=2 …`.
fn written(text: &str, number: DeviceNumber) -> Option<u64> {
    let line = text.lines().find_map(|line| {
        let (device, rest) = line.split_once(' ')?;
        (device.parse() == Ok(number)).then_some(rest)
    });
    let Some(line) = line else { return Some(0) };
    line.split_ascii_whitespace().find_map(|word| word.strip_prefix("wbytes="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(lines: &str) -> Sysroot {
        Sysroot::from_dump(&format!("# cardproof dump 1\n{lines}")).unwrap()
    }

    const PROCESS: &str = "\
proc/812/stat = 812 (a (b) c) S 1 812 812 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 7777 1 2
proc/812/cgroup = 0::/system.slice/influxdb.service
proc/812/io = rchar: 10
proc/812/io = wchar: 5000
proc/812/io = syscr: 1
proc/812/io = syscw: 2
proc/812/io = read_bytes: 0
proc/812/io = write_bytes: 12288
proc/812/io = cancelled_write_bytes: 4096
proc/900/stat = 900 (secret) S 1 900 900 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 8888 1 2
proc/900/io !
proc/44/stat = 44 (jbd2/mmcblk0p2-8) S 2 0 0 0 -1 2097216 1 2 3 4 5 6 7 8 20 0 1 0 99 1 2
proc/44/io = wchar: 0
proc/44/io = write_bytes: 4096
proc/44/io = cancelled_write_bytes: 0
proc/self/io = wchar: 1
";

    #[test]
    fn a_process_is_told_with_its_service() {
        let found = WriteCounters::read(&root(PROCESS), "mmcblk0");
        let process = &found.processes[&ProcessId { number: 812, started: 7777 }];
        assert_eq!(process.program, "a (b) c");
        assert_eq!(process.group, "/system.slice/influxdb.service");
        assert_eq!(process.parent, 1);
        let writes = Writes { asked_bytes: 5000, dirtied_bytes: 12_288, cancelled_bytes: 4096 };
        assert_eq!(process.writes, writes);
        assert_eq!((found.processes.len(), found.hidden), (1, 1));
    }

    const GROUPS_OF_A_CARD: &str = "\
sys/class/block/mmcblk0 -> sys/devices/x/block/mmcblk0
sys/devices/x/block/mmcblk0/dev = 179:0
sys/devices/x/block/mmcblk0/stat = 1 2 3 4 5 6 7 8 9 10 11
proc/swaps = Filename Type Size Used Priority
proc/swaps = /var/swap file 1 0 -2
proc/vmstat = pswpin 3
proc/vmstat = pswpout 4
sys/fs/cgroup/cgroup.controllers = cpu io memory
sys/fs/cgroup/io.stat = 179:0 rbytes=0 wbytes=1000 rios=0 wios=9 dbytes=0 dios=0
sys/fs/cgroup/system.slice/cgroup.procs /
sys/fs/cgroup/system.slice/io.stat = 179:0 rbytes=0 wbytes=700 rios=0 wios=9 dbytes=0 dios=0
sys/fs/cgroup/system.slice/cron.service/cgroup.procs /
sys/fs/cgroup/system.slice/cron.service/io.stat = 8:0 rbytes=0 wbytes=9 rios=0 wios=9
sys/fs/cgroup/system.slice/cron.service/io.stat = 179:0 rbytes=0 wbytes=600 rios=0 wios=9
sys/fs/cgroup/system.slice/cron.service/memory.swap.current = 8192
sys/fs/cgroup/system.slice/cron.service/memory.stat = workingset_refault_anon 5
sys/fs/cgroup/init.scope/cgroup.procs /
sys/fs/cgroup/init.scope/memory.stat = file_dirty 4096
sys/fs/cgroup/init.scope/memory.stat = file_writeback 8192
sys/fs/cgroup/user.slice/cgroup.procs /
";

    #[test]
    fn a_process_that_has_begun_since_is_seen_and_one_that_is_not_busy_is_not_read_again() {
        let mut counters = WriteCounters::read(&root(PROCESS), "mmcblk0");
        let first = ProcessId { number: 812, started: 7777 };
        let more = PROCESS.replace("812", "950") + &PROCESS.replace("5000", "6000");
        let asked = |counters: &WriteCounters| counters.processes[&first].writes.asked_bytes;
        counters.look_again(&root(&more), &BTreeSet::new());
        assert_eq!((counters.processes.len(), counters.hidden, asked(&counters)), (2, 1, 5000));
        counters.look_again(&root(&more), &[first].into());
        assert_eq!((counters.processes.len(), counters.hidden, asked(&counters)), (2, 1, 6000));
    }

    #[test]
    fn who_waited_for_one_that_ended_is_read_again() {
        let child = PROCESS.replace("812", "950").replace("S 1 950", "S 812 950");
        let mut counters = WriteCounters::read(&root(&(PROCESS.to_owned() + &child)), "mmcblk0");
        counters.look_again(&root(&PROCESS.replace("5000", "6000")), &BTreeSet::new());
        let parent = &counters.processes[&ProcessId { number: 812, started: 7777 }];
        assert_eq!((counters.processes.len(), parent.writes.asked_bytes), (1, 6000));
    }

    #[test]
    fn a_group_is_told_with_those_below_it_and_its_swap() {
        let counters = WriteCounters::read(&root(GROUPS_OF_A_CARD), "mmcblk0");
        assert_eq!((counters.disk.as_str(), counters.disk_counters.len()), ("mmcblk0", 11));
        assert_eq!(counters.swapped_out_pages, 4);
        let slice = GroupWrites { reached_bytes: 700, ..GroupWrites::default() };
        let service = GroupWrites {
            reached_bytes: 600,
            swapped_out_pages: None,
            swap_bytes: 8192,
            swapped_in_pages: 5,
        };
        // That of the start has no counters of its own, but pages that wait; that of users has neither.
        let expected = [("/system.slice", slice), ("/system.slice/cron.service", service)];
        assert_eq!(counters.groups, expected.map(|(path, it)| (path.to_owned(), it)).into());
        assert_eq!(counters.waiting, [("/init.scope".to_owned(), 12_288)].into());
    }

    #[test]
    fn without_the_controller_of_memory_groups_tell_nothing() {
        let groups = GROUPS_OF_A_CARD.replace("= cpu io memory", "= cpu io");
        let counters = WriteCounters::read(&root(&groups), "mmcblk0");
        assert!(counters.groups.is_empty() && counters.waiting.is_empty());
    }

    #[test]
    fn swap_in_memory_or_on_another_disk_is_not_this_disks() {
        for place in ["/dev/zram0 partition", "/dev/sda2 partition"] {
            let groups = GROUPS_OF_A_CARD.replace("/var/swap file", place);
            let counters = WriteCounters::read(&root(&groups), "mmcblk0");
            assert_eq!(counters.swapped_out_pages, 0, "{place}");
        }
    }
}
