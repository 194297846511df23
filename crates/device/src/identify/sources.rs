//! What the parts of identification share while one machine is looked at: the root, the kernel
//! log, read at most once and only where somebody asks, and the list of what could not be found.

use std::cell::{OnceCell, RefCell};

use cardproof_kernel_log as messages;
use cardproof_record::Unknown;

use super::kernel_log::KernelLog;
use crate::Sysroot;
use crate::dump::SERIALS_REMOVED;

/// One machine while it is looked at.
#[derive(Debug)]
pub(crate) struct Sources<'root> {
    root: &'root Sysroot,
    log: OnceCell<KernelLog>,
    messages: OnceCell<messages::KernelLog>,
    unknown: RefCell<Vec<Unknown>>,
}

impl<'root> Sources<'root> {
    pub(crate) fn new(root: &'root Sysroot) -> Self {
        Self { root, log: OnceCell::new(), messages: OnceCell::new(), unknown: RefCell::default() }
    }

    pub(crate) fn root(&self) -> &'root Sysroot {
        self.root
    }

    pub(crate) fn log(&self) -> &KernelLog {
        self.log.get_or_init(|| KernelLog::read(self.root))
    }

    /// What the kernel log tells of each device; nothing where it could not be read.
    pub(crate) fn messages(&self) -> &messages::KernelLog {
        self.messages.get_or_init(|| {
            let lines = self.log().lines().unwrap_or_default();
            messages::read_named((1..).zip(lines.iter().map(String::as_str)))
        })
    }

    /// Notes that `what` is not known, why, and what would be needed.
    pub(crate) fn unknown(&self, what: &str, reason: &str, needed: &str) {
        let unknown =
            Unknown { what: what.to_owned(), reason: reason.to_owned(), needed: needed.to_owned() };
        let mut all = self.unknown.borrow_mut();
        if !all.contains(&unknown) {
            all.push(unknown);
        }
    }

    /// All that was noted.
    pub(crate) fn into_unknown(self) -> Vec<Unknown> {
        self.unknown.into_inner()
    }

    /// What would be needed to read a file that only root may.
    pub(crate) fn as_root(&self) -> &'static str {
        match (self.root.is_running_system(), rustix::process::geteuid().is_root()) {
            (true, false) => "run as root, or give --sysroot of a dump made as root",
            (true, true) => "run outside of the container or sandbox, which keeps it from root too",
            (false, _) => "make the dump again as root",
        }
    }

    /// What would be needed to read the kernel log, and why it cannot be.
    pub(crate) fn log_gap(&self) -> (&'static str, &'static str) {
        let is_live = self.root.is_running_system();
        match self.log() {
            KernelLog::NotPermitted => ("the kernel log is open to root only", self.as_root()),
            KernelLog::Absent if is_live => {
                ("there is no /dev/kmsg here", "run outside of the container, as root")
            }
            KernelLog::Lines(_) => ("the kernel log does not tell", self.as_root()),
            KernelLog::Absent => ("there is no kernel log in what was given", self.as_root()),
        }
    }

    /// Whether zeros stand in the place of serial numbers.
    pub(crate) fn serials_are_removed(&self) -> bool {
        self.root.has(SERIALS_REMOVED)
    }
}
