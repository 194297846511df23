//! One process: what it has written itself, and what its children wrote that have ended.
//!
//! When a process waits for a child that has ended, the kernel adds the child's counters to those in `/proc/PID/io`
//! (`wait_task_zombie` in Linux's `kernel/exit.c`). When a thread ends, its counters go to the same sum. Only
//! `/proc/PID/task/TID/io` is of one thread alone. So what grew beyond the threads that live is of ended threads, or of
//! ended children if there were any; `stat` shows that by the faults and the processor time of all that it waited for.

use std::collections::BTreeMap;

use super::{text, value};
use crate::Sysroot;

/// The flag of a thread of the kernel in its `stat` (`PF_KTHREAD`). What it makes dirty is the file system's own.
const KERNEL_THREAD: u64 = 0x0020_0000;

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
    /// The process that started it, or that took it over.
    pub parent: u32,
    /// Its own bytes, and those of its children that have ended and that it waited for.
    pub writes: Writes,
    /// The bytes of each of its threads that live, by number.
    threads: BTreeMap<u32, Writes>,
    /// Faults and ticks of its children that have ended: more with each that it waited for.
    ended_children: u64,
}

/// What a process wrote between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// Written by itself.
    pub own: Writes,
    /// Written by children that have ended. Where some have, threads of its own that ended in the same time are here as
    /// well: the kernel keeps one sum for both.
    pub of_ended: Writes,
}

/// What was handed to storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// Bytes in write calls, to files, pipes and sockets alike.
    pub asked_bytes: u64,
    /// Bytes of the pages that were made dirty and that belong on storage.
    pub dirtied_bytes: u64,
    /// Bytes of such pages that were cut off before they were written, whoever had made them dirty.
    pub cancelled_bytes: u64,
}

impl Writes {
    /// These with `more`.
    #[must_use]
    pub const fn plus(self, more: Self) -> Self {
        Self {
            asked_bytes: self.asked_bytes.saturating_add(more.asked_bytes),
            dirtied_bytes: self.dirtied_bytes.saturating_add(more.dirtied_bytes),
            cancelled_bytes: self.cancelled_bytes.saturating_add(more.cancelled_bytes),
        }
    }

    /// These without `part`.
    #[must_use]
    pub const fn less(self, part: Self) -> Self {
        Self {
            asked_bytes: self.asked_bytes.saturating_sub(part.asked_bytes),
            dirtied_bytes: self.dirtied_bytes.saturating_sub(part.dirtied_bytes),
            cancelled_bytes: self.cancelled_bytes.saturating_sub(part.cancelled_bytes),
        }
    }
}

impl ProcessWrites {
    /// What was written since an earlier look; all of it where there was none.
    #[must_use]
    pub fn since(&self, then: Option<&Self>) -> Growth {
        let before = then.map_or_else(Writes::default, |it| it.writes);
        let all = self.writes.less(before);
        if then.map_or(0, |it| it.ended_children) == self.ended_children {
            return Growth { own: all, of_ended: Writes::default() };
        }
        let before = |thread: &u32| then.and_then(|it| it.threads.get(thread).copied());
        let grown = self.threads.iter();
        let grown = grown.map(|(thread, writes)| writes.less(before(thread).unwrap_or_default()));
        let of_ended = all.less(grown.fold(Writes::default(), Writes::plus));
        Growth { own: all.less(of_ended), of_ended }
    }
}

/// What is found at a number.
pub(super) enum Seen {
    /// A process that may be looked at.
    Process(ProcessId, ProcessWrites),
    /// A thread of the kernel.
    OfKernel,
    /// A process that this user may not look at.
    Hidden,
    /// None any more.
    Ended,
}

/// Looks at the process of this number. The counters come before `stat`: a child whose bytes are in them is in `stat`.
pub(super) fn read(root: &Sysroot, number: u32) -> Seen {
    let writes = writes(root, &format!("proc/{number}/io"));
    let Some(status) = Status::read(root, number) else { return Seen::Ended };
    if status.is_of_kernel {
        return Seen::OfKernel;
    }
    let Some(writes) = writes else { return Seen::Hidden };
    let threads = if status.threads == 1 && status.ended_children == 0 {
        BTreeMap::from([(number, writes)])
    } else {
        threads(root, number)
    };
    let process = ProcessWrites {
        program: status.program,
        group: group(root, number),
        parent: status.parent,
        writes,
        threads,
        ended_children: status.ended_children,
    };
    Seen::Process(ProcessId { number, started: status.started }, process)
}

/// What each thread that lives has written.
fn threads(root: &Sysroot, process: u32) -> BTreeMap<u32, Writes> {
    let place = format!("proc/{process}/task");
    let numbers = root.list(&place).unwrap_or_default().into_iter();
    let numbers = numbers.filter_map(|name| name.parse::<u32>().ok());
    numbers
        .filter_map(|number| Some((number, writes(root, &format!("{place}/{number}/io"))?)))
        .collect()
}

fn writes(root: &Sysroot, path: &str) -> Option<Writes> {
    let text = text(root, path);
    Some(Writes {
        asked_bytes: value(&text, "wchar:")?,
        dirtied_bytes: value(&text, "write_bytes:")?,
        cancelled_bytes: value(&text, "cancelled_write_bytes:")?,
    })
}

/// What `stat` tells of a process.
struct Status {
    /// The name of its program; empty where it cannot be shown.
    program: String,
    parent: u32,
    is_of_kernel: bool,
    ended_children: u64,
    threads: u64,
    started: u64,
}

impl Status {
    /// The program's name is the 2nd field and may hold anything; the fields behind it are numbers (proc_pid_stat(5)).
    fn read(root: &Sysroot, process: u32) -> Option<Self> {
        let text = text(root, &format!("proc/{process}/stat"));
        let (head, fields) = text.rsplit_once(')')?;
        let program = head.split_once('(')?.1;
        let program = if program.contains(char::is_control) { "" } else { program.trim() };
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        // The 3rd field is the first here.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        // Minor faults, major faults, and time as user and as kernel.
        let of_children = [field(11)?, field(13)?, field(16)?, field(17)?];
        Some(Self {
            program: program.to_owned(),
            parent: u32::try_from(field(4)?).ok()?,
            is_of_kernel: field(9)? & KERNEL_THREAD != 0,
            ended_children: of_children.into_iter().fold(0, u64::wrapping_add),
            threads: field(20)?,
            started: field(22)?,
        })
    }
}

/// The control group of a process; empty where it is not told.
pub(super) fn group(root: &Sysroot, process: u32) -> String {
    group_of(root, process).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A process of two threads at a look: all of it, each thread, and the faults of its ended children.
    fn look(all: u64, threads: &[(u32, u64)], faults: u64) -> ProcessWrites {
        let counters = |place: &str, bytes: u64| {
            format!(
                "{place}/io = wchar: {bytes}\n{place}/io = write_bytes: {bytes}\n\
                 {place}/io = cancelled_write_bytes: 0\n"
            )
        };
        let mut dump = format!(
            "# cardproof dump 1\n\
             proc/30/stat = 30 (bash) S 1 30 30 0 -1 0 9 {faults} 0 0 5 6 0 0 20 0 2 0 77 1 2\n{}",
            counters("proc/30", all)
        );
        for (number, bytes) in threads {
            dump += &counters(&format!("proc/30/task/{number}"), *bytes);
        }
        let root = Sysroot::from_dump(&dump).unwrap();
        match read(&root, 30) {
            Seen::Process(_, process) => process,
            _ => panic!("not seen"),
        }
    }

    /// The bytes that it made dirty itself, and those of ended children.
    fn parted(now: &ProcessWrites, then: Option<&ProcessWrites>) -> (u64, u64) {
        let growth = now.since(then);
        (growth.own.dirtied_bytes, growth.of_ended.dirtied_bytes)
    }

    #[test]
    fn what_an_ended_child_wrote_is_not_the_parents() {
        let then = look(1000, &[(30, 300), (31, 500)], 5);
        let now = look(9000, &[(30, 350), (31, 500)], 60);
        assert_eq!(parted(&now, Some(&then)), (50, 7950));
    }

    #[test]
    fn what_an_ended_thread_wrote_is_its_process_s_where_no_child_ended() {
        let then = look(1000, &[(30, 300), (31, 500)], 5);
        let now = look(4000, &[(30, 350)], 5);
        assert_eq!(parted(&now, Some(&then)), (3000, 0));
    }

    #[test]
    fn a_new_process_may_have_waited_for_a_child_already() {
        assert_eq!(parted(&look(800, &[(30, 10), (32, 20)], 3), None), (30, 770));
        assert_eq!(parted(&look(800, &[(30, 10), (32, 20)], 0), None), (800, 0));
    }
}
