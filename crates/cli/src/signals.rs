//! Ctrl-C and its like: the first asks the run to end, the second ends it at once.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::exit::Exit;

/// The process's own, for questions to the user: whoever asks is far from whoever runs.
static INSTALLED: OnceLock<Signals> = OnceLock::new();

/// What `ask` returns, unless a signal comes meanwhile: it ends the process at once, since nothing has
/// begun that would need order.
pub(crate) fn ending_at_once<T>(ask: impl FnOnce() -> T) -> T {
    let Some(signals) = INSTALLED.get() else { return ask() };
    let before = signals.stop.swap(true, Ordering::Relaxed);
    if let (true, Some(exit)) = (before, signals.exit()) {
        // It came before the question, and nobody has looked since: the answer would be waited for without end.
        std::process::exit(exit as i32);
    }
    let answer = ask();
    signals.stop.store(before, Ordering::Relaxed);
    answer
}

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
            // In this order: a second signal finds the flag set and ends the process. Which signal came
            // is kept first, so that one that comes between these lines is not lost.
            flag::register_usize(signal, Arc::clone(&signals.which), exit as usize)?;
            flag::register_conditional_shutdown(signal, exit as i32, Arc::clone(&signals.stop))?;
            flag::register(signal, Arc::clone(&signals.stop))?;
        }
        if signals.exit().is_some() {
            signals.stop.store(true, Ordering::Relaxed);
        }
        // A file that may grow no further (`ulimit -f`) is a full disk, told by the write itself and no
        // end of the program. A handler, unlike ignoring it, does not reach the programs that we start.
        flag::register(SIGXFSZ, Arc::default())?;
        // Installed once; another set of handlers would be of no use to anybody.
        Ok(INSTALLED.get_or_init(|| signals).clone())
    }

    /// From here on the first signal ends the process at once.
    pub(crate) fn end_at_once(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether a signal has come since this was last asked; the next one does not end the process.
    pub(crate) fn take(&self) -> bool {
        self.stop.swap(false, Ordering::Relaxed)
    }

    /// True once a signal has come.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// The same, for a thread.
    pub(crate) fn shared_stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
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
