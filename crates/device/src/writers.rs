//! Who writes: what each process and each control group has handed to storage so far.
//!
//! `/proc/PID/io` (proc_pid_io(5)) counts what a process wrote by system calls, to anything, and the pages that it
//! made dirty and that belong on storage; the kernel shows it of the user's own processes, and to root of all.
//! `io.stat` of a control group (Documentation/admin-guide/cgroup-v2.rst) counts what reached each device for the
//! group, written back from memory included, where the file system can tell (ext4, F2FS, Btrfs); everybody may
//! read it. Names of programs and services are the user's own: they are shown and never put into a record.

use std::collections::BTreeMap;

use crate::block::BlockDevice;
use crate::{DeviceNumber, Sysroot};

/// Where the control groups of version 2 are, alone or beside those of version 1.
const GROUPS: [&str; 2] = ["sys/fs/cgroup", "sys/fs/cgroup/unified"];

/// Control groups lie no deeper than this on any system seen.
const DEPTH_MAX: usize = 12;

/// A process: its number and when it started, since numbers are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId {
    /// The kernel's number.
    pub number: u32,
    /// When it started, in ticks of the clock since the computer did.
    pub started: u64,
}

/// What a process has written since it started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessWrites {
    /// The name of its program, at most 15 bytes.
    pub program: String,
    /// The control group that it is in, such as `/system.slice/cron.service`.
    pub group: String,
    /// Bytes in its write calls, to files, pipes and sockets alike.
    pub asked_bytes: u64,
    /// Bytes of the pages that it made dirty and that belong on storage, less those that were cut off again.
    pub dirtied_bytes: u64,
}

/// What all have written so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteCounters {
    /// The processes that this user may look at.
    pub processes: BTreeMap<ProcessId, ProcessWrites>,
    /// Processes that may not be looked at.
    pub hidden: usize,
    /// The whole device, such as `mmcblk0`; empty where the kernel knows none.
    pub disk: String,
    /// The fields of its `stat`.
    pub disk_counters: Vec<u64>,
    /// Pages that were swapped out, where swap is on storage and not in memory.
    pub swapped_out_pages: u64,
    /// Bytes that reached the device for each control group, those below it not included; empty where the
    /// kernel does not tell.
    pub groups: BTreeMap<String, u64>,
}

impl WriteCounters {
    /// The counters below `root`, of control groups those of the whole device called `device`.
    #[must_use]
    pub fn read(root: &Sysroot, device: &str) -> Self {
        let mut counters = Self::default();
        for name in root.list("proc").unwrap_or_default() {
            let Ok(number) = name.parse() else { continue };
            let Some(started) = started(root, number) else { continue };
            let Some(io) = io(root, number) else {
                counters.hidden += 1;
                continue;
            };
            let id = ProcessId { number, started };
            let program = root.text(format!("proc/{number}/comm")).unwrap_or_default();
            let group = group_of(root, number).unwrap_or_default();
            counters.processes.insert(id, ProcessWrites { program, group, ..io });
        }
        counters.swapped_out_pages = swapped_out_pages(root);
        let Some(disk) = BlockDevice::by_name(root, device).map(|device| device.whole()) else {
            return counters;
        };
        disk.name().clone_into(&mut counters.disk);
        let stat = disk.text("stat").unwrap_or_default();
        let fields = stat.split_ascii_whitespace().map(|word| word.parse().ok());
        counters.disk_counters = fields.collect::<Option<_>>().unwrap_or_default();
        if let Some(number) = disk.number() {
            counters.groups = groups(root, number);
        }
        counters
    }
}

/// Pages that were swapped out since the start (`pswpout` of `/proc/vmstat`); zero where all swap is in memory.
fn swapped_out_pages(root: &Sysroot) -> u64 {
    let text =
        |path: &str| String::from_utf8_lossy(&root.bytes(path).unwrap_or_default()).into_owned();
    let swaps = text("proc/swaps");
    if !swaps.lines().skip(1).any(|line| !line.starts_with("/dev/zram")) {
        return 0;
    }
    let vmstat = text("proc/vmstat");
    let pages = vmstat.lines().find_map(|line| line.strip_prefix("pswpout "));
    pages.and_then(|pages| pages.trim().parse().ok()).unwrap_or(0)
}

/// The 22nd field of `stat`; the program's name before it may hold anything.
fn started(root: &Sysroot, process: u32) -> Option<u64> {
    let bytes = root.bytes(format!("proc/{process}/stat")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

fn io(root: &Sysroot, process: u32) -> Option<ProcessWrites> {
    let bytes = root.bytes(format!("proc/{process}/io")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let field = |name: &str| -> Option<u64> {
        let value = text.lines().find_map(|line| line.strip_prefix(name))?;
        value.trim().parse().ok()
    };
    let dirtied = field("write_bytes:")?.saturating_sub(field("cancelled_write_bytes:")?);
    Some(ProcessWrites {
        asked_bytes: field("wchar:")?,
        dirtied_bytes: dirtied,
        ..ProcessWrites::default()
    })
}

/// The group of version 2, whose line begins with `0::`, or of version 1 that systemd keeps.
fn group_of(root: &Sysroot, process: u32) -> Option<String> {
    let bytes = root.bytes(format!("proc/{process}/cgroup")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let of = |mark: &str| {
        text.lines().find_map(|line| line.split_once(mark)).map(|(_, path)| path.to_owned())
    };
    of("0::").filter(|path| path != "/").or_else(|| of(":name=systemd:")).or_else(|| of("0::"))
}

/// What reached the device `number` for each group by itself.
fn groups(root: &Sysroot, number: DeviceNumber) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for place in GROUPS {
        if root.has(format!("{place}/cgroup.controllers")) {
            let _ = add_group(root, place, "", number, 0, &mut found);
            break;
        }
    }
    found
}

/// Adds the group at `path` below `place` and those below it; tells what reached the device for all of them.
fn add_group(
    root: &Sysroot,
    place: &str,
    path: &str,
    number: DeviceNumber,
    depth: usize,
    found: &mut BTreeMap<String, u64>,
) -> u64 {
    let directory = format!("{place}{path}");
    let all = root
        .bytes(format!("{directory}/io.stat"))
        .ok()
        .and_then(|bytes| written(&String::from_utf8_lossy(&bytes), number));
    let mut below = 0;
    if depth < DEPTH_MAX {
        for name in root.list(&directory).unwrap_or_default() {
            let child = format!("{path}/{name}");
            if root.has(format!("{place}{child}/cgroup.procs")) {
                below += add_group(root, place, &child, number, depth + 1, found);
            }
        }
    }
    let all = all.unwrap_or(below);
    let own = all.saturating_sub(below);
    // The root's figure is of the whole device.
    if own > 0 && !path.is_empty() {
        found.insert(path.to_owned(), own);
    }
    all
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
proc/812/comm = influxd
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
proc/self/io = wchar: 1
";

    #[test]
    fn a_process_is_told_with_its_service() {
        let found = WriteCounters::read(&root(PROCESS), "mmcblk0");
        let process = &found.processes[&ProcessId { number: 812, started: 7777 }];
        assert_eq!(process.program, "influxd");
        assert_eq!(process.group, "/system.slice/influxdb.service");
        assert_eq!((process.asked_bytes, process.dirtied_bytes), (5000, 8192));
        assert_eq!((found.processes.len(), found.hidden), (1, 1));
    }

    #[test]
    fn a_group_is_told_without_those_below_it() {
        let groups = "\
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
sys/fs/cgroup/init.scope/cgroup.procs /
";
        let counters = WriteCounters::read(&root(groups), "mmcblk0");
        assert_eq!((counters.disk.as_str(), counters.disk_counters.len()), ("mmcblk0", 11));
        assert_eq!(counters.swapped_out_pages, 4);
        let found = counters.groups;
        let expected = [("/system.slice", 100), ("/system.slice/cron.service", 600)];
        assert_eq!(found, expected.map(|(path, bytes)| (path.to_owned(), bytes)).into());
    }
}
