//! A device that is taken from the system and brought back, so that what is read afterwards comes from
//! no cache of the computer, and from none of a reader that forgets when it is disconnected.

mod keeper;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use cardproof_device::guard;
use cardproof_device::{DeviceNumber, ReconnectError, Reconnection, Sysroot};
use cardproof_io::{
    Abilities, Completion, Fault, Op, Slot, Submission, SubmitError, Target, TargetError, Usage,
    Wait,
};
use cardproof_units::{Bytes, Nanos, in_words, with_causes};

use keeper::Keeper;

use super::{Existing, Storage, StorageNeeds, not_there, simulated_name};
use crate::failure::Failure;
use crate::file::is_block_device;
use crate::frontend::{Frontend, Silent};
use crate::options::Access;

/// How long a disk may take to go or to come back; a slow reader needs some seconds.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// How long it stays disconnected: a reader's and a card's supply discharge.
const PAUSE: Duration = Duration::from_secs(1);

/// How often one looks whether it is there.
const STEP: Duration = Duration::from_millis(50);

/// Opens what exists; where `needs` asks for it, so that it can be disconnected on the way.
///
/// # Errors
/// It may not be opened so, or cannot be disconnected; nothing was done then.
pub(super) fn open(
    existing: &Existing<'_>,
    needs: &StorageNeeds,
    access: &Access,
    writes: bool,
    talk: &mut dyn Frontend,
) -> Result<Storage, Failure> {
    if !needs.reconnects {
        return existing.open(access, writes, talk);
    }
    let way = way_of(existing.path)?;
    for order in [&way.disconnect, &way.connect] {
        File::options().write(true).open(&order.file).map_err(|error| {
            Failure::incomplete(format!(
                "--reconnect needs to write to {}: {error}; use sudo, or leave --reconnect out",
                order.file.display(),
                error = in_words(&error)
            ))
        })?;
    }
    let opened = existing.open(access, writes, talk)?;
    let abilities = opened.target.abilities().clone();
    let target = Reconnecting {
        inner: Some(opened.target),
        abilities,
        prepared: None,
        last_time: Nanos::ZERO,
        way,
        access: access.clone(),
    };
    Ok(Storage { target: Box::new(target), ..opened })
}

/// Checks that the target is a device, which alone can be disconnected.
///
/// # Errors
/// It is something else.
pub(super) fn check(path: &Path) -> Result<(), Failure> {
    if simulated_name(path).is_none() && is_block_device(path) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--reconnect is for USB devices and cards in an SD slot, and {} is neither; leave it out",
        path.display()
    )))
}

fn way_of(path: &Path) -> Result<Reconnection, Failure> {
    let metadata = fs::metadata(path).map_err(|error| not_there(path, &error))?;
    let root = Sysroot::default();
    Reconnection::find(&root, DeviceNumber::from_raw(metadata.rdev())).map_err(|error| {
        let message = format!("--reconnect is not possible: {error}; leave it out");
        match error {
            ReconnectError::NotPossible | ReconnectError::Partition(_) => Failure::usage(message),
            ReconnectError::Shared { .. } | ReconnectError::InUse { .. } => {
                Failure::refused(message)
            }
        }
    })
}

/// A device that can be disconnected; while it is, there is nothing to drive.
struct Reconnecting {
    inner: Option<Box<dyn Target>>,
    abilities: Abilities,
    prepared: Option<(u16, Bytes)>,
    last_time: Nanos,
    way: Reconnection,
    access: Access,
}

impl Reconnecting {
    fn disconnect_and_connect(&mut self) -> io::Result<()> {
        let root = Sysroot::default();
        // Meanwhile somebody may have begun to use what goes with it.
        self.way.check_others(&root).map_err(io::Error::other)?;
        let keeper = Keeper::start(&self.way.connect)?;
        self.inner = None;
        fs::write(&self.way.disconnect.file, &self.way.disconnect.text)?;
        let gone = wait_for(|| self.way.is_gone(&root).then_some(()));
        thread::sleep(PAUSE);
        // Whatever happened, it is not left disconnected.
        fs::write(&self.way.connect.file, &self.way.connect.text)?;
        keeper.dismiss();
        gone.ok_or_else(|| io::Error::other("the system did not let it go"))?;
        let node = wait_for(|| self.way.node(&root).filter(|node| node.exists()));
        let node = node.ok_or_else(|| io::Error::other("the same device did not come back"))?;
        self.inner = Some(self.reopen(&root, &node)?);
        Ok(())
    }

    /// Opens the device at `node`, which may have another name now, with the leave that was given.
    fn reopen(&self, root: &Sysroot, node: &Path) -> io::Result<Box<dyn Target>> {
        let mut last = io::Error::other("it cannot be opened");
        let opened = wait_for(|| match self.open_at(root, node) {
            Ok(target) => Some(target),
            Err(error) => {
                last = error;
                None
            }
        });
        opened.ok_or(last)
    }

    fn open_at(&self, root: &Sysroot, node: &Path) -> io::Result<Box<dyn Target>> {
        let failed = |failure: Failure| io::Error::other(failure.message);
        let found =
            guard::inspect(root, node).map_err(|error| io::Error::other(with_causes(&error)))?;
        let access =
            Access { destroy: Some(Some(found.identity.to_string())), ..self.access.clone() };
        let existing = Existing { path: node, direct: true };
        let mut target = existing.open(&access, true, &mut Silent).map_err(failed)?.target;
        if target.abilities().size != self.abilities.size {
            return Err(io::Error::other("it came back with another size"));
        }
        if let Some((slots, buffer)) = self.prepared {
            target.prepare(slots, buffer).map_err(io::Error::other)?;
        }
        Ok(target)
    }

    fn inner(&mut self) -> Result<&mut Box<dyn Target>, TargetError> {
        self.inner.as_mut().ok_or_else(|| TargetError::Engine {
            engine: self.abilities.engine.name(),
            doing: "reach the device, which did not come back",
            source: io::ErrorKind::NotConnected.into(),
        })
    }
}

impl Target for Reconnecting {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        if let Some(inner) = &mut self.inner {
            self.last_time = inner.now();
        }
        self.last_time
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.inner()?.prepare(slots, buffer_size)?;
        self.prepared = Some((slots, buffer_size));
        Ok(())
    }

    fn cost(&self) -> Option<Usage> {
        self.inner.as_ref().and_then(Target::cost)
    }

    fn reconnect(&mut self) -> io::Result<bool> {
        self.now();
        self.disconnect_and_connect()?;
        Ok(true)
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.inner.as_mut().map_or(&mut [], |inner| inner.buffer(slot))
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        let now = self.now();
        if let Some(inner) = &mut self.inner {
            return inner.submit(op);
        }
        let Op { slot, kind, .. } = op;
        let outcome = Err(Fault::Vanished);
        Ok(Submission::Done(Completion { slot, kind, submitted: now, completed: now, outcome }))
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.inner()?.complete(wait, completions)
    }
}

/// Asks `question` until it is answered, or too long.
fn wait_for<T>(mut question: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        let answer = question();
        if answer.is_some() || begun.elapsed() > WAIT_MAX {
            return answer;
        }
        thread::sleep(STEP);
    }
}
