//! Which programs wait at this moment, and for what: local storage, a network drive, or something else.
//!
//! A task that waits for I/O and can be woken by nothing else is in state `D` (proc(5), `/proc/PID/stat`). The
//! function of the kernel that it waits in is in `wchan`; root also reads the way there in `stack`, which tells the
//! file system. Without them a wait is of an unknown kind. Threads of the kernel are left out: they work for programs.

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

/// Types of file systems on other computers.
const NETWORK_FILESYSTEMS: [&str; 7] = ["nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "afs"];

/// How many programs' threads waited, by what they waited for, added over looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskWaits {
    /// How often was looked.
    pub looks: u64,
    /// For local storage.
    pub storage: u64,
    /// For a network drive.
    pub network: u64,
    /// In state `D`, and it is not known for what; or for neither.
    pub other: u64,
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
        for directory in waiting_threads(root) {
            match waits_for(root, &directory, has_network_drive) {
                WaitsFor::Storage => self.storage += 1,
                WaitsFor::Network => self.network += 1,
                WaitsFor::Other => self.other += 1,
            }
        }
    }
}

/// The directories of threads of programs that are in state `D`.
fn waiting_threads(root: &Sysroot) -> Vec<String> {
    let processes = root.list("proc").unwrap_or_default();
    let is_number = |name: &&String| name.bytes().all(|byte| byte.is_ascii_digit());
    let mut waiting = Vec::new();
    let mut seen = 0;
    for process in processes.iter().filter(is_number) {
        // One that has just ended is left out.
        let Some(status) = text_of_stat(root, &format!("proc/{process}")) else { continue };
        let Some((state, parent, threads)) = state(&status) else { continue };
        seen += threads;
        if parent == KTHREADD || process == KTHREADD || seen > THREADS_MAX {
            continue;
        }
        if threads < 2 {
            waiting.extend((state == "D").then(|| format!("proc/{process}")));
            continue;
        }
        for thread in root.list(format!("proc/{process}/task")).unwrap_or_default() {
            let directory = format!("proc/{process}/task/{thread}");
            let status = text_of_stat(root, &directory).unwrap_or_default();
            waiting.extend(self::state(&status).filter(|it| it.0 == "D").map(|_| directory));
        }
    }
    waiting
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

/// What the thread with this `directory` waits for.
fn waits_for(root: &Sysroot, directory: &str, has_network_drive: bool) -> WaitsFor {
    let stack = root.bytes(format!("{directory}/stack")).unwrap_or_default();
    let stack = String::from_utf8_lossy(&stack);
    // `[<0>] folio_wait_bit_common+0x13d/0x350`
    let mut functions: Vec<&str> =
        stack.lines().filter_map(|line| line.split_once("] ")?.1.split('+').next()).collect();
    let wchan = root.text(format!("{directory}/wchan"));
    let is_whole = !functions.is_empty();
    functions.extend(wchan.as_deref());
    let is_in = |beginnings: &[&str]| {
        functions.iter().any(|function| beginnings.iter().any(|it| function.starts_with(it)))
    };
    if is_in(&NETWORK) {
        return WaitsFor::Network;
    }
    // One function alone does not tell whose pages are waited for.
    let is_of_pages = is_in(&PAGES) && (is_whole || !has_network_drive);
    if is_in(&STORAGE) || is_of_pages { WaitsFor::Storage } else { WaitsFor::Other }
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
