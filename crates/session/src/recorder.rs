//! Saves the record while it grows, and hands on what happens.

use cardproof_record::Record;
use cardproof_runner::{Monitor, Observer, Watcher};

use crate::failure::Failure;
use crate::frontend::{Event, Frontend};
use crate::monitor::SystemMonitor;
use crate::store::Store;

/// Saves the record while it grows, and hands on what happens. It is also the observer that the
/// runner wants.
pub struct Recorder<'a> {
    pub(crate) frontend: &'a mut dyn Frontend,
    /// Where it is saved, if it can be.
    pub(crate) store: Option<&'a Store>,
    /// Looks at the system, where the run has to do with it.
    pub(crate) monitor: Option<SystemMonitor>,
    pub(crate) filesystem: Option<String>,
    /// Why the last save failed.
    pub(crate) unsaved: Option<Failure>,
}

impl Recorder<'_> {
    /// Saves `record`. A later save may work again, so the last one decides.
    pub fn save(&mut self, record: &Record) {
        let Some(store) = self.store else { return };
        self.unsaved = store.save(record).err();
        if self.unsaved.is_none() {
            self.frontend.tell(Event::Saved(record));
        }
    }

    /// Hands on `event`.
    pub fn tell(&mut self, event: Event<'_>) {
        self.frontend.tell(event);
    }

    /// Hands on a sentence that the user should read.
    pub fn note(&mut self, sentence: &str) {
        self.frontend.note(sentence);
    }

    /// Whoever looks at the system beside a job or a replay, and whoever hears of its progress.
    pub fn watcher(&mut self) -> (Option<Watcher<'_>>, &mut dyn Frontend) {
        let filesystem = self.filesystem.as_deref();
        let watcher = self.monitor.as_mut().map(|monitor| Watcher { monitor, filesystem });
        (watcher, self.frontend)
    }
}

impl Observer for Recorder<'_> {
    fn observe(&mut self, event: cardproof_runner::Event<'_>) {
        match event {
            cardproof_runner::Event::Checkpoint(record) => self.save(record),
            event => self.frontend.tell(Event::Phases(&event)),
        }
    }

    fn monitor(&mut self) -> Option<&mut dyn Monitor> {
        let monitor = self.monitor.as_mut()?;
        Some(monitor)
    }
}
