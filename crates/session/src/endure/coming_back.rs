//! Waits for a device that has vanished, and lets in that one alone.
//!
//! Leave to destroy was given for one card. Another may have its name and size, so what is there must carry the
//! run's own marks before anything is written to it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cardproof_io::Target;
use cardproof_probe::endure::{Marks, Plan, State, marks};
use cardproof_units::Nanos;

use super::device::Device;
use crate::frontend::Silent;
use crate::options::Access;
use crate::target::Existing;

/// How long between two looks.
const STEP: Duration = Duration::from_secs(1);

/// Where a device was, and may be again.
pub(super) trait Socket {
    /// Hears that the device has vanished just now.
    fn vanished(&mut self);

    /// Waits before the next look; `false` where it has waited long enough.
    fn waits(&mut self) -> bool;

    /// What is there, open for writing, where its identity is that of the device.
    fn open(&mut self) -> Option<Box<dyn Target>>;
}

/// What came of waiting.
pub(super) enum Return {
    /// The device itself.
    Own(Box<dyn Target>),
    /// Something else, to which nothing was written.
    Other,
    /// Nothing that can be read.
    Nothing,
}

/// Waits at `socket` for the device on which the run of `plan` stands at `state`, until `stop` says so. Only reads.
/// Calls `other_came` when something else is there for the first time.
pub(super) fn wait(
    socket: &mut dyn Socket,
    plan: &Plan,
    state: &State,
    stop: &AtomicBool,
    mut other_came: impl FnMut(),
) -> Return {
    let mut came = Return::Nothing;
    socket.vanished();
    while !stop.load(Ordering::Relaxed) && socket.waits() {
        let Some(mut target) = socket.open() else { continue };
        match marks(&mut *target, plan, state) {
            Ok(Marks::Own) => return Return::Own(target),
            Ok(Marks::Foreign | Marks::NotExpected) => {
                if !matches!(came, Return::Other) {
                    other_came();
                }
                came = Return::Other;
            }
            Ok(Marks::Unreadable) | Err(_) => {}
        }
    }
    came
}

/// Where a device of the system is.
pub(super) struct RealSocket {
    path: PathBuf,
    access: Access,
    device: Device,
    patience: Duration,
    since: Instant,
}

impl RealSocket {
    /// Where `device` is, at `path`; it is opened with `access`, and waited for as long as `patience`.
    pub(super) fn new(path: &Path, access: &Access, device: Device, patience: Nanos) -> Self {
        let patience = Duration::from_nanos(patience.get());
        let (path, access) = (path.to_owned(), access.clone());
        Self { path, access, device, patience, since: Instant::now() }
    }
}

impl Socket for RealSocket {
    fn vanished(&mut self) {
        self.since = Instant::now();
    }

    fn waits(&mut self) -> bool {
        let is_patient = self.since.elapsed() < self.patience;
        if is_patient {
            thread::sleep(STEP);
        }
        is_patient
    }

    fn open(&mut self) -> Option<Box<dyn Target>> {
        let device = Device::at(&self.path).ok()?;
        if device.key != self.device.key {
            return None;
        }
        let existing = Existing { path: &self.path, direct: true };
        existing.open(&self.access, true, &mut Silent).ok().map(|storage| storage.target)
    }
}
