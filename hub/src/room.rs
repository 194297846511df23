//! Whether there is room for another record: of an SQLite file its disk tells, of a server what it refused last.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::held::HeldFile;

/// With less than this on the disk of its SQLite file a hub takes no record: the last of it is left to deletions, and
/// to what SQLite writes in order to go on.
const ROOM_MIN_BYTES: u64 = 4 << 20;

/// How long a server counts as full after it has refused a record for want of room, unless it takes another.
const FULL_FOR: Duration = Duration::from_secs(10);

/// Whether the disk of `file` has room for another record. What cannot be asked is tried.
pub(crate) fn is_on_disk_of(file: &HeldFile) -> bool {
    file.free_bytes().is_none_or(|free| free >= ROOM_MIN_BYTES)
}

/// What a server has last said of its room.
#[derive(Debug, Default)]
pub(crate) struct Room {
    refused: Mutex<Option<Instant>>,
}

impl Room {
    /// Notes that a record was kept, or that there was no room for it.
    pub(crate) fn note(&self, was_kept: bool) {
        if let Ok(mut refused) = self.refused.lock() {
            *refused = (!was_kept).then(Instant::now);
        }
    }

    /// Whether nothing was refused for want of it just now.
    pub(crate) fn is_there(&self) -> bool {
        let refused = self.refused.lock().map_or(None, |it| *it);
        refused.is_none_or(|refused| refused.elapsed() >= FULL_FOR)
    }
}
