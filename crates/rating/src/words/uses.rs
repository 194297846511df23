//! What a card is wanted for, in words.

use crate::compare::Use;

impl Use {
    /// The heading of a ranking.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::System => "system card",
            Self::Desktop => "desktop",
            Self::Server => "server",
            Self::Database => "database",
            Self::Camera => "camera",
            Self::Retro => "games console",
        }
    }

    /// The use as what a card is fast for.
    #[must_use]
    pub const fn work(self) -> &'static str {
        match self {
            Self::System => "a system",
            Self::Desktop => "a desktop",
            Self::Server => "services",
            Self::Database => "databases",
            Self::Camera => "video",
            Self::Retro => "games",
        }
    }

    /// What the card does in this use, in a clause.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::System => "boot, install and update a Raspberry Pi",
            Self::Desktop => "open and use a browser and large programs",
            Self::Server => "services that keep state, such as home automation",
            Self::Database => "small transactions, each durable before the next begins",
            Self::Camera => "record without a gap until the card is full",
            Self::Retro => "load games, and save now and then",
        }
    }

    /// How its figure is computed, in words.
    #[must_use]
    pub const fn formula(self) -> &'static str {
        match self {
            Self::System => {
                "the time for 32,000 random writes and 13,000 random reads of 4 KiB, one at a time"
            }
            Self::Desktop => {
                "the time for 40,000 random reads and 8,000 random writes of 4 KiB, one at a time, \
                 and 500 MB of sequential reads and 100 MB of sequential writes"
            }
            Self::Server => {
                "the time for 20,000 synced writes, 10,000 random reads and 5,000 random writes of \
                 4 KiB, one at a time"
            }
            Self::Database => {
                "database transactions a second (one change that SQLite saves, 4.1 synced writes of 4 KiB)"
            }
            Self::Camera => "the sustained sequential write rate in MB/s (once a cache is full)",
            Self::Retro => {
                "the time for 1,000 MB of sequential reads, and 10,000 random reads and 500 synced \
                 writes of 4 KiB, one at a time"
            }
        }
    }
}
