//! Puts a card up and takes it down again.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use cardproof_io::{Target, TargetError};
use cardproof_log_layout::{LogError, Mode, Options};
use cardproof_sim::{Card, OpenError, PacedTarget, Store};
use cardproof_units::Seed;
use fuser::{BackgroundSession, Config, MountOption, Session};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use crate::backing::FileStore;
use crate::file::CardFile;
use crate::keeper::{Keeper, SOURCE};
use crate::log_card::LogCard;
use crate::loop_device::LoopDevice;
use crate::pacer::{Message, Pacer};
use crate::urgent::urgently;

/// How often and how long apart unmounting is tried: a second in all.
const UNMOUNT_TRIES: u32 = 50;
const UNMOUNT_PAUSE: std::time::Duration = std::time::Duration::from_millis(20);

/// How a card is put up.
#[derive(Clone, Debug, PartialEq)]
pub struct ServeOptions {
    /// An empty directory in which the card's file appears.
    pub directory: PathBuf,
    /// Whether the directory goes with the card where this process is killed.
    pub is_temporary: bool,
    /// Virtual seconds in a real one, above 0: 1 for a card in real time, 100 for one whose
    /// contents matter and whose speed does not.
    pub speed: f64,
    /// Whether to attach a loop device to the file, which needs root.
    pub block_device: bool,
    /// A file for the card's bytes; in memory without it.
    pub backing: Option<PathBuf>,
    /// A log-structured layer over the card, found again where `backing` holds one.
    pub log: Option<Mode>,
}

/// Why a card cannot be put up or taken down.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The card cannot be had.
    #[error(transparent)]
    Card(#[from] OpenError),
    /// The speed is not a positive number.
    #[error("a speed of {0} is not possible; give a number above 0, 1 for real time")]
    Speed(f64),
    /// The backing file cannot be used.
    #[error("cannot keep the card's bytes in '{}'", path.display())]
    Backing {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The log cannot be laid out or found.
    #[error("the log on the simulated card cannot be used")]
    Log(#[from] LogError),
    /// The card does not get its buffers.
    #[error("the simulated card cannot be made ready")]
    Prepare(#[from] TargetError),
    /// The kernel does not mount it.
    #[error(
        "cannot mount the card on '{}'; FUSE needs /dev/fuse and, without root, fusermount3 \
         (Debian's package fuse3)", directory.display()
    )]
    Mount {
        /// Where.
        directory: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
    /// `losetup` is missing.
    #[error("cannot start 'losetup'; install Debian's package mount, or do without a device")]
    NoLosetup(#[source] io::Error),
    /// `losetup` refuses.
    #[error("losetup refused ({said}); a block device needs root and loop devices")]
    Losetup {
        /// What it said.
        said: String,
    },
    /// Somebody still uses the card.
    #[error("{} is still in use; unmount what is on it and close what has it open", path.display())]
    InUse {
        /// What is in use.
        path: PathBuf,
    },
    /// The file system cannot be unmounted.
    #[error("cannot unmount '{}'", directory.display())]
    Unmount {
        /// Where it is mounted.
        directory: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// A card that is up.
///
/// [`stop`](Self::stop) takes it down when nobody uses it. Dropping it takes it down at once, and so
/// does the end of this process, however it ends: whoever still uses it gets errors.
#[derive(Debug)]
pub struct Server {
    directory: PathBuf,
    file: PathBuf,
    device: Option<LoopDevice>,
    session: Option<BackgroundSession>,
    pacer: Option<JoinHandle<()>>,
    messages: Sender<Message>,
    keeper: Option<Keeper>,
}

impl ServeError {
    /// Whether somebody else uses what would be overwritten.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Backing { source, .. } if source.kind() == io::ErrorKind::ResourceBusy)
    }
}

impl Server {
    /// Puts `card` up; `seed` decides the random choices of its model.
    ///
    /// # Errors
    /// [`ServeError`]; nothing is left mounted or attached.
    pub fn start(card: &Card, seed: Seed, options: &ServeOptions) -> Result<Self, ServeError> {
        if !(options.speed > 0.0 && options.speed.is_finite()) {
            return Err(ServeError::Speed(options.speed));
        }
        let target = open(card, seed, options)?;
        let abilities = target.abilities().clone();
        let (messages, received) = channel();
        let file_system = CardFile {
            name: format!("{}.img", card.name),
            size: abilities.size,
            logical_block: abilities.logical_block,
            discard: abilities.discard,
            owner: (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()),
            pacer: messages.clone(),
        };
        let file = options.directory.join(&file_system.name);
        let pacer = Pacer::new(target, options.speed)?;
        let thread = std::thread::Builder::new().name("card".to_owned());
        let pacer = urgently(|| thread.spawn(move || pacer.run(&received)));
        let pacer = pacer.map_err(ServeError::Thread)?;
        let keeper = Keeper::start(&options.directory, &file_system.name, options.is_temporary)
            .map_err(|source| ServeError::Mount { directory: options.directory.clone(), source })?;
        let session = urgently(|| mount(file_system, &options.directory))?;
        let mut server = Self {
            directory: options.directory.clone(),
            file,
            device: None,
            session: Some(session),
            pacer: Some(pacer),
            messages,
            keeper: Some(keeper),
        };
        if options.block_device {
            server.device = Some(LoopDevice::attach(&server.file)?);
        }
        Ok(server)
    }

    /// Takes down what a killed server has left at `directory`, the mount of a card that nobody
    /// serves any more: block devices that only fail, and the mount. What cannot be taken down stays.
    pub fn take_down_killed(directory: &Path) {
        for device in LoopDevice::all_in(directory) {
            // The keeper of that server may have been quicker.
            let _ = device.detach();
        }
        let _ = unmount(directory, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    }

    /// The file that is the card.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The block device that is the card, if one was wanted.
    #[must_use]
    pub fn device(&self) -> Option<&Path> {
        self.device.as_ref().map(LoopDevice::path)
    }

    /// Takes the card down.
    ///
    /// # Errors
    /// [`ServeError::InUse`] while somebody uses it: it stays up, and stopping can be tried
    /// again. Other errors when the system refuses to unmount or detach.
    pub fn stop(&mut self) -> Result<(), ServeError> {
        if let Some(device) = &self.device {
            if device.is_in_use() {
                return Err(ServeError::InUse { path: device.path().to_owned() });
            }
            device.detach()?;
            self.device = None;
        }
        if self.session.is_some() {
            unmount_patiently(&self.directory)?;
        }
        if let Some(keeper) = self.keeper.take() {
            keeper.dismiss();
        }
        self.join();
        Ok(())
    }

    /// Waits for the threads of a file system that is no longer mounted.
    fn join(&mut self) {
        if let Some(session) = self.session.take() {
            // It has nothing left to say: the kernel has let it go.
            let _ = session.umount_and_join();
        }
        // Nobody receives when the pacer has already ended, which is as well.
        let _ = self.messages.send(Message::Stop);
        if let Some(pacer) = self.pacer.take() {
            let _ = pacer.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Stop);
        if let Some(device) = self.device.take() {
            let _ = device.detach();
        }
        if let Some(session) = self.session.take() {
            let _ = unmount(&self.directory, UnmountFlags::DETACH);
            // The session ends with the last user of the file; a thread waits for that, not we.
            drop(session);
        }
    }
}

/// The card that `options` ask for.
fn open(
    card: &Card,
    seed: Seed,
    options: &ServeOptions,
) -> Result<Box<dyn PacedTarget>, ServeError> {
    // A backing that holds nothing yet is made anew.
    let holds_bytes = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|found| found.len() > 0);
    let is_new = !options.backing.as_ref().is_some_and(holds_bytes);
    let target = card.open_paced(seed, store(card, options)?)?;
    let Some(mode) = options.log else { return Ok(target) };
    let log = Options::new(mode, seed.derive("served log"));
    Ok(Box::new(LogCard::open(target, log, is_new)?))
}

/// The place for the card's bytes that `options` ask for.
fn store(card: &Card, options: &ServeOptions) -> Result<Option<Box<dyn Store>>, ServeError> {
    let Some(path) = &options.backing else { return Ok(None) };
    let store = FileStore::open(path, card.model.capacity)
        .map_err(|source| ServeError::Backing { path: path.clone(), source })?;
    Ok(Some(Box::new(store)))
}

fn mount(file_system: CardFile, directory: &Path) -> Result<BackgroundSession, ServeError> {
    let failed = |source| ServeError::Mount { directory: directory.to_owned(), source };
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName(SOURCE.to_owned()),
        MountOption::Subtype(SOURCE.to_owned()),
        MountOption::NoSuid,
        MountOption::NoDev,
        MountOption::NoExec,
    ];
    let session = Session::new(file_system, directory, &config).map_err(failed)?;
    session.spawn().map_err(failed)
}

/// Unmounts, and gives the kernel a moment to close for good what has just been closed: a loop
/// device lets its file go only after it is detached.
fn unmount_patiently(directory: &Path) -> Result<(), ServeError> {
    for _ in 0..UNMOUNT_TRIES {
        match unmount(directory, UnmountFlags::empty()) {
            Err(ServeError::InUse { .. }) => std::thread::sleep(UNMOUNT_PAUSE),
            other => return other,
        }
    }
    unmount(directory, UnmountFlags::empty())
}

/// Unmounts `directory`, without root by the system's helper.
fn unmount(directory: &Path, flags: UnmountFlags) -> Result<(), ServeError> {
    match rustix::mount::unmount(directory, flags) {
        Ok(()) => Ok(()),
        Err(Errno::BUSY) => Err(ServeError::InUse { path: directory.to_owned() }),
        Err(Errno::PERM) => unmount_by_helper(directory),
        Err(errno) => {
            Err(ServeError::Unmount { directory: directory.to_owned(), source: errno.into() })
        }
    }
}

fn unmount_by_helper(directory: &Path) -> Result<(), ServeError> {
    let status = Command::new("fusermount3").arg("-u").arg(directory).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(ServeError::InUse { path: directory.to_owned() }),
        Err(source) => Err(ServeError::Unmount { directory: directory.to_owned(), source }),
    }
}
