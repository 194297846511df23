//! Mounts that nobody else sees, and that go with the process.
//!
//! To compare file systems they must be mounted, and a mount outlives the program that made it: one
//! that is killed would leave somebody's card busy. So the thread that mounts gets a view of the
//! mounts of its own (a mount namespace), in which nothing reaches the rest of the system. When its
//! last thread and child are gone, however they end, the kernel takes the mounts away.
//!
//! Needs the capability `CAP_SYS_ADMIN`, as root has it.

use std::ffi::CStr;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount,
};
use rustix::process::{chroot, fchdir};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

/// A view of the mounts that only this thread has, and the threads and children that it starts
/// from then on.
#[derive(Debug)]
pub struct PrivateMounts {
    /// It holds for the thread that made it.
    _of_this_thread: std::marker::PhantomData<*const ()>,
}

impl PrivateMounts {
    /// Gives this thread a view of its own. It cannot go back; there is no use in a second one.
    ///
    /// # Errors
    /// The kernel does not permit it, mostly for want of root.
    pub fn enter() -> io::Result<Self> {
        // SAFETY: descriptors stay shared between all threads, since `FILES` is not asked for.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
        match make_private() {
            // In a chroot `/` may be an ordinary directory of a mount whose root is out of reach.
            Err(Errno::INVAL) => outside_chroot(make_private)?,
            made => made?,
        }
        Ok(Self { _of_this_thread: std::marker::PhantomData })
    }

    /// Mounts the file system `kind` on the block device `device` over the directory `point`, with
    /// `options` as the file system reads them, such as `commit=60`, and `flags`.
    ///
    /// # Errors
    /// The kernel has no such file system, or refuses; its log tells why.
    pub fn mount(
        &self,
        device: &Path,
        point: &Path,
        kind: &str,
        options: &CStr,
        flags: Flags,
    ) -> io::Result<PrivateMount> {
        let mut all = MountFlags::NODEV | MountFlags::NOSUID | MountFlags::NOEXEC;
        all.set(MountFlags::NOATIME, flags.no_access_times);
        mount(device, point, kind, all, Some(options))?;
        Ok(PrivateMount { point: point.to_owned(), is_mounted: true })
    }
}

/// Keeps what is mounted from here on from the rest of the system.
fn make_private() -> Result<(), Errno> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private)
}

/// Does `deed` where `/` is the root of all that this thread has mounted, and comes back to its own `/`
/// and its directory. The thread has both for itself since it has its view of the mounts.
fn outside_chroot(deed: impl FnOnce() -> Result<(), Errno>) -> Result<(), Errno> {
    let open = |path: &str, flags| rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty());
    let (root, here) = (open("/", OFlags::PATH)?, open(".", OFlags::PATH)?);
    let view = open("/proc/thread-self/ns/mnt", OFlags::RDONLY)?;
    // To enter a view of the mounts, the own one too, is to go to its root.
    move_into_link_name_space(view.as_fd(), Some(LinkNameSpaceType::Mount))?;
    let done = deed();
    fchdir(&root)?;
    chroot(".")?;
    fchdir(&here)?;
    done
}

/// What is asked of a mount whatever its file system. Devices, set-user-id and programs on it never
/// count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Reading a file leaves no time on it (`noatime`).
    pub no_access_times: bool,
}

/// A mount of [`PrivateMounts`], gone with the value.
#[derive(Debug)]
pub struct PrivateMount {
    point: PathBuf,
    is_mounted: bool,
}

impl PrivateMount {
    /// The directory over which it is mounted.
    #[must_use]
    pub fn point(&self) -> &Path {
        &self.point
    }

    /// Takes it away, after everything on it was written.
    ///
    /// # Errors
    /// Something on it is open still, or the storage failed; then it goes when that is closed.
    pub fn unmount(mut self) -> io::Result<()> {
        self.is_mounted = false;
        Ok(unmount(&self.point, UnmountFlags::empty()).inspect_err(|_| self.detach())?)
    }

    /// Takes it out of sight at once, and away when nothing uses it any more.
    fn detach(&self) {
        // There is nothing left to try; the end of the process takes it away.
        let _ = unmount(&self.point, UnmountFlags::DETACH);
    }
}

impl Drop for PrivateMount {
    fn drop(&mut self) {
        if self.is_mounted && unmount(&self.point, UnmountFlags::empty()).is_err() {
            self.detach();
        }
    }
}
