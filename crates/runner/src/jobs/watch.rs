//! The monitor beside a job: from its first step that counts to the end of its last.
//!
//! What prepares a job and what settles after it is not looked at. A preparation between two steps
//! that count is: a monitor keeps no two times apart.

use cardproof_io::Usage;
use cardproof_io::files::read_from_storage;
use cardproof_jobs::Timing;
use cardproof_record::{JobRun, OwnActivity};
use cardproof_units::Bytes;

use crate::monitor::{Observation, Watcher};
use crate::surroundings;

/// What had been used at one moment.
#[derive(Clone, Copy)]
struct Account {
    usage: Usage,
    /// What had been fetched from the storage, where the kernel tells.
    fetched: Option<Bytes>,
}

impl Account {
    fn now() -> Self {
        Self { usage: cardproof_io::usage(), fetched: read_from_storage() }
    }
}

/// Looks at the system while what counts of a job is done, if anybody does; each function may be
/// called by whoever does a job of another kind, such as a database's.
pub struct JobWatch<'a> {
    watcher: Option<Watcher<'a>>,
    start: Option<Account>,
    seen: Option<(Observation, Account)>,
}

impl<'a> JobWatch<'a> {
    /// One in which `watcher` looks; without it nothing will be seen.
    #[must_use]
    pub const fn new(watcher: Option<Watcher<'a>>) -> Self {
        Self { watcher, start: None, seen: None }
    }

    /// A step with this `timing` begins when this is done.
    pub(super) fn step(&mut self, timing: Option<Timing>) {
        match timing {
            Some(Timing::Counts) => self.begin(),
            Some(Timing::Settles) => self.end(),
            Some(Timing::Prepares) | None => {}
        }
    }

    /// What counts begins when this is done; a second beginning is none.
    pub fn begin(&mut self) {
        if let (Some(watcher), None) = (&mut self.watcher, self.start) {
            self.start = Some(Account::now());
            watcher.monitor.begin();
        }
    }

    /// What counts is over; what comes later is not looked at.
    pub fn end(&mut self) {
        if let (Some(watcher), Some(_), None) = (&mut self.watcher, self.start, &self.seen) {
            self.seen = watcher.monitor.end().map(|seen| (seen, Account::now()));
        }
    }

    /// Notes in `run`, whose figures are in it, what was seen.
    pub fn note(self, run: &mut JobRun) {
        let (Some(watcher), Some(start), Some((seen, end))) = (self.watcher, self.start, self.seen)
        else {
            return;
        };
        let fetched = end.fetched.zip(start.fetched).map(|(end, start)| end.saturating_sub(start));
        let own = OwnActivity {
            read_bytes: fetched.unwrap_or(run.bytes_read),
            written_bytes: run.bytes_written,
            // What a job writes goes through the page cache, and when is up to the kernel.
            direct: false,
            fetched: fetched.is_some(),
            ..OwnActivity::default()
        };
        let own_cpu = surroundings::own_cpu(Some(start.usage), Some(end.usage), &seen.whole);
        let surroundings = surroundings::surroundings(&seen, own, own_cpu);
        run.disturbances = watcher.monitor.disturbances(&surroundings, watcher.filesystem);
        run.warnings.extend(surroundings::warnings(&run.disturbances));
        run.surroundings = Some(Box::new(surroundings));
    }
}
