//! The journal modes and what each promises.
//!
//! The names and their meaning: "PRAGMA journal_mode" and "PRAGMA synchronous" in SQLite's
//! documentation of its pragmas, and its pages "Atomic Commit In SQLite" and "Write-Ahead Logging".

/// How SQLite can take back a transaction that was not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Journal {
    /// What is overwritten goes to a file that is deleted at the end of each transaction; SQLite's
    /// own default.
    Delete,
    /// The same file, cut to nothing instead of deleted.
    Truncate,
    /// The same file, whose beginning is overwritten instead.
    Persist,
    /// What is written goes to a log, and from there into the database now and then.
    Wal,
    /// What is overwritten is kept in memory only.
    Memory,
    /// Nothing can be taken back.
    Off,
}

/// How often SQLite waits until what it wrote is on the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Synchronous {
    /// Before and after each step of a transaction that must not be lost.
    Full,
    /// Where the database could otherwise become corrupt; with a log, only when that is copied.
    Normal,
    /// Never.
    Off,
}

/// A journal mode together with how often it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// How a transaction is taken back.
    pub journal: Journal,
    /// How often it is waited for the storage.
    pub synchronous: Synchronous,
}

impl Setting {
    /// SQLite's own default.
    pub const DEFAULT: Self = Self::new(Journal::Delete, Synchronous::Full);

    /// The settings that a program can use for data that matter, the default first.
    pub const USUAL: [Self; 5] = [
        Self::DEFAULT,
        Self::new(Journal::Truncate, Synchronous::Full),
        Self::new(Journal::Persist, Synchronous::Full),
        Self::new(Journal::Wal, Synchronous::Full),
        Self::new(Journal::Wal, Synchronous::Normal),
    ];

    /// Settings with which a crash can destroy the whole database: only to see how much is to be
    /// had, never advice.
    pub const EXTREMES: [Self; 2] =
        [Self::new(Journal::Memory, Synchronous::Full), Self::new(Journal::Off, Synchronous::Off)];

    /// The setting of `journal` and `synchronous`.
    #[must_use]
    pub const fn new(journal: Journal, synchronous: Synchronous) -> Self {
        Self { journal, synchronous }
    }

    /// All that have a name, the usual ones first.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::USUAL.into_iter().chain(Self::EXTREMES)
    }

    /// The setting called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|setting| setting.name() == name)
    }

    /// What it is called, such as `wal-normal`. Where a mode is measured with one way of waiting
    /// only, that is not named.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match (self.journal, self.synchronous) {
            (Journal::Delete, _) => "delete",
            (Journal::Truncate, _) => "truncate",
            (Journal::Persist, _) => "persist",
            (Journal::Wal, Synchronous::Full) => "wal-full",
            (Journal::Wal, Synchronous::Normal) => "wal-normal",
            (Journal::Wal, Synchronous::Off) => "wal-off",
            (Journal::Memory, _) => "memory",
            (Journal::Off, _) => "off",
        }
    }

    /// The pragmas that ask for it.
    #[must_use]
    pub fn pragmas(self) -> String {
        format!(
            "PRAGMA journal_mode = {}; PRAGMA synchronous = {}",
            self.journal_word(),
            self.synchronous_word()
        )
    }

    /// What is lost where the power or the system fails, in words.
    #[must_use]
    pub const fn what_a_crash_costs(self) -> &'static str {
        match (self.journal, self.synchronous) {
            (Journal::Memory | Journal::Off, _) | (_, Synchronous::Off) => {
                "a crash can destroy the whole database"
            }
            (_, Synchronous::Full) => "after a power cut, no acknowledged transaction is lost",
            (Journal::Wal, Synchronous::Normal) => {
                "after a power cut, the database is sound, but the last acknowledged transactions can be lost"
            }
            (_, Synchronous::Normal) => {
                "the last transactions can be lost, and on some file systems the database with them"
            }
        }
    }

    /// Whether every acknowledged transaction is kept where the power or the system fails.
    #[must_use]
    pub const fn is_durable(self) -> bool {
        !self.is_extreme() && matches!(self.synchronous, Synchronous::Full)
    }

    /// Whether no data that matter should be kept so.
    #[must_use]
    pub const fn is_extreme(self) -> bool {
        matches!(self.journal, Journal::Memory | Journal::Off)
            || matches!(self.synchronous, Synchronous::Off)
    }

    /// SQLite's word for the journal.
    pub(crate) const fn journal_word(self) -> &'static str {
        match self.journal {
            Journal::Delete => "DELETE",
            Journal::Truncate => "TRUNCATE",
            Journal::Persist => "PERSIST",
            Journal::Wal => "WAL",
            Journal::Memory => "MEMORY",
            Journal::Off => "OFF",
        }
    }

    /// SQLite's word for how often it waits.
    pub(crate) const fn synchronous_word(self) -> &'static str {
        match self.synchronous {
            Synchronous::Full => "FULL",
            Synchronous::Normal => "NORMAL",
            Synchronous::Off => "OFF",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_found_by_its_name() {
        for setting in Setting::all() {
            assert_eq!(Setting::find(setting.name()), Some(setting));
        }
        assert_eq!(Setting::find("wal"), None);
        assert_eq!(Setting::all().count(), 7);
    }

    #[test]
    fn only_the_extremes_are_extreme() {
        assert!(Setting::USUAL.iter().all(|setting| !setting.is_extreme()));
        assert!(Setting::EXTREMES.iter().all(|setting| setting.is_extreme()));
    }

    #[test]
    fn what_is_not_synced_is_not_durable() {
        let durable = Setting::all().filter(|setting| setting.is_durable());
        let names: Vec<&str> = durable.map(Setting::name).collect();
        assert_eq!(names, ["delete", "truncate", "persist", "wal-full"]);
    }
}
