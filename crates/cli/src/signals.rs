//! Ctrl-C and its like: the first asks the run to end, the second ends it at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::Exit;

/// The wish to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

impl Signals {
    /// Installs the handlers.
    pub(crate) fn install() -> io::Result<Self> {
        let signals = Self::default();
        for (signal, exit) in
            [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated), (SIGHUP, Exit::Terminated)]
        {
            // In this order: a second signal finds the flag set and ends the process.
            flag::register_conditional_shutdown(signal, exit as i32, Arc::clone(&signals.stop))?;
            flag::register_usize(signal, Arc::clone(&signals.which), exit as usize)?;
            flag::register(signal, Arc::clone(&signals.stop))?;
        }
        Ok(signals)
    }

    /// From here on the first signal ends the process at once.
    pub(crate) fn end_at_once(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// True once a signal has come.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// How to end, if a signal has come.
    pub(crate) fn exit(&self) -> Option<Exit> {
        match self.which.load(Ordering::Relaxed) {
            0 => None,
            which if which == Exit::Interrupted as usize => Some(Exit::Interrupted),
            _ => Some(Exit::Terminated),
        }
    }
}
