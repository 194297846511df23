//! Which programs wait at this moment, and for what: local storage, a network drive, or something else.
//!
//! A task that waits for I/O and can be woken by nothing else is in state `D` (proc(5), `/proc/PID/stat`). The
//! function of the kernel that it waits in is in `wchan`; root also reads the way there in `stack`, which tells the
//! file system. Without them a wait is of an unknown kind. Threads of the kernel are left out: they work for programs.

use std::collections::BTreeMap;

use crate::Sysroot;

/// A computer with more threads is looked at in part.
const THREADS_MAX: usize = 4096;

/// The number of the kernel's thread that makes all others.
const KTHREADD: &str = "2";

/// Beginnings of the kernel's functions on the way to a network drive: NFS, SMB, Ceph, 9P, AFS.
const NETWORK: [&str; 10] =
    ["nfs", "rpc_", "cifs_", "smb2_", "ceph_", "v9fs_", "p9_", "afs_", "netfs_", "ncp_"];

/// Beginnings of the kernel's functions on the way to local storage: file systems with their journals, the block
/// layer, and drivers.
const STORAGE: [&str; 22] = [
    "ext4_",
    "jbd2_",
    "wait_transaction_locked",
    "f2fs_",
    "btrfs_",
    "xfs_",
    "fat_",
    "exfat_",
    "blkdev_",
    "blk_",
    "__blk",
    "rq_qos_wait",
    "wbt_wait",
    "submit_bio_wait",
    "iomap_",
    "__iomap_",
    "dio_",
    "__wait_on_buffer",
    "bit_wait_io",
    "swap_",
    "mmc_",
    "squashfs_",
];

/// Beginnings of functions in which tasks wait for pages and for write-back, of whatever file system.
const PAGES: [&str; 8] = [
    "folio_wait",
    "__folio_lock",
    "wait_on_page",
    "__lock_page",
    "balance_dirty_pages",
    "wb_wait_for_completion",
    "io_schedule",
    "out_of_line_wait_on_bit",
];

/// Beginnings of the kernel's functions in which, or on the way from which, a task waits for its own writes to be kept.
const SYNCS: [&str; 18] = [
    "vfs_fsync",
    "do_fsync",
    "ksys_sync",
    "generic_write_sync",
    "file_write_and_wait_range",
    "ext4_sync_file",
    "ext4_fsync",
    "f2fs_sync_file",
    "f2fs_do_sync_file",
    "f2fs_issue_flush",
    "btrfs_sync_file",
    "xfs_file_fsync",
    "fat_file_fsync",
    "exfat_file_fsync",
    "blkdev_fsync",
    "blkdev_issue_flush",
    "jbd2_log_wait_commit",
    "jbd2_complete_transaction",
];

/// Beginnings of the last of these functions, where no other is told.
const FLUSHES: [&str; 2] = ["submit_bio_wait", "__sync_dirty_buffer"];

/// Types of file systems on other computers.
const NETWORK_FILESYSTEMS: [&str; 7] = ["nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "afs"];

/// How many programs' threads waited, by what they waited for, added over looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskWaits {
    /// How often was looked.
    pub looks: u64,
    /// For local storage.
    pub storage: u64,
    /// For a network drive.
    pub network: u64,
    /// In state `D`, and it is not known for what; or for neither.
    pub other: u64,
    /// In how many looks each program was seen to wait for its writes to be kept.
    pub syncs: BTreeMap<String, u64>,
}

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitsFor {
    Storage,
    Network,
    Other,
}

impl TaskWaits {
    /// Adds a look at all tasks below `root`.
    pub fn look(&mut self, root: &Sysroot) {
        self.looks += 1;
        let has_network_drive = has_network_drive(root);
        let mut seen = 0;
        for process in root.list("proc").unwrap_or_default() {
            if !process.bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            // One that has just ended is left out.
            let Some(waiting) = Waiting::of(root, &process) else { continue };
            seen += waiting.threads;
            if seen > THREADS_MAX {
                continue;
            }
            let ways: Vec<Way> = waiting.directories.iter().map(|it| Way::of(root, it)).collect();
            for way in &ways {
                match way.waits_for(has_network_drive) {
                    WaitsFor::Storage => self.storage += 1,
                    WaitsFor::Network => self.network += 1,
                    WaitsFor::Other => self.other += 1,
                }
            }
            if ways.iter().any(Way::is_sync) {
                *self.syncs.entry(waiting.program).or_default() += 1;
            }
        }
    }
}

/// The name of the program of `process`, if it waits at this moment for its writes to be kept.
pub(crate) fn syncing(root: &Sysroot, process: u32) -> Option<String> {
    let waiting = Waiting::of(root, &process.to_string())?;
    let mut directories = waiting.directories.iter();
    directories.any(|it| Way::of(root, it).is_sync()).then_some(waiting.program)
}

/// The threads of a program that are in state `D`.
struct Waiting {
    /// The name of the program; empty where it cannot be shown.
    program: String,
    /// All of its threads.
    threads: usize,
    /// The directories of those that wait.
    directories: Vec<String>,
}

impl Waiting {
    /// `None` of a process that has ended, and none but the number of threads of one of the kernel.
    fn of(root: &Sysroot, process: &str) -> Option<Self> {
        let status = text_of_stat(root, &format!("proc/{process}"))?;
        let (state, parent, threads) = state(&status)?;
        let program = status.split_once('(')?.1.rsplit_once(')')?.0;
        let program = if program.contains(char::is_control) { "" } else { program.trim() };
        let mut waiting = Self { program: program.to_owned(), threads, directories: Vec::new() };
        if parent == KTHREADD || process == KTHREADD {
            return Some(waiting);
        }
        if threads < 2 {
            waiting.directories.extend((state == "D").then(|| format!("proc/{process}")));
            return Some(waiting);
        }
        for thread in root.list(format!("proc/{process}/task")).unwrap_or_default() {
            let directory = format!("proc/{process}/task/{thread}");
            let status = text_of_stat(root, &directory).unwrap_or_default();
            if self::state(&status).is_some_and(|it| it.0 == "D") {
                waiting.directories.push(directory);
            }
        }
        Some(waiting)
    }
}

/// The text of `stat`, which is longer than an attribute and may hold a name of any bytes.
fn text_of_stat(root: &Sysroot, directory: &str) -> Option<String> {
    let bytes = root.bytes(format!("{directory}/stat")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The state, the parent and the number of threads in the text of `stat`. The name before them is the program's own
/// choice and may have brackets and blanks.
fn state(status: &str) -> Option<(&str, &str, usize)> {
    let mut fields = status.rsplit_once(')')?.1.split_whitespace();
    let (state, parent) = (fields.next()?, fields.next()?);
    // The 20th field, of which the third and the fourth were taken (proc(5)).
    Some((state, parent, fields.nth(15)?.parse().ok()?))
}

/// The functions of the kernel that a thread waits in, as far as they are told.
struct Way {
    functions: Vec<String>,
    /// Whether it is all of them and not the last alone.
    is_whole: bool,
}

impl Way {
    /// That of the thread with this `directory`.
    fn of(root: &Sysroot, directory: &str) -> Self {
        let stack = root.bytes(format!("{directory}/stack")).unwrap_or_default();
        let stack = String::from_utf8_lossy(&stack);
        // `[<0>] folio_wait_bit_common+0x13d/0x350`
        let function = |line: &str| Some(line.split_once("] ")?.1.split('+').next()?.to_owned());
        let mut functions: Vec<String> = stack.lines().filter_map(function).collect();
        let is_whole = !functions.is_empty();
        functions.extend(root.text(format!("{directory}/wchan")));
        Self { functions, is_whole }
    }

    fn is_in(&self, beginnings: &[&str]) -> bool {
        self.functions.iter().any(|function| beginnings.iter().any(|it| function.starts_with(it)))
    }

    fn waits_for(&self, has_network_drive: bool) -> WaitsFor {
        if self.is_in(&NETWORK) {
            return WaitsFor::Network;
        }
        // One function alone does not tell whose pages are waited for.
        let is_of_pages = self.is_in(&PAGES) && (self.is_whole || !has_network_drive);
        if self.is_in(&STORAGE) || is_of_pages { WaitsFor::Storage } else { WaitsFor::Other }
    }

    /// Whether it waits for its own writes to be kept, on storage of this computer.
    fn is_sync(&self) -> bool {
        let is_flush = !self.is_whole && self.is_in(&FLUSHES);
        (self.is_in(&SYNCS) || is_flush) && !self.is_in(&NETWORK)
    }
}

/// Whether a file system of another computer is mounted.
fn has_network_drive(root: &Sysroot) -> bool {
    let mounts = crate::mounts::Mounts::read(root).unwrap_or_default();
    mounts.iter().any(|mount| NETWORK_FILESYSTEMS.contains(&mount.kind.as_str()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[derive(Clone, Copy)]
    struct Task<'t> {
        directory: &'t str,
        name: &'t str,
        state: &'t str,
        parent: u32,
        threads: u32,
        wchan: &'t str,
        stack: &'t str,
    }

    const BLOCKED: Task<'_> = Task {
        directory: "100",
        name: "apt",
        state: "D",
        parent: 1,
        threads: 1,
        wchan: "0",
        stack: "",
    };

    fn lay_out(root: &Path, task: &Task<'_>) {
        let directory = root.join("proc").join(task.directory);
        fs::create_dir_all(&directory).unwrap();
        let (name, state, parent, threads) = (task.name, task.state, task.parent, task.threads);
        let fields = "0 ".repeat(15);
        let status = format!("100 ({name}) {state} {parent} {fields}{threads} 0 9 0\n");
        fs::write(directory.join("stat"), status).unwrap();
        fs::write(directory.join("wchan"), task.wchan).unwrap();
        if !task.stack.is_empty() {
            fs::write(directory.join("stack"), task.stack).unwrap();
        }
    }

    fn looked(tasks: &[Task<'_>], mounts: &str) -> (u64, u64, u64) {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("proc/self")).unwrap();
        fs::write(place.path().join("proc/self/mountinfo"), mounts).unwrap();
        tasks.iter().for_each(|task| lay_out(place.path(), task));
        let mut waits = TaskWaits::default();
        waits.look(&Sysroot::new(place.path()));
        assert_eq!(waits.looks, 1);
        (waits.storage, waits.network, waits.other)
    }

    #[test]
    fn a_program_that_waits_for_its_writes_to_be_kept_is_named_once_a_look() {
        let place = tempfile::tempdir().unwrap();
        let root = Sysroot::new(place.path());
        let of_sync = "[<0>] folio_wait_bit+0x1/0x2\n[<0>] file_write_and_wait_range+0x8f/0xc0\n";
        let of_read = "[<0>] folio_wait_bit+0x1/0x2\n[<0>] filemap_read+0x1/0x2\n";
        let many = Task { directory: "200", name: "influxd", threads: 2, ..BLOCKED };
        let thread = |directory| Task { directory, stack: of_sync, ..many };
        for task in [
            Task { stack: of_read, ..BLOCKED },
            many,
            thread("200/task/200"),
            thread("200/task/201"),
            Task { directory: "300", name: "dd", wchan: "jbd2_log_wait_commit", ..BLOCKED },
        ] {
            lay_out(place.path(), &task);
        }
        let mut waits = TaskWaits::default();
        waits.look(&root);
        waits.look(&root);
        let expected = [("dd", 2), ("influxd", 2)].map(|(name, it)| (name.to_owned(), it));
        assert_eq!(waits.syncs, expected.into());
        assert_eq!((syncing(&root, 300).as_deref(), syncing(&root, 100)), (Some("dd"), None));
    }

    const NFS: &str = "27 1 0:33 / /srv rw - nfs4 server:/ rw\n";
    const EXT4: &str = "27 1 179:2 / / rw - ext4 /dev/mmcblk0p2 rw\n";

    #[test]
    fn what_a_task_waits_for_follows_from_where_it_is_in_the_kernel() {
        let of_nfs = "[<0>] folio_wait_bit_common+0x13d/0x350\n[<0>] nfs_file_read+0x1/0x2\n";
        let of_ext4 = "[<0>] folio_wait_bit_common+0x13d/0x350\n[<0>] filemap_read+0x1/0x2\n";
        for (wchan, stack, mounts, expected) in [
            ("jbd2_log_wait_commit", "", EXT4, (1, 0, 0)),
            ("folio_wait_bit_common", "", EXT4, (1, 0, 0)),
            ("folio_wait_bit_common", "", NFS, (0, 0, 1)),
            ("folio_wait_bit_common", of_nfs, NFS, (0, 1, 0)),
            ("folio_wait_bit_common", of_ext4, NFS, (1, 0, 0)),
            ("rpc_wait_bit_killable", "", NFS, (0, 1, 0)),
            ("usb_start_wait_urb", "", EXT4, (0, 0, 1)),
            ("0", "", EXT4, (0, 0, 1)),
        ] {
            let task = Task { wchan, stack, ..BLOCKED };
            assert_eq!(looked(&[task], mounts), expected, "{wchan} {stack}");
        }
    }

    #[test]
    fn programs_count_with_all_their_threads_and_the_kernels_do_not() {
        let wchan = "jbd2_log_wait_commit";
        let many = Task { directory: "200", threads: 3, state: "S", ..BLOCKED };
        let thread = |directory, state| Task { directory, state, threads: 3, wchan, ..BLOCKED };
        let tasks = [
            many,
            thread("200/task/200", "S"),
            thread("200/task/201", "D"),
            thread("200/task/202", "D"),
            Task { directory: "300", name: "a) S 1 (b", wchan, ..BLOCKED },
            Task { directory: "400", name: "kworker/0:1", parent: 2, wchan, ..BLOCKED },
            Task { directory: "500", state: "R", wchan, ..BLOCKED },
        ];
        assert_eq!(looked(&tasks, EXT4), (3, 0, 0));
    }
}
