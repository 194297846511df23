//! An instance of the kernel's tracing that is ours alone.
//!
//! What the user traces stays as it is: our events go to a buffer of their own. Where tracefs is
//! not mounted, we mount it where nobody else sees it, for as long as it takes. An instance that a killed
//! cardproof left would record on for ever, and slow every request; the next one takes it away.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use cardproof_trace::PipeReader;
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use rustix::process::Pid;

use super::lines;
use cardproof_units::in_words;

use crate::failure::Failure;
use crate::leftovers;

/// Where tracefs is usually mounted.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// How the places were called at which tracefs was mounted, before the number of their process.
const MOUNTED_BEFORE: &str = "cardproof-tracefs-";

/// How our instances are called, before the number of their process.
const NAME: &str = "cardproof-";

/// The events that are recorded.
const EVENTS: [&str; 2] = ["block_rq_issue", "block_rq_complete"];

/// Room for some 40,000 events on each processor until they are read.
const BUFFER_KIB: &str = "4096";

/// A recording that goes on.
pub(super) struct Instance {
    directory: PathBuf,
    is_done: Arc<AtomicBool>,
    reader: Option<JoinHandle<io::Result<PipeReader>>>,
    /// Goes after the instance.
    _mount: Option<OwnedFd>,
}

impl Instance {
    /// Begins to record the requests of the disk called `device` in the tracepoints.
    pub(super) fn start(device: u64) -> Result<Self, Failure> {
        let (root, mount) = tracefs()?;
        sweep(&root.join("instances"));
        let directory = root.join("instances").join(format!("{NAME}{}", std::process::id()));
        fs::create_dir(&directory)
            .map_err(Failure::because("the kernel gives no tracing instance"))?;
        let is_done = Arc::new(AtomicBool::new(false));
        let mut instance = Self { directory, is_done, reader: None, _mount: mount };
        instance.set_up(device).map_err(Failure::because(
            "cannot record block requests; the kernel needs CONFIG_BLK_DEV_IO_TRACE",
        ))?;
        Ok(instance)
    }

    fn set_up(&mut self, device: u64) -> io::Result<()> {
        fs::write(self.directory.join("buffer_size_kb"), BUFFER_KIB)?;
        let pipe = OpenOptions::new()
            .read(true)
            .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)
            .open(self.directory.join("trace_pipe"))?;
        let is_done = Arc::clone(&self.is_done);
        self.reader = Some(std::thread::spawn(move || read(pipe, &is_done)));
        for event in EVENTS {
            let event = self.directory.join("events/block").join(event);
            fs::write(event.join("filter"), format!("dev == {device}"))?;
            fs::write(event.join("enable"), "1")?;
        }
        Ok(())
    }

    /// Ends the recording and hands over what was recorded.
    pub(super) fn stop(mut self) -> Result<PipeReader, Failure> {
        fs::write(self.directory.join("tracing_on"), "0")
            .map_err(Failure::because("cannot end the recording"))?;
        self.is_done.store(true, Ordering::Relaxed);
        match self.reader.take().map(JoinHandle::join) {
            Some(Ok(Ok(recorded))) => Ok(recorded),
            Some(Ok(Err(error))) => Err(Failure::incomplete(format!(
                "cannot read the recording: {error}",
                error = in_words(&error)
            ))),
            _ => Err(Failure::incomplete("the reader of the recording has failed")),
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            // An instance in use cannot be removed; what was read is wanted no more.
            let _ = reader.join();
        }
        // The kernel takes the files in it away with it.
        let _ = fs::remove_dir(&self.directory);
    }
}

/// Takes away the instances of processes that are no more. One that cannot be removed is left: it
/// hinders nothing but itself.
fn sweep(instances: &Path) {
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(NAME)?.parse().ok());
        if number.and_then(Pid::from_raw).is_some_and(leftovers::is_gone) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Reads until the recording is over and nothing is left.
fn read(pipe: File, is_done: &AtomicBool) -> io::Result<PipeReader> {
    let mut recorded = PipeReader::default();
    lines::read(pipe, is_done, |line| recorded.add(line))?;
    Ok(recorded)
}

/// Where tracefs is, and what holds our mount of it if it is ours.
fn tracefs() -> Result<(PathBuf, Option<OwnedFd>), Failure> {
    leftovers::sweep(MOUNTED_BEFORE, leftovers::unmount);
    let mounted = PLACES.iter().map(Path::new).find(|place| place.join("instances").is_dir());
    if let Some(place) = mounted {
        return Ok((place.to_owned(), None));
    }
    let mount = mount().map_err(|reason| {
        Failure::incomplete(format!(
            "cannot mount tracefs, where the kernel tells of requests: {reason}"
        ))
    })?;
    Ok((PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd())), Some(mount)))
}

/// Mounts tracefs where nobody sees it: the mount is reached by its descriptor and goes with it,
/// however this process ends.
fn mount() -> Result<OwnedFd, String> {
    match mount_nowhere() {
        Err(Errno::NOSYS | Errno::PERM) => mount_and_detach(),
        mounted => mounted.map_err(|errno| in_words(&errno.into())),
    }
}

/// By the calls of Linux 5.2, with which a mount needs no place.
fn mount_nowhere() -> Result<OwnedFd, Errno> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// On older kernels: at a temporary place, from which it is taken as soon as it is open.
fn mount_and_detach() -> Result<OwnedFd, String> {
    let place = std::env::temp_dir().join(format!("{MOUNTED_BEFORE}{}", std::process::id()));
    fs::create_dir(&place)
        .map_err(|error| format!("{}: {error}", place.display(), error = in_words(&error)))?;
    let output = Command::new("mount").args(["-t", "tracefs", "none"]).arg(&place).output();
    let mounted = match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(in_words(&error)),
    };
    let opened = mounted
        .and_then(|()| File::open(&place).map(OwnedFd::from).map_err(|error| in_words(&error)));
    leftovers::unmount(&place);
    opened
}
