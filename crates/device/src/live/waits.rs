//! How long threads have waited for a processor: ready to run, while others ran.
//!
//! The second number of `/proc/PID/schedstat` (the kernel's Documentation/scheduler/sched-stats.rst): nanoseconds
//! since the thread was made. Kernels without `CONFIG_SCHED_INFO` have no such file.

use cardproof_units::Nanos;

use crate::Sysroot;

/// Beginnings of the names of the kernel's threads that stand between a program and its storage. The kernel names
/// a worker by what it does.
const ON_THE_WAY: [&str; 7] =
    ["ksoftirqd/", "irq/", "mmcqd/", "usb-storage", "uas", "jbd2/", "kworker/"];

/// What a worker does that is on the way to the storage: its work queue is behind the dash. High priority workers
/// have an `H` before it.
const WORK_ON_THE_WAY: [&str; 9] =
    ["kblockd", "kthrotld", "loop", "dio/", "mmc_complete", "kcryptd", "dm-", "kverityd", "md"];

/// The number of the kernel's thread that makes all others.
const KTHREADD: &str = "2";

/// For how long threads have waited for a processor since they were made: those of this process, and those of the
/// kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessorWaits {
    threads: Vec<Thread>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Thread {
    /// Its number, with the kind of list that it is from.
    number: (bool, u32),
    waited_ns: u64,
    /// Whether it is on the way to the storage: a thread of this process always, one of the kernel by its name.
    is_on_the_way: bool,
}

impl ProcessorWaits {
    /// The waits as they are below `root`; `None` where the kernel does not tell, or does not show its own threads, as
    /// in a container.
    #[must_use]
    pub fn read(root: &Sysroot) -> Option<Self> {
        let mut threads = Vec::new();
        for thread in root.list("proc/self/task").ok()? {
            let waited_ns = waited(root, &format!("proc/self/task/{thread}"))?;
            let number = (true, thread.parse().ok()?);
            threads.push(Thread { number, waited_ns, is_on_the_way: true });
        }
        waited(root, &format!("proc/{KTHREADD}"))?;
        for process in root.list("proc").ok()? {
            let Ok(number) = process.parse() else { continue };
            // One that has just ended is left out.
            let Some(name) = name_of_kernel_thread(root, &process) else { continue };
            let Some(waited_ns) = waited(root, &format!("proc/{process}")) else { continue };
            let is_on_the_way = is_on_the_way(&name);
            threads.push(Thread { number: (false, number), waited_ns, is_on_the_way });
        }
        Some(Self { threads })
    }

    /// How long threads on the way to the storage waited since `earlier`, all added. A worker of the kernel that was on
    /// the way at either time counts in full.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Nanos {
        let waited = self.threads.iter().map(|now| {
            let then = earlier.threads.iter().find(|then| then.number == now.number);
            let counts = now.is_on_the_way || then.is_some_and(|then| then.is_on_the_way);
            let before = then.map_or(0, |then| then.waited_ns);
            if counts { now.waited_ns.saturating_sub(before) } else { 0 }
        });
        Nanos(waited.fold(0, u64::saturating_add))
    }
}

fn waited(root: &Sysroot, directory: &str) -> Option<u64> {
    root.text(format!("{directory}/schedstat"))?.split_whitespace().nth(1)?.parse().ok()
}

/// The name of `process`, if it is a thread of the kernel. A program may have such a name; its parent is another.
fn name_of_kernel_thread(root: &Sysroot, process: &str) -> Option<String> {
    let status = root.text(format!("proc/{process}/stat"))?;
    let parent = status.rsplit_once(')')?.1.split_whitespace().nth(1)?;
    (parent == KTHREADD).then(|| root.text(format!("proc/{process}/comm")))?
}

/// Whether a thread of the kernel with this name is between programs and their storage.
fn is_on_the_way(name: &str) -> bool {
    ON_THE_WAY.iter().any(|beginning| name.starts_with(beginning)) && is_work_on_the_way(name)
}

/// Of a worker: whether it works on storage now, or did last.
fn is_work_on_the_way(name: &str) -> bool {
    let Some(worker) = name.strip_prefix("kworker/") else { return true };
    let Some((_, work)) = worker.split_once(['-', '+']) else { return false };
    WORK_ON_THE_WAY.iter().any(|beginning| work.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn thread(root: &std::path::Path, directory: &str, name: &str, parent: u32, waited: u64) {
        let directory = root.join("proc").join(directory);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("comm"), format!("{name}\n")).unwrap();
        fs::write(directory.join("stat"), format!("1 ({name}) S {parent} 0 0\n")).unwrap();
        fs::write(directory.join("schedstat"), format!("123 {waited} 4\n")).unwrap();
    }

    #[test]
    fn waits_are_those_of_own_threads_and_of_the_kernels_on_the_way() {
        let place = tempfile::tempdir().unwrap();
        let (path, root) = (place.path(), Sysroot::new(place.path()));
        let read = || ProcessorWaits::read(&root);
        assert_eq!(read(), None);
        thread(path, "self/task/100", "cardproof", 50, 1_000);
        assert_eq!(read(), None, "the kernel's threads cannot be seen");
        thread(path, "2", "kthreadd", 0, 7);
        let threads = [
            ("10", "ksoftirqd/0", 2, 30),
            ("11", "kworker/0:1H-kblockd", 2, 4_000),
            ("12", "kworker/u8:1-loop3", 2, 50_000),
            ("13", "kworker/u8:2-writeback", 2, 9_000_000),
            ("14", "rcu_preempt", 2, 9_000_000),
            ("15", "usb-storage", 2, 600_000),
            ("16", "usb-storage", 900, 9_000_000),
            ("17", "gcc", 900, 9_000_000),
        ];
        for (process, name, parent, waited) in threads {
            thread(path, process, name, parent, waited);
        }
        let earlier = read().unwrap();
        assert_eq!(earlier.since(&earlier), Nanos::ZERO);
        for (process, name, parent, waited) in threads {
            thread(path, process, name, parent, 2 * waited);
        }
        thread(path, "self/task/100", "cardproof", 50, 2_000);
        thread(path, "self/task/101", "monitor", 50, 200);
        assert_eq!(read().unwrap().since(&earlier), Nanos(655_230));
    }

    /// A worker does one thing after the other, and has waited since the computer started.
    #[test]
    fn a_worker_that_turns_to_storage_does_not_bring_its_whole_life() {
        let place = tempfile::tempdir().unwrap();
        let (path, root) = (place.path(), Sysroot::new(place.path()));
        thread(path, "self/task/100", "cardproof", 50, 0);
        thread(path, "2", "kthreadd", 0, 0);
        for (before, after) in [("events", "loop3"), ("loop3", "events"), ("loop3", "loop3")] {
            thread(path, "10", &format!("kworker/0:1-{before}"), 2, 9_000_000);
            let earlier = ProcessorWaits::read(&root).unwrap();
            thread(path, "10", &format!("kworker/0:1-{after}"), 2, 9_000_500);
            let later = ProcessorWaits::read(&root).unwrap();
            assert_eq!(later.since(&earlier), Nanos(500), "{before} {after}");
        }
    }
}
